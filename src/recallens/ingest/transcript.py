"""What the transcripts of every maker have in common: a session, turns in order, and what tools gave."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from recallens.errors import InvalidInput
from recallens.ingest.draft import Draft
from recallens.ingest.importers import MemoryLine, SessionLine, SkippedEntry
from recallens.ingest.validate import parse_when
from recallens.model.memory import Kind, Sector, Status, Zone

USER: Final = "user"
ASSISTANT: Final = "assistant"
TOOL: Final = "tool"
# As much of what a tool gave as tells what became of it: its beginning, and its end, where errors stand.
OUTPUT_HEAD, OUTPUT_TAIL = 1_400, 600
LONGEST_COMMAND: Final = 400
TITLE_CHARACTERS: Final = 80

NO_TEXT: Final = "no text"
NO_MESSAGES: Final = "a conversation without messages"
THOUGHT: Final = "a thought of the model"
TOOL_CALL: Final = "a call of a tool: kept with what it gave"
BOOKKEEPING: Final = "the program's own bookkeeping"

# What a program puts into a turn beside what was said: its own rules, and what hooks gave, which is not to come back.
_CLIENT_TAG: Final = re.compile(r"<(system-reminder|hook_context|environment_context|user_instructions|INSTRUCTIONS)>")


class Transcript:
    """One session while it is read: gives every turn its place, its time and its session."""

    def __init__(
        self, source: str, session: str, *, project: str | None = None, title: str | None = None,
        started: int | None = None, summary: str | None = None,
    ) -> None:  # fmt: skip
        self.source = source
        self.id = session
        self.project = project
        self.title = title
        self.summary = summary
        self.started = started
        self.latest = started
        self._position = 0

    def session(self) -> SessionLine:
        return SessionLine(self.id, self.project, self.title, self.summary, self.started, self.latest)

    def turn(self, place: str, id: str, text: object, *, author: str, at: int | None) -> MemoryLine | SkippedEntry:
        """What a person or an assistant said."""
        said = without_client_tags(text).strip() if isinstance(text, str) else ""
        if not said:
            return SkippedEntry(place, NO_TEXT)
        if self.title is None and author == USER:
            self.title = said.splitlines()[0][:TITLE_CHARACTERS]
        return self._kept(Draft(said, author=author, kind=Kind.EPISODE), id, at)

    def output(
        self, place: str, id: str, text: str, *, tool: str, about: str = "", failed: bool = False, at: int | None
    ) -> MemoryLine | SkippedEntry:
        """What a tool gave, below what it was asked: for nobody, until a person looks at it. It is archived as well,
        so that thousands of them do not stand in the review queue."""
        if not text.strip():
            return SkippedEntry(place, NO_TEXT)
        asked = about.strip()[:LONGEST_COMMAND]
        content = f"{tool}: {asked}\n{shortened(text)}" if asked else f"{tool}\n{shortened(text)}"
        attributes = {"tool": tool, **({"command": asked} if asked else {}), **({"failed": True} if failed else {})}
        draft = Draft(
            content, author=TOOL, kind=Kind.OBSERVATION, zone=Zone.QUARANTINE, status=Status.ARCHIVED,
            attributes=attributes,
        )  # fmt: skip
        return self._kept(draft, id, at)

    def _kept(self, draft: Draft, id: str, at: int | None) -> MemoryLine:
        when = self.latest if at is None else at
        if when is not None:
            self.started = when if self.started is None else self.started
            self.latest = when if self.latest is None else max(self.latest, when)
        self._position += 1
        key = key_of(self.source, id)
        full = replace(
            draft, sector=Sector.EPISODIC, project=self.project, session=self.id, position=self._position,
            created=when, source=self.source, source_id=key,
        )  # fmt: skip
        return MemoryLine(full, key, None)


def without_client_tags(text: str) -> str:
    """A turn without what the program put into it; a tag that is never closed stays. The end of a tag that has none is
    looked for once, so that a turn of nothing but openings is read in one pass."""
    kept: list[str] = []
    unclosed: set[str] = set()
    at = 0
    while opening := _CLIENT_TAG.search(text, at):
        name, end = opening[1], -1
        if name not in unclosed:
            end = text.find(f"</{name}>", opening.end())
        if end < 0:
            unclosed.add(name)
            kept.append(text[at : opening.end()])
            at = opening.end()
        else:
            kept.append(text[at : opening.start()])
            at = end + len(f"</{name}>")
    return "".join((*kept, text[at:]))


def key_of(source: str, id: str) -> str:
    """The id that something has where it came from, which no other source can have too."""
    return f"{source}:{id}"


def moment(value: object) -> int | None:
    """A time in milliseconds; None where the value is none, since a turn without a time is a turn all the same."""
    try:
        return None if value is None or value == "" else parse_when(value, now_ms=0)
    except (InvalidInput, OverflowError):
        return None


def shortened(text: str) -> str:
    """The beginning and the end of a long output."""
    text = text.strip()
    if len(text) <= OUTPUT_HEAD + OUTPUT_TAIL:
        return text
    left_out = len(text) - OUTPUT_HEAD - OUTPUT_TAIL
    return f"{text[:OUTPUT_HEAD]}\n[… {left_out:,} characters left out …]\n{text[-OUTPUT_TAIL:]}"


def project_of(folder: object) -> str | None:
    """A folder's name stands for the project that is worked on in it."""
    name = folder.replace("\\", "/").rstrip("/").rpartition("/")[2] if isinstance(folder, str) else ""
    return name or None


def listed(value: object) -> list[Any]:
    """A list as it is; what should be one and is none has nothing in it."""
    return value if isinstance(value, list) else []


def text_of(content: object) -> str:
    """The text of a message's content: a text, or a list of parts of which some are text."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of(content.get("text") or content.get("content") or content.get("output") or "")
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    return ""


def asked_of(arguments: object) -> str:
    """What a tool was asked to do, in a line: its command, its file, or its arguments."""
    if not isinstance(arguments, Mapping):
        return arguments if isinstance(arguments, str) else ""
    for name in ("command", "cmd", "file_path", "path", "url", "query", "pattern"):
        value: Any = arguments.get(name)
        if isinstance(value, list):
            value = " ".join(map(str, value))
        if isinstance(value, str) and value:
            return value
    return ", ".join(f"{name}={value}" for name, value in arguments.items() if isinstance(value, str | int | float))
