from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.text.sentences import cut_at_word, first_sentence, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith left. He was tired!", ["Dr. Smith left.", "He was tired!"]),
        ("Use v1.2.3, e.g. for tests. Then stop", ["Use v1.2.3, e.g. for tests.", "Then stop"]),
        ('He said "Hi." Then he left.', ['He said "Hi."', "Then he left."]),
        ("John F. Kennedy spoke. Why? Because...", ["John F. Kennedy spoke.", "Why?", "Because..."]),
        ("오늘은 갔다. 내일도 간다!", ["오늘은 갔다.", "내일도 간다!"]),
        ("오늘은 갔다.그리고 왔다.", ["오늘은 갔다.", "그리고 왔다."]),
        ("これは文です。次の文。", ["これは文です。", "次の文。"]),
        ("Title\n\nBody goes\non here.", ["Title", "Body goes\non here."]),
        ("Steps:\n1. Build it\n2. Ship it", ["Steps:", "1. Build it", "2. Ship it"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_the_first_sentence_is_one_line() -> None:
    assert first_sentence("  We moved\nto Postgres. It was time.", 80) == "We moved to Postgres."


def test_a_long_sentence_is_cut_at_a_word() -> None:
    assert first_sentence("Hello wonderful world of things that go on", 20) == "Hello wonderful…"


def test_text_without_words_is_cut_at_the_limit() -> None:
    assert first_sentence("가나다라마바사아자차", 5) == "가나다라…"


def test_no_room_no_text() -> None:
    assert first_sentence("Hello", 0) == ""
    assert cut_at_word("Hello", 1) == "…"


@given(st.text(alphabet=st.characters()), st.integers(0, 60))
def test_the_first_sentence_stays_within_its_limit(text: str, limit: int) -> None:
    line = first_sentence(text, limit)
    assert len(line) <= limit
    assert "\n" not in line


@given(st.text(alphabet="ab .!?\n가다\"'1)"))
def test_sentences_lose_no_visible_character(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("unit", [".", "a.", '."', "\n", "\n ", "다."])
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    began = time.perf_counter()
    sentences(unit * 300_000 + "x")
    assert time.perf_counter() - began < 10
