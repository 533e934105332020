"""What an engine must offer to those who look at a store from above."""

from __future__ import annotations

from typing import Protocol


class SurveyReads(Protocol):
    def kept_ledgers(self, ns: int, limit: int, owner: str | None) -> list[tuple[str, int, str, bytes]]: ...
    def recalls_by_day(self, ns: int, since: int) -> dict[int, int]: ...
