"""Writers for people and programs. `render` gives every surface the same bytes for the same snapshot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

from recallens.errors import UnknownOption

if TYPE_CHECKING:
    from recallens.model.snapshot import Snapshot
    from recallens.render.tree import XrayDocument

# The formats of an X-ray, JSON first, which programs get where they ask for none; and as people are offered them.
Format = Literal["json", "text", "markdown", "html"]
FORMATS: Final[tuple[Format, ...]] = ("text", "markdown", "json", "html")
DEFAULT_FORMAT: Final = "text"


@cache
def writers() -> Mapping[str, Callable[[XrayDocument], str]]:
    """By format. Loaded when a snapshot is written, for the engine needs only the layers of this package."""
    from recallens.render import html, json, markdown, text

    return {"text": text.write, "markdown": markdown.write, "json": json.write, "html": html.write}


def render(snapshot: Snapshot | None, format: str = DEFAULT_FORMAT) -> str:
    """The snapshot in one of the formats, without a newline at the end. None means that there is no snapshot."""
    from recallens.render.document import document

    write = writers().get(format)
    if write is None:
        raise UnknownOption("format", format, writers())
    return write(document(snapshot))
