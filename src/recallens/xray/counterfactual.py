"""The smallest single change to a query that brings a memory in, each candidate confirmed by running again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from msgspec import Struct, structs

from recallens.errors import RecallensError
from recallens.model.ledger import Ledger
from recallens.model.memory import Memory, Status, as_json
from recallens.model.query import MAX_LIMIT, NEUTRAL, OPTIONS, Mode, Query, place_of
from recallens.model.terms import ordinal
from recallens.model.times import instant
from recallens.model.verdict import FloatArray
from recallens.xray.ladder import LIMIT_PICKS, RELEVANCE_CUT, Fate, Walk

Rerun = Callable[[Query], Ledger]

# Enough for a doubling and a bisection up to the highest limit, and a few tries of everything that comes after it.
MAX_RERUNS = 25
MAX_FACTOR = 10.0
# Terms that are tried before another mode is: more would spend what is left on ever larger changes.
MAX_TERMS = 3
# Steps of bisection between a factor that fails and one that works, each a run.
FACTOR_STEPS = 4
# How large a factor of 0 counts when changes are compared: larger than any other.
_OFF = 2.0 * math.log(MAX_FACTOR)
_BY_TIME = frozenset(("status-active", "validity"))

# The setting of the query behind each of the caller's own gates and picks, and the value that turns it off.
FILTER_SETTINGS: Mapping[str, tuple[str, Any]] = {
    gate: (place_of(name), NEUTRAL[name]) for name, option in OPTIONS.items() for gate in option.gates
} | dict.fromkeys((RELEVANCE_CUT, "doubtful-few"), ("cut", False))  # the one that is on where nothing is said


class Statement(Struct, frozen=True):
    """A record that says itself in a sentence, which its JSON has beside the fields."""

    @property
    def sentence(self) -> str:
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        return {**as_json(self), "sentence": self.sentence}


class QueryChange(Statement, frozen=True, omit_defaults=True):
    """One setting of the query, and the rank that the memory took when the query was run again with it.

    `uncut`: it helps only where the cut is off too.
    """

    setting: str
    before: Any
    after: Any
    rank: int
    uncut: bool = False

    def applied(self, query: Query) -> Query:
        after = changed(query, self.setting, self.after)
        return structs.replace(after, cut=False) if self.uncut else after

    @property
    def sentence(self) -> str:
        group, _, name = self.setting.partition(".")
        before, after = self.before, self.after
        if self.setting == "filters.include_superseded":
            instruction = "include what has been superseded"
        elif group == "filters":
            value = ", ".join(before) if isinstance(before, tuple) else before
            instruction = f"leave out the filter {name.replace('_', ' ')} ({value})"
        elif group == "cut":
            instruction = "take as many as are asked for, however unlikely to help"
        elif group == "weights":
            instruction = f"weigh {name} {after:g} times instead of {before:g}"
        elif group == "as_of":
            instruction = "ask about now" if after is None else f"ask as of {instant(after)}"
        else:
            unit = {"budget": " characters", "tokens": " tokens"}.get(group, "")
            instruction = f"{group} {after}{unit} instead of {before}"
        instruction += ", and all of them, however unlikely to help" if self.uncut else ""
        return f"{instruction}; it is {ordinal(self.rank)} then"

    def __str__(self) -> str:
        return self.sentence


def changed(query: Query, setting: str, value: Any) -> Query:
    """The query with one setting changed; `filters.project` and `weights.bm25` name what lies inside."""
    group, _, name = setting.partition(".")
    if group == "filters":
        return structs.replace(query, filters=structs.replace(query.filters, **{name: value}))
    if group == "weights":
        return structs.replace(query, weights={**query.weights, name: value})
    return structs.replace(query, **{setting: value})


def current(query: Query, setting: str) -> Any:
    group, _, name = setting.partition(".")
    if group == "filters":
        return getattr(query.filters, name)
    return query.weights.get(name, 1.0) if group == "weights" else getattr(query, setting)


class Reruns:
    """Runs that ask whether the memory comes in with a change. Once they are spent, the answer is no."""

    def __init__(self, memory_id: str, query: Query, rerun: Rerun) -> None:
        self.memory_id, self.query, self._rerun = memory_id, query, rerun
        self.spent = 0
        self.uncut = False
        self._last: Ledger | None = None

    def run(self, query: Query) -> Ledger:
        self.spent += 1
        self._last = self._rerun(query)
        return self._last

    def change(self, setting: str, value: Any) -> QueryChange | None:
        if self.spent >= MAX_RERUNS:
            return None
        try:
            pool = self.run(changed(self.query, setting, value)).replay()
        except RecallensError:  # what cannot be asked at all, such as meaning without an encoder, brings nothing in
            return None
        places = np.flatnonzero(pool.ids[pool.ranked()] == self.memory_id.encode())
        if not len(places):
            return None
        return QueryChange(setting, current(self.query, setting), value, int(places[0]) + 1, self.uncut)

    def without_cut(self) -> Reruns:
        """The same of the query without the cut, with the runs that are left."""
        bare = Reruns(self.memory_id, structs.replace(self.query, cut=False), self._rerun)
        bare.spent, bare.uncut = self.spent, True
        return bare

    def exhausted(self) -> bool:
        """Whether the last run had already seen all that any limit could show, or no further run is left."""
        return self.spent >= MAX_RERUNS or self._last is None or Walk(self._last).exhausted()


class Shortage(Struct, frozen=True):
    """What a row lacked when its turn came: `needed` fits it beside what was kept, `ample` beside all before it."""

    setting: str
    allowed: int
    needed: int
    ample: int

    @property
    def missing(self) -> int:
        return self.needed - self.allowed


def shortages(walk: Walk, fate: Fate) -> tuple[Shortage, ...]:
    """The budgets that a row which `budget-fit` cut was short of; characters and tokens are two.

    What frames the items is known from what they took together. Where nothing was kept it is not, and a row that seems
    to fit was kept out by the frame alone: then either budget may be the short one.
    """
    notes = walk.notes.get("budget", [])
    items = notes[-1]["items"] if notes else {}
    if fate.cut is None or fate.cut.name != "budget-fit" or fate.id not in items:
        return ()
    turns = list(notes[-1].get("turns", items))
    before = turns[: turns.index(fate.id)]
    kept = [id for id in items if id in walk.rank]
    found = []
    for setting, unit, used in (("budget", "chars", "used"), ("tokens", "tokens", "usedTokens")):
        if getattr(walk.query, setting) is None:
            continue
        own = items[fate.id][unit]
        frame = notes[-1][used] - sum(items[id][unit] for id in kept) if kept else 0
        needed = frame + sum(items[id][unit] for id in before if id in walk.rank) + own
        ample = frame + sum(items[id][unit] for id in before) + own
        found.append(Shortage(setting, notes[-1][unit], needed, ample))
    short = tuple(one for one in found if one.missing > 0)
    return short or tuple(structs.replace(one, needed=one.allowed + 1) for one in found)


def changes(reruns: Reruns, walk: Walk, fate: Fate, memory: Memory | None) -> Iterator[QueryChange]:
    """The changes that work, the smallest kind first. What a gate rejects, only a change to that gate can bring in."""
    query, gates = reruns.query, {gate.name for gate in fate.gates}
    if gates:
        yield from _present(_ungated(reruns, gates, memory))
        return
    if not fate.proposed or (fate.cut is not None and fate.cut.name in LIMIT_PICKS):
        yield from _present([_limit(reruns, _first_limit(walk, fate))])
    if fate.cut is not None and fate.cut.name in FILTER_SETTINGS:
        yield from _present([reruns.change(*FILTER_SETTINGS[fate.cut.name])])
    yield from _present(_budget(reruns, short) for short in shortages(walk, fate))
    unlikely = fate.cut is not None and fate.cut.name == RELEVANCE_CUT  # no weight makes a row likelier
    if fate.proposed and not unlikely:
        yield from _present(_weights(reruns, walk, fate))
    if query.cut and unlikely:
        yield from _present([_uncut_limit(reruns, walk, fate)])
    yield from _present(reruns.change("mode", mode) for mode in Mode if mode is not query.mode)
    if query.cut and not unlikely:
        yield from _present([_uncut_limit(reruns, walk, fate)])


def _present(found: Iterable[QueryChange | None]) -> Iterator[QueryChange]:
    return (change for change in found if change is not None)


def _ungated(reruns: Reruns, gates: set[str], memory: Memory | None) -> Iterator[QueryChange | None]:
    query = reruns.query
    if len(gates) == 1 and (gate := next(iter(gates))) in FILTER_SETTINGS:
        yield reruns.change(*FILTER_SETTINGS[gate])
    if not gates <= _BY_TIME or (memory is not None and memory.status not in (Status.ACTIVE, Status.SUPERSEDED)):
        return
    if not query.filters.include_superseded:
        yield reruns.change("filters.include_superseded", True)
    if memory is not None and (moment := valid_moment(memory, query)) is not None and moment != query.at:
        yield reruns.change("as_of", None if moment == query.now else moment)


def valid_moment(memory: Memory, query: Query) -> int | None:
    """The moment nearest to the one asked about at which the memory was known and held."""
    first = memory.held_from if memory.valid_from is None else max(memory.held_from, memory.valid_from)
    if memory.valid_until is None:
        return max(first, query.at)
    nearest = max(first, min(query.at, memory.valid_until - 1))
    return nearest if nearest < memory.valid_until else None


# ── how many ──


def _first_limit(walk: Walk, fate: Fate) -> int:
    """Its rank; for a row that no view proposed, also the limit at which the nearest view would reach down to it."""
    limit, standings = walk.query.limit, standing_in_views(walk, fate.id)
    reach = [math.ceil(at["rank"] * limit / at["depth"]) for at in standings.values()]
    return max(fate.standing, min(reach, default=0) if not fate.proposed else 0)


def standing_in_views(walk: Walk, id: str) -> dict[str, dict[str, Any]]:
    """Its rank, score and the depth asked, in each view that can score it."""
    for note in walk.notes.get("watch", ()):
        found: dict[str, dict[str, Any]] = note["rows"].get(id, {})
        return found
    return {}


def _limit(reruns: Reruns, guess: int) -> QueryChange | None:
    low = reruns.query.limit
    at = min(max(guess, low + 1), MAX_LIMIT)
    while at > low:
        found = reruns.change("limit", at)
        if found is not None:
            return _narrowed(reruns, found, low)
        if reruns.exhausted():
            return None
        low, at = at, min(2 * at, MAX_LIMIT)
    return None


def _uncut_limit(reruns: Reruns, walk: Walk, fate: Fate) -> QueryChange | None:
    """What is unlikely to help and far down takes both: the cut off and a higher limit."""
    uncut = reruns.without_cut()
    found = _limit(uncut, _first_limit(walk, fate))
    reruns.spent = uncut.spent
    return found


def _budget(reruns: Reruns, short: Shortage) -> QueryChange | None:
    """What is needed beside the rows kept; more where room lets in a row that was skipped before it, or for a frame."""
    failing = short.allowed
    for enough in sorted({short.needed, short.ample, 2 * short.ample}):
        found = reruns.change(short.setting, enough)
        if found is not None:
            return found if enough == short.needed else _narrowed(reruns, found, failing)
        failing = enough
    return None


def _narrowed(reruns: Reruns, found: QueryChange, failing: int) -> QueryChange:
    """Bisection for a smaller number that works too; the one just below comes first, for a guess is often exact."""
    probe = found.after - 1
    while probe > failing:
        smaller = reruns.change(found.setting, probe)
        if smaller is None:
            failing = probe
        else:
            found = smaller
        probe = (failing + found.after) // 2
    return found


# ── how much a term weighs ──


def _weights(reruns: Reruns, walk: Walk, fate: Fate) -> Iterator[QueryChange | None]:
    """One term's weight. The ledger's own sums say which factor should do; a run says whether it does."""
    at, base = fate.position, walk.base
    if at is None or at >= len(base):
        return
    by_rank = fate.cut is not None and fate.cut.name in LIMIT_PICKS and fate.standing > reruns.query.limit
    wanted = reruns.query.limit if by_rank else 1
    found: list[tuple[float, str, float, float]] = []
    for name, term in walk.terms.items():
        if len(term.delta) != len(base) or name == "mmrPenalty":
            continue
        share = np.where(term.computed, term.delta, 0.0)
        for extreme in (MAX_FACTOR, 0.0):
            factor = _factor(walk, at, share, wanted, extreme)
            if factor is not None:
                found.append((abs(math.log(factor)) if factor > 0 else _OFF, name, factor, extreme))
    for _, name, factor, extreme in sorted(found)[:MAX_TERMS]:
        yield _weight(reruns, f"weights.{name}", factor, extreme)


def _factor(walk: Walk, at: int, share: FloatArray, wanted: int, extreme: float) -> float | None:
    """The factor nearest to 1 at which the row would stand high enough, all else being equal."""

    def enough(factor: float) -> bool:
        return walk.standing(at, walk.base.score + (factor - 1.0) * share) <= wanted

    if not share.any() or not enough(extreme):
        return None
    failing, works = 1.0, extreme
    while abs(works - failing) > 0.005:
        middle = (failing + works) / 2
        failing, works = (failing, middle) if enough(middle) else (middle, works)
    return works


def _weight(reruns: Reruns, setting: str, factor: float, extreme: float) -> QueryChange | None:
    own = current(reruns.query, setting)
    failing, limit = _readable(own * factor, up=extreme > 1.0), own * extreme
    found = reruns.change(setting, failing)
    if found is not None or failing == limit:
        return found
    found = reruns.change(setting, limit)
    for _ in range(FACTOR_STEPS if found is not None else 0):
        assert found is not None
        middle = _readable((failing + found.after) / 2, up=extreme > 1.0)
        if middle in (failing, found.after):
            break
        nearer = reruns.change(setting, middle)
        failing, found = (middle, found) if nearer is None else (failing, nearer)
    return found


def _readable(weight: float, *, up: bool) -> float:
    """Two decimals, away from where it fails."""
    return (math.ceil(weight * 100) if up else math.floor(weight * 100)) / 100
