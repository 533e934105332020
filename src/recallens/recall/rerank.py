"""A second look at the best rows, by a model that reads the question beside each text, within its time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.errors import TooLate
from recallens.index.rerankers import Reranker
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import Note, Term, Verdict
from recallens.recall.coverage import texts_of
from recallens.recall.scene import Scene
from recallens.recall.select import by_score

NAME: Final = "rerank"
HEAD: Final = 30
READ_CHARACTERS: Final = 2_000
AT_ONCE: Final = 4  # texts between two looks at the clock


class OutOfTime(Exception):
    pass


class Reranking(Struct, frozen=True, eq=False):
    """A model, and how long it may take for a question."""

    model: Reranker
    milliseconds: int


def rerank(scene: Scene, reranking: Reranking, pool: Pool, query: Query) -> Iterator[Verdict]:
    """The head in the model's order, with the scores that the head has, so that none of it falls below what is behind.
    Where the model fails or takes too long, the order stands as it was, and the reason is told."""
    head = by_score(scene, pool)[:HEAD]
    if len(head) < 2:
        return
    told: dict[str, object] = {"model": reranking.model.name}
    texts = texts_of(scene, pool.rows[head])
    try:
        opinions = _opinions(reranking, query.text, texts)
    except OutOfTime:
        yield Note(NAME, {**told, "error": f"it took more than {reranking.milliseconds} ms, so the order stands"})
        return
    except TooLate:
        raise
    except Exception as error:  # a model of somebody else's raises what it likes
        yield Note(NAME, {**told, "error": f"{type(error).__name__}: {error}"})
        return
    scores, delta = pool.score[head], np.zeros(len(pool.score))
    order = np.argsort(-np.array(opinions), kind="stable")
    delta[head[order]] = scores - scores[order]
    computed = np.zeros(len(delta), dtype=np.bool_)
    computed[head] = True
    yield Term(NAME, delta, computed)
    yield Note(NAME, told)


def _opinions(reranking: Reranking, question: str, texts: Sequence[str]) -> list[float]:
    opinions: list[float] = []
    end = monotonic() + reranking.milliseconds / 1000
    for start in range(0, len(texts), AT_ONCE):
        if monotonic() >= end:
            raise OutOfTime
        read = [text.strip()[:READ_CHARACTERS] for text in texts[start : start + AT_ONCE]]
        opinions += map(float, reranking.model.score(question, read))
    if len(opinions) != len(texts) or not all(map(math.isfinite, opinions)):
        raise ValueError(f"{len(opinions)} scores for {len(texts)} texts, or one that is no number")
    return opinions
