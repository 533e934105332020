"""A model that looks at the best rows again: it decides their order, in its time, and the X-ray says so."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

import recallens
from recallens.engine import Engine
from recallens.errors import UnknownOption
from recallens.xray.explain import explain

TEXTS = [
    "The buoy off the pier is painted red",
    "The buoy off the pier was painted green in spring, since red is for port",
    "The pier is repainted every second year",
    "The harbour office sells paint for buoys",
    "Buoys are counted at the pier in May",
]
QUESTION = "what colour is the buoy off the pier painted"


class Longest:
    """Thinks that whoever says most knows best."""

    name = "longest@1"
    pause = 0.0

    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        assert question == QUESTION
        time.sleep(self.pause)
        return [len(text) for text in texts]


class Slow(Longest):
    pause = 0.05


class Broken(Longest):
    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        raise OSError("the model is gone")


class Mute(Longest):
    def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [float("nan")] * len(texts)


def texts_of(recall: recallens.Recall) -> list[str]:
    return [result.memory.content for result in recall.results]


@pytest.fixture
def filled(opened) -> Engine:
    engine: Engine = opened("buoys.db")
    for text in TEXTS:
        engine.remember(text)
    return engine


def test_the_best_rows_stand_in_the_order_of_the_model(filled: Engine, opened) -> None:
    plain = filled.search(QUESTION, cut=False, record=False)
    with opened("buoys.db", reranker=Longest()) as engine:
        recall = engine.search(QUESTION, cut=False, record=False)
    assert texts_of(recall)[0] == max(texts_of(plain), key=len) != texts_of(plain)[0]
    for result in recall.results:
        assert sum(result.parts.values()) == pytest.approx(result.score, abs=1e-9)
        assert "rerank" in result.parts
    replayed = recall.ledger.replay()
    assert [replayed.ids[at].decode() for at in replayed.ranked()] == [each.memory.id for each in recall.results]
    snapshot = explain(recall.ledger)
    assert snapshot.versions["reranker"] == "longest@1"
    assert snapshot.degraded == recall.degraded == {}


@pytest.mark.parametrize(
    ("model", "reason"),
    [(Slow(), "it took more than 10 ms"), (Broken(), "OSError: the model is gone"), (Mute(), "ValueError: 5 scores")],
)
def test_where_the_model_cannot_say_in_its_time_the_order_stands(
    filled: Engine, opened, model: Longest, reason: str
) -> None:
    plain = filled.search(QUESTION, cut=False, record=False)
    with opened("buoys.db", reranker=model, reranker_milliseconds=10) as engine:
        recall = engine.search(QUESTION, cut=False, record=False)
    assert texts_of(recall) == texts_of(plain)
    assert recall.degraded["rerank"].startswith(reason)
    assert explain(recall.ledger).degraded == recall.degraded


def test_a_reranker_that_is_not_known_is_refused_with_those_that_are(opened) -> None:
    with opened("buoys.db", reranker="best:ever") as engine, pytest.raises(UnknownOption, match="fastembed:MODEL"):
        engine.search(QUESTION)
