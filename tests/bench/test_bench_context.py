"""Every answer that has a budget holds to it as it is sent: the short version of `bench/context.py`."""

from __future__ import annotations

import pytest
from bench.context import measured

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [2, 3])
def test_no_answer_exceeds_its_budget_as_sent(seed: int) -> None:
    found = measured(60, seed, encoder="hashing:64")
    assert found["over"] == 0, found["overBudget"]
    assert found["worst"] <= 1.0
    # Only what has no room for any memory in its record is refused.
    assert found["largestRefused"] < 450
    assert found["medianUse"] > 0.1
