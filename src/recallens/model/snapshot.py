"""The X-ray of one recall: the specification's snapshot with its field names, and what goes past it.

Field names are JSON names. Everything here was decided by a stage and is copied out of the ledger by `xray/explain.py`.
What no stage computed is None, and absent from every writer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recallens.model.quick import quick
from recallens.model.snapshot_id import SCHEMA_VERSION

ServedBy = Literal["direct-answer", "hybrid", "graph", "recent-scan", "procedural", "review-context"]
CorrectionState = Literal["none", "correction", "superseded", "disputed", "forgotten"]
Safety = Literal["safe", "requires-review", "blocked"]


@quick
@dataclass(frozen=True, slots=True)
class Provenance:
    source: str
    scope: str
    userContextScopes: tuple[str, ...]
    retrievalReason: str
    confidence: float
    stale: bool
    corrected: bool
    correctionState: CorrectionState
    safeToUse: bool
    safety: Safety
    safetyReasons: tuple[str, ...]
    created: str | None = None
    updated: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Conflicts:
    """What speaks against a result: its own words, a memory that contradicts it, a result that states another value."""

    severity: Literal["low", "medium", "high"]
    reasons: tuple[str, ...]
    memories: tuple[str, ...]


@quick
@dataclass(frozen=True, slots=True)
class XrayResult:
    """`scoreDecomposition` holds every term that was computed for the row, by name, and `final`, their sum.

    `layer` and `queryCoverage` are told by presets that tell sources apart, `conflicts` where there are any.

    `graphPath` holds nodes only; `graphRelations` and `graphEdgeConfidences` have one item for each step between two.
    """

    memoryId: str
    path: str
    servedBy: ServedBy | None
    scoreDecomposition: Mapping[str, float]
    admittedBy: tuple[str, ...]
    rank: int
    title: str
    views: tuple[str, ...]
    chars: int | None
    tokens: int | None
    graphPath: tuple[str, ...] | None = None
    graphRelations: tuple[str, ...] | None = None
    graphEdgeConfidences: tuple[float, ...] | None = None
    auditEntryId: str | None = None
    rejectedBy: str | None = None
    provenance: Provenance | None = None
    layer: str | None = None
    queryCoverage: float | None = None
    conflicts: Conflicts | None = None


@quick
@dataclass(frozen=True, slots=True)
class FilterTrace:
    """`admitted` = passed + exempt. Where `pushed`, the counts are of the whole namespace, not of what was proposed."""

    name: str
    considered: int
    admitted: int
    reason: str | None = None
    exempt: int = 0
    pushed: bool = False


@dataclass(frozen=True, slots=True)
class TierExplain:
    tier: str
    reason: str
    candidatesConsidered: int
    latencyMs: float
    filteredBy: tuple[str, ...]
    sourceAnchors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Budget:
    chars: int
    used: int | None = None
    tokens: int | None = None
    usedTokens: int | None = None


@quick
@dataclass(frozen=True, slots=True)
class ViewTrace:
    """How many rows a view proposed when first asked, and how many when asked again among those that pass."""

    name: str
    proposed: int
    refilled: int
    error: str | None = None


@quick
@dataclass(frozen=True, slots=True)
class NearMiss:
    """A row that was found and not returned: what kept it out, and by how much its score missed the last result's."""

    memoryId: str
    path: str
    title: str
    keptOutBy: str
    score: float
    reason: str | None = None
    margin: float | None = None


@quick
@dataclass(frozen=True, slots=True)
class StageTime:
    stage: str
    ms: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`capturedAt` is the asking time. Measured times are the only fields outside `digest` and every equality."""

    query: str
    snapshotId: str
    capturedAt: int
    results: tuple[XrayResult, ...]
    filters: tuple[FilterTrace, ...]
    budget: Budget
    plan: Mapping[str, Any]
    views: tuple[ViewTrace, ...]
    nearMisses: tuple[NearMiss, ...]
    stages: tuple[StageTime, ...]
    versions: Mapping[str, str]
    digest: str
    tierExplain: TierExplain | None = None
    sessionKey: str | None = None
    namespace: str | None = None
    traceId: str | None = None
    degraded: Mapping[str, str] = field(default_factory=dict)
    certificate: Mapping[str, Any] | None = None
    widening: str | None = None
    schemaVersion: str = SCHEMA_VERSION
