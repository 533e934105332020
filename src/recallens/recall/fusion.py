"""The specification's blend of words and meaning, and what it leaves out before rows are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from recallens.ingest.dedupe import hamming, is_near_duplicate, max_distance
from recallens.model.memory import Memory
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, IntArray, Pick, Term, all_true, places
from recallens.recall.diversify import by_score, lesson_rows, tokens_of
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene
from recallens.recall.sessions import recaps
from recallens.recall.terms import TermStage
from recallens.recall.watch import WATCH
from recallens.text.tokenizer import tokenize

# Rows whose texts are compared or judged: what is further down is not returned.
HEAD: Final = 60
# A linked note enters on the strength of its link, as far as a middling match would.
LINKED_WEIGHT: Final = 0.5


def head_of(scene: Scene, pool: Pool) -> IntArray:
    """The best live rows."""
    return by_score(scene, pool)[:HEAD]


def followed(pool: Pool) -> IntArray:
    """The rows that are in the pool only to be followed: a term is computed on them, and they take no part."""
    others = np.zeros(len(pool), dtype=np.bool_)
    for view in pool.found:
        if view != WATCH:
            others |= pool.proposed_by(view)
    return places(pool.proposed_by(WATCH) & ~others)


def texts_of(scene: Scene, pool: Pool, positions: IntArray) -> list[Memory]:
    """Fetched once for all stages that read texts."""
    if scene.known is None or not len(positions):
        return []
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    known = scene.known(nums).memories
    return [known[num] for num in nums]


def sparse_shares(scene: Scene, pool: Pool) -> tuple[FloatArray, float]:
    """The words' score over the best of all candidates, whether or not they have a vector."""
    raw = scene.score("lexical", pool.rows) if "lexical" in scene.views else np.zeros(len(pool))
    live = raw[pool.live]
    best = float(live.max()) if len(live) and live.max() > 0 else 1.0
    return raw / best, best


def dense_shares(scene: Scene, pool: Pool) -> tuple[FloatArray, float, float]:
    """The cosine from the least to the greatest among the candidates, NaN where there is no vector.

    Unrelated texts have a cosine of 0.5 to 0.7 under many models: added as it is, it is noise of one height.
    """
    raw = scene.score("semantic", pool.rows) if "semantic" in scene.views else np.full(len(pool), np.nan)
    sample = raw[pool.live & ~np.isnan(raw)]
    low, high = (float(sample.min()), float(sample.max())) if len(sample) else (0.0, 0.0)
    return (raw - low) / (high - low if high > low else 1.0), low, high


def blended_words(scene: Scene, pool: Pool, query: Query) -> Term:
    """(1 − α) · sparse; a row without a vector keeps its sparse score whole."""
    sparse, best = sparse_shares(scene, pool)
    alpha = query.blend * scene.fluency
    without = np.isnan(dense_shares(scene, pool)[0])
    computed = sparse > 0
    delta = np.where(without, sparse, (1.0 - alpha) * sparse)
    return Term("bm25", np.where(computed, delta, 0.0), computed, {"max": best, "blend": alpha})


def blended_meaning(scene: Scene, pool: Pool, query: Query) -> Term:
    """α · dense; what the encoder can read of the question, its opinion weighs."""
    dense, low, high = dense_shares(scene, pool)
    alpha = query.blend * scene.fluency
    computed = ~np.isnan(dense)
    return Term("vector", np.where(computed, alpha * dense, 0.0), computed, {"min": low, "max": high, "blend": alpha})


def linked(weight: float) -> TermStage:
    """weight · strength, for what its links brought in and the words did not: those are measured by the words."""

    def term(scene: Scene, pool: Pool, query: Query) -> Term:
        raw = pool.raw("graph")
        computed = ~np.isnan(raw) & ~pool.proposed_by("lexical")
        return Term("graph", np.where(computed, weight * raw, 0.0), computed, {"weight": weight})

    return term


def relevant_only(scene: Scene) -> Decide:
    """A source enters on relevance: what has none stays out, however new it is."""

    def decide(pool: Pool, query: Query) -> Iterable[Pick]:
        order = by_score(scene, pool)
        chosen = order[pool.score[order] > 0]
        reason = "nothing in it is about the question" if len(chosen) < len(order) else ""
        yield Pick("relevance", chosen, tokens_of(scene, pool, chosen), reason)

    return decide


def one_of_each_text(scene: Scene) -> Decide:
    """Of rows that say the same, whatever their sources, the best scored.

    A pick and not a gate: whether a row stays depends on the others.
    """

    def decide(pool: Pool, query: Query) -> Iterable[Pick]:
        order = by_score(scene, pool)
        head = order[:HEAD]
        keep = all_true(len(order))
        keep[: len(head)] = ~repeated(scene, pool, head)
        chosen = order[keep]
        reason = "" if keep.all() else "says the same as a better one"
        yield Pick("duplicate-source", chosen, tokens_of(scene, pool, chosen), reason)

    return decide


def repeated(scene: Scene, pool: Pool, order: IntArray) -> BoolArray:
    """Which rows repeat one before them. Fingerprints find the pairs, so that few texts are compared."""
    prints = scene.columns["simhash"][pool.rows[order]]
    lengths = scene.columns["length"][pool.rows[order]]
    out = np.zeros(len(order), dtype=np.bool_)
    texts = texts_of(scene, pool, order)
    for at in range(1, len(order)):
        near = hamming(int(prints[at]), prints[:at]) <= max_distance(int(lengths[at]))
        before = places(near & ~out[:at])
        out[at] = any(_same(texts[at], texts[other]) for other in before.tolist())
    return out


def _same(one: Memory, other: Memory) -> bool:
    if one.content_hash == other.content_hash:
        return True
    return is_near_duplicate(one.content, tokenize(one.content), other.content, tokenize(other.content))


def at_most(scene: Scene) -> Decide:
    """So many rows from files and so many summaries of sessions; lessons do not count, they have slots of their own."""

    def decide(pool: Pool, query: Query) -> Iterable[Pick]:
        filters = query.filters
        limits: Sequence[tuple[str, int | None, Callable[[Scene], BoolArray]]] = (
            ("brain-file-limit", filters.brain_file_limit, _from_files),
            ("medium-term-limit", filters.medium_term_limit, lambda scene: recaps(scene.columns)),
        )
        live = pool.live
        for name, most, of_it in limits:
            if most is None:
                continue
            order = by_score(scene, pool)
            order = order[live[order]]
            counted = of_it(scene)[pool.rows[order]]
            chosen = order[~counted | (np.cumsum(counted) <= most)]
            live = np.zeros(len(pool), dtype=np.bool_)
            live[chosen] = True
            reason = f"more than {most}" if len(chosen) < len(order) else ""
            yield Pick(name, chosen, tokens_of(scene, pool, chosen), reason)

    return decide


def _from_files(scene: Scene) -> BoolArray:
    return (scene.columns["document"] >= 0) & ~lesson_rows(scene)
