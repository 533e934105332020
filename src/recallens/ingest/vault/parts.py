"""Parts of a note that have ended while the rest of it holds: each below a heading of its own whose first lines say
what replaced it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from recallens.ingest.vault.marks import READ_FOR_MARK, RECORD, STATUS_HEADING, TRACES, beside_struck, blocks, ending_in
from recallens.ingest.vault.sections import NoteSection, headings
from recallens.model.vault import NoteEnding
from recallens.text.normalize import normalize


class PartEnding(NamedTuple):
    """A part of a note that has ended: where its heading begins, the lines it stands on, and what it says."""

    start: int
    first_line: int
    last_line: int
    ending: NoteEnding


def part_endings(body: str, *, line: int) -> list[PartEnding]:
    """Headings whose first lines say what replaced what stands under them; `line` is the number of the first line."""
    if "[" not in body and not RECORD.search(normalize(body)):
        return []
    parts: list[PartEnding] = []
    titles = headings(body)
    opens = bool(titles) and not body[: titles[0].start].strip()  # below the note's title a mark is of all of it
    covered = 0
    for at, heading in enumerate(titles):
        of_the_note = (opens and at == 0) or STATUS_HEADING.fullmatch(normalize(heading.text)) is not None
        if heading.start < covered or of_the_note:
            continue
        end = titles[at + 1].start if at + 1 < len(titles) else len(body)
        own = body[heading.body : min(end, heading.body + READ_FOR_MARK)]
        if not TRACES.search(normalize(own)):
            continue
        for read, alone in islice(blocks(beside_struck(own) or own, most=2), 4):
            ending = ending_in(read, alone=alone)
            if ending is None or ending.if_named or not ending.by:
                continue
            if not read.links and RECORD.fullmatch(ending.by[0].target) is None:
                continue
            below = (later.start for later in titles[at + 1 :] if later.level <= heading.level)
            covered = next(below, len(body))
            first, last = (body.count("\n", 0, place) for place in (heading.start, len(body[:covered].rstrip())))
            parts.append(PartEnding(heading.start, line + first, line + last, ending))
            break
    return parts


def section_endings(parts: Sequence[PartEnding], sections: Sequence[NoteSection]) -> Iterator[tuple[int, NoteEnding]]:
    """The sections that lie within a part that has ended."""
    for at, section in enumerate(sections):
        for part in parts:
            if part.first_line <= section.first_line and section.last_line <= part.last_line:
                yield at, part.ending
