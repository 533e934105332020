"""The blend of words and meaning as the specification measured it, and the two faults that it had before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from recallens.engine import Engine
from recallens.errors import EncoderFailed
from recallens.index.encoders.protocol import EncoderKey, Vectors
from recallens.model.ledger import Ledger
from recallens.model.verdict import Found, Term
from recallens.recall.presets import PRESETS
from standing import Open

QUESTION = "cache lookups"


class Compass:
    """Vectors in a plane: each text's cosine with the question is written in it, as `@0.62`; one without gets none."""

    languages: tuple[str, ...] = ()
    key = EncoderKey("compass", "1", 2, "none")

    def encode_query(self, text: str) -> Vectors:
        return np.array([1.0, 0.0], dtype=np.float32)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        if any("@" not in text for text in texts):
            raise EncoderFailed("not now")  # as while a backlog waits: the memory is kept, its vector is not there yet
        cosines = [float(text.rpartition("@")[2]) for text in texts]
        return np.array([[c, np.sqrt(1.0 - c * c)] for c in cosines], dtype=np.float32)


def shares(engine: Engine, text: str = QUESTION) -> tuple[dict[str, float], dict[str, float]]:
    """Each memory's BM25 score and cosine, from the views themselves."""
    ledger = engine.recall(engine.recalls.query(text, preset="fusion", limit=50, cut=False)).ledger
    found: dict[str, dict[str, float]] = {"lexical": {}, "semantic": {}}
    for entry in ledger.entries:
        if isinstance(entry.verdict, Found) and entry.verdict.view in found:
            scored = zip(entry.verdict.ids.tolist(), entry.verdict.raw.tolist(), strict=True)
            found[entry.verdict.view] |= {id.decode(): score for id, score in scored}
    return found["lexical"], found["semantic"]


def relevance(result_parts: dict[str, float]) -> float:
    return result_parts.get("bm25", 0.0) + result_parts.get("vector", 0.0)


@pytest.fixture
def compass(opened: Open) -> Engine:
    return opened(encoder=Compass())


TEXTS = {
    "exact": "cache lookups cache lookups @0.70",
    "meant": "remembered answers are kept for a minute by the cache @0.95",
    "other": "lookups of invoices @0.62",
    "noise": "the cache of the printer jams on friday afternoons @0.60",
}


def fill(engine: Engine, texts: Mapping[str, str] = TEXTS) -> dict[str, str]:
    return {name: engine.remember(text, sector="semantic", dedupe=False).id for name, text in texts.items()}


def order(engine: Engine, **options: Any) -> list[str]:
    results = engine.search(QUESTION, preset="fusion", limit=10, cut=False, **options).results
    return [result.memory.id for result in results]


@pytest.mark.parametrize("blend", [0.0, 0.3, 0.5, 1.0])
def test_the_blend_is_the_specified_formula_to_the_letter(compass: Engine, blend: float) -> None:
    ids = fill(compass)
    words, cosines = shares(compass)
    top, low, high = max(words.values()), min(cosines.values()), max(cosines.values())
    recall = compass.recall(compass.recalls.query(QUESTION, preset="fusion", blend=blend, limit=10, cut=False))
    found = {result.memory.id: relevance(dict(result.parts)) for result in recall.results}
    for id in ids.values():
        if id in found:
            sparse, dense = words.get(id, 0.0) / top, (cosines[id] - low) / (high - low)
            assert found[id] == pytest.approx((1 - blend) * sparse + blend * dense, abs=1e-9)
    assert len(found) >= 3


def test_a_row_without_a_vector_keeps_its_sparse_score(compass: Engine) -> None:
    ids = fill(compass, TEXTS | {"other": "lookups of invoices"})
    words, cosines = shares(compass)
    assert ids["other"] not in cosines
    (found,) = (r for r in compass.search(QUESTION, preset="fusion", limit=10).results if r.memory.id == ids["other"])
    assert "vector" not in found.parts
    assert found.parts["bm25"] == pytest.approx(words[ids["other"]] / max(words.values()), abs=1e-9)


def test_raw_scores_of_rows_without_a_vector_do_not_take_the_top(compass: Engine) -> None:
    """The first fault: only rows with a vector were brought to 0..1, so that the raw scores of the others won."""
    ids = fill(compass, TEXTS | {"other": "lookups of invoices"})
    words, cosines = shares(compass)
    top = max(words.values())

    def faulty(id: str) -> float:
        return 0.5 * words.get(id, 0.0) / top + 0.5 * max(0.0, cosines[id]) if id in cosines else words[id]

    assert sorted(ids.values(), key=faulty)[-1] == ids["other"]
    assert order(compass)[0] == ids["exact"]


def test_a_cosine_that_everything_has_does_not_drown_what_tells_texts_apart(compass: Engine) -> None:
    """The second fault: unrelated texts have a cosine of 0.6 too, and a share of that is added to every one of them."""
    ids = fill(
        compass,
        {
            "repeats": "cache lookups cache lookups @0.60",
            "meant": "answers of lookups are kept by the cache for a minute @0.70",
            "noise": "the printer jams on friday afternoons @0.58",
        },
    )
    words, cosines = shares(compass)
    top = max(words.values())

    def faulty(id: str) -> float:
        return 0.5 * words.get(id, 0.0) / top + 0.5 * max(0.0, cosines[id])

    assert max(ids.values(), key=faulty) == ids["repeats"]
    assert order(compass)[0] == ids["meant"]


def test_weights_and_blend_are_in_the_ledger(compass: Engine) -> None:
    fill(compass)
    recall = compass.recall(compass.recalls.query(QUESTION, preset="fusion", blend=0.25, weights={"vector": 0}))
    terms: dict[str, Term] = {term.name: term for term in recall.ledger.terms()}
    assert terms["vector"].stats["blend"] == terms["bm25"].stats["blend"] == 0.25
    assert not terms["vector"].delta.any()
    assert Ledger.unpacked(recall.ledger.packed()).digest() == recall.ledger.digest()


def test_korean_is_found_by_words_alone_where_the_encoder_cannot_read_it(real: Engine) -> None:
    wanted = real.remember("캐시 만료는 60초로 정했다").id
    real.remember("배포는 금요일에 하지 않는다")
    results = real.search("캐시 만료", preset="fusion").results
    assert results[0].memory.id == wanted
    assert "vector" not in results[0].parts


def test_the_default_preset_takes_none_of_it(engine: Engine) -> None:
    engine.remember("We cache lookups for 60 seconds")
    parts = engine.search(QUESTION).results[0].parts
    assert not {"sourceScale", "sourcePrior", "lessonBoost", "actionability", "levelMatch"} & set(parts)
    assert not PRESETS["default"].fused
