"""A retrieval told in lines, a line a stage, read off its ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recallens.model.ledger import Ledger
from recallens.model.verdict import Gate, Pick, Term
from recallens.recall.sources import Layer
from recallens.text.tokenizer import tokenize

SHOWN_TOKENS, SHOWN_EXPANDED, SHOWN_COMMANDS = 10, 15, 3
BRAIN = (Layer.BRAIN_TRACE, Layer.BRAIN_MEMORY, Layer.RECENT_KNOWLEDGE, Layer.PROJECT_SCAN)


def fusion_log(ledger: Ledger, *, selected: int, lessons: int, dropped: int, tokens: int) -> tuple[str, ...]:
    query, plan = ledger.query, _last(ledger, "plan")
    words = list(dict.fromkeys(tokenize(str(query["text"]))))
    expanded = [*words, *(other for others in plan.get("expansions", {}).values() for other in others)]
    counts: Mapping[str, int] = _last(ledger, "sources").get("candidates", {})
    brain = sum(counts.get(layer, 0) for layer in BRAIN)
    medium = sum(layer == Layer.MEDIUM_TERM_MEMORY for layer in _layers(ledger))
    total = sum(counts.values())
    return (
        f"Query tokens: [{', '.join(words[:SHOWN_TOKENS])}]",
        f"Expanded tokens: [{', '.join(expanded[:SHOWN_EXPANDED])}]",
        _brain_line(query["filters"], plan, brain),
        f"Memory search: {total - brain - counts.get(Layer.MEDIUM_TERM_MEMORY, 0)} chunks found",
        f"Medium-term sessions: {medium} chunks selected",
        *_cuts(ledger),
        f"Total chunks before budget: {selected + lessons + dropped}",
        *_reranks(ledger),
        f"Selected: {selected} (+{lessons} lesson), Dropped: {dropped}, Tokens: {tokens}",
    )


def _last(ledger: Ledger, name: str) -> Mapping[str, Any]:
    notes = ledger.notes(name)
    return notes[-1] if notes else {}


def _layers(ledger: Ledger) -> Iterator[str]:
    yield from (row["layer"] for row in _last(ledger, "sources").get("rows", {}).values())


def _brain_line(filters: Mapping[str, Any], plan: Mapping[str, Any], found: int) -> str:
    if filters["brain_file_limit"] == 0:
        return "Brain search: skipped (Knowledge Mix weight = 0)"
    if not filters["folders"]:
        return f"Brain search: {found} chunks found"
    dropped = "".join(f"; dropped {one['path']}: {one['reason']}" for one in plan.get("droppedFolders", ()))
    return f"Brain search (scoped to {len(plan.get('folders', ()))} folder(s)): {found} chunks{dropped}"


def _cuts(ledger: Ledger) -> Iterator[str]:
    """Each filter that took something away, and why."""
    for entry in ledger.last_round():
        verdict = entry.verdict
        if isinstance(verdict, Gate | Pick) and entry.admitted < entry.considered and verdict.name != "budget-fit":
            told = f" ({verdict.reason})" if verdict.reason else ""
            yield f"{verdict.name}: {entry.admitted} of {entry.considered} kept{told}"


def _reranks(ledger: Ledger) -> Iterator[str]:
    situation = ledger.query["situation"]
    for term in ledger.terms():
        if term.name == "actionability":
            boosted = int((term.computed & (term.delta > 0)).sum())
            commands = ",".join(situation["commands"][:SHOWN_COMMANDS])
            file = (situation["open_file"] or "-").replace("\\", "/").rsplit("/", 1)[-1]
            yield f"Actionability re-rank: {boosted} chunks boosted (cmds=[{commands}], openFile={file})"
        if term.name == "levelMatch":
            yield _levels(term, _last(ledger, "plan").get("level", "concept"))


def _levels(term: Term, level: str) -> str:
    same, far = int(term.stats["sameLevel"]), int(term.stats["farMismatch"])
    return f"Hierarchical re-rank (query={level}): {same} same-level (+), {far} far-mismatch (-)"
