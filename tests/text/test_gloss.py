"""A Korean text word by word in English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.text.languages.gloss import gloss


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("The fire drill is on Monday.", "The fire drill is on Monday."),
        ("월급날이 주말이면?", "payday weekend ?"),
        ("받기까지 얼마나 걸려?", "receive get how long take took ?"),
        ("3월 11일 오후 6시 전까지", "March 11 day afternoon pm 6 o'clock before"),
        ("목요일에만 열린다", "thursday open opened"),
        ("점심값 한도 얼마야", "lunch price limit quota how much"),
        ("성림교회 보수 견적", "Seongrim church repair maintenance quote estimate"),
        ("용도변경 서류 언제까지 내야 해?", "use change document paper when pay paid year ?"),
        ("주문하면 되나요", "order"),
        ("컴포넌트 렌더링", "component rendering render"),
        ("건축사", "architecture"),
        ("하로미어", "Haromieo"),
    ],
)
def test_every_word_is_told_in_english(text: str, english: str) -> None:
    assert gloss(text) == english


@given(st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3) | st.sampled_from(" 0123월일.a")))
def test_no_syllable_is_left_and_the_rest_stays(text: str) -> None:
    told = gloss(text)
    assert not any("가" <= letter <= "힣" for letter in told)
    assert told.count(".") == text.count(".")
