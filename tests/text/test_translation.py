"""Words that are said in another language: by their sound, and by the list of common words."""

from __future__ import annotations

from random import Random

import pytest

from recallens.text.languages.korean_sounds import opening, openings, sound_alike
from recallens.text.languages.korean_words import WORDS, korean_english
from recallens.text.languages.translation import TranslatedWords, words_in_translation
from recallens.text.tokenizer import tokenize

ALIKE = """
스테이징 staging, 데이터베이스 database, 서버 server, 캐시 cache, 포트 port, 파서 parser, 스키마 schema, 플래그 flag,
인덱스 index, 이메일 email, 다니엘 Daniel, 프랑크푸르트 Frankfurt, 부산 Busan, 지수 Jisoo, 미나 Mina, 이미지 image,
파이썬 Python, 쿠버네티스 Kubernetes, 트랜잭션 transaction, 백업 backup, 매니저 manager, 초콜릿 chocolate, 백신 vaccine,
인천 Incheon, 현우 Hyunwoo, 서연 Seoyeon, 토마스 Thomas
"""
UNLIKE = """
서버 cache, 포트 butter, 부산 Boston, 다니엘 Dakota, 캐시 coach, 필터 field, 이메일 model, 토마스 Thames,
백업 bakery, 지수 juice, 스키마 scheme, 이미지 edge, 미나 moon
"""


def pairs(table: str) -> list[list[str]]:
    return [pair.split() for pair in table.split(",")]


@pytest.mark.parametrize(("hangul", "latin"), pairs(ALIKE))
def test_what_is_borrowed_sounds_alike(hangul: str, latin: str) -> None:
    assert sound_alike(hangul, latin)


@pytest.mark.parametrize(("hangul", "latin"), pairs(UNLIKE))
def test_what_only_begins_alike_does_not(hangul: str, latin: str) -> None:
    assert not sound_alike(hangul, latin)


def test_borrowed_words_sound_like_nothing_else() -> None:
    words = pairs(ALIKE)
    others = [(one[0], two[1]) for one in words for two in words if one is not two and sound_alike(one[0], two[1])]
    assert others == []


def test_what_sounds_alike_is_never_passed_over_for_its_first_consonants() -> None:
    listed = [(korean, word + ending) for korean, words in korean_english().items() for word in words
              for ending in ("", "s")]  # fmt: skip
    alike = [pair for pair in listed if sound_alike(*pair)]
    assert len(alike) > 2_000
    assert [(hangul, latin) for hangul, latin in alike if not opening(hangul) & openings(latin)] == []


@pytest.mark.parametrize("seed", range(20))
def test_a_text_says_a_name_where_any_of_its_words_sounds_like_it(seed: int) -> None:
    chance, words = Random(seed), [*pairs(ALIKE), *pairs(UNLIKE)]
    for own, other in ((0, 1), (1, 0)):
        names = [pair[own] for pair in words if not words_in_translation(pair[own])]
        text = chance.sample([pair[other] for pair in words], 8)
        for name in names:
            alike = [sound_alike(*((name, word) if own == 0 else (word, name))) for word in text]
            assert TranslatedWords(" ".join(text)).hold(name) == any(alike), (name, text)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("주차", "The car park costs 80 euros a month"),
        ("급여명세서", "Salary slips are sent as PDF"),
        ("소방 훈련", "The fire drill takes place in the courtyard"),
        ("다니엘", "Daniel prefers to be called in the afternoon"),
        ("빌려", "We hire a crane from the yard next door"),
        ("느려졌어", "Proofing is slow at night"),
        ("차로", "Cream travels in the big car"),
        ("repaired", "지붕을 지난주에 고쳤다"),
        ("chains", "체인은 지게차 뒤에 있다"),
        ("roof", "옥상 정원은 아침 여섯 시에 물을 준다"),
        ("warehouses", "옛 창고는 팔았다"),
        ("Daniel", "다니엘은 오후에 전화받는 것을 좋아한다"),
    ],
)
def test_a_text_says_it_in_the_other_language(word: str, text: str) -> None:
    assert TranslatedWords(text).hold(word)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("급여명세서", "Salaries are paid on the last day"),
        ("소방 훈련", "The fire alarm is tested on Mondays"),
        ("roof", "마당 뒤의 정원"),
        ("cow", "소방 훈련은 마당에서 한다"),
        ("주차", "창고 주차는 무료다"),
        ("warehouse", "The warehouse was sold"),
        ("", "Nothing is asked"),
    ],
)
def test_what_it_does_not_say(word: str, text: str) -> None:
    assert not TranslatedWords(text).hold(word)


def test_the_third_time_is_no_car() -> None:
    assert TranslatedWords("빌린 차를 돌려주었다").mean("자동차")
    assert not TranslatedWords("신청 화면 3차를 배포했다").mean("자동차")


def test_the_list_has_each_korean_word_once_and_english_ones_that_are_words() -> None:
    lines = [line.split() for line in WORDS.read_text(encoding="utf-8").splitlines()]
    assert len({korean for korean, *_ in lines}) == len(lines)
    assert all(english and all(map(tokenize, english)) for _, *english in lines)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("냉장고는", "fridg"),
        ("나눠", "split"),
        ("추웠다", "cold"),
        ("몰랐어", "unknown"),
        ("generators", "발전"),
        ("발전기", "generat"),
    ],
)
def test_the_words_of_the_other_language_are_looked_up(word: str, said: str) -> None:
    assert said in words_in_translation(word)
