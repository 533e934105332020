"""Who calls a tool over stdio: the person whose process it is, or whoever's token it was started with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallens.errors import TokenRefused
from recallens.text.normalize import clean

if TYPE_CHECKING:
    from recallens.config import Settings
    from recallens.engine import Engine
    from recallens.operations import Caller

SOURCE = "mcp"
# A client names itself; the name is kept as what a memory came from.
LONGEST_CLIENT = 60


def local_caller(settings: Settings) -> Caller:
    """The user's own process: every namespace is theirs, and what an agent writes is not yet trusted."""
    from recallens.model.memory import Zone
    from recallens.operations import Caller

    return Caller(home=settings.namespace, zone=Zone.WORKING, source=SOURCE)


def token_caller(engine: Engine, token: str) -> Caller:
    """What the token grants now: one that is revoked ends with the next call."""
    from recallens.http.guard import caller_with

    found = engine.tokens.find(token)
    if found is None:
        raise TokenRefused("this token is not known, or holds no longer", hint="`recallens token create` makes one.")
    return caller_with(found)


def source_of(client: str | None) -> str:
    """Behind a prefix of ours, so that no client can pass for another source."""
    named = " ".join(clean(client or "").split())[:LONGEST_CLIENT]
    return f"{SOURCE}:{named}" if named else SOURCE
