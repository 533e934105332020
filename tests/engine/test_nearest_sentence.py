"""Long notes that say the answer in other words than the question: the sentence that answers is what is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recallens.engine import Engine
from recallens.index.encoders.minilm import MAX_TOKENS, MiniLMEncoder
from recallens.index.encoders.multilingual import MultilingualEncoder
from recallens.recall.results import READ_RESULTS
from recallens.render.layers import index_entry
from recallens.text.sentences import sentences

VISIT = (
    "The vet kept us waiting for most of the afternoon, and the cat cried in its box. A nurse weighed her twice since "
    "the first scale was broken. The X-ray showed nothing and the teeth are fine for her age. We also talked about the "
    "fleas of last summer. From now on she gets a spoon of pumpkin with every meal to keep her bowels moving. The bill "
    "came to ninety euros, of which the plan pays a third. Parking there is free in the evening."
)
MEAL = "From now on she gets a spoon of pumpkin with every meal to keep her bowels moving."
ASKED = "what to feed her for digestion, said the vet"
WAITED = "what were the costs of the vet visit in the afternoon"
CLINIC = (
    "어머니를 모시고 병원에 다녀왔다. 기다리는 동안 옆자리 할머니와 고추 말리는 이야기를 하셨다. "
    "혈압은 약을 드시면서 좋고 콜레스테롤은 경계선이다. 시력은 왼쪽이 떨어져서 안과를 따로 예약했다. "
    "골밀도가 낮은 골다공증이라서 반년에 한 번 주사를 맞기로 했다. 계단을 오를 때는 난간을 잡으시라고 했다. "
    "주차비는 두 시간까지 무료였다."
)
INJECTION = "골밀도가 낮은 골다공증이라서 반년에 한 번 주사를 맞기로 했다."
BONES = "how often does mother get the bone density injection"


def first_line(engine: Engine, question: str) -> str:
    return index_entry(engine.search(question, record=False).results[0], question).text


def test_the_sentence_that_answers_in_other_words_is_shown_and_the_xray_tells_it(real: Engine) -> None:
    note = real.remember(VISIT)
    assert MEAL in first_line(real, ASKED)
    result = next(row for row in real.xray(ASKED).results if row.memoryId == note.id)
    assert result.sentence == MEAL


def test_a_korean_note_is_read_word_by_word_in_english(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "both.db") as engine:
        engine.remember(CLINIC)
        engine.remember("The clinic is closed on Mondays.")
        engine.encoder.begin("default")
        engine.encoder.drain()
        result = engine.search("어머니 뼈 검사 결과", record=False).results[0]
        assert result.sentence == INJECTION


def test_only_the_first_long_results_are_read_and_none_where_everything_is_listed(
    real: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    vectors = MiniLMEncoder.sentence_vectors
    monkeypatch.setattr(
        MiniLMEncoder, "sentence_vectors", lambda self, own: read.append(len(own)) or vectors(self, own)
    )
    for animal in ("cat", "dog", "rabbit", "parrot"):
        real.remember(VISIT.replace("the cat", f"the {animal}"), dedupe=False)
    recall = real.recall(real.recalls.query(WAITED))
    assert len(recall.results) > READ_RESULTS
    assert read == [len(sentences(VISIT))] * READ_RESULTS
    real.recall(real.recalls.query(WAITED, cut=False))
    real.recall(real.recalls.query("did the nurse weigh her twice on the scale"))  # a sentence says that
    assert len(read) == READ_RESULTS


def test_each_sentence_has_its_own_vector_however_many_passes_it_takes() -> None:
    encoder, own = MiniLMEncoder(), sentences(VISIT)
    alone = encoder.sentence_vectors([MEAL])[0]
    assert alone @ encoder.encode_query(MEAL) > 0.95
    many = [*own * 8, "", "word " * MAX_TOKENS]
    vectors = encoder.sentence_vectors(many)
    assert vectors.shape == (len(many), encoder.key.dimension)
    assert not vectors[-2].any()
    assert np.allclose(np.linalg.norm(np.delete(vectors, -2, axis=0), axis=1), 1.0, atol=1e-5)
    assert vectors[own.index(MEAL)] @ alone > vectors[0] @ alone


def test_the_vectors_of_sentences_lie_beside_the_last_numbers_of_a_question() -> None:
    encoder = MultilingualEncoder()
    own = encoder.sentence_vectors(sentences(CLINIC))
    question = encoder.encode_query(BONES)
    nearest = (own - own.mean(axis=0)) @ question[-own.shape[1] :]
    assert sentences(CLINIC)[int(nearest.argmax())] == INJECTION
