"""The selection alone: allocation, order, what is passed over, and what names code."""

from __future__ import annotations

from recallens.ingest.draft import Draft
from recallens.ingest.prepare import prepare
from recallens.model.citation import FileCitation, SymbolCitation
from recallens.model.context import Item, SectionName, allocation
from recallens.model.memory import Memory
from recallens.recall.context import code_names, merged, named_by, select
from standing import START_MS


def never(item: Item, tokens: int) -> None:
    return None


FREE = dict.fromkeys(SectionName, 0)


def items(*costs: int, name: str = "i") -> list[Item]:
    return [Item(f"{name}{at}", "", cost, score=float(-at)) for at, cost in enumerate(costs)]


def chosen(candidates: dict[SectionName, list[Item]], total: int) -> dict[str, list[str]]:
    selection = select(candidates, total=total, frame=0, headings=FREE, shorten=never)
    return {section.name: [item.name for item in section.items] for section in selection.sections if section.items}


def test_the_allocation_is_the_designs_and_shrinks_in_proportion() -> None:
    full = {"constitution": 1_000, "skills": 2_000, "context": 4_000, "codeSymbols": 1_000}
    assert allocation(8_000) == full
    assert allocation(20_000) == full
    assert allocation(800) == {name: share // 10 for name, share in full.items()}
    assert sum(allocation(77).values()) <= 77


def test_what_does_not_fit_is_skipped_and_the_next_may_fit() -> None:
    candidates = {SectionName.SKILLS: items(1_500, 900, 400)}
    assert chosen(candidates, 8_000) == {"skills": ["i0", "i2"]}
    selection = select(candidates, total=8_000, frame=0, headings=FREE, shorten=never)
    (left,) = selection.left_out
    assert (left.name, left.section, left.tokens) == ("i1", "skills", 900)
    assert left.reason == "does not fit the 500 tokens left of the 2,000 for skills"


def test_code_chooses_before_the_general_part_and_no_item_comes_twice() -> None:
    both = items(100, 100, 100)
    assert chosen({SectionName.CODE_SYMBOLS: both[1:2], SectionName.CONTEXT: both}, 8_000) == {
        "context": ["i0", "i2"],
        "codeSymbols": ["i1"],
    }


def test_gotchas_get_half_of_the_rest_where_over_a_thousand_remain() -> None:
    gotchas = items(400, 400, 400, name="g")
    assert chosen({SectionName.GOTCHAS: gotchas}, 1_000) == {}
    assert chosen({SectionName.GOTCHAS: gotchas}, 1_800) == {"gotchas": ["g0", "g1"]}
    selection = select({SectionName.GOTCHAS: gotchas}, total=1_000, frame=0, headings=FREE, shorten=never)
    assert {left.reason for left in selection.left_out} == {"gotchas get room only where over 1,000 tokens remain"}


def test_frame_and_headings_count() -> None:
    headings = dict.fromkeys(SectionName, 10)
    for total, expected in ((8_000, 1), (120, 0)):
        selection = select(
            {SectionName.CONTEXT: items(55)},
            total=total,
            frame=30,
            headings=headings,
            shorten=never,
        )
        assert sum(len(section.items) for section in selection.sections) == expected
        assert selection.used == 65 * expected


def test_several_recalls_become_one_list_by_the_best_score() -> None:
    a, b = Item("a", "", 1, score=1.0), Item("b", "", 1, score=3.0)
    better = Item("a", "", 1, score=2.0)
    assert merged([[a], [b, better]]) == [b, better]


def memory(text: str, **attributes: object) -> Memory:
    return prepare(Draft(text, **attributes), id="M", namespace="n", now=START_MS).memory  # type: ignore[arg-type]


def test_code_is_met_by_name_and_by_the_words_of_a_name() -> None:
    by_name = code_names(["decode_token", "src/harbor/auth/tokens.py"], "fix it")
    assert named_by(memory("`decode_token` lives in the router"), by_name) == 2
    assert named_by(memory("Leeway", citations=(FileCitation("src/harbor/auth/tokens.py", 3),)), by_name) == 2
    assert named_by(memory("Leeway", citations=(SymbolCitation("x", "decode_token", "a.py"),)), by_name) == 2
    assert named_by(memory("The router is slow"), by_name) == 0
    by_words = code_names([], "갱신 토큰: rotate the refresh tokens of couriers")
    assert named_by(memory("x", citations=(SymbolCitation("x", "rotate_refresh_token", "a.py"),)), by_words) == 1
    assert named_by(memory("x", citations=(FileCitation("src/harbor/auth/refresh.py"),)), by_words) == 1
    assert named_by(memory("x", citations=(FileCitation("src/harbor/cache.py"),)), by_words) == 0
