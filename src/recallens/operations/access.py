"""Who may do what, decided in one place for every surface."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from recallens.errors import InvalidInput, NotAllowed, NotFound
from recallens.ingest.validate import namespace_name
from recallens.model.memory import Zone


class Right(StrEnum):
    """What an operation needs; a token grants read or write, and write includes read.

    LOCAL is for the person whose machine it is: what names a folder, raises trust or cannot be undone. No token has it.
    """

    READ = "read"
    WRITE = "write"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever asks. `namespaces` of None are all of them: the person whose machine it is.

    `home` is the namespace of a call that names none, `owner` the id of the token that asks, `zone` where what is
    written enters, `source` what it is recorded as.
    """

    right: Right = Right.WRITE
    namespaces: frozenset[str] | None = None
    home: str | None = None
    owner: str | None = None
    zone: Zone = Zone.WORKING
    source: str = "agent"

    @property
    def local(self) -> bool:
        return self.owner is None and self.namespaces is None

    @property
    def records(self) -> bool | None:
        """Whether a search may be written down: None leaves it to the settings; who only reads writes nothing."""
        return None if self.right is Right.WRITE else False

    def sees(self, namespace: str) -> bool:
        return self.namespaces is None or namespace in self.namespaces


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was found to be allowed, in the namespace that it may use."""

    caller: Caller
    namespace: str
    trace_id: str | None = None
    # Whether the session that it names is the caller's own; an operation that explains answers as if there were none.
    owns_session: bool = True

    def who(self) -> dict[str, Any]:
        """Who asks, as a recorded recall keeps it."""
        return {"namespace": self.namespace, "record": self.caller.records, "owner": self.caller.owner}


def allowed(caller: Caller, needs: Right, asked: str | None, *, trace_id: str | None = None) -> Call:
    if needs is not Right.READ and caller.right is not Right.WRITE:
        raise NotAllowed(
            "this token may read and not write",
            hint="`recallens token create --right write` makes one that may.",
        )
    if needs is Right.LOCAL and not caller.local:
        raise NotAllowed(
            "a token does not open this: it is for the person at the machine",
            hint="Use the `recallens` command there.",
        )
    return Call(caller, chosen_namespace(caller, asked), trace_id)


def local_only(call: Call, what: str) -> None:
    if not call.caller.local:
        raise NotAllowed(f"{what} is for the person at the machine", hint="Use the `recallens` command there.")


def chosen_namespace(caller: Caller, asked: str | None) -> str:
    """One that the caller does not hold answers exactly as one that does not exist."""
    if asked is not None:
        if caller.namespaces is None:
            return namespace_name(asked)
        if asked in caller.namespaces:
            return asked
        raise NotFound(f"no namespace {asked!r}")
    if caller.home is not None and caller.sees(caller.home):
        return caller.home
    held = sorted(caller.namespaces or ())
    if len(held) == 1:
        return held[0]
    raise InvalidInput(f"several namespaces are granted; name one of: {', '.join(held)}")
