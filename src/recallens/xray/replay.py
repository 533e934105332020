"""The same answer again: from the stored decisions alone, and from the live store with what differs and why."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import UNSET, Struct, structs

from recallens.model.ledger import Entry, Ledger
from recallens.model.pool import Pool
from recallens.model.verdict import Bond, Found, Gate, Judgement, Note, Pick, Round, Term
from recallens.xray.counterfactual import Rerun
from recallens.xray.diff import Difference, diff
from recallens.xray.ladder import RELEVANCE_CUT, query_from_record

__all__ = ["Difference", "Replayed", "compare_live", "replay"]

# Sums of the same terms in the same order are equal to the bit; a record that passed through decimals is, to this.
_TOLERANCE = 1e-9


class Replayed(Struct, frozen=True):
    """The results in order, as the recorded decisions give them."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]
    considered: int
    digest: str

    def to_json(self) -> dict[str, Any]:
        results = [
            {"rank": at + 1, "memoryId": id, "score": score}
            for at, (id, score) in enumerate(zip(self.ids, self.scores, strict=True))
        ]
        return {"results": results, "considered": self.considered, "digest": self.digest}


def replay(ledger: Ledger, *, digest: str | None = None) -> Replayed:
    """Apply the recorded decisions from nothing; a ledger whose parts contradict each other was altered.

    Against the digest that was stored beside it, any altered byte shows; without one, whatever breaks a law does.
    """
    found = ledger.digest()
    if digest is not None and digest != found:
        raise ValueError(f"the ledger was altered: its digest is {found}, the stored one is {digest}")
    pool, asked_for = Pool(), None  # ledgers of before the cut said what else it lets through are not held to it
    for at, entry in enumerate(ledger.entries):
        _check(pool, entry, at)
        if isinstance(entry.verdict, Note) and entry.verdict.name == RELEVANCE_CUT and "askedFor" in entry.verdict.data:
            asked_for = entry.verdict.data
        if isinstance(entry.verdict, Pick):
            _check_order(pool, entry, entry.verdict, at)
            if entry.verdict.name == RELEVANCE_CUT and asked_for is not None:
                _check_cut(pool, entry, entry.verdict, asked_for, at)
        pool = pool.apply(entry.verdict)
    order = pool.ranked()
    return Replayed(
        ids=tuple(id.decode() for id in pool.ids[order].tolist()),
        scores=tuple(pool.score[order].tolist()),
        considered=len(pool),
        digest=found,
    )


def compare_live(stored: Ledger, rerun: Rerun, now: int = 0) -> list[Difference]:
    """The same question to the store as it is now: what entered, left, moved or was scored anew, and the cause of each.

    At its own time what was replaced since held still, so it is asked at `now`; where that gives the same results in
    the same order, only time has moved their scores, and it is asked at its own. The stored results are watched, so
    that one which is not found any more is still judged by every gate.
    """
    query = query_from_record(stored.query)
    results = replay(stored).ids
    query = structs.replace(query, watch=tuple(dict.fromkeys((*query.watch, *results))))
    live = rerun(query)
    if now > query.now:
        present = rerun(structs.replace(query, now=now))
        live = live if replay(present).ids == replay(live).ids else present
    return list(diff(stored, live).changes)


def _altered(at: int, entry: Entry, problem: str) -> ValueError:
    name = getattr(entry.verdict, "name", None) or getattr(entry.verdict, "view", "")
    return ValueError(f"the ledger was altered: entry {at + 1} ({entry.stage}, {name}) {problem}")


def _check(pool: Pool, entry: Entry, at: int) -> None:
    verdict = entry.verdict
    match verdict:
        case Gate():
            lengths = {len(verdict.applies), len(verdict.fails), len(verdict.exempt)}
        case Term():
            lengths = {len(verdict.delta), len(verdict.computed)}
        case Found():
            if len(verdict.raw) != len(verdict.ids) or len(set(verdict.ids.tolist())) != len(verdict.ids):
                raise _altered(at, entry, "does not have one score for each memory that it proposes")
            lengths = {len(pool)}
        case Pick():
            _check_chosen(pool, entry, verdict, at)
            lengths = {len(pool)}
        case Judgement():
            peers = () if verdict.peers is UNSET else verdict.peers
            lengths = {
                len(verdict.probability),
                *map(len, verdict.signals.values()),
                *(len(each.rows) for each in peers),
            }
            again = Judgement.of(verdict.name, verdict.bias, verdict.weights, verdict.signals, least=0.0)
            if not np.allclose(again.probability, verdict.probability, rtol=0, atol=1e-12):
                raise _altered(at, entry, "gives another probability than its signals do")
        case Bond():
            bonded = [*verdict.beside.tolist(), *verdict.relevant.tolist()]
            if len(verdict.beside) != len(verdict.relevant) or any(not 0 <= row < len(pool) for row in bonded):
                raise _altered(at, entry, "ties a row to none")
            lengths = {len(pool)}
        case Note() | Round():
            lengths = {len(pool)}
    if lengths != {len(pool)}:
        raise _altered(at, entry, f"judges {max(lengths)} rows where there were {len(pool)}")
    _, considered, admitted = pool.step(verdict)
    if (entry.considered, entry.admitted) != (considered, admitted):
        raise _altered(
            at,
            entry,
            f"records {entry.considered} considered and {entry.admitted} admitted; "
            f"its decision gives {considered} and {admitted}",
        )


def _check_chosen(pool: Pool, entry: Entry, pick: Pick, at: int) -> None:
    chosen = pick.chosen.tolist()
    if len(set(chosen)) != len(chosen) or len(pick.cost) != len(chosen):
        raise _altered(at, entry, "chooses a row twice, or without its cost")
    if any(not 0 <= row < len(pool) or not pool.live[row] for row in chosen):
        raise _altered(at, entry, "chooses a row that was not there to choose")


def _check_cut(pool: Pool, entry: Entry, pick: Pick, asked_for: Mapping[str, Any], at: int) -> None:
    """Kept is what is likely enough beside the best one, or was asked for, or explains such a row; all else is cut."""
    likely = pool.likely()
    for view in asked_for["askedFor"]:
        likely |= pool.proposed_by(view)
    # Ledgers of before bonds were verdicts name here what belongs beside a row that helps.
    likely |= np.isin(pool.ids, [id.encode() for id in asked_for.get("beside", ())])
    if set(pick.chosen.tolist()) != set(np.flatnonzero(likely & pool.live).tolist()):
        raise _altered(at, entry, "does not cut where the relevance says")


def _check_order(pool: Pool, entry: Entry, pick: Pick, at: int) -> None:
    """What is chosen stands in the order of the scores; what a plain limit cuts stands above nothing that it keeps."""
    scores = pool.score[pick.chosen]
    if any(after > before + _TOLERANCE for before, after in pairwise(scores.tolist())):
        raise _altered(at, entry, "is not in the order of the scores")
    if pick.name != "limit" or not len(scores):
        return
    rest = pool.live.copy()
    rest[pick.chosen] = False
    if rest.any() and float(pool.score[rest].max()) > float(scores[-1]) + _TOLERANCE:
        raise _altered(at, entry, "cuts a row whose score is above one that it keeps")
