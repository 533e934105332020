"""Claude Code: the transcripts below ~/.claude/projects, a file of JSON lines for every session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from recallens.ingest.importers import Entry, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import (
    ASSISTANT,
    BOOKKEEPING,
    NO_TEXT,
    THOUGHT,
    TOOL_CALL,
    USER,
    Transcript,
    asked_of,
    moment,
    project_of,
    text_of,
)

NAME = "claude-code"
ABOUT = "transcripts of Claude Code, below ~/.claude/projects"
FOLDERS = (".claude/projects",)
PATTERNS = ("*.jsonl",)
IS_WORK: Final = True

_OF_THE_CLIENT: Final = re.compile(r"\s*<(?:command-|local-command|bash-|user-memory)|Caveat: The messages below")
_INTERRUPTED: Final = "[Request interrupted"


def read(file: SourceFile) -> Iterator[Entry]:
    talks: dict[str, Transcript] = {}
    calls: dict[str, tuple[str, str]] = {}  # what each tool was asked, by the id of the call
    title: str | None = None
    for place, record in file.lines():
        if isinstance(record, str):
            yield SkippedEntry(place, record)
            continue
        kind = record.get("type")
        if kind == "summary":
            title = text_of(record.get("summary")) or title
        if kind not in ("user", "assistant") or record.get("isMeta"):
            yield SkippedEntry(place, f"{BOOKKEEPING} ({kind})" if isinstance(kind, str) else BOOKKEEPING)
            continue
        session = str(record.get("sessionId") or file.path.stem)
        if session not in talks:
            project = project_of(record.get("cwd"))
            talks[session] = Transcript(
                NAME, session, project=project, title=title, started=moment(record.get("timestamp"))
            )
            yield talks[session].session()
        yield from _parts(talks[session], place, record, calls)
    for talk in talks.values():
        yield talk.session()


def _parts(
    talk: Transcript, place: str, record: Mapping[str, Any], calls: dict[str, tuple[str, str]]
) -> Iterator[Entry]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, Mapping) else message
    # What an assistant gives another one to do is said by it, and so is what it made of a long talk.
    made = bool(record.get("isSidechain") or record.get("isCompactSummary"))
    author = USER if record.get("type") == "user" and not made else ASSISTANT
    at, id = moment(record.get("timestamp")), str(record.get("uuid") or place)
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for number, part in enumerate(parts):
        own = f"{id}#{number}" if number else id
        match part.get("type") if isinstance(part, Mapping) else None:
            case "text":
                text = text_of(part.get("text"))
                if _OF_THE_CLIENT.match(text) or text.startswith(_INTERRUPTED):
                    yield SkippedEntry(place, BOOKKEEPING)
                else:
                    yield talk.turn(place, own, text, author=author, at=at)
            case "tool_use":
                calls[str(part.get("id"))] = str(part.get("name") or "tool"), asked_of(part.get("input"))
                yield SkippedEntry(place, TOOL_CALL)
            case "tool_result":
                tool, asked = calls.get(str(part.get("tool_use_id")), ("tool", ""))
                yield talk.output(
                    place, own, text_of(part.get("content")), tool=tool, about=asked,
                    failed=part.get("is_error") is True, at=at,
                )  # fmt: skip
            case "thinking" | "redacted_thinking":
                yield SkippedEntry(place, THOUGHT)
            case "image" | "document":
                yield SkippedEntry(place, "an image or a file, which is no text")
            case _:
                yield SkippedEntry(place, NO_TEXT)
    if not parts:
        yield SkippedEntry(place, NO_TEXT)
