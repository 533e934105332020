"""One ledger, read: the query it was made for, and what became of each memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recallens.model.ledger import Ledger
from recallens.model.pool import Pool
from recallens.model.query import NEUTRAL, OPTIONS, WATCH, Query, place_of
from recallens.model.verdict import FloatArray, Found, Gate, IntArray, Pick, Round, Term
from recallens.renamed import preset_of_record

NOT_PROPOSED = "not-proposed"
# The picks that keep the first `limit` rows: by score alone, or by score less likeness to what is kept already.
MMR = "mmr-diversify"
LIMIT_PICKS = frozenset(("limit", MMR))
# Gates of the direct-answer tier: they reject a row only where no other view proposed it.
_TIER_GATES = ("direct-answer:", "token-overlap")

# The setting of the query behind each of the caller's own gates and picks, and the value that turns it off.
FILTER_SETTINGS: Mapping[str, tuple[str, Any]] = {
    gate: (place_of(name), NEUTRAL[name]) for name, option in OPTIONS.items() for gate in option.gates
}


def of_a_tier(gate: str) -> bool:
    return gate.startswith(_TIER_GATES)


def query_from_record(record: Mapping[str, Any]) -> Query:
    """The query that a ledger was made for, with its preset by the name that it has now."""
    query = Query.from_json(record)
    return query if "preset" not in record else replace(query, preset=preset_of_record(query.preset))


def settings_of(query: Query) -> dict[str, Any]:
    """Every setting by its name. What is watched is left out: watching changes nothing."""
    flat: dict[str, Any] = {}
    for name, value in query.to_json().items():
        if name == "filters":
            flat |= {f"filters.{key}": each for key, each in value.items()}
        elif name != WATCH:
            flat[name] = value
    weights = flat.pop("weights")
    return flat | {f"weights.{term}": weight for term, weight in weights.items()}


@dataclass(frozen=True, slots=True)
class Rejection:
    """A gate that a row does not pass. The reason is the gate's own words for all that it masked, or empty."""

    name: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one memory: who proposed it, which gates reject it, which pick cut it, or its rank.

    `standing` is its place by score among the rows that reached the picks, counted as if it were one of them.
    """

    id: str
    position: int | None
    views: tuple[str, ...]
    rejections: tuple[Rejection, ...]
    cut: Rejection | None
    rank: int | None
    score: float
    standing: int
    parts: Mapping[str, float]

    @property
    def gates(self) -> tuple[Rejection, ...]:
        """The gates that reject the memory for what it is, whoever proposed it."""
        return tuple(one for one in self.rejections if one.name != NOT_PROPOSED and not of_a_tier(one.name))

    @property
    def proposed(self) -> bool:
        """Whether a view proposed it that may: a tier's own gates reject what that tier alone proposed."""
        return bool(self.views) and not any(of_a_tier(one.name) for one in self.rejections)


@dataclass(frozen=True, slots=True, eq=False)
class _Picked:
    stage: str
    pick: Pick
    before: Pool


class Reading:
    """One ledger, walked once."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.query = query_from_record(ledger.query)
        self.terms: dict[str, Term] = {}
        self.picks: list[_Picked] = []
        self._gates: list[tuple[str, Gate, Pool]] = []
        picking = {entry.stage for entry in ledger.last_round() if isinstance(entry.verdict, Pick)}
        pool, base = Pool(), None
        for entry in ledger.entries:
            if base is None and entry.stage in picking:
                base = pool
            match entry.verdict:
                case Gate():
                    self._gates.append((entry.stage, entry.verdict, pool))
                case Pick():
                    self.picks.append(_Picked(entry.stage, entry.verdict, pool))
                case Term():
                    self.terms[entry.verdict.name] = entry.verdict
                case Round():
                    self.terms, self.picks, base = {}, [], None
                case _:
                    pass
            pool = pool.apply(entry.verdict)
        self.pool = pool
        self.base = pool if base is None else base  # the pool that the picks chose from
        self.order: list[str] = [pool.ids[at].decode() for at in pool.ranked()]
        self.rank = {id: at + 1 for at, id in enumerate(self.order)}
        self._places = {id.decode(): at for at, id in enumerate(pool.ids.tolist())}

    def score(self, id: str) -> float:
        return float(self.pool.score[self._places[id]])

    def place(self, id: str) -> int | None:
        return self._places.get(id)

    def fate(self, id: str) -> Fate:
        at = self._places.get(id)
        if at is None:
            return Fate(id, None, (), (), None, None, 0.0, len(np.flatnonzero(self.base.live)) + 1, {})
        views = tuple(
            view for view, found in self.pool.found.items() if view != WATCH and bool((found.positions == at).any())
        )
        return Fate(
            id=id,
            position=at,
            views=views,
            rejections=self._rejections(at, proposed=bool(views)),
            cut=self._cut(at),
            rank=self.rank.get(id),
            score=float(self.pool.score[at]),
            standing=self.standing(at),
            parts={
                name: float(term.delta[at])
                for name, term in self.terms.items()
                if at < len(term.delta) and term.computed[at]
            },
        )

    def standing(self, at: int, scores: FloatArray | None = None) -> int:
        """The row's place by these scores (its own, at the picks, by default); of equals, the chosen come first."""
        values = self.base.score if scores is None else scores
        if at >= len(values):
            return int(self.base.live.sum()) + 1
        ahead = self.base.live & (values > values[at])
        chosen = np.zeros(len(self.base), dtype=np.bool_)
        chosen[self.earlier(at)] = True
        return int((ahead | (self.base.live & (values == values[at]) & chosen)).sum()) + 1

    def earlier(self, at: int) -> IntArray:
        """The results before this row; all of them if it is none."""
        order = self.pool.ranked() if self.picks else np.empty(0, dtype=np.int64)
        here = np.flatnonzero(order == at)
        return order[: here[0]] if len(here) else order

    def _rejections(self, at: int, *, proposed: bool) -> tuple[Rejection, ...]:
        found: dict[str, Rejection] = {}
        for stage, gate, before in self._gates:
            if at >= len(gate.fails) or not (gate.applies[at] and gate.fails[at] and not gate.exempt[at]):
                continue
            if not proposed and of_a_tier(gate.name):
                continue
            found.setdefault(gate.name, Rejection(gate.name, stage, gate.reason if before.live[at] else ""))
        return tuple(found.values())

    def _cut(self, at: int) -> Rejection | None:
        for picked in self.picks:
            if at < len(picked.before) and picked.before.live[at] and not bool((picked.pick.chosen == at).any()):
                return Rejection(picked.pick.name, picked.stage, picked.pick.reason)
        return None

    def limit_pick(self) -> _Picked | None:
        return next((picked for picked in self.picks if picked.pick.name in LIMIT_PICKS), None)

    def exhausted(self) -> bool:
        """Whether a higher limit could not change the answer: nothing was cut by it and no view had more to propose."""
        plans = self.ledger.notes("plan")
        depth = plans[0].get("depth") if plans else None
        cut = any(e.considered > e.admitted for e in self.ledger.entries if _cuts_at_limit(e.verdict))
        found = [e.verdict for e in self.ledger.entries if isinstance(e.verdict, Found)]
        return not cut and depth is not None and all(len(one.ids) < depth for one in found)


def _cuts_at_limit(verdict: object) -> bool:
    return isinstance(verdict, Pick) and verdict.name in LIMIT_PICKS


def ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


# What each term stands for, as a person would say it.
_TERM_WORDS = {
    "vector": "what it means",
    "semantic": "what it means",
    "bm25": "the exact words",
    "keyword": "the exact words",
    "pairs": "words that stand side by side",
    "code": "what its code means",
    "symbolic": "a name that it shares with the question",
    "session": "the session that it belongs to",
    "userTurn": "its being the user's own words",
    "namedSpeaker": "who said it",
    "importance": "how important it is",
    "salience": "how much it has been in use",
    "recency": "how new it is",
    "reinforcementBoost": "how often it has proved right",
    "superseded": "its having been replaced",
    "tierPrior": "the tier that found it",
    "intentMatch": "the kind of answer that is asked for",
    "timeMatch": "the time that is asked about",
    "graph": "what it is linked to",
    "uplift": "how tasks went that had it",
    "sectorBoost": "the sector that it belongs to",
    "mmrPenalty": "how much it repeats what stands above it",
    "sourceScale": "how it compares with the best of its source",
    "sourcePrior": "the kind of source that it comes from",
    "lessonBoost": "its being a lesson",
    "actionability": "the open file and the latest commands",
    "levelMatch": "how abstract it is",
    "conflictPenalty": "what speaks against it",
    "clamp": "the bounds of a score",
}


def term_words(name: str) -> str:
    words = _TERM_WORDS.get(name)
    return f"{words} ({name})" if words else name
