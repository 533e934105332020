from __future__ import annotations

from recallens.text.stopwords import MOST_PER_WORD, expansions
from recallens.text.tokenizer import tokenize


def expanded(text: str) -> dict[str, tuple[str, ...]]:
    return expansions(text, tokenize(text))


def test_each_language_brings_the_other() -> None:
    assert "인증" in expanded("authentication flow")["authent"]
    assert "authentication" in expanded("인증을 처리하는 방법")["인증"]


def test_it_works_both_ways() -> None:
    for word, other in (("deploy", "배포"), ("rollback", "롤백"), ("database", "데이터베이스")):
        assert other in expanded(word)[tokenize(word)[0]]
        assert word in expanded(f"{other}를 바꾼다")[other]


def test_at_most_three_a_word_and_never_itself() -> None:
    for word, others in expanded("authentication deploy config error performance trip").items():
        assert 1 <= len(others) <= MOST_PER_WORD
        assert all(tokenize(other) != [word] for other in others)


def test_a_piece_of_a_korean_word_brings_nothing() -> None:
    assert "로그" not in expanded("로그인이 안 된다")  # 로그 is a syllable pair of 로그인, and no word of the question
