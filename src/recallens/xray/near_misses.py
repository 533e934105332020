"""The best rows that were found and not returned: what kept each out, in its own words, and by how much it missed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from msgspec import Struct

from recallens.model.memory import Status
from recallens.model.query import Query
from recallens.model.salience import DAY_MS
from recallens.model.snapshot import MarginUnit, NearMiss
from recallens.model.terms import as_share, ordinal
from recallens.model.times import day_and_month
from recallens.model.verdict import all_but
from recallens.xray.counterfactual import shortages
from recallens.xray.ladder import LIMIT_PICKS, RELEVANCE_CUT, Walk

NEAR_MISSES: Final = 5
# The caller's filters that compare one attribute with one value.
ATTRIBUTES: Final = ("project", "sector", "tier", "kind")
_STATUS_WORDS: Final[Mapping[str, str]] = {
    Status.PENDING_REVIEW: "waits for review",
    Status.QUARANTINED: "in quarantine until it is reviewed",
    Status.REJECTED: "rejected in review",
}

Facts = Mapping[str, Any]


class Shortfall(Struct, frozen=True):
    """`margin` is how much was lacking, in `unit`; both are None where it is no matter of degree."""

    reason: str
    margin: float | None = None
    unit: MarginUnit | None = None


def near_misses(walk: Walk) -> tuple[NearMiss, ...]:
    pool, names = walk.pool, walk.names
    others = all_but(len(pool), pool.ranked())
    misses: list[NearMiss] = []
    for position in others[np.lexsort((pool.ids[others], -pool.score[others]))].tolist():
        if len(misses) == NEAR_MISSES:
            break
        kept_out = walk.kept_out(position)
        if kept_out is None:
            continue
        id = pool.ids[position].decode()
        name, (filter, words) = names.get(id, {}), kept_out
        miss = missed(walk, position, filter, words, name.get("facts", {}))
        withheld = bool(name) and "title" not in name  # how well it fits would tell what it says
        misses.append(
            NearMiss(
                memoryId=id,
                path=name.get("path") or id,
                title=name.get("title") or id,
                keptOutBy=filter,
                score=None if withheld else float(pool.score[position]),
                reason=miss.reason or None,
                margin=miss.margin,
                unit=miss.unit,
                handle=name.get("handle"),
                relevance=None if withheld else walk.relevance(position),
            )
        )
    return tuple(sorted(misses, key=lambda miss: miss.score is None))


def missed(walk: Walk, position: int, filter: str, words: str, facts: Facts) -> Shortfall:
    """Why the filter rejected this very row. `words` are what the filter said of all that it rejected."""
    match filter:
        case "status-active" if "status" in facts:
            return Shortfall(_status(facts, walk))
        case "validity" if "created" in facts:
            return _validity(facts, walk.query)
        case "trust-zone":
            return Shortfall("in quarantine until it is reviewed")
        case "context-scope":
            return Shortfall("meant for another context only")
        case "budget-fit":
            return _budget(walk, position, words)
        case _ if filter == RELEVANCE_CUT and (relevance := walk.relevance(position)) is not None:
            floor = walk.relevance_floor(position)
            below = "" if floor is None or floor <= relevance else f", below {as_share(floor)}"
            lacking = None if floor is None else max(floor - relevance, 0.0)
            return Shortfall(
                f"relevance {as_share(relevance)}{below}", lacking, None if lacking is None else "relevance"
            )
        case _ if filter in LIMIT_PICKS:
            return _rank(walk, position)
        case _ if filter in ATTRIBUTES and "status" in facts:
            own, wanted = facts.get(filter), getattr(walk.query.filters, filter)
            return Shortfall(f"{filter} is {own}, not {wanted}" if own else f"of no {filter}, not {wanted}")
    return Shortfall(words)


def _status(facts: Facts, walk: Walk) -> str:
    status, now = str(facts["status"]), walk.query.now
    if status in _STATUS_WORDS:
        return _STATUS_WORDS[status]
    when = facts.get("valid_until") if status == Status.SUPERSEDED else facts.get("updated")
    by = walk.names.get(facts.get("successor", ""), {}).get("handle")
    return status + (f" {day_and_month(when, now)}" if when is not None else "") + (f" by {by}" if by else "")


def _validity(facts: Facts, query: Query) -> Shortfall:
    at = query.at
    if facts.get("valid_from", at) > at:
        return _days(facts["valid_from"] - at, "too early")
    if facts.get("valid_until", at + 1) <= at:
        return _days(at - facts["valid_until"], "too old")
    return _days(facts.get("held_from", facts["created"]) - at, "too new for the time asked about")


def _days(apart: int, how: str) -> Shortfall:
    days = apart / DAY_MS
    shown = "less than a day" if days < 1 else "1 day" if days < 2 else f"{int(days):,} days"
    return Shortfall(f"{shown} {how}", days, "days")


def _budget(walk: Walk, position: int, words: str) -> Shortfall:
    short = shortages(walk, walk.fate(walk.pool.ids[position].decode()))
    if not short:
        return Shortfall(words)
    lack = short[0]
    unit: MarginUnit = "characters" if lack.setting == "budget" else "tokens"
    return Shortfall(f"{lack.missing:,} {unit} too long", float(lack.missing), unit)


def _rank(walk: Walk, position: int) -> Shortfall:
    """By its score, unless that would have done: then it gave way for repeating what stands above it."""
    standing, limit = walk.standing(position), walk.limit
    if standing <= limit:
        return Shortfall(f"repeats what stands above it; {ordinal(standing)} by score")
    return Shortfall(f"rank {standing} of {limit} asked", float(standing - limit), "ranks")
