"""Markdown as people read it, and the sentence that answers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.render.markup import plain_text, to_html
from recallens.render.verdict import excerpt, how_sure, marked_excerpt, verdict_of
from standing import Open

NOTE = (
    "# ADR 2: Cache for 300 seconds\n\n> Superseded by [[adr-003|ADR 3]].\n\n**Decision.** Kept in `Redis` for"
    " *300* seconds, see [the bill](https://example.test/x_(y)).\n\n1. one\n2. two\n   and more\n\n"
    "```\n# no **mark**\n```\n"
)


def test_plain_text_has_no_marks_and_no_title_twice() -> None:
    assert plain_text(NOTE, "Decisions: ADR 2: Cache for 300 seconds") == (
        "Superseded by ADR 3.\n\nDecision. Kept in `Redis` for 300 seconds, see the bill.\n\n"
        "1. one\n\n2. two\nand more\n\n"
        "# no **mark**"
    )
    assert plain_text(NOTE, "Another").startswith("ADR 2: Cache for 300 seconds\n")


def test_html_has_the_elements_that_the_marks_mean() -> None:
    html = to_html(NOTE, "ADR 2: Cache for 300 seconds")
    assert html == (
        "<blockquote><p>Superseded by ADR 3.</p></blockquote><p><strong>Decision.</strong> Kept in <code>Redis</code> "
        "for <em>300</em> seconds, see the bill.</p><ol><li>one</li><li>two\nand more</li></ol>"
        "<pre><code># no **mark**</code></pre>"
    )


@pytest.mark.parametrize("text", ["__init__ and a*b*c", "2 * 3 * 4", "snake_case_name", "C:\\path [x] (y)"])
def test_what_is_no_mark_stays(text: str) -> None:
    assert plain_text(text) == text


@given(st.text(st.sampled_from("ab <>&\"'*`[]()|#>-1.\n_~한")))
def test_no_text_makes_an_element_of_its_own(text: str) -> None:
    tags = set(re.findall(r"<[^>]*>?", to_html(text)))
    names = "p|ul|ol|li|blockquote|pre|code|strong|em|h[3-6]"
    assert all(re.fullmatch(rf"</?(?:{names})>", tag) for tag in tags)


def test_the_answer_is_the_sentence_that_answers(opened: Open) -> None:
    engine = opened()
    filler = "The team met on Monday and talked about many other things that matter little here. " * 6
    long = f"# Webhooks\n\n{filler}A failed webhook is attempted **eight** times over a day. {filler}"
    engine.remember(long, title="Webhooks")
    verdict = verdict_of(engine.search("how many times is a failed webhook attempted", certify=True))
    assert verdict.answered
    assert verdict.source is not None
    assert "A failed webhook is attempted eight times over a day." in verdict.sentence
    assert "#" not in verdict.sentence
    assert "*" not in verdict.sentence
    marked = marked_excerpt(verdict.source, "how many times is a failed webhook attempted")
    assert "<mark>webhook</mark>" in marked


def test_a_short_memory_is_whole_in_korean_too(opened: Open) -> None:
    engine = opened()
    memory = engine.remember("나루물류의 요청 한도는 초당 50건이다. 넘으면 HB-4290을 돌려준다.")
    assert (
        excerpt(engine.get(memory.id), "요청 한도")
        == "나루물류의 요청 한도는 초당 50건이다. 넘으면 HB-4290을 돌려준다."
    )


def test_where_nothing_is_found_nothing_answers(opened: Open) -> None:
    engine = opened()
    engine.remember("The broker is RabbitMQ")
    verdict = verdict_of(engine.search("zebra", certify=True, mode="keyword"))
    assert (verdict.answered, verdict.sentence) == (False, "")


def test_how_sure_in_a_word_and_a_number() -> None:
    assert [how_sure(value) for value in (None, 0.93, 0.6, 0.4, 0.01)] == [
        "", "very likely, relevance 0.93", "likely, relevance 0.60", "possibly, relevance 0.40",
        "doubtful, relevance 0.010",
    ]  # fmt: skip
