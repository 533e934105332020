"""What a recall gives back: results with the ledger that caused them, its certificate, and chunks for a model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from typing import Any

from msgspec import Struct, field

from recallens.errors import InvalidInput
from recallens.model.ledger import Ledger
from recallens.model.memory import Memory, Session, Status, Usage, as_json, title_of
from recallens.model.query import Query
from recallens.model.state import MemoryState


class MatchType(StrEnum):
    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    BOTH = "both"


class Successor(Struct, frozen=True, rename={"created": "createdAt"}):
    """The memory that replaced another: its first 200 characters are enough to see what changed.

    Where its text is withheld, the reason stands in its place.
    """

    id: str
    content: str
    created: int
    handle: str = ""


class SearchResult(Struct, frozen=True):
    """`mark` marks the query's words in a text, where words had a part in finding it."""

    rank: int
    memory: Memory
    score: float
    salience: float
    match_type: MatchType | None
    views: tuple[str, ...]
    parts: Mapping[str, float]
    relevance: float | None = None  # how likely it is to help, where the preset judges that
    source_session: Session | None = None
    is_superseded: bool = False
    superseded_by: Successor | None = None
    related_count: int = 0
    state: MemoryState = MemoryState()
    mark: Callable[[str], str] | None = None
    sentence: str | None = None  # the one that is nearest to the question, where one was looked for

    @property
    def highlights(self) -> tuple[str, ...]:
        """The text around the words that were asked for, marked; for who shows results, and made when they ask."""
        excerpt = self.mark(self.memory.content) if self.mark is not None else ""
        return (excerpt,) if excerpt else ()


class Silence(Struct, frozen=True):
    """Nothing is likely to help: what came nearest all the same, how likely it is, and what it says nothing about."""

    nearest: Memory
    relevance: float
    least: float  # from here on it would have been an answer
    missing: tuple[str, ...] = ()


class EndedNote(Struct, frozen=True):
    """What would have answered, if it had not ended: shown by its name alone."""

    id: str
    handle: str
    title: str | None = None
    ended: int | None = None
    superseded_by: str | None = None


class Recall(Struct, frozen=True):
    """`degraded` names each view that failed and why; `recorded` is false where nothing could be written.

    `silence` says why there are no results, where something was found and nothing of it is likely to help.
    """

    query: Query
    results: tuple[SearchResult, ...]
    ledger: Ledger
    encoder: str | None
    degraded: Mapping[str, str] = field(default_factory=dict)
    recorded: bool = False
    audit: Mapping[str, str] = field(default_factory=dict)
    notice: str | None = None
    silence: Silence | None = None
    ended: EndedNote | None = None  # beside silence

    def __iter__(self) -> Iterator[SearchResult]:
        """The results, the best first."""
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, at: int) -> SearchResult:
        return self.results[at]

    def __bool__(self) -> bool:
        """Whether anything is likely to help."""
        return bool(self.results)

    def __repr__(self) -> str:
        asked = self.query.text if len(self.query.text) <= 60 else f"{self.query.text[:59]}…"
        if not self.results:
            return f"<Recall {asked!r}: nothing is likely to help>"
        first = self.results[0]
        likely = "" if first.relevance is None else f", {first.relevance:.0%} likely to help"
        count = "1 result" if len(self.results) == 1 else f"{len(self.results)} results"
        return f"<Recall {asked!r}: {count}, first {first.memory.handle} ({title_of(first.memory)!r}{likely})>"

    def _repr_html_(self) -> str:
        """For a notebook. The renderer is found by its name: the model stands below it."""
        html: str = import_module("recallens.render.notebook").recall_html(self)
        return html


class SessionSummary(Struct, frozen=True):
    id: str
    started: int
    summary: str | None


class SessionContext(Struct, frozen=True):
    """A memory's latest link to a session, and how many memories that session touched."""

    session: Session
    memories_in_session: int
    usage: Usage


class Timeline(Struct, frozen=True):
    anchor: Memory
    before: tuple[Memory, ...]
    after: tuple[Memory, ...]
    sessions: Mapping[str, SessionSummary]
    states: Mapping[str, MemoryState] = {}  # how each memory stands, by its id


class RecordedRecall(Struct, frozen=True):
    """A recall whose decisions the store still keeps; `id` is its snapshot's."""

    id: str
    at: int
    query: str
    session: str | None = None


# ── the certificate of a recall, outside of it: what it rests on, and whether that still stands ──


def evidence_digest(query: str, rests_on: Iterable[Mapping[str, str]]) -> str:
    record = [query, *([memory["id"], memory["contentHash"]] for memory in rests_on)]
    return hashlib.sha256(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


class Verification(Struct, frozen=True):
    """`altered`: the certificate is not what it was made as. `stale` names each memory that is not what it was."""

    altered: bool
    stale: Mapping[str, str]

    @property
    def valid(self) -> bool:
        return not self.altered and not self.stale

    def to_json(self) -> dict[str, Any]:
        return {"valid": self.valid, **as_json(self)}


def evidence_of(certificate: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, str]], str]:
    """The question, the evidence and the digest of a certificate; anything else is refused."""
    try:
        query, digest = certificate["query"], certificate["digest"]
        rests_on = [{name: str(each[name]) for name in ("id", "contentHash")} for each in certificate["evidence"]]
    except (KeyError, TypeError) as error:
        raise InvalidInput(
            "this is no certificate: it must have query, evidence (id, contentHash) and digest",
            hint="Give the certificate as `recallens search --json` prints it.",
        ) from error
    return str(query), rests_on, str(digest)


def verified(
    certificate: Mapping[str, Any], memories: Mapping[str, Memory], withheld: Collection[str] = ()
) -> Verification:
    """Against the memories as they are now, by id; of what is withheld nobody learns whether they guessed its text."""
    query, rests_on, digest = evidence_of(certificate)
    stale = {}
    for evidence in rests_on:
        memory = memories.get(evidence["id"])
        if memory is None:
            stale[evidence["id"]] = "no longer there"
        elif memory.id in withheld:
            stale[memory.id] = "withheld"
        elif memory.content_hash != evidence["contentHash"]:
            stale[memory.id] = "its text changed"
        elif memory.status is not Status.ACTIVE:
            stale[memory.id] = f"now {memory.status}"
    return Verification(evidence_digest(query, rests_on) != digest, stale)


# ── what one retrieval hands to a model: the specification's result with its field names ──

OPEN, CLOSE = "<memories>\n", "</memories>\n"
LESSONS_HEADING = "Verify before finalizing:\n"


class RetrievalChunk(Struct, frozen=True):
    """`block` is the chunk as a context holds it, `tokenEstimate` what that costs."""

    id: str
    source: str
    title: str
    content: str
    score: float
    tokenEstimate: int
    metadata: Mapping[str, Any] = field(default_factory=dict)
    block: str = ""


class Retrieval(Struct, frozen=True):
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
    degraded: Mapping[str, str] = field(default_factory=dict)  # each view that failed, and why

    def to_json(self) -> dict[str, Any]:
        record: dict[str, Any] = as_json(self)
        if not self.degraded:
            del record["degraded"]
        for chunk in (*record["selectedChunks"], *record["droppedChunks"], *record["lessonChunks"]):
            del chunk["block"]
        return record


def build_context_string(result: Retrieval) -> str:
    """The selected chunks as one delimited block, best first; lessons have a block of their own."""
    return _framed(result.selectedChunks)


def build_lesson_string(result: Retrieval) -> str:
    block = _framed(result.lessonChunks)
    return f"{LESSONS_HEADING}{block}" if block else ""


def build_strings(result: Retrieval) -> str:
    return build_context_string(result) + build_lesson_string(result)


def _framed(chunks: tuple[RetrievalChunk, ...]) -> str:
    return f"{OPEN}{''.join(chunk.block for chunk in chunks)}{CLOSE}" if chunks else ""
