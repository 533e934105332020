"""Looking into a recall: its X-ray and copies of it, two recalls beside each other, and why a memory did not come."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from recallens.model.ledger import Ledger
from recallens.model.memory import ID_LENGTH, Memory, Status
from recallens.model.query import json_name
from recallens.model.recall import RecordedRecall
from recallens.model.snapshot import Snapshot
from recallens.model.times import instant
from recallens.operations import OPERATIONS, perform
from recallens.render import FORMATS
from recallens.store.records import Listing
from recallens.web.page import Download, ShownPage
from recallens.web.pictures import funnel, share
from recallens.web.search import choices, explained, legend
from recallens.web.visit import WEIGHT, Visit
from recallens.xray.counterfactual import QueryChange
from recallens.xray.diff import diff
from recallens.xray.explain import explain
from recallens.xray.why_not import KeptOut

ABOUT_XRAY = (
    "See every decision of a recall: who proposed what, which filter kept what out, and how each score adds up."
)


def fresh(visit: Visit) -> ShownPage:
    """Asked now, and recorded nowhere."""
    if not visit.query:
        return ShownPage("ask.html", {"title": "X-ray", "about": ABOUT_XRAY, "action": "/xray", **choices(visit)})
    visit.captured()
    engine, asked = visit.engine, visit.question()
    query = engine.recalls.question(asked.query, **asked.options(engine.core.clock()), namespace=visit.namespace)
    ledger = engine.recalls.ledger(query)
    return _xray(visit, ledger, explain(ledger), recorded=False)


def recorded(visit: Visit) -> ShownPage:
    ledger, audit = visit.recorded(visit.named["id"])
    return _xray(visit, ledger, explain(ledger, audit=audit), recorded=True)


def _xray(visit: Visit, ledger: Ledger, snapshot: Snapshot, *, recorded: bool) -> ShownPage:
    wanted = {one.memoryId for one in snapshot.results}
    notes = ledger.notes("graph")
    paths = notes[-1].get("paths", {}) if notes else {}
    along = {id for one in wanted for id in paths.get(one, {}).get("nodes", ())}
    covering = {id for one in (snapshot.certificate or {}).get("requirements", ()) for id in one["coveredBy"]}
    memories = visit.engine.memories.many(wanted | along | covering, namespace=visit.namespace)
    rows = explained(ledger, snapshot, memories=memories)
    total = sum(stage.ms for stage in snapshot.stages)
    budget = snapshot.budget
    return ShownPage(
        "xray.html",
        {
            "snapshot": snapshot,
            "recorded": recorded,
            "rows": rows,
            "legend": legend(rows),
            "memories": memories,
            "rungs": funnel(snapshot.filters),
            "slowest": max((stage.ms for stage in snapshot.stages), default=0.0),
            "total_ms": total,
            "used": share(budget.used or 0, budget.chars) if budget.chars else None,
            "used_tokens": share(budget.usedTokens or 0, budget.tokens) if budget.tokens else None,
            "formats": tuple(FORMATS),
            "share": share,
            "certificate": snapshot.certificate,
            **choices(visit),
        },
    )


def download_fresh(visit: Visit) -> Download:
    given = visit.question().model_dump(mode="json", by_alias=True, exclude_unset=True)
    return _download(visit, "recall_xray", given)


def download_recorded(visit: Visit) -> Download:
    return _download(visit, "get_snapshot", {"id": visit.named["id"], "namespace": visit.namespace})


def _download(visit: Visit, operation: str, given: dict[str, object]) -> Download:
    """The one renderer's words, as on every surface."""
    format = visit.given.get("format", "text")
    answer = perform(OPERATIONS[operation], visit.engine, visit.caller, {**given, "format": format})
    ending, media = FORMATS[format]
    return Download(f"xray.{ending}", media, answer.text)


_ID = re.compile(rf"\b[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}\b")


def compare(visit: Visit) -> ShownPage:
    engine, namespace = visit.engine, visit.namespace
    kept = engine.recalls.recent(namespace=namespace, owner=visit.caller.owner)
    before, after = visit.given.get("before", "").strip(), visit.given.get("after", "").strip()
    shown: dict[str, object] = {"kept": kept, "before": before, "after": after, "found": None}
    if not after and not before and len(kept) > 1:
        shown |= {"before": _earlier(kept).id, "after": kept[0].id}
    if before and after:
        old, _ = visit.recorded(before)
        new, _ = visit.recorded(after)
        found = diff(old, new)
        said = " ".join(str(change.sentence) for change in found.changes)
        memories = engine.memories.many(_ID.findall(said), namespace=namespace)
        shown |= {
            "found": found,
            "old": old.query,
            "new": new.query,
            "memories": memories,
            "said": _said(memories),
        }
    return ShownPage("diff.html", shown)


def _earlier(kept: Sequence[RecordedRecall]) -> RecordedRecall:
    """What the latest is best compared with: the one before it that asked the same, else the one before it."""
    latest, *others = kept
    return next((one for one in others if one.query == latest.query), others[0])


def _said(memories: Mapping[str, object]) -> object:
    """A sentence in pieces: words, and ids that lead to a memory."""

    def pieces(sentence: str) -> Iterator[tuple[str, str | None]]:
        at = 0
        for match in _ID.finditer(sentence):
            yield sentence[at : match.start()], None
            yield match.group(), match.group() if match.group() in memories else None
            at = match.end()
        yield sentence[at:], None

    return pieces


OFFERED = 12
# What has been forgotten or rejected is not brought up again by itself; its id still asks about it.
ASKABLE = tuple(status for status in Status if status not in (Status.FORGOTTEN, Status.REJECTED))
ABOUT_WHY_NOT = (
    "Name a question and a memory that did not come. Recallens says what kept it out, and what would bring it in."
)


def why_not(visit: Visit) -> ShownPage:
    if not visit.query:
        return ShownPage(
            "ask.html", {"title": "Why not this one?", "about": ABOUT_WHY_NOT, "action": "/why-not", **choices(visit)}
        )
    wanted = visit.given.get("memory", "").strip()
    return _verdict(visit, wanted) if wanted else _picker(visit)


def _verdict(visit: Visit, wanted: str) -> ShownPage:
    engine, asked = visit.engine, visit.question()
    memory = engine.get(wanted, namespace=visit.namespace)
    found = engine.why_not(memory.id, asked.query, **asked.options(engine.core.clock()), namespace=visit.namespace)
    change = found.change if isinstance(found, KeptOut) else None
    return ShownPage(
        "why_not.html",
        {
            "memory": memory,
            "found": found,
            "kept_out": found if isinstance(found, KeptOut) else None,
            "sentence": found.sentence.replace(memory.id, "This memory", 1),
            "applied": changed_params(visit.params(), change) if change is not None else None,
            **choices(visit),
        },
    )


def changed_params(params: dict[str, str], change: QueryChange) -> dict[str, str]:
    """The address of the same question with one setting changed."""
    group, _, name = change.setting.partition(".")
    if group == "weights":
        return {**params, WEIGHT + name: f"{change.after:.6g}"}
    key = json_name(name if group == "filters" else group)
    kept = {known: value for known, value in params.items() if known != key}
    if change.after in (None, "", (), False, 0.0):
        return kept
    if change.setting == "as_of":
        return {**kept, key: instant(change.after)}
    return {**kept, key: "true" if change.after is True else str(change.after)}


def _picker(visit: Visit) -> ShownPage:
    """The near misses of the question first, then whatever a search or the latest memories offer."""
    engine, asked = visit.engine, visit.question()
    snapshot = engine.xray(asked.query, **asked.options(engine.core.clock()), namespace=visit.namespace)
    looked = visit.given.get("find", "").strip()
    shown = {one.memoryId for one in snapshot.results} | {one.memoryId for one in snapshot.nearMisses}
    return ShownPage(
        "why_not_pick.html",
        {
            "snapshot": snapshot,
            "looked": looked,
            "offered": [one for one in _offered(visit, looked) if one.id not in shown or looked][:OFFERED],
            "returned": {one.memoryId for one in snapshot.results},
            **choices(visit),
        },
    )


def _offered(visit: Visit, looked: str) -> list[Memory]:
    engine, namespace = visit.engine, visit.namespace
    if not looked:
        return list(engine.memories.browse(Listing(statuses=ASKABLE, limit=4 * OFFERED), namespace=namespace).memories)
    query = engine.recalls.query(looked, limit=OFFERED, include_superseded=True, namespace=namespace)
    return [result.memory for result in engine.recall(query).results]
