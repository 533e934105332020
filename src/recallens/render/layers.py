"""Layers 1 and 2 as an agent reads them: what fits the size of the layer, cut at sentence ends, counted as delivered.

Every text of a memory stands on one line behind what Recallens says of it, so that no text can pass for a line of ours.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from recallens.model.context import (
    HYPOTHESIS,
    INDEX_TOKENS,
    TIMELINE_TOKENS,
    Handles,
    IndexEntry,
    Relationship,
    TimelineEntry,
)
from recallens.model.memory import Memory, Session, as_json
from recallens.model.recall import SearchResult
from recallens.model.salience import DAY_MS
from recallens.model.times import day, instant
from recallens.render.formats import cites, visible
from recallens.text.token_count import count_tokens, fit, one_line

# An entry may exceed its layer's size by this share; most are shorter, so that the median is the size.
OVER = 1.16
# Citations named on an entry; how many more there are is said.
INDEX_CITATIONS, TIMELINE_CITATIONS = 1, 3
CITATION_TOKENS = 12
# Fewer tokens than this say nothing.
LEAST = 12


def gist(memory: Memory) -> str:
    """What the memory says, in one line: its summary, else its title and its text."""
    if memory.summary:
        return visible(one_line(memory.summary))
    return said(memory)


def said(memory: Memory) -> str:
    content = visible(one_line(memory.content))
    title = visible(one_line(memory.title)) if memory.title else ""
    if not title or content.startswith(title):
        return content
    # A title is a sentence of its own: where no more fits, it says what there is to read.
    return f"{title} {content}" if title[-1] in ".!?…。" else f"{title}. {content}"


def index_entry(result: SearchResult, *, utility: float | None = None) -> IndexEntry:
    """About 50 tokens of a result. `utility` is the score where the caller has weighed it otherwise."""
    memory, score = result.memory, result.score if utility is None else utility
    label = "" if memory.citations else HYPOTHESIS
    by = f" {visible(memory.author)}" if memory.author else ""
    head = f"{memory.id} {memory.kind} {score:.2f} {day(memory.created)}{by}: {label}"
    tail = _short_cites(memory)
    room = max(LEAST, int(INDEX_TOKENS * OVER) - count_tokens(head) - count_tokens(tail))
    summary, truncated = fit(gist(memory), room)
    text = f"{head}{summary}{tail}"
    return IndexEntry(
        id=memory.id,
        summary=label + summary,
        utility_score=score,
        type=memory.kind,
        citations=memory.citations[:INDEX_CITATIONS],
        more_citations=len(memory.citations[INDEX_CITATIONS:]),
        is_cited=bool(memory.citations),
        truncated=truncated,
        created=memory.created,
        author=memory.author,
        text=text,
        tokens=count_tokens(text),
        next=Handles(memory.id, memory.task or memory.id),
    )


def _short_cites(memory: Memory) -> str:
    """What it cites, or only how much where the name alone would fill the entry."""
    if not memory.citations:
        return ""
    named = f" ({cites(memory.citations, INDEX_CITATIONS)})"
    return named if count_tokens(named) <= CITATION_TOKENS else f" (cites {len(memory.citations)})"


class Surroundings(Struct, frozen=True):
    """What is known around a memory of a timeline: its session, the turns beside it there, its task's outcome."""

    session: Session | None = None
    previous: Memory | None = None
    following: Memory | None = None
    outcome: float | None = None


def timeline_entry(memory: Memory, anchor: Memory, around: Surroundings) -> TimelineEntry:
    """About 150 tokens: when and in what course of events it was said, the text, and the turns beside it."""
    relation = relationship(memory, anchor)
    reward = memory.reward if memory.reward is not None else around.outcome
    head = _head(memory, anchor, relation, reward)
    label = "" if memory.citations else HYPOTHESIS
    tail = f"\n{cites(memory.citations, TIMELINE_CITATIONS)}" if memory.citations else ""
    room = int(TIMELINE_TOKENS * OVER) - count_tokens(f"{head}\n{label}{tail}")
    beside = _beside(around)
    needed = sum(count_tokens(f"\n{name}: {line}") for name, line in beside)
    own, truncated = fit(said(memory), max(LEAST, room - needed, room // 2))
    room -= count_tokens(own)
    lines = [f"{head}\n{label}{own}"]
    for place, (name, line) in enumerate(beside):
        share = room // (len(beside) - place)
        shown, _ = fit(line, share - count_tokens(f"\n{name}: "))
        if shown and (share >= LEAST or shown == line):
            lines.append(f"{name}: {shown}")
            room -= count_tokens(f"\n{lines[-1]}")
    text = "\n".join(lines) + tail
    return TimelineEntry(
        id=memory.id,
        task=memory.task,
        reward=reward,
        created=memory.created,
        relation=relation,
        summary=label + own,
        type=memory.kind,
        citations=memory.citations[:TIMELINE_CITATIONS],
        more_citations=len(memory.citations[TIMELINE_CITATIONS:]),
        is_cited=bool(memory.citations),
        truncated=truncated,
        text=text,
        tokens=count_tokens(text),
        next=Handles(memory.id, memory.task or memory.id),
    )


def relationship(memory: Memory, anchor: Memory) -> Relationship:
    if memory.task is not None and memory.task == anchor.task:
        return Relationship.SAME_TASK
    earlier = (memory.created, memory.id) < (anchor.created, anchor.id)
    return Relationship.BEFORE if earlier else Relationship.AFTER


def _head(memory: Memory, anchor: Memory, relation: Relationship, reward: float | None) -> str:
    days = (memory.created - anchor.created) / DAY_MS
    parts = [
        f"{memory.id} {relation} {instant(memory.created)[:16]} ({days:+z.1f}d) {memory.kind}",
        visible(memory.author) if memory.author else "",
        f"task {visible(memory.task)}" if memory.task else "",
        f"reward {reward:.2f}" if reward is not None else "",
    ]
    return " · ".join(filter(None, parts))


def _beside(around: Surroundings) -> list[tuple[str, str]]:
    """Lines by name; the session first, which is the shortest account of what was going on."""
    session = around.session
    lines = []
    if session is not None:
        about = ". ".join(filter(None, (session.title, session.summary)))
        lines.append(("session", visible(one_line(f"{session.id}: {about}" if about else session.id))))
    for name, turn in (("previous", around.previous), ("next", around.following)):
        if turn is not None:
            by = f"{visible(turn.author)}: " if turn.author else ""
            lines.append((name, by + gist(turn)))
    return lines


def index_record(entry: IndexEntry) -> dict[str, Any]:
    record = timeline_entry_record(entry)
    del record["text"]
    return record


def timeline_entry_record(entry: IndexEntry | TimelineEntry) -> dict[str, Any]:
    return {**as_json(entry), "timestamp": instant(entry.created)}
