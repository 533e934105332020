"""Why a memory stands elsewhere in one recall than in another: a closed union, each with its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from recallens.xray.reading import term_words

FEWEST_DECIMALS, MOST_DECIMALS = 4, 12


@dataclass(frozen=True, slots=True)
class TermChanged:
    """A part of the score that is not what it was; None where the term was not computed."""

    term: str
    before: float | None
    after: float | None

    def to_json(self) -> dict[str, Any]:
        return {"type": "term", "term": self.term, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        digits = _telling(self.after, self.before)
        return f"{term_words(self.term)} counts {_number(self.after, digits)} and not {_number(self.before, digits)}"


@dataclass(frozen=True, slots=True)
class Filtered:
    """A gate or a pick that kept it out of one of the two."""

    name: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {"type": "filter", "name": self.name, "reason": self.reason}

    def __str__(self) -> str:
        return f"the filter {self.name}" + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True, slots=True)
class NewMemory:
    """Stored after the earlier recall."""

    def to_json(self) -> dict[str, Any]:
        return {"type": "new-memory"}

    def __str__(self) -> str:
        return "it is new: it was stored after the earlier recall"


@dataclass(frozen=True, slots=True)
class Gone:
    """Superseded, forgotten, archived … since the earlier recall, or deleted for good."""

    how: str

    def to_json(self) -> dict[str, Any]:
        return {"type": "gone", "how": self.how}

    def __str__(self) -> str:
        return f"it is {self.how} now"


@dataclass(frozen=True, slots=True)
class SettingChanged:
    """A setting of the query that is not what it was."""

    setting: str
    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        return {"type": "setting", "setting": self.setting, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        return f"{self.setting} is {_value(self.after)} and was {_value(self.before)}"


@dataclass(frozen=True, slots=True)
class NotProposed:
    """No view proposed it in one of the two; these did in the other."""

    when: Literal["before", "after"]
    views: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"type": "not-proposed", "when": self.when, "views": list(self.views)}

    def __str__(self) -> str:
        views = " and ".join(self.views)
        if self.when == "before":
            return "no view proposed it before" + (f", {views} did now" if views else "")
        return "no view proposes it any more" + (f", {views} did before" if views else "")


OwnCause = TermChanged | Filtered | NewMemory | Gone | SettingChanged | NotProposed


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another memory came in above it, or left from above it; that one's cause is the cause."""

    memory_id: str
    moved: Literal["above", "away"]
    cause: OwnCause

    def to_json(self) -> dict[str, Any]:
        return {"type": "neighbour", "memoryId": self.memory_id, "moved": self.moved, "cause": self.cause.to_json()}

    def __str__(self) -> str:
        did = "came above it" if self.moved == "above" else "is not above it any more"
        return f"{self.memory_id} {did}: for that one, {self.cause}"


Cause = OwnCause | Neighbour


def _telling(one: float | None, other: float | None) -> int:
    """Decimals enough to tell two numbers apart: four, or more where they are very near."""
    if one is None or other is None:
        return FEWEST_DECIMALS
    return next((n for n in range(FEWEST_DECIMALS, MOST_DECIMALS) if f"{one:.{n}f}" != f"{other:.{n}f}"), MOST_DECIMALS)


def _number(value: float | None, digits: int) -> str:
    return "nothing" if value is None else f"{value:.{digits}f}"


def _value(value: Any) -> str:
    return "unset" if value is None or value == () else str(value)
