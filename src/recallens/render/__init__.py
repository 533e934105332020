"""Writers for people and programs. `render` gives every surface the same bytes for the same snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from recallens.errors import UnknownOption

if TYPE_CHECKING:
    from recallens.model.snapshot import Snapshot
    from recallens.render.tree import XrayDocument

# The formats of the X-ray, each with the ending of its file and its media type; the first is the one for people.
FORMATS: Final[Mapping[str, tuple[str, str]]] = {
    "brief": ("brief.txt", "text/plain; charset=utf-8"),
    "text": ("txt", "text/plain; charset=utf-8"),
    "markdown": ("md", "text/markdown; charset=utf-8"),
    "json": ("json", "application/json"),
    "html": ("html", "text/html; charset=utf-8"),
}
DEFAULT_FORMAT: Final = "brief"


@cache
def writers() -> Mapping[str, Callable[[XrayDocument], str]]:
    """Of everything, by format. Loaded when a snapshot is written: the engine needs only the layers of this package."""
    from recallens.render import html, json, markdown, text

    return {"text": text.write, "markdown": markdown.write, "json": json.write, "html": html.write}


def render(snapshot: Snapshot | None, format: str = "text") -> str:
    """The snapshot in one of the formats, without a newline at the end. None means that there is no snapshot."""
    from recallens.render import brief
    from recallens.render.document import document

    if format == "brief":
        return brief.write(snapshot)
    write = writers().get(format)
    if write is None:
        raise UnknownOption("format", format, FORMATS)
    return write(document(snapshot))
