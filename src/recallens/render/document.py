"""The one walk over a snapshot. Every writer writes this tree, so what one of them shows, all of them show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs, to_builtins

from recallens.model.snapshot import Conflicts, Provenance, Snapshot, TierExplain, XrayResult
from recallens.render import tree
from recallens.render.formats import ValueKind, kind_of, snake_case
from recallens.render.tree import Card, Facts, Field, Nothing, Path, Phrase, Row, Section, Shown, joined, pairs

# The specification's terms, in its order; `final` goes before them and every further term after them.
SEED_TERMS: Final = ("vector", "bm25", "importance", "mmrPenalty", "tierPrior", "reinforcementBoost")

TEXT, WORD, COUNT, SCORE, SHARE, INSTANT, MS, FLAG = ValueKind
Kinds = Mapping[str, ValueKind]
# The leaves of each record that is read as one line, in their order, and how each is shown.
_CHARACTERS: Final[Kinds] = {"used": COUNT, "chars": COUNT, "unlimited": FLAG}
_TOKENS: Final[Kinds] = {"usedTokens": COUNT, "tokens": COUNT}
_FILTER: Final[Kinds] = {
    "name": TEXT, "considered": COUNT, "admitted": COUNT, "reason": TEXT, "exempt": COUNT, "pushed": FLAG,
}  # fmt: skip
_VIEW: Final[Kinds] = {"name": TEXT, "proposed": COUNT, "refilled": COUNT, "error": WORD}
_NEAR_MISS: Final[Kinds] = {
    "memoryId": TEXT, "handle": WORD, "keptOutBy": WORD, "reason": WORD, "margin": SCORE, "unit": WORD,
    "relevance": SCORE, "score": SCORE, "path": WORD, "title": WORD,
}  # fmt: skip
_STAGE: Final[Kinds] = {"stage": TEXT, "ms": MS}
_RESULT: Final[Kinds] = {"rank": COUNT, "memoryId": TEXT, "servedBy": WORD}
_COST: Final[Kinds] = {"chars": COUNT, "tokens": COUNT}
_REQUIREMENT: Final[Kinds] = {"kind": TEXT, "text": WORD, "weight": SCORE}
_EVIDENCE: Final[Kinds] = {"id": TEXT, "contentHash": TEXT}
# The labels of leaves whose JSON names are not what is read.
_LABELS: Final = {
    "memoryId": "memory", "servedBy": "served-by", "keptOutBy": "kept-out-by", "usedTokens": "used", "id": "memory",
    "contentHash": "hash",
}  # fmt: skip


def document(snapshot: Snapshot | None) -> tree.XrayDocument:
    title = "Recall X-ray"
    if snapshot is None:
        return tree.XrayDocument(title)
    # What a filter has nothing to say of is left out of its record.
    filters = [to_builtins(trace) for trace in snapshot.filters]
    cards = tuple(_result(("results", at), result) for at, result in enumerate(snapshot.results))
    sections: list[Section] = [
        Facts("", _head(snapshot)),
        _table("filters", "filters", filters, _FILTER, _filter),
        tree.Cards("results", cards) if cards else _nothing("results", "results"),
        _tier_explain(snapshot.tierExplain),
    ]
    if snapshot.certificate is not None:
        sections.append(Facts("certificate", tuple(_certificate(snapshot.certificate, snapshot.widening))))
    if snapshot.time is not None:
        sections.append(Facts("time", tuple(_plain(("time",), snapshot.time))))
    if snapshot.degraded:
        sections.append(Facts("degraded", tuple(_plain(("degraded",), snapshot.degraded))))
    versions = _rows(
        _one("schema-version", ("schemaVersion",), snapshot.schemaVersion),
        *_plain(("versions",), snapshot.versions),
        _one("digest", ("digest",), snapshot.digest),
    )
    sections += [
        Facts("plan", tuple(_plain(("plan",), snapshot.plan))),
        _table("views", "views", snapshot.views, _VIEW, _view),
        _table("near misses", "nearMisses", snapshot.nearMisses, _NEAR_MISS, _near_miss),
        *([Facts("names", tuple(_plain(("names",), snapshot.names)))] if snapshot.names else ()),
        _table("stages", "stages", snapshot.stages, _STAGE, lambda shown: f"{shown[0][1]}: {shown[1][1]} ms"),
        Facts("versions", versions),
    ]
    return tree.XrayDocument(title, tuple(sections))


def _head(snapshot: Snapshot) -> tuple[Row, ...]:
    free = bool(snapshot.budget.unlimited)
    characters, tokens = (_fields(("budget",), snapshot.budget, kinds) for kinds in (_CHARACTERS, _TOKENS))
    return _rows(
        _one("query", ("query",), snapshot.query),
        _one("snapshot-id", ("snapshotId",), snapshot.snapshotId),
        _one("captured-at", ("capturedAt",), snapshot.capturedAt, INSTANT),
        _one("session", ("sessionKey",), snapshot.sessionKey),
        _one("namespace", ("namespace",), snapshot.namespace),
        _one("trace-id", ("traceId",), snapshot.traceId),
        Row("budget", characters, lambda shown: _spent(shown[:1] if free else shown, " chars")),
        Row("tokens", tokens, _spent),
    )


def _spent(shown: Shown, unit: str = "") -> str:
    unlimited = [label for label, _ in shown] == ["used"]
    return f"{joined(shown, ' / ')}{unit}{', no limit' if unlimited else ''}"


def _filter(shown: Shown) -> str:
    (_, name), (_, considered), (_, admitted), *more = shown
    reason = "".join(f" ({text})" for label, text in more if label == "reason")
    rest = [(label, text) for label, text in more if label != "reason"]
    return f"{name}: {admitted}/{considered} admitted{reason}{_after(rest)}"


def _view(shown: Shown) -> str:
    (_, name), (_, proposed), (_, refilled), *error = shown
    return f"{name}: {proposed} proposed, {refilled} refilled{_after(error)}"


def _near_miss(shown: Shown) -> str:
    return f"{shown[0][1]} — {pairs(shown[1:])}"


def _result(at: Path, result: XrayResult) -> Card:
    rows = _rows(
        _one("path", (*at, "path"), result.path),
        _score((*at, "scoreDecomposition"), result.scoreDecomposition),
        *(_provenance((*at, "provenance"), result.provenance) if result.provenance else ()),
        _graph(at, result),
        _many("state", (*at, "state"), result.state),
        _many("edge-confidences", (*at, "graphEdgeConfidences"), result.graphEdgeConfidences, SHARE),
        _many("admitted-by", (*at, "admittedBy"), result.admittedBy),
        _one("rejected-by", (*at, "rejectedBy"), result.rejectedBy),
        _one("audit-entry", (*at, "auditEntryId"), result.auditEntryId),
        _many("views", (*at, "views"), result.views),
        _one("layer", (*at, "layer"), result.layer),
        _one("query-coverage", (*at, "queryCoverage"), result.queryCoverage, SHARE),
        *(_conflicts((*at, "conflicts"), result.conflicts) if result.conflicts else ()),
        _one("title", (*at, "title"), result.title),
        _one("handle", (*at, "handle"), result.handle),
        _numbers("raw", (*at, "rawScores"), result.rawScores),
        _one("sentence", (*at, "sentence"), result.sentence),
        _one("relevance", (*at, "relevance"), result.relevance, SCORE),
        _numbers("relevance-parts", (*at, "relevanceParts"), result.relevanceParts),
        _one("time", (*at, "timeReason"), result.timeReason),
        Row("cost", _fields(at, result, _COST), lambda shown: ", ".join(f"{text} {label}" for label, text in shown)),
    )
    return Card(Row("", _fields(at, result, _RESULT), _headline), rows)


def _conflicts(at: Path, conflicts: Conflicts) -> Iterator[Row]:
    severity = Field((*at, "severity"), "severity", conflicts.severity, WORD)
    reasons = _items((*at, "reasons"), "reason", conflicts.reasons)
    yield Row("conflicts", (severity, *reasons, *_empty((*at, "memories"), conflicts.memories)), _aside)
    if conflicts.memories:
        yield _many("conflicts-with", (*at, "memories"), conflicts.memories)


def _score(at: Path, parts: Mapping[str, float]) -> Row:
    order = [name for name in dict.fromkeys(("final", *SEED_TERMS, *parts)) if name in parts]
    return Row("score", tuple(Field((*at, name), snake_case(name), parts[name], SCORE) for name in order), pairs)


def _numbers(label: str, at: Path, numbers: Mapping[str, float] | None) -> Row:
    return Row(label, tuple(Field((*at, name), name, value, SCORE) for name, value in (numbers or {}).items()), pairs)


def _provenance(at: Path, origin: Provenance) -> Iterator[Row]:
    wary = origin.safety != "safe" or bool(origin.safetyReasons)
    corrected = origin.correctionState != "none"
    yield Row(
        "provenance",
        (
            *_fields(at, origin, {"source": WORD, "created": WORD, "scope": WORD, "confidence": SHARE, "stale": FLAG}),
            Field((*at, "corrected"), "corrected", origin.corrected, FLAG, implied=corrected),
            Field((*at, "correctionState"), "corrected", origin.correctionState, WORD, implied=not corrected),
            Field((*at, "safeToUse"), "safe", origin.safeToUse, FLAG),
            *_fields(at, origin, {"updated": WORD, "namespace": WORD}),
            *([] if wary else [Field((*at, "safety"), "safety", origin.safety, implied=True)]),
            *_empty((*at, "userContextScopes"), origin.userContextScopes),
            *_empty((*at, "safetyReasons"), origin.safetyReasons),
        ),
        pairs,
    )
    yield _one("retrieval-reason", (*at, "retrievalReason"), origin.retrievalReason)
    if origin.userContextScopes:
        yield _many("context-scopes", (*at, "userContextScopes"), origin.userContextScopes)
    if wary:
        reasons = _items((*at, "safetyReasons"), "reason", origin.safetyReasons)
        yield Row("safety", (Field((*at, "safety"), "safety", origin.safety, WORD), *reasons), _aside)


def _graph(at: Path, result: XrayResult) -> Row:
    """The nodes with the relation between each two, as one reads a path; the JSON keeps them apart."""
    nodes = _items((*at, "graphPath"), "node", result.graphPath)
    relations = _items((*at, "graphRelations"), "relation", result.graphRelations)
    steps = [step for at in range(len(nodes)) for step in (nodes[at : at + 1] + relations[at : at + 1])]
    return Row("graph-path", (*steps, *relations[len(nodes) :]), lambda shown: joined(shown, " -> "))


def _tier_explain(explain: TierExplain | None) -> Section:
    heading, at = "tier explain", "tierExplain"
    if explain is None:
        return Nothing(heading, Field((at,), heading, None))
    anchors = _many("source-anchors", (at, "sourceAnchors"), explain.sourceAnchors, TEXT)
    return Facts(
        heading,
        _rows(
            _one("tier", (at, "tier"), explain.tier),
            _one("reason", (at, "reason"), explain.reason),
            _one("candidates-considered", (at, "candidatesConsidered"), explain.candidatesConsidered, COUNT),
            _one("latency-ms", (at, "latencyMs"), explain.latencyMs, MS),
            _many("filtered-by", (at, "filteredBy"), explain.filteredBy),
            Row(anchors.label, anchors.fields, stacked=bool(explain.sourceAnchors)),
        ),
    )


def _certificate(certificate: Mapping[str, Any], widening: str | None) -> Iterator[Row]:
    """What the question required first, each with what covers it; what the statement rests on last."""
    if widening is not None:
        yield _one("widening", ("widening",), widening)
    for name, value in certificate.items():
        at: Path = ("certificate", name)
        if name == "requirements" and value:
            yield from (_requirement((*at, place), requirement) for place, requirement in enumerate(value))
        elif name == "evidence" and value:
            for place, memory in enumerate(value):
                fields = _fields((*at, place), memory, _EVIDENCE)
                yield Row("rests-on", fields, lambda shown: f"{shown[0][1]} hash={shown[1][1]}")
        else:
            yield from _plain(at, value)


def _requirement(at: Path, requirement: Mapping[str, Any]) -> Row:
    def phrase(shown: Shown) -> str:
        (_, kind), (_, text), (_, weight), *by = shown
        return f"{kind} {text} (weight {weight}): {'covered by ' + joined(by) if by else 'missing'}"

    covering, at_covering = requirement["coveredBy"], (*at, "coveredBy")
    by = _items(at_covering, "covered-by", covering) + _empty(at_covering, covering)
    return Row("requires", (*_fields(at, requirement, _REQUIREMENT), *by), phrase)


def _plain(at: Path, value: object) -> Iterator[Row]:
    """Records whose names are their own: nested ones are flattened into dotted labels."""
    label = ".".join(str(step) for step in at[1:] or at)
    match value:
        case None if isinstance(at[-1], str):
            return
        case Mapping() if value:
            for name, inner in value.items():
                yield from _plain((*at, str(name)), inner)
        case list() | tuple() if any(isinstance(item, Mapping | list | tuple) for item in value):
            for place, inner in enumerate(value):
                yield from _plain((*at, place), inner)
        case list() | tuple():
            yield _many(label, at, value)
        case _:
            yield Row(label, (Field(at, label, value, kind_of(value)),))


def _headline(shown: Shown) -> str:
    (_, rank), (_, memory), *served = shown
    return f"[{rank}] {memory}" + (f" — {pairs(served)}" if served else "")


def _aside(shown: Shown) -> str:
    (_, first), *rest = shown
    return f"{first} ({joined(rest)})" if rest else first


def _after(shown: Shown) -> str:
    return f" {pairs(shown)}" if shown else ""


def _fields(at: Path, record: Struct | Mapping[str, Any], kinds: Kinds) -> tuple[Field, ...]:
    """The leaves of a record that are known."""
    values = structs.asdict(record) if isinstance(record, Struct) else record
    return tuple(
        Field((*at, name), _LABELS.get(name, name), values[name], kind)
        for name, kind in kinds.items()
        if values.get(name) is not None
    )


def _one(label: str, path: Path, value: object, kind: ValueKind = TEXT) -> Row:
    return Row(label, () if value is None else (Field(path, label, value, kind),))


def _many(label: str, path: Path, values: Sequence[Any] | None, kind: ValueKind | None = None) -> Row:
    if values is not None and not values:
        return Row(label, (Field(path, label, []),))
    return Row(label, _items(path, label, values, kind))


def _items(path: Path, label: str, values: Sequence[Any] | None, kind: ValueKind | None = None) -> tuple[Field, ...]:
    return tuple(
        Field((*path, place), label, value, kind or (WORD if kind_of(value) is TEXT else kind_of(value)))
        for place, value in enumerate(values or ())
    )


def _empty(path: Path, values: Sequence[Any]) -> tuple[Field, ...]:
    return () if values else (Field(path, str(path[-1]), [], implied=True),)


def _rows(*rows: Row) -> tuple[Row, ...]:
    return tuple(row for row in rows if row.fields)


def _table(
    heading: str, name: str, records: Sequence[Struct | Mapping[str, Any]], kinds: Kinds, phrase: Phrase
) -> Section:
    rows = tuple(Row("", _fields((name, place), record, kinds), phrase) for place, record in enumerate(records))
    return tree.Table(heading, rows) if rows else _nothing(heading, name)


def _nothing(heading: str, name: str) -> Nothing:
    return Nothing(heading, Field((name,), heading, []))
