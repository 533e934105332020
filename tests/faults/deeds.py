"""Every kind of write as a short deed on a store, for the tests that kill, cut the power, fill the disk and so on.

A deed is given two memories that it may change, and tells what must be true once it has returned: for each memory that
it touched, the states in which it may be found from then on (None is gone for good).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recallens.engine import Engine
from recallens.ingest.draft import Draft

Facts = Mapping[str, Sequence[str | None]]
# An older version goes with the newer one that is erased, and what was forgotten goes when it is pruned.
ACTIVE, ENDED, TAKEN, GONE = ("active",), ("superseded", None), ("forgotten", None), (None,)
WORDS = (
    "cache",
    "deploy",
    "login",
    "token",
    "gateway",
    "retry",
    "인증",
    "배포",
    "사용자",
    "세션",
    "queue",
    "worker",
    "shard",
)


@dataclass
class Course:
    engine: Engine
    notes: Path  # the folder of a vault
    chance: random.Random
    count: int = 0
    name: str = field(default="")

    def __post_init__(self) -> None:
        self.name = self.name or f"{self.chance.randrange(16**8):08x}"
        self.notes.mkdir(exist_ok=True)

    def text(self) -> str:
        self.count += 1
        return f"{self.name}x{self.count} {' '.join(self.chance.choices(WORDS, k=self.chance.randint(3, 30)))}"

    def two(self) -> tuple[str, str]:
        """Two memories in use, which are made where there are none."""
        rows = self.engine.core.store.connection.execute(
            "SELECT id FROM memories WHERE status = 'active' AND kind = 'note' AND document IS NULL LIMIT 60"
        )
        ids = [id for (id,) in rows]
        while len(ids) < 2:
            ids.append(self.engine.remember(self.text(), kind="note").id)
        first, second = self.chance.sample(ids, 2)
        return first, second


def remember(course: Course, one: str, other: str) -> Facts:
    return {course.engine.remember(course.text(), kind="note", session=f"s{course.chance.randrange(3)}").id: ACTIVE}


def remember_many(course: Course, one: str, other: str) -> Facts:
    drafts = [Draft(course.text(), kind="note", project=course.chance.choice((None, "p"))) for _ in range(6)]
    return {kept.id: ACTIVE for batch in course.engine.memories.remember_many(drafts) for kept in batch}


def edit(course: Course, one: str, other: str) -> Facts:
    return {course.engine.edit(one, course.text()).id: ACTIVE, one: ENDED}


def supersede(course: Course, one: str, other: str) -> Facts:
    course.engine.supersede(one, other)
    return {one: ENDED, other: ACTIVE}


def relate(course: Course, one: str, other: str) -> Facts:
    course.engine.relate(one, other)
    return {one: ACTIVE, other: ACTIVE}


def confirm(course: Course, one: str, other: str) -> Facts:
    course.engine.confirm(one)
    return {one: ACTIVE}


def forget(course: Course, one: str, other: str) -> Facts:
    course.engine.forget(one)
    return {one: TAKEN}


def bring_back(course: Course, one: str, other: str) -> Facts:
    course.engine.forget(one)
    course.engine.restore(one)
    return {one: ACTIVE}


def erase(course: Course, one: str, other: str) -> Facts:
    course.engine.forget(one, hard=True)
    return {one: GONE}


def session(course: Course, one: str, other: str) -> Facts:
    begun = course.engine.sessions.start()
    kept = course.engine.remember(course.text(), kind="note", session=begun.id).id
    course.engine.sessions.end(begun.id, summary=course.text())
    return {kept: ACTIVE}


def task(course: Course, one: str, other: str) -> Facts:
    begun = course.engine.tasks.start(course.text())
    course.engine.tasks.log(begun.id, f"1. {course.text()}\n2. {course.text()}")
    course.engine.tasks.end(begun.id, reward=course.chance.random(), summary=course.text())
    return {}


def search(course: Course, one: str, other: str) -> Facts:
    course.engine.search(course.chance.choice(WORDS), session="asking")
    return {}


def drain(course: Course, one: str, other: str) -> Facts:
    course.engine.encoder.drain()
    return {}


def publish(course: Course, one: str, other: str) -> Facts:
    course.engine.maintenance.publish()
    return {}


def reindex(course: Course, one: str, other: str) -> Facts:
    course.engine.maintenance.reindex()
    return {}


def sync(course: Course, one: str, other: str) -> Facts:
    note = course.notes / f"note{course.chance.randrange(4)}.md"
    note.write_text(f"# {note.stem}\n\n{course.text()}\n\n## More\n\n{course.text()}\n", encoding="utf-8")
    if not course.engine.vaults.all():
        course.engine.vaults.add(course.notes, "notes")
    course.engine.vaults.sync("notes")
    return {}


def prune(course: Course, one: str, other: str) -> Facts:
    course.engine.forget(one)
    course.engine.maintenance.prune(older_than_days=0, dry_run=False)
    return {one: TAKEN}


def namespace(course: Course, one: str, other: str) -> Facts:
    course.engine.remember(course.text(), namespace="other")
    course.engine.maintenance.remove_namespace("other")
    return {}


Deed = Callable[[Course, str, str], Facts]
DEEDS: tuple[Deed, ...] = (
    remember, remember_many, edit, supersede, relate, confirm, forget, bring_back, erase, session, task, search, drain,
    publish, reindex, sync, prune, namespace,
)  # fmt: skip
