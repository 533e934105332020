"""What can be asked from outside: one table, so that every surface offers the same under the same rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from recallens.errors import NotFound
from recallens.operations.access import Call, Caller, Right, allowed
from recallens.operations.arguments import Arguments, checked
from recallens.render.records import Record, to_text

if TYPE_CHECKING:
    from recallens.engine import Engine


@dataclass(frozen=True, slots=True)
class Written:
    """An answer that is no JSON: what a renderer wrote."""

    format: str
    body: str

    @property
    def text(self) -> str:
        return self.body + "\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """`tiers` (results by the tier that served them) and `degraded` (views that failed) are for whoever counts."""

    record: Record
    tiers: Mapping[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The bytes of every surface: as the command prints it, newline and all."""
        return to_text(self.record) + "\n"


@dataclass(frozen=True, slots=True)
class Operation:
    """`name` is the same on every surface; `arguments` says and checks what it takes.

    `explains`: where the session that is named is not the caller's, it answers that there is no snapshot.
    """

    name: str
    about: str
    needs: Right
    arguments: type[Arguments]
    run: Callable[[Engine, Call, Any], Answer | Written]
    explains: bool = False


def perform(
    operation: Operation, engine: Engine, caller: Caller, given: Mapping[str, Any], *, trace_id: str | None = None,
    strict: bool = False,
) -> Answer | Written:  # fmt: skip
    """First whether it may be done, then whether it is asked rightly, then the thing itself.

    `strict` refuses a number given as text, and the like: what a schema says is then all that is taken.
    """
    namespace = given.get("namespace")
    call = allowed(caller, operation.needs, namespace if isinstance(namespace, str) else None, trace_id=trace_id)
    asked = checked(operation.arguments, given, strict=strict)
    session = getattr(asked, "session", None)
    if session is not None and not owns(engine, call, session):
        if not operation.explains:
            raise NotFound(f"no session {session!r} of yours", hint="Ask under another session id.")
        call = replace(call, owns_session=False)
    return operation.run(engine, call, asked)


def owns(engine: Engine, call: Call, session: str, *, claim: bool = True) -> bool:
    """The first to use a session has it; the person at the machine may look into every one."""
    caller = call.caller
    if caller.owner is None:
        return True
    claim = claim and caller.right is Right.WRITE
    return engine.tokens.owns_session(session, caller.owner, namespace=call.namespace, claim=claim)
