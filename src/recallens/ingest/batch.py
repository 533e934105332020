"""Writing memories: recognise what is already known, write the rest, each batch in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from msgspec import Struct, to_builtins

from recallens.index.columns import Columns, code_of
from recallens.ingest.curation import enter_session, strengthen
from recallens.ingest.dedupe import is_near_duplicate
from recallens.model.memory import Event, EventKind, Memory, Session, Status
from recallens.model.salience import RECALL_REINFORCEMENT
from recallens.model.trust import PERSON, Actor
from recallens.model.verdict import places
from recallens.store.protocols import Reader, Writer
from recallens.store.records import NamespaceState, OriginKey, Prepared
from recallens.text.tokenizer import tokenize

# Of the memories about the same, so many are read and compared, the oldest first.
MOST_COMPARED = 5


class Outcome(StrEnum):
    CREATED = "created"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near-duplicate"


class Remembered(Struct, frozen=True, rename="camel"):
    """`id` is the new memory's, or that of the memory which already said so."""

    id: str
    outcome: Outcome
    handle: str
    redacted: tuple[str, ...] = ()
    embedded: bool = False
    suspected: tuple[str, ...] = ()  # what a reviewer should know of the text
    proposes: str | None = None  # the more trusted memory that it replaces once the person at the machine accepts that
    waits: bool = False  # whether it is in no answer before a person has approved it
    may_replace: str | None = None  # what it seems to correct, which holds until a person says that it does not

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in to_builtins(self).items() if value is not None}


class Repeat(Struct, frozen=True):
    """A memory that already says what a new one says: one in the store, or an earlier one of the same batch.

    `returned` means that it came from the very same place before: it is not said again, so nothing changes.
    """

    outcome: Outcome
    num: int | None = None
    earlier: int | None = None
    returned: bool = False


def recognise(
    reader: Reader, columns: Columns, rows: Sequence[Prepared], held: Collection[str] | None = None
) -> list[Repeat | None]:
    """For each row, what it repeats: of what who holds these contexts may see, and of everything where it is None."""
    exact = reader.memories.by_hash([row.memory.content_hash for row in rows], held=held)
    near = _near_in_store(reader, columns, rows)
    origins = reader.memories.by_origin([origin for row in rows if (origin := _origin(row.memory)) is not None])
    seen: dict[tuple[str, str | None], int] = {}
    by_gist: dict[int, list[int]] = {}
    repeats: list[Repeat | None] = []
    for at, row in enumerate(rows):
        known: Repeat | None = None
        if _is_own_text(row):
            key = (row.memory.content_hash, row.memory.project)
            origin = _origin(row.memory)
            if origin is not None and origin in origins:
                # Superseded, forgotten or in quarantine by now: loading its file again must not bring it back.
                known = Repeat(Outcome.DUPLICATE, num=origins[origin], returned=True)
            elif (num := exact.get(key)) is not None:
                known = Repeat(Outcome.DUPLICATE, num=num)
            elif key in seen:
                known = Repeat(Outcome.DUPLICATE, earlier=seen[key])
            elif (num := near.get(at)) is not None:
                known = Repeat(Outcome.NEAR_DUPLICATE, num=num)
            elif (earlier := _near_in_batch(rows, by_gist.get(row.gist, ()), at)) is not None:
                known = Repeat(Outcome.NEAR_DUPLICATE, earlier=earlier)
            else:
                seen[key] = at
                by_gist.setdefault(row.gist, []).append(at)
        repeats.append(known)
    return repeats


def raced(
    tx: Reader, rows: Sequence[Prepared], known: Sequence[Repeat | None], held: Collection[str] | None = None
) -> list[Repeat | None]:
    """What another process wrote, word for word, after these rows were recognised and before this transaction."""
    exact = tx.memories.by_hash([row.memory.content_hash for row in rows], held=held)
    repeats = list(known)
    for at, row in enumerate(rows):
        num = exact.get((row.memory.content_hash, row.memory.project))
        if repeats[at] is None and num is not None and _is_own_text(row):
            repeats[at] = Repeat(Outcome.DUPLICATE, num=num)
    return repeats


def _is_own_text(row: Prepared) -> bool:
    """Sections of documents stand as they are, for their file is the authority; so does a text without words."""
    return row.memory.document is None and bool(row.body)


def _origin(memory: Memory) -> OriginKey | None:
    if memory.source_id is None:
        return None
    return memory.source, memory.source_id, memory.project, memory.content_hash


def _near_in_store(reader: Reader, columns: Columns, rows: Sequence[Prepared]) -> dict[int, int]:
    if not columns.size:
        return {}
    held = columns.about(np.array([row.gist for row in rows], dtype=np.uint64))
    status = columns["status"][held]
    held = held[
        columns["alive"][held]
        & (columns["document"][held] < 0)
        & ((status == code_of(Status.ACTIVE)) | (status == code_of(Status.PENDING_REVIEW)))
    ]
    nums, gists, projects = (columns[name][held] for name in ("num", "gist", "project"))
    candidates: dict[int, list[int]] = {}
    for at, row in enumerate(rows if len(held) else ()):
        project = columns.names["project"].find(row.memory.project) if row.memory.project is not None else -1
        alike = places((gists == np.uint64(row.gist)) & (projects == project))
        if len(alike) and _is_own_text(row):
            candidates[at] = nums[alike[:MOST_COMPARED]].tolist()
    texts = reader.memories.get(sorted({num for nums in candidates.values() for num in nums})) if candidates else {}
    return {
        at: num
        for at, nums in candidates.items()
        if (num := next((n for n in nums if n in texts and _repeats(rows[at], texts[n].content)), None)) is not None
    }


def _near_in_batch(rows: Sequence[Prepared], earlier: Sequence[int], at: int) -> int | None:
    row = rows[at]
    for place in earlier:
        other = rows[place].memory
        if other.project == row.memory.project and _repeats(row, other.content):
            return place
    return None


def _repeats(row: Prepared, text: str) -> bool:
    return is_near_duplicate(row.memory.content, row.body, text, tokenize(text))


def write_batch(
    tx: Writer, state: NamespaceState, rows: Sequence[Prepared], known: Sequence[Repeat | None], *, now: int,
    by: Actor = PERSON,
) -> list[tuple[int, Outcome]]:  # fmt: skip
    """Insert what is new and fold in what is not; gives each row's memory number. What is more trusted than who says it
    again stays as it is."""
    for session, project in {(row.session, row.memory.project) for row in rows if row.session is not None}:
        if tx.sessions.get(session) is None:
            tx.sessions.put(Session(session, state.name, started=now, project=project, zone=by.zone))
        enter_session(tx, session, by=by)
    fresh = [at for at, repeat in enumerate(known) if repeat is None]
    numbers = dict(zip(fresh, tx.memories.insert([rows[at] for at in fresh]), strict=True))
    if not by.decides:
        own = Event(state.name, EventKind.WRITTEN, now, owner=by.called)
        tx.trail.record([own] * len(numbers), list(numbers.values()))
    present = tx.memories.get([repeat.num for repeat in known if repeat is not None and repeat.num is not None])
    written: list[tuple[int, Outcome]] = []
    for at, repeat in enumerate(known):
        if repeat is None:
            written.append((numbers[at], Outcome.CREATED))
            continue
        num = repeat.num if repeat.num is not None else numbers[at if repeat.earlier is None else repeat.earlier]
        if not repeat.returned and (num not in present or by.by(rows[at].memory).may_change(present[num])):
            tx.memories.merge(num, rows[at])
            strengthen(tx, num, EventKind.USED, by=RECALL_REINFORCEMENT, now=now, session=rows[at].session,
                       owner=by.called or None)  # fmt: skip
        written.append((num, repeat.outcome))
    return written
