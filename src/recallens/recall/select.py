"""From scored candidates to results: what is left out, how repetitions are avoided, and what fits the budget.

MMR: Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

import numpy as np
from msgspec import structs

from recallens.index.columns import code_of
from recallens.index.views import ordered
from recallens.ingest.dedupe import is_near_duplicate
from recallens.model.context import HYPOTHESIS
from recallens.model.memory import Kind, Memory, Zone
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.terms import as_share
from recallens.model.trust import claim_of, turns_within
from recallens.model.verdict import (
    BoolArray,
    IntArray,
    Note,
    Pick,
    Term,
    Verdict,
    all_but,
    all_true,
    anywhere,
    counted,
    everywhere,
    places,
)
from recallens.recall.coverage import ANSWERS_FROM, missing, spoken_of
from recallens.recall.facets import place_alone
from recallens.recall.gates import filter_rules, passing
from recallens.recall.likeness import likeness
from recallens.recall.peers import trust_of
from recallens.recall.plan import PLANNED_CHARACTERS
from recallens.recall.results import excerpts
from recallens.recall.scene import Scene
from recallens.recall.sources import session_summaries
from recallens.recall.terms import deviation_of, measured_against
from recallens.recall.views import RECENT, TIME, within_windows
from recallens.text.languages import alternatives
from recallens.text.tokenizer import tokenize

# Rows whose texts are compared or judged: what is further down is not returned.
HEAD: Final = 60
PER_DOCUMENT: Final = 3
LAMBDA: Final = 0.7
# Where a list or a count is asked for, a turn pays so much for each turn of its session that is chosen before it, and
# for so many at most: the first five results have every session for 3 to 8 of 100 such questions more.
SAME_SESSION: Final = 0.5
MOST_OF_SESSION: Final = 2
_SEVERAL: Final = re.compile(alternatives(lambda pack: pack.questions.several), re.IGNORECASE)
_SINGLE: Final = re.compile(alternatives(lambda pack: pack.questions.single), re.IGNORECASE)
# Lessons of the rest that come beside the rows, where the caller set no limit: to be checked before an answer is final.
LESSON_EXTRA: Final = 3
# Beside something of the time asked about, what is of another time stays out, unless its odds are so many times better:
# people remember a time wrongly, and a memory tells of a time in more ways than are read.
OTHER_TIME_ODDS: Final = 4.0
# A note that came later says hardly ever what held then.
LATER_ODDS: Final = 400.0
SURE: Final = 1e-9
OPEN, CLOSE = "<memories>\n", "</memories>\n"
# So many notes are delivered where none is likely to answer.
DOUBTFUL_FEW: Final = 5
# What the line above an item costs beside its kind: brackets, rank, id, date, ends of lines.
_HEADER: Final = len("[000]  (, 0000-00-00)\n\n") + 26
_HEADER_TOKENS: Final = 24
_FRAME_TOKENS: Final = 6
_KIND_LENGTHS: Final = np.array([len(kind) for kind in Kind])


def by_score(scene: Scene, pool: Pool) -> IntArray:
    """The live rows, best first; of equals the newest, then by id. No term comes between two picks, so the order of the
    last pick still holds.
    """
    if pool.order is not None:
        return pool.order
    live = places(pool.live)
    return live[ordered(scene.columns, pool.rows[live], pool.score[live])]


def head_of(scene: Scene, pool: Pool) -> IntArray:
    return by_score(scene, pool)[:HEAD]


def memories_at(scene: Scene, pool: Pool, positions: IntArray) -> list[Memory]:
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    memories = scene.bodies.of(nums).memories
    return [memories[num] for num in nums]


def _pick(scene: Scene, pool: Pool, name: str, chosen: IntArray, reason: str = "") -> Pick:
    return Pick(name, chosen, scene.columns["tokens"][pool.rows[chosen]].astype(np.float64), reason)


def first_by_score(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    order = by_score(scene, pool)
    reason = f"first {query.limit} by score" if len(order) > query.limit else ""
    yield _pick(scene, pool, "limit", order[: query.limit], reason)


# ── what is likely to help ──


def relevance_cut(scene: Scene, pool: Pool, query: Query) -> Iterator[Verdict]:
    """What is likely to help and nothing else. Where nothing is, the answer is empty, and says what came nearest."""
    order = by_score(scene, pool)
    if pool.relevance is None or not len(order):
        yield from _ended(scene, pool, query)
        return
    relevance, floors, keep = pool.relevance[order], pool.floors()[order], pool.likely()[order]
    # A question about a time alone asks for what is of it.
    views = [RECENT, TIME] if scene.question.only_windows else [RECENT]
    for view in views:
        keep |= pool.proposed_by(view)[order]
    if scene.question.windows and _only_names_a_place(scene, query):  # few name the place that all of them know
        then = within_windows(scene.columns, pool.rows[order], scene.question.windows)
        for among in pool.circles():
            keep[places(then & among.rows[order])[:DOUBTFUL_FEW]] = True
    if not anywhere(keep):
        nearest = order[[int(relevance.argmax())]]
        facets = scene.question.facets
        lacks = missing(facets, spoken_of(scene, facets, pool.rows[nearest], np.zeros(1)).covers)
        near = {"nearest": pool.ids[nearest[0]].decode(), "relevance": float(pool.relevance[nearest[0]])}
        yield Note("silence", {**near, "least": pool.least_relevance, "missing": lacks})
        yield from _ended(scene, pool, query)
    yield Note("relevance-cut", {"least": pool.floor(pool.circles()[0]), "askedFor": views})
    asked = sorted(set(floors[~keep].tolist()), reverse=True)  # by the zone of a row
    reason = f"its relevance is below {' or '.join(map(as_share, asked))}" if asked else ""
    yield _pick(scene, pool, "relevance-cut", order[keep], reason)


def few_where_doubtful(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """Where not even the likeliest note is likely to answer, its nearest few: more of them are no better. What is less
    trusted is none of the few among whom a row has its place.
    """
    order = by_score(scene, pool)
    if pool.relevance is None or not len(order) or scene.question.only_windows:
        return
    relevance, keep = pool.relevance[order], np.zeros(len(order), dtype=np.bool_)
    for among in pool.circles():
        here = among.rows[order]
        likeliest = places(here)[np.argsort(-relevance[here], kind="stable")]
        if len(likeliest):
            is_note = scene.columns["position"][pool.rows[order[likeliest[0]]]] < 0
            doubtful = relevance[likeliest[0]] < ANSWERS_FROM and is_note
            keep[likeliest[: DOUBTFUL_FEW if doubtful else None]] = True
    if not everywhere(keep):
        reason = f"beyond the {DOUBTFUL_FEW} likeliest, of which none is likely to answer"
        yield _pick(scene, pool, "doubtful-few", order[keep], reason)


def _ended(scene: Scene, pool: Pool, query: Query) -> Iterator[Note]:
    """What would answer and is only kept out because it has ended; of what the caller may not see, nothing."""
    if pool.relevance is None or query.as_of is not None or query.filters.include_superseded:
        return
    ended = places(~pool.live & scene.superseded(pool.rows))
    whenever = structs.replace(query, filters=structs.replace(query.filters, include_superseded=True))
    ended = ended[passing(scene, filter_rules(scene, whenever))[0][pool.rows[ended]]]
    best = ended[pool.relevance[ended].argmax()] if len(ended) else None
    if best is not None and pool.relevance[best] >= max(pool.least_relevance, ANSWERS_FROM):
        yield Note("ended", {"id": pool.ids[best].decode(), "relevance": float(pool.relevance[best])})


def of_that_time(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """Of something at a time what is of that time, and of the rest only what fits far better than what is of it and as
    trusted.
    """
    windows = [window for window in scene.question.windows if not window.vague]
    order = by_score(scene, pool)
    if not windows or pool.relevance is None or not len(order):
        return
    inside, then = within_windows(scene.columns, pool.rows[order], windows), scene.question.then
    if then is not None:  # what was said before holds until something else is said
        inside |= scene.columns.held_from[pool.rows[order]] < then
    odds = pool.relevance[order] / np.maximum(1.0 - pool.relevance[order], SURE)
    if not anywhere(inside) or everywhere(inside):
        return
    # People tell later, in a talk, how it was.
    is_note = scene.columns["position"][pool.rows[order]] < 0
    least = np.where(is_note & (then is not None), LATER_ODDS, OTHER_TIME_ODDS)
    if _only_names_a_place(scene, query):  # what happened there at another time is no answer
        least = np.full(len(order), np.inf)
    keep = inside.copy()
    for among in pool.circles():
        of_time = odds[inside & among.rows[order]]
        keep |= among.rows[order] & (odds > least * of_time.max() if len(of_time) else True)
    reason = "" if everywhere(keep) else "of another time than the one asked about"
    yield _pick(scene, pool, "of-that-time", order[keep], reason)


def _only_names_a_place(scene: Scene, query: Query) -> bool:
    return place_alone(query.text[:PLANNED_CHARACTERS], scene.question.facets) is not None


# ── what stays out ──


def relevant_only(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """A source enters on relevance: a row that has none stays out, however new it is."""
    order = by_score(scene, pool)
    relevant = pool.score[order] > 0
    if scene.question.only_windows:  # the latest of a time is what was asked for
        relevant |= pool.proposed_by(TIME)[order]
    chosen = order[relevant]
    reason = "nothing in it is about the question" if len(chosen) < len(order) else ""
    yield _pick(scene, pool, "relevance", chosen, reason)


def one_of_each_text(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """Of rows that say the same, whatever their sources, the most trusted, and of those the best scored.

    A pick and not a gate: whether a row stays depends on the others.
    """
    order = by_score(scene, pool)
    keep = all_true(len(order))
    lower = scene.columns["zone"][pool.rows[order[:HEAD]]] != code_of(Zone.TRUSTED)
    trusted_first = np.argsort(lower, kind="stable")
    keep[:HEAD][trusted_first] = ~_repeated(scene, pool, order[:HEAD][trusted_first])
    reason = "" if everywhere(keep) else "says the same as a better one"
    yield _pick(scene, pool, "duplicate-source", order[keep], reason)


def _repeated(scene: Scene, pool: Pool, order: IntArray) -> BoolArray:
    """Which rows repeat one before them. Only texts about the same are compared."""
    gists = scene.columns["gist"][pool.rows[order]]
    repeated = np.zeros(len(order), dtype=np.bool_)
    memories, tokens = memories_at(scene, pool, order), cache(tokenize)  # each text is read once
    for at in range(1, len(order)):
        before = places((gists[:at] == gists[at]) & ~repeated[:at])
        repeated[at] = any(_same_text(memories[at], memories[other], tokens) for other in before.tolist())
    return repeated


def _same_text(one: Memory, other: Memory, tokens: Callable[[str], list[str]]) -> bool:
    if one.content_hash == other.content_hash:
        return True
    return is_near_duplicate(one.content, tokens(one.content), other.content, tokens(other.content))


def per_document_cap(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """At most three sections of one document, its best ones; its best one alone where files are asked for."""
    most = PER_DOCUMENT if query.chunk_level else 1
    order = by_score(scene, pool)
    documents = scene.columns["document"][pool.rows[order]]
    seen: dict[int, int] = {}
    keep = all_true(len(order))
    for at, document in enumerate(documents.tolist() if anywhere(documents >= 0) else ()):
        if document >= 0:
            seen[document] = seen.get(document, 0) + 1
            keep[at] = seen[document] <= most
    reason = "" if everywhere(keep) else f"more than {most} of one document"
    yield _pick(scene, pool, "per-document-cap", order[keep], reason)


def room_for_the_trusted(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """Beside what is trusted, reports of agents that say what a better row says stay out, and what is less trusted
    takes no more than half of the places: nobody is crowded out by being contradicted often.
    """
    order = by_score(scene, pool)
    lower = scene.columns["zone"][pool.rows[order]] != code_of(Zone.TRUSTED)
    if not anywhere(lower) or everywhere(lower):
        return
    keep, told = all_true(len(order)), scene.columns["kind"][pool.rows[order]] == code_of(Kind.EPISODE)
    reports = places(lower & told)[:HEAD]
    if len(reports) > 1:
        keep[reports] = ~_repeated(scene, pool, order[reports])
    keep &= ~lower | (np.cumsum(lower & keep) <= _places_beside(counted(~lower), query.limit))
    reason = "" if everywhere(keep) else "beside what is trusted, a report that was made before or one too many"
    yield _pick(scene, pool, "room-for-the-trusted", order[keep], reason)


def _places_beside(trusted: int, most: int) -> int:
    """How many places are for what is less trusted: half of them, or what the trusted leave."""
    return most - min(trusted, (most + 1) // 2)


def at_most(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """So many rows from files, so many summaries of sessions, and beside both so many lessons; of these places, too,
    what is less trusted takes half at most.
    """
    columns, filters = scene.columns, query.filters
    if filters.brain_file_limit is None and filters.medium_term_limit is None:
        return
    lessons = columns["kind"] == code_of(Kind.LESSON)
    order = by_score(scene, pool)
    for name, most, rows in (
        ("brain-file-limit", filters.brain_file_limit, (columns["document"] >= 0) & ~lessons),
        ("medium-term-limit", filters.medium_term_limit, session_summaries(columns)),
        ("lesson-limit", LESSON_EXTRA, lessons),
    ):
        if most is not None:
            of_these = rows[pool.rows[order]]
            lower = of_these & (columns["zone"][pool.rows[order]] != code_of(Zone.TRUSTED))
            lower &= np.cumsum(lower) > _places_beside(counted(of_these & ~lower), most)
            of_these &= ~lower
            chosen = order[~lower & (~of_these | (np.cumsum(of_these) <= most))]
            yield _pick(scene, pool, name, chosen, f"more than {most}" if len(chosen) < len(order) else "")
            order = chosen


# ── diversity ──


def mmr_diversify(scene: Scene, balance: float, lessons: int, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Choose k rows one by one, each paying for its likeness to what is chosen already and no less trusted; then some
    lessons of the rest.

    The price is a Term, so the order of choice is the order of final scores: what is left can only get dearer. What was
    said in another session is another occasion, however alike: who asks how often something happened wants them all,
    and a turn pays for each turn of its own session that is chosen before it.
    """
    order = by_score(scene, pool)
    if not len(order):
        yield _pick(scene, pool, "mmr-diversify", order)
        return
    # All rows pay, whether or not they can be chosen: those that can come first, in their order.
    row_order = order if len(order) == len(pool) else np.concatenate([order, all_but(len(pool), order)])
    scores = pool.score[order]
    sample = pool.score[measured_against(pool)]
    unit = (1.0 - balance) / balance * (deviation_of(sample) if len(sample) > 1 else 0.0)
    likeness_to = likeness(scene, pool.rows[row_order])
    sessions, several = _sessions_of_turns(scene, pool.rows[row_order]), asks_for_several(query.text)
    trust = trust_of(scene, pool.rows[row_order])
    worth = np.full(len(pool), -np.inf)  # -inf for what cannot be chosen, or is
    worth[: len(order)] = scores
    price = np.zeros(len(pool))  # of each row: what its likeness to the rows chosen before it costs, up to a unit
    again = np.zeros(len(pool))  # and what it costs that rows of its session were chosen
    left = worth.copy()
    picks: list[int] = []
    paid: list[float] = []
    for count in range(min(query.limit + lessons, len(order))):
        if count == query.limit:
            worth[: len(order)][scene.columns["kind"][pool.rows[order]] != code_of(Kind.LESSON)] = -np.inf
            left = worth - price - again
        pick = int(left.argmax())
        if worth[pick] == -np.inf:
            break
        picks.append(pick)
        paid.append(price[pick] + again[pick])
        worth[pick] = -np.inf
        free = (trust > trust[pick]) | ((sessions[pick] >= 0) & (sessions >= 0) & (sessions != sessions[pick]))
        np.maximum(price, np.where(free, 0.0, unit * likeness_to(pick)), out=price)
        if several and sessions[pick] >= 0:
            again[(sessions == sessions[pick]) & (trust <= trust[pick])] += SAME_SESSION
            np.minimum(again, MOST_OF_SESSION * SAME_SESSION, out=again)
        np.subtract(worth, price + again, out=left)
    price += again
    price[picks] = paid
    cost = np.empty(len(pool))
    cost[row_order] = -price
    chosen = row_order[picks]
    computed = all_true(len(pool))
    computed[chosen[0]] = False
    cost[chosen[0]] = 0.0
    if balance < 1.0:
        yield Term("mmrPenalty", cost, computed, {"lambda": balance, "unit": unit})
    beside = f", and {len(picks) - query.limit} more lessons" if len(picks) > query.limit else ""
    reason = f"first {query.limit} by score and novelty{beside}" if len(order) > len(picks) else ""
    yield _pick(scene, pool, "mmr-diversify", chosen, reason)


def asks_for_several(text: str) -> bool:
    """Whether a list or a count is asked for, which several occasions add up to."""
    return _SEVERAL.search(text) is not None and _SINGLE.search(text) is None


def _sessions_of_turns(scene: Scene, rows: IntArray) -> IntArray:
    """The session of each row that is a turn, by its place in one; −1 for all else."""
    columns = scene.columns
    turns = (columns["author"][rows] >= 0) & (columns["position"][rows] >= 0)
    return np.where(turns, columns["session"][rows], -1)


# ── the budget: whole items, each a line that says what it is and its text ──


def budget_fit(scene: Scene, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Take items in order; one that does not fit is skipped, and the next may still fit. What is less trusted takes
    half at most, and beyond that only what the trusted leave.
    """
    order = pool.ranked()
    # The characters and tokens of each item as delivered, its header and label included.
    shown = excerpts(scene, pool, order, query) if query.excerpts else ()
    if shown:
        chars, tokens = [len(excerpt.block) for excerpt in shown], [excerpt.tokens for excerpt in shown]
    else:
        columns, rows = scene.columns, pool.rows[order]
        seen = columns["cited"][rows] & (columns["zone"][rows] == code_of(Zone.TRUSTED))
        label = np.where(seen, 0, len(HYPOTHESIS))
        chars = (columns["chars"][rows] + _HEADER + _KIND_LENGTHS[columns["kind"][rows]] + label).tolist()
        tokens = (columns["tokens"][rows] + _HEADER_TOKENS).tolist()
    if query.item_tokens is not None:
        tokens = [min(cost, query.item_tokens) for cost in tokens]
    used, used_tokens = (len(OPEN) + len(CLOSE), _FRAME_TOKENS) if len(order) else (0, 0)
    most = np.inf if query.budget is None else query.budget
    most_tokens = np.inf if query.tokens is None else query.tokens
    trusted = (scene.columns["zone"][pool.rows[order]] == code_of(Zone.TRUSTED)).tolist()
    relevance = [None] * len(order) if pool.relevance is None else pool.relevance[order].tolist()
    zones = [Zone.TRUSTED if each else Zone.WORKING for each in trusted]
    turns = turns_within(
        list(map(claim_of, zones, relevance)), (chars, most - used), (tokens, most_tokens - used_tokens)
    )
    keep = []
    for at in turns:
        if used + chars[at] <= most and used_tokens + tokens[at] <= most_tokens:
            keep.append(at)
            used += chars[at]
            used_tokens += tokens[at]
    if not keep:
        used = used_tokens = 0
    keep.sort()
    reason = "" if len(keep) == len(order) else "does not fit the budget"
    yield Pick("budget-fit", order[keep], np.array([tokens[at] for at in keep], dtype=np.float64), reason)
    items = {
        id.decode(): {"chars": chars[at], "tokens": tokens[at]} | ({"source": shown[at].source} if shown else {})
        for at, id in enumerate(pool.ids[order].tolist())
    }
    told = spending(query, used=used, used_tokens=used_tokens, items=items)
    moved = turns != list(range(len(order)))
    yield Note("budget", told | ({"turns": [pool.ids[order[at]].decode() for at in turns]} if moved else {}))


def spending(query: Query, *, used: int, used_tokens: int, items: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What was to be had and what was spent; where no budget was set, what was spent is what was to be had."""
    return {
        "chars": used if query.budget is None else query.budget,
        "used": used,
        "tokens": used_tokens if query.tokens is None else query.tokens,
        "usedTokens": used_tokens,
        "items": dict(items),
        "frame": {"chars": len(OPEN) + len(CLOSE), "tokens": _FRAME_TOKENS},
    }
