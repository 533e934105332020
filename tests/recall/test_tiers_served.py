"""The other tiers as scenes: along relations, by recency, for a task, for a change; and what no tier may return."""

from __future__ import annotations

from typing import Any

import pytest

from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.model.citation import FileCitation
from recallens.model.ledger import Ledger
from recallens.model.salience import DAY_MS
from recallens.model.snapshot import Snapshot, XrayResult
from recallens.model.state import ONLY_HERE
from recallens.recall.views.graph import HOP_DECAY, SHARED_ENTITY_CONFIDENCE, GraphEdge, pagerank, path_to, spread
from standing import FixedClock, Open


@pytest.fixture
def words(opened: Open) -> Engine:
    """Without vectors, a row that shares no word with the question is found by another tier or not at all."""
    return opened("words.db", encoder="none")


def result(snapshot: Snapshot, id: str) -> XrayResult:
    return next(result for result in snapshot.results if result.memoryId == id)


def ids(snapshot: Snapshot) -> list[str]:
    return [result.memoryId for result in snapshot.results]


def found(ledger: Ledger) -> dict[str, Any]:
    return dict(ledger.notes("graph")[-1]) if ledger.notes("graph") else {}


# ── graph ──


@pytest.fixture
def chain(words: Engine) -> tuple[str, str, str, str]:
    """a — b — c — d, where only `a` holds the question's word."""
    texts = ("the cache holds entries", "slow in march", "holiday traffic", "a shop opened")
    a, b, c, d = (words.remember(text).id for text in texts)
    words.relate(a, b, "RELATED_TO", confidence=0.87)
    words.relate(c, b, "CAUSED", confidence=0.5)
    words.relate(c, d, "CAUSED", confidence=1.0)
    return a, b, c, d


def test_a_path_has_its_nodes_relations_and_confidences(words: Engine, chain: tuple[str, str, str, str]) -> None:
    a, b, c, d = chain
    snapshot = words.xray("cache")
    one, two = result(snapshot, b), result(snapshot, c)
    assert (one.servedBy, one.graphPath, one.graphRelations) == ("graph", (a, b), ("RELATED_TO",))
    assert (two.graphPath, two.graphRelations) == ((a, b, c), ("RELATED_TO", "CAUSED"))
    assert one.graphEdgeConfidences == (0.87,)
    assert two.graphEdgeConfidences == (0.87, 0.5)
    assert d not in ids(snapshot)  # three steps out
    assert result(snapshot, a).graphPath is None
    assert one.scoreDecomposition["tierPrior"] == two.scoreDecomposition["tierPrior"] == 0.15
    assert one.scoreDecomposition["graph"] > two.scoreDecomposition.get("graph", 0.0)


@pytest.mark.parametrize(("floor", "reached"), [(0.5, 2), (0.51, 1), (0.9, 0), (0.0, 2)])
def test_the_floor_prunes_before_the_walk(
    words: Engine, chain: tuple[str, str, str, str], floor: float, reached: int
) -> None:
    snapshot = words.xray("cache", graph_floor=floor)
    assert [result.servedBy for result in snapshot.results].count("graph") == reached


def test_iterations_are_the_callers_and_are_recorded(words: Engine, chain: tuple[str, str, str, str]) -> None:
    one, many = (words.recall(words.recalls.query("cache", graph_iterations=n)).ledger for n in (1, 30))
    assert (found(one)["iterations"], found(many)["iterations"]) == (1, 30)
    raw = [ledger.replay().raw("graph").tolist() for ledger in (one, many)]
    assert raw[0] != raw[1]


def test_activation_decays_by_hop_and_takes_the_strongest_way() -> None:
    edges = [
        GraphEdge(1, 2, "X", 0.8),
        GraphEdge(2, 3, "X", 0.5),
        GraphEdge(1, 4, "X", 0.4),
        GraphEdge(4, 3, "X", 1.0),
        GraphEdge(3, 5, "X", 1),
    ]

    def around(nums: Any) -> list[GraphEdge]:
        return [edge for edge in edges if edge.source in nums or edge.target in nums]

    reached, walked = spread([1], around, 0.2)
    assert reached[2].activation == pytest.approx(0.8 * HOP_DECAY)
    assert reached[3].activation == pytest.approx(0.8 * HOP_DECAY * 0.5 * HOP_DECAY)
    assert path_to(3, reached) in (([1, 2, 3], ["X", "X"], [0.8, 0.5]), ([1, 4, 3], ["X", "X"], [0.4, 1.0]))
    assert 5 not in reached
    assert len(walked) >= 4
    rank = pagerank(list(reached), walked, [1], 30)
    assert rank.sum() == pytest.approx(1.0)
    assert rank[0] == rank.max()


def test_a_name_in_both_texts_is_an_edge_of_its_own(words: Engine) -> None:
    first = words.remember("the cache is run by Harbor Freight").id
    other = words.remember("invoices go to Harbor Freight").id
    served = result(words.xray("cache"), other)
    assert served.graphPath == (first, other)
    assert served.graphRelations == ("SHARES_ENTITY",)
    assert served.graphEdgeConfidences == (SHARED_ENTITY_CONFIDENCE,)
    assert other not in ids(words.xray("cache", graph_floor=SHARED_ENTITY_CONFIDENCE + 0.01))


def test_what_the_graph_reaches_passes_the_same_gates(words: Engine) -> None:
    first = words.remember("the cache holds entries").id
    hidden = [
        words.remember("from the web", zone="quarantine").id,
        words.remember("not yet seen", status="pending_review").id,
        words.remember("only there", scopes=(ONLY_HERE,)).id,
    ]
    for id in hidden:
        words.relate(first, id)
    snapshot = words.xray("cache")
    assert ids(snapshot) == [first]
    ladder = {rung.name: rung for rung in snapshot.filters}
    assert ladder["status-active"].considered - ladder["status-active"].admitted == 1
    assert ladder["trust-zone"].reason == "rejected quarantine"
    assert ladder["context-scope"].reason == "meant for another context only"


@pytest.mark.parametrize("attributes", [{"zone": "quarantine"}, {"status": "rejected"}, {"scopes": (ONLY_HERE,)}])
def test_no_path_leads_through_what_may_not_be_used(words: Engine, attributes: dict[str, Any]) -> None:
    first = words.remember("the cache holds entries").id
    between = words.remember("somewhere between", **attributes).id
    behind = words.remember("a quiet place").id
    words.relate(first, between)
    words.relate(between, behind)
    assert ids(words.xray("cache")) == [first]


# ── recent-scan, procedural, review-context ──


def test_recent_scan_comes_where_nothing_was_found_and_results_are_wanted_all_the_same(
    words: Engine, clock: FixedClock
) -> None:
    old = words.remember("the gateway is small").id
    clock.advance(days=1)
    new = words.remember("the cache is large").id
    clock.advance(days=1)
    words.remember("from the web", zone="quarantine")
    assert words.xray("zebra").results == ()
    snapshot = words.xray("zebra", cut=False)
    assert [(result.memoryId, result.servedBy) for result in snapshot.results] == [
        (new, "recent-scan"), (old, "recent-scan"),
    ]  # fmt: skip
    assert all("tierPrior" not in result.scoreDecomposition for result in snapshot.results)
    assert [result.servedBy for result in words.xray("cache", cut=False).results] == ["hybrid"]
    assert ids(words.xray("zebra", limit=1, cut=False)) == [new]
    assert ids(words.xray("zebra", as_of=clock.now - 2 * DAY_MS, cut=False)) == [old]


@pytest.mark.parametrize("encoder", ["none", "hashing"])
@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what happened last week", {1, 3, 6}),
        ("what happened yesterday", {1}),
        ("지난주에 뭐 했지", {1, 3, 6}),
        ("어제 뭐 했지", {1}),
    ],
)
def test_a_question_that_is_only_a_time_is_answered_from_its_window(
    opened: Open, clock: FixedClock, encoder: str, question: str, days: set[int]
) -> None:
    """It is Monday; last week is the seven days before."""
    engine = opened(encoder=encoder)
    for ago in (0, 1, 3, 6, 8, 30):
        engine.remember(Draft(f"{ago}: the gateway hums", created=clock() - ago * DAY_MS), dedupe=False)
    recall = engine.search(question, certify=True)
    assert {int(result.memory.content.split(":")[0]) for result in recall.results} == days
    assert all("time" in result.views for result in recall.results)
    if encoder == "none":  # else the view of meaning found them as well
        assert {each.servedBy for each in engine.recalls.snapshot_of(recall).results} == {"recent-scan"}
    certificate = recall.ledger.notes("certificate")[-1]
    assert recall.silence is None
    assert certificate["abstention"]["abstain"] is False
    assert certificate["completenessScore"] == 1.0


def test_a_question_about_more_than_a_time_is_not_answered_by_the_newest(words: Engine, clock: FixedClock) -> None:
    words.remember(Draft("the gateway hums", created=clock() - DAY_MS))
    assert words.search("which airline did we book yesterday").results == ()


@pytest.mark.parametrize(
    ("runbook", "task", "no_task"),
    [
        ("restart the gateway: drain it, then stop it", "how do I restart the gateway", "why did the gateway restart"),
        ("게이트웨이 재시작 순서: 먼저 비우고 멈춘다", "게이트웨이 재시작 방법", "게이트웨이 재시작 이유"),
    ],
)
def test_a_runbook_is_served_to_a_task_and_not_to_a_question(
    words: Engine, runbook: str, task: str, no_task: str
) -> None:
    skill = words.remember(runbook, kind="skill").id
    note = words.remember(f"{runbook} (a note)", kind="note", sector="semantic", dedupe=False).id
    snapshot = words.xray(task)
    assert (result(snapshot, skill).servedBy, result(snapshot, note).servedBy) == ("procedural", "hybrid")
    assert result(snapshot, skill).scoreDecomposition["tierPrior"] == 0.15
    assert {each.servedBy for each in words.xray(no_task).results} == {"hybrid"}


def test_a_procedural_memory_of_any_kind_is_a_runbook(words: Engine) -> None:
    words.remember("restart the gateway: drain it first", kind="note", sector="procedural")
    assert [each.servedBy for each in words.xray("how to restart the gateway").results] == ["procedural"]


def test_review_context_brings_what_names_or_cites_the_files(words: Engine) -> None:
    words.remember("the cache is large")
    named = words.remember("`src/app.py` holds the router").id
    cited = words.remember("the router is old", citations=(FileCitation("src/app.py", 3, 9),)).id
    words.remember("src/other.py is not touched")
    snapshot = words.xray("cache", files=["src/app.py"])
    served = {each.memoryId for each in snapshot.results if each.servedBy == "review-context"}
    assert served == {named, cited}
    assert result(snapshot, named).rejectedBy == "below-token-overlap-floor"
    assert result(snapshot, named).scoreDecomposition["tierPrior"] > 0.15
    assert "review-context" not in {each.servedBy for each in words.xray("cache").results}


def test_a_file_of_the_same_name_must_share_words_with_the_question(words: Engine) -> None:
    namesake = words.remember("`lib/app.py` is generated").id
    below = words.remember("`web/src/app.py` is the router's entry").id
    snapshot = words.xray("is this safe to merge", files=["src/app.py"])
    assert ids(snapshot) == [below]
    (rung,) = (rung for rung in snapshot.filters if rung.name == "token-overlap")
    assert (rung.considered, rung.admitted, rung.reason) == (2, 1, "below-token-overlap-floor")
    assert namesake in ids(words.xray("what is generated", files=["src/app.py"]))


def test_a_row_that_the_words_find_too_is_hybrid_not_review_context(words: Engine) -> None:
    id = words.remember("`src/app.py` holds the router", kind="note").id
    served = result(words.xray("what holds the router", files=["src/app.py"]), id)
    assert served.servedBy == "hybrid"
    assert "review-context" in served.views


# ── contexts ──


def test_what_is_meant_for_one_context_is_kept_there(engine: Engine) -> None:
    id = engine.remember("we cache lookups", scopes=("work", ONLY_HERE)).id
    other = engine.remember("the cache is large", scopes=("work",)).id
    outside = engine.xray("cache")
    assert ids(outside) == [other]
    (rung,) = (rung for rung in outside.filters if rung.name == "context-scope")
    assert (rung.considered, rung.admitted, rung.reason) == (2, 1, "meant for another context only")
    inside = engine.xray("cache", scopes=[ONLY_HERE])
    assert set(ids(inside)) == {id, other}
    kept = result(inside, id).provenance
    assert kept is not None
    assert (kept.safety, kept.userContextScopes) == ("safe", ("work", ONLY_HERE))
    assert "context-scope" not in {rung.name for rung in inside.filters}


# ── provenance, first match ──


def said(engine: Engine, id: str, **options: Any) -> tuple[str, str, tuple[str, ...]]:
    kept = result(engine.xray("cache", **options), id).provenance
    assert kept is not None
    assert kept.corrected is (kept.correctionState != "none")
    assert kept.safeToUse is (kept.safety == "safe")
    return kept.correctionState, kept.safety, kept.safetyReasons


def test_the_rules_of_provenance_in_order(engine: Engine, clock: FixedClock) -> None:
    plain = engine.remember("cache for a minute", confidence=0.3).id
    doubtful = engine.remember("cache, perhaps", confidence=0.29).id
    assert said(engine, plain) == ("none", "safe", ())
    assert said(engine, doubtful) == ("none", "requires-review", ("confidence<0.3",))
    asked = clock.now
    clock.advance(days=1)
    new = engine.remember("cache for an hour", dedupe=False).id
    engine.relate(doubtful, plain, "CONTRADICTS")
    assert said(engine, plain) == ("disputed", "requires-review", ("disputed",))
    assert said(engine, plain, as_of=asked) == ("none", "safe", ())  # nobody had disputed it yet
    clock.advance(days=1)
    engine.supersede(plain, new)
    assert said(engine, new) == ("correction", "safe", ())
    assert said(engine, new, as_of=clock.now - 1) == ("none", "safe", ())
    state, safety, reasons = said(engine, plain, include_superseded=True)
    assert (state, safety) == ("superseded", "requires-review")
    assert reasons == ("status=superseded", "stale=true")
    engine.relate(new, doubtful, "CONTRADICTS")
    assert said(engine, new)[0] == "disputed"  # before "correction"
