"""The X-ray in short, for people and agents: the verdict, each result with why it came, what filters took, near misses.

At most 40 lines: names instead of ids, and only what did something. The other formats have everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from recallens.model.recall import EndedNote
from recallens.model.snapshot import Budget, FilterTrace, NearMiss, Snapshot, XrayResult
from recallens.model.terms import as_share, plain, shown_parts
from recallens.model.times import day, moment
from recallens.render.formats import USER, as_name, as_title, counted, first_line, how_it_failed, visible
from recallens.render.times import time_line

# Two lines each for the first results and one for a few more; with the rest of the page that makes 40 lines.
EXPLAINED, LISTED = 6, 3
FILTERS: Final = 7
NEAR_MISSES: Final = 5
TITLE_CHARACTERS: Final = 90
SENTENCE_CHARACTERS: Final = 60
NOTHING: Final = "Nothing here answers this."
PARTLY: Final = "Not answered in full:"
UNFIT: Final = "What answers this does not fit the budget: raise it."
# The reasons of safety that are not said in words already.
_WORDS: Final = {"status=pending_review": "under review", "stale=true": "stale", "confidence<0.3": "low confidence"}
# The part of a score beside which each raw score is shown.
_RAW: Final = {"vector": ("cosine", "cosine"), "bm25": ("bm25", "BM25")}


def write(snapshot: Snapshot | None) -> str:
    return "(no snapshot)" if snapshot is None else "\n".join(map(visible, _lines(snapshot)))


def _lines(snapshot: Snapshot) -> Iterator[str]:
    names = names_in(snapshot)
    yield f"X-ray: {first_line(snapshot.query)}"
    yield from verdict_lines(snapshot)
    if snapshot.plan.get("windows"):
        yield time_line({"windows": snapshot.plan["windows"], **(snapshot.time or {})})
    if index := snapshot.plan.get("index"):
        found = f", which finds {index['recallAtTen']:.1%} of the ten nearest" if "recallAtTen" in index else ""
        yield f"The candidates are of the database's index{found}."
    if replica := snapshot.plan.get("replica"):
        yield f"Answered by a replica that was {replica['behindSeconds']:g} s behind."
    for view, error in islice(snapshot.degraded.items(), 1):
        yield f"The {view} view {how_it_failed(first_line(error))}."
    yield _spent(snapshot.budget) + f" Asked {moment(snapshot.capturedAt)} UTC in {snapshot.namespace}."
    for result in snapshot.results[:EXPLAINED]:
        yield f"{result.rank:>2} {_named(result)}{_remarks(result, names)}"
        yield f"   {_sum(result)}"
    for result in snapshot.results[EXPLAINED : EXPLAINED + LISTED]:
        yield f"{result.rank:>2} {_named(result)}{_remarks(result, names)}"
    if rest := snapshot.results[EXPLAINED + LISTED :]:
        yield f"   and {len(rest)} more: {', '.join(result.handle or result.memoryId for result in rest)}"
    if active := [trace for trace in snapshot.filters if trace.admitted < trace.considered or trace.exempt]:
        yield "filters"
        yield from (f" - {_filter(trace)}" for trace in active[:FILTERS])
    if snapshot.nearMisses:
        yield "near misses"
        yield from (f" - {_near_miss(miss)}" for miss in snapshot.nearMisses[:NEAR_MISSES])
    yield f"snapshot {snapshot.snapshotId}; the format `text` has everything"


def verdict_lines(snapshot: Snapshot) -> Iterator[str]:
    certificate, silence = snapshot.certificate or {}, snapshot.silence or {}
    standing = standing_of(certificate, found=bool(snapshot.results))
    shown: tuple[XrayResult | NearMiss, ...] = snapshot.results or snapshot.nearMisses
    nearest = next((row for row in shown if row.memoryId == silence.get("nearest", row.memoryId)), None)
    lacking = lacks(certificate, silence.get("missing"))
    if standing in ("answered", "doubtful"):
        perhaps = "Perhaps answered" if standing == "doubtful" else "Answered"
        unsettled = [warning for warning in warnings_of(snapshot.results[0]) if warning.endswith("needs review")]
        yield f"{perhaps} by {_named(snapshot.results[0])}{f' ({unsettled[0]})' if unsettled else ''}."
    elif standing == "partly" and certificate.get("unsettled") and nearest is not None:
        yield f"Not answered: {only_unsettled(certificate)}, {_named(nearest)}."
    elif standing == "unfit":
        yield UNFIT + (f" First: {_named(nearest)}." if nearest is not None else "")
        return
    else:
        first = f"{PARTLY} {lacking}." if standing == "partly" and lacking else NOTHING
        yield first + (f" Nearest: {_named(nearest)}." if nearest is not None else "")
    if lacking and standing != "partly":
        yield f"{lacking[:1].upper()}{lacking[1:]}."


def standing_of(certificate: Mapping[str, Any], *, found: bool) -> str:
    """How the question stands, as the certificate decided it; without one, whether anything came."""
    told = certificate.get("verdict") or ("nothing" if certificate.get("abstention", {}).get("abstain") else "answered")
    return str(told) if found or told == "unfit" else "nothing"


def lacks(certificate: Mapping[str, Any], names: Sequence[str] | None = None) -> str:
    """What is missing, in a sentence: of some of it nothing here speaks, of other things only these results do not."""
    missing = certificate.get("missing", ()) if names is None else names
    there = [name for name in missing if name in certificate.get("elsewhere", ())]
    nowhere = [name for name in missing if name not in there]
    told = [f"nothing here speaks of {_quoted(nowhere)}"] if nowhere else []
    unsaid = certificate.get("reworded", ()) if names is None else ()
    told += [f"not among these results: {_quoted(there)}"] if there else []
    return "; ".join([*told, *([f"no result says {_quoted(unsaid)}"] if unsaid else [])])


def only_unsettled(certificate: Mapping[str, Any]) -> str:
    """That nothing but notes which were never settled speaks of the question, or of a part of it."""
    reviews = dict.fromkeys(one["review"] for one in certificate["unsettled"])
    part = " of a part of this" if certificate.get("completenessScore") else " of this"
    return f"only a {' and a '.join(reviews)} note speaks{part}"


def ended_line(ended: EndedNote) -> str:
    """That what would answer has ended, and how to see it."""
    named = " ".join(filter(None, (ended.handle, as_title(first_line(ended.title or "", TITLE_CHARACTERS)))))
    since = f" on {day(ended.ended)}" if ended.ended is not None else ""
    by = f" by {ended.superseded_by}" if ended.superseded_by is not None else ""
    return f"An ended note speaks of this: {named}, superseded{by}{since}; --include-superseded shows it."


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"“{first_line(name)}”" for name in names)


def _spent(budget: Budget) -> str:
    used, tokens = budget.used or 0, budget.usedTokens or 0
    if budget.unlimited and budget.tokens is None:
        return f"{counted(used, 'character')}, {counted(tokens, 'token')}; no limit."
    characters = "" if budget.unlimited else f" of {budget.chars:,}"
    room = "" if budget.tokens is None else f" of {budget.tokens:,}"
    return f"{used:,}{characters} characters, {tokens:,}{room} tokens."


def names_in(snapshot: Snapshot) -> Mapping[str, str]:
    """The handle of every memory that the snapshot names, by id."""
    rows: tuple[XrayResult | NearMiss, ...] = (*snapshot.results, *snapshot.nearMisses)
    shown = {row.memoryId: row.handle for row in rows if row.handle}
    return {id: name.split(" ", 1)[0] for id, name in snapshot.names.items()} | shown


def _named(row: XrayResult | NearMiss) -> str:
    """Handle, title and how likely it is to help; a text that is withheld has no title but its id."""
    title = "" if row.title == row.memoryId else as_title(first_line(row.title, TITLE_CHARACTERS))
    named = " ".join(filter(None, (row.handle or row.memoryId, title)))
    return named if row.relevance is None else f"{named} (relevance {as_share(row.relevance)})"


def _remarks(result: XrayResult, names: Mapping[str, str]) -> str:
    """Who served it, how old it is, and whatever speaks against it."""
    remarks = [plain(result.servedBy)] if result.servedBy else []
    if (origin := result.provenance) is not None:
        source = origin.source if origin.source == USER else as_name(origin.source)
        remarks += [f"{source}, {(origin.created or '')[:10]}"]
        remarks += ["replaces an older one"] * (origin.correctionState == "correction")
    remarks += [f"! {warning}" for warning in warnings_of(result)]
    if result.conflicts is not None:
        against = ", ".join(names.get(id, id) for id in result.conflicts.memories)
        remarks += [f"! {'; '.join(result.conflicts.reasons)}" + (f": {against}" if against else "")]
    if result.timeReason is not None:
        remarks.append(result.timeReason)
    if result.graphPath:
        remarks.append("by way of " + " → ".join(names.get(id, id) for id in result.graphPath[:-1]))
    return f" · {' · '.join(remarks)}" if remarks else ""


def warnings_of(result: XrayResult) -> list[str]:
    """What speaks against a result, in words: how it stands, and whatever else the rules of safety say."""
    said = list(result.state or ())
    for reason in result.provenance.safetyReasons if result.provenance is not None else ():
        word = _WORDS.get(reason, reason).replace("stale-citation", "stale")
        name, _, value = reason.partition("=")
        word = {"status": value.replace("_", " "), "note-status": f"{value}, needs review",
                "scope": f"meant for {value} only"}.get(name, word) if value and word == reason else word  # fmt: skip
        replaced = word == "stale" and any(one.startswith("superseded") for one in said)
        if not replaced and not any(one.startswith(word) for one in said):
            said = [one for one in said if not word.startswith(f"{one}:")] + [word]
    return said


def _sum(result: XrayResult) -> str:
    """The score as the sum of its parts, with the raw cosine and BM25 beside theirs."""
    raw = result.rawScores or {}
    parts = {name: value for name, value in result.scoreDecomposition.items() if name != "final"}
    score = result.scoreDecomposition["final"]
    text = f"{score:.2f} ="
    for place, (name, hundredths) in enumerate(shown_parts(parts, score)):
        sign = " −" if hundredths < 0 else " +" if place else ""
        key, label = _RAW.get(name, ("", ""))
        beside = f" ({label} {raw[key]:.2f}{_sentence(result) if key == 'cosine' else ''})" if key in raw else ""
        text += f"{sign} {plain(name)} {abs(hundredths) / 100:.2f}{beside}"
    return text


def _sentence(result: XrayResult) -> str:
    """What of the text is nearest to the question; always in quotes, as it is somebody's words."""
    said = first_line(result.sentence or "", SENTENCE_CHARACTERS).replace("”", '"')
    return f", nearest “{said}”" if said else ""


def _filter(trace: FilterTrace) -> str:
    cut = f"kept out {trace.considered - trace.admitted} of {trace.considered}"
    spared = f"let {trace.exempt} through that fail it" if trace.exempt else ""
    what = ", ".join(filter(None, (cut if trace.admitted < trace.considered else "", spared)))
    return f"{trace.name} {what}" + (f": {first_line(trace.reason)}" if trace.reason else "")


def _near_miss(miss: NearMiss) -> str:
    said = " (relevance" if miss.unit == "relevance" else None  # its reason says it
    name = _named(miss) if said is None else _named(miss).split(said)[0]
    return f"{name}: {first_line(miss.reason or miss.keptOutBy)}"
