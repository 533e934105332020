from __future__ import annotations

import pytest

from recallens.text.languages import spaced
from recallens.text.languages.korean import joins_two, noun_of, noun_phrases, nouns, stem
from recallens.text.wordforms import SpokenWords


@pytest.mark.parametrize(
    ("word", "noun"),
    [("인증을", "인증"), ("아키텍처와", "아키텍처"), ("프로젝트의", "프로젝트"), ("서버에서는", "서버"),
     ("승인하나요", "승인"), ("처리하는", "처리"), ("배포", "배포"), ("무엇을", ""), ("누가", ""), ("3개월간", ""),
     ("고쳤나요", ""), ("어떻게", ""), ("며칠이야", ""), ("얼마예요", ""), ("어디로", ""), ("뭐야", ""), ("있어", ""),
     ("가능해", ""), ("켜져", ""), ("갈아", ""), ("넘어서", ""), ("바꿨지", ""), ("명이었어", ""), ("풀려요", ""),
     ("취소돼", "취소"), ("전화해", "전화"), ("장애나면", "장애"), ("검색어", "검색어"), ("펌웨어", "펌웨어"),
     ("첫화면", "첫화면"), ("침수피해", "침수피해"), ("홈페이지", "홈페이지"), ("안내서", "안내서"), ("대여", "대여")],
)  # fmt: skip
def test_a_word_gives_its_noun(word: str, noun: str) -> None:
    assert noun_of(word)[0] == noun


def test_nouns_that_stand_together_are_one_name() -> None:
    text = "이 프로젝트의 인증 시스템 전체 아키텍처와 최근 3개월간 변경 이력"
    assert noun_phrases(text) == ["프로젝트", "인증 시스템 아키텍처", "변경 이력"]
    assert nouns(text) == ["프로젝트", "인증", "시스템", "아키텍처", "변경", "이력"]
    assert joins_two(text)


def test_what_a_question_asks_for_is_named_and_how_it_asks_is_not() -> None:
    assert nouns("도서관 카페는 몇 시에 닫아") == ["도서관", "카페"]
    assert nouns("꿀 언제 수확해") == ["꿀", "수확"]
    assert nouns("예약 알림은 왜 두 번 가고 연체료는 얼마야?") == ["예약", "알림", "연체료"]


def test_english_has_no_korean_nouns() -> None:
    assert nouns("the whole architecture") == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("손님용 비밀번호는 매달 바뀐다.", "바뀌어"),
        ("서른 장부터 무료로 가져간다.", "무료야"),
        ("손님 세 분이 오셨다.", "손님들한테"),
    ],
)
def test_a_word_is_said_in_whatever_form(text: str, word: str) -> None:
    assert SpokenWords(text).holds(word)
    assert not SpokenWords("창고 정문은 새벽에 연다.").holds(word)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("예약취소언제까지", "예약취소 언제까지"),
        ("키오스크몇대야", "키오스크 몇대야"),
        ("축의금장부누가갖고있지", "축의금장부 누가 갖고있지"),
        ("배송비추가얼마", "배송비추가 얼마"),
        ("나루물류요청한도", "나루물류요청한도"),
        ("화면이왜곡되는문제", "화면이왜곡되는문제"),
        ("예약 취소 언제까지", "예약 취소 언제까지"),
        ("when is the deadline", "when is the deadline"),
    ],
)
def test_in_a_question_without_spaces_what_asks_is_a_word_of_its_own(written: str, meant: str) -> None:
    assert spaced(written) == meant


@pytest.mark.parametrize("noun", [
    "주기", "결제주기", "갱신주기", "보기", "쓰기", "크기", "굵기", "무게", "가게", "처음", "마음",
    "계산기", "세탁기", "이야기", "쓰레기",
    "카메라", "오페라", "바나나", "국면", "정면", "후면", "화면", "인증서", "냉장고", "위치", "도구", "시기",
])  # fmt: skip
def test_a_noun_that_ends_as_a_verb_or_a_particle_does_is_named_whole(noun: str) -> None:
    topic = f"{noun}{'은' if (ord(noun[-1]) - ord('가')) % 28 else '는'}"
    assert noun_of(topic)[0] == noun_of(noun)[0] == noun
    assert stem(topic) == stem(noun)
    assert stem(noun) in (noun, "")


def test_verbs_and_particles_lose_their_endings_as_before() -> None:
    assert [stem(word) for word in ("갱신하기", "갱신했다", "인증서의", "서버에서", "도서관에서도")] == [
        "갱신", "갱신", "인증서", "서버", "도서관",
    ]  # fmt: skip
    assert noun_of("바뀌면")[0] == noun_of("바꾸면")[0] == ""
