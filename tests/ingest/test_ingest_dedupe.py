from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallens.ingest.dedupe import (
    JACCARD_FLOOR,
    content_hash,
    is_near_duplicate,
    jaccard,
    same_numbers,
    same_polarity,
)
from recallens.text.content import gist
from recallens.text.tokenizer import tokenize

LONG = (
    "The billing service writes every invoice to the ledger before it answers, and a nightly job compares the ledger "
    "with the bank statement, reports each difference to the finance channel, and keeps the report for a year"
)


def near(a: str, b: str) -> bool:
    return is_near_duplicate(a, tokenize(a), b, tokenize(b))


def test_the_hash_ignores_composition_and_outer_blanks() -> None:
    assert content_hash(" Cafe\u0301\n") == content_hash("Café")
    assert content_hash("Café") != content_hash("café")
    assert content_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_the_gist_is_the_same_in_another_process() -> None:
    code = (
        "from recallens.text.content import gist; print(gist('인증 서버', ['인증', '서버']), gist('a b', ['a', 'b']))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert other.stdout.split() == [str(gist("인증 서버", [])), str(gist("a b", ["a", "b"]))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The worker retries each job", "worker retrying the jobs!"),
        ("로그를 서버에 보관한다", "서버에 로그는 보관합니다."),
        ("", "the of and"),
    ],
)
def test_the_gist_knows_no_order_and_no_forms(one: str, other: str) -> None:
    assert gist(one, tokenize(one)) == gist(other, tokenize(other))


@settings(deadline=None)
@given(st.text(alphabet=st.characters()), st.text(alphabet=st.characters()))
def test_what_is_nearly_the_same_has_the_same_gist(a: str, b: str) -> None:
    for one, other in ((a, b), (a, f"{a}."), (a, a.upper())):
        if near(one, other):
            assert gist(one, tokenize(one)) == gist(other, tokenize(other))


def test_jaccard_is_of_sets() -> None:
    assert jaccard(["a", "a", "b"], ["b", "c"]) == pytest.approx(1 / 3)
    assert jaccard([], []) == 0.0


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("It is safe", "It is safe now", True),
        ("It is safe", "It is not safe", False),
        ("It is not safe", "It isn't safe", True),
        ("You cannot merge", "You can't merge", True),
        ("Never merge on Friday", "Merge on Friday", False),
        ("Runs with cache", "Runs without cache", False),
        ("The flag is enabled", "The flag is disabled", False),
        ("It is not never done", "It is done", False),
        ("캐시를 사용한다", "캐시를 사용하지 않는다", False),
        ("로그인이 된다", "로그인이 안 된다", False),
        ("안전한 서버", "안내 서버", True),
        ("접근을 허용한다", "접근을 금지한다", False),
        ("테스트가 있다", "테스트가 없다", False),
    ],
)
def test_polarity(a: str, b: str, same: bool) -> None:
    assert same_polarity(a, b) is same
    assert same_polarity(b, a) is same


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("port 8080.", "port 8080", True),
        ("port 8080", "port 8081", False),
        ("uses v1.2.3", "uses v1.2.4", False),
        ("error E11000", "error E11001", False),
        ("A has 3, B has 5", "A has 5, B has 3", False),
        ("three retries", "five retries", False),
        ("on Monday", "on Tuesday", False),
        ("포트는 8080이다", "포트는 8080 이다", True),
        ("no numbers", "none here", True),
    ],
)
def test_numbers(a: str, b: str, same: bool) -> None:
    assert same_numbers(a, b) is same


def test_an_edit_of_a_long_text_merges() -> None:
    assert near(LONG, LONG.replace("a year", "one year"))
    assert near(LONG, LONG + ".")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("writes every", "never writes every"),
        ("before", "after"),
        ("a year", "3 years"),
        ("keeps", "does not keep"),
    ],
)
def test_an_edit_that_changes_the_meaning_does_not(old: str, new: str) -> None:
    assert not near(LONG, LONG.replace(old, new))


def test_a_short_text_merges_only_with_itself() -> None:
    assert near("Use tabs for indentation", "use tabs, for indentation!")
    assert not near("Use tabs for indentation", "Use spaces for indentation")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("서울 창고는 매주 월요일에 재고를 세고 결과를 엑셀로 공유한다.",
         "부산 창고는 매주 월요일에 재고를 세고 결과를 엑셀로 공유한다."),
        ("운영 서버의 로그는 30일 동안 보관하고 그 뒤에는 삭제한다.",
         "개발 서버의 로그는 30일 동안 보관하고 그 뒤에는 삭제한다."),
        ("운영에서는 반드시 켜야 하고 개발에서는 꺼야 한다고 정했다.",
         "운영에서는 반드시 꺼야 하고 개발에서는 켜야 한다고 정했다."),
        ("환불 요청은 고객센터에서 승인하고 다음 날 카드사로 보낸다.",
         "환불 요청은 고객센터에서 거절하고 다음 날 카드사로 보낸다."),
        ("The Seoul warehouse counts its stock every Monday at 9 and shares the result as a spreadsheet.",
         "The Busan warehouse counts its stock every Monday at 9 and shares the result as a spreadsheet."),
        (LONG, LONG.replace("billing", "shipping")),
        (LONG, f"{LONG} in Busan"),
    ],
)  # fmt: skip
def test_another_subject_is_another_fact(one: str, other: str) -> None:
    assert not near(one, other)
    assert not near(other, one)


def test_texts_without_tokens_never_merge() -> None:
    assert not near("😀", "😀")
    assert not near("", "")


def test_the_floor_itself_does_not_merge_and_what_exceeds_it_does() -> None:
    small = ["the", "of", "to", "in", "for", "on", "at", "by"]
    at_floor, above = small[:8], [*small[:8], "an"]
    assert jaccard(["key", *at_floor[:7], "is"], ["key", *at_floor[:7], "was"]) == JACCARD_FLOOR
    assert not is_near_duplicate("t", ["key", *at_floor[:7], "is"], "t", ["key", *at_floor[:7], "was"])
    assert is_near_duplicate("t", ["key", *above, "is"], "t", ["key", *above, "was"])


@settings(deadline=None)
@given(st.text(alphabet=st.characters()), st.text(alphabet=st.characters()))
def test_nearness_is_symmetric_and_reflexive(a: str, b: str) -> None:
    assert near(a, b) == near(b, a)
    assert near(a, a) == bool(tokenize(a))
