"""The X-ray of one recall: the specification's snapshot with its field names, and what goes past it.

Field names are JSON names. Everything here was decided by a stage and is copied out of the ledger by `xray/explain.py`.
What no stage computed is None, and absent from every writer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import UUID, uuid5

from msgspec import Struct, field

if TYPE_CHECKING:
    from recallens.model.ledger import Ledger

SCHEMA_VERSION: Final = "1"
_SNAPSHOTS: Final = UUID("8f1b6a52-0c1d-5c8e-9a57-5a0d9d3c7e11")

ServedBy = Literal["direct-answer", "hybrid", "graph", "recent-scan", "procedural", "review-context"]
CorrectionState = Literal["none", "correction", "superseded", "disputed", "forgotten"]
Safety = Literal["safe", "requires-review", "blocked"]
MarginUnit = Literal["days", "characters", "tokens", "ranks", "relevance"]


class Provenance(Struct, frozen=True):
    source: str
    scope: str
    userContextScopes: tuple[str, ...]
    retrievalReason: str | None
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


class Conflicts(Struct, frozen=True):
    """What speaks against a result: its own words, a memory that contradicts it, a result that states another value."""

    severity: Literal["low", "medium", "high"]
    reasons: tuple[str, ...]
    memories: tuple[str, ...]


class XrayResult(Struct, frozen=True):
    """`scoreDecomposition` holds every term that was computed for the row, by name, and `final`, their sum.

    `state` says in words what speaks against relying on it: superseded by what, disputed by what.

    `relevance` is how likely the row is to help, and `relevanceParts` what each signal adds to the log-odds of that.

    `layer` and `queryCoverage` are told by presets that tell sources apart, `conflicts` where there are any.

    `rawScores` are the cosine and the BM25 from which the parts were made, where a view that proposed the row has one.

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
    handle: str | None = None
    rawScores: Mapping[str, float] | None = None
    relevance: float | None = None
    relevanceParts: Mapping[str, float] | None = None
    state: tuple[str, ...] | None = None
    timeReason: str | None = None  # why it is of the time asked about, where a time is
    sentence: str | None = None  # what of the text is nearest to the question


class FilterTrace(Struct, frozen=True, omit_defaults=True):
    """`admitted` = passed + exempt. Where `pushed`, the counts are of the whole namespace, not of what was proposed."""

    name: str
    considered: int
    admitted: int
    reason: str | None = None
    exempt: int = 0
    pushed: bool = False


class TierExplain(Struct, frozen=True):
    tier: str
    reason: str
    candidatesConsidered: int
    latencyMs: float
    filteredBy: tuple[str, ...]
    sourceAnchors: tuple[str, ...]


class Budget(Struct, frozen=True):
    """`unlimited` where the caller set no budget of characters: `chars` is then what was used.

    Without a budget of tokens there are no `tokens`.
    """

    chars: int
    used: int | None = None
    tokens: int | None = None
    usedTokens: int | None = None
    unlimited: bool | None = None


class ViewTrace(Struct, frozen=True):
    """How many rows a view proposed when first asked, and how many when asked again among those that pass."""

    name: str
    proposed: int
    refilled: int
    error: str | None = None


class NearMiss(Struct, frozen=True):
    """A row that was found and not returned: what kept it out, in the row's own words, and how much it lacked.

    Where its text is withheld from the caller, its title and path are its id, and how well it fits is not said.
    """

    memoryId: str
    path: str
    title: str
    keptOutBy: str
    score: float | None
    reason: str | None = None
    margin: float | None = None
    unit: MarginUnit | None = None
    handle: str | None = None
    relevance: float | None = None


class StageTime(Struct, frozen=True):
    stage: str
    ms: float


class Snapshot(Struct, frozen=True):
    """`names` gives handle and title of memories that are spoken of and are neither results nor near misses. `time`
    says how much there is of the time asked about.

    `capturedAt` is the asking time. Measured times are the only fields outside `digest` and every equality."""

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
    silence: Mapping[str, Any] | None = None
    widening: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    time: Mapping[str, Any] | None = None
    schemaVersion: str = SCHEMA_VERSION


def snapshot_id(ledger: Ledger) -> str:
    """The id that a ledger's snapshot has: derived, so that it is the same wherever it is asked for."""
    return snapshot_id_of(ledger.digest(), ledger.query["now"])


def snapshot_id_of(digest: str, asked_at: int) -> str:
    return str(uuid5(_SNAPSHOTS, f"{digest}:{asked_at}"))
