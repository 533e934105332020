"""The page of the export lists every line and every field, as the table of nouns has them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from recallens.store.nouns import NOUNS, FieldKind, NounField

PAGE = Path(__file__).parents[2] / "docs" / "export.md"
BLOCK = re.compile(r"(?<=<!-- nouns -->\n).*?(?=<!-- end of nouns -->)", re.DOTALL)
MARKS = {FieldKind.LIST: "[]", FieldKind.RECORD: "{}", FieldKind.BYTES: " (base64)"}


def field(field: NounField) -> str:
    return f"`{field.name}{MARKS.get(field.kind, '')}{'?' if field.optional else ''}`"


def table() -> str:
    rows = [f"| `{noun.name}` | {', '.join(map(field, noun.carried))} |" for noun in NOUNS.values()]
    return "\n".join(["| line | fields |", "| --- | --- |", *rows, ""])


def test_the_page_lists_every_line_and_field() -> None:
    """UPDATE_DOCS=1 writes it anew."""
    page = PAGE.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_DOCS") == "1":
        page = BLOCK.sub(lambda _: table(), page)
        PAGE.write_text(page, encoding="utf-8")
    found = BLOCK.search(page)
    assert found is not None
    assert found[0] == table()
