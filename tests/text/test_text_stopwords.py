from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallens.text.stopwords import frame_words, query_stopwords, query_weights
from recallens.text.tokenizer import tokenize


def test_function_words_weigh_nothing_and_frame_words_half() -> None:
    assert query_weights(tokenize("How many times did I recommend the React library?")) == {
        "how": 0.0,
        "mani": 0.5,
        "time": 0.5,
        "did": 0.0,
        "i": 0.0,
        "recommend": 0.5,
        "the": 0.0,
        "react": 1.0,
        "librari": 1.0,
    }


def test_korean_questions_keep_their_subject() -> None:
    weights = query_weights(tokenize("사용자 인증은 언제 하는가"))
    assert weights["인증"] == weights["사용"] == 1.0
    assert weights["언제"] == weights["는가"] == 0.0
    assert weights["하는"] == 0.5


def test_authorisation_is_not_lost_to_a_korean_ending() -> None:
    assert query_weights(tokenize("인가 서버"))["인가"] == 0.5


def test_a_query_of_function_words_alone_keeps_them() -> None:
    assert query_weights(tokenize("to be or not to be")) == {"to": 1.0, "be": 1.0, "or": 1.0, "not": 1.0}


def test_a_query_of_frame_words_alone_stays_as_it_is() -> None:
    assert query_weights(["mani", "ago"]) == {"mani": 0.5, "ago": 0.5}


def test_no_tokens_no_weights() -> None:
    assert query_weights([]) == {}


@pytest.mark.parametrize("words", [query_stopwords(), frame_words()])
def test_the_lists_hold_tokens_as_a_query_has_them(words: frozenset[str]) -> None:
    latin = [word for word in words if word.isascii() and word.isalpha()]
    korean = [word for word in words if not word.isascii()]
    assert len(latin) > 60
    assert all(tokenize(word) == [word] for word in korean)


def test_the_lists_do_not_overlap() -> None:
    assert not query_stopwords() & frame_words()


@settings(deadline=None)
@given(st.text(alphabet=st.characters()))
def test_weights_cover_each_token_once_in_order(text: str) -> None:
    tokens = tokenize(text)
    weights = query_weights(tokens)
    assert list(weights) == list(dict.fromkeys(tokens))
    assert not tokens or any(weights.values())
