"""Cursor: the transcripts below ~/.cursor/projects, a file of JSON lines for every conversation.

A line has a role and the parts of a message. Cursor writes neither ids nor times, nor what a tool gave, so that a line
is known by its conversation and its number, and the time of the import is its time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from recallens.ingest.importers import Entry, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import ASSISTANT, BOOKKEEPING, USER, Transcript, text_of

NAME = "cursor"
ABOUT = "conversations of Cursor, below ~/.cursor/projects"
FOLDERS = (".cursor/projects",)
PATTERNS = ("agent-transcripts/*/*.jsonl", "agent-transcripts/*.jsonl")
IS_WORK: Final = True

# What a person typed stands between these; beside it stand files and rules that the program added.
_TYPED: Final = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def read(file: SourceFile) -> Iterator[Entry]:
    talk = Transcript(NAME, file.path.stem)
    yield talk.session()
    for place, record in file.lines():
        if isinstance(record, str):
            yield SkippedEntry(place, record)
            continue
        role, message = record.get("role"), record.get("message")
        if role not in (USER, ASSISTANT):
            yield SkippedEntry(place, BOOKKEEPING)
            continue
        text = text_of(message.get("content") if isinstance(message, dict) else message)
        typed = "\n\n".join(_TYPED.findall(text)) if role == USER else ""
        id = f"{talk.id}:{place.rpartition(':')[2]}"
        yield talk.turn(place, id, typed or text, author=role, at=None)
    yield talk.session()
