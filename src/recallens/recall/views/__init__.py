"""The views by name, and how they are asked.

Where filters reject what a view proposed, the view proposes again with the filters pushed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recallens.index.columns import Columns
from recallens.index.encoding import LazySemantic
from recallens.index.images import DamagedIndex
from recallens.index.views import Proposals
from recallens.model.plan import Window
from recallens.model.pool import Pool
from recallens.model.query import WATCH, Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import BoolArray, FloatArray, Found, IntArray, Note, anywhere, everywhere, places
from recallens.recall.scene import MULTILINGUAL, SEMANTIC, TRANSLATION, Rows, Scene
from recallens.text.days_told import DAY_BITS, DAYS_TOLD, MONTHS_FROM, WEEKS_FROM, month_number, week_number
from recallens.text.times import day_of

HYBRID_VIEWS: Final = frozenset(("lexical", SEMANTIC, MULTILINGUAL, TRANSLATION, "symbolic"))
DIRECT, REVIEW, PROCEDURAL, GRAPH = "direct-answer", "review-context", "procedural", "graph"
RECENT, SESSIONS, TIME = "recent-scan", "sessions", "time"
# What review-context says of a row that names the very file; of one that names a file of the same name it says half.
SAME_FILE: Final = 1.0
# The candidates of the direct-answer tier, of which at most one becomes its answer.
ANSWER_CANDIDATES: Final = "direct-answer:candidates"

# A filter that leaves less than this of the namespace is pushed in at once: asking without it would be asking twice.
PUSH_SHARE: Final = 0.05

# Rows of the kind that is wanted that a view is asked for beside its best.
PREFERRED: Final = 10

_MONDAY, _SUNDAY = 0, 6

# Rows by how they came into the pool; each batch passes the gates once.
FIRST_BATCH, REFILL_BATCH, GRAPH_BATCH, RECENT_BATCH, WATCH_BATCH, WIDENED_BATCH, WIDENED_GRAPH_BATCH = range(7)

# The rows of the namespace that every filter admits, worked out when it is asked for.
Admitted = Callable[[], BoolArray]


def found(scene: Scene, view: str, rows: IntArray, raw: FloatArray, batch: int) -> Found:
    return Found(view, scene.columns["id"][rows], raw, rows, batch=batch)


def encode(scene: Scene, pool: Pool, query: Query) -> Iterator[Note]:
    """Turn the question into a vector, where a view needs one, apart from the search: each then shows its own time."""
    encoders = {view.name: view.encoder for view in scene.views.values() if isinstance(view, LazySemantic)}
    for name in encoders:
        with suppress(Exception):  # the view fails the same way when it is asked to propose, and is recorded then
            scene.views[name].prepare()  # type: ignore[attr-defined]
    if encoders:
        first, second = encoders.get(SEMANTIC), encoders.get(MULTILINGUAL)
        yield Note("encode", {"encoder": first or second, **({"second": second} if first and second else {})})


def propose(scene: Scene, view: str, depth: int, pushed: BoolArray | None, pool: Pool, query: Query) -> Iterator[Found]:
    yield ask(scene, view, depth, pushed, batch=FIRST_BATCH, pushed=pushed is not None, beside=pool.rows)


def propose_preferred(
    scene: Scene, view: str, preferred: BoolArray | None, pool: Pool, query: Query
) -> Iterator[Found]:
    """Ask a view again among the rows of the kind that the question wants: they may be few among many others."""
    yield ask(scene, view, PREFERRED, preferred, batch=FIRST_BATCH, refill=True)


def propose_more(scene: Scene, view: str, depth: int, admitted: Admitted, pool: Pool, query: Query) -> Iterator[Found]:
    """Ask a view again in a second round, deeper, among the rows that pass: what it proposed before stays."""
    yield ask(scene, view, depth, admitted(), batch=WIDENED_BATCH, refill=True)


def refill(
    scene: Scene, views: Sequence[str], depth: int, admitted: Admitted, pool: Pool, query: Query
) -> Iterator[Found]:
    """Where rejections left a view short of its depth, ask it again among the rows that pass.

    The pool then holds each view's best rows of those that pass, which is what filtering first would give.
    """
    if everywhere(pool.live):
        return
    for view in views:
        if anywhere(pool.proposed_by(view) & ~pool.live):
            yield ask(scene, view, depth, admitted(), batch=REFILL_BATCH, refill=True)


def ask(
    scene: Scene,
    view: str,
    depth: int,
    mask: BoolArray | None,
    *,
    batch: int,
    pushed: bool = False,
    refill: bool = False,
    beside: IntArray | None = None,
) -> Found:
    error = None
    try:
        proposals = scene.views[view].propose(depth, mask, beside)
    except DamagedIndex:
        raise
    except Exception as failure:  # a view that fails is a fact of this recall: the others still answer
        proposals, error = Proposals.none(), f"{type(failure).__name__}: {failure}"
    rows = proposals.rows
    ids = scene.columns["id"][rows]
    return Found(view, ids, proposals.raw, rows, batch=batch, refill=refill, pushed=pushed, error=error)


def within_windows(columns: Columns, rows: Rows, windows: Sequence[Window]) -> BoolArray:
    """Which of the rows were made in one of the windows, or name a day of it. Where it is asked what held then, that is
    what was known then, whatever date it claims."""
    inside = told_within(columns["days_told"][rows], windows)
    created, held_from = columns["created"][rows], columns.held_from[rows]
    for window in windows:
        made = held_from if window.as_of else created
        inside |= (window.start <= made) & (made < window.end)
    return inside


def told_within(told: NDArray[np.int64], windows: Sequence[Window]) -> BoolArray:
    """Which of the rows name a day of one of the windows, or a week or a month that lies in it."""
    inside = np.zeros(len(told), dtype=np.bool_)
    spans = [span for window in windows for span in _numbers_within(window)]
    for place in range(DAYS_TOLD if told.any() else 0):
        numbers = (told >> (DAY_BITS * place)) & ((1 << DAY_BITS) - 1)
        for first, last in spans:
            inside |= (first <= numbers) & (numbers < last)
    return inside


def _numbers_within(window: Window) -> Iterator[tuple[int, int]]:
    """The days, whole weeks and months of a window, as a packed day is numbered: from the first up to the last.

    Since an event only days count: what was made before it and names a later month tells of something else.
    """
    if window.event is not None:
        yield max(window.start // DAY_MS, 1), min(window.end // DAY_MS, MONTHS_FROM)
        return
    start, end = day_of(window.start), day_of(window.end - 1)
    yield max(window.start // DAY_MS, 1), min(window.end // DAY_MS, MONTHS_FROM)
    first = month_number(start) + (start.day != 1)
    last = month_number(end) + ((end + timedelta(days=1)).day == 1)
    if first < last:
        yield first, min(last, WEEKS_FROM)
    first = week_number(start) + (start.weekday() != _MONDAY)
    last = week_number(end) + (end.weekday() == _SUNDAY)
    if first < last:
        yield first, min(last, 1 << DAY_BITS)


def proposed_by_others(pool: Pool, *but: str) -> BoolArray:
    """Rows that some view beside these proposed."""
    others = np.zeros(len(pool), dtype=np.bool_)
    for view in pool.found:
        if view not in but:
            others |= pool.proposed_by(view)
    return others


def followed(pool: Pool) -> IntArray:
    """The rows that are in the pool only to be followed: a term is computed on them, and they take no part."""
    if WATCH not in pool.found:
        return np.empty(0, dtype=np.int64)
    return places(pool.proposed_by(WATCH) & ~proposed_by_others(pool, WATCH))
