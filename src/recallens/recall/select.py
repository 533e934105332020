"""From scored candidates to results: what is left out, how repetitions are avoided, and what fits the budget.

MMR: Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recallens.index.columns import code_of
from recallens.index.encoding import LazySemantic
from recallens.index.views import ordered
from recallens.ingest.dedupe import hamming, is_near_duplicate, max_distance
from recallens.model.context import HYPOTHESIS
from recallens.model.memory import Kind, Memory
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import (
    BoolArray,
    FloatArray,
    IntArray,
    Note,
    Pick,
    Term,
    Verdict,
    all_but,
    all_true,
    anywhere,
    everywhere,
    places,
)
from recallens.recall.results import excerpts
from recallens.recall.scene import Scene
from recallens.recall.sources import session_summaries
from recallens.recall.terms import deviation_of
from recallens.text.tokenizer import tokenize

# Rows whose texts are compared or judged: what is further down is not returned.
HEAD: Final = 60
PER_DOCUMENT: Final = 3
LAMBDA: Final = 0.7
# Lessons of the rest that come beside the k rows, to be checked before an answer is final. One that neither
# scores half of the best row nor holds half of the question's words is about something else.
LESSON_EXTRA: Final = 3
LESSON_SHARE: Final = 0.5
# Rows whose likeness to the others is worked out at once: about as many as a search returns.
ASKED_FIRST: Final = 12

OPEN, CLOSE = "<memories>\n", "</memories>\n"
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


# ── what stays out ──


def relevant_only(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """A source enters on relevance: a row that has none stays out, however new it is."""
    order = by_score(scene, pool)
    chosen = order[pool.score[order] > 0]
    reason = "nothing in it is about the question" if len(chosen) < len(order) else ""
    yield _pick(scene, pool, "relevance", chosen, reason)


def one_of_each_text(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """Of rows that say the same, whatever their sources, the best scored.

    A pick and not a gate: whether a row stays depends on the others.
    """
    order = by_score(scene, pool)
    keep = all_true(len(order))
    keep[:HEAD] = ~_repeated(scene, pool, order[:HEAD])
    reason = "" if everywhere(keep) else "says the same as a better one"
    yield _pick(scene, pool, "duplicate-source", order[keep], reason)


def _repeated(scene: Scene, pool: Pool, order: IntArray) -> BoolArray:
    """Which rows repeat one before them. Fingerprints find the pairs, so that few texts are compared."""
    prints = scene.columns["simhash"][pool.rows[order]]
    lengths = scene.columns["length"][pool.rows[order]]
    repeated = np.zeros(len(order), dtype=np.bool_)
    memories = memories_at(scene, pool, order)
    for at in range(1, len(order)):
        near = hamming(int(prints[at]), prints[:at]) <= max_distance(int(lengths[at]))
        before = places(near & ~repeated[:at])
        repeated[at] = any(_same_text(memories[at], memories[other]) for other in before.tolist())
    return repeated


def _same_text(one: Memory, other: Memory) -> bool:
    if one.content_hash == other.content_hash:
        return True
    return is_near_duplicate(one.content, tokenize(one.content), other.content, tokenize(other.content))


def per_document_cap(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """At most three sections of one document, its best ones."""
    order = by_score(scene, pool)
    documents = scene.columns["document"][pool.rows[order]]
    seen: dict[int, int] = {}
    keep = all_true(len(order))
    for at, document in enumerate(documents.tolist() if anywhere(documents >= 0) else ()):
        if document >= 0:
            seen[document] = seen.get(document, 0) + 1
            keep[at] = seen[document] <= PER_DOCUMENT
    reason = "" if everywhere(keep) else f"more than {PER_DOCUMENT} of one document"
    yield _pick(scene, pool, "per-document-cap", order[keep], reason)


def at_most(scene: Scene, pool: Pool, query: Query) -> Iterator[Pick]:
    """So many rows from files and so many summaries of sessions; lessons do not count, they have slots of their own."""
    columns, filters = scene.columns, query.filters
    if filters.brain_file_limit is None and filters.medium_term_limit is None:
        return
    from_files = (columns["document"] >= 0) & (columns["kind"] != code_of(Kind.LESSON))
    order = by_score(scene, pool)
    for name, most, rows in (
        ("brain-file-limit", filters.brain_file_limit, from_files),
        ("medium-term-limit", filters.medium_term_limit, session_summaries(columns)),
    ):
        if most is not None:
            counted = rows[pool.rows[order]]
            chosen = order[~counted | (np.cumsum(counted) <= most)]
            yield _pick(scene, pool, name, chosen, f"more than {most}" if len(chosen) < len(order) else "")
            order = chosen


# ── diversity ──


def mmr_diversify(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Choose k rows one by one, each paying for its likeness to what is chosen already; then a few lessons of the rest.

    The price is a Term, so the order of choice is the order of final scores: what is left can only get dearer.
    """
    order = by_score(scene, pool)
    if not len(order):
        yield _pick(scene, pool, "mmr-diversify", order)
        return
    # All rows pay, whether or not they can be chosen: those that can come first, in their order.
    row_order = order if len(order) == len(pool) else np.concatenate([order, all_but(len(pool), order)])
    scores = pool.score[order]
    unit = (1.0 - balance) / balance * (deviation_of(scores) if len(scores) > 1 else 0.0)
    likeness_to = _likeness(scene, pool.rows[row_order])
    worth = np.full(len(pool), -np.inf)  # -inf for what cannot be chosen, or is
    worth[: len(order)] = scores
    price = np.zeros(len(pool))  # of each row: what its likeness to the rows chosen before it costs, up to a unit
    left = worth.copy()
    picks: list[int] = []
    paid: list[float] = []
    for count in range(min(query.limit + LESSON_EXTRA, len(order))):
        if count == query.limit:
            others = ~_worthy_lessons(scene, pool, order, best=float(scores[picks[0]]))
            worth[: len(order)][others] = -np.inf
            left = worth - price
        pick = int(left.argmax())
        if worth[pick] == -np.inf:
            break
        picks.append(pick)
        paid.append(price[pick])
        worth[pick] = -np.inf
        np.maximum(price, unit * likeness_to(pick), out=price)
        np.subtract(worth, price, out=left)
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


def _worthy_lessons(scene: Scene, pool: Pool, order: IntArray, *, best: float) -> BoolArray:
    rows = pool.rows[order]
    lessons: BoolArray = scene.columns["kind"][rows] == code_of(Kind.LESSON)
    if not anywhere(lessons):
        return lessons
    near = pool.score[order] >= LESSON_SHARE * best
    return lessons & (near | (scene.coverage(rows) >= LESSON_SHARE))


def _likeness(scene: Scene, rows: IntArray) -> Callable[[int], FloatArray]:
    """A function from one of the rows, by its place, to its likeness with each: 1 if they are the same, 0 or less if
    unlike. It is the cosine where both have a vector that the encoder meant, else the share of words in common. Rows
    that are likeliest to be asked about come first.
    """
    lexical, semantic = scene.index.lexical, scene.views.get("semantic")
    vectors = scene.index.vectors if scene.question.fluency > 0 else None
    words: Callable[[int], FloatArray] | None = None

    def by_words(at: int) -> FloatArray:
        nonlocal words
        if words is None:
            words = _shared_words([lexical.sequence(int(row)) for row in rows])
        return words(at)

    if vectors is None or not len(vectors):
        return by_words
    has_vector = vectors.where[rows] >= 0
    of_all = everywhere(has_vector)
    with_vector = rows if of_all else rows[has_vector]
    matrix = semantic.vectors(with_vector) if isinstance(semantic, LazySemantic) else vectors.single(with_vector)
    if not of_all:
        known, matrix = matrix, np.zeros((len(rows), matrix.shape[1]), dtype=np.float32)
        matrix[has_vector] = known
    # The first rows are those that will be asked about, so theirs are worked out in one product.
    ahead = np.minimum(matrix @ matrix[:ASKED_FIRST].T, 1.0).T.astype(np.float64, order="C")

    def by_meaning(at: int) -> FloatArray:
        if not has_vector[at]:
            return by_words(at)
        cosine: FloatArray
        cosine = ahead[at] if at < len(ahead) else np.minimum(matrix @ matrix[at], 1.0).astype(np.float64)
        return cosine if of_all else np.where(has_vector, cosine, by_words(at))

    return by_meaning


def _shared_words(sequences: Sequence[NDArray[np.uint32]]) -> Callable[[int], FloatArray]:
    """Jaccard of one row with each, by their terms."""
    terms, place = np.unique(np.concatenate(sequences), return_inverse=True)
    owner = np.repeat(np.arange(len(sequences)), [len(sequence) for sequence in sequences])
    holds = np.zeros((len(sequences), max(len(terms), 1)), dtype=np.float32)
    holds[owner, place] = 1.0
    sizes = holds.sum(axis=1).astype(np.float64)

    def jaccard(at: int) -> FloatArray:
        common = (holds @ holds[at]).astype(np.float64)
        either = sizes + sizes[at] - common
        shares: FloatArray = np.divide(common, either, out=np.zeros_like(common), where=either > 0)
        return shares

    return jaccard


# ── the budget: whole items, each a line that says what it is and its text ──


def budget_fit(scene: Scene, pool: Pool, query: Query) -> Iterator[Verdict]:
    """Take items in order; one that does not fit is skipped, and the next may still fit."""
    order = pool.ranked()
    # The characters and tokens of each item as delivered, its header and label included.
    shown = excerpts(scene, pool, order) if query.excerpts else ()
    if shown:
        chars, tokens = [len(excerpt.block) for excerpt in shown], [excerpt.tokens for excerpt in shown]
    else:
        columns, rows = scene.columns, pool.rows[order]
        label = np.where(columns["cited"][rows], 0, len(HYPOTHESIS))
        chars = (columns["chars"][rows] + _HEADER + _KIND_LENGTHS[columns["kind"][rows]] + label).tolist()
        tokens = (columns["tokens"][rows] + _HEADER_TOKENS).tolist()
    if query.item_tokens is not None:
        tokens = [min(cost, query.item_tokens) for cost in tokens]
    used, used_tokens = (len(OPEN) + len(CLOSE), _FRAME_TOKENS) if len(order) else (0, 0)
    most = np.inf if query.budget is None else query.budget
    most_tokens = np.inf if query.tokens is None else query.tokens
    keep = []
    for at in range(len(order)):
        if used + chars[at] <= most and used_tokens + tokens[at] <= most_tokens:
            keep.append(at)
            used += chars[at]
            used_tokens += tokens[at]
    if not keep:
        used = used_tokens = 0
    reason = "" if len(keep) == len(order) else "does not fit the budget"
    yield Pick("budget-fit", order[keep], np.array([tokens[at] for at in keep], dtype=np.float64), reason)
    items = {
        id.decode(): {"chars": chars[at], "tokens": tokens[at]} | ({"source": shown[at].source} if shown else {})
        for at, id in enumerate(pool.ids[order].tolist())
    }
    yield Note("budget", spending(query, used=used, used_tokens=used_tokens, items=items))


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
