"""What each result owes to each term: its rank if that term were left out, from the ledger's own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from recallens.model.ledger import Ledger
from recallens.model.memory import as_json
from recallens.model.terms import in_words, ordinal
from recallens.xray.ladder import Walk


class Sensitivity(Struct, frozen=True, rename="camel"):
    """`standing` is the place by score before the picks; `without` is the same place with one term left out.

    `deciding` is the term without which it would fall furthest, None where it would not fall.
    """

    memory_id: str
    rank: int
    standing: int
    without: Mapping[str, int]
    deciding: str | None
    sentence: str

    def to_json(self) -> dict[str, Any]:
        record: dict[str, Any] = as_json(self)
        return record


def sensitivity(ledger: Ledger) -> tuple[Sensitivity, ...]:
    """One for each result, in order. What the picks themselves add (mmrPenalty) comes after and is not weighed."""
    walk = Walk(ledger)
    base = walk.base
    shares = {
        name: np.where(term.computed, term.delta, 0.0)
        for name, term in walk.terms.items()
        if len(term.delta) == len(base) and name != "mmrPenalty"
    }
    found = []
    for rank, id in enumerate(walk.order, start=1):
        at = walk.place(id)
        assert at is not None
        standing = walk.standing(at)
        without = {
            name: walk.standing(at, base.score - share)
            for name, share in shares.items()
            if walk.terms[name].computed[at]
        }
        deciding = _deciding(without, standing, {name: float(share[at]) for name, share in shares.items()})
        sentence = _sentence(rank, standing, without, deciding, len(walk.order))
        found.append(Sensitivity(id, rank, standing, without, deciding, sentence))
    return tuple(found)


def _deciding(without: Mapping[str, int], standing: int, share: Mapping[str, float]) -> str | None:
    """The furthest fall; of equal ones the larger share."""
    falls = [(place, share[name], name) for name, place in without.items() if place > standing]
    return max(falls)[2] if falls else None


def _sentence(rank: int, standing: int, without: Mapping[str, int], deciding: str | None, results: int) -> str:
    place = ordinal(rank) if rank == standing else f"{ordinal(rank)} ({ordinal(standing)} by score alone)"
    if deciding is None:
        return f"{place}: no single term decides it."
    fallen = without[deciding]
    outside = ", outside the results" if standing <= results < fallen else ""
    return f"{place} because of {in_words(deciding)}: without it, it would be {ordinal(fallen)}{outside}."
