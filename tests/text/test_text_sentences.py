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


STEPS = (
    "Adding a new gauge station: 1. insert the row into stations with its datum offset. 2. run `twctl calibrate`"
    " against two known tides. 3. turn on publishing with `twctl enable CODE`. 4. watch the residual plot for a day."
)


def test_the_number_of_a_step_stays_with_it_though_all_are_told_in_a_row() -> None:
    told = sentences(STEPS)
    assert [one.split(" ")[0] for one in told] == ["Adding", "1.", "2.", "3.", "4."]
    assert sentences("재처리 절차: 1. 배치를 멈춘다. 2. 다시 계산한다. 3. 승인받는다.") == [
        "재처리 절차:", "1. 배치를 멈춘다.", "2. 다시 계산한다.", "3. 승인받는다.",
    ]  # fmt: skip
    assert sentences("First 1) stop it. Then 2. start it! 3. Look.")[-1] == "3. Look."
    assert sentences("회의는 2026. 11. 5. 에 있다. 끝.")[-1] == "끝."
    assert sentences("We sold 12. Nobody came. Of 40 seats, 3. The rest was empty.")[:2] == [
        "We sold 12.",
        "Nobody came.",
    ]
    assert sentences("Stock: 12. Ordered on Monday.") == ["Stock: 12.", "Ordered on Monday."]


def test_a_title_ends_before_the_steps() -> None:
    assert first_sentence(STEPS, 80) == "Adding a new gauge station"
    assert first_sentence("Note: the cache is warm. It stays so.", 80) == "Note: the cache is warm."
