"""A line ends a note where it is a mark, and an honest sentence that begins with the same words ends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mark_lines import HONEST, MARKS, TARGETS
from notes import Notes, sections, synced
from recallens.engine import Engine


def ended(engine: Engine, folder: Path, lines: Sequence[str]) -> set[str]:
    """Which of these lines end the note that they stand at the top of; each note says one more thing."""
    notes = Notes(folder / "notes")
    for path, text in TARGETS.items():
        notes.write(path, text)
    for at, line in enumerate(lines):
        notes.write(f"n/case-{at:03}.md", f"---\ndate: 2026-02-01\n---\n# Case\n\n{line}\n\nSome more is said here.\n")
    engine.vaults.add(notes.root)
    synced(engine)
    return {
        line for at, line in enumerate(lines) if sections(engine, f"n/case-{at:03}.md")[0].status == "superseded"
    }  # fmt: skip


@pytest.mark.parametrize("half", [0, 1], ids=["known", "unseen"])
def test_marks_end_a_note_and_honest_sentences_do_not(engine: Engine, tmp_path: Path, half: int) -> None:
    marks = MARKS[half * 20 : half * 20 + 20]
    honest = HONEST[half * 30 : half * 30 + 30]
    found = ended(engine, tmp_path, (*marks, *honest))
    assert [line for line in marks if line not in found] == []
    assert [line for line in honest if line in found] == []


STRUCK = {
    "~~Mooring ropes are hemp.~~ Superseded by [[gateway-new]]": True,
    "~~Mooring ropes are hemp.~~\nReplaced by [[gateway-new]].": True,
    "- ~~Ropes are hemp.~~\n- ~~Knots are bowlines.~~\n\nDeprecated.": True,
    "~~접수는 전화로 한다.~~ [[접수-신]]로 대체됨": True,
    "이 메모는 더 이상 유효하지 않음. [[접수-신]] 참고.\n\n물레방아는 화요일에 돌린다.": True,
    "This memo is no longer valid, see [[gateway-new]].\n\nThe mill turns on Tuesdays.": True,
    "~~Tickets are 12 euros.~~ Replaced by [[hand]].\n\nThe shop opens at nine.": False,
    "- ~~soup~~ Replaced by [[hand]]\n- bread": False,
    "~~Ropes are hemp.~~ Ropes are nylon.": False,
    "이 메모는 더 이상 쓰지 않는 의자의 목록이다. 의자는 4층에 있다.": False,
}


def test_a_mark_beside_what_is_struck_out_ends_what_is_struck_out_as_a_whole(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    for path, text in {**TARGETS, **{f"n/{at}.md": f"# Case\n{text}\n" for at, text in enumerate(STRUCK)}}.items():
        notes.write(path, text)
    notes.write("part.md", "# Ropes\n\nRopes.\n\n## Old\n\n~~Hemp.~~ Superseded by [[hand]]\n\n## New\n\nNylon.\n")
    engine.vaults.add(notes.root)
    synced(engine)
    found = {text: sections(engine, f"n/{at}.md")[0].status == "superseded" for at, text in enumerate(STRUCK)}
    assert found == STRUCK
    assert {part.content for part in sections(engine, "part.md") if part.status == "superseded"} == {
        part.content for part in sections(engine, "part.md") if "Hemp" in part.content
    }


def test_a_number_in_prose_names_no_note(engine: Engine, tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    notes.write("f4.md", "# Quill\n\nProject Quill shipped with 14 screens.")
    notes.write("filters.md", '---\nsuperseded_by: "hand in room 4"\n---\nThe filters are changed.')
    notes.write("adr/0012-cache.md", "# Cache\n\nIn memory.")
    notes.write("old.md", "> Superseded by ADR 12.\n\nThe cache is on disk.")
    engine.vaults.add(notes.root)
    assert [problem.path for problem in synced(engine).warnings] == ["filters.md"]
    successors = {
        path: [one.source for one in engine.memories.relations(sections(engine, path)[0].id)]
        for path in ("filters.md", "old.md")
    }
    assert successors == {"filters.md": [], "old.md": [sections(engine, "adr/0012-cache.md")[0].id]}


HANDBOOK = """# Handbook

{intro}

## Laptops

> Superseded by [[laptops-new]]

Laptops are Lenovo with 16 GB.

### Chargers

Chargers have 45 watts.

## Phones

Phones are Fairphone with 128 GB.

## 책상

책상은 180센티미터이다.

대체됨: [[laptops-new]] 라는 표시는 여기서 중간에 있다.
"""


@pytest.mark.parametrize("intro", ["", "Who reads this is new here.", "A paragraph for the readers. " * 60])
def test_the_mark_of_a_small_section_ends_that_section_alone(engine: Engine, tmp_path: Path, intro: str) -> None:
    notes = Notes(tmp_path / "notes")
    notes.write("multi.md", HANDBOOK.format(intro=intro))
    notes.write("laptops-new.md", "# Laptop standard\n\nLaptops are Framework with 32 GB.")
    engine.vaults.add(notes.root)
    synced(engine)
    own = sections(engine, "multi.md")
    ended_text = "\n".join(memory.content for memory in own if memory.status == "superseded")
    held_text = "\n".join(memory.content for memory in own if memory.status == "active")
    assert all(words in ended_text and words not in held_text for words in ("16 GB", "45 watts"))
    assert all(words in held_text and words not in ended_text for words in ("128 GB", "180센티미터"))
    first = engine.search("how much memory do laptops have", record=False).results[0].memory
    assert "32 GB" in first.content
    notes.write("multi.md", HANDBOOK.format(intro=intro).replace("> Superseded by [[laptops-new]]\n", ""))
    synced(engine)
    assert all(memory.status == "active" for memory in sections(engine, "multi.md"))
