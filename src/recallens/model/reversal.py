"""What takes a change back: the steps that lead from what is now to what was before. It names memories, and holds no
text of anybody."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct, field

# Of each namespace so many changes can be taken back, the latest first.
MOST_REVERSALS: Final = 50


class StepKind(StrEnum):
    RESTORE = "restore"
    FORGET = "forget"
    SET = "set"  # columns of the memory's row, to what they were
    PIN = "pin"
    UNPIN = "unpin"
    RELATE = "relate"
    UNRELATE = "unrelate"
    UNCONFIRM = "unconfirm"


class ReversalStep(Struct, frozen=True, omit_defaults=True):
    kind: StepKind
    memory: str
    other: str | None = None  # the far end of a relation
    values: dict[str, Any] = field(default_factory=dict)


class Reversal(Struct, frozen=True):
    """`words` say what was done, for the person; `group` ties together what one command did."""

    words: str
    at: int
    group: str
    steps: tuple[ReversalStep, ...]
