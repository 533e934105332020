"""A store as seen from above: how it grew, what it holds, what was asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recallens.model.vault import KnownSection, Vault, VaultFile


@dataclass(frozen=True, slots=True)
class RecordedRecall:
    """A recall whose decisions the store still keeps; `id` is its snapshot's."""

    id: str
    at: int
    query: str
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """`grown` has the memories made in each month (2026-03), `recalls` the questions of each day (2026-03-01).

    `saliences` counts active memories by tenths of salience, `lengths` by the upper bound of their tokens; the last
    bound is None.
    """

    memories: int
    active: int
    tokens: int
    grown: Mapping[str, int]
    saliences: tuple[int, ...]
    lengths: Mapping[int | None, int]
    recalls: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FiledSections:
    file: VaultFile
    sections: tuple[KnownSection, ...]


@dataclass(frozen=True, slots=True)
class VaultPage:
    """Some files of a vault with their sections; `total` counts all that match."""

    vault: Vault
    files: tuple[FiledSections, ...]
    total: int
