"""What a session found out, by rules and without a model: decisions, corrections, commands that failed and then worked.

Each is told in the words of who said it, or by the commands alone: nothing of what a tool gave stands in a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from msgspec import structs

from recallens.ingest.classification import classify_kind
from recallens.ingest.corrections import correction_in
from recallens.ingest.draft import SAID
from recallens.ingest.importers import MemoryLine
from recallens.ingest.redact import redact
from recallens.ingest.suspicion import suspicions
from recallens.ingest.transcript import TOOL, USER
from recallens.model.memory import Kind, Sector
from recallens.text.content import morphemes
from recallens.text.languages import alternatives
from recallens.text.normalize import fold
from recallens.text.sentences import sentence_ends
from recallens.text.statements import statements_in

_KEPT_KINDS: Final = (Kind.DECISION, Kind.PREFERENCE)
# Shorter ones say nothing by themselves, longer ones are pasted. A syllable of Korean says as much as two letters.
SHORTEST, LONGEST = 14, 400
# Of one turn: a turn that decides more is a document.
MOST_OF_A_TURN: Final = 5
# So many commands later, what works is no longer the answer to what failed.
NEAR: Final = 12
# The share of a failed command's words that one which worked has too.
SAME_COMMAND: Final = 0.5
# A correction that names less is told with what the person had said before it, where that is no longer than this.
NAMED_BY_ITSELF: Final = 3
LONGEST_ABOUT: Final = 120
# Of the files that were edited upon a decision.
MOST_FILES: Final = 3
_EDITS: Final = re.compile(r"edit|write|replace|patch|create_?file|insert", re.IGNORECASE)
_PATCHED: Final = re.compile(r"^\*\*\* (?:Update|Add) File: (\S+)$", re.MULTILINE)
_PATH: Final = re.compile(r"[\w.~@+:\\/-]*[./\\][\w.@+-]+")
_WORD: Final = re.compile(r"[\w./-]{2,}")
_RULING: Final = re.compile(alternatives(lambda pack: pack.work.rulings))
_REQUEST: Final = re.compile(alternatives(lambda pack: pack.work.requests))
_PASSING: Final = re.compile(alternatives(lambda pack: pack.work.passing))
_CHOICE: Final = re.compile(alternatives(lambda pack: pack.work.choices))
_REBUTTAL: Final = re.compile(alternatives(lambda pack: pack.work.rebuttals))
# What is not the person's own, or not said to hold.
_REPORTED: Final = re.compile(alternatives(lambda pack: pack.work.reported))
_UNSETTLED: Final = re.compile(alternatives(lambda pack: pack.work.unsettled))
# What somebody else wrote: quoted lines and code, and quotations of more than a word, which may be a name.
_QUOTED_LINES: Final = re.compile(r"^[ \t]*>[^\n]*$|^```.*?(?:^```\s*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTATION: Final = re.compile(
    r"\"[^\"\s]*\s[^\"]{1,400}\"|[“„«][^”“»\s]*\s[^”“»]{1,400}[”“»]"
    r"|[「『][^」』]{1,400}[」』]|(?<![\w'])'[^'\s]*\s[^'\n]{1,400}'(?![A-Za-z0-9])|‘[^’\s]*\s[^‘’\n]{1,400}’(?![A-Za-z0-9])"
)
_LEFT_OUT: Final = "\ufffc"


@dataclass(slots=True)
class _Failed:
    command: str
    runs_since: int = 0


@dataclass(slots=True)
class _Session:
    failed: list[_Failed] = field(default_factory=list)  # what nothing has answered yet
    decided: list[MemoryLine] = field(default_factory=list)  # in the last turn of the person
    edited: dict[str, None] = field(default_factory=dict)  # the files that were edited since
    asked: str = ""  # what the person said the turn before

    def settled(self) -> list[MemoryLine]:
        """What was decided, with the files that were edited upon it: it is about those."""
        files = list(self.edited)[:MOST_FILES]
        found = [replace(line, draft=structs.replace(line.draft, attributes={"files": files} if files else {}))
                 for line in self.decided]  # fmt: skip
        self.decided, self.edited = [], {}
        return found


class Finder:
    """Reads the lines of transcripts as they come, each session in its order, and gives what is found out in them: a
    decision once the next turn of the person begins, the others with `rest`.

    Each finding is known by the turn or the command that it was found in.
    """

    def __init__(self) -> None:
        self._sessions: dict[str | None, _Session] = {}

    def found_in(self, lines: Iterable[MemoryLine]) -> Iterator[MemoryLine]:
        for line in lines:
            session = self._sessions.setdefault(line.draft.session, _Session())
            # An assistant tells what it has done as if it had been decided: only people decide and correct.
            if line.draft.author == USER:
                yield from session.settled()
                session.decided = list(islice(_decided(line, session.asked), MOST_OF_A_TURN))
                session.asked = line.draft.content
            elif line.draft.author == TOOL:
                session.edited |= dict.fromkeys(_edited(line))
                if command := _command(line):
                    yield from _ran(line, command, session.failed)

    def rest(self) -> list[MemoryLine]:
        return [line for session in self._sessions.values() for line in session.settled()]


def _ran(line: MemoryLine, command: str, waiting: list[_Failed]) -> Iterator[MemoryLine]:
    """A command that failed, with the next one like it that did not."""
    for failed in waiting:
        failed.runs_since += 1
    if line.draft.attributes.get("failed"):
        waiting.append(_Failed(command))
    else:
        answered = [failed for failed in waiting if _is_alike(failed.command, command)]
        for number, before in enumerate(dict.fromkeys(each.command for each in answered if each.command != command)):
            name = "worked" if number == 0 else f"worked{number}"
            yield _finding(line, f"`{before}` failed; `{command}` worked.", Kind.GOTCHA, name)
        waiting[:] = [failed for failed in waiting if failed not in answered]
    waiting[:] = [failed for failed in waiting if failed.runs_since < NEAR]


def _edited(line: MemoryLine) -> Iterator[str]:
    """The files that a tool has changed, as they are called within the project."""
    held, asked = line.draft.attributes, str(line.draft.attributes.get("command") or "")
    if held.get("failed") or not _EDITS.search(str(held.get("tool") or "")):
        return
    for path in (*_PATCHED.findall(asked), *([asked] if _PATH.fullmatch(asked) else ())):
        _, inside, below = path.replace("\\", "/").partition(f"/{line.draft.project}/")
        yield below if inside else path


def _decided(line: MemoryLine, asked: str) -> Iterator[MemoryLine]:
    content = _QUOTED_LINES.sub("", line.draft.content)
    own = _QUOTATION.sub(lambda match: _LEFT_OUT * len(match[0]), content)
    ends, corrects = sentence_ends(own), False
    for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        text, said = content[begin:end].strip(), own[begin:end].replace(_LEFT_OUT, " ").strip()
        after_rebuttal, corrects = corrects, _REBUTTAL.search(fold(said)) is not None
        if not SHORTEST <= _said(text) <= LONGEST or text.endswith("?"):
            continue
        if _REPORTED.search(fold(said)) or _UNSETTLED.search(fold(said)):
            continue
        kind = classify_kind(said, Sector.SEMANTIC)
        laid_down = kind in _KEPT_KINDS or _is_laid_down(said) or (after_rebuttal and _states(said))
        if laid_down and not redact(text)[1]:  # a secret is no decision, and without it the sentence says nothing
            found = _finding(line, text, kind if kind in _KEPT_KINDS else Kind.DECISION, f"{SAID}{number}")
            about = _about(asked) if len(_named(text)) < NAMED_BY_ITSELF else ""
            yield replace(found, draft=structs.replace(found.draft, title=about)) if about else found


def _named(text: str) -> list[str]:
    """What a sentence names beside amounts."""
    return [word for word in morphemes(text) if not any(map(str.isdigit, word))]


def _about(asked: str) -> str:
    """What the person had asked or said last, where a correction tells nothing of what it is about."""
    begins = [0, *sentence_ends(asked)]
    last = next((said for begin in reversed(begins) if len(_named(said := asked[begin:].strip())) > 1), "")
    return "" if len(last) > LONGEST_ABOUT or suspicions(last) or redact(last)[1] else " ".join(last.split())


def _is_laid_down(text: str) -> bool:
    """Whether it puts somebody right or says what holds from now on; what is to be done next does neither."""
    folded = fold(text)
    if _CHOICE.search(folded):
        return True
    if _PASSING.search(folded):
        return False
    if _RULING.search(folded):
        return True
    correction = None if _REQUEST.search(folded) else correction_in(text)
    # "Now it works" tells how things are; who says what holds no longer has laid something down.
    return correction is not None and bool(correction.old or correction.old_sizes)


def _states(text: str) -> bool:
    """Whether it says how much or what something is: behind "That's wrong." that is what is right."""
    return any(claim.amounts or claim.named for claim in statements_in(text))


def _said(text: str) -> int:
    return len(text) if text.isascii() else len(text) + sum(letter > "\u1100" for letter in text)


def _command(line: MemoryLine) -> str:
    command = str(line.draft.attributes.get("command") or "")
    return " ".join(command.split()) if "\n" not in command and "`" not in command else ""


def _is_alike(failed: str, worked: str) -> bool:
    words, others = set(_WORD.findall(failed)), set(_WORD.findall(worked))
    return bool(words) and len(words & others) / len(words) >= SAME_COMMAND


def _finding(line: MemoryLine, text: str, kind: Kind, name: str) -> MemoryLine:
    key = f"{line.draft.source_id}/{name}"
    draft = structs.replace(
        line.draft, content=text, kind=kind, sector=None, source_id=key, zone=None, status=None, position=None,
        attributes={}, author=None if line.draft.author == TOOL else line.draft.author,
    )  # fmt: skip
    return MemoryLine(draft, key, None)
