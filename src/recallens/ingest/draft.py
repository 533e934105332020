"""What a caller gives, before anything is known of it; the draft of a session, and a document as sections."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import Struct, field

from recallens.model.citation import Citation
from recallens.model.memory import Kind, Memory, Sector, Session, Status, Zone
from recallens.model.state import BLOCKING
from recallens.model.times import When, to_ms
from recallens.model.trust import Input, InputKind
from recallens.text.languages import main_language
from recallens.text.sentences import ELLIPSIS, cut_at_word

TARGET_CHARACTERS: Final = 1_200
# `recall.sessions` finds recaps by it.
RECAP_SOURCE: Final = "session"
# What a turn lays down is called by the turn, and by the sentence that says it.
SAID: Final = "said"
# As much of what was asked first, and of what was said last, as a person needs to know which session it was.
SHOWN_CHARACTERS: Final = 300
UNTITLED: Final = "(untitled session)"
_ASKERS: Final = frozenset(("user", "human"))
_ANSWERERS: Final = frozenset(("assistant", "agent", "model", "bot"))

_PARAGRAPH: Final = re.compile(r"(?:[^\n]*\S[^\n]*\n?)+")


class Draft(Struct, frozen=True):
    """A memory to be. What is None is decided by rule; times are datetimes or epoch milliseconds."""

    content: str
    title: str | None = None
    summary: str | None = None
    project: str | None = None
    sector: str | None = None
    kind: str | None = None
    tier: str | None = None
    status: str | None = None
    review: str | None = None
    zone: str | None = None
    tags: Sequence[str] = ()
    scopes: Sequence[str] = ()
    citations: Sequence[Citation] = ()
    importance: float | None = None
    confidence: float | None = None
    salience: float | None = None
    source: str | None = None
    source_id: str | None = None
    document: str | None = None
    session: str | None = None
    task: str | None = None
    worktree: str | None = None
    author: str | None = None
    position: int | None = None
    reward: float | None = None
    created: When | None = None
    valid_from: When | None = None
    valid_until: When | None = None
    supersedes: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()  # what a derived text was made of: it is restricted as they are

    @property
    def created_ms(self) -> int | None:
        return to_ms(self.created) if isinstance(self.created, datetime) else self.created


def recap_id(session: str) -> str:
    return f"{RECAP_SOURCE}:{session}"


def turn_of(finding: str | None) -> str:
    """The id of the turn that a finding was made of, by the id of the finding."""
    return (finding or "").rpartition("/")[0]


def is_said(source_id: str | None) -> bool:
    """Whether this is the id of what a turn lays down."""
    name = (source_id or "").rpartition("/")[2]
    return turn_of(source_id) != "" and name.startswith(SAID) and name[len(SAID) :].isdigit()


def recap(session: Session, memories: Sequence[Memory]) -> Draft | None:
    """A session in a few lines: its summary or, where it has none, what was asked first and said last.

    None where nothing is known of it. `memories` are those that it created, in order. A summary is taken to be of all
    of them.
    """
    own = [memory for memory in memories if memory.source_id != recap_id(session.id) and not _blocked(memory)]
    text, told = (session.summary, own) if session.summary else _first_and_last(own)
    if not text and not session.title:
        return None
    title = session.title or UNTITLED
    inputs = (Input(InputKind.SESSION, session.id, session.zone), *map(Input.of, told))
    return Draft(
        f"{title}\n{text}" if text else title,
        title=title,
        project=session.project,
        sector=Sector.EPISODIC,
        kind=Kind.SUMMARY,
        source=RECAP_SOURCE,
        source_id=recap_id(session.id),
        session=session.id,
        created=session.started if session.ended is None else session.ended,
        inputs=inputs,
    )


def _blocked(memory: Memory) -> bool:
    """What nobody may read is in no recap; what is meant for some contexts only makes the recap meant for them."""
    return memory.status in (*BLOCKING, Status.PENDING_REVIEW) or memory.zone is Zone.QUARANTINE


def _first_and_last(memories: Sequence[Memory]) -> tuple[str, list[Memory]]:
    """What a session says of itself, and the memories that this was taken from."""
    if not memories:
        return "", []
    first = next((memory for memory in memories if (memory.author or "").lower() in _ASKERS), memories[0])
    last = next((memory for memory in reversed(memories) if (memory.author or "").lower() in _ANSWERERS), memories[-1])
    asked, answered = main_language(f"{first.content} {last.content}").recap_labels
    opening = asked + cut_at_word(" ".join(first.content.split()), SHOWN_CHARACTERS)
    if last.id == first.id:
        return opening, [first]
    tail = " ".join(last.content.split())
    shown = tail if len(tail) <= SHOWN_CHARACTERS else ELLIPSIS + tail[-SHOWN_CHARACTERS:].partition(" ")[2]
    return f"{opening}\n{answered}{shown}", [first, last]


class DocumentSection(NamedTuple):
    """A stretch of the document, with the lines it stands on, counted from 1."""

    text: str
    first_line: int
    last_line: int


def sections(text: str, target: int = TARGET_CHARACTERS) -> list[DocumentSection]:
    """Cut at blank lines and joined up to a target size; a paragraph that fits is never cut."""
    joined: list[tuple[int, int]] = []
    cuts = (cut for match in _PARAGRAPH.finditer(text) for cut in _split(text, *match.span(), target))
    for start, end in cuts:
        if joined and end - joined[-1][0] <= target:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return [
        DocumentSection(text[start:end].strip("\n"), text.count("\n", 0, start) + 1, text.count("\n", 0, end - 1) + 1)
        for start, end in joined
        if text[start:end].strip()
    ]


def _split(text: str, start: int, end: int, target: int) -> list[tuple[int, int]]:
    """A paragraph longer than the target, cut at line ends, else at spaces, else where it must be."""
    cuts = []
    while end - start > target:
        window = text[start : start + target]
        at = max(window.rfind("\n"), window.rfind(". ") + 1)
        if at < target // 2:
            at = window.rfind(" ")
        cut = start + (at + 1 if at > 0 else target)
        cuts.append((start, cut))
        start = cut
    return [*cuts, (start, end)]
