"""The selection alone: what enters, in which order, how much is told of it, and what names code."""

from __future__ import annotations

from msgspec import structs

from recallens.ingest.draft import Draft
from recallens.ingest.prepare import prepare
from recallens.model.citation import FileCitation, SymbolCitation
from recallens.model.context import ContextSection, Item, SectionName, allocation
from recallens.model.memory import Kind, Memory
from recallens.recall.context import BRIEF, FIRST, Selection, code_names, named_by, section_of, select
from standing import START_MS

CONTEXT, SKILLS, GOTCHAS = SectionName.CONTEXT, SectionName.SKILLS, SectionName.GOTCHAS
LEAST = 20


def item(name: str, tokens: int, relevance: float = 0.9) -> Item:
    return Item(name, "", tokens, relevance=relevance)


def shortened(item: Item, tokens: int) -> Item | None:
    """Any number of tokens from twenty on."""
    if item.tokens <= tokens:
        return item
    return structs.replace(item, tokens=tokens, truncated=True) if tokens >= LEAST else None


def selected(
    *memories: tuple[SectionName, Item],
    total: int,
    frame: int = 0,
    heading: int = 0,
    constitution: tuple[Item, ...] = (),
) -> Selection:
    return select(
        constitution, memories, total=total, frame=frame, headings=dict.fromkeys(SectionName, heading), cut=shortened,
        excerpt=shortened,
    )  # fmt: skip


def section(selection: Selection, name: SectionName) -> ContextSection:
    return next(section for section in selection.sections if section.name is name)


def costs(selection: Selection) -> dict[str, int]:
    return {item.name: item.tokens for section in selection.sections for item in section.items}


def test_the_allocation_is_the_designs_and_shrinks_in_proportion() -> None:
    full = {"constitution": 1_000, "skills": 2_000, "context": 4_000, "codeSymbols": 1_000}
    assert allocation(8_000) == full
    assert allocation(20_000) == full
    assert allocation(800) == {name: share // 10 for name, share in full.items()}
    assert sum(allocation(77).values()) <= 77


def test_the_likeliest_enter_first_whatever_their_kind() -> None:
    memories = [(CONTEXT, item("a", 90)), (SKILLS, item("b", 90)), (GOTCHAS, item("c", 90)), (SKILLS, item("d", 90))]
    assert costs(selected(*memories, total=270)) == {"a": 90, "b": 90, "c": 90}
    (left,) = selected(*memories, total=270).left_out
    assert (left.name, left.section, left.tokens) == ("d", "skills", 90)
    assert left.reason == "does not fit the 0 tokens left of 270"


def test_what_does_not_fit_is_shortened_or_skipped_and_the_next_may_fit() -> None:
    memories = [(CONTEXT, item("a", 90)), (CONTEXT, item("b", 95)), (CONTEXT, item("c", 15))]
    assert costs(selected(*memories, total=150)) == {"a": 90, "b": 60}
    assert costs(selected(*memories, total=106)) == {"a": 90, "c": 15}


def test_what_is_not_likely_to_answer_is_told_in_brief() -> None:
    memories = [(CONTEXT, item("a", 5_000, relevance=0.1)), (CONTEXT, item("b", 5_000, relevance=0.1))]
    assert costs(selected(*memories, total=8_000)) == {"a": FIRST, "b": BRIEF}


def test_what_is_likely_to_answer_is_told_at_length_within_the_share_of_its_section() -> None:
    assert costs(selected((SKILLS, item("a", 900)), total=8_000)) == {"a": 900}
    assert costs(selected((SKILLS, item("a", 1_100)), total=8_000)) == {"a": 1_000}  # an eighth for one memory
    skills = selected(*((SKILLS, item(name, 900)) for name in "abc"), total=8_000)
    assert costs(skills) == {"a": 900, "b": 900, "c": 200}
    assert section(skills, SKILLS).used == section(skills, SKILLS).allocated == 2_000


def test_gotchas_are_told_at_length_in_half_of_the_rest_where_over_a_thousand_remain() -> None:
    gotchas = [(GOTCHAS, item(name, 400)) for name in "abc"]
    assert costs(selected(*gotchas, total=1_360)) == {"a": FIRST, "b": BRIEF, "c": BRIEF}
    long = selected(*gotchas, total=3_600)
    assert costs(long) == {"a": 400, "b": 400, "c": 400}
    assert section(long, GOTCHAS).allocated == (3_600 - FIRST - 2 * BRIEF) // 2


def test_a_constitution_is_cut_to_its_share_and_no_memory_of_it_comes_twice() -> None:
    principle = item("p", 600)
    chosen = selected((CONTEXT, principle), (CONTEXT, item("a", 50)), total=4_000, constitution=(principle,))
    assert costs(chosen) == {"p": 500, "a": 50}


def test_frame_and_headings_count() -> None:
    for total, expected in ((8_000, 65), (130, 65), (94, 64), (50, 0)):
        selection = selected((CONTEXT, item("a", 55)), total=total, frame=30, heading=10)
        assert selection.used == expected


def test_a_memory_stands_by_its_kind_else_by_the_code_that_it_is_about() -> None:
    wanted = code_names(["decode_token"], "fix it")
    text = "`decode_token` lives in the router"
    assert section_of(memory(text), wanted) is SectionName.CODE_SYMBOLS
    assert section_of(memory(text, kind=Kind.GOTCHA), wanted) is GOTCHAS
    assert [section_of(memory(text, kind=kind), wanted) for kind in (Kind.SKILL, Kind.PATTERN)] == [SKILLS, SKILLS]
    assert section_of(memory("The router is slow"), wanted) is CONTEXT


def memory(text: str, **attributes: object) -> Memory:
    return prepare(Draft(text, **attributes), id="M", namespace="n", now=START_MS).memory  # type: ignore[arg-type]


def test_code_is_met_by_name_and_by_the_words_of_a_name() -> None:
    by_name = code_names(["decode_token", "src/harbor/auth/tokens.py"], "fix it")
    assert named_by(memory("`decode_token` lives in the router"), by_name)
    assert named_by(memory("Leeway", citations=(FileCitation("src/harbor/auth/tokens.py", 3),)), by_name)
    assert named_by(memory("Leeway", citations=(SymbolCitation("x", "decode_token", "a.py"),)), by_name)
    assert not named_by(memory("The router is slow"), by_name)
    by_words = code_names([], "갱신 토큰: rotate the refresh tokens of couriers")
    assert named_by(memory("x", citations=(SymbolCitation("x", "rotate_refresh_token", "a.py"),)), by_words)
    assert named_by(memory("x", citations=(FileCitation("src/harbor/auth/refresh.py"),)), by_words)
    assert not named_by(memory("x", citations=(FileCitation("src/harbor/cache.py"),)), by_words)
