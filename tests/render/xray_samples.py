"""Snapshots made by hand: the specification's sample, and one in which no optional leaf is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from recallens.model.snapshot import (
    Budget,
    FilterTrace,
    NearMiss,
    Provenance,
    Snapshot,
    StageTime,
    TierExplain,
    ViewTrace,
    XrayResult,
)

DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
NAMESPACE = "alice-project-origin-ab12cd34"
# 2026-04-20T17:30:00.000Z
CAPTURED_AT = 1_776_706_200_000


def _provenance(**given: Any) -> Provenance:
    said: dict[str, Any] = {
        "source": "conversation",
        "scope": f"namespace:{NAMESPACE}",
        "userContextScopes": (),
        "stale": False,
        "corrected": False,
        "correctionState": "none",
        "safeToUse": True,
        "safety": "safe",
        "safetyReasons": (),
    }
    return Provenance(**said | given)


def _result(rank: int, name: str, served_by: Any, parts: dict[str, float], *more: str, **given: Any) -> XrayResult:
    return XrayResult(
        memoryId=name,
        path=f"{name}.md",
        servedBy=served_by,
        scoreDecomposition=parts,
        admittedBy=("namespace-scope", "status-active", "trust-zone", *more),
        rank=rank,
        title=name.rpartition("/")[2].replace("-", " "),
        auditEntryId=f"audit-0e4a1{'abcdef'[rank]}",
        **{"views": ("lexical", "semantic"), "chars": 1300 + rank, "tokens": 320 + rank} | given,
    )


def specified_sample() -> Snapshot:
    """The specification's sample to the letter. Its parts do not sum, so it shows the layout and nothing else."""
    return Snapshot(
        query="what did we decide about the recall cache TTL",
        snapshotId="5f6b1a2c-9d8e-4c01-8f3a-1b2c3d4e5f60",
        capturedAt=CAPTURED_AT,
        sessionKey="agent-session-42",
        namespace=NAMESPACE,
        traceId="trace-7c1f",
        budget=Budget(8192, 5284, 8000, 1290),
        filters=(
            FilterTrace("namespace-scope", 12, 12),
            FilterTrace("status-active", 12, 11, "rejected superseded"),
            FilterTrace("trust-zone", 11, 11),
            FilterTrace("token-overlap", 11, 7, "below-token-overlap-floor"),
            FilterTrace("mmr-diversify", 7, 4),
            FilterTrace("budget-fit", 4, 4),
        ),
        results=(
            _result(
                1,
                "decisions/recall-cache-ttl",
                "direct-answer",
                {"importance": 0.6, "tierPrior": 0.3, "final": 0.8912},
                "token-overlap",
                provenance=_provenance(
                    created="2026-04-18T21:13:00.000Z",
                    confidence=0.94,
                    retrievalReason="served-by=direct-answer",
                    userContextScopes=("repo", "work"),
                ),
            ),
            _result(
                2,
                "decisions/recall-cache-eviction",
                "hybrid",
                {"bm25": 0.4733, "vector": 0.5812, "mmrPenalty": 0.04, "final": 0.7204},
                "token-overlap",
                "mmr-diversify",
                provenance=_provenance(
                    created="2026-03-28T14:02:00.000Z",
                    confidence=0.83,
                    retrievalReason="served-by=hybrid",
                    stale=True,
                    corrected=True,
                    correctionState="superseded",
                    safeToUse=False,
                    safety="requires-review",
                    safetyReasons=("status=superseded", "stale=true"),
                ),
            ),
            _result(
                3,
                "notes/perf-regression-2026-03",
                "graph",
                {"vector": 0.491, "tierPrior": 0.15, "final": 0.6187},
                "mmr-diversify",
                views=("graph",),
                graphPath=("recall-cache-ttl", "perf-regression-2026-03"),
                graphRelations=("related-to",),
                graphEdgeConfidences=(0.87,),
            ),
            _result(
                4,
                "notes/branch-observations",
                "review-context",
                {"vector": 0.32, "importance": 0.3, "final": 0.55},
                "mmr-diversify",
                views=("review-context",),
                rejectedBy="below-token-overlap-floor",
            ),
        ),
        tierExplain=TierExplain(
            tier="direct-answer",
            reason="trusted decisions, unambiguous, token-overlap 0.86",
            candidatesConsidered=4,
            latencyMs=8.0,
            filteredBy=("below-token-overlap-floor",),
            sourceAnchors=("decisions/recall-cache-ttl.md:10-14",),
        ),
        plan={"preset": "default", "views": ["lexical", "semantic"], "depth": 40, "encoder": "minilm-int8:384"},
        views=(ViewTrace("lexical", 9, 0), ViewTrace("semantic", 12, 3)),
        nearMisses=(
            NearMiss(
                "notes/cache-warmup",
                "notes/cache-warmup.md",
                "캐시 예열 warm-up",
                "mmr-diversify",
                0.5391,
                "rank 5 of 4 asked",
                1.0,
                "ranks",
                "m812",
            ),
        ),
        stages=(StageTime("plan", 0.021), StageTime("gather:lexical", 1.5), StageTime("gates", 0.31)),
        versions={"engine": "0.1.0", "preset": "default", "encoder": "minilm-int8", "schema": "3", "tokenizer": "1"},
        digest=DIGEST,
    )


def everything() -> Snapshot:
    """Every optional leaf is there, and no two leaves have the same value where that can be."""
    sample = specified_sample()
    first, second, third, fourth = sample.results
    assert second.provenance is not None
    dated = replace(second.provenance, updated="2026-04-02T09:00:00.000Z", namespace="alice", userContextScopes=("a",))
    return replace(
        sample,
        filters=(
            FilterTrace("project", 1203, 31, "project is not atlas", pushed=True),
            FilterTrace("token-overlap", 31, 27, "below-token-overlap-floor", exempt=6),
        ),
        results=(
            replace(
                first,
                handle="m41",
                rawScores={"cosine": 0.6123, "bm25": 14.25},
                relevance=0.9375,
                relevanceParts={"cosine": 2.125, "bias": -1.0625},
                timeReason="created 2026-04-11, in “last week”",
                sentence="The gateway gives up after 30 s.",
            ),
            replace(second, provenance=dated),
            third,
            fourth,
        ),
        names={"decisions/old-ttl": "m12 Old TTL"},
        time={"held": 7, "nearest": "2026-04-11"},
        plan={
            **sample.plan,
            "complexity": 0.4375,
            "expanded": True,
            "weights": {"vector": 1.25, "bm25": 0.75},
            "expansions": [{"term": "ttl", "adds": ["expiry", "만료"]}, {"term": "cache", "adds": []}],
            "unset": {},
        },
        views=(*sample.views, ViewTrace("graph", 0, 0, "TimeoutError: walk took too long")),
        degraded={"graph": "TimeoutError: walk took too long"},
    )


def leaves(record: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every leaf of a JSON value; an empty list or object is a leaf too."""
    if isinstance(record, dict) and record:
        for name, inner in record.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(record, list) and record:
        for at, inner in enumerate(record):
            yield from leaves(inner, (*path, at))
    else:
        yield path, record
