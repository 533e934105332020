"""After any edits, renames and deletes, a vault that was synced along the way equals one that is read from nothing.

`RECALLENS_VAULT_EDITS=500` runs the full size; `make test` a smaller one.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from notes import Notes, sections, synced
from recallens.engine import Engine
from standing import Open

pytestmark = pytest.mark.slow

EDITS = int(os.environ.get("RECALLENS_VAULT_EDITS", "60"))
QUERIES = max(40, min(200, EDITS))
VOCABULARY = """
cache parcel courier webhook retry deploy broker index route token queue replica partition latency gateway label depot
manifest scanner harbour berth crane tariff customs invoice refund carrier pallet forklift 배송 창고 인증 주소 재시도
색인 지연 대기열 배포 장애 복구 알림 트럭 항구 세관 요금 환불 운송장 적재 하역 경로 지도 좌표
"""
WORDS = VOCABULARY.split()


class Author:
    """Writes notes at random, always the same for a seed."""

    def __init__(self, notes: Notes, seed: int) -> None:
        self.notes, self.chance = notes, random.Random(seed)
        self.texts: dict[str, list[str]] = {}
        self.born = 0

    def words(self, least: int, most: int) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(least, most)))

    def section(self) -> str:
        level = self.chance.choice(("#", "##", "##", "###"))
        link = f" [[{self.chance.choice(sorted(self.texts)).rpartition('/')[2][:-3]}]]" if self.texts else ""
        body = "\n\n".join(f"{self.words(5, 90)}." for _ in range(self.chance.randint(0, 4)))
        return f"{level} {self.words(1, 3)}\n\n{body}{link if self.chance.random() < 0.4 else ''}\n"

    def save(self, path: str) -> None:
        # A date of its own, so that two notes never tie by age.
        day = f"2026-01-01T{self.born // 3600:02d}:{self.born // 60 % 60:02d}:{self.born % 60:02d}Z"
        if not self.texts[path][0].startswith("---"):
            self.born += 1
            self.texts[path].insert(0, f"---\ndate: {day}\ntags: [{self.chance.choice(WORDS)}]\n---\n")
        self.notes.write(path, "\n".join(self.texts[path]))

    def create(self) -> None:
        folder = self.chance.choice(("", "ops/", "lessons/", "ops/deep/", "한국어/"))
        path = f"{folder}{self.words(1, 2).replace(' ', '-')}-{self.chance.randint(0, 9999)}.md"
        if path not in self.texts:
            self.texts[path] = [self.section() for _ in range(self.chance.randint(1, 6))]
            self.save(path)

    def act(self) -> None:
        path = self.chance.choice(sorted(self.texts))
        match self.chance.choice(("edit", "edit", "insert", "cut", "rename", "rename and edit", "delete", "create")):
            case "edit":
                self.texts[path][self.chance.randrange(1, len(self.texts[path]))] = self.section()
                self.save(path)
            case "insert":
                self.texts[path].insert(self.chance.randrange(1, len(self.texts[path]) + 1), self.section())
                self.save(path)
            case "cut" if len(self.texts[path]) > 2:
                del self.texts[path][self.chance.randrange(1, len(self.texts[path]))]
                self.save(path)
            case "rename" | "rename and edit" as how:
                new = f"moved-{self.chance.randint(0, 99_999)}/{path.rpartition('/')[2]}"
                self.notes.move(path, new)
                self.texts[new] = self.texts.pop(path)
                if "edit" in how:
                    self.texts[new].append(self.section())
                    self.save(new)
            case "delete" if len(self.texts) > 10:
                self.notes.remove(path)
                del self.texts[path]
            case _:
                self.create()


def answers(engine: Engine, query: str) -> list[tuple[str, str, float]]:
    recall = engine.recall(engine.recalls.query(query, limit=10))
    return [
        (str(result.memory.attributes["path"]), result.memory.content, round(result.score, 9))
        for result in recall.results
    ]


def share_ids(kept: Engine, fresh: Engine) -> None:
    """The same section has the same id in both, before either is asked: an id only breaks ties, and must not here."""
    ids = {(memory.attributes["path"], memory.position): memory.id for memory in sections(kept)}
    unlike = sections(fresh)
    with fresh.core.store.write_all():
        fresh.core.store.connection.executemany(
            "UPDATE memories SET id = ? WHERE id = ?",
            [(ids[memory.attributes["path"], memory.position], memory.id) for memory in unlike],
        )


@pytest.mark.parametrize("seed", [7, 2026])
def test_a_vault_synced_along_the_way_equals_a_fresh_one(opened: Open, tmp_path: Path, seed: int) -> None:
    notes = Notes(tmp_path / "notes")
    author = Author(notes, seed)
    for _ in range(40):
        author.create()
    kept = opened("kept.db")
    kept.vaults.add(notes.root)
    synced(kept)
    for step in range(EDITS):
        author.act()
        if author.chance.random() < 0.5:
            synced(kept)
        if step % 7 == 0:
            kept.encoder.drain()
            kept.recall(kept.recalls.query("parcel"))  # the index in memory grows along with the store
    synced(kept)
    kept.encoder.drain()
    fresh = opened("fresh.db")
    fresh.vaults.add(notes.root)
    synced(fresh)
    fresh.encoder.drain()
    share_ids(kept, fresh)
    assert kept.vaults.counts() == fresh.vaults.counts()
    queries = [author.words(1, 5) for _ in range(QUERIES)]
    different = [query for query in queries if answers(kept, query) != answers(fresh, query)]
    assert different == []
    assert any(answers(fresh, query) for query in queries)
    assert kept.maintenance.doctor().problems == []
    totals = [engine.maintenance.stats()["totals"] for engine in (kept, fresh)]
    assert totals[0] == totals[1]
