"""Asking the views. Where filters reject what a view proposed, it proposes again with the filters pushed in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import numpy as np

from recallens.index.views import Proposals
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import ID_DTYPE, BoolArray, Found, IntArray, Note, anywhere, everywhere
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene

# A filter that leaves less than this of the namespace is pushed in at once: asking without it would be asking twice.
PUSH_SHARE = 0.05

FIRST, REFILL = 0, 1

Mask = Callable[[], BoolArray]


def encode(scene: Scene) -> Decide:
    """Turn the query into a vector, where a view needs one, apart from the search so that each shows its own time."""

    def decide(pool: Pool, query: Query) -> Iterable[Note]:
        prepare = getattr(scene.views.get("semantic"), "prepare", None)
        if prepare is None:
            return
        with suppress(Exception):  # the view fails the same way when it is asked to propose, and is recorded then
            prepare()
        yield Note("encode", {"encoder": scene.notes.get("encoder")})

    return decide


def propose(scene: Scene, view: str, depth: int, mask: BoolArray | None) -> Decide:
    def decide(pool: Pool, query: Query) -> Iterable[Found]:
        yield _ask(scene, view, depth, mask, batch=FIRST, pushed=mask is not None, beside=pool.rows)

    return decide


def propose_more(scene: Scene, view: str, depth: int, mask: Mask, *, batch: int) -> Decide:
    """Ask a view again, deeper, among the rows that pass: what it proposed before stays as it was."""

    def decide(pool: Pool, query: Query) -> Iterable[Found]:
        yield _ask(scene, view, depth, mask(), batch=batch, refill=True)

    return decide


def refill(scene: Scene, views: Iterable[str], depth: int, mask: Mask) -> Decide:
    """Where rejections left a view short of its depth, ask it again among the rows that pass.

    The pool then holds each view's best rows of those that pass, which is what filtering first would give.
    """

    def decide(pool: Pool, query: Query) -> Iterable[Found]:
        if everywhere(pool.live):
            return
        for view in views:
            proposed = pool.proposed_by(view)
            if not anywhere(proposed & ~pool.live):
                continue
            yield _ask(scene, view, depth, mask(), batch=REFILL, refill=True)

    return decide


def _ask(
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
    except Exception as failure:  # a view that fails is a fact of this recall: the others still answer
        proposals, error = Proposals.none(), f"{type(failure).__name__}: {failure}"
    ids = scene.columns["id"][proposals.rows] if len(proposals.rows) else np.empty(0, dtype=ID_DTYPE)
    return Found(view, ids, proposals.raw, proposals.rows, batch=batch, refill=refill, pushed=pushed, error=error)
