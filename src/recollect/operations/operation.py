"""What can be asked from outside: one table, so that every surface offers the same under the same rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.operations.access import Call, Caller, Right, allowed
from recollect.operations.arguments import Arguments, checked
from recollect.render.records import Record, to_text

if TYPE_CHECKING:
    from recollect.engine import Engine


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
    record: Record

    @property
    def text(self) -> str:
        """The bytes of every surface: as the command prints it, newline and all."""
        return to_text(self.record) + "\n"


@dataclass(frozen=True, slots=True)
class Operation:
    """`name` is the same on every surface; `arguments` says and checks what it takes."""

    name: str
    about: str
    needs: Right
    arguments: type[Arguments]
    run: Callable[[Engine, Call, Any], Answer | Written]


def perform(
    operation: Operation, engine: Engine, caller: Caller, given: Mapping[str, Any], *, trace_id: str | None = None
) -> Answer | Written:
    """First whether it may be done, then whether it is asked rightly, then the thing itself."""
    namespace = given.get("namespace")
    call = allowed(caller, operation.needs, namespace if isinstance(namespace, str) else None, trace_id=trace_id)
    return operation.run(engine, call, checked(operation.arguments, given))
