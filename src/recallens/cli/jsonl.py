"""JSON lines into a store: sessions, memories, what replaces what, relations. Loading twice is loading once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import structs

from recallens.cli.files import read_lines
from recallens.cli.given import Given
from recallens.cli.options import now_ms
from recallens.cli.screen import Bars
from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound, RecallensError
from recallens.ingest.batch import Outcome, Remembered
from recallens.ingest.draft import Draft
from recallens.ingest.importers import (
    SHOWN_REDACTIONS,
    Import,
    MemoryLine,
    Redaction,
    RelationLine,
    TaskLine,
    importer_of,
)
from recallens.model.memory import RelationType, Session, Zone
from recallens.model.trust import importer, lowest

SHOWN_ERRORS = 10


@dataclass(slots=True)
class Loaded:
    """What became of the lines. `left_out` names each that could not be followed, and why."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    redacted: int = 0
    redactions: list[Redaction] = field(default_factory=list)  # the first of them
    sessions: int = 0
    superseded: int = 0
    relations: int = 0
    tasks: int = 0
    left_out: list[str] = field(default_factory=list)


def read(path: str, defaults: Mapping[str, Any]) -> Import:
    """Every line checked; what a line does not say itself is taken from the options."""
    undecodable: list[str] = []
    found = importer_of(path).read_lines(read_lines(path, undecodable), now=now_ms())
    found.errors[:0] = undecodable
    found.memories = [replace(line, draft=_filled(line.draft, defaults)) for line in found.memories]
    keys = Counter(line.key for line in found.memories if line.key is not None)
    found.errors += [f"key {key!r} is given to {count} memories" for key, count in keys.items() if count > 1]
    return found


def _filled(draft: Draft, defaults: Mapping[str, Any]) -> Draft:
    """Who said it, and where it is from, a line that is less than trusted does not say: only the person does."""
    missing = {name: value for name, value in defaults.items() if getattr(draft, name) in (None, ())}
    if any(each not in (None, Zone.TRUSTED) for each in (draft.zone, defaults.get("zone"))):
        missing |= {"source": defaults.get("source", "import"), "author": defaults.get("author")}
    return structs.replace(draft, **missing) if missing else draft


def refuse(path: str, errors: list[str]) -> None:
    """Raise what is wrong with a file, the first lines by name."""
    if not errors:
        return
    shown = [f"  {error}" for error in errors[:SHOWN_ERRORS]]
    more = [f"  and {len(errors) - SHOWN_ERRORS} more"] if len(errors) > SHOWN_ERRORS else []
    problems = "1 problem" if len(errors) == 1 else f"{len(errors)} problems"
    raise InvalidInput(
        "\n".join([f"{path} has {problems}; nothing was written", *shown, *more]),
        hint="Mend the lines, or pass --skip-bad to load the others.",
    )


class LineNames:
    """What the lines call each other: keys of the file first, then whatever the store knows by that name."""

    def __init__(self, engine: Engine, found: Import) -> None:
        self._ids: dict[str, str | None] = {line.key: None for line in found.memories if line.key is not None}
        self._zones: dict[str, Zone] = {}
        self._new: set[str] = set()
        elsewhere = [name for name in _named(found) if name not in self._ids]
        self.known = engine.memories.resolve(elsewhere)
        self.unknown = [name for name in dict.fromkeys(elsewhere) if name not in self.known]

    def take(self, line: MemoryLine, kept: Remembered) -> None:
        zones = (self._zones.get(kept.id), line.draft.zone, Zone.QUARANTINE if kept.waits else None)
        self._zones[kept.id] = lowest(Zone(zone) for zone in zones if zone is not None)
        if kept.outcome is Outcome.CREATED:
            self._new.add(kept.id)
        if line.key is not None:
            self._ids[line.key] = kept.id

    def id(self, name: str) -> str | None:
        return self._ids.get(name) or self.known.get(name)

    def acting(self, engine: Engine, id: str, related: str | None = None) -> AbstractContextManager[None]:
        """What a line does to other memories is done by its text, as far as that is trusted and the line says: of what
        is more trusted, it only proposes. A principle that waits takes no place, and may have relations; so may all
        that the file has just brought with each other."""
        if {id, related} <= self._new:
            return nullcontext()
        memory = engine.get(id)
        zone = lowest((memory.zone, self._zones.get(id, memory.zone)))
        review = memory.review if related is None else None
        return engine.core.acting(engine.core.actor.by(structs.replace(memory, zone=zone, review=review)))


def _named(found: Import) -> Iterator[str]:
    yield from (line.supersedes for line in found.memories if line.supersedes is not None)
    for relation in found.relations:
        yield relation.source
        yield relation.target
    yield from (name for task in found.tasks for name in task.used)


def load(
    engine: Engine, found: Import, names: LineNames, *, given: Given, dedupe: bool | None, zone: str | None = None
) -> Loaded:
    """What the lines say, as of a file that the person trusts as far as `zone` and has not read: its principles, and
    what speaks to who reads it, wait for review."""
    with engine.core.acting(importer(Zone(zone or Zone.TRUSTED))):
        return _load(engine, found, names, given=given, dedupe=dedupe)


def _load(engine: Engine, found: Import, names: LineNames, *, given: Given, dedupe: bool | None) -> Loaded:
    loaded = Loaded(sessions=len(found.sessions))
    namespace, now = engine.core.namespace(None), engine.core.clock()
    sessions = [
        Session(line.id, namespace, now if line.started is None else line.started, line.ended, line.project, line.title,
                line.summary, engine.core.actor.zone)
        for line in found.sessions
    ]  # fmt: skip
    if sessions:
        engine.sessions.put(sessions)
    replaced: list[tuple[str, str, int]] = []
    lines = iter(found.memories)
    with Bars(given).bar("writing", len(found.memories)) as advance:
        for batch in engine.memories.remember_many((line.draft for line in found.memories), dedupe=dedupe):
            for remembered, line in zip(batch, lines, strict=False):
                names.take(line, remembered)
                loaded.outcomes[remembered.outcome] += 1
                if remembered.outcome is Outcome.CREATED and remembered.redacted:
                    loaded.redacted += 1
                    if len(loaded.redactions) < SHOWN_REDACTIONS:
                        loaded.redactions.append(Redaction(f"line {line.number}", remembered.redacted))
                if line.supersedes is not None:
                    when = now if line.draft.created_ms is None else line.draft.created_ms
                    replaced.append((line.supersedes, remembered.id, when))
            advance(len(batch))
    if sessions:
        engine.sessions.recap(sessions)
    for old, new, at in replaced:
        with _following(loaded, f"supersedes {old!r}"):
            loaded.superseded += _replace(engine, names, names.id(old), new, at)
    for relation in found.relations:
        with _following(loaded, f"{relation.source!r} {relation.relation} {relation.target!r}"):
            loaded.relations += _relate(engine, names, relation)
    for task in found.tasks:
        with _following(loaded, f"task {task.id!r}"):
            loaded.tasks += _follow_task(engine, names, task)
    return loaded


def _follow_task(engine: Engine, names: LineNames, line: TaskLine) -> bool:
    """Whether it was still to be done: a task that is known is left as it is."""
    try:
        engine.tasks.get(line.id)
        return False
    except NotFound:
        pass
    task = engine.tasks.start(
        line.text, id=line.id, session=line.session, project=line.project, worktree=line.worktree, started=line.started
    )
    at = task.started if line.ended is None else line.ended
    for kind, content in line.logs:
        engine.tasks.log(task.id, content, kind=kind, created=at)
    if used := [id for name in line.used if (id := names.id(name)) is not None]:
        engine.tasks.used(used, task=task.id, at=at)
    if line.reward is not None:
        engine.tasks.end(task.id, reward=line.reward, summary=line.summary, ended=line.ended)
    return True


@contextmanager
def _following(loaded: Loaded, what: str) -> Iterator[None]:
    """One link that cannot be made (a circle, a forgotten end) is told, and does not stop the others."""
    try:
        yield
    except RecallensError as error:
        loaded.left_out.append(f"{what}: {error.message}")


def _replace(engine: Engine, names: LineNames, old: str | None, new: str, at: int) -> bool:
    """Whether it was still to be done. A text merged into what it replaces has nothing left to replace."""
    if old is None or old == new or _is(engine, new, RelationType.SUPERSEDES, old):
        return False
    with names.acting(engine, new):
        engine.supersede(old, new, at=at)
    return True


def _is(engine: Engine, source: str, relation: RelationType, target: str) -> bool:
    wanted = (source, relation, target)
    return any((each.source, each.type, each.target) == wanted for each in engine.memories.relations(source))


def _relate(engine: Engine, names: LineNames, line: RelationLine) -> bool:
    source, target = names.id(line.source), names.id(line.target)
    if source is None or target is None:
        return False
    if line.relation is RelationType.SUPERSEDES:
        return _replace(engine, names, target, source, engine.get(source).created)
    if _is(engine, source, line.relation, target):
        return True
    with names.acting(engine, source, target):
        engine.relate(source, target, line.relation, confidence=line.confidence, origin=line.origin)
    return True
