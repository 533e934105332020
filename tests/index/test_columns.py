"""Columns: a version never changes, whatever is written after it; the next one holds what was written."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recallens.index.columns import ALWAYS, NEVER, Columns, code_of
from recallens.model.memory import Memory, Status, Tier
from recallens.store.records import COLUMN_FIELDS, COLUMN_TEXTS, COLUMN_VALUES, COLUMNS

BASE: dict[str, Any] = {
    "project": None, "sector": "semantic", "kind": "fact", "tier": "project", "status": "active", "zone": "trusted",
    "importance": 0.5, "confidence": 0.8, "base_salience": 1.0, "created": 100, "updated": 100, "last_used": None,
    "uses": 0, "reinforcement": 0.0, "reinforced_at": None, "confirmed": 0, "valid_from": None, "valid_until": None,
    "recorded": None,
    "document": None, "source": "user", "task": None, "worktree": None, "author": None, "session": None,
    "position": None, "reward": None, "cited": 0, "gist": -1, "chars": 10, "tokens": 3, "length": 2,
    "days_told": 0, "tasks_with": 0, "reward_with": 0.0, "review": None, "kind_stated": 0,
}  # fmt: skip


def row(num: int, **values: Any) -> tuple[Any, ...]:
    record = {"num": num, "id": f"{num:026d}", **BASE, **values}
    return *(record[name] for name in COLUMN_VALUES), json.dumps([record[name] for name in COLUMN_TEXTS])


def test_every_resident_column_of_the_store_has_a_type_and_every_field_of_a_memory_a_column() -> None:
    assert Columns.empty().arrays().keys() == {*COLUMN_FIELDS, "alive"}
    names = [column.name for column in COLUMNS]
    assert len(names) == len(set(names))
    assert set(Memory.__match_args__) - {"namespace", "citations"} <= set(names)


def frozen(columns: Columns) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in columns.arrays().items()}


WRITES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(1, 30), st.sampled_from(("active", "forgotten")), st.floats(0, 1)), max_size=6),
        st.lists(st.integers(1, 30), max_size=2),
    ),
    max_size=8,
)


@given(WRITES)
def test_a_version_is_unchanged_by_later_writes(writes: list[Any]) -> None:
    version, history, naive, alive = Columns.empty(), [], {}, set()
    history.append((version, frozen(version)))
    for changed, removed in writes:
        rows = list({num: row(num, status=status, importance=i) for num, status, i in changed if num in naive}.values())
        fresh = sorted({num for num, *_ in changed if num not in naive and num > max(naive, default=0)})
        values = {num: (status, i) for num, status, i in changed}
        rows += [row(num, status=values[num][0], importance=values[num][1]) for num in fresh]
        gone = [num for num in removed if num in naive]
        version, added = version.next(rows, gone)
        assert added == len(fresh)
        for each in rows:
            texts = dict(zip(COLUMN_TEXTS, json.loads(each[-1]), strict=True))
            record = texts | dict(zip(COLUMN_VALUES, each, strict=False))
            naive[record["num"]] = (record["status"], record["importance"])
            alive.add(record["num"])
        alive -= set(gone)
        history.append((version, frozen(version)))
        assert version["num"].tolist() == list(naive)
        assert version["importance"].tolist() == [importance for _, importance in naive.values()]
        assert version["status"].tolist() == [code_of(Status(status)) for status, _ in naive.values()]
        assert version["num"][version["alive"]].tolist() == [num for num in naive if num in alive]
        assert version["num"][version.active].tolist() == [
            num for num, (status, _) in naive.items() if num in alive and status == "active"
        ]
    for old, bytes_then in history:
        assert frozen(old) == bytes_then


def test_two_futures_of_one_version_do_not_share_a_row() -> None:
    start, _ = Columns.empty().next([row(1), row(2)], [])
    one, _ = start.next([row(3, importance=0.1)], [])
    two, _ = start.next([row(4, importance=0.9)], [])
    assert (one["num"].tolist(), two["num"].tolist()) == ([1, 2, 3], [1, 2, 4])
    assert (one["importance"][-1], two["importance"][-1]) == (0.1, 0.9)


def test_what_is_missing_has_its_own_value() -> None:
    columns, _ = Columns.empty().next([row(7), row(8, valid_from=1, valid_until=2, last_used=150, project="p")], [])
    assert columns["valid_from"].tolist() == [ALWAYS, 1]
    assert columns["valid_until"].tolist() == [NEVER, 2]
    assert columns["last_used"].tolist() == [100, 150]  # never used: since it was made
    assert columns["project"].tolist() == [-1, columns.names["project"].find("p")]
    assert np.isnan(columns["reward"]).all()
    assert columns["gist"].tolist() == [2**64 - 1] * 2
    assert columns.names["project"].find("nowhere") == -2


def test_locate_gives_places_and_minus_one() -> None:
    columns, _ = Columns.empty().next([row(5), row(9), row(12)], [])
    assert columns.locate([12, 5, 6, 99, 0]).tolist() == [2, 0, -1, -1, -1]
    assert Columns.empty().locate([1]).tolist() == [-1]
    assert columns.locate([]).tolist() == []


def test_a_stored_image_is_the_same_columns() -> None:
    columns, _ = Columns.empty().next([row(n, project=f"p{n % 2}", tier=Tier.SESSION) for n in range(1, 6)], [3])
    names = {name: each.texts for name, each in columns.names.items()}
    arrays = {name: values.copy() for name, values in columns.arrays().items()}
    for values in arrays.values():
        values.flags.writeable = False
    mapped = Columns.of(arrays, names)
    assert frozen(mapped) == frozen(columns)
    grown, added = mapped.next([row(9, project="p1"), row(2, status="forgotten")], [1])
    assert (added, grown.size) == (1, 6)
    assert grown["alive"].tolist() == [False, True, False, True, True, True]
    assert frozen(mapped) == frozen(columns)


def test_a_memory_costs_216_bytes_of_columns() -> None:
    columns, _ = Columns.empty().next([row(1)], [])
    assert sum(values.itemsize for values in columns.arrays().values()) == 216


@given(st.lists(st.integers(0, 2**64 - 1), max_size=30), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30))
def test_rows_about_the_same_are_found_by_their_gist(known: list[int], others: list[int]) -> None:
    alike = [gist ^ 1 << 40 for gist in known[:3]]  # with the same last bits
    held, wanted = [*known, *alike], [*others, *known[::2]]
    signed = [gist - (1 << 64) if gist >= 1 << 63 else gist for gist in held]
    columns = Columns.empty().next([row(num, gist=gist) for num, gist in enumerate(signed, start=1)], [])[0]
    for gists in (wanted, wanted[:3]):
        expected = [at for at, gist in enumerate(held) if gist in gists]
        assert columns.about(np.array(gists, dtype=np.uint64)).tolist() == expected


def test_where_every_text_is_about_the_same_looking_for_it_takes_no_longer_than_reading_the_column() -> None:
    rows = [row(num, gist=7 if num % 2 else num) for num in range(1, 20_001)]
    columns = Columns.empty().next(rows, [])[0]
    gists = np.array([7, *range(2, 200)], dtype=np.uint64)

    def seconds(act: Callable[[], object]) -> float:
        begun = time.process_time()
        for _ in range(50):
            act()
        return time.process_time() - begun

    assert len(columns.about(gists)) == 10_000 + 99
    assert min(seconds(lambda: columns.about(gists)) for _ in range(3)) < 20 * min(
        seconds(lambda: np.sort(columns["gist"])) for _ in range(3)
    )
