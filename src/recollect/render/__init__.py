"""Writers for people and programs. `render` gives every surface the same bytes for the same snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from recollect.errors import UnknownOption
from recollect.model.snapshot import Snapshot
from recollect.render import html, jsons, markdown, text
from recollect.render.document import document
from recollect.render.tree import Document

DEFAULT_FORMAT: Final = "text"
FORMATS: Final[Mapping[str, Callable[[Document], str]]] = {
    "text": text.write,
    "markdown": markdown.write,
    "json": jsons.write,
    "html": html.write,
}


def render(snapshot: Snapshot | None, format: str = DEFAULT_FORMAT) -> str:
    """The snapshot in one of the formats, without a newline at the end. None means that there is no snapshot."""
    write = FORMATS.get(format)
    if write is None:
        raise UnknownOption("format", format, FORMATS)
    return write(document(snapshot))
