"""The whole path on tiny sets: a store a haystack, every unit findable, sessions by their best turn."""

import math
from pathlib import Path

import numpy as np
import pytest

from recallens.evaluate.dataset import read_dataset
from recallens.evaluate.encoder_cache import CachedEncoder
from recallens.evaluate.harness import asked, run_judged, steps
from recallens.evaluate.runs import Run
from recallens.index.encoders.hashing import HashingEncoder
from recallens.index.encoders.protocol import EncoderKey, Vectors
from recallens.recall.terms.relevance import RRF_K

BASELINES = ("bm25", "dense", "rrf")


def run_all(folder: Path, *presets: str, unanswerable: bool = False) -> list[Run]:
    dataset = read_dataset(folder)
    questions = asked(dataset, unanswerable=unanswerable, most=None)
    return run_judged(dataset, questions, presets, encoder=HashingEncoder())


def by_question(run: Run) -> dict[str, list[str]]:
    return {question.id: [place.unit for place in question.places] for question in run.questions}


def test_a_query_sees_its_own_haystack_and_nothing_else(talks: Path) -> None:
    (run,) = run_all(talks, "dense", unanswerable=True)
    found = by_question(run)
    assert set(found["q1"]) == {"u1", "u2", "u3", "u4"}
    assert set(found["q3"]) == set(found["q4"]) == {"u1", "u2", "u5"}


def test_two_units_that_say_the_same_are_both_found(talks: Path) -> None:
    for run in run_all(talks, "default", "bm25"):
        assert set(by_question(run)["q2"][:2]) == {"u3", "u4"}, run.preset


def test_a_session_stands_where_its_best_turn_stands(talks: Path) -> None:
    (run,) = run_all(talks, "bm25")
    question = next(question for question in run.questions if question.id == "q2")
    assert question.ranks == {"cat": 1}
    assert question.metrics["recall_all@5"] == 1.0
    assert question.metrics["ndcg@10"] == 1.0


def test_korean_questions_are_answered(talks: Path, pages: Path) -> None:
    for folder, query, unit in ((talks, "q3", "u5"), (pages, "q2", "d3")):
        for run in run_all(folder, "default", "bm25"):
            assert by_question(run)[query][0] == unit, (folder.name, run.preset)


def test_only_judged_questions_are_scored_and_the_others_are_asked_for_abstention(talks: Path) -> None:
    (plain,) = run_all(talks, "bm25")
    (more,) = run_all(talks, "bm25", unanswerable=True)
    assert [question.id for question in plain.questions] == ["q1", "q2", "q3"]
    assert [question.id for question in more.questions] == ["q1", "q2", "q3", "q4"]
    assert len(more.scored) == 3


def test_progress_goes_as_far_as_was_said(talks: Path) -> None:
    dataset = read_dataset(talks)
    questions = asked(dataset, unanswerable=True, most=None)
    done: list[int] = []
    run_judged(dataset, questions, BASELINES, encoder=HashingEncoder(), advance=done.append)
    assert sum(done) == steps(dataset, questions, BASELINES) == 7 + 4 * 3


def test_two_runs_give_the_same_lists(talks: Path) -> None:
    first, second = run_all(talks, "default")[0], run_all(talks, "default")[0]
    assert [question.places for question in first.questions] == [question.places for question in second.questions]


def test_words_alone_without_an_encoder(pages: Path) -> None:
    dataset = read_dataset(pages)
    questions = asked(dataset, unanswerable=False, most=1)
    runs = run_judged(dataset, questions, ("bm25", "dense", "default"), encoder=None)
    assert [len(run.questions[0].places) for run in runs] == [1, 0, 1]
    assert runs[0].encoder == "none"


def test_rrf_adds_up_what_the_two_rankings_say(pages: Path) -> None:
    bm25, dense, rrf = (run.questions[0].places for run in run_all(pages, *BASELINES))
    ranks = [{place.unit: rank for rank, place in enumerate(places, start=1)} for places in (bm25, dense)]
    for place in rrf:
        expected = sum(1 / (RRF_K + rank[place.unit]) for rank in ranks if place.unit in rank)
        assert place.score == pytest.approx(expected, abs=1e-12)


def test_plain_bm25_is_the_formula_over_words_as_written(pages: Path) -> None:
    (run,) = run_all(pages, "bm25")
    (place,) = run.questions[0].places
    # "ingress traffic": each in one document of three, once. Lengths by our tokens: 7, 7 and 19 syllable bigrams.
    dataset = read_dataset(pages)
    from recallens.text.tokenizer import tokenize

    lengths = {unit.id: len(tokenize(unit.text)) for unit in dataset.units}
    mean = sum(lengths.values()) / 3
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    norm = 1.5 * (1 - 0.75 + 0.75 * lengths["d1"] / mean)
    assert place.score == pytest.approx(2 * idf * 2.5 / (1 + norm))


class Counting:
    """An encoder that says which texts it was given."""

    languages: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._real = HashingEncoder()
        self.seen: list[str] = []

    @property
    def key(self) -> EncoderKey:
        return self._real.key

    def encode_query(self, text: str) -> Vectors:
        self.seen.append(text)
        return self._real.encode_query(text)

    def encode_documents(self, texts: list[str]) -> Vectors:
        self.seen += texts
        return self._real.encode_documents(texts)


def test_a_text_is_encoded_once_in_its_life(tmp_path: Path, talks: Path) -> None:
    dataset = read_dataset(talks)
    questions = asked(dataset, unanswerable=True, most=None)
    lists = []
    for again in (False, True):
        counting = Counting()
        encoder = CachedEncoder(counting, tmp_path / "cache")
        (run,) = run_judged(dataset, questions, ["dense"], encoder=encoder)
        lists.append([question.places for question in run.questions])
        assert bool(counting.seen) is not again
        assert len(set(counting.seen)) == len(counting.seen)
        encoder.close()
    assert lists[0] == lists[1]


def test_a_cached_vector_is_the_same_bytes(tmp_path: Path) -> None:
    texts = ["one", "둘", "", "one"]
    encoder = CachedEncoder(HashingEncoder(), tmp_path)
    fresh, kept = encoder.encode_documents(texts), encoder.encode_documents(texts)
    assert encoder.encoded == 3
    assert np.array_equal(fresh, HashingEncoder().encode_documents(texts))
    assert np.array_equal(fresh, kept)
    assert np.array_equal(encoder.encode_query("둘"), HashingEncoder().encode_query("둘"))
    assert encoder.encode_documents([]).shape == (0, encoder.key.dimension)
    encoder.close()
