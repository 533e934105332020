"""No text makes a reader slow: ten times as long a text takes about ten times as long, whatever it repeats."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date

import pytest

from recallens.ingest import classification, corrections, dedupe, draft, redact, suspicion, transcript
from recallens.ingest.vault import links, notes, sections
from recallens.recall import conflicts, facets, plan
from recallens.render import markup
from recallens.text import (
    annotation,
    answers,
    days_told,
    excerpt,
    normalize,
    sentences,
    snippet,
    stopwords,
    times,
    token_count,
    tokenizer,
)

TODAY = date(2026, 11, 17)
NOW = 1_794_000_000_000
SHORT, LONG = 800, 8_000  # as long as a question may be
# Linear is 10; a square is 100. A small text has a cost of its own, and a busy machine a noise of its own.
MOST = 35

READERS: dict[str, Callable[[str], object]] = {
    "annotate": annotation.annotate,
    "answer types": answers.answer_types,
    "answers": lambda text: [answers.answers_about(kind, text, ("cache",), lambda _: False) for kind in answers.KINDS],
    "client tags": transcript.without_client_tags,
    "classify": classification.classify_sector,
    "clean": normalize.clean,
    "conflicts": conflicts.marked,
    "corrections": corrections.correction_in,
    "document": draft.sections,
    "event": lambda text: times.event_phrase(text, TODAY),
    "excerpt": lambda text: excerpt.answering(text, {"cache": 1.0, "일": 0.5}, tokens=60),
    "facets": lambda text: facets.facets_of(text, annotation.annotate(text)),
    "html": markup.to_html,
    "links": links.links,
    "log": lambda text: excerpt.log_excerpt(text, tokens=200, match="error"),
    "measure": lambda text: plan.measure(text, dated=False),
    "note": lambda text: notes.read_note("a.md", text.encode(), now=NOW),
    "numbers": lambda text: dedupe.same_numbers(text, text),
    "redact": redact.redact,
    "sections": sections.markdown_sections,
    "sentences": sentences.sentences,
    "snippet": lambda text: snippet.snippet(text, ["cache", "일"]),
    "stopwords": lambda text: stopwords.names_in(text, {"ann": 1}),
    "times": lambda text: times.time_references(text, TODAY),
    "told days": lambda text: days_told.days_told(text, NOW),
    "suspicions": suspicion.suspicions,
    "tokenize": tokenizer.tokenize,
    "tokens": token_count.count_tokens,
}
UNITS = (
    "년 월 일 ", "3월 4일 ", "지난 주 ", "last ", "3 weeks ago ", "2026-03-04 ", "before the ", "이후 ", " ", " \n",
    "[[", "](", "`", "# ", "- ", "<!--", "|", "(", "password: ", "비밀번호는 ", "AKIA", "eyJ", "a_", "src/a.py:12 ",
    "가나다라마바사", "배포후에", "하",
    "the pin is 4417, ", "| password | pin |\n", "password\n", "<password>", '\\"password\\":',
    "와이파이는 ", "passphrase is a ",
    "and ", "그리고 ", "? ", "9", "<system-reminder>", "<hook_context></hook_context", "<b>", "<<<<<<<\n=======\n",
)  # fmt: skip


def cost(reader: Callable[[str], object], unit: str, size: int) -> float:
    text = (unit * size)[:size] + "."
    start = time.thread_time()
    reader(text)
    return time.thread_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_ten_times_the_text_takes_about_ten_times_as_long(name: str) -> None:
    reader = READERS[name]
    reader("warm up on 3월 4일, [[x]]")
    slow = []
    for unit in UNITS:
        long = cost(reader, unit, LONG)
        if long > 0.05 and long > MOST * max(cost(reader, unit, SHORT), 0.001):
            slow.append((unit, long))
    assert slow == []


def test_a_turn_of_unclosed_tags_is_read_in_one_pass() -> None:
    """It is as long as a file of a transcript may be, where a square takes a minute and more."""
    text = "<system-reminder>" * 20_000
    start = time.thread_time()
    assert transcript.without_client_tags(text) == text
    assert time.thread_time() - start < 1
    tagged = f"a<hook_context>x{text}</hook_context>b<INSTRUCTIONS>c</INSTRUCTIONS><user_instructions>d"
    assert transcript.without_client_tags(tagged) == "ab<user_instructions>d"
