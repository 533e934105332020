"""Who calls a tool: the person whose process it is, or whoever holds the token of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.text.normalize import clean

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.operations import Caller

SOURCE = "mcp"
# A client names itself; the name is kept as what a memory came from.
LONGEST_CLIENT = 60


def local_caller(settings: Settings) -> Caller:
    """The user's own process: every namespace is theirs, and what an agent writes is not yet trusted."""
    from recollect.model.memory import Zone
    from recollect.operations import Caller

    return Caller(home=settings.namespace, zone=Zone.WORKING, source=SOURCE)


def source_of(client: str | None) -> str:
    """Behind a prefix of ours, so that no client can pass for another source."""
    named = " ".join(clean(client or "").split())[:LONGEST_CLIENT]
    return f"{SOURCE}:{named}" if named else SOURCE
