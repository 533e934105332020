"""A disk that gives back other bytes than it was given: every one is found, or changes nothing."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import StoreError
from recallens.index import resident, vectors
from recallens.ingest.draft import Draft

FLIPS = int(os.environ.get("RECALLENS_FLIPS", "40"))
NOW = 2_000_000_000_000
QUESTIONS = ("pump number 17 in the cellar", "valve 103", "the gate of hall 42")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files for a few hundred memories, with a scan, as a large store has them."""
    monkeypatch.setattr(resident, "SMALLEST_IMAGE", 1)
    monkeypatch.setattr(vectors, "EXACT_ROWS", 100)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    things = ("pump", "valve", "gate", "lamp")
    with Engine.open(path, encoder="hashing", create=True) as engine:
        drafts = [
            Draft(f"The {things[n % 4]} number {n} stands in hall {n * 7 % 50}, row {n * 13 % 90}") for n in range(300)
        ]
        list(engine.memories.remember_many(drafts, dedupe=False))
        engine.encoder.drain()
        engine.search(QUESTIONS[0], record=False)
        assert engine.maintenance.publish()
    return path


def answers(engine: Engine) -> list[list[tuple[str, float]]]:
    recalls = [engine.search(question, limit=10, record=False, cut=False, now=NOW) for question in QUESTIONS]
    return [[(result.memory.id, result.score) for result in recall.results] for recall in recalls]


def test_every_flipped_byte_of_an_index_file_is_found_or_harmless(path: Path) -> None:
    with Engine.open(path, encoder="hashing") as engine:
        true = answers(engine)
    files = sorted(Path(f"{path}.index").rglob("*.image")) + sorted(Path(f"{path}.index").rglob("*.scan"))
    assert [file.suffix for file in files] == [".image", ".scan"]
    whole = {file: file.read_bytes() for file in files}
    chance, found = random.Random(7), 0
    for _ in range(FLIPS):
        file = chance.choice(files)
        damaged = bytearray(whole[file])
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        for each in files:
            each.parent.mkdir(exist_ok=True)
            each.write_bytes(damaged if each == file else whole[each])
        with Engine.open(path, encoder="hashing") as engine:
            found += any("index file" in problem for problem in engine.maintenance.doctor().problems)
            assert answers(engine) == true
    assert found >= FLIPS * 0.9  # the rest lies between the arrays, where nothing is read


def test_a_damaged_index_is_made_anew(path: Path) -> None:
    (image,) = Path(f"{path}.index").rglob("*.image")
    damaged = bytearray(image.read_bytes())
    damaged[len(damaged) // 2 :] = bytes(len(damaged) - len(damaged) // 2)
    image.write_bytes(damaged)
    with Engine.open(path, encoder="hashing") as engine:
        engine.search(QUESTIONS[0], record=False)
        assert engine.maintenance.publish()
        assert engine.maintenance.doctor().problems == []


def test_every_flipped_byte_of_a_text_is_found(path: Path) -> None:
    content = path.read_bytes()
    with Engine.open(path, encoder="hashing") as engine:
        true = answers(engine)
    chance = random.Random(11)
    places = [at for at in range(len(content)) if content.startswith(b"stands in hall", at)]
    for at in chance.sample(places, min(len(places), FLIPS)):
        damaged = bytearray(content)
        damaged[at + chance.randrange(14)] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            with Engine.open(path, encoder="hashing") as engine:
                problems = engine.maintenance.doctor().problems
                assert any(problem.startswith(("digest:", "file:")) for problem in problems) or answers(engine) == true
        except StoreError:
            pass  # refused
