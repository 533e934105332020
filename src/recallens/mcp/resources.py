"""Memories and snapshots by address: the JSON that the command and HTTP give, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote, urlencode

from mcp_types import Resource, ResourceTemplate

from recallens.errors import NotFound
from recallens.mcp.calling import Asked, Offer, performed
from recallens.model.times import day

if TYPE_CHECKING:
    from recallens.operations import Caller

JSON: Final = "application/json"
# The list is a way in, not a copy of the store.
LATEST: Final = 20
LONGEST_NAME: Final = 80

MEMORIES, SNAPSHOTS = "recallens://memories/", "recallens://snapshots/"
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
    """`?namespace=` chooses among several, as the argument of a tool does."""
    for place, operation in OPERATION.items():
        id, _, query = uri.removeprefix(place).partition("?")
        if uri.startswith(place) and id:
            named = parse_qs(query).get("namespace")
            where = {"namespace": named[-1]} if named else {}
            return performed(offer, operation, {"id": unquote(id), **where}, asked).text
    known = ", ".join(template.uri_template for template in TEMPLATES)
    raise NotFound(f"no resource {uri!r}", hint=f"The resources are: {known}.")


def listed(offer: Offer, asked: Asked) -> list[Resource]:
    """The latest of each, newest first."""
    caller = offer.caller(offer.engine(), asked.request)
    if caller.home is not None or caller.namespaces is None or len(caller.namespaces) == 1:
        return _latest(offer, asked, None, LATEST) + _snapshots(offer, caller)
    share = max(1, LATEST // len(caller.namespaces))
    return [one for name in sorted(caller.namespaces) for one in _latest(offer, asked, name, share)]


def _latest(offer: Offer, asked: Asked, namespace: str | None, limit: int) -> list[Resource]:
    from recallens.operations import Answer

    where = {"namespace": namespace} if namespace is not None else {}
    found = performed(offer, "list_memories", {"limit": limit, **where}, asked)
    assert isinstance(found, Answer)
    return [_memory(record, f"?{urlencode(where)}" if where else "") for record in found.record["memories"]]


def _memory(record: Mapping[str, Any], where: str) -> Resource:
    words = " ".join(str(record.get("title") or record["content"]).split())
    name = words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"
    return Resource(
        uri=MEMORIES + record["id"] + where,
        name=name,
        description=f"{record['kind']}, {day(record['createdAt'])}",
        mime_type=JSON,
    )


def _snapshots(offer: Offer, caller: Caller) -> list[Resource]:
    """What others have asked is nobody else's: only the person at the machine is shown the list."""
    if caller.owner is not None:
        return []
    return [
        Resource(
            uri=SNAPSHOTS + one.id,
            name=f"search of {day(one.at)}",
            description=f"in session {one.session}" if one.session else "without a session",
            mime_type=JSON,
        )
        for one in offer.engine().recalls.recent(limit=LATEST, namespace=caller.home)
    ]
