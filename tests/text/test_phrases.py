"""A text is searched only if one of its words begins as a phrase does; that must never lose one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.text.languages import Phrases

WORDS = [
    "why",
    "vs",
    "set",
    "setup",
    "known bugs",
    "compared",
    "caus",
    "causing",
    "İ",
    "왜",
    "`x`",
    "_why",
    "why2",
    "-",
]
PHRASES = Phrases(
    r"""
    why|vs|known (?:issues?|bugs?)|compare[ds]?
    caus(?:es|ing)|set ?up|gotchas?
    """,
    "왜",
    anywhere="`[^`]+`",
)
PLAIN = re.compile(
    r"\b(?:why|vs|known (?:issues?|bugs?)|compare[ds]?|caus(?:es|ing)|set ?up|gotchas?)\b|왜|`[^`]+`", re.DOTALL
)


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=6), st.sampled_from([" ", "", ", ", "-", "\n"]))
def test_it_finds_what_the_plain_pattern_finds(words: list[str], between: str) -> None:
    text = between.join(words)
    assert PHRASES.within(text) == (PLAIN.search(text.lower()) is not None)
    assert PHRASES.within(text.upper()) == (PLAIN.search(text.upper().lower()) is not None)


@pytest.mark.parametrize("pattern", ["do\\w*", "(?:what|which) file", "ab?", "\\d+ days"])
def test_a_pattern_that_begins_with_no_known_letters_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="must begin with a whole word, or with 3 letters of one"):
        Phrases(pattern, "왜")
