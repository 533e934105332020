"""What can be done from outside and who may do it, decided in one place for every surface."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recallens.errors import AwaitsReview, InvalidInput, NotAllowed, NotFound, RecallensError
from recallens.ingest.validate import namespace_name, reference
from recallens.model.audit import Agent
from recallens.model.memory import Zone
from recallens.model.state import OPEN_SCOPES, Sight
from recallens.model.trust import Actor
from recallens.operations.arguments import Arguments, Question, checked
from recallens.render.records import Record, to_line, to_text

if TYPE_CHECKING:
    from recallens.engine import Engine
    from recallens.engine.witness import Witness
    from recallens.model.recall import Recall


class Right(StrEnum):
    """What an operation needs. A token grants read or write, and write includes read.

    LOCAL is for the person whose machine it is, on every surface: what names a folder or raises trust. OWNER is for
    that person at the `recallens` command alone: what looks after the store, or cannot be undone. No token has either.
    """

    READ = "read"
    WRITE = "write"
    LOCAL = "local"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever asks. `namespaces` of None are all of them: the person whose machine it is.

    `home` is the namespace of a call that names none, `owner` the id of the token that asks, `agent` the program that
    asks without one, `zone` where what is written enters and `source` what it is recorded as; None leaves both to what
    is written. `record=False` is a wish to leave no trace. `deliver` writes a recall as this caller is shown it, where
    that is not its record. `sees_withheld` is the person who looks after the store: they decide about what is withheld,
    and may ask from any context. Others hold the `scopes` that they were granted.
    """

    right: Right = Right.WRITE
    namespaces: frozenset[str] | None = None
    home: str | None = None
    owner: str | None = None
    agent: Agent | None = None
    zone: Zone | None = Zone.WORKING
    source: str | None = "agent"
    record: bool | None = None
    deliver: Callable[[Recall], str] | None = None
    sees_withheld: bool = False
    scopes: frozenset[str] = frozenset()

    @property
    def sight(self) -> Sight:
        return Sight(self.scopes, self.sees_withheld, self.owner)

    @property
    def actor(self) -> Actor:
        """Who acts in the engine: the owner of the store, or an agent, which proposes where it may not change."""
        zone = Zone.TRUSTED if self.zone is None else self.zone
        person = self.local and self.sees_withheld
        approves = self.zone is None
        return Actor(
            zone, self.owner, self.source, approves=approves, decides=person, sight=self.sight, dates=approves or person
        )

    @property
    def watched(self) -> str | None:
        """By what name the audit log has all that they do; None is the person, whose searches alone it has."""
        return self.owner if self.owner is not None or self.agent is None else self.agent.who

    @property
    def local(self) -> bool:
        return self.owner is None and self.namespaces is None

    @property
    def writes(self) -> bool:
        return self.right is not Right.READ

    @property
    def records(self) -> bool | None:
        """Whether a search may be written down: None leaves it to the settings; who only reads writes nothing."""
        return self.record if self.writes else False

    def sees(self, namespace: str) -> bool:
        return self.namespaces is None or namespace in self.namespaces


def owner(home: str, *, record: bool | None = None, deliver: Callable[[Recall], str] | None = None) -> Caller:
    """The person at the command. What they write is theirs, as its own attributes say."""
    return Caller(Right.OWNER, home=home, zone=None, source=None, record=record, deliver=deliver, sees_withheld=True)


class Progress(Protocol):
    """Whoever watches something long: each method gives a function that is told how far it is."""

    def bar(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """The function is told how many more are done."""

    def growing(self, label: str) -> AbstractContextManager[Callable[[int, int], None]]:
        """The function is told how many are done, and of how many."""


class Unwatched:
    @contextmanager
    def bar(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        yield lambda done: None

    @contextmanager
    def growing(self, label: str) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: None


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was found to be allowed, in the namespace that it may use."""

    caller: Caller
    namespace: str
    trace_id: str | None = None
    # Whether the session that it names is the caller's own; an operation that explains answers as if there were none.
    owns_session: bool = True
    progress: Progress = field(default_factory=Unwatched)

    def who(self) -> dict[str, Any]:
        """Who asks, as a recorded recall keeps it."""
        return {"namespace": self.namespace, "record": self.caller.records, "owner": self.caller.owner}

    def options(self, asked: Question, now: int) -> dict[str, Any]:
        """The options of a question, asked from the contexts that the caller holds."""
        said = asked.options(now)
        return said | {"scopes": self.held(said.get("scopes", ()))}

    def held(self, named: Sequence[str] = ()) -> tuple[str, ...]:
        """The contexts from which is asked: those that are named, of those that were granted; else all of these."""
        caller = self.caller
        for scope in () if caller.sees_withheld else named:
            if scope not in caller.scopes and scope not in OPEN_SCOPES:
                raise NotAllowed(
                    f"the context {scope!r} is not yours to name", hint="`recallens token create --scope` grants it."
                )
        return tuple(named) or tuple(sorted(caller.scopes))


def allowed(caller: Caller, needs: Right, asked: str | None, *, trace_id: str | None = None) -> Call:
    if needs is not Right.READ and not caller.writes:
        raise NotAllowed(
            "this token may read and not write",
            hint="`recallens token create --right write` makes one that may.",
        )
    if (needs is Right.LOCAL and not caller.local) or (needs is Right.OWNER and caller.right is not Right.OWNER):
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
            # An agent's is written down before it is looked for; the person may still name one that there is.
            return namespace_name(asked if caller.right is Right.OWNER else reference("namespace", asked))
        if asked in caller.namespaces:
            return asked
        raise NotFound(f"no namespace {asked!r}")
    if caller.home is not None and caller.sees(caller.home):
        return caller.home
    held = sorted(caller.namespaces or ())
    if len(held) == 1:
        return held[0]
    raise InvalidInput(f"several namespaces are granted; name one of: {', '.join(held)}")


@dataclass(frozen=True, slots=True)
class Written:
    """An answer that is no JSON: what a renderer wrote. `record` is what it was written of, by which the audit log
    names the memories: a text may hold fewer handles than it tells of, or the handles of others. `notice` is what
    could not be done beside the answer.
    """

    format: str
    body: str
    value: Any = None
    record: Callable[[], Any] = tuple
    proposed: bool = False  # nothing was changed: it waits for the person at the machine
    notice: str | None = None

    @property
    def text(self) -> str:
        return self.body + "\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """`tiers` (results by the tier that served them) and `degraded` (views that failed) are for whoever counts.

    `on_one_line` writes the record as an agent's tool sends it. `value` is what the record was made of, for a printer
    at the machine. `failure` is what went wrong after the rest
    was done: the record holds, and whoever prints it raises this afterwards. `notice` is what could not be done beside
    the answer.
    """

    record: Record
    tiers: Mapping[str, int] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    value: Any = None
    failure: RecallensError | None = None
    on_one_line: bool = False
    proposed: bool = False  # nothing was changed: it waits for the person at the machine
    notice: str | None = None

    @property
    def text(self) -> str:
        """The bytes of every surface: as the command prints it, newline and all."""
        return (to_line if self.on_one_line else to_text)(self.record) + "\n"


def answered(
    format: str, record: Callable[[], Record], words: Callable[[], str], value: Any = None
) -> Answer | Written:
    """The record, or where another format is asked for the words; each is made only where it is sent."""
    if format == "json":
        return Answer(record(), value=value)
    return Written(format, words().removesuffix("\n"), value, record)


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
    strict: bool = False, progress: Progress | None = None,
) -> Answer | Written:  # fmt: skip
    """First whether it may be done, then whether it is asked rightly, then the thing itself.

    What a token or an agent does, and what it is refused, stands in the audit log before it is answered. An agent that
    only reads is answered without, too: with a notice, or where nothing can be written to the store.
    `strict` refuses a number given as text, and the like: what a schema says is then all that is taken. What the owner
    gives has been read by the command's own flags, and is judged by the engine, whose errors speak of those flags.
    """
    if not _is_watched(engine, caller):
        return _performed(operation, engine, caller, given, trace_id, strict, progress)
    with _watched(
        engine, caller, operation.name, given.get("namespace"), session=given.get("session"),
        question=given.get("query"),
    ) as witness:  # fmt: skip
        answer = _performed(operation, engine, caller, given, trace_id, strict, progress)
        witness.given.add_record(answer.record if isinstance(answer, Answer) else answer.record())
    missing = witness.missing
    return answer if missing is None else replace(answer, notice=f"this call is not in the audit log: {missing}")


def refused(engine: Engine, caller: Caller, what: str, error: Exception) -> None:
    """Write down a call of a token or an agent that came to no operation."""
    if _is_watched(engine, caller):
        with suppress(type(error)), _watched(engine, caller, what):
            raise error


def noted(engine: Engine, caller: Caller, what: str) -> None:
    """Write down a call of a token that is no operation."""
    if _is_watched(engine, caller):
        with _watched(engine, caller, what):
            pass


def _is_watched(engine: Engine, caller: Caller) -> bool:
    """A store that nobody can write to takes no entry: that keeps an agent of the person's from no answer."""
    return caller.watched is not None and (caller.owner is not None or not engine.core.store.read_only)


def _watched(
    engine: Engine, caller: Caller, what: str, named: object = None, **asked: object
) -> AbstractContextManager[Witness]:
    """A token is answered where its entry can be written, and an agent also where it cannot."""
    is_agent = caller.owner is None
    if is_agent and not _is_known(engine, named):
        named = None  # no log begins under a name that no namespace has
    return engine.audit.watched(
        who=caller.watched or "", what=what, namespace=filed_under(caller, named), answered_anyway=is_agent, **asked
    )


def _is_known(engine: Engine, named: object) -> bool:
    with suppress(RecallensError):
        if isinstance(named, str):
            with engine.core.read(named) as reader:
                return reader.state is not None
    return False


def filed_under(caller: Caller, named: object) -> str:
    """The namespace in whose log a call stands: the one that it names and holds, else one of the caller's own."""
    if isinstance(named, str) and caller.sees(named):
        return named
    return caller.home if caller.home is not None and caller.sees(caller.home) else min(caller.namespaces or ("",))


def _performed(
    operation: Operation, engine: Engine, caller: Caller, given: Mapping[str, Any], trace_id: str | None, strict: bool,
    progress: Progress | None,
) -> Answer | Written:  # fmt: skip
    namespace = given.get("namespace")
    call = allowed(caller, operation.needs, namespace if isinstance(namespace, str) else None, trace_id=trace_id)
    if progress is not None:
        call = replace(call, progress=progress)
    owned, arguments = caller.right is Right.OWNER, operation.arguments
    asked = arguments(**given) if owned else checked(arguments, given, strict=strict)
    session = getattr(asked, "session", None)
    if session is not None and not owns(engine, call, session):
        if not operation.explains:
            raise NotFound(f"no session {session!r} of yours", hint="Ask under another session id.")
        call = replace(call, owns_session=False)
    try:
        with engine.core.acting(caller.actor):
            return operation.run(engine, call, asked)
    except RecallensError as error:
        if isinstance(error, AwaitsReview):
            return awaiting(error, getattr(asked, "format", "json"))
        raise (error if caller.local else without_places(error, engine)) from error


def without_places(error: RecallensError, engine: Engine) -> RecallensError:
    """The same error, in which no folder or file of this machine is named: what a token is told."""
    store = engine.core.store.beside
    places = {str(store), str(store.absolute()), str(store.absolute().parent), str(Path.home())}
    places.add(engine.core.store.location)
    with suppress(RecallensError):  # what went wrong may be the store itself
        names = [name for name, _ in engine.maintenance.namespaces()]
        places |= {vault.root for name in names for vault in engine.vaults.all(namespace=name)}
    for place in sorted((place for place in places if len(place) > 1), key=len, reverse=True):
        error.message = error.message.replace(place, "…")
        error.hint = error.hint and error.hint.replace(place, "…")
    error.args = (error.message,)
    return error


def awaiting(waits: AwaitsReview, format: str) -> Answer | Written:
    """What somebody is told whose change only waits: not done, and where it is decided."""
    record = {"proposed": True, "proposal": waits.proposal, "memory": waits.memory, "detail": str(waits)}
    if format == "text":
        return Written("text", f"PROPOSED, not done: {waits}", record=lambda: record, proposed=True)
    return Answer(record, proposed=True)


def owns(engine: Engine, call: Call, session: str, *, claim: bool = True) -> bool:
    """The first token to use a session has it, until the person acts in it; they may look into every one."""
    caller = call.caller
    if caller.right is not Right.OWNER:
        reference("session id", session)
    if caller.owner is None:
        return True
    claim = claim and caller.right is Right.WRITE
    return engine.tokens.owns_session(session, caller.owner, namespace=call.namespace, claim=claim)
