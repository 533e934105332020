"""Codex: the rollouts below ~/.codex/sessions, a file of JSON lines for every session.

Each line has a timestamp, a type and a payload; older files have the payload alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from recallens.ingest.importers import Entry, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import (
    ASSISTANT,
    BOOKKEEPING,
    THOUGHT,
    TOOL_CALL,
    USER,
    Transcript,
    asked_of,
    moment,
    project_of,
    text_of,
)

NAME = "codex"
ABOUT = "sessions of Codex, below ~/.codex/sessions"
FOLDERS = (".codex/sessions", ".codex/archived_sessions")
PATTERNS = ("rollout-*.jsonl",)
IS_WORK: Final = True

_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "mcp_tool_call")
_FAILED: Final = re.compile(r"(?:Process exited with code|exit code:?) (?!0\b)-?\d", re.IGNORECASE)
_SAID_TWICE: Final = "an event, which the turn itself tells"
_OF_THE_CLIENT: Final = re.compile(
    r"\s*<(?:environment_context|user_instructions|turn_aborted|permissions)|# AGENTS\.md"
)


def read(file: SourceFile) -> Iterator[Entry]:
    talk: Transcript | None = None
    calls: dict[str, tuple[str, str]] = {}
    for place, record in file.lines():
        if isinstance(record, str):
            yield SkippedEntry(place, record)
            continue
        payload = record.get("payload")
        item: Mapping[str, Any] = payload if isinstance(payload, Mapping) else record
        is_header = record.get("type") == "session_meta" or ("payload" not in record and "type" not in record)
        if talk is None:
            git = item.get("git")
            started = moment(item.get("timestamp") or record.get("timestamp"))
            id = str(item.get("id") or file.path.stem.removeprefix("rollout-")) if is_header else file.path.stem
            folder = item.get("cwd") or (git.get("repository_url") if isinstance(git, Mapping) else None)
            talk = Transcript(NAME, id, project=project_of(folder), started=started)
            yield talk.session()
        if record.get("type") == "event_msg":
            yield SkippedEntry(place, _SAID_TWICE)
        elif is_header or record.get("type") in ("turn_context", "compacted", "state"):
            yield SkippedEntry(place, BOOKKEEPING)
        else:
            yield _item(talk, place, item, calls, moment(record.get("timestamp")))
    if talk is not None:
        yield talk.session()


def _item(
    talk: Transcript, place: str, item: Mapping[str, Any], calls: dict[str, tuple[str, str]], at: int | None
) -> Entry:
    kind, line = str(item.get("type")), place.rpartition(":")[2]
    id = str(item.get("id") or f"{talk.id}:{line}")
    if kind == "message" and item.get("role") in (USER, ASSISTANT):
        text = text_of(item.get("content"))
        if _OF_THE_CLIENT.match(text):
            return SkippedEntry(place, BOOKKEEPING)
        return talk.turn(place, id, text, author=str(item["role"]), at=at)
    if kind in _CALLS:
        calls[str(item.get("call_id") or item.get("id"))] = str(item.get("name") or kind), _asked(item)
        return SkippedEntry(place, TOOL_CALL)
    if kind.endswith("_output"):
        tool, asked = calls.get(str(item.get("call_id")), ("tool", ""))
        text, failed = _given(item.get("output"))
        return talk.output(place, f"{talk.id}:{line}", text, tool=tool, about=asked, failed=failed, at=at)
    return SkippedEntry(place, THOUGHT if kind == "reasoning" else f"{BOOKKEEPING} ({kind})")


def _asked(item: Mapping[str, Any]) -> str:
    arguments = item.get("arguments") or item.get("input") or item.get("action")
    try:
        return asked_of(json.loads(arguments)) if isinstance(arguments, str) else asked_of(arguments)
    except (ValueError, RecursionError):
        return asked_of(arguments)


def _given(output: object) -> tuple[str, bool]:
    """What a tool gave, and whether it failed: as text, or as JSON with an exit code."""
    if isinstance(output, str) and output.startswith("{"):
        with suppress(ValueError, RecursionError):
            output = json.loads(output)
    if isinstance(output, Mapping):
        about = output.get("metadata")
        code = about.get("exit_code") if isinstance(about, Mapping) else output.get("exit_code")
        return text_of(output), (isinstance(code, int) and code != 0) or output.get("success") is False
    text = text_of(output)
    return text, _FAILED.search(text[:400]) is not None
