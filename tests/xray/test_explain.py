"""Every field of a snapshot comes from a verdict of the ledger. Ledgers by hand here; real recalls in the laws."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from recallens.errors import InvalidInput
from recallens.model.ledger import Entry, Ledger
from recallens.model.memory import Kind
from recallens.model.pool import Pool
from recallens.model.query import Filters, Query
from recallens.model.salience import DAY_MS
from recallens.model.snapshot import Budget, FilterTrace, NearMiss, Snapshot, StageTime, ViewTrace
from recallens.model.verdict import ID_DTYPE, Found, Gate, Note, Pick, Term, Verdict
from recallens.xray.explain import explain
from standing import START_MS

PLAN = {
    "preset": "default",
    "views": ["lexical", "semantic"],
    "depth": 40,
    "encoder": "hashing",
    "versions": {"engine": "0.1.0", "preset": "default", "encoder": "hashing", "schema": "1", "tokenizer": "1"},
}


class Scribe:
    """Writes a ledger as the runner does; every entry takes a millisecond."""

    def __init__(self, *, plan: dict[str, Any] | None = PLAN, **asked: Any) -> None:
        self.query = Query(**{"text": "cache ttl", "now": START_MS, "session": "s1", "namespace": "alice"} | asked)
        self.pool, self.entries = Pool(), list[Entry]()
        if plan is not None:
            self.say("plan", Note("plan", plan))

    def say(self, stage: str, verdict: Verdict) -> None:
        _, considered, admitted = self.pool.step(verdict)
        self.entries.append(
            Entry(stage=stage, verdict=verdict, considered=considered, admitted=admitted, nanos=1_000_000)
        )
        self.pool = self.pool.apply(verdict)

    def found(self, view: str, names: Iterable[str], *, stage: str | None = None, **given: Any) -> None:
        ids = np.array([name.encode() for name in names], dtype=ID_DTYPE)
        rows = np.arange(len(ids), dtype=np.int64)
        self.say(stage or f"gather:{view}", Found(view, ids, np.ones(len(ids)), rows, **given))

    def gate(
        self,
        name: str,
        fails: str = "",
        *,
        exempt: str = "",
        reason: str = "",
        of: str | None = None,
        stage: str = "gates",
        pushed: tuple[int, int] | None = None,
    ) -> None:
        applies = np.ones(len(self.pool), dtype=np.bool_) if of is None else self.rows(of)
        self.say(stage, Gate(name, applies, self.rows(fails), self.rows(exempt), reason, pushed))

    def term(self, name: str, **deltas: float) -> None:
        delta = np.array([deltas.get(str(memory.decode()), 0.0) for memory in self.pool.ids])
        computed = np.array([memory.decode() in deltas for memory in self.pool.ids])
        self.say("terms", Term(name, delta, computed))

    def pick(self, name: str, chosen: str, reason: str = "") -> None:
        ids = self.pool.ids.tolist()
        positions = np.array([ids.index(c.encode()) for c in chosen], dtype=np.int64)
        self.say("select", Pick(name, positions, np.ones(len(positions)), reason))

    def note(self, name: str, **data: Any) -> None:
        self.say("close", Note(name, data))

    def rows(self, names: str) -> np.ndarray:
        return np.isin(self.pool.ids, np.array([name.encode() for name in names], dtype=ID_DTYPE))

    def explain(self, **given: Any) -> Snapshot:
        return explain(Ledger(self.query.to_json(), tuple(self.entries)), **given)


def scene(**asked: Any) -> Scribe:
    """Five rows: d is superseded, e is cut by the limit, c fails token-overlap and is exempt."""
    scribe = Scribe(**asked)
    scribe.found("lexical", "abd")
    scribe.found("semantic", "ace")
    scribe.gate("namespace-scope")
    scribe.gate("status-active", "d", reason="rejected superseded")
    scribe.gate("token-overlap", "ce", exempt="ce", reason="below-token-overlap-floor")
    scribe.term("vector", a=0.5, c=0.4, e=0.2)
    scribe.term("bm25", a=0.3, b=0.6, d=0.9)
    scribe.pick("mmr-diversify", "abc", "too like a better result")
    scribe.pick("budget-fit", "abc")
    return scribe


def test_the_head_is_the_query_and_the_plan() -> None:
    snapshot = scene(budget=900, tokens=200).explain(trace_id="trace-1")
    assert (snapshot.query, snapshot.capturedAt, snapshot.sessionKey) == ("cache ttl", START_MS, "s1")
    assert (snapshot.namespace, snapshot.traceId, snapshot.schemaVersion) == ("alice", "trace-1", "1")
    assert snapshot.plan == {name: value for name, value in PLAN.items() if name != "versions"}
    assert snapshot.versions == PLAN["versions"]
    assert snapshot.budget == Budget(900, None, 200, None)


def test_a_ledger_without_a_plan_is_refused() -> None:
    with pytest.raises(InvalidInput, match="without a plan"):
        Scribe(plan=None).explain()


def test_the_ladder_has_what_each_filter_considered_and_admitted() -> None:
    assert scene().explain().filters == (
        FilterTrace("namespace-scope", 5, 5),
        FilterTrace("status-active", 5, 4, "rejected superseded"),
        FilterTrace("token-overlap", 4, 4, "below-token-overlap-floor", exempt=2),
        FilterTrace("mmr-diversify", 4, 3, "too like a better result"),
        FilterTrace("budget-fit", 3, 3),
    )


def test_a_result_has_its_parts_its_filters_and_its_views() -> None:
    a, b, c = scene().explain(audit={"b": "audit-7"}).results
    assert a.scoreDecomposition == {"vector": 0.5, "bm25": 0.3, "final": pytest.approx(0.8)}
    assert b.scoreDecomposition == {"bm25": 0.6, "final": 0.6}
    assert (a.rank, b.rank, c.rank) == (1, 2, 3)
    assert (a.views, b.views, c.views) == (("lexical", "semantic"), ("lexical",), ("semantic",))
    assert a.admittedBy == ("namespace-scope", "status-active", "token-overlap", "mmr-diversify", "budget-fit")
    assert (a.auditEntryId, b.auditEntryId) == (None, "audit-7")


def test_a_filter_that_a_result_was_exempt_from_is_what_would_have_rejected_it() -> None:
    a, _, c = scene().explain().results
    assert (a.rejectedBy, c.rejectedBy) == (None, "below-token-overlap-floor")
    assert c.admittedBy == ("namespace-scope", "status-active", "mmr-diversify", "budget-fit")


def test_without_words_for_a_rejection_the_filter_names_itself() -> None:
    scribe = Scribe()
    scribe.found("lexical", "a")
    scribe.gate("token-overlap", "a", exempt="a")
    assert scribe.explain().results[0].rejectedBy == "token-overlap"


def test_what_no_stage_wrote_down_is_absent() -> None:
    snapshot = scene().explain()
    first = snapshot.results[0]
    assert (first.servedBy, first.chars, first.tokens, first.provenance, first.graphPath) == (None,) * 5
    assert (first.path, first.title) == ("a", "a")
    assert (snapshot.tierExplain, snapshot.traceId, snapshot.degraded) == (None, None, {})


def test_near_misses_are_the_best_that_were_kept_out_and_why() -> None:
    scribe = scene()
    scribe.note("identity", rows={"d": {"title": "Old TTL", "path": "ttl.md"}})
    assert scribe.explain().nearMisses == (
        NearMiss("d", "ttl.md", "Old TTL", "status-active", 0.9, "rejected superseded"),
        NearMiss("e", "e", "e", "mmr-diversify", 0.2, "repeats what stands above it; 4th by score"),
    )


@pytest.mark.parametrize(
    ("filter", "facts", "reason", "margin", "unit"),
    [
        ("status-active", {"status": "superseded", "valid_until": START_MS - 38 * DAY_MS},
         "superseded 24 April", None, None),
        ("status-active", {"status": "superseded", "valid_until": START_MS - 400 * DAY_MS, "successor": "a"},
         "superseded 27 April 2025 by m7", None, None),
        ("status-active", {"status": "pending_review"}, "waits for review", None, None),
        ("validity", {"created": 0, "valid_until": START_MS - 12.5 * DAY_MS}, "12 days too old", 12.5, "days"),
        ("validity", {"created": 0, "valid_from": START_MS + DAY_MS}, "1 day too early", 1.0, "days"),
        ("validity", {"created": START_MS + 3 * DAY_MS}, "3 days too new for the time asked about", 3.0, "days"),
        ("trust-zone", {"status": "active"}, "in quarantine until it is reviewed", None, None),
        ("context-scope", {"status": "active"}, "meant for another context only", None, None),
        ("kind", {"status": "active", "kind": "note"}, "kind is note, not decision", None, None),
    ],
)  # fmt: skip
def test_a_near_miss_has_its_own_reason_in_its_own_unit(
    filter: str, facts: dict[str, Any], reason: str, margin: float | None, unit: str | None
) -> None:
    scribe = Scribe(filters=Filters(kind=Kind.DECISION))
    scribe.found("lexical", "ad")
    scribe.gate(filter, "d", reason="what the filter says of all that it rejected")
    scribe.note("identity", rows={"a": {"handle": "m7"}, "d": {"handle": "m9", "facts": facts}})
    (miss,) = scribe.explain().nearMisses
    assert (miss.handle, miss.title, miss.reason, miss.margin, miss.unit) == ("m9", "d", reason, margin, unit)


def test_a_near_miss_by_rank_says_its_rank_and_what_was_asked() -> None:
    scribe = Scribe(limit=1)
    scribe.found("lexical", "abc")
    scribe.term("bm25", a=0.9, b=0.5, c=0.1)
    scribe.pick("limit", "a", "first 1 by score")
    misses = [(miss.reason, miss.margin, miss.unit) for miss in scribe.explain().nearMisses]
    assert misses == [("rank 2 of 1 asked", 1.0, "ranks"), ("rank 3 of 1 asked", 2.0, "ranks")]


def test_a_near_miss_by_length_says_how_much_it_is_too_long() -> None:
    scribe = Scribe(budget=500)
    scribe.found("lexical", "ab")
    scribe.pick("limit", "ab")
    scribe.pick("budget-fit", "a", "does not fit the budget")
    items = {"a": {"chars": 400, "tokens": 100}, "b": {"chars": 418, "tokens": 110}}
    scribe.note("budget", chars=500, used=400, tokens=None, usedTokens=100, items=items)
    (miss,) = scribe.explain().nearMisses
    assert (miss.reason, miss.margin, miss.unit) == ("318 characters too long", 318.0, "characters")


def test_raw_scores_are_those_of_the_views_that_proposed_the_row() -> None:
    scribe = Scribe()
    scribe.found("lexical", "ab")
    scribe.found("semantic", "a")
    a, b = scribe.explain().results
    assert (set(a.rawScores or ()), set(b.rawScores or ())) == ({"cosine", "bm25"}, {"bm25"})


def test_at_most_five_near_misses_and_no_margin_without_results() -> None:
    scribe = Scribe()
    scribe.found("lexical", "abcdefg")
    scribe.gate("status-active", "abcdefg")
    scribe.term("bm25", a=0.1, b=0.7, c=0.7, d=0.3, e=0.4, f=0.5, g=0.6)
    misses = scribe.explain().nearMisses
    assert [miss.memoryId for miss in misses] == ["b", "c", "g", "f", "e"]
    assert {(miss.margin, miss.reason) for miss in misses} == {(None, None)}


def test_passes_of_one_filter_add_up() -> None:
    scribe = Scribe()
    scribe.found("lexical", "abc")
    scribe.gate("status-active", "c", reason="rejected archived")
    scribe.gate("trust-zone")
    scribe.found("lexical", "abd", stage="refill", batch=1, refill=True)
    scribe.gate("status-active", "", of="d")
    scribe.gate("trust-zone", "d", of="d", reason="rejected quarantine")
    scribe.pick("limit", "ab")
    snapshot = scribe.explain()
    assert snapshot.filters == (
        FilterTrace("status-active", 4, 3, "rejected archived"),
        FilterTrace("trust-zone", 3, 2, "rejected quarantine"),
        FilterTrace("limit", 2, 2),
    )
    assert snapshot.views == (ViewTrace("lexical", 3, 3),)
    assert snapshot.results[0].admittedBy == ("status-active", "trust-zone", "limit")


def test_a_filter_pushed_into_the_views_counts_the_namespace() -> None:
    scribe = Scribe()
    scribe.found("lexical", "ab", pushed=True)
    scribe.gate("status-active", pushed=(1000, 900))
    scribe.gate("project", pushed=(900, 30))
    scribe.found("graph", "c", batch=2)
    scribe.gate("status-active", of="c")
    scribe.gate("project", "c", of="c", reason="project is not atlas")
    scribe.pick("limit", "ab")
    snapshot = scribe.explain()
    assert snapshot.filters == (
        FilterTrace("status-active", 1000, 900, pushed=True),
        FilterTrace("project", 900, 30, "project is not atlas", pushed=True),
        FilterTrace("proposed", 30, 2, "no view proposed the rest"),
        FilterTrace("limit", 2, 2),
    )
    assert snapshot.results[0].admittedBy == ("status-active", "project", "proposed", "limit")


def test_the_last_rounds_picks_are_the_ones_that_count() -> None:
    scribe = Scribe()
    scribe.found("lexical", "abc")
    scribe.pick("limit", "abc")
    scribe.pick("limit", "ab", "second round")
    assert scribe.explain().filters == (FilterTrace("limit", 3, 2, "second round"),)


def test_a_view_that_failed_is_said_to_have() -> None:
    scribe = Scribe()
    scribe.found("lexical", "a")
    scribe.found("semantic", "", error="RuntimeError: no model")
    snapshot = scribe.explain()
    assert snapshot.views == (ViewTrace("lexical", 1, 0), ViewTrace("semantic", 0, 0, "RuntimeError: no model"))
    assert snapshot.degraded == {"semantic": "RuntimeError: no model"}


def test_a_watched_row_leaves_no_trace() -> None:
    scribe = Scribe(watch=("z", "a"))
    scribe.found("lexical", "a")
    scribe.found("watch", "za")
    scribe.gate("not-proposed", "z", of="za", reason="no view proposed it")
    scribe.gate("status-active")
    scribe.term("bm25", a=0.2, z=0.9)
    scribe.pick("limit", "a")
    snapshot = scribe.explain()
    assert snapshot.views == (ViewTrace("lexical", 1, 0),)
    assert snapshot.filters == (FilterTrace("status-active", 1, 1), FilterTrace("limit", 1, 1))
    assert snapshot.nearMisses == ()
    assert snapshot.results[0].views == ("lexical",)


def direct(*, others: str = "") -> Scribe:
    """Direct-answer proposes b and c beside lexical's a; its own gates reject c, unless another view has it too."""
    scribe = Scribe()
    scribe.found("lexical", f"a{others}")
    scribe.found("direct-answer", "bc", stage="direct-answer:gather")
    scribe.gate("status-active")
    scribe.gate("direct-answer:active", of="bc", stage="direct-answer")
    scribe.gate("direct-answer:trusted-zone", "c", of="bc", exempt=others, reason="not-trusted", stage="direct-answer")
    scribe.gate("token-overlap", stage="gates")
    scribe.term("bm25", a=0.5, b=0.4, c=0.3)
    scribe.pick("limit", "ab")
    return scribe


def test_direct_answers_gates_explain_the_tier() -> None:
    scribe = direct()
    scribe.note(
        "tierExplain", tier="direct-answer", reason="unambiguous", candidatesConsidered=2, sourceAnchors=["x.md"]
    )
    explained = scribe.explain().tierExplain
    assert explained is not None
    assert (explained.tier, explained.reason, explained.candidatesConsidered) == ("direct-answer", "unambiguous", 2)
    assert (explained.filteredBy, explained.sourceAnchors) == (("not-trusted",), ("x.md",))
    assert explained.latencyMs == 3.0
    scribe.note("tierExplain", tier="hybrid", reason="ambiguous", candidatesConsidered=2, filteredBy=["ambiguous"])
    told = scribe.explain().tierExplain
    assert told is not None
    assert told.filteredBy == ("ambiguous",)


def test_direct_answers_gates_stand_in_the_ladder_only_for_what_they_masked() -> None:
    snapshot = direct().explain()
    assert snapshot.filters == (
        FilterTrace("status-active", 3, 3),
        FilterTrace("direct-answer", 3, 2, "not-trusted"),
        FilterTrace("token-overlap", 2, 2),
        FilterTrace("limit", 2, 2),
    )
    assert snapshot.results[1].admittedBy == ("status-active", "token-overlap", "limit")
    assert [(miss.memoryId, miss.keptOutBy) for miss in snapshot.nearMisses] == [("c", "direct-answer:trusted-zone")]
    spared = direct(others="c").explain()
    assert [rung.name for rung in spared.filters] == ["status-active", "token-overlap", "limit"]
    assert all(result.rejectedBy is None for result in spared.results)


def test_notes_fill_what_the_verdicts_do_not_say() -> None:
    scribe = scene()
    scribe.note("identity", rows={"a": {"title": "Cache TTL", "path": "decisions/ttl.md"}})
    scribe.note("served", rows={"a": {"servedBy": "graph", "reason": "served-by=graph"}, "b": {"servedBy": "hybrid"}})
    path = {"nodes": ["s", "m", "a"], "relations": ["CAUSED", "RELATED_TO"], "confidences": [0.9, 0.5]}
    scribe.note("graph", seeds=["s"], paths={"a": path, "b": path})
    said = {
        "source": "user", "scope": "namespace:alice", "userContextScopes": ["work"], "confidence": 0.9, "stale": False,
        "corrected": False, "correctionState": "none", "safeToUse": True, "safety": "safe", "safetyReasons": [],
        "created": "2026-06-01T00:00:00.000Z",
    }  # fmt: skip
    scribe.note("provenance", rows={"a": said})
    scribe.note("budget", chars=900, used=321, tokens=200, usedTokens=80, items={"a": {"chars": 300, "tokens": 70}})
    snapshot = scribe.explain()
    a, b, _ = snapshot.results
    assert (a.path, a.title, a.servedBy, b.servedBy) == ("decisions/ttl.md", "Cache TTL", "graph", "hybrid")
    assert (a.graphPath, a.graphRelations) == (("s", "m", "a"), ("CAUSED", "RELATED_TO"))
    assert a.graphEdgeConfidences == (0.9, 0.5)
    assert b.graphPath is None
    assert a.provenance is not None
    assert (a.provenance.retrievalReason, a.provenance.userContextScopes) == ("served-by=graph", ("work",))
    assert b.provenance is None
    assert snapshot.budget == Budget(900, 321, None, 80, unlimited=True)
    assert (a.chars, a.tokens, b.chars) == (300, 70, None)


def test_stages_are_summed_by_name_in_order() -> None:
    assert scene().explain().stages == (
        StageTime("plan", 1.0),
        StageTime("gather:lexical", 1.0),
        StageTime("gather:semantic", 1.0),
        StageTime("gates", 3.0),
        StageTime("terms", 2.0),
        StageTime("select", 2.0),
    )


def test_the_snapshots_id_is_derived_from_what_was_decided_and_when() -> None:
    first, again, later = scene().explain(), scene().explain(), scene(now=START_MS + 1).explain()
    assert first == again
    assert first.snapshotId != later.snapshotId
    assert UUID(first.snapshotId).version == 5
    assert len(first.digest) == 64


def test_each_filter_considers_what_the_one_before_it_admitted() -> None:
    for scribe in (scene(), direct(), direct(others="c")):
        for before, after in pairwise(scribe.explain().filters):
            assert before.admitted == after.considered
