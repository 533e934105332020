"""Writers for people and programs. `render` gives every surface the same bytes for the same snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from recallens.errors import UnknownOption

if TYPE_CHECKING:
    from recallens.model.snapshot import Snapshot
    from recallens.render.tree import Document

DEFAULT_FORMAT: Final = "text"


@cache
def writers() -> Mapping[str, Callable[[Document], str]]:
    """By format. Loaded when a snapshot is written, for the engine needs only the layers of this package."""
    from recallens.render import html, jsons, markdown, text

    return {"text": text.write, "markdown": markdown.write, "json": jsons.write, "html": html.write}


def render(snapshot: Snapshot | None, format: str = DEFAULT_FORMAT) -> str:
    """The snapshot in one of the formats, without a newline at the end. None means that there is no snapshot."""
    from recallens.render.document import document

    write = writers().get(format)
    if write is None:
        raise UnknownOption("format", format, writers())
    return write(document(snapshot))
