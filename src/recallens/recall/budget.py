"""Whole items within the budget. An item is what the agent gets: a line that says what it is, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from recallens.index.columns import Columns
from recallens.model.context import HYPOTHESIS
from recallens.model.memory import Kind
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import IntArray, Note, Pick, Verdict
from recallens.recall.excerpts import excerpts
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene

OPEN, CLOSE = "<memories>\n", "</memories>\n"
# What the line above an item costs beside its kind: brackets, rank, id, date, ends of lines.
_HEADER = len("[000]  (, 0000-00-00)\n\n") + 26
_HEADER_TOKENS = 24
_FRAME_TOKENS = 6

_KIND_LENGTHS = np.array([len(kind) for kind in Kind])


def item_chars(columns: Columns, rows: IntArray) -> IntArray:
    """The length of each item as delivered, its header and label included."""
    label = np.where(columns["cited"][rows], 0, len(HYPOTHESIS))
    total: IntArray = columns["chars"][rows].astype(np.int64) + _HEADER + _KIND_LENGTHS[columns["kind"][rows]] + label
    return total


def item_tokens(columns: Columns, rows: IntArray) -> IntArray:
    total: IntArray = columns["tokens"][rows].astype(np.int64) + _HEADER_TOKENS
    return total


def budget_fit(scene: Scene) -> Decide:
    """Take items in order; one that does not fit is skipped, and the next may still fit."""

    def decide(pool: Pool, query: Query) -> Iterable[Verdict]:
        order = pool.ranked()
        rows = pool.rows[order]
        chars, tokens = item_chars(scene.columns, rows).tolist(), item_tokens(scene.columns, rows).tolist()
        shown = excerpts(scene, pool, order) if query.excerpts else ()
        if shown:
            chars, tokens = [len(one.block) for one in shown], [one.tokens for one in shown]
        if query.item_tokens is not None:
            tokens = [min(cost, query.item_tokens) for cost in tokens]
        used, used_tokens = (len(OPEN) + len(CLOSE), _FRAME_TOKENS) if len(order) else (0, 0)
        most = np.inf if query.budget is None else query.budget
        most_tokens = np.inf if query.tokens is None else query.tokens
        keep = []
        for at in range(len(order)):
            if used + chars[at] <= most and used_tokens + tokens[at] <= most_tokens:
                keep.append(at)
                used += chars[at]
                used_tokens += tokens[at]
        if not keep:
            used = used_tokens = 0
        chosen = order[keep]
        reason = "" if len(keep) == len(order) else "does not fit the budget"
        yield Pick("budget-fit", chosen, np.array([tokens[at] for at in keep], dtype=np.float64), reason)
        items = {
            id.decode(): {"chars": chars[at], "tokens": tokens[at]} | ({"source": shown[at].source} if shown else {})
            for at, id in enumerate(pool.ids[order].tolist())
        }
        yield Note("budget", spending(query, used=used, used_tokens=used_tokens, items=items))

    return decide


def spending(query: Query, *, used: int, used_tokens: int, items: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What was to be had and what was spent; where no budget was set, what was spent is what was to be had."""
    return {
        "chars": used if query.budget is None else query.budget,
        "used": used,
        "tokens": used_tokens if query.tokens is None else query.tokens,
        "usedTokens": used_tokens,
        "items": dict(items),
        "frame": {"chars": len(OPEN) + len(CLOSE), "tokens": _FRAME_TOKENS},
    }
