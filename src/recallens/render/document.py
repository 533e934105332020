"""The one walk over a snapshot. Every writer writes this tree, so what one of them shows, all of them show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from recallens.model.snapshot import (
    Conflicts,
    FilterTrace,
    NearMiss,
    Provenance,
    Snapshot,
    StageTime,
    TierExplain,
    ViewTrace,
    XrayResult,
)
from recallens.render.formats import ValueKind, kind_of, snake_case
from recallens.render.tree import (
    Card,
    Cards,
    Facts,
    Field,
    Nothing,
    Path,
    Row,
    Section,
    Shown,
    Table,
    XrayDocument,
    joined,
    pairs,
)

# The specification's terms, in its order; `final` goes before them and every further term after them.
SEED_TERMS: Final = ("vector", "bm25", "importance", "mmrPenalty", "tierPrior", "reinforcementBoost")


def document(snapshot: Snapshot | None) -> XrayDocument:
    title = "Recall X-ray"
    if snapshot is None:
        return XrayDocument(title)
    sections: list[Section] = [
        Facts("", _head(snapshot)),
        _table("filters", ("filters",), map(_filter, _places("filters"), snapshot.filters)),
        _cards("results", ("results",), map(_result, _places("results"), snapshot.results)),
        _tier_explain(snapshot.tierExplain),
    ]
    if snapshot.certificate is not None:
        sections.append(Facts("certificate", tuple(_certificate(snapshot.certificate, snapshot.widening))))
    if snapshot.degraded:
        sections.append(Facts("degraded", tuple(_plain(("degraded",), snapshot.degraded))))
    sections += [
        Facts("plan", tuple(_plain(("plan",), snapshot.plan))),
        _table("views", ("views",), map(_view, _places("views"), snapshot.views)),
        _table("near misses", ("nearMisses",), map(_near_miss, _places("nearMisses"), snapshot.nearMisses)),
        _table("stages", ("stages",), map(_stage, _places("stages"), snapshot.stages)),
        Facts("versions", _versions(snapshot)),
    ]
    return XrayDocument(title, tuple(sections))


def _head(snapshot: Snapshot) -> tuple[Row, ...]:
    budget = snapshot.budget
    characters = [
        Field(("budget", "used"), "used", budget.used, ValueKind.COUNT),
        Field(("budget", "chars"), "chars", budget.chars, ValueKind.COUNT),
    ]
    tokens = [
        Field(("budget", "usedTokens"), "used", budget.usedTokens, ValueKind.COUNT),
        Field(("budget", "tokens"), "tokens", budget.tokens, ValueKind.COUNT),
    ]
    return _rows(
        _one("query", ("query",), snapshot.query),
        _one("snapshot-id", ("snapshotId",), snapshot.snapshotId),
        _one("captured-at", ("capturedAt",), snapshot.capturedAt, ValueKind.INSTANT),
        _one("session", ("sessionKey",), snapshot.sessionKey),
        _one("namespace", ("namespace",), snapshot.namespace),
        _one("trace-id", ("traceId",), snapshot.traceId),
        Row("budget", _present(characters), lambda shown: f"{_of(shown)} chars"),
        Row("tokens", _present(tokens), _of),
    )


def _filter(at: Path, trace: FilterTrace) -> Row:
    def phrase(shown: Shown) -> str:
        (_, name), (_, considered), (_, admitted), *more = shown
        reason = "".join(f" ({text})" for label, text in more if label == "reason")
        rest = [(label, text) for label, text in more if label != "reason"]
        return f"{name}: {admitted}/{considered} admitted{reason}{_after(rest)}"

    return Row(
        "",
        _present([
            Field((*at, "name"), "name", trace.name),
            Field((*at, "considered"), "considered", trace.considered, ValueKind.COUNT),
            Field((*at, "admitted"), "admitted", trace.admitted, ValueKind.COUNT),
            Field((*at, "reason"), "reason", trace.reason),
            Field((*at, "exempt"), "exempt", trace.exempt or None, ValueKind.COUNT),
            Field((*at, "pushed"), "pushed", trace.pushed or None, ValueKind.FLAG),
        ]),
        phrase,
    )  # fmt: skip


def _result(at: Path, result: XrayResult) -> Card:
    provenance = result.provenance
    head = _present([
        Field((*at, "rank"), "rank", result.rank, ValueKind.COUNT),
        Field((*at, "memoryId"), "memory", result.memoryId),
        Field((*at, "servedBy"), "served-by", result.servedBy, ValueKind.WORD),
    ])  # fmt: skip
    rows = _rows(
        _one("path", (*at, "path"), result.path),
        _score((*at, "scoreDecomposition"), result.scoreDecomposition),
        *(_provenance((*at, "provenance"), provenance) if provenance else ()),
        _graph(at, result),
        _many("edge-confidences", (*at, "graphEdgeConfidences"), result.graphEdgeConfidences, ValueKind.SHARE),
        _many("admitted-by", (*at, "admittedBy"), result.admittedBy),
        _one("rejected-by", (*at, "rejectedBy"), result.rejectedBy),
        _one("audit-entry", (*at, "auditEntryId"), result.auditEntryId),
        _many("views", (*at, "views"), result.views),
        _one("layer", (*at, "layer"), result.layer),
        _one("query-coverage", (*at, "queryCoverage"), result.queryCoverage, ValueKind.SHARE),
        *(_conflicts((*at, "conflicts"), result.conflicts) if result.conflicts else ()),
        _one("title", (*at, "title"), result.title),
        Row(
            "cost",
            _present([
                Field((*at, "chars"), "chars", result.chars, ValueKind.COUNT),
                Field((*at, "tokens"), "tokens", result.tokens, ValueKind.COUNT),
            ]),
            lambda shown: ", ".join(f"{text} {label}" for label, text in shown),
        ),
    )  # fmt: skip
    return Card(Row("", head, _headline), rows)


def _conflicts(at: Path, found: Conflicts) -> Iterator[Row]:
    severity = Field((*at, "severity"), "severity", found.severity, ValueKind.WORD)
    reasons = _items((*at, "reasons"), "reason", found.reasons)
    yield Row("conflicts", (severity, *reasons, *_empty((*at, "memories"), found.memories)), _aside)
    if found.memories:
        yield _many("conflicts-with", (*at, "memories"), found.memories)


def _score(at: Path, parts: Mapping[str, float]) -> Row:
    further = [name for name in parts if name not in SEED_TERMS and name != "final"]
    order = [name for name in ("final", *SEED_TERMS, *further) if name in parts]
    return Row(
        "score", tuple(Field((*at, name), snake_case(name), parts[name], ValueKind.SCORE) for name in order), pairs
    )


def _provenance(at: Path, said: Provenance) -> Iterator[Row]:
    wary = said.safety != "safe" or bool(said.safetyReasons)
    corrected = said.correctionState != "none"
    yield Row(
        "provenance",
        _present([
            Field((*at, "source"), "source", said.source, ValueKind.WORD),
            Field((*at, "created"), "created", said.created, ValueKind.WORD),
            Field((*at, "scope"), "scope", said.scope, ValueKind.WORD),
            Field((*at, "confidence"), "confidence", said.confidence, ValueKind.SHARE),
            Field((*at, "stale"), "stale", said.stale, ValueKind.FLAG),
            Field((*at, "corrected"), "corrected", said.corrected, ValueKind.FLAG, implied=corrected),
            Field((*at, "correctionState"), "corrected", said.correctionState, ValueKind.WORD, implied=not corrected),
            Field((*at, "safeToUse"), "safe", said.safeToUse, ValueKind.FLAG),
            Field((*at, "updated"), "updated", said.updated, ValueKind.WORD),
            Field((*at, "namespace"), "namespace", said.namespace, ValueKind.WORD),
            *([] if wary else [Field((*at, "safety"), "safety", said.safety, implied=True)]),
            *_empty((*at, "userContextScopes"), said.userContextScopes),
            *_empty((*at, "safetyReasons"), said.safetyReasons),
        ]),
        pairs,
    )  # fmt: skip
    yield _one("retrieval-reason", (*at, "retrievalReason"), said.retrievalReason)
    if said.userContextScopes:
        yield _many("context-scopes", (*at, "userContextScopes"), said.userContextScopes)
    if wary:
        reasons = _items((*at, "safetyReasons"), "reason", said.safetyReasons) if said.safetyReasons else ()
        yield Row("safety", (Field((*at, "safety"), "safety", said.safety, ValueKind.WORD), *reasons), _aside)


def _graph(at: Path, result: XrayResult) -> Row:
    """The nodes with the relation between each two, as one reads a path; the JSON keeps them apart."""
    nodes = _items((*at, "graphPath"), "node", result.graphPath)
    relations = _items((*at, "graphRelations"), "relation", result.graphRelations)
    steps = [step for at in range(len(nodes)) for step in (nodes[at : at + 1] + relations[at : at + 1])]
    return Row("graph-path", (*steps, *relations[len(nodes) :]), lambda shown: " -> ".join(text for _, text in shown))


def _tier_explain(explain: TierExplain | None) -> Section:
    heading = "tier explain"
    if explain is None:
        return Nothing(heading, Field(("tierExplain",), heading, None))
    at = ("tierExplain",)
    anchors = _many("source-anchors", (*at, "sourceAnchors"), explain.sourceAnchors, ValueKind.TEXT)
    return Facts(
        heading,
        _rows(
            _one("tier", (*at, "tier"), explain.tier),
            _one("reason", (*at, "reason"), explain.reason),
            _one("candidates-considered", (*at, "candidatesConsidered"), explain.candidatesConsidered, ValueKind.COUNT),
            _one("latency-ms", (*at, "latencyMs"), explain.latencyMs, ValueKind.MS),
            _many("filtered-by", (*at, "filteredBy"), explain.filteredBy),
            Row(anchors.label, anchors.fields, stacked=bool(explain.sourceAnchors)),
        ),
    )


def _certificate(certificate: Mapping[str, Any], widening: str | None) -> Iterator[Row]:
    """What the question required first, each with what covers it; what the statement rests on last."""
    at: Path = ("certificate",)
    if widening is not None:
        yield _one("widening", ("widening",), widening)
    for name, value in certificate.items():
        if name == "requirements" and value:
            yield from map(_requirement, (("certificate", name, place) for place in range(len(value))), value)
        elif name == "evidence" and value:
            yield from map(_evidence, (("certificate", name, place) for place in range(len(value))), value)
        else:
            yield from _plain((*at, name), value)


def _requirement(at: Path, one: Mapping[str, Any]) -> Row:
    def phrase(shown: Shown) -> str:
        (_, kind), (_, text), (_, weight), *by = shown
        return f"{kind} {text} (weight {weight}): {'covered by ' + joined(by) if by else 'missing'}"

    by = _items((*at, "coveredBy"), "covered-by", one["coveredBy"]) or tuple(_empty((*at, "coveredBy"), ()))
    return Row(
        "requires",
        (
            Field((*at, "kind"), "kind", one["kind"]),
            Field((*at, "text"), "text", one["text"], ValueKind.WORD),
            Field((*at, "weight"), "weight", one["weight"], ValueKind.SCORE),
            *by,
        ),
        phrase,
    )


def _evidence(at: Path, one: Mapping[str, Any]) -> Row:
    return Row(
        "rests-on",
        (Field((*at, "id"), "memory", one["id"]), Field((*at, "contentHash"), "hash", one["contentHash"])),
        lambda shown: f"{shown[0][1]} hash={shown[1][1]}",
    )


def _view(at: Path, view: ViewTrace) -> Row:
    def phrase(shown: Shown) -> str:
        (_, name), (_, proposed), (_, refilled), *error = shown
        return f"{name}: {proposed} proposed, {refilled} refilled{_after(error)}"

    return Row(
        "",
        _present([
            Field((*at, "name"), "name", view.name),
            Field((*at, "proposed"), "proposed", view.proposed, ValueKind.COUNT),
            Field((*at, "refilled"), "refilled", view.refilled, ValueKind.COUNT),
            Field((*at, "error"), "error", view.error, ValueKind.WORD),
        ]),
        phrase,
    )  # fmt: skip


def _near_miss(at: Path, miss: NearMiss) -> Row:
    return Row(
        "",
        _present([
            Field((*at, "memoryId"), "memory", miss.memoryId),
            Field((*at, "keptOutBy"), "kept-out-by", miss.keptOutBy, ValueKind.WORD),
            Field((*at, "score"), "score", miss.score, ValueKind.SCORE),
            Field((*at, "margin"), "margin", miss.margin, ValueKind.SCORE),
            Field((*at, "reason"), "reason", miss.reason, ValueKind.WORD),
            Field((*at, "path"), "path", miss.path, ValueKind.WORD),
            Field((*at, "title"), "title", miss.title, ValueKind.WORD),
        ]),
        lambda shown: f"{shown[0][1]} — {pairs(shown[1:])}",
    )  # fmt: skip


def _stage(at: Path, time: StageTime) -> Row:
    return Row(
        "",
        (Field((*at, "stage"), "stage", time.stage), Field((*at, "ms"), "ms", time.ms, ValueKind.MS)),
        lambda shown: f"{shown[0][1]}: {shown[1][1]} ms",
    )


def _versions(snapshot: Snapshot) -> tuple[Row, ...]:
    return _rows(
        _one("schema-version", ("schemaVersion",), snapshot.schemaVersion),
        *_plain(("versions",), snapshot.versions),
        _one("digest", ("digest",), snapshot.digest),
    )


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


def _of(shown: Shown) -> str:
    return " / ".join(text for _, text in shown)


def _aside(shown: Shown) -> str:
    (_, first), *rest = shown
    return f"{first} ({joined(rest)})" if rest else first


def _after(shown: Shown) -> str:
    return f" {pairs(shown)}" if shown else ""


def _one(label: str, path: Path, value: object, kind: ValueKind = ValueKind.TEXT) -> Row:
    return Row(label, _present([Field(path, label, value, kind)]))


def _many(label: str, path: Path, values: Sequence[Any] | None, kind: ValueKind | None = None) -> Row:
    if values is not None and not values:
        return Row(label, (Field(path, label, []),))
    return Row(label, _items(path, label, values, kind))


def _items(path: Path, label: str, values: Sequence[Any] | None, kind: ValueKind | None = None) -> tuple[Field, ...]:
    shared = {ValueKind.TEXT: ValueKind.WORD}
    return tuple(
        Field((*path, place), label, value, kind or shared.get(kind_of(value), kind_of(value)))
        for place, value in enumerate(values or ())
    )


def _empty(path: Path, values: Sequence[Any]) -> list[Field]:
    return [] if values else [Field(path, path[-1] if isinstance(path[-1], str) else "", [], implied=True)]


def _present(fields: Iterable[Field]) -> tuple[Field, ...]:
    return tuple(field for field in fields if field.value is not None)


def _rows(*rows: Row) -> tuple[Row, ...]:
    return tuple(row for row in rows if row.fields)


def _places(name: str) -> Iterator[Path]:
    place = 0
    while True:
        yield name, place
        place += 1


def _table(heading: str, path: Path, rows: Iterable[Row]) -> Section:
    found = tuple(rows)
    return Table(heading, found) if found else Nothing(heading, Field(path, heading, []))


def _cards(heading: str, path: Path, cards: Iterable[Card]) -> Section:
    found = tuple(cards)
    return Cards(heading, found) if found else Nothing(heading, Field(path, heading, []))
