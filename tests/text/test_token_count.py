from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from inspect import getsource

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public

from laws import taking
from recallens.text.token_count import SLICE, _encoding, count_tokens, estimate_tokens, fit

ENGLISH = (
    "We decided to move the billing service to its own database, because the nightly reports kept locking the "
    "orders table. The migration runs in two steps, and the second one needs a short window without writes. "
)
KOREAN = (
    "우리는 야간 보고서가 주문 테이블을 계속 잠그기 때문에 결제 서비스를 별도의 데이터베이스로 옮기기로 결정했다. "
    "이전은 두 단계로 진행되며 두 번째 단계에서는 잠시 쓰기를 멈추어야 한다. "
)


@pytest.fixture(scope="module")
def reference() -> tiktoken.Encoding:
    """tiktoken's own definition, with our vocabulary in the place of the one that it would fetch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: _encoding()._mergeable_ranks)
        return tiktoken.Encoding(**openai_public.o200k_base())


def test_the_vocabulary_is_the_published_one() -> None:
    ranks = _encoding()._mergeable_ranks
    published = b"".join(b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    assert sha256(published).hexdigest() in getsource(openai_public.o200k_base)


def test_known_counts() -> None:
    assert count_tokens("") == 0
    assert count_tokens("hello world") == 2
    assert count_tokens("사용자 인증") == 3


@taking(50)
@given(st.text())
def test_counts_are_those_of_the_reference_encoding(reference: tiktoken.Encoding, text: str) -> None:
    assert count_tokens(text) == len(reference.encode_ordinary(text))


def test_special_tokens_are_plain_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


def test_slicing_changes_no_count_of_running_text(reference: tiktoken.Encoding) -> None:
    text = ENGLISH * 400
    assert len(text) > 4 * SLICE
    assert count_tokens(text) == len(reference.encode_ordinary(text))


@settings(deadline=None)
@given(st.text(alphabet=st.characters()))
def test_any_text_has_a_count_and_an_estimate(text: str) -> None:
    assert count_tokens(text) >= 0
    assert estimate_tokens(text) >= 0


@pytest.mark.parametrize("text", [ENGLISH, KOREAN])
def test_the_estimate_is_near_the_count(text: str) -> None:
    assert estimate_tokens(text) == pytest.approx(count_tokens(text), rel=0.2)


SHORT = "The cache holds lookups for a minute. It was five before the incident. Nobody misses the old value."
SHORT_KOREAN = "토큰은 한 시간 뒤에 만료된다. 갱신 토큰은 한 번만 쓸 수 있다. 그래서 기기마다 따로 준다."


def test_what_fits_is_left_as_it_is() -> None:
    assert fit(f"  {SHORT}\n", 100) == (SHORT, False)


def test_a_cut_ends_at_a_sentence_and_says_so() -> None:
    assert fit(SHORT, 12) == ("The cache holds lookups for a minute. …", True)
    assert fit(SHORT, 20) == ("The cache holds lookups for a minute. It was five before the incident. …", True)
    assert fit(SHORT_KOREAN, 22) == ("토큰은 한 시간 뒤에 만료된다. …", True)


def test_a_sentence_that_is_too_long_is_cut_at_a_word() -> None:
    assert fit(SHORT, 6) == ("The cache holds lookups…", True)
    assert fit("가" * 200, 5)[0].endswith("…")


def test_room_for_nothing_is_nothing() -> None:
    assert fit(SHORT, 0) == ("", True)
    assert fit("", 0) == ("", False)


@given(st.text(max_size=300), st.integers(0, 60))
def test_it_always_fits_and_is_a_beginning(text: str, tokens: int) -> None:
    shorter, cut = fit(text, tokens)
    assert count_tokens(shorter) <= tokens
    assert shorter == text.strip() if not cut else text.strip().startswith(shorter.rstrip("…").rstrip())
