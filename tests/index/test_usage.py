"""Salience as it was: the events told again up to a time give what the columns held then."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import taking
from recallens.engine import Engine
from recallens.model.memory import Sector
from recallens.model.salience import DAY_MS, DECAY_PER_DAY
from recallens.recall.scene import usage_at, usage_now
from standing import START_MS, FixedClock
from worlds import a_folder, open_world

ACTS = st.lists(st.tuples(st.sampled_from(("confirm", "search", "repeat", "wait")), st.integers(0, 2)), max_size=14)


@given(ACTS)
@taking(30)
def test_usage_at_any_time_is_what_the_columns_held_then(acts: list[tuple[str, int]]) -> None:
    with a_folder() as folder, open_world(folder / "store.db") as engine:
        texts = ["alpha is the first", "beta is the second", "gamma is the third"]
        ids = [engine.remember(text, salience=0.4, sector="episodic").id for text in texts]
        held = []
        for act, which in acts:
            engine.core.clock.advance(days=0.7)
            match act:
                case "confirm":
                    engine.confirm(ids[which])
                case "search":
                    engine.search(texts[which], mode="keyword", limit=2)
                case "repeat":
                    assert engine.remember(texts[which]).outcome == "duplicate"
            with engine.core.snapshot("default") as snapshot:
                assert snapshot is not None
                usage = usage_now(snapshot[2].columns)
            held.append((engine.core.clock(), [getattr(usage, name).copy() for name in usage.__struct_fields__]))
        with engine.core.snapshot("default") as snapshot:
            assert snapshot is not None
            reader, _, version = snapshot
            for at, expected in held:
                told = usage_at(version.columns, reader.trail.usage_until(at), at)
                for name, values in zip(told.__struct_fields__, expected, strict=True):
                    assert getattr(told, name).tolist() == pytest.approx(values.tolist(), abs=1e-12), name


@pytest.mark.parametrize("sector", list(Sector))
def test_salience_falls_by_the_rate_of_its_sector(engine: Engine, clock: FixedClock, sector: Sector) -> None:
    id = engine.remember("Something happened", sector=sector, importance=0.4, salience=0.8).id
    clock.advance(days=20)
    expected = 0.8 * math.exp(-DECAY_PER_DAY[sector] / 0.5 * 20)
    assert engine.memories.salience([engine.get(id)])[id] == pytest.approx(expected, abs=1e-12)
    recall = engine.search("happened", record=False)
    assert recall.results[0].salience == pytest.approx(expected, abs=1e-12)
    assert engine.get(id).base_salience == 0.8  # a decayed value is never written back


def test_salience_stays_between_its_floor_and_one(engine: Engine, clock: FixedClock) -> None:
    dim = engine.remember("An old event", sector="episodic", importance=0.0, salience=0.3).id
    bright = engine.remember("A bright fact", salience=1.0).id
    for _ in range(30):
        engine.confirm(bright)
    clock.advance(days=4000)
    values = engine.memories.salience([engine.get(dim), engine.get(bright)])
    assert values[dim] == 0.05
    assert 0.05 <= values[bright] <= 1.0


def test_use_adds_up_to_a_tenth(engine: Engine, clock: FixedClock) -> None:
    id = engine.remember("A used fact", salience=0.2, importance=0.5).id
    engine.core.store.connection.execute("UPDATE memories SET uses = 3, seq = seq + 1")
    assert engine.memories.salience([engine.get(id)])[id] == pytest.approx(0.2 + 0.02 * math.log(4), abs=1e-12)
    engine.core.store.connection.execute("UPDATE memories SET uses = 100000")
    assert engine.memories.salience([engine.get(id)])[id] == pytest.approx(0.3, abs=1e-12)


def test_a_clock_that_went_back_adds_no_salience(engine: Engine, clock: FixedClock) -> None:
    id = engine.remember("Made tomorrow", created=START_MS + DAY_MS, salience=0.5).id
    assert engine.memories.salience([engine.get(id)])[id] == 0.5
