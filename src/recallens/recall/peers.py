"""What a row is measured against: never what is less trusted than it is."""

from __future__ import annotations

from typing import Final

import numpy as np

from recallens.index.columns import code_of
from recallens.model.memory import Zone
from recallens.model.trust import rank
from recallens.model.verdict import BoolArray, IntArray, all_true
from recallens.recall.scene import Scene

_RANKS: Final = np.array([rank(zone) for zone in sorted(Zone, key=code_of)])


def trust_of(scene: Scene, rows: IntArray) -> IntArray:
    """How far each row is trusted."""
    return _RANKS[scene.columns["zone"][rows]]


def circles(scene: Scene, rows: IntArray) -> list[BoolArray]:
    """The rows without the least trusted, and so on: each circle within the one before, and the first is of all."""
    trust = trust_of(scene, rows)
    zones = sorted(set(trust.tolist()))
    return [all_true(len(rows)), *(trust >= zone for zone in zones[1:])]
