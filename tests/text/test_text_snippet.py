"""A snippet looks only at the words that begin as something asked for; it must find what looking at all would find."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recallens.text.snippet import SCANNED_CHARACTERS, beginning, snippet
from recallens.text.stopwords import query_weights
from recallens.text.tokenizer import stem, tokenize, tokens_of

_SUFFIXES = """
ational tional ency ancy ably ently izer ization ation ator alism ality ally fulness ously ousness iveness ivity
bility bly ogy fully lessly ly icate icity ical ful ness ative alize sses ied ies s us eed eedly ed edly ing
ingly y e ement ion ying
"""
_WORDS = """
user users User USERS getUserName HTTPServer parserV2 v2 E11000 2023 a I x1y don't naïve Café 인증 사용자인증을
데이터베이스 dying die deploy deployed Deployment DEPLOYS database databases snake_case_name src/routes/api.ts
happy happily lying tying nobility hoping skies sky generously university
"""


def _made_up_words(count: int) -> list[str]:
    chosen = random.Random(3)
    return [
        "".join(chosen.choices("abcdefghilmnoprstuvyaeiou", k=chosen.randint(1, 5)))
        + "".join(chosen.choices(_SUFFIXES.split(), k=chosen.randint(1, 3)))
        for _ in range(count)
    ]


def test_a_word_begins_as_its_stem_says() -> None:
    words = [
        *_made_up_words(20_000),
        *(word for word in _WORDS.split() if word.isascii() and word.isalpha() and word.islower()),
    ]
    assert [word for word in words if not word.startswith(beginning(stem(word)))] == []


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("Dying batteries", "die", "<mark>Dying</mark> batteries"),
        ("Happiness, happily", "happy", "<mark>Happiness</mark>, <mark>happily</mark>"),
        ("call getUserName twice", "user", "call get<mark>User</mark>Name twice"),
        ("the HTTPServer and a parserV2", "server", "the HTTP<mark>Server</mark> and a parserV2"),
        ("E11000 in 2023", "2023 e11000", "<mark>E11000</mark> in <mark>2023</mark>"),
        ("사용자인증을 고쳤다", "인증", "사용자<mark>인증</mark>을 고쳤다"),
        ("Straße und Café", "café", "Straße und <mark>Café</mark>"),
        ("authentication config", "auth conf", "<mark>authentication</mark> <mark>config</mark>"),
        ("nothing of the kind", "postgres", ""),
    ],
)
def test_what_is_marked(text: str, asked: str, expected: str) -> None:
    assert snippet(text, tokenize(asked)) == expected


def test_no_word_is_missed() -> None:
    chosen = random.Random(5)
    for _ in range(400):
        text = " ".join(chosen.choices(_WORDS.split(), k=chosen.randint(1, 20)))
        asked = tokenize(" ".join(chosen.choices(_WORDS.split(), k=chosen.randint(1, 6))))
        wanted = {word for word, weight in query_weights(asked).items() if weight > 0}
        runs = text.replace("_", " ").replace("/", " ").replace(".", " ").replace("'", " ").split()
        held = any(wanted & set(tokens_of(run)) for run in runs)
        assert not held or "<mark>" in snippet(text, asked), (text, asked)


ASCII_TEXT = st.text(alphabet="abcUSERHTv02 ._-/'+#(<", max_size=40)
ASCII_WORDS = st.sampled_from([word for word in _WORDS.split() if word.isascii()])


@given(
    st.lists(st.sampled_from([word for word in _WORDS.split() if word.isascii()]), max_size=12), ASCII_TEXT, ASCII_TEXT
)
@example(["use", ".net", "and"], "C++ or c#", ".NET c++ __init__ use")
def test_plain_text_and_any_other_are_looked_through_alike(words: list[str], more: str, asked: str) -> None:
    """Plain ASCII is looked through from the words that were asked for; a text with an accent, from its own words."""
    text, wanted = " ".join([*words, more]), tokenize(f"{asked} {' '.join(words[:3])}")
    assert snippet(f"{text} é", wanted).removesuffix(" é") == snippet(text, wanted)


def test_one_long_run_is_looked_through_once() -> None:
    text = "e" * SCANNED_CHARACTERS
    started = time.process_time()
    assert snippet(text, ["e", "ee", "x"]) == ""
    assert time.process_time() - started < 0.5
