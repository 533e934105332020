"""Everything one recall looks at: a version of the columns, the views bound to the query, and the judging time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from recallens.index.columns import NEVER, Columns, code_of
from recallens.index.lexical import BoundLexical
from recallens.index.views import BoundView
from recallens.model.citation import CitationCheck
from recallens.model.memory import Annotations, EventKind, Memory, Relation, Status
from recallens.model.plan import Plan
from recallens.model.salience import SECTOR_ORDER, Trials, own_salience, reinforced, salience
from recallens.model.verdict import BoolArray, FloatArray, IntArray

Rows = IntArray | slice
Told = TypeVar("Told")
EVERY = slice(None)

# Given rows, the likeliest to be asked about first: a function from one of them, by its place, to its likeness with
# each, which is 1 if they are the same and 0 or less if unlike.
Likeness = Callable[[IntArray], Callable[[int], FloatArray]]

UsageEvents = Sequence[tuple[int, str, int, float | None]]


class Usage(Struct, frozen=True, eq=False):
    """What salience needs to know of each row's history, as it stood at the judging time."""

    last_used: NDArray[np.int64]
    uses: NDArray[np.int64]
    reinforcement: FloatArray
    reinforced_at: NDArray[np.int64]


class Edge(Struct, frozen=True):
    """Two memories by number, tied either way round, and how sure the tie is."""

    source: int
    target: int
    relation: str
    confidence: float


class Known(Struct, frozen=True):
    """What the store says of some rows, fetched once for all of them.

    Relations and the kept verdicts on citations are by memory number, paths by document.
    """

    memories: Mapping[int, Memory]
    relations: Mapping[int, Sequence[Relation]]
    paths: Mapping[str, str]
    checks: Mapping[int, CitationCheck] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What the asker is at, as the index knows it: rows that name the open file, in full or by its last part, and the
    words of its name and of each command by their numbers; a word that nobody wrote has one that no row has.
    """

    named: BoolArray
    alike: BoolArray
    file_words: Sequence[int]
    commands: Sequence[Sequence[int]]


class Scene(Struct, frozen=True, eq=False):
    """`linked`, `tagged` and `affected` are rows that the caller's session, tag and file filters admit, None where not
    asked for. `trials` counts the tasks that each row has been part of.

    `fluency` is the share of the query that the encoder can read: its opinion weighs as much. `words` and `names` are
    the query's words and the names in it, `touched` the rows about the files under review, `held` the rows whose
    contexts the caller holds, `speakers` the authors whom the query names. `plan` and `noticed` are what was read out
    of the question, `wider` the scene of a second round. `in_folders` and `not_raw` are rows that the caller's limits
    on files admit, `work` what the asker is at, `told` what was last worked out of some rows. The callables reach the
    store: along relations, for likeness, for the rows in full, for the paths of documents.
    """

    columns: Columns
    views: Mapping[str, BoundView]
    at: int
    usage: Usage
    trials: Trials | None = None
    linked: BoolArray | None = None
    tagged: BoolArray | None = None
    affected: BoolArray | None = None
    fluency: float = 1.0
    words: BoundLexical | None = None
    names: Sequence[Sequence[int]] = ()
    touched: BoolArray | None = None
    held: BoolArray | None = None
    speakers: Sequence[int] = ()
    watched: IntArray | None = None
    unknown: Sequence[str] = ()
    neighbours: Callable[[Sequence[int]], Iterable[Edge]] | None = None
    likeness: Likeness | None = None
    known: Callable[[Sequence[int]], Known] | None = None
    notes: Mapping[str, object] = field(default_factory=dict)
    plan: Plan | None = None
    noticed: Annotations | None = None
    wider: Scene | None = None
    paths: Callable[[Sequence[str]], Mapping[str, str]] | None = None
    in_folders: BoolArray | None = None
    not_raw: BoolArray | None = None
    work: Work | None = None
    told: dict[str, tuple[object, Any]] = field(default_factory=dict)

    def coverage(self, rows: IntArray) -> FloatArray:
        """The share of the query's words that each row holds; nothing where words were not asked for."""
        return self.words.coverage(rows) if self.words is not None else np.zeros(len(rows))

    def once(self, name: str, of: object, work_out: Callable[[], Told]) -> Told:
        """What several stages ask about the same array, worked out for the first of them."""
        known = self.told.get(name)
        if known is not None and known[0] is of:
            found: Told = known[1]
            return found
        found = work_out()
        self.told[name] = of, found
        return found

    def none_of(self, rows: Rows) -> BoolArray:
        return np.zeros(self.columns.size if isinstance(rows, slice) else len(rows), dtype=np.bool_)

    def all_plain(self, rows: Rows) -> bool:
        return self.once("plain", rows, lambda: self.columns.all_plain(rows))

    def own_salience(self, rows: Rows) -> FloatArray:
        """Salience without what recalls and confirmations have added to it."""
        return self.once("own salience", rows, lambda: self._own_salience(rows))

    def _own_salience(self, rows: Rows) -> FloatArray:
        columns, usage = self.columns, self.usage
        return own_salience(
            base=columns["base_salience"][rows],
            sector=columns["sector"][rows],
            importance=columns["importance"][rows],
            last_used=usage.last_used[rows],
            uses=usage.uses[rows],
            at=self.at,
        )

    def salience(self, rows: Rows) -> FloatArray:
        columns, usage = self.columns, self.usage
        if not np.count_nonzero(usage.reinforcement[rows]):  # nothing was added to any
            return self.own_salience(rows)
        return salience(
            base=columns["base_salience"][rows],
            sector=columns["sector"][rows],
            importance=columns["importance"][rows],
            last_used=usage.last_used[rows],
            uses=usage.uses[rows],
            reinforcement=usage.reinforcement[rows],
            reinforced_at=usage.reinforced_at[rows],
            at=self.at,
        )

    def score(self, view: str, rows: IntArray) -> FloatArray:
        """The view's raw score of each row, NaN where it cannot say, which is everywhere if it failed."""
        try:
            return self.views[view].score(rows)
        except Exception:  # the failure itself is in the ledger, from when the view was asked to propose
            return np.full(len(rows), np.nan)

    def superseded(self, rows: Rows) -> BoolArray:
        """Closed at the judging time: an end that is still to come does not count, none at all counts as passed."""
        if self.all_plain(rows):
            return self.none_of(rows)
        end = self.columns["valid_until"][rows]
        replaced = self.columns["status"][rows] == code_of(Status.SUPERSEDED)
        closed: BoolArray = (end <= self.at) | (replaced & (end == NEVER))
        return closed


def usage_now(columns: Columns) -> Usage:
    return Usage(columns["last_used"], columns["uses"], columns["reinforcement"], columns["reinforced_at"])


def usage_at(columns: Columns, events: UsageEvents, at: int) -> Usage:
    """The history up to `at`, told again from the events: the columns hold only how it ended."""
    last_used = columns["created"].copy()
    uses = np.zeros(columns.size, dtype=np.int64)
    reinforcement = np.zeros(columns.size)
    reinforced_at = np.zeros(columns.size, dtype=np.int64)
    rows = columns.locate([num for num, *_ in events]).tolist()
    for row, (_, kind, when, amount) in zip(rows, events, strict=True):
        if row < 0 or when > at:
            continue
        if kind in (EventKind.USED, EventKind.CONFIRMED):
            last_used[row] = max(last_used[row], when)
            uses[row] += 1
        if amount:
            reinforcement[row] = reinforced(
                reinforcement=float(reinforcement[row]),
                reinforced_at=int(reinforced_at[row]),
                sector=SECTOR_ORDER[columns["sector"][row]],
                importance=float(columns["importance"][row]),
                by=amount,
                at=when,
            )
            reinforced_at[row] = when
    return Usage(last_used, uses, reinforcement, reinforced_at)
