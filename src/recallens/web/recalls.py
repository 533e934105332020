"""Looking into a recall: its X-ray, two recalls beside each other, why a memory did not come, and the sandbox."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from recallens.model.ledger import Ledger
from recallens.model.memory import ID_LENGTH, Memory, Status
from recallens.model.query import DEFAULT_BUDGET, Query, json_name
from recallens.model.snapshot import Snapshot, XrayResult
from recallens.model.terms import WEIGHABLE
from recallens.model.times import instant
from recallens.operations import OPERATIONS, Right, perform
from recallens.recall.presets import PRESETS
from recallens.render import DEFAULT_FORMAT, FORMATS
from recallens.render.brief import names_in, verdict_lines
from recallens.store.records import Listing
from recallens.web.page import ShownPage, download, show
from recallens.web.pictures import funnel, ordered, share
from recallens.web.search import Explained, explained, graph_paths, legend
from recallens.web.visit import WEIGHT, Visit
from recallens.xray.counterfactual import QueryChange
from recallens.xray.diff import diff
from recallens.xray.explain import explain
from recallens.xray.ladder import Walk
from recallens.xray.why_not import KeptOut

ABOUT_XRAY = (
    "See every decision of a recall: who proposed what, which filter kept what out, and how each score adds up."
)


def fresh(visit: Visit) -> ShownPage:
    """Asked now, and recorded nowhere."""
    if not visit.query:
        return show("ask.html", title="X-ray", about=ABOUT_XRAY, action="/xray")
    visit.captured()
    engine, question = visit.engine, visit.question()
    options = visit.options(question)
    ledger = engine.recalls.ledger(engine.recalls.question(question.query, **options, namespace=visit.namespace))
    return _xray(visit, ledger, explain(ledger), recorded=False)


def recorded(visit: Visit) -> ShownPage:
    ledger, audit = visit.recorded(visit.named["id"])
    return _xray(visit, ledger, explain(ledger, audit=audit), recorded=True)


def _xray(visit: Visit, ledger: Ledger, snapshot: Snapshot, *, recorded: bool) -> ShownPage:
    paths, certificate, budget = graph_paths(ledger), snapshot.certificate, snapshot.budget
    wanted = {row.memoryId for row in snapshot.results}
    along = {id for row in snapshot.results for id in paths.get(row.memoryId, {}).get("nodes", ())}
    covering = {id for requirement in (certificate or {}).get("requirements", ()) for id in requirement["coveredBy"]}
    memories = visit.engine.memories.many(wanted | along | covering, namespace=visit.namespace)
    rows = explained(ledger, snapshot, memories=memories)
    return show(
        "xray.html", snapshot=snapshot, recorded=recorded, rows=rows, legend=legend(rows), memories=memories,
        funnel=funnel(snapshot.filters), slowest=max((stage.ms for stage in snapshot.stages), default=0.0),
        total_ms=sum(stage.ms for stage in snapshot.stages),
        used=share(budget.used or 0, budget.chars) if budget.chars and not budget.unlimited else None,
        used_tokens=share(budget.usedTokens or 0, budget.tokens) if budget.tokens else None,
        names=names_in(snapshot), verdict=list(verdict_lines(snapshot)), formats=tuple(FORMATS),
        share=share, certificate=certificate,
    )  # fmt: skip


def download_fresh(visit: Visit) -> Response:
    return _download(visit, "recall_xray", visit.arguments())


def download_recorded(visit: Visit) -> Response:
    return _download(visit, "get_snapshot", {"id": visit.named["id"], "namespace": visit.namespace})


def _download(visit: Visit, operation: str, arguments: dict[str, object]) -> Response:
    """The one renderer's words, as on every surface."""
    format = visit.given.get("format", DEFAULT_FORMAT)
    answer = perform(OPERATIONS[operation], visit.engine, visit.caller, {**arguments, "format": format})
    ending, media = FORMATS[format]
    return download(f"xray.{ending}", media, answer.text)


# Splits a sentence into words, and ids that lead to a memory.
_ID = re.compile(rf"\b([0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}})\b")


def compare(visit: Visit) -> ShownPage:
    """Where nothing is chosen, the latest two recalls of one question are offered; else only the latest."""
    engine, namespace = visit.engine, visit.namespace
    kept = engine.recalls.recent(namespace=namespace, owner=visit.caller.owner)
    before, after = visit.given.get("before", "").strip(), visit.given.get("after", "").strip()
    if not before or not after:
        if not before and not after and len(kept) > 1:
            pairs = ((earlier, later) for at, later in enumerate(kept) for earlier in kept[at + 1 :])
            pair = next((pair for pair in pairs if pair[0].query == pair[1].query), None)
            before, after = ("", kept[0].id) if pair is None else (pair[0].id, pair[1].id)
        return show("diff.html", kept=kept, before=before, after=after, differences=None)
    old, _ = visit.recorded(before)
    new, _ = visit.recorded(after)
    differences = diff(old, new)
    ids = _ID.findall(" ".join(str(change.sentence) for change in differences.changes))
    return show(
        "diff.html", kept=kept, before=before, after=after, differences=differences, old=old.query, new=new.query,
        memories=engine.memories.many(ids, namespace=namespace),
        pieces=_ID.split,
    )  # fmt: skip


OFFERED = 12
# What has been forgotten or rejected is not brought up again by itself; its id still asks about it.
ASKABLE = tuple(status for status in Status if status not in (Status.FORGOTTEN, Status.REJECTED))
ABOUT_WHY_NOT = (
    "Name a question and a memory that did not come. Recallens says what kept it out, and what would bring it in."
)


def why_not(visit: Visit) -> ShownPage:
    if not visit.query:
        return show("ask.html", title="Why not this one?", about=ABOUT_WHY_NOT, action="/why-not")
    engine, question = visit.engine, visit.question()
    options = visit.options(question)
    wanted = visit.given.get("memory", "").strip()
    if not wanted:
        return _picker(visit, engine.xray(question.query, **options, namespace=visit.namespace))
    memory = engine.get(wanted, namespace=visit.namespace)
    sight = visit.caller.sight
    why = engine.why_not(memory.id, question.query, **options, sight=sight, namespace=visit.namespace)
    kept_out = why if isinstance(why, KeptOut) else None
    return show(
        "why_not.html", memory=memory, kept_out=kept_out,
        sentence=why.sentence.replace(memory.id, "This memory", 1),
        applied=changed_params(visit.params(), kept_out.change) if kept_out and kept_out.change else None,
    )  # fmt: skip


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


def _picker(visit: Visit, snapshot: Snapshot) -> ShownPage:
    """The near misses of the question first, then whatever a search or the latest memories offer."""
    looked = visit.given.get("find", "").strip()
    returned = {row.memoryId for row in snapshot.results}
    shown = set() if looked else returned | {row.memoryId for row in snapshot.nearMisses}
    offered = [memory for memory in _offered(visit, looked) if memory.id not in shown][:OFFERED]
    return show("why_not_pick.html", snapshot=snapshot, looked=looked, offered=offered, returned=returned)


def _offered(visit: Visit, looked: str) -> list[Memory]:
    engine, namespace = visit.engine, visit.namespace
    if not looked:
        return list(engine.memories.browse(Listing(statuses=ASKABLE, limit=4 * OFFERED), namespace=namespace).memories)
    held = visit.may(Right.READ).held()
    query = engine.recalls.query(looked, limit=OFFERED, include_superseded=True, scopes=held, namespace=namespace)
    return [result.memory for result in engine.recall(query).results]


# ── the sandbox: weights, budget and filters move, and the ranking follows; nothing is recorded ──

MOST_WEIGHT, WEIGHT_STEP = 3.0, 0.05
MOST_SHOWN_LIMIT, MOST_SHOWN_BUDGET = 50, 20_000
ABOUT_SANDBOX = (
    "Move the weights of a score, the budget and the filters, and watch the ranking follow. Nothing is saved."
)


class TrialRow(Struct, frozen=True):
    """A row against the unchanged ranking: `before` is its rank there, None where it was not."""

    row: Explained
    before: int | None

    @property
    def by(self) -> int:
        return 0 if self.before is None else self.before - self.row.xray.rank

    @property
    def way(self) -> Literal["new", "up", "down", "same"]:
        if self.before is None:
            return "new"
        return "up" if self.by > 0 else "down" if self.by < 0 else "same"


class Trial(Struct, frozen=True):
    """One look: `before` is how the question is answered without the settings, `query` what is asked with them."""

    before: Ledger
    query: Query
    moved: list[TrialRow]
    gone: list[XrayResult]  # as they stood before
    legend: list[str]

    @property
    def changes(self) -> list[str]:
        """What differs from the unchanged ranking, in numbers."""
        ways = [result.way for result in self.moved]
        counts = {"moved": ways.count("up") + ways.count("down"), "new": ways.count("new"), "gone": len(self.gone)}
        return [f"{count} {word}" for word, count in counts.items() if count]


def sandbox(visit: Visit) -> ShownPage:
    if not visit.query:
        return show("ask.html", title="Sandbox", about=ABOUT_SANDBOX, action="/sandbox")
    question, trial = visit.question(), tried(visit)
    weights = visit.options(question)["weights"]
    # The parts that this question's scores are made of.
    weighable = [name for name in Walk(trial.before).terms if name in WEIGHABLE]
    dials = {name: weights.get(name, 1.0) for name in ordered(weighable)}
    budget = trial.query.budget or DEFAULT_BUDGET
    return show(
        "sandbox.html", trial=trial, dials=dials, most=max(MOST_WEIGHT, *dials.values(), 0.0), step=WEIGHT_STEP,
        weight=WEIGHT, most_limit=max(MOST_SHOWN_LIMIT, trial.query.limit), budget=budget,
        most_budget=max(MOST_SHOWN_BUDGET, budget), presets=tuple(PRESETS), asked=question,
    )  # fmt: skip


def ranking(visit: Visit) -> ShownPage:
    """The ranking alone, for the script that follows the sliders."""
    return show("ranking.html", trial=tried(visit))


def tried(visit: Visit) -> Trial:
    """Both are asked at the same moment, so that nothing but the settings differs."""
    engine, question, now = visit.engine, visit.question(), visit.engine.core.clock()
    options, shared = visit.options(question), {"now": now, "namespace": visit.namespace}
    moments = {name: options[name] for name in ("now", "as_of", "scopes") if name in options}
    plain, query = (engine.recalls.question(question.query, **(shared | asked)) for asked in (moments, options))
    before, after = engine.recalls.ledger(plain), engine.recalls.ledger(query)
    old, new = explain(before), explain(after)
    ranks = {row.memoryId: row.rank for row in old.results}
    kept = {row.memoryId for row in new.results}
    rows = explained(after, new, memories={})
    moved = [TrialRow(row, ranks.get(row.xray.memoryId)) for row in rows]
    gone = [row for row in old.results if row.memoryId not in kept]
    return Trial(before, query, moved, gone, legend(rows))
