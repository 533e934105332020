"""Sessions: one run of an agent, the memories it touched, and the recap that it leaves behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec import structs

from recallens.engine.core import Core
from recallens.engine.ingest import Ingest
from recallens.errors import NotFound
from recallens.ingest.draft import recap, recap_id
from recallens.ingest.prepare import kept_text
from recallens.ingest.validate import label, option
from recallens.model.memory import Memory, Session, Status, Usage
from recallens.model.recall import SessionContext
from recallens.text.normalize import clean


@dataclass(frozen=True, slots=True)
class SessionReport:
    session: Session
    links: tuple[tuple[Memory, Usage, int], ...]


class Sessions:
    """Starts, ends and looks into the sessions of a namespace."""

    def __init__(self, core: Core, ingest: Ingest) -> None:
        self._core = core
        self._ingest = ingest

    def start(
        self, id: str | None = None, *, project: str | None = None, title: str | None = None,
        started: int | None = None, namespace: str | None = None,
    ) -> Session:  # fmt: skip
        name = self._core.namespace(namespace)
        session = Session(
            id or f"s-{self._core.new_id().lower()}", name, self._core.clock() if started is None else started,
            project=project or self._core.settings.project, title=title,
        )  # fmt: skip
        session = _kept(session)
        with self._core.store.write(name) as tx:
            tx.ensure(self._core.clock())
            tx.sessions.put(session)
        return session

    def end(
        self, id: str, *, summary: str | None = None, ended: int | None = None, zone: str | None = None,
        namespace: str | None = None,
    ) -> Session:  # fmt: skip
        """End a session, and keep its recap as a memory. One that was kept before and says something else is
        superseded: a question about an earlier time still finds what was known then.
        """
        finished = self._finish(id, summary=summary, ended=ended, namespace=namespace)
        said, known = self._told(finished)
        draft = recap(finished, said)
        if draft is None or (known is not None and _stands(known, draft.content)):
            return finished
        self._ingest.remember(
            draft, namespace=finished.namespace, dedupe=False, zone=zone,
            supersedes=known.id if known is not None else None,
        )  # fmt: skip
        return finished

    def _finish(self, id: str, *, summary: str | None, ended: int | None, namespace: str | None) -> Session:
        with self._core.changing(namespace) as tx:
            session = tx.sessions.get(clean(id))
            if session is None:
                raise NotFound(f"no session {id!r}", hint="`recallens session list` shows those that exist.")
            finished = structs.replace(
                session, ended=self._core.clock() if ended is None else ended, summary=summary or session.summary
            )
            finished = _kept(finished)
            tx.sessions.put(finished)
        return finished

    def _told(self, session: Session) -> tuple[list[Memory], Memory | None]:
        """What the session created, in order, and the recap that it has."""
        with self._core.reading(session.namespace) as reader:
            links = [num for num, usage, _ in reader.sessions.links(session.id) if usage is Usage.CREATED]
            found = reader.memories.by_source_id([recap_id(session.id)])
            memories = reader.memories.get([*links, *found.values()])
        ordered = sorted((memories[num] for num in links if num in memories), key=lambda one: (one.created, one.id))
        return ordered, next((memories[num] for num in found.values()), None)

    def put(self, sessions: Iterable[Session], *, namespace: str | None = None) -> None:
        """Sessions as they were elsewhere; one that is known takes what it did not have."""
        with self._core.store.write(self._core.namespace(namespace)) as tx:
            tx.ensure(self._core.clock())
            for session in sessions:
                tx.sessions.put(_kept(session))

    def link(self, session: str, memory: str, usage: str, *, namespace: str | None = None) -> None:
        session = clean(session)
        with self._core.changing(namespace) as tx:
            self._core.ensure_session(tx, Session(session, self._core.namespace(namespace), self._core.clock()))
            tx.sessions.link(session, [self._core.num(tx, memory)], option(Usage, usage, "usage"), self._core.clock())

    def recent(self, *, limit: int = 20, offset: int = 0, namespace: str | None = None) -> list[tuple[Session, int]]:
        with self._core.store.read(self._core.namespace(namespace)) as reader:
            return reader.sessions.latest(limit, offset)

    def report(self, id: str, *, namespace: str | None = None) -> SessionReport:
        with self._core.reading(namespace) as reader:
            session = reader.sessions.get(id)
            if session is None:
                raise NotFound(f"no session {id!r}", hint="`recallens session list` shows those that exist.")
            links = reader.sessions.links(id)
            memories = reader.memories.get([num for num, _, _ in links])
        return SessionReport(session, tuple((memories[num], usage, at) for num, usage, at in links))

    def context(self, memory: str, *, namespace: str | None = None) -> SessionContext | None:
        """The latest session that touched a memory, and how."""
        with self._core.reading(namespace) as reader:
            num = self._core.num(reader, memory)
            return reader.sessions.contexts([num]).get(num)


def _stands(known: Memory, content: str) -> bool:
    """The same words; or taken away by a person, who is not overruled."""
    return known.content.strip() == content.strip() or known.status in (Status.FORGOTTEN, Status.REJECTED)


def _kept(session: Session) -> Session:
    """A session as it may be stored: its words are redacted as a memory's are."""
    return structs.replace(
        session,
        id=clean(session.id),
        project=label("project", session.project),
        title=kept_text(session.title),
        summary=kept_text(session.summary),
    )
