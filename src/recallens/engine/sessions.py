"""Sessions: one run of an agent, the memories it touched, and the recap that it leaves behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from msgspec import Struct, structs

from recallens.engine.core import Core
from recallens.engine.ingest import Ingest
from recallens.errors import NotFound
from recallens.ingest.curation import FORGOTTEN_WITH, enter_session
from recallens.ingest.draft import Draft, recap, recap_id
from recallens.ingest.prepare import kept_text
from recallens.ingest.signature import require_fields
from recallens.ingest.validate import epoch_ms, label, option, reference
from recallens.model.memory import Memory, Session, Status, Usage, Zone
from recallens.model.recall import SessionContext
from recallens.model.state import not_held
from recallens.model.times import When
from recallens.model.trust import Input, derived, lowest, rank
from recallens.text.normalize import clean

MOST_ENDED = 16  # at once: all their memories are read


class SessionReport(Struct, frozen=True):
    session: Session
    links: tuple[tuple[Memory, Usage, int], ...]


class Sessions:
    """Starts, ends and looks into the sessions of a namespace."""

    def __init__(self, core: Core, ingest: Ingest) -> None:
        self._core = core
        self._ingest = ingest

    def start(
        self, id: str | None = None, *, project: str | None = None, title: str | None = None,
        started: When | None = None, namespace: str | None = None,
    ) -> Session:  # fmt: skip
        name, id = self._core.namespace(namespace), id or f"s-{self._core.new_id().lower()}"
        begun = self._core.moment("started", started)
        project, zone = project or self._core.settings.project, self._core.actor.zone
        session = _kept(Session(id, name, begun, project=project, title=title, zone=zone))
        with self._core.making(name) as tx:
            known = tx.sessions.get(session.id)
            if known is not None and rank(known.zone) > rank(zone):
                return known  # what is more trusted is joined as it is
            tx.sessions.put(session)
            enter_session(tx, session.id, by=self._core.actor)
        return session

    def end(
        self, id: str, *, summary: str | None = None, ended: When | None = None, namespace: str | None = None,
    ) -> Session:  # fmt: skip
        """End a session, and keep its recap as a memory. One that was kept before and says something else is
        superseded: a question about an earlier time still finds what was known then."""
        (session,), recaps = self._ended({id: (summary, ended)}, namespace)
        for zone, drafts in recaps.items():
            with self._core.acting(structs.replace(self._core.actor, zone=zone, decides=False)):
                for draft in drafts:
                    self._ingest.remember(draft, namespace=session.namespace, dedupe=False)
        return session

    def end_many(self, times: Mapping[str, When | None], *, namespace: str | None = None) -> None:
        """The same for many sessions, each with the time of its end; their recaps' vectors wait in the backlog."""
        remaining = iter(times.items())
        while batch := list(islice(remaining, MOST_ENDED)):
            _, recaps = self._ended({id: (None, ended) for id, ended in batch}, namespace)
            for zone, drafts in recaps.items():
                with self._core.acting(structs.replace(self._core.actor, zone=zone, decides=False)):
                    for _ in self._ingest.remember_many(drafts, namespace=namespace, dedupe=False):
                        pass

    def _ended(
        self, asked: Mapping[str, tuple[str | None, When | None]], namespace: str | None
    ) -> tuple[list[Session], dict[Zone, list[Draft]]]:
        """The sessions, ended with a summary and at a time; and their new recaps by the zone in which they are kept."""
        sessions: list[Session] = []
        with self._core.changing(namespace) as tx:
            for id, (summary, ended) in asked.items():
                session = tx.sessions.get(clean(id))
                if session is None:
                    raise no_session(id)
                at = self._core.moment("ended", ended)
                told = _kept(structs.replace(session, ended=at, summary=summary or session.summary))
                if rank(session.zone) > rank(self._core.actor.zone):  # of what is more trusted only the recap is theirs
                    tx.sessions.put(structs.replace(session, ended=session.ended or at))
                else:
                    tx.sessions.put(told)
                enter_session(tx, session.id, by=self._core.actor)
                sessions.append(told)
        name = self._core.namespace(namespace)
        with self._core.reading(name) as reader:
            links = [reader.sessions.links(session.id) for session in sessions]
            known = reader.memories.get(sorted({num for own in links for num, _, _ in own}))
        drafts: dict[str, Draft | None] = {}
        for session, own in zip(sessions, links, strict=True):
            memories = [known[num] for num, usage, _ in own if usage is Usage.CREATED and num in known]
            created = sorted(memories, key=lambda each: (each.created, each.id))
            linked = [known[num] for num, _, _ in own if num in known]
            given = [Input.of(each) for each in linked if not_held(each, ()) and each not in created]
            draft = recap(session, created)
            drafts[session.id] = None if draft is None else structs.replace(draft, inputs=(*draft.inputs, *given))
        recaps: dict[Zone, list[Draft]] = {}
        for draft in self._recaps(drafts, name):
            # What a session has become takes the place of nothing that is more trusted than it is.
            recaps.setdefault(lowest((self._core.actor.zone, derived(draft.inputs).zone)), []).append(draft)
        return sessions, recaps

    def put(self, sessions: Iterable[Session], *, namespace: str | None = None) -> None:
        """Sessions as they were elsewhere; one that is known takes what it did not have, unless it is more trusted."""
        with self._core.making(namespace) as tx:
            for session in sessions:
                known = tx.sessions.get(session.id)
                if known is not None and rank(known.zone) > rank(self._core.actor.zone):
                    continue
                tx.sessions.put(_kept(structs.replace(session, zone=self._core.actor.zone)))
                enter_session(tx, session.id, by=self._core.actor)

    def recap(self, sessions: Iterable[Session], *, namespace: str | None = None) -> None:
        """Keep a recap of each that has a summary, as if it had ended here."""
        name = self._core.namespace(namespace)
        drafts = {session.id: recap(session, ()) for session in map(_kept, sessions) if session.summary}
        for _ in self._ingest.remember_many(self._recaps(drafts, name), namespace=name, dedupe=False):
            pass

    def _recaps(self, drafts: Mapping[str, Draft | None], namespace: str) -> list[Draft]:
        """Those that say something new, each in the place of what was kept of its session before."""
        own = self._core.actor.zone
        zones = {recap_id(id): lowest((own, derived(draft.inputs).zone)) for id, draft in drafts.items() if draft}
        with self._core.reading(namespace) as reader:
            nums = reader.memories.by_source_id(list(zones), zones=zones)
            known = {memory.source_id: memory for memory in reader.memories.get(list(nums.values())).values()}
        recaps = []
        for session, draft in drafts.items():
            before = known.get(recap_id(session))
            if draft is not None and (before is None or not _stands(before, draft.content)):
                replaced = before is not None and before.status is not Status.FORGOTTEN
                recaps.append(structs.replace(draft, supersedes=before.id if before is not None and replaced else None))
        return recaps

    def link(self, session: str, memory: str, usage: str, *, namespace: str | None = None) -> None:
        session = clean(session)
        with self._core.changing(namespace) as tx:
            self._core.ensure_session(tx, session)
            tx.sessions.link(session, [self._core.num(tx, memory)], option(Usage, usage, "usage"), self._core.clock())

    def recent(self, *, limit: int = 20, offset: int = 0, namespace: str | None = None) -> list[tuple[Session, int]]:
        with self._core.read(namespace) as reader:
            return reader.sessions.latest(limit, offset)

    def report(self, id: str, *, namespace: str | None = None) -> SessionReport:
        """What was done with which memory. That a withheld one is of the session is told to nobody but the person."""
        with self._core.reading(namespace) as reader:
            session = reader.sessions.get(id)
            if session is None:
                raise no_session(id)
            links = reader.sessions.links(id)
            memories = reader.memories.get([num for num, _, _ in links])
        seen = {num: each for num, each in memories.items() if self._core.actor.sight.withholds(each) is None}
        return SessionReport(session, tuple((seen[num], usage, at) for num, usage, at in links if num in seen))

    def context(self, memory: str, *, namespace: str | None = None) -> SessionContext | None:
        """The latest session that touched a memory, and how."""
        with self._core.reading(namespace) as reader:
            num = self._core.num(reader, memory)
            return reader.sessions.contexts([num]).get(num)


def no_session(id: str) -> NotFound:
    return NotFound(f"no session {id!r}", hint="`recallens session list` shows those that exist.")


def _stands(known: Memory, content: str) -> bool:
    """The same words; or taken away by a person, who is not overruled. What went with something that it quoted may be
    told anew without that."""
    taken = known.status in (Status.FORGOTTEN, Status.REJECTED) and FORGOTTEN_WITH not in known.attributes
    return known.content.strip() == content.strip() or taken


def _kept(session: Session) -> Session:
    """A session as it may be stored: its words are redacted as a memory's are."""
    require_fields(session, session.__struct_fields__)
    epoch_ms("started", session.started)
    epoch_ms("ended", session.ended)
    return structs.replace(
        session,
        id=reference("session id", session.id),
        project=label("project", session.project),
        title=kept_text(session.title, session.zone),
        summary=kept_text(session.summary, session.zone),
    )
