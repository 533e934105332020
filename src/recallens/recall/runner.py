"""The one place that acts: run each stage, apply what it says, write it down with the time it took."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter_ns

from msgspec import UNSET, structs

from recallens.deadline import check
from recallens.model.ledger import Entry, Ledger
from recallens.model.pool import NOBODY, Pool
from recallens.model.query import Query
from recallens.model.verdict import Found, Verdict

Decide = Callable[[Pool, Query], Iterable[Verdict]]


# A named decision. It reads the pool and the query, returns verdicts, and changes nothing.
Stage = tuple[str, Decide]


def run(stages: Iterable[Stage], query: Query) -> tuple[Ledger, Pool]:
    pool = NOBODY
    entries: list[Entry] = []
    silent: dict[str, int] = {}
    for name, decide in stages:
        started = perf_counter_ns()
        for verdict in decide(pool, query):
            check()
            pool, considered, admitted = pool.step(verdict)
            now = perf_counter_ns()
            if isinstance(verdict, Found):
                verdict = structs.replace(verdict, rows=UNSET)  # a ledger knows rows by their ids alone
            entries.append(
                Entry(stage=name, verdict=verdict, considered=considered, admitted=admitted, nanos=now - started)
            )
            started = now
        silent[name] = silent.get(name, 0) + perf_counter_ns() - started
    return Ledger(query.to_json(), tuple(entries), silent), pool
