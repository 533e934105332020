"""Where a note is cut, and what each section is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.ingest.vault.notes import breadcrumb, read_note
from recallens.ingest.vault.sections import (
    headings,
    markdown_sections,
    plain_sections,
    slug,
    whole_section,
)
from recallens.model.vault import CHUNK_CHARACTERS

LONG = "The lookup is cached for a minute. " * 20  # 700 characters


def test_a_short_note_is_one_section() -> None:
    (only,) = markdown_sections("# Cache\n\nShort.\n\n## More\n\nAlso short.\n")
    assert only.text == "# Cache\n\nShort.\n\n## More\n\nAlso short."
    assert only.first_line == 1
    assert only.last_line == 7
    assert only.anchors == ("cache", "more")


def test_sections_are_cut_at_headings_and_know_their_lines() -> None:
    text = f"# Cache\n\n{LONG}\n\n## Keys\n\n{LONG}\n\n## 만료\n\n{LONG}\n"
    found = markdown_sections(text, line=5)
    assert [section.headings for section in found] == [("Cache",), ("Cache", "Keys"), ("Cache", "만료")]
    assert [(section.first_line, section.last_line) for section in found] == [(5, 7), (9, 11), (13, 15)]
    lines = text.split("\n")
    for section in found:
        assert "\n".join(lines[section.first_line - 5 : section.last_line - 4]).rstrip() == section.text


def test_what_looks_like_a_heading_in_a_code_fence_is_code() -> None:
    text = (
        "# Real\n\n```sh\n# not a heading\n```\n\n~~~~\n# nor this\n~~~\n# still code\n~~~~\n\n"
        "   ```\n   # nor this\n   ```\n"
    )
    assert [heading.text for heading in headings(text)] == ["Real"]


def test_underlined_headings_and_what_only_looks_like_one() -> None:
    text = "Title\n=====\n\nPart\n----\n\ntext over\ntwo lines\n---\n\n- item\n---\n\n#tag\n\n| a |\n---\n"
    assert [(heading.level, heading.text) for heading in headings(text)] == [(1, "Title"), (2, "Part")]


def test_small_neighbours_are_joined_under_what_they_share() -> None:
    parts = "".join(f"## Port {n}\n\nOpen {n}.\n\n" for n in range(100))
    found = markdown_sections(f"# Ports\n\n{parts}")
    assert len(found) == pytest.approx(len(parts) / CHUNK_CHARACTERS, abs=2)
    assert all(len(section.text) <= CHUNK_CHARACTERS for section in found)
    assert found[1].headings == ("Ports",)
    assert "## Port 50" in "".join(section.text for section in found)


def test_a_heading_with_nothing_under_it_goes_with_what_follows_or_stands_alone() -> None:
    text = f"# Guide\n\n## Install\n\n{LONG}\n\n## Run\n\n{LONG}\n\n## Later\n\n### {'Deep ' * 20}\n\n{LONG * 3}\n"
    found = markdown_sections(text)
    assert found[0].headings == ("Guide", "Install")
    assert found[0].text.startswith("# Guide\n\n## Install")
    assert [section.headings for section in found if section.text == "## Later"] == [("Guide", "Later")]
    (only,) = markdown_sections("# 할 일\n")
    assert only.text == "# 할 일"
    assert only.headings == ("할 일",)


def test_a_long_section_is_cut_at_paragraphs_then_at_sentences() -> None:
    paragraphs = "\n\n".join(f"Paragraph {n}. {LONG}" for n in range(4))
    found = markdown_sections(f"# Long\n\n{paragraphs}\n")
    assert len(found) == 4
    assert all(section.headings == ("Long",) for section in found)
    assert [section.text.split(".")[0][-1] for section in found] == list("0123")
    cut = plain_sections("한 문장이 여기서 끝난다. " * 200)
    assert all(len(section.text) <= CHUNK_CHARACTERS for section in cut)
    assert all(section.text.endswith("끝난다.") for section in cut)


def test_code_is_not_cut_at_its_blank_lines_while_there_is_another_place() -> None:
    code = "```py\n" + "\n\n".join("call(something)" for _ in range(20)) + "\n```"
    found = markdown_sections(f"# A\n\n{LONG}\n\n{code}\n\n{LONG}\n")
    assert [section.text for section in found if "```" in section.text and section.text.count("```") != 2] == []


def test_an_edit_moves_no_cut_elsewhere() -> None:
    parts = [f"## Part {n}\n\n{LONG}{n}\n\n" for n in range(6)]
    before = {section.text for section in markdown_sections("# Doc\n\n" + "".join(parts))}
    parts[2] = f"## Part 2\n\n{LONG * 2}\n\n"
    after = [section.text for section in markdown_sections("# Doc\n\n" + "".join(parts))]
    assert len([text for text in after if text not in before]) == 2


def test_a_card_stays_whole() -> None:
    (only,) = whole_section(f"# Card\n\n{LONG * 3}\n\n## Fix\n\nDo it.")
    assert only.text.endswith("Do it.")


@given(st.lists(st.sampled_from(["# A", "## B", "### 다", "", "```", "text.", "글이다.", "x" * 500, "- item", "---"])))
def test_nothing_is_lost_and_nothing_is_told_twice(lines: list[str]) -> None:
    text = "\n".join(lines)
    kept = "".join(section.text for section in markdown_sections(text))
    assert "".join(kept.split()) == "".join(text.split())


def test_the_breadcrumb_starts_with_the_title_and_does_not_repeat_it() -> None:
    note = read_note("ops/deploy.md", f"# Deploys\n\n{LONG}\n\n## Rollback\n\n{LONG}\n".encode(), now=0)
    assert [breadcrumb(note, section) for section in note.sections] == ["Deploys", "Deploys › Rollback"]
    named = read_note("ops/deploy.md", b"---\ntitle: How we ship\n---\n# Deploys\n\ntext", now=0)
    assert breadcrumb(named, named.sections[0]) == "How we ship › Deploys"
    assert read_note("ops/무제.txt", "그냥 글".encode(), now=0).title == "무제"


def test_a_heading_is_told_as_it_is_read() -> None:
    text = "## The [cache](x.md) of `parcels` and [[Note|notes]] {#keys}\n"
    (heading,) = headings(text)
    assert heading.text == "The cache of parcels and notes"
    assert heading.anchors == ("the-cache-of-parcels-and-notes", "keys")
    assert slug("인증 & 권한!") == "인증--권한"
