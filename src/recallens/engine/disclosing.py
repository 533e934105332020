"""Layer 1: cheap summaries first, with a certificate that says whether they are enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from recallens.engine.xraying import Xraying
from recallens.errors import InvalidInput
from recallens.model.certificate import Verification, evidence_of, verified
from recallens.model.layers import INDEX_TOKENS, IndexEntry
from recallens.model.plan import Intent
from recallens.model.recall import Recall
from recallens.recall.complexity import estimated_tokens
from recallens.render.layers import OVER, index_entry, index_record
from recallens.render.records import certificate_of


@dataclass(frozen=True, slots=True)
class MemorySearch:
    """`entries` are in reading order: by utility, or in time where the question asks what happened."""

    recall: Recall
    entries: tuple[IndexEntry, ...]

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        return certificate_of(self.recall.ledger)

    @property
    def tokens(self) -> int:
        return sum(entry.tokens for entry in self.entries)

    def metadata(self) -> dict[str, Any]:
        """The specification's, for a question that was planned."""
        plans = self.recall.ledger.notes("plan")
        plan = plans[-1] if plans else {}
        score = plan.get("complexity", 0.0)
        count = len(self.entries)
        return {
            "complexity": score,
            "strategy": plan.get("strategy"),
            "resultCount": count,
            "estimatedTokens": estimated_tokens(count, score),
            "intent": plan.get("intent"),
            "order": "chronological" if _in_time(self.recall) else "utility",
            "widened": len(self.recall.ledger.notes("certificate")) > 1,
            "tokens": self.tokens,
        }

    def to_json(self) -> dict[str, Any]:
        answer = {
            "results": [index_record(entry) for entry in self.entries],
            "certificate": certificate_of(self.recall.ledger),
            "metadata": self.metadata(),
        }
        return answer if self.recall.notice is None else {**answer, "notice": self.recall.notice}


class Disclosing(Xraying):
    def search_memory(self, text: str, *, max_tokens: int | None = None, **options: Any) -> MemorySearch:
        """Search as an agent does: short summaries, a certificate, and one wider look if it says too little.

        Takes the options of `search`. `max_tokens` and `max_results` are the specification's budget.
        """
        if max_tokens is not None and options.get("tokens") is not None:
            raise InvalidInput("give max_tokens or tokens, not both: they are the same budget")
        if max_tokens is not None:
            options |= {"tokens": max_tokens, "item_tokens": int(INDEX_TOKENS * OVER)}
        recall = self.search(text, **{"widen": True, **options})
        results = recall.results
        if _in_time(recall):
            results = tuple(sorted(results, key=lambda result: (result.memory.created, result.memory.id)))
        return MemorySearch(replace(recall, results=results), tuple(map(index_entry, results)))

    def verify_certificate(self, certificate: Mapping[str, Any], *, namespace: str | None = None) -> Verification:
        """Whether what a certificate rests on still stands as it stood."""
        ids = [one["id"] for one in evidence_of(certificate)[1]]
        with self.store.read(self.namespace(namespace)) as reader:
            state = reader.state
            numbers = reader.memories.find(ids) if state is not None else {}
            memories = reader.memories.get(list(numbers.values()))
        return verified(certificate, {memory.id: memory for memory in memories.values()})


def _in_time(recall: Recall) -> bool:
    plans = recall.ledger.notes("plan")
    return bool(plans) and plans[-1].get("intent") == Intent.WHAT_HAPPENED
