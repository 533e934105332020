"""Salience is derived on read, never written back: a stored decayed value would decay again.

S(t) = base·exp(−rate/(importance + 0.1)·days since last use) + min(0.1, 0.02·ln(1 + uses)), within [0.05, 1].
Reinforcement by a takes S to S + a·(1 − S). Repeated, the gap to 1 is multiplied by (1 − a) each time, so one number
r per memory keeps them all: S + r·(1 − S), where r itself decays at the memory's own rate from its own time stamp.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recallens.model.memory import Sector
from recallens.model.verdict import FloatArray

DAY_MS = 86_400_000
FLOOR, CEILING = 0.05, 1.0
USE_WEIGHT, USE_CEILING = 0.02, 0.1
RECALL_REINFORCEMENT = 0.02
CONFIRM_REINFORCEMENT = 0.1
DEEMPHASIS = 0.5

DECAY_PER_DAY = {
    Sector.EPISODIC: 0.02,
    Sector.SEMANTIC: 0.005,
    Sector.PROCEDURAL: 0.01,
    Sector.EMOTIONAL: 0.003,
    Sector.REFLECTIVE: 0.008,
}
SECTOR_ORDER = tuple(Sector)
_RATES = np.array([DECAY_PER_DAY[sector] for sector in SECTOR_ORDER])


def decay(*, sector: NDArray[np.int8], importance: FloatArray, since: NDArray[np.int64], at: int) -> FloatArray:
    """exp(−rate/(importance + 0.1)·days), with time that has not yet come counted as no time."""
    days = np.maximum(at - since, 0) / DAY_MS
    return np.exp(-_RATES[sector] / (importance + 0.1) * days)


def own_salience(
    *,
    base: FloatArray,
    sector: NDArray[np.int8],
    importance: FloatArray,
    last_used: NDArray[np.int64],
    uses: NDArray[np.int64],
    at: int,
) -> FloatArray:
    """S(t) before any reinforcement."""
    faded = base * decay(sector=sector, importance=importance, since=last_used, at=at)
    if np.count_nonzero(uses):
        faded += np.minimum(USE_CEILING, USE_WEIGHT * np.log1p(uses))
    return np.minimum(np.maximum(faded, FLOOR), CEILING)


def salience(
    *,
    base: FloatArray,
    sector: NDArray[np.int8],
    importance: FloatArray,
    last_used: NDArray[np.int64],
    uses: NDArray[np.int64],
    reinforcement: FloatArray,
    reinforced_at: NDArray[np.int64],
    at: int,
) -> FloatArray:
    """S(t) for many memories at once; `sector` indexes SECTOR_ORDER, `last_used` is created where never used."""
    own = own_salience(base=base, sector=sector, importance=importance, last_used=last_used, uses=uses, at=at)
    kept = reinforcement * decay(sector=sector, importance=importance, since=reinforced_at, at=at)
    return own + kept * (1.0 - own)


def reinforced(
    *, reinforcement: float, reinforced_at: int, sector: Sector, importance: float, by: float, at: int
) -> float:
    """The r to store after one more reinforcement at `at`; exact, because exponential decay composes."""
    days = max(at - reinforced_at, 0) / DAY_MS
    kept = reinforcement * float(np.exp(-DECAY_PER_DAY[sector] / (importance + 0.1) * days))
    return kept + by * (1.0 - kept)
