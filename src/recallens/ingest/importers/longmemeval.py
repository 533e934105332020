"""LongMemEval and what has its form: questions, each with sessions of turns, their ids and their dates.

A session that several questions share is read once for each, and kept once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recallens.ingest.importers import Entry, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import ASSISTANT, USER, Transcript, listed, moment

NAME = "longmemeval"
ABOUT = "JSON of LongMemEval: questions with haystack_sessions"
FOLDERS = ()
PATTERNS = ("*.json", "*.jsonl")

_WEEKDAY = re.compile(r"\s*\(\w+\)\s*")


def read(file: SourceFile) -> Iterator[Entry]:
    for place, question in file.elements():
        sessions = question.get("haystack_sessions") if isinstance(question, Mapping) else None
        if not isinstance(sessions, list):
            yield SkippedEntry(place, question if isinstance(question, str) else "no haystack_sessions")
            continue
        ids, dates = listed(question.get("haystack_session_ids")), listed(question.get("haystack_dates"))
        for number, turns in enumerate(sessions):
            id = str(ids[number]) if number < len(ids) else f"{question.get('question_id', place)}-{number}"
            started = _date(dates[number]) if number < len(dates) else None
            yield from _session(f"{place} session {id}", id, started, turns)


def _session(place: str, id: str, started: int | None, turns: Any) -> Iterator[Entry]:
    if not isinstance(turns, list):
        yield SkippedEntry(place, "a session that is no list of turns")
        return
    talk = Transcript(NAME, id, started=started)
    yield talk.session()
    for number, turn in enumerate(turns):
        own = f"{place} turn {number + 1}"
        role = turn.get("role") if isinstance(turn, Mapping) else None
        if role in (USER, ASSISTANT):
            yield talk.turn(own, f"{id}:{number}", turn.get("content"), author=role, at=started)
        else:
            yield SkippedEntry(own, f"an unknown role, {role!r}")
    yield talk.session()


def _date(text: object) -> int | None:
    """As in 2023/05/20 (Sat) 02:21."""
    return moment(_WEEKDAY.sub(" ", text).strip().replace("/", "-")) if isinstance(text, str) else None
