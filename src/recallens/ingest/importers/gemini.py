"""Gemini CLI: the chats below ~/.gemini/tmp, each a JSON file with its messages, or JSON lines in newer versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from recallens.ingest.importers import Entry, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import ASSISTANT, BOOKKEEPING, USER, Transcript, asked_of, listed, moment, text_of

NAME = "gemini"
ABOUT = "chats of Gemini CLI, below ~/.gemini/tmp"
FOLDERS = (".gemini/tmp",)
PATTERNS = ("chats/session-*.json", "chats/session-*.jsonl")
IS_WORK: Final = True

_AUTHORS: Final = {"user": USER, "gemini": ASSISTANT, "model": ASSISTANT}


def read(file: SourceFile) -> Iterator[Entry]:
    talk: Transcript | None = None
    for place, record in file.elements():
        if isinstance(record, str):
            yield SkippedEntry(place, record)
            continue
        if talk is None:
            talk = _talk(record, file)
            yield talk.session()
        messages = record.get("messages")
        if isinstance(messages, list):
            for number, message in enumerate(messages, start=1):
                own = f"{file.path.name} message {number}"
                if isinstance(message, Mapping):
                    yield from _message(talk, own, message)
                else:
                    yield SkippedEntry(own, "not a JSON object")
        else:
            yield from _message(talk, place, record)
    if talk is not None:
        yield talk.session()


def _talk(record: Mapping[str, Any], file: SourceFile) -> Transcript:
    folder = file.path.parent.parent.name  # a hash of the project's folder, or its name in newer versions
    hashed = len(folder) >= 32 and all(character in "0123456789abcdef" for character in folder)
    return Transcript(
        NAME, str(record.get("sessionId") or file.path.stem), project=None if hashed or not folder else folder,
        started=moment(record.get("startTime") or record.get("timestamp")),
        summary=text_of(record.get("summary")) or None,
    )  # fmt: skip


def _message(talk: Transcript, place: str, message: Mapping[str, Any]) -> Iterator[Entry]:
    author = _AUTHORS.get(str(message.get("type") or message.get("role")))
    if author is None:
        yield SkippedEntry(place, BOOKKEEPING)
        return
    at, id = moment(message.get("timestamp")), str(message.get("id") or f"{talk.id}:{place}")
    calls = [call for call in listed(message.get("toolCalls")) if isinstance(call, Mapping)]
    text = text_of(message.get("content") or message.get("parts"))
    if text.strip() or not calls:
        yield talk.turn(place, id, text, author=author, at=at)
    for number, call in enumerate(calls):
        given = call.get("resultDisplay")
        yield talk.output(
            place, str(call.get("id") or f"{id}#{number}"), given if isinstance(given, str) else _result(call),
            tool=str(call.get("name") or "tool"), about=asked_of(call.get("args")),
            failed=call.get("status") == "error", at=moment(call.get("timestamp")) or at,
        )  # fmt: skip


def _result(call: Mapping[str, Any]) -> str:
    parts = call.get("result")
    return text_of([_response(part) for part in (parts if isinstance(parts, list) else [parts])])


def _response(part: object) -> object:
    if not isinstance(part, Mapping):
        return part
    given = part.get("functionResponse")
    return given.get("response") if isinstance(given, Mapping) else None
