"""What a note says of its own life, put together from its frontmatter and its lines: its end, its successors, what it
replaces, from when and until when it holds, how often it has proved right, and how it is related to others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from recallens.ingest.vault.fields import FIELDS, fields, spelled, texts, when
from recallens.ingest.vault.links import LINK, named, taken_out
from recallens.ingest.vault.marks import (
    LONGEST_LINE_READ,
    Line,
    ending_in,
    openings,
    read_line,
    replaced_in,
    review_in,
)
from recallens.ingest.vault.parts import PartEnding, section_endings
from recallens.ingest.vault.sections import NoteSection, lines
from recallens.model.memory import RelationType
from recallens.model.vault import Link, NoteEnding, NoteLife
from recallens.text.languages import PACKS

MOST_RELATIONS: Final = 64
MOST_REINFORCEMENTS: Final = 1_000

_TYPES: Final[Mapping[str, RelationType]] = {
    name: RelationType(type) for pack in PACKS for type, names in pack.notes.relations.items() for name in names
}
# The same relations told from their other end.
_INVERSE: Final[Mapping[str, RelationType]] = {
    "causedby": RelationType.CAUSED,
    "confirmedby": RelationType.CONFIRMS,
    "requiredby": RelationType.DEPENDS_ON,
}
_TYPED: Final = re.compile(
    rf"\s*(?:[-*+]\s+)?[\[(]?(?P<name>[^\W\d][\w -]{{1,30}}?)(?P<colons>\s*::?\s*|\s+)"
    rf"(?P<rest>(?:{LINK}[\s,;&]*(?:and\b\s*)?)+)[\])]?\s*(?:\([^()]*\))?[.\s]*"
)


def read_life(
    matter: Mapping[str, Any], title: str, body: str, sections: Sequence[NoteSection], parts: Sequence[PartEnding],
    *, created: int | None, now: int,
) -> NoteLife:  # fmt: skip
    """`title` as the note or its file has it, `body` without frontmatter, `created` as the note says."""
    known = fields(matter)
    told = _Told()
    for text in texts(known.get("status")):
        told.hear(read_line(f"status: {text}"), alone=True)
    for name in ("deprecated", "obsolete", "archived"):
        value = known.get(name)
        if value is True or (value not in (None, False, "") and when(known, name, now=now) is not None):
            told.end(when(known, name, now=now) if value is not True else None, [])
    if known.get("draft") is True:
        told.review = told.review or "draft"
    successors = [link for text in texts(known.get("superseded_by")) if (link := named(_linked(text)))]
    if successors:
        told.end(None, successors)
    told.supersedes += [link for text in texts(known.get("supersedes")) if (link := named(_linked(text)))]
    for line, alone in openings(title, body):
        told.hear(line, alone=alone)
    if (at := when(known, "ended_on", now=now)) is not None and told.ending is not None:
        told.end(at, [])
    relations, inverse = _relations(matter, sections, told)
    count = known.get("reinforcement_count")
    starts = when(known, "valid_from", now=now)
    return NoteLife(
        names=tuple(dict.fromkeys((title, *texts(known.get("aliases")))))[:MOST_RELATIONS],
        ending=told.ending,
        section_endings={}
        if told.ending is not None and not told.ending.if_named
        else dict(section_endings(parts, sections)),
        review=told.review,
        supersedes=tuple(dict.fromkeys(told.supersedes))[:MOST_RELATIONS],
        relations=relations,
        inverse=inverse,
        starts=created if starts is None else starts,
        valid_until=when(known, "valid_until", now=now),
        reinforcements=max(0, min(count, MOST_REINFORCEMENTS)) if type(count) is int else 0,
    )


def _linked(text: str) -> str:
    """A target of frontmatter: where YAML took the brackets of [[note]] away, its label stays behind a bar."""
    return text if "[" in text else text.partition("|")[0]


class _Told:
    """What the lines of a note have said so far; the first word on each matter counts."""

    def __init__(self) -> None:
        self.ending: NoteEnding | None = None
        self.review: str | None = None
        self.supersedes: list[Link] = []

    def end(self, at: int | None, by: Sequence[Link]) -> None:
        before = self.ending if self.ending is not None and not self.ending.if_named else NoteEnding()
        self.ending = NoteEnding(before.at if before.at is not None else at, tuple(dict.fromkeys((*before.by, *by))))

    def hear(self, line: Line, *, alone: bool) -> None:
        if (ending := ending_in(line, alone=alone)) is not None:
            if not ending.if_named:
                self.end(ending.at, ending.by)
            elif self.ending is None:
                self.ending = ending
        elif self.review is None and (review := review_in(line)) is not None:
            self.review = review
        else:
            self.supersedes += replaced_in(line)


def _relations(
    matter: Mapping[str, Any], sections: Sequence[NoteSection], told: _Told
) -> tuple[tuple[tuple[int, RelationType, Link], ...], tuple[tuple[int, RelationType, Link], ...]]:
    """`- depends_on [[x]]`, `relates_to:: [[x]]`, and frontmatter of such names; and those told from the other end."""
    forward: dict[tuple[int, RelationType, Link], None] = {}
    inverse: dict[tuple[int, RelationType, Link], None] = {}

    def add(at: int, name: str, found: Sequence[Link]) -> None:
        key = spelled(name)
        field = FIELDS.get(key)
        if field == "supersedes":
            told.supersedes += found
        elif field == "superseded_by":
            told.end(None, found)
        elif key in _TYPES:
            forward.update(dict.fromkeys((at, _TYPES[key], link) for link in found))
        elif key in _INVERSE:
            inverse.update(dict.fromkeys((at, _INVERSE[key], link) for link in found))

    for name, value in matter.items():
        if spelled(name) in _TYPES or spelled(name) in _INVERSE:
            add(0, name, [link for text in texts(value) if (link := named(_linked(text)))])
    for at, section in enumerate(sections):
        if "[[" not in section.text and "](" not in section.text:
            continue
        for _, raw, fenced in lines(section.text):
            if fenced or "[" not in raw:
                continue
            line, found = taken_out(raw[:LONGEST_LINE_READ])
            match = _TYPED.fullmatch(line)
            if match and found and (":" in match["colons"] or line.lstrip()[:1] in "-*+"):
                add(at, match["name"], found)
    return tuple(forward)[:MOST_RELATIONS], tuple(inverse)[:MOST_RELATIONS]
