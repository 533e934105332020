"""Citations as JSON, spelled as the seed spells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from recollect.errors import InvalidInput, UnknownOption
from recollect.model.memory import (
    Citation,
    CommitCitation,
    FileCitation,
    LogCitation,
    SymbolCitation,
    TerminalCitation,
)

CITATION_FIELDS: Mapping[str, tuple[str, ...]] = {
    "commit": ("hash",),
    "file": ("path", "startLine?", "endLine?"),
    "symbol": ("id", "name", "file"),
    "terminal_snapshot": ("id",),
    "log": ("pointer",),
}


def citation_to_json(citation: Citation) -> dict[str, Any]:
    match citation:
        case CommitCitation():
            return {"kind": "commit", "hash": citation.hash}
        case FileCitation():
            lines = {"startLine": citation.start_line, "endLine": citation.end_line}
            return {
                "kind": "file",
                "path": citation.path,
                **{k: v for k, v in lines.items() if v is not None},
            }
        case SymbolCitation():
            return {"kind": "symbol", "id": citation.id, "name": citation.name, "file": citation.file}
        case TerminalCitation():
            return {"kind": "terminal_snapshot", "id": citation.id}
        case LogCitation():
            return {"kind": "log", "pointer": citation.pointer}
    assert_never(citation)


def citation_from_json(record: Mapping[str, Any]) -> Citation:
    kind = record.get("kind") if isinstance(record, Mapping) else None
    if not isinstance(kind, str) or kind not in CITATION_FIELDS:
        raise UnknownOption("citation kind", kind, CITATION_FIELDS)
    values = _fields(kind, record)
    match kind:
        case "commit":
            return CommitCitation(values["hash"])
        case "file":
            return FileCitation(values["path"], values["startLine"], values["endLine"])
        case "symbol":
            return SymbolCitation(values["id"], values["name"], values["file"])
        case "terminal_snapshot":
            return TerminalCitation(values["id"])
        case _:
            return LogCitation(values["pointer"])


def _fields(kind: str, record: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in CITATION_FIELDS[kind]:
        name, optional = field.removesuffix("?"), field.endswith("?")
        value = record.get(name)
        right = isinstance(value, int) and value > 0 if optional else isinstance(value, str) and value.strip()
        if not right and not (optional and value is None):
            raise InvalidInput(f"a {kind} citation needs {', '.join(CITATION_FIELDS[kind])}; {name} is {value!r}")
        values[name] = value
    extra = record.keys() - values.keys() - {"kind"}
    if extra:
        raise InvalidInput(f"a {kind} citation has {', '.join(CITATION_FIELDS[kind])}; not {', '.join(sorted(extra))}")
    return values
