"""VS Code: the transcripts of its agent, a file of JSON lines for every session, each line an event with its data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from recallens.ingest.importers import Entry, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import (
    ASSISTANT,
    BOOKKEEPING,
    TOOL_CALL,
    USER,
    Transcript,
    asked_of,
    moment,
    project_of,
    text_of,
)

NAME = "vscode"
ABOUT = "agent sessions of VS Code, below its workspaceStorage"
FOLDERS = (
    ".config/Code/User/workspaceStorage",
    "Library/Application Support/Code/User/workspaceStorage",
    "AppData/Roaming/Code/User/workspaceStorage",
)
PATTERNS = ("GitHub.copilot-chat/transcripts/*.jsonl",)
IS_WORK: Final = True

_SPEAKERS: Final = {"user.message": USER, "assistant.message": ASSISTANT}
_STARTED, _ENDED = "tool.execution_start", "tool.execution_complete"


def read(file: SourceFile) -> Iterator[Entry]:
    talk = Transcript(NAME, file.path.stem)
    calls: dict[str, tuple[str, str]] = {}
    yield talk.session()
    for place, record in file.lines():
        if isinstance(record, str):
            yield SkippedEntry(place, record)
            continue
        data = record.get("data")
        yield _event(talk, place, record, data if isinstance(data, Mapping) else {}, calls)
    yield talk.session()


def _event(
    talk: Transcript, place: str, record: Mapping[str, Any], data: Mapping[str, Any], calls: dict[str, tuple[str, str]]
) -> Entry:
    kind, at = str(record.get("type")), moment(record.get("timestamp"))
    id = str(record.get("id") or f"{talk.id}:{place.rpartition(':')[2]}")
    call = str(data.get("toolCallId"))
    if kind == "session.start":
        context = data.get("context")
        talk.project = project_of(context.get("cwd")) if isinstance(context, Mapping) else None
        talk.started = moment(data.get("startTime")) or at
        return SkippedEntry(place, BOOKKEEPING)
    if kind in _SPEAKERS:
        return talk.turn(place, id, text_of(data.get("content")), author=_SPEAKERS[kind], at=at)
    if kind == _STARTED:
        calls[call] = str(data.get("toolName") or "tool"), _asked(data.get("arguments"))
        return SkippedEntry(place, TOOL_CALL)
    if kind == _ENDED:
        tool, asked = calls.get(call, ("tool", ""))
        failed = data.get("success") is False
        text = text_of(data.get("result") or data.get("error") or "")
        # Some versions keep no output; that a command failed and one like it worked is worth a line all the same.
        return talk.output(place, id, text or ("failed" if failed else "worked"), tool=tool, about=asked,
                           failed=failed, at=at)  # fmt: skip
    return SkippedEntry(place, f"{BOOKKEEPING} ({kind})")


def _asked(arguments: object) -> str:
    with suppress(ValueError, RecursionError):
        return asked_of(json.loads(arguments) if isinstance(arguments, str) else arguments)
    return asked_of(arguments)
