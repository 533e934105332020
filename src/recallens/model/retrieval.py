"""What one retrieval hands to a model: the specification's result with its field names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

OPEN, CLOSE = "<memories>\n", "</memories>\n"
LESSONS_HEADING = "Verify before finalizing:\n"


@dataclass(frozen=True, slots=True)
class RetrievalChunk:
    """`block` is the chunk as a context holds it, `tokenEstimate` what that costs."""

    id: str
    source: str
    title: str
    content: str
    score: float
    tokenEstimate: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    block: str = field(default="", repr=False)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "block"}


@dataclass(frozen=True, slots=True)
class Retrieval:
    """`selectedChunks` fit the budget; `lessonChunks` do too, and stand apart: what to check before an answer is final.
    `fusionLog` is read off the ledger, a line a stage.
    """

    query: str
    totalChunks: int
    selectedChunks: tuple[RetrievalChunk, ...]
    droppedChunks: tuple[RetrievalChunk, ...]
    lessonChunks: tuple[RetrievalChunk, ...]
    totalTokensUsed: int
    contextBudget: int
    fusionLog: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "totalChunks": self.totalChunks,
            "selectedChunks": [chunk.to_json() for chunk in self.selectedChunks],
            "droppedChunks": [chunk.to_json() for chunk in self.droppedChunks],
            "lessonChunks": [chunk.to_json() for chunk in self.lessonChunks],
            "totalTokensUsed": self.totalTokensUsed,
            "contextBudget": self.contextBudget,
            "fusionLog": list(self.fusionLog),
        }


def build_context_string(result: Retrieval) -> str:
    """The selected chunks as one delimited block, best first; lessons have a block of their own."""
    return _framed(result.selectedChunks)


def build_lesson_string(result: Retrieval) -> str:
    block = _framed(result.lessonChunks)
    return f"{LESSONS_HEADING}{block}" if block else ""


def _framed(chunks: tuple[RetrievalChunk, ...]) -> str:
    return f"{OPEN}{''.join(chunk.block for chunk in chunks)}{CLOSE}" if chunks else ""
