"""What a session found out, by rules and without a model: decisions, corrections, commands that failed and then worked.

Each is told in the words of who said it, or by the commands alone: nothing of what a tool gave stands in a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec.structs import replace

from recallens.ingest.classification import classify_kind
from recallens.ingest.corrections import correction_in
from recallens.ingest.importers import MemoryLine
from recallens.ingest.transcript import TOOL, USER
from recallens.model.memory import Kind, Sector
from recallens.text.sentences import sentences

_KEPT_KINDS: Final = (Kind.DECISION, Kind.PREFERENCE)
# Shorter ones say nothing by themselves, longer ones are pasted.
SHORTEST, LONGEST = 20, 400
# Of one turn: a turn that decides more is a document.
MOST_OF_A_TURN: Final = 5
# So many commands later, what works is no longer the answer to what failed.
NEAR: Final = 12
# The share of a failed command's words that one which worked has too.
SAME_COMMAND: Final = 0.5
_WORD: Final = re.compile(r"[\w./-]{2,}")


def findings(lines: Sequence[MemoryLine]) -> list[MemoryLine]:
    """In the order in which they were found out. Each is known by the turn or the command that it was found in."""
    found: list[MemoryLine] = []
    for line in lines:
        # An assistant tells what it has done as if it had been decided: only people decide and correct.
        if line.draft.author == USER:
            found += islice(_decided(line), MOST_OF_A_TURN)
    return [*found, *_worked(lines)]


def _decided(line: MemoryLine) -> Iterator[MemoryLine]:
    for number, sentence in enumerate(sentences(line.draft.content)):
        text = sentence.strip()
        if not SHORTEST <= len(text) <= LONGEST or text.endswith("?"):
            continue
        kind = classify_kind(text, Sector.SEMANTIC)
        if kind in _KEPT_KINDS or correction_in(text) is not None:
            yield _finding(line, text, kind if kind in _KEPT_KINDS else Kind.DECISION, f"said{number}")


def _worked(lines: Sequence[MemoryLine]) -> Iterator[MemoryLine]:
    """A command that failed, with the next one like it that did not."""
    runs = [line for line in lines if line.draft.author == TOOL and _command(line)]
    for at, failed in enumerate(runs):
        if not failed.draft.attributes.get("failed"):
            continue
        later = (run for run in runs[at + 1 : at + 1 + NEAR] if not run.draft.attributes.get("failed"))
        worked = next((run for run in later if _is_alike(_command(failed), _command(run))), None)
        if worked is not None and _command(worked) != _command(failed):
            text = f"`{_command(failed)}` failed; `{_command(worked)}` worked."
            yield _finding(worked, text, Kind.GOTCHA, "worked")


def _command(line: MemoryLine) -> str:
    command = str(line.draft.attributes.get("command") or "")
    return " ".join(command.split()) if "\n" not in command and "`" not in command else ""


def _is_alike(failed: str, worked: str) -> bool:
    words, others = set(_WORD.findall(failed)), set(_WORD.findall(worked))
    return bool(words) and len(words & others) / len(words) >= SAME_COMMAND


def _finding(line: MemoryLine, text: str, kind: Kind, name: str) -> MemoryLine:
    key = f"{line.draft.source_id}/{name}"
    draft = replace(
        line.draft, content=text, kind=kind, sector=None, source_id=key, zone=None, status=None, position=None,
        attributes={}, author=None if line.draft.author == TOOL else line.draft.author,
    )  # fmt: skip
    return MemoryLine(draft, key, None)
