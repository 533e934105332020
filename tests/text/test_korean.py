from __future__ import annotations

import pytest

from recallens.text.languages.korean import joins_two, noun_of, noun_phrases, nouns


@pytest.mark.parametrize(
    ("word", "noun"),
    [("인증을", "인증"), ("아키텍처와", "아키텍처"), ("프로젝트의", "프로젝트"), ("서버에서는", "서버"),
     ("승인하나요", "승인"), ("처리하는", "처리"), ("배포", "배포"), ("무엇을", ""), ("누가", ""), ("3개월간", ""),
     ("고쳤나요", ""), ("어떻게", "")],
)  # fmt: skip
def test_a_word_gives_its_noun(word: str, noun: str) -> None:
    assert noun_of(word)[0] == noun


def test_nouns_that_stand_together_are_one_name() -> None:
    text = "이 프로젝트의 인증 시스템 전체 아키텍처와 최근 3개월간 변경 이력"
    assert noun_phrases(text) == ["프로젝트", "인증 시스템 아키텍처", "변경 이력"]
    assert nouns(text) == ["프로젝트", "인증", "시스템", "아키텍처", "변경", "이력"]
    assert joins_two(text)


def test_english_has_no_korean_nouns() -> None:
    assert nouns("the whole architecture") == []
