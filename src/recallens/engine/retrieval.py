"""Unified retrieval: every source through one pipeline, chosen within a budget, assembled into one context string."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Unpack

import numpy as np
from msgspec.structs import replace

from recallens.engine.core import Core
from recallens.engine.search import Search
from recallens.errors import InvalidInput
from recallens.model.citation import citation_to_json
from recallens.model.ledger import Ledger
from recallens.model.memory import Kind, Memory
from recallens.model.query import SearchOptions
from recallens.model.recall import Recall, Retrieval, RetrievalChunk, SearchResult, build_strings
from recallens.model.verdict import Pick
from recallens.recall.results import excerpt, remarks_of
from recallens.recall.sources import fusion_log
from recallens.render.records import present
from recallens.text.token_count import budget_tokens, count_tokens

CONTEXT_BUDGET = 8_000
BRAIN_FILE_LIMIT = 8
MEDIUM_TERM_LIMIT = 3
# Files and sessions at their limits, and as many of the other layers as the specification's four memories give.
RETRIEVED = BRAIN_FILE_LIMIT + MEDIUM_TERM_LIMIT + 4
# What a retrieval asks for where nothing is said.
_USUAL: SearchOptions = {
    "preset": "fusion",
    "limit": RETRIEVED,
    "brain_file_limit": BRAIN_FILE_LIMIT,
    "medium_term_limit": MEDIUM_TERM_LIMIT,
    "include_raw": False,
    "expand": True,
}


class Retriever:
    def __init__(self, core: Core, search: Search) -> None:
        self._core = core
        self._search = search

    def retrieve(
        self,
        text: str,
        *,
        context_budget: int | Mapping[str, int] = CONTEXT_BUDGET,
        owner: str | None = None,
        sent: Callable[[Retrieval], str] = build_strings,
        **options: Unpack[SearchOptions],
    ) -> Retrieval:
        """The best of every source within the budget, lessons apart. Takes every option of `search` beside its own.

        `brain_file_limit=0` means nothing from files at all, `medium_term_limit=0` no sessions. `sent` gives the text
        that the caller will send: that is what holds to the budget.
        """
        budget = _budget(context_budget)
        wanted = {name: value for name, value in options.items() if value is not None}
        if "tokens" in wanted:
            raise InvalidInput("give context_budget or tokens, not both: they are the same budget")
        asked: dict[str, Any] = {**_USUAL, **wanted, "tokens": budget, "excerpts": True}
        query = self._search.query(text, **asked)
        while True:  # each attempt has room for less, until what is sent fits
            recall = self._search.recall(query)
            found = self._assembled(recall, budget)
            text_sent = sent(found)
            used = budget_tokens(text_sent)
            if used <= budget:
                break
            if not found.selectedChunks and not found.lessonChunks:
                raise InvalidInput(
                    f"{budget:,} tokens are too few for an answer, which takes {used:,} without any memory",
                    hint=f"Give at least {used:,} tokens.",
                )
            query = replace(query, tokens=max(1, found.totalTokensUsed - (used - budget)))
        self._search.recorded(recall, record=options.get("record"), owner=owner)
        return replace(found, totalTokensUsed=count_tokens(text_sent))

    def _assembled(self, recall: Recall, budget: int) -> Retrieval:
        notes = _Notes(recall.ledger)
        chunks = [_scored(result, notes) for result in recall.results]
        dropped = self._dropped(recall, notes)
        lessons = tuple(chunk for chunk in chunks if chunk.metadata.get("isLesson"))
        selected = tuple(chunk for chunk in chunks if not chunk.metadata.get("isLesson"))
        used = int(notes.last("budget").get("usedTokens", 0))
        counts = {"selected": len(selected), "lessons": len(lessons), "dropped": len(dropped), "tokens": used}
        return Retrieval(
            query=recall.query.text,
            totalChunks=len(chunks) + len(dropped),
            selectedChunks=selected,
            droppedChunks=dropped,
            lessonChunks=lessons,
            totalTokensUsed=used,
            contextBudget=budget,
            fusionLog=fusion_log(recall.ledger, **counts),
            degraded=recall.degraded,
        )

    def _dropped(self, recall: Recall, notes: _Notes) -> tuple[RetrievalChunk, ...]:
        """What the budget left out, best first: chosen, and then too long for what was left."""
        ledger = recall.ledger
        picks = [entry.verdict for entry in ledger.last_round() if isinstance(entry.verdict, Pick)]
        left = picks[-2].chosen[~np.isin(picks[-2].chosen, picks[-1].chosen)].tolist() if len(picks) > 1 else []
        if not left:
            return ()
        pool = ledger.replay()
        ids = [pool.ids[position].decode() for position in left]
        with self._core.reading(recall.query.namespace) as reader:
            nums = reader.memories.find(ids)
            memories = reader.memories.get(list(nums.values()))
            documents = sorted({memory.document for memory in memories.values() if memory.document is not None})
            notes.paths.update(reader.documents.paths(documents) if documents else {})
        return tuple(
            _chunk(memories[nums[id]], float(pool.score[position]), notes)
            for id, position in zip(ids, left, strict=True)
            if id in nums
        )


class _Notes:
    """What the ledger says of each row."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.identity = self.last("identity").get("rows", {})
        self.sources = self.last("sources").get("rows", {})
        self.conflicts = self.last("conflicts").get("rows", {})
        self.items = self.last("budget").get("items", {})
        self.paths: dict[str, str] = {}

    def last(self, name: str) -> Mapping[str, Any]:
        notes = self.ledger.notes(name)
        return notes[-1] if notes else {}


def _scored(result: SearchResult, notes: _Notes) -> RetrievalChunk:
    remarks = remarks_of(result.memory, result.state)
    chunk = _chunk(result.memory, result.score, notes, ", ".join(remarks))
    if remarks:
        chunk = replace(chunk, metadata={**chunk.metadata, "remarks": remarks})
    if result.state.stale is not None:
        chunk = replace(chunk, metadata={**chunk.metadata, "stale": result.state.stale})
    boost = result.parts.get("actionability")
    return chunk if boost is None else replace(chunk, metadata={**chunk.metadata, "actionabilityScore": boost})


def _chunk(memory: Memory, score: float, notes: _Notes, remark: str = "") -> RetrievalChunk:
    item = notes.items.get(memory.id, {})
    origin = notes.sources.get(memory.id, {})
    source = item.get("source") or origin.get("layer") or ""
    path = notes.identity.get(memory.id, {}).get("path") or notes.paths.get(memory.document or "", "")
    shown = excerpt(memory, question=str(notes.ledger.query["text"]), source=source, path=path, remark=remark)
    conflict = notes.conflicts.get(memory.id, {})
    metadata: dict[str, Any] = {
        "filePath": path if memory.document is not None else None,
        "category": memory.attributes.get("category") or _CATEGORY.get(source, "general"),
        "isProjectEvidence": memory.attributes.get("isProjectEvidence", source == "project-memory") or None,
        "lastUpdated": memory.updated,
        "conflictDetected": bool(conflict),
        "conflictSeverity": conflict.get("severity", "none"),
        "queryCoverage": origin.get("queryCoverage"),
        "citations": [citation_to_json(citation) for citation in memory.citations] or None,
    }
    if memory.kind is Kind.LESSON:
        metadata |= {"isLesson": True, "lessonKind": memory.attributes.get("lessonKind") or "lesson"}
    return RetrievalChunk(
        id=memory.id,
        source=source,
        title=shown.title,
        content=shown.content,
        score=score,
        tokenEstimate=item.get("tokens", shown.tokens),
        metadata=present(metadata),
        block=shown.block,
    )


_CATEGORY = {
    "long-term-memory": "long-term",
    "project-memory": "project",
    "procedural-memory": "procedural",
    "episodic-memory": "episodic",
    "medium-term-memory": "medium-term",
}


def _budget(wanted: int | Mapping[str, int]) -> int:
    budget = wanted.get("totalBudget", CONTEXT_BUDGET) if isinstance(wanted, Mapping) else wanted
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise InvalidInput(f"the context budget must be a positive whole number of tokens, not {budget!r}")
    return budget
