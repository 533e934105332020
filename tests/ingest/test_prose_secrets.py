"""Secrets that a sentence tells: the shares of the lists that were kept apart, and laws of what is taken."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import taking
from recallens.ingest.prose_secrets import BIAS, WEIGHTS, candidates
from recallens.ingest.redact import redact

QUESTIONS = Path(__file__).parents[2] / "bench" / "questions"
KEPT_APART = ("apart", "second", "third", "fourth", "fifth", "sixth", "seventh")
SECRET = re.compile(r"{(.+?)}")
MARK = re.compile(r"\[REDACTED:[a-z0-9-]+\]")


def lines(sort: str, *names: str) -> list[tuple[str, str]]:
    """Language and sentence; a secret stands in braces."""
    rows = [line for name in names for line in (QUESTIONS / f"secrets-{name}.tsv").read_text("utf-8").splitlines()]
    parts = [row.split("\t") for row in rows if row and not row.startswith("#")]
    return [(language, text) for kind, language, text in parts if kind == sort]


def is_left(marked: str) -> bool:
    left = redact(SECRET.sub(r"\1", marked))[0]
    return any(secret in left for secret in SECRET.findall(marked))


@pytest.mark.parametrize(("language", "least"), [("en", 0.95), ("ko", 0.98)])
def test_secrets_that_a_sentence_tells_are_taken_out(language: str, least: float) -> None:
    told = [text for of, text in lines("secret", *KEPT_APART) if of == language]
    left = [text for text in told if is_left(text)]
    assert len(told) == 310
    assert len(left) <= (1 - least) * len(told), left


def test_sentences_that_only_speak_of_secrets_stay() -> None:
    honest = [text for _, text in lines("honest", *KEPT_APART)]
    touched = [redact(text)[0] for text in honest if redact(text)[1]]
    assert len(honest) == 390
    assert len(touched) <= 0.01 * len(honest), touched


@pytest.mark.parametrize(
    "text",
    [
        "the password is {PELICAN1987}",
        "Artifactory password is {LANTERN77}",
        "비밀번호는 {MOONLIGHT88}",
        "OTP 시드는 {MFRGGZDFMZTWQ2LK} 적어 둬",
    ],
)
def test_capitals_with_a_number_and_a_seed_are_taken_out(text: str) -> None:
    assert not is_left(text)


@pytest.mark.parametrize(
    "text",
    [
        "The code is 401 when the login fails.",
        "Passwords are hashed with SHA512.",
        "the password reset is tracked in PROJ-1987",
        "the password check is in PR1987",
    ],
)
def test_statuses_algorithms_and_tickets_stay(text: str) -> None:
    assert redact(text) == (text, ())


def test_the_value_alone_is_taken() -> None:
    """Around the secret the sentence stays, letter by letter, in nearly all."""
    told = [text for _, text in lines("secret", *KEPT_APART) if not is_left(text)]
    changed = [text for text in told if MARK.sub("", redact(SECRET.sub(r"\1", text))[0]) != SECRET.sub("", text)]
    assert len(changed) <= 0.03 * len(told), changed


def test_no_sentence_was_fitted_on_that_is_kept_apart() -> None:
    built = {text for sort in ("secret", "honest") for _, text in lines(sort, "build")}
    apart = {text for sort in ("secret", "honest") for _, text in lines(sort, *KEPT_APART)}
    assert not built & apart


def test_a_score_is_the_sum_of_its_cues() -> None:
    text = "the wifi password is bluebird-77"
    (candidate,) = candidates(text, text)
    assert text[candidate.start : candidate.end] == "bluebird-77"
    assert candidate.score == BIAS + sum(WEIGHTS.get(cue, 0.0) for cue in candidate.cues) > 0


SENTENCES = [text for sort in ("secret", "honest") for _, text in lines(sort, "build", *KEPT_APART)]


@taking(200)
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), st.sampled_from([" ", "\n", ". ", ", "]))
def test_redacting_told_secrets_twice_changes_nothing(texts: list[str], between: str) -> None:
    once, _ = redact(SECRET.sub(r"\1", between.join(texts)))
    assert redact(once) == (once, ())


@pytest.mark.parametrize("unit", [
    "the password is ", "pin 4417, ", "비밀번호는 초록나무22야 ", "와이파이 ", "admin/", "code is 12 ",
    "passphrase is a ", "\"password\" ", "use a1b2c3 as the password ", "key: ", "twelve words ", "니모닉 ",
    "보안 질문 답은 뭉치 ", "security question, pet ", "the answer to my first ", "server is a / ", "4471 opens the ",
    "4471 누르면 열려 ", "right 3, left ", "1 2 3 ", "code 1a2b ", "Mr. Big ",
])  # fmt: skip
def test_a_text_full_of_names_takes_linear_time(unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * size)[:size]
        start = time.thread_time()
        redact(text)
        return time.thread_time() - start

    cost(4_000)
    assert cost(40_000) < 35 * max(cost(4_000), 0.002)


@pytest.mark.parametrize(("told", "value"), [("CVC는 802 야.", "802"), ("The CVV is 417", "417"), ("cvc: 901", "901")])
def test_the_code_on_the_back_of_a_card_is_taken(told: str, value: str) -> None:
    assert value not in redact(told)[0]
    assert redact("CVV checks fail in 3 of 100 payments")[1] == ()
