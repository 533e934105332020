"""The laws of uplift: the formula, its bounds, and what more evidence does to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.model.salience import Uplift, confidence, expected_reward, uplift_of, uplifts

REWARDS = st.lists(st.floats(0, 1), max_size=12)
SOME = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def of(with_it: list[float], without_it: list[float]) -> Uplift:
    found = uplift_of(len(with_it), sum(with_it), len(with_it) + len(without_it), sum(with_it) + sum(without_it))
    assert found is not None
    return found


@given(SOME, REWARDS)
def test_the_formula_to_the_letter(with_it: list[float], without_it: list[float]) -> None:
    n, s, total, rest = len(with_it), sum(with_it), len(with_it) + len(without_it), sum(without_it)
    m0 = (s + rest + 2 * 0.5) / (total + 2)
    expected = (s + 2 * m0) / (n + 2) - (rest + 2 * m0) / (total - n + 2)
    found = of(with_it, without_it)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert (found.confidence, found.tasks) == (n / (n + 2), n)


@given(SOME, REWARDS)
def test_it_lies_between_minus_one_and_one_and_is_mirrored_by_the_other_side(a: list[float], b: list[float]) -> None:
    assert -1 < of(a, b).value < 1
    if b:
        assert of(a, b).value == pytest.approx(-of(b, a).value, abs=1e-12)


@given(st.floats(0, 1), st.integers(1, 9), st.integers(1, 9))
def test_where_all_tasks_go_alike_the_sign_says_only_how_they_go(reward: float, n: int, others: int) -> None:
    """Both sides lean to one mean, so that equal rewards on equal sides are worth nothing."""
    assert of([reward] * n, [reward] * n).value == pytest.approx(0, abs=1e-12)
    assert abs(of([reward] * n, [reward] * others).value) < 0.5


@given(REWARDS, st.lists(st.floats(0, 1), min_size=1, max_size=8), st.data())
def test_a_better_task_with_it_never_lowers_it(others: list[float], mine: list[float], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(mine) - 1))
    better = [*mine[:at], data.draw(st.floats(mine[at], 1)), *mine[at + 1 :]]
    assert of(better, others).value >= of(mine, others).value - 1e-12


def test_no_task_is_unknown_and_evidence_makes_it_surer() -> None:
    assert uplift_of(0, 0.0, 9, 4.5) is None
    assert uplift_of(0, 0.0, 0, 0.0) is None
    values = [of([1.0] * n, [0.0] * n).value for n in range(1, 30)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(1 / 3)
    assert values[-1] > 0.9
    assert [confidence(n) for n in (0, 1, 2, 6)] == [0.0, pytest.approx(1 / 3), 0.5, 0.75]
    assert expected_reward(0, 0.0) == 0.5


def test_many_at_once_are_what_each_is() -> None:
    tasks, rewards = np.array([1, 3, 5], dtype=np.int32), np.array([0.2, 2.5, 5.0])
    each = [uplift_of(int(n), float(s), 6, 5.2) for n, s in zip(tasks, rewards, strict=True)]
    assert uplifts(tasks, rewards, 6, 5.2, np.ones(3, dtype=np.bool_)).tolist() == [
        one.value for one in each if one is not None
    ]
