"""Whether what a memory cites is still there: one verdict a citation, and what they come to for the memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from recallens.model.memory import Citation


class Standing(StrEnum):
    VERIFIED = "verified"
    STALE = "stale"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Checked:
    """`reason` says what is wrong, or why nothing could be found out; a verified citation needs none."""

    citation: Citation
    standing: Standing
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """What is known of a memory's citations, and since when."""

    memory: str
    at: int
    checked: tuple[Checked, ...]

    @property
    def standing(self) -> Standing:
        """Stale if any is; verified if one is and none is stale."""
        standings = {each.standing for each in self.checked}
        for standing in (Standing.STALE, Standing.VERIFIED):
            if standing in standings:
                return standing
        return Standing.UNKNOWN

    @property
    def stale(self) -> tuple[Checked, ...]:
        return tuple(each for each in self.checked if each.standing is Standing.STALE)


def updated(before: CitationCheck, after: CitationCheck) -> CitationCheck:
    """The later verdicts; where one is unknown, an earlier one that knew stands."""
    known = {each.citation: each for each in before.checked if each.standing is not Standing.UNKNOWN}
    return CitationCheck(
        after.memory, after.at, tuple(_better(each, known.get(each.citation)) for each in after.checked)
    )


def _better(after: Checked, before: Checked | None) -> Checked:
    return before if before is not None and after.standing is Standing.UNKNOWN else after
