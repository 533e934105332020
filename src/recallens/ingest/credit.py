"""What shows that a memory was of use in a task, where nobody said so: the task's log or summary names it, names the
file that it cites, or says what it says. That it was returned shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from recallens.model.citation import FileCitation, SymbolCitation
from recallens.model.memory import Memory
from recallens.text.content import content_words, held_share

# A log says what a memory says if one stretch of it has so much of the memory's words, and so many of them. Words of
# the task itself do not count: a log repeats those anyway.
SAME_WORDS: Final = 0.6
LEAST_WORDS: Final = 3
STRETCH_LINES: Final = 3
MOST_STRETCHES: Final = 2_000

# A log shows a way of steps if it shows half of them and at least so many: a step's command on a line of its own, or
# most of its words in one piece of the log.
LEAST_STEPS: Final = 2
SAME_STEP: Final = 0.75

_STEP: Final = re.compile(r"(?:^|(?<=[\s:;,.]))\d{1,2}[.)]\s+")
_PIECE: Final = re.compile(r"[\n;]|[.!?](?=\s|$)")
_PROMPT: Final = re.compile(r"^\s*(?:[\w@~:/.-]*[$#>%]|\+)\s+(?=\S+ \S)", re.MULTILINE)

# A handle may end a sentence, but m5.large and Cortex-m4 are other things.
_HANDLE: Final = re.compile(r"(?<![\w./-])m[1-9]\d*(?![\w/-]|\.\w)")


class WorkLog(Struct, frozen=True):
    """What a task left behind, ready to be looked through."""

    text: str
    handles: frozenset[str]
    stretches: tuple[frozenset[str], ...]
    task: frozenset[str]  # the words of the task itself
    pieces: tuple[frozenset[str], ...]
    commands: frozenset[str]


def work_log(task: str, texts: Iterable[str]) -> WorkLog:
    whole = "\n".join(texts)
    lines = [line for line in whole.splitlines() if line.strip()][:MOST_STRETCHES]
    stretches = ("\n".join(lines[at : at + STRETCH_LINES]) for at in range(max(len(lines) - STRETCH_LINES + 1, 1)))
    pieces = (content_words(piece) for piece in _PIECE.split("\n".join(lines))[:MOST_STRETCHES] if piece.strip())
    commands = {_plain(line[prompt.end() :]) for line in lines if (prompt := _PROMPT.match(line))}
    return WorkLog(
        text=whole,
        handles=frozenset(_HANDLE.findall(whole)),
        stretches=tuple(map(content_words, stretches)),
        task=content_words(task),
        pieces=tuple(pieces),
        commands=frozenset(commands),
    )


def _plain(command: str) -> str:
    return " ".join(command.casefold().replace("`", "").split())


def _shows_steps(memory: Memory, log: WorkLog) -> bool:
    steps = [step.strip(" \t\n,;.") for step in _STEP.split(memory.content)[1:]]
    shown = sum(_shows(step, log) for step in steps)
    return shown >= LEAST_STEPS and 2 * shown >= len(steps)


def _shows(step: str, log: WorkLog) -> bool:
    words, said = content_words(step), f" {_plain(step)} "
    if any(f" {command} " in said for command in log.commands):
        return True
    told = len(words) >= LEAST_STEPS and not words <= log.task
    return told and any(held_share(words, piece) >= SAME_STEP for piece in log.pieces)


def evidence_of_use(memory: Memory, log: WorkLog) -> str | None:
    """What of the memory the log shows, in a few words; None where it shows nothing."""
    if memory.handle in log.handles or memory.id in log.text:
        return memory.handle
    for citation in memory.citations:
        match citation:
            case FileCitation(path=path) | SymbolCitation(file=path):
                pass
            case _:
                continue
        if re.search(rf"(?<![\w/-]){re.escape(path)}(?![\w/-])", log.text):
            return path
    words = content_words(memory.content) - log.task
    if len(words) >= LEAST_WORDS and any(held_share(words, stretch) >= SAME_WORDS for stretch in log.stretches):
        return "its words"
    return "its steps" if _shows_steps(memory, log) else None
