"""Why a memory is not among the results: what dropped it, by how much, and the smallest change that brings it in."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

from recallens.errors import InvalidInput
from recallens.model.memory import Memory, Status, Zone
from recallens.model.query import Documents, Query
from recallens.model.salience import DAY_MS
from recallens.model.terms import as_share, ordinal
from recallens.model.times import day
from recallens.model.verdict import Found
from recallens.xray.counterfactual import (
    QueryChange,
    Rerun,
    Reruns,
    Shortage,
    Statement,
    changes,
    shortages,
    standing_in_views,
    valid_moment,
)
from recallens.xray.ladder import LIMIT_PICKS, MMR, NOT_PROPOSED, RELEVANCE_CUT, Fate, Rejection, Walk

MEANING_VIEWS = ("semantic", "multilingual")  # their score is a cosine
# The caller's filters that compare one attribute with one value.
_ATTRIBUTES = ("project", "sector", "tier", "kind")


class Blocker(Struct, frozen=True):
    """One thing that would keep it out by itself."""

    name: str
    stage: str
    reason: str


class Missed(Struct, frozen=True, rename="camel", omit_defaults=True):
    """By how much. A number that cannot be said is absent.

    `rank` is its place by score among what reached the picks, as if it were one of them. `score` is what it lacks to
    the last row kept; it is absent where it lacks nothing. `view_rank` is its best place in a view, `depth` how many
    rows that view was asked for. `relevance` is what it lacks to the least that the cut asks for.
    """

    rank: int | None = None
    score: float | None = None
    chars: int | None = None
    tokens: int | None = None
    days: float | None = None
    view: str | None = None
    view_rank: int | None = None
    depth: int | None = None
    relevance: float | None = None


class Returned(Statement, frozen=True, tag_field="outcome", tag="returned", rename="camel"):
    """It is in the results already."""

    memory_id: str
    rank: int

    @property
    def sentence(self) -> str:
        return f"{self.memory_id} is in the results already: it is {ordinal(self.rank)}."


class Unknown(Statement, frozen=True, tag_field="outcome", tag="unknown", rename="camel"):
    """The namespace holds no such memory."""

    memory_id: str
    namespace: str

    @property
    def sentence(self) -> str:
        return f"There is no memory {self.memory_id} in namespace {self.namespace!r}."


class KeptOut(Statement, frozen=True, tag_field="outcome", tag="kept-out", rename="camel"):
    """`dropped_by` is the first of the blockers. `change` was confirmed by running again.

    `advice` is a command for where no change to the query helps. `reruns` counts the recalls that this answer took.
    """

    memory_id: str
    handle: str | None
    stage: str
    dropped_by: Blocker
    blockers: tuple[Blocker, ...]
    missed: Missed
    change: QueryChange | None
    advice: str | None
    reruns: int

    @property
    def sentence(self) -> str:
        sentence = f"{self.memory_id} is not in the results: {self.dropped_by.reason}."
        if len(self.blockers) > 1:
            sentence += f" Also: {'; '.join(blocker.reason for blocker in self.blockers[1:])}."
        if self.change is not None:
            return f"{sentence} The smallest change that brings it in: {self.change}."
        if self.advice is not None:
            return f"{sentence} No change to the query brings it in. {self.advice}"
        names = ", ".join(blocker.name for blocker in self.blockers)
        return f"{sentence} No single change to the query brings it in; what keeps it out: {names}."

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | ({} if self.change is None else {"change": self.change.to_json()})


WhyNot = Returned | Unknown | KeptOut


def why_not(memory_id: str, query: Query, rerun: Rerun, *, memory: Memory | None = None) -> WhyNot:
    """`memory`, where the caller has it, lets the answer name its status and dates; every decision is the ledger's."""
    if not query.text.strip():
        raise InvalidInput("the query is empty: there is nothing to be missing from")
    reruns = Reruns(memory_id, query, rerun)
    walk = Walk(reruns.run(structs.replace(query, watch=(*query.watch, memory_id))))
    fate = walk.fate(memory_id)
    if fate.rank is not None:
        return Returned(memory_id, fate.rank)
    if fate.position is None:  # what is watched is in the pool, if it is in the namespace
        return Unknown(memory_id, query.namespace)
    change = next(changes(reruns, walk, fate, memory), None)
    short = _short(walk, fate, change)
    found = _blockers(query, walk, fate, memory, short)
    return KeptOut(
        memory_id=memory_id,
        handle=None if memory is None else memory.handle,
        stage=found[0].stage,
        dropped_by=found[0],
        blockers=found,
        missed=_missed(query, walk, fate, memory, short),
        change=change,
        advice=_advice(fate, memory, len(found)) if change is None else None,
        reruns=reruns.spent,
    )


def kept_back(memory: Memory, reason: str) -> KeptOut:
    """The answer to whoever may not see the memory: the same whatever they ask."""
    back = Blocker("withheld", "gates", f"it is withheld: {reason}")
    advice = "Only the person who looks after the store can change that."
    return KeptOut(memory.id, memory.handle, back.stage, back, (back,), Missed(), None, advice, 0)


# ── what kept it out ──


def _short(walk: Walk, fate: Fate, change: QueryChange | None) -> tuple[Shortage, ...]:
    """The budgets it was short of; where a larger one was found to work, that is the one, by as much as it took."""
    short = shortages(walk, fate)
    if change is None:
        return short
    return tuple(structs.replace(one, needed=change.after) for one in short if one.setting == change.setting) or short


def _blockers(
    query: Query, walk: Walk, fate: Fate, memory: Memory | None, short: tuple[Shortage, ...]
) -> tuple[Blocker, ...]:
    """Gates first: they judge a row whoever proposed it, and a view that was asked with them leaves it out for them."""
    found = [Blocker(gate.name, gate.stage, _gate_words(gate, query, memory)) for gate in fate.gates]
    if not fate.proposed and not (found and _within_reach(walk, fate)):
        found.append(_unproposed(walk, fate))
    pick = walk.limit_pick()
    unlikely = _unlikely(walk, fate)
    if unlikely is not None:
        found.append(unlikely)
    elif fate.cut is not None:
        reason = _cut_words(fate, query, short)
        found.append(Blocker(fate.cut.name, fate.cut.stage, reason))
    by_rank = fate.cut is not None and fate.cut.name in LIMIT_PICKS
    if pick is not None and fate.standing > query.limit and not by_rank:
        found.append(Blocker(pick[1].name, pick[0].stage, _rank_words(fate, query)))
    return tuple(found)


def _unlikely(walk: Walk, fate: Fate) -> Blocker | None:
    """That it is not likely enough to help, how likely it is, and of what that is made."""
    cut = next((step for step, pick in walk.picks if pick.name == RELEVANCE_CUT), None)
    lacking = _lacking_relevance(walk, fate)
    if cut is None or lacking is None or (fate.cut is not None and fate.cut.name != RELEVANCE_CUT):
        return None
    assert fate.position is not None
    relevance, floor = walk.relevance(fate.position) or 0.0, walk.relevance_floor(fate.position) or 0.0
    held = walk.words_held(fate.position)
    signals = [] if held is None else [f"words held {held:.0%}"]
    signals += [
        f"cosine {at['score']:.2f} ({view})"
        for view, at in standing_in_views(walk, fate.id).items()
        if view in MEANING_VIEWS
    ]
    made_of = f" ({', '.join(signals)})" if signals else ""
    reason = f"its relevance is {as_share(relevance)}, below {as_share(floor)}{made_of}"
    return Blocker(RELEVANCE_CUT, cut.stage, reason)


def _lacking_relevance(walk: Walk, fate: Fate) -> float | None:
    if fate.position is None:
        return None
    floor, relevance = walk.relevance_floor(fate.position), walk.relevance(fate.position)
    return None if floor is None or relevance is None or relevance >= floor else floor - relevance


def _unproposed(walk: Walk, fate: Fate) -> Blocker:
    tier = next((one for one in fate.rejections if one.name != NOT_PROPOSED), None)
    if tier is not None and fate.views:
        by = " and ".join(fate.views)
        return Blocker(tier.name, tier.stage, f"only {by} proposed it, and its gate {tier.name} rejects it")
    best = _best_view(walk, fate)
    where = "none finds anything of the question in it"
    if best is not None:
        view, at = best
        where = f"its best place is {ordinal(at['rank'])}, in the {view} view, which was asked for {at['depth']}"
    views = [entry.verdict for entry in walk.ledger.entries if isinstance(entry.verdict, Found)]
    for view, error in {found.view: found.error for found in views if found.error}.items():
        where += f"; the {view} view could not be asked ({error})"
    stage = next((one.stage for one in fate.rejections if one.name == NOT_PROPOSED), "gather")
    return Blocker(NOT_PROPOSED, stage, f"no view proposed it: {where}")


def _best_view(walk: Walk, fate: Fate) -> tuple[str, dict[str, Any]] | None:
    places = standing_in_views(walk, fate.id)
    return min(places.items(), key=lambda one: (one[1]["rank"], one[0])) if places else None


def _within_reach(walk: Walk, fate: Fate) -> bool:
    best = _best_view(walk, fate)
    return best is not None and best[1]["rank"] <= best[1]["depth"]


def _gate_words(gate: Rejection, query: Query, memory: Memory | None) -> str:
    filters = query.filters
    match gate.name:
        case "status-active":
            return f"its status is {memory.status}" if memory is not None else gate.reason or "its status is not active"
        case "validity":
            return _validity_words(memory, query) if memory is not None else "it is not valid at the time asked about"
        case "trust-zone":
            return "it is in quarantine until it is reviewed"
        case "context-scope":
            return "it is meant for a context that the caller does not hold"
        case "tags":
            return f"it is not tagged {', '.join(filters.tags)}"
        case "min-salience":
            return f"its salience is below {filters.min_salience:g}"
        case "in-session":
            return f"session {filters.in_session} has no link to it"
        case "documents":
            cut = "it is cut from a document" if filters.documents is Documents.EXCLUDE else "it is from no document"
            return f"{cut}, and documents is {filters.documents}"
        case name if name in _ATTRIBUTES:
            return f"its {name} is not {getattr(filters, name)}"
        case name:
            return f"the gate {name} rejects it" + (f": {gate.reason}" if gate.reason else "")


def _validity_words(memory: Memory, query: Query) -> str:
    if memory.valid_from is not None and memory.valid_from > query.at:
        return f"it holds only from {day(memory.valid_from)}"
    if memory.valid_until is not None and memory.valid_until <= query.at:
        return f"it held only until {day(memory.valid_until)}"
    return f"it was stored on {day(memory.held_from)}, after the time asked about"


def _cut_words(fate: Fate, query: Query, short: tuple[Shortage, ...]) -> str:
    cut = fate.cut
    assert cut is not None
    if cut.name in LIMIT_PICKS:
        if cut.name == MMR and fate.standing <= query.limit:
            return f"it repeats what stands above it: {ordinal(fate.standing)} by score alone, it gave way to another"
        return _rank_words(fate, query)
    if short:
        lack = " and ".join(f"{one.missing} {_unit(one)}" for one in short)
        return f"it does not fit the budget, which is {lack} short"
    return f"{cut.name} cut it" + (f": {cut.reason}" if cut.reason else "")


def _unit(short: Shortage) -> str:
    return "characters" if short.setting == "budget" else "tokens"


def _rank_words(fate: Fate, query: Query) -> str:
    return f"its score puts it {ordinal(fate.standing)}, and the limit is {query.limit}"


# ── by how much, and what would help where no query can ──


def _missed(query: Query, walk: Walk, fate: Fate, memory: Memory | None, short: tuple[Shortage, ...]) -> Missed:
    best = None if fate.proposed else _best_view(walk, fate)
    lacking = {one.setting: one.missing for one in short}
    return Missed(
        rank=fate.standing,
        score=_margin(walk, fate),
        chars=lacking.get("budget"),
        tokens=lacking.get("tokens"),
        days=_days(query, memory) if any(gate.name == "validity" for gate in fate.gates) else None,
        view=best[0] if best else None,
        view_rank=best[1]["rank"] if best else None,
        depth=best[1]["depth"] if best else None,
        relevance=_lacking_relevance(walk, fate),
    )


def _margin(walk: Walk, fate: Fate) -> float | None:
    picked = walk.limit_pick()
    if picked is None or len(chosen := picked[1].chosen) < walk.query.limit:
        return None
    margin = float(walk.pool.score[chosen[-1]]) - fate.score
    return margin if margin >= 0 else None


def _days(query: Query, memory: Memory | None) -> float | None:
    """How far the moment asked about is from the nearest at which the memory was known and held."""
    moment = valid_moment(memory, query) if memory is not None else None
    return abs(moment - query.at) / DAY_MS if moment is not None else None


def _advice(fate: Fate, memory: Memory | None, blockers: int) -> str | None:
    """What brings in one that no query may: what has been hidden on purpose comes back by a command alone."""
    gates = {gate.name for gate in fate.gates}
    helps = "would" if blockers == 1 else "is the first step"
    if memory is not None and gates & {"status-active", "trust-zone"}:
        match memory.status:
            case Status.FORGOTTEN | Status.ARCHIVED:
                return f"`recallens restore {memory.id}` {helps}."
            case Status.PENDING_REVIEW | Status.QUARANTINED:
                return f"`recallens review approve {memory.id}` {helps}."
            case Status.REJECTED:
                return "It was rejected in review; if it is right after all, remember it again."
            case Status.ACTIVE if memory.zone is Zone.QUARANTINE:
                return f"`recallens review approve {memory.id}` {helps}."
            case _:
                return None
    return f"Asking from the context that it is meant for {helps}." if "context-scope" in gates else None
