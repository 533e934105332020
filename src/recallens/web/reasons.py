"""Why not this one? What kept a memory out, by how much, and the smallest change that brings it in."""

from __future__ import annotations

from recallens.model.memory import Memory, Status
from recallens.render.formats import instant
from recallens.store.records import Listing
from recallens.web.answering import Page
from recallens.web.searching import choices
from recallens.web.visits import WEIGHT, Visit
from recallens.xray.counterfactual import Change
from recallens.xray.why_not import KeptOut

OFFERED = 12
# What has been forgotten or rejected is not brought up again by itself; its id still asks about it.
ASKABLE = tuple(status for status in Status if status not in (Status.FORGOTTEN, Status.REJECTED))
# What a filter of the query is called in an address.
_FILTERS = {"min_salience": "minSalience", "include_superseded": "includeSuperseded", "in_session": "inSession",
            "requires_citations": "requiresCitations"}  # fmt: skip

ABOUT = "Name a question and a memory that did not come. Recallens says what kept it out, and what would bring it in."


def why_not(visit: Visit) -> Page:
    if not visit.query:
        return Page("ask.html", {"title": "Why not this one?", "about": ABOUT, "action": "/why-not", **choices(visit)})
    wanted = visit.given.get("memory", "").strip()
    return _verdict(visit, wanted) if wanted else _picker(visit)


def _verdict(visit: Visit, wanted: str) -> Page:
    engine, asked = visit.engine, visit.question()
    memory = engine.get(wanted, namespace=visit.namespace)
    found = engine.why_not(memory.id, asked.query, **asked.options(engine.clock()), namespace=visit.namespace)
    change = found.change if isinstance(found, KeptOut) else None
    return Page(
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


def changed_params(params: dict[str, str], change: Change) -> dict[str, str]:
    """The address of the same question with one setting changed."""
    group, _, name = change.setting.partition(".")
    if group == "weights":
        return {**params, WEIGHT + name: f"{change.after:.6g}"}
    key = _FILTERS.get(name, name) if group == "filters" else {"as_of": "asOf"}.get(group, group)
    kept = {known: value for known, value in params.items() if known != key}
    if change.after in (None, "", (), False, 0.0):
        return kept
    if change.setting == "as_of":
        return {**kept, key: instant(change.after)}
    return {**kept, key: "true" if change.after is True else str(change.after)}


def _picker(visit: Visit) -> Page:
    """The near misses of the question first, then whatever a search or the latest memories offer."""
    engine, asked = visit.engine, visit.question()
    snapshot = engine.xray(asked.query, **asked.options(engine.clock()), namespace=visit.namespace)
    looked = visit.given.get("find", "").strip()
    shown = {one.memoryId for one in snapshot.results} | {one.memoryId for one in snapshot.nearMisses}
    return Page(
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
        return list(engine.browse(Listing(statuses=ASKABLE, limit=4 * OFFERED), namespace=namespace).memories)
    query = engine.query(looked, limit=OFFERED, include_superseded=True, namespace=namespace)
    return [result.memory for result in engine.recall(query).results]
