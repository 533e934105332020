"""Every field of the specified interfaces comes from real recalls, with more than one value: a constant would fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recallens.engine import Engine
from recallens.model.citation import FileCitation
from recallens.model.query import Query
from recallens.model.salience import DAY_MS
from recallens.model.snapshot import Snapshot
from recallens.model.state import ONLY_HERE
from recallens.recall.results import provenance
from recallens.render import render
from standing import START_MS, FixedClock
from worlds import open_world

Record = dict[str, Any]
ABSENT = "absent"
ANYTHING: frozenset[str] = frozenset()

SERVED_BY = {"direct-answer", "hybrid", "graph", "recent-scan", "procedural", "review-context"}
# Forgotten and blocked are decided by the same rules, but a memory that is either is never a result.
RETURNED_STATES = {"none", "correction", "superseded", "disputed"}
RETURNED_SAFETY = {"safe", "requires-review"}

# Each field of the specified interfaces, and the values that must be among those seen; two different ones in any case.
FIELDS: dict[str, dict[str, set[Any] | frozenset[str]]] = {
    "RecallXraySnapshot": {
        "query": ANYTHING,
        "snapshotId": ANYTHING,
        "capturedAt": {START_MS, START_MS + DAY_MS},
        "tierExplain": {None},
        "results": ANYTHING,
        "filters": ANYTHING,
        "budget": ANYTHING,
        "sessionKey": {ABSENT, "agent-42"},
        "namespace": {"default", "alice"},
        "traceId": {ABSENT, "trace-7c1f"},
    },
    "RecallXrayResult": {
        "memoryId": ANYTHING,
        "path": {"docs/cache.md"},
        "servedBy": SERVED_BY,
        "scoreDecomposition": ANYTHING,
        "graphPath": {ABSENT},
        "graphEdgeConfidences": {ABSENT, "[0.8]", "[0.8, 0.6]"},
        "auditEntryId": {ABSENT},
        "admittedBy": ANYTHING,
        "rejectedBy": {ABSENT, "below-token-overlap-floor"},
        "provenance": ANYTHING,
    },
    "RetrievedMemoryProvenance": {
        "source": {"user", "document", "conversation"},
        "created": ANYTHING,
        "updated": ANYTHING,
        "namespace": {"default", "alice"},
        "scope": {"namespace:default", "namespace:alice"},
        "userContextScopes": {"[]", '["repo", "work"]'},
        "retrievalReason": {f"served-by={tier}" for tier in SERVED_BY},
        "confidence": {0.2, 0.8, 0.94},
        "stale": {True, False},
        "corrected": {True, False},
        "correctionState": RETURNED_STATES,
        "safeToUse": {True, False},
        "safety": RETURNED_SAFETY,
        "safetyReasons": {"[]", '["status=superseded", "stale=true"]', '["disputed"]', '["confidence<0.3"]'},
    },
    "RecallXrayScoreDecomposition": {
        "vector": {ABSENT},
        "bm25": {ABSENT},
        "importance": ANYTHING,
        "mmrPenalty": {ABSENT},
        "tierPrior": {ABSENT, 0.3, 0.15},
        "reinforcementBoost": {ABSENT},
        "final": ANYTHING,
    },
    "RecallFilterTrace": {
        "name": {"namespace-scope", "status-active", "trust-zone", "token-overlap", "mmr-diversify", "budget-fit"},
        "considered": ANYTHING,
        "admitted": ANYTHING,
        "reason": {ABSENT, "rejected superseded", "rejected quarantine", "below-token-overlap-floor"},
    },
    "RecallTierExplain": {
        "tier": {"direct-answer", "hybrid"},
        "reason": ANYTHING,
        "candidatesConsidered": {0, 1},
        "latencyMs": ANYTHING,
        "filteredBy": {"[]"},
        "sourceAnchors": {"[]", '["src/cache.py:10-14"]'},
    },
    "budget": {"chars": {8192, 400}, "used": ANYTHING},
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Record]]:
    """The records of a handful of contrasting recalls, by interface."""
    snapshots = list(_scenes(tmp_path_factory.mktemp("fields")))
    records = [json.loads(render(snapshot, "json"))["snapshot"] for snapshot in snapshots]
    results = [result for record in records for result in record["results"]]
    return {
        "RecallXraySnapshot": records,
        "RecallXrayResult": results,
        "RetrievedMemoryProvenance": [result["provenance"] for result in results],
        "RecallXrayScoreDecomposition": [result["scoreDecomposition"] for result in results],
        "RecallFilterTrace": [rung for record in records for rung in record["filters"]],
        "RecallTierExplain": [record["tierExplain"] for record in records if record.get("tierExplain")],
        "budget": [record["budget"] for record in records if "budget" in record],
    }


def _scenes(folder: Path) -> Iterator[Snapshot]:
    with open_world(folder / "meaning.db") as engine:
        yield from _asked_for_meaning(engine)
    with Engine.open(folder / "words.db", encoder="none", clock=FixedClock()) as words:
        yield from _asked_for_words(words)


def _asked_for_meaning(engine: Engine) -> Iterator[Snapshot]:
    clock = engine.core.clock
    assert isinstance(clock, FixedClock)
    old = engine.remember("we cache tracking lookups for an hour", source="conversation", confidence=0.94).id
    decided = engine.remember(
        "we cache tracking lookups for a minute", kind="decision", importance=0.8, dedupe=False,
        scopes=("repo", "work"), citations=(FileCitation("src/cache.py", 10, 14),),
        created=START_MS - 9 * DAY_MS, salience=0.5,
    ).id  # fmt: skip
    doubted = engine.remember("deploys go out on tuesday", confidence=0.2, importance=0.1).id
    against = engine.remember("deploys go out on friday", dedupe=False).id
    engine.relate(against, doubted, "CONTRADICTS")
    engine.remember("unconfirmed gossip about deploys", confidence=0.2)
    engine.remember("somebody's page about the cache", zone="quarantine")
    engine.remember("`src/app.py` holds the router", kind="note")
    engine.remember("runbook: restart the gateway, then drain it", kind="skill", dedupe=False)
    engine.memories.add_document("the cache of the gateway is small", path="docs/cache.md")
    engine.supersede(old, decided)
    yield engine.xray("how long do we cache tracking lookups")
    yield engine.xray(
        "how long do we cache tracking lookups", include_superseded=True, trace_id="trace-7c1f", cut=False
    )
    yield engine.xray("when do deploys go out", budget=400, files=["src/app.py"], cut=False)
    yield engine.xray("how do I restart the gateway", tier="project", cut=False)
    for mode in ("keyword", "semantic"):
        yield engine.xray("cache", mode=mode, cut=False)
    engine.confirm(decided)
    clock.advance(days=1)
    recorded = engine.search("how long do we cache tracking lookups", session="agent-42", budget=8192)
    yield engine.recalls.snapshot_of(recorded)
    engine.remember("alice likes tea", namespace="alice")
    yield engine.xray("what does alice like", namespace="alice")


def _asked_for_words(engine: Engine) -> Iterator[Snapshot]:
    """Without vectors, what shares no word with the question is only found along relations, or by being recent."""
    ttl = engine.remember("the cache keeps entries for a minute").id
    slow = engine.remember("perf regression in march").id
    wave = engine.remember("holiday traffic was twice the usual").id
    engine.relate(ttl, slow, confidence=0.8)
    engine.relate(slow, wave, "CAUSED", confidence=0.6)
    yield engine.xray("cache entries")
    yield engine.xray("zebra", cut=False)


def _told(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


@pytest.mark.parametrize(("interface", "field"), [(name, field) for name, fields in FIELDS.items() for field in fields])
def test_a_field_takes_the_values_that_the_scenes_call_for(
    seen: dict[str, list[Record]], interface: str, field: str
) -> None:
    values = {_told(row.get(field, ABSENT)) for row in seen[interface]}
    assert len(values) >= 2, f"{interface}.{field} is always {values}"
    assert FIELDS[interface][field] <= values


def test_only_optional_fields_are_ever_absent(seen: dict[str, list[Record]]) -> None:
    optional = {
        "tierExplain", "sessionKey", "traceId", "graphPath", "graphEdgeConfidences", "auditEntryId", "rejectedBy",
        "vector", "bm25", "mmrPenalty", "tierPrior", "reinforcementBoost",
    }  # fmt: skip
    for interface, fields in FIELDS.items():
        for field in fields.keys() - optional - {"reason"}:
            assert all(field in row for row in seen[interface]), f"{interface}.{field}"


def test_every_snapshot_has_the_schemas_version(seen: dict[str, list[Record]]) -> None:
    assert {record["schemaVersion"] for record in seen["RecallXraySnapshot"]} == {"1"}


@pytest.mark.parametrize(
    ("attributes", "state", "reason"),
    [
        ({"status": "forgotten"}, "forgotten", "status=forgotten"),
        ({"status": "rejected"}, "none", "status=rejected"),
        ({"status": "quarantined"}, "none", "status=quarantined"),
        ({"scopes": (ONLY_HERE,)}, "none", f"scope={ONLY_HERE}"),
    ],
)
def test_what_is_blocked_says_why_and_is_never_a_result(
    engine: Engine, attributes: Record, state: str, reason: str
) -> None:
    id = engine.remember("we cache lookups", **attributes).id
    asked = Query("cache", now=START_MS)
    said = provenance(engine.get(id), (), query=asked, served_by="hybrid")
    assert (said["correctionState"], said["safety"], said["safeToUse"]) == (state, "blocked", False)
    assert reason in said["safetyReasons"]
    for options in ({}, {"include_superseded": True}, {"mode": "keyword"}, {"preset": "classic"}):
        assert engine.xray("cache", **options).results == ()


@pytest.mark.parametrize("preset", ["default", "classic"])
def test_a_budget_is_stated_kept_and_valid_whether_or_not_one_was_asked(engine: Engine, preset: str) -> None:
    empty = engine.xray("cache", preset=preset).budget
    assert (empty.chars, empty.used, empty.tokens, empty.usedTokens, empty.unlimited) == (0, 0, None, 0, True)
    for at in range(6):
        engine.remember(f"cache {'lookups ' * 20} number {at}", dedupe=False)
    tight = engine.xray("cache", preset=preset, budget=600)
    assert 0 < len(tight.results) < 6
    assert (tight.budget.chars, tight.filters[-1].name) == (600, "budget-fit")
    assert tight.budget.unlimited is None
    free = engine.recalls.snapshot_of(engine.search("cache", preset=preset))
    assert "chars, no limit\n" in render(free, "text")
    assert "; no limit." in render(free, "brief")
    assert len(free.results) == 6
    assert free.budget.chars == free.budget.used == 24 - 1 + sum(result.chars or 0 for result in free.results)
