"""What lies near a fingerprint: the same rows and verdicts as by comparing with every one."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.engine import Engine
from recallens.index import fingerprints
from recallens.index.fingerprints import FingerprintIndex, hamming
from recallens.ingest.dedupe import DISTANCE_BY_LENGTH, LONGEST_DISTANCE
from recallens.ingest.draft import Draft

DISTANCES = [0, 1, 2, *(distance for _, distance in DISTANCE_BY_LENGTH), LONGEST_DISTANCE]
BITS = st.lists(st.integers(0, 63), max_size=14, unique=True)
WORDS = "the retry queue of the worker keeps each failed job for ten minutes before it is sent again to a healthy shard"


@pytest.fixture
def banded(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Bands from the first text on, made anew after a few rows, as a large store has them."""
    for name, value in (("WORTH_BANDS", 0), ("LONGEST_TAIL", 3)):
        monkeypatch.setattr(fingerprints, name, value)
    monkeypatch.setattr("recallens.engine.ingest.BATCH_ROWS", 16)
    return monkeypatch


@given(st.integers(0, 2**64 - 1), st.lists(BITS, max_size=40), st.integers(0, 40), st.sampled_from(DISTANCES))
def test_the_bands_find_what_comparing_with_every_row_finds(
    own: int, flips: list[list[int]], held: int, distance: int
) -> None:
    known = np.array([own ^ sum(1 << bit for bit in bits) for bits in flips], dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprints, "WORTH_BANDS", 0)
        patch.setattr(fingerprints, "LONGEST_TAIL", -1)
        index = FingerprintIndex().kept_up(known[:held])
    rows, distances = index.near(own, known, distance)
    expected = hamming(own, known)
    assert rows.tolist() == np.flatnonzero(expected <= distance).tolist()
    assert distances.tolist() == expected[expected <= distance].tolist()


def test_texts_of_one_pattern_take_no_longer_than_comparing_with_every_row() -> None:
    """In a store of such texts the bands hold nearly every row: picking them took a hundred times as long."""
    chance = np.random.default_rng(1)
    flipped = [np.uint64(1) << chance.integers(0, 64, 200_000, dtype=np.uint64) for _ in range(2)]
    known = np.uint64(0x0123456789ABCDEF) ^ flipped[0] ^ flipped[1]
    plain = banded = FingerprintIndex()
    for _ in range(fingerprints.WORTH_BANDS + 1):
        banded = banded.kept_up(known)

    def seconds(index: FingerprintIndex) -> float:
        started = time.process_time()
        for row in range(10):
            assert len(index.near(int(known[row]), known, 9)[0]) == len(known)
        return time.process_time() - started

    assert banded is not plain
    assert min(seconds(banded) for _ in range(3)) < 10 * min(seconds(plain) for _ in range(3))


def outcomes(engine: Engine, seed: int) -> list[tuple[str, int]]:
    """What became of texts of which many nearly repeat an earlier one, in two projects."""
    chance, drafts = random.Random(seed), []
    for number in range(300):
        same = random.Random(number % 60)
        words = [*WORDS.split(), *same.choices(WORDS.split(), k=same.randrange(70)), f"part {number % 60}"]
        for _ in range(chance.randrange(3)):  # a small word more, or another word
            words.insert(chance.randrange(len(words)), chance.choice(("the", "of", "and", "not", "이제", "gateway")))
        drafts.append(Draft(" ".join(words), project=chance.choice(("a", "b"))))
    remembered = [each for batch in engine.memories.remember_many(drafts) for each in batch]
    handles = list(dict.fromkeys(each.handle for each in remembered))
    return [(each.outcome, handles.index(each.handle)) for each in remembered]


@pytest.mark.parametrize("seed", range(3))
def test_a_text_repeats_the_same_memory_with_bands_as_without(opened, banded: pytest.MonkeyPatch, seed: int) -> None:
    by_bands = outcomes(opened("banded.db"), seed)
    banded.setattr(fingerprints, "WORTH_BANDS", 10**9)
    assert outcomes(opened("compared.db"), seed) == by_bands
    assert {outcome for outcome, _ in by_bands} >= {"created", "near-duplicate"}


def test_a_changed_fingerprint_is_found_by_its_new_value(opened, banded: pytest.MonkeyPatch) -> None:
    engine: Engine = opened()
    texts = [f"The pump number {n} stands in hall {n * 7} behind the gate of the yard" for n in range(20)]
    for text in texts:
        assert engine.remember(text).outcome == "created"
    engine.core.store.connection.execute("UPDATE memories SET simhash = ~simhash, seq = seq + 1000 WHERE num = 5")
    engine.core.store.connection.execute("UPDATE namespaces SET number = number + 1000")
    with engine.core.snapshot("default") as snapshot:
        assert snapshot is not None
        columns = snapshot[2].columns
        assert columns.near(int(columns["simhash"][4]), 0)[0].tolist() == [4]
    assert engine.remember(f"{texts[7]}!").outcome == "near-duplicate"
