"""A session in a few lines: its summary, or, where it has none, what was asked first and said last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recallens.ingest.draft import Draft
from recallens.model.memory import Kind, Memory, Sector, Session
from recallens.text.languages import main_language
from recallens.text.sentences import ELLIPSIS, cut_at_word

# `recall.sessions` finds recaps by it.
RECAP_SOURCE: Final = "session"
# As much as a person needs to know which session it was.
FIRST_CHARACTERS: Final = 300
LAST_CHARACTERS: Final = 300
UNTITLED: Final = "(untitled session)"
_ASKERS: Final = frozenset(("user", "human"))
_ANSWERERS: Final = frozenset(("assistant", "agent", "model", "bot"))


def recap_id(session: str) -> str:
    return f"{RECAP_SOURCE}:{session}"


def recap(session: Session, said: Sequence[Memory]) -> Draft | None:
    """The session as a memory to be; None where nothing is known of it. `said` is what it created, in order."""
    said = [memory for memory in said if memory.source_id != recap_id(session.id)]
    text = session.summary or _fragments(said)
    if not text and not session.title:
        return None
    title = session.title or UNTITLED
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
    )


def _fragments(said: Sequence[Memory]) -> str:
    if not said:
        return ""
    first = next((memory for memory in said if _spoken_by(memory, _ASKERS)), said[0])
    last = next((memory for memory in reversed(said) if _spoken_by(memory, _ANSWERERS)), said[-1])
    asked, answered = main_language(f"{first.content} {last.content}").recap_labels
    lines = [f"{asked}{cut_at_word(' '.join(first.content.split()), FIRST_CHARACTERS)}"]
    if last.id != first.id:
        tail = " ".join(last.content.split())
        shown = tail if len(tail) <= LAST_CHARACTERS else ELLIPSIS + tail[-LAST_CHARACTERS:].partition(" ")[2]
        lines.append(f"{answered}{shown}")
    return "\n".join(lines)


def _spoken_by(memory: Memory, roles: frozenset[str]) -> bool:
    return memory.author is not None and memory.author.lower() in roles
