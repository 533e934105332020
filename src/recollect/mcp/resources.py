"""Memories and snapshots by address: the JSON that the command and HTTP give, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import unquote

from mcp_types import Resource, ResourceTemplate

from recollect.errors import NotFound
from recollect.mcp.calling import Asked, Offer, performed

JSON: Final = "application/json"
# The list is a way in, not a copy of the store.
LATEST: Final = 20
LONGEST_NAME: Final = 80

MEMORIES, SNAPSHOTS = "recollect://memories/", "recollect://snapshots/"
OPERATION: Final[Mapping[str, str]] = {MEMORIES: "get_memory", SNAPSHOTS: "get_snapshot"}

TEMPLATES: Final = (
    ResourceTemplate(
        name="memory",
        uri_template=MEMORIES + "{id}",
        description="One memory in full, with its relations and citations.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        name="snapshot",
        uri_template=SNAPSHOTS + "{id}",
        description="The X-ray of one recorded search.",
        mime_type=JSON,
    ),
)


def read(offer: Offer, asked: Asked, uri: str) -> str:
    for place, operation in OPERATION.items():
        if uri.startswith(place) and len(uri) > len(place):
            return performed(offer, operation, {"id": unquote(uri.removeprefix(place))}, asked).text
    known = ", ".join(template.uri_template for template in TEMPLATES)
    raise NotFound(f"no resource {uri!r}", hint=f"The resources are: {known}.")


def listed(offer: Offer, asked: Asked) -> list[Resource]:
    """The latest of each, newest first."""
    from recollect.operations import Answer

    found = performed(offer, "list_memories", {"limit": LATEST}, asked)
    assert isinstance(found, Answer)
    return [_memory(record) for record in found.record["memories"]] + _snapshots(offer, asked)


def _memory(record: Mapping[str, Any]) -> Resource:
    words = " ".join(str(record.get("title") or record["content"]).split())
    name = words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"
    return Resource(
        uri=MEMORIES + record["id"],
        name=name,
        description=f"{record['kind']}, {_day(record['createdAt'])}",
        mime_type=JSON,
    )


def _snapshots(offer: Offer, asked: Asked) -> list[Resource]:
    """What others have asked is nobody else's: only the local person is shown the list."""
    engine = offer.engine()
    caller = offer.caller(engine, asked.request)
    if caller.owner is not None:
        return []
    return [
        Resource(
            uri=SNAPSHOTS + id,
            name=f"search of {_day(at)}",
            description=f"in session {session}" if session else "without a session",
            mime_type=JSON,
        )
        for id, session, at in engine.latest_snapshots(LATEST, namespace=caller.home)
    ]


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()
