"""Claude: conversations.json of the export that claude.ai sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from recallens.ingest.importers import Entry, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import (
    ASSISTANT,
    NO_MESSAGES,
    THOUGHT,
    TOOL_CALL,
    USER,
    Transcript,
    listed,
    moment,
    text_of,
)

NAME = "claude"
ABOUT = "conversations.json of an export of claude.ai"
FOLDERS = ()
PATTERNS = ("conversations.json",)

_AUTHORS: Final = {"human": USER, "user": USER, "assistant": ASSISTANT}


def read(file: SourceFile) -> Iterator[Entry]:
    for place, conversation in file.elements(("conversations",)):
        messages = conversation.get("chat_messages") if isinstance(conversation, Mapping) else None
        if not isinstance(messages, list):
            why = conversation if isinstance(conversation, str) else "a conversation without chat_messages"
            yield SkippedEntry(place, why)
            continue
        talk = Transcript(
            NAME, str(conversation.get("uuid") or place), title=text_of(conversation.get("name")) or None,
            started=moment(conversation.get("created_at")), summary=text_of(conversation.get("summary")) or None,
        )  # fmt: skip
        yield talk.session()
        if not messages:
            yield SkippedEntry(place, NO_MESSAGES)
        for number, message in enumerate(messages, start=1):
            own = f"{place} message {number}"
            if isinstance(message, Mapping):
                yield from _message(talk, own, message)
            else:
                yield SkippedEntry(own, "not a JSON object")
        yield talk.session()


def _message(talk: Transcript, place: str, message: Mapping[str, Any]) -> Iterator[Entry]:
    author = _AUTHORS.get(str(message.get("sender")))
    if author is None:
        yield SkippedEntry(place, f"an unknown sender, {message.get('sender')!r}")
        return
    at, id = moment(message.get("created_at")), str(message.get("uuid") or place)
    parts = [part for part in listed(message.get("content")) if isinstance(part, Mapping)]
    spoken = [text_of(part.get("text")) for part in parts if part.get("type") == "text"]
    yield talk.turn(place, id, "\n".join(filter(None, spoken)) or message.get("text"), author=author, at=at)
    asked = "tool"
    for number, part in enumerate(parts):
        match part.get("type"):
            case "tool_use":
                asked = str(part.get("name") or "tool")
                yield SkippedEntry(place, TOOL_CALL)
            case "tool_result":
                yield talk.output(
                    place, f"{id}#{number}", text_of(part.get("content")), tool=str(part.get("name") or asked),
                    failed=part.get("is_error") is True, at=at,
                )  # fmt: skip
            case "thinking":
                yield SkippedEntry(place, THOUGHT)
            case _:
                pass
    for number, attached in enumerate(listed(message.get("attachments"))):
        if isinstance(attached, Mapping):
            yield talk.output(
                place, f"{id}#file{number}", text_of(attached.get("extracted_content")), tool="attachment",
                about=text_of(attached.get("file_name")), at=at,
            )  # fmt: skip
