"""BM25 by hand, against a naive implementation, and per namespace."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import taking
from recallens.engine import Engine
from recallens.index.bm25 import Bm25, fts5_idf, length_norm, lucene_idf, saturation
from recallens.index.lexical import bind_lexical
from recallens.text.stopwords import query_weights
from recallens.text.tokenizer import tokenize
from worlds import WORDS, World, a_folder, drafts, open_world, populate


def test_by_hand() -> None:
    """Ten documents, a term in three of them, twice in one of 8 tokens where the mean is 10: k1 = 1.2, b = 0.75.

    idf = ln(1 + 7.5/3.5) = 1.145132; norm = 1.2·(0.25 + 0.75·0.8) = 1.02; 2·2.2/(2 + 1.02) = 1.456954.
    """
    formula = Bm25(k1=1.2, b=0.75)
    assert lucene_idf(10, 3) == pytest.approx(1.1451323043, abs=1e-9)
    norm = length_norm(formula, np.array([8]), 10.0)
    assert norm.tolist() == pytest.approx([1.02])
    assert (lucene_idf(10, 3) * saturation(formula, np.array([2.0]), norm)).tolist() == pytest.approx([1.668404682])


def test_fts5_counts_a_common_term_as_next_to_nothing() -> None:
    assert fts5_idf(10, 3) == pytest.approx(math.log(7.5 / 3.5), abs=1e-12)
    assert fts5_idf(10, 5) == fts5_idf(10, 9) == 1e-6
    assert lucene_idf(10, 10) > 0.04


def scores(engine: Engine, text: str, formula: Bm25, namespace: str = "default") -> dict[str, float]:
    with engine.core.snapshot(namespace) as snapshot:
        assert snapshot is not None
        reader, _, version = snapshot
        bound = bind_lexical(reader, version.lexical, text, formula=formula, prefixes="short")
        every_row = bound.score(np.arange(version.columns.size)).tolist()
        return dict(zip(reader.memories.ids(version.columns["num"].tolist()).values(), every_row, strict=True))


@given(
    st.lists(drafts(), min_size=1, max_size=25).map(lambda found: World(tuple(found), (), (), (), ())),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join),
    st.sampled_from((Bm25(), Bm25(k1=1.2, b=0.5), Bm25(k1=1.2, idf="fts5"))),
)
@taking(40)
def test_equals_a_naive_implementation(world: World, text: str, formula: Bm25) -> None:
    """Over random stores with rows of every status: only the active ones are counted, all of them are scored."""
    with a_folder() as folder, open_world(folder / "store.db") as engine:
        ids = populate(engine, world)
        found = scores(engine, text, formula)
        memories = {id: engine.get(id) for id in ids}
    held = {
        id: tokenize(" \n".join([*filter(None, (m.title, m.summary)), *m.tags])) + tokenize(m.content)
        for id, m in memories.items()
    }
    active = [id for id, m in memories.items() if m.status == "active"]
    mean = sum(len(held[id]) for id in active) / len(active) if active else 0.0
    weights = {word: weight for word, weight in query_weights(tokenize(text)).items() if weight > 0}
    vocabulary = {token for id in ids for token in held[id]}
    terms: list[tuple[set[str], float]] = [({word}, weight) for word, weight in weights.items() if word in vocabulary]
    for word, weight in weights.items():
        opens = len(word) >= 3 or (len(word) == 1 and not word.isascii())
        longer = {token for token in vocabulary if token.startswith(word) and token != word}
        if opens and longer and (len(weights) <= 3 or word not in vocabulary):
            terms.append((longer, weight * 0.5))
    idf = lucene_idf if formula.idf == "lucene" else fts5_idf
    for id in ids:
        expected = 0.0
        for tokens, weight in terms:

            def frequency(of: str, tokens: set[str] = tokens) -> int:
                return sum(count for token, count in Counter(held[of]).items() if token in tokens)

            tf = frequency(id)
            norm = formula.k1 * (1 - formula.b + formula.b * len(held[id]) / max(mean, 1.0))
            holding = sum(frequency(other) > 0 for other in active)
            expected += weight * idf(len(active), holding) * tf * (formula.k1 + 1) / (tf + norm)
        assert found[id] == pytest.approx(expected, abs=1e-9)


def test_another_namespace_does_not_move_a_score(engine: Engine) -> None:
    for number in range(5):
        engine.remember(f"the cache of service {number}", namespace="mine", dedupe=False)
    before = scores(engine, "cache service 3", Bm25(), "mine")
    ranked = engine.recall(engine.recalls.query("cache service 3", namespace="mine", preset="classic"))
    for number in range(200):
        engine.remember(f"cache cache service {number}", namespace="theirs", dedupe=False)
    assert scores(engine, "cache service 3", Bm25(), "mine") == before
    again = engine.recall(engine.recalls.query("cache service 3", namespace="mine", preset="classic"))
    assert [(r.memory.id, r.score) for r in again.results] == [(r.memory.id, r.score) for r in ranked.results]


def test_only_active_rows_are_counted(engine: Engine) -> None:
    ids = [engine.remember(f"the cache of service {number}", dedupe=False).id for number in range(4)]
    alone = scores(engine, "cache", Bm25())[ids[0]]
    extra = [engine.remember(f"cache notes {number}", dedupe=False).id for number in range(10)]
    assert scores(engine, "cache", Bm25())[ids[0]] != alone
    for id in extra:
        engine.forget(id)
    assert scores(engine, "cache", Bm25())[ids[0]] == pytest.approx(alone, abs=1e-12)
