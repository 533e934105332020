"""A text within so many tokens."""

from hypothesis import given
from hypothesis import strategies as st

from recallens.text.token_count import count_tokens, fit

TEXT = "The cache holds lookups for a minute. It was five before the incident. Nobody misses the old value."
KOREAN = "토큰은 한 시간 뒤에 만료된다. 갱신 토큰은 한 번만 쓸 수 있다. 그래서 기기마다 따로 준다."


def test_what_fits_is_left_as_it_is() -> None:
    assert fit(f"  {TEXT}\n", 100) == (TEXT, False)


def test_a_cut_ends_at_a_sentence_and_says_so() -> None:
    assert fit(TEXT, 12) == ("The cache holds lookups for a minute. …", True)
    assert fit(TEXT, 20) == ("The cache holds lookups for a minute. It was five before the incident. …", True)
    assert fit(KOREAN, 22) == ("토큰은 한 시간 뒤에 만료된다. …", True)


def test_a_sentence_that_is_too_long_is_cut_at_a_word() -> None:
    assert fit(TEXT, 6) == ("The cache holds lookups…", True)
    assert fit("가" * 200, 5)[0].endswith("…")


def test_room_for_nothing_is_nothing() -> None:
    assert fit(TEXT, 0) == ("", True)
    assert fit("", 0) == ("", False)


@given(st.text(max_size=300), st.integers(0, 60))
def test_it_always_fits_and_is_a_beginning(text: str, tokens: int) -> None:
    shorter, cut = fit(text, tokens)
    assert count_tokens(shorter) <= tokens
    assert shorter == text.strip() if not cut else text.strip().startswith(shorter.rstrip("…").rstrip())
