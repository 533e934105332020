"""The chosen rows as results: what each is, where it comes from, whether it is safe to use, and what of it is shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from msgspec import Struct, structs

from recallens.ingest.encoded import SENTENCE_CHARACTERS, own_parts
from recallens.ingest.vault.lessons import extract_lesson_essence
from recallens.model.citation import CitationCheck
from recallens.model.context import INDEX_TOKENS
from recallens.model.ledger import Ledger
from recallens.model.memory import VAULT_SOURCE, Kind, Memory, Relation, RelationType, Status, Zone, title_of
from recallens.model.pool import Pool
from recallens.model.query import WATCH, Query
from recallens.model.recall import EndedNote, MatchType, SearchResult, Silence, Successor
from recallens.model.state import BLOCKING, MemoryState, not_held, withheld
from recallens.model.times import instant
from recallens.model.verdict import IntArray, Note, all_but, anywhere
from recallens.recall.scene import MULTILINGUAL, SEMANTIC, Bodies, Scene
from recallens.recall.sources import LAYERS, layers
from recallens.recall.states import states
from recallens.recall.views import DIRECT, GRAPH, HYBRID_VIEWS, PROCEDURAL, RECENT, REVIEW
from recallens.recall.views.direct_answer import OVERLAP_FLOOR
from recallens.recall.views.succession import REPLACEMENT, SUCCESSION
from recallens.store.protocols import Reader
from recallens.text.excerpt import Wanted, answering, is_said
from recallens.text.snippet import Snippets, counting
from recallens.text.token_count import count_tokens, estimate_tokens
from recallens.text.tokenizer import tokenize

LOW_CONFIDENCE: Final = 0.3
NEAR_MISSES: Final = 5
# Of so many results that are not shown whole, the sentence that is nearest to the question is looked for: some 25 ms
# each.
READ_RESULTS: Final = 1
# The specification's lengths of what is shown of a section, and of a lesson.
SECTION_CHARACTERS: Final = 700
LESSON_CHARACTERS: Final = 1_200
# What a text may not hold as itself: the end of the frame, or the head of another item.
_CLOSING: Final = re.compile(r"<(?=\s*/?\s*memories)", re.IGNORECASE)
_HEAD: Final = re.compile(rf"^(\s*)\[(?=\s*(?:{'|'.join(LAYERS)}))", re.IGNORECASE | re.MULTILINE)
_instant: Final = lru_cache(maxsize=4096)(instant)  # most memories were never updated: both of their times are one
_KEYWORD_VIEWS: Final = frozenset(("lexical", "symbolic"))
_MEANING_VIEWS: Final = frozenset((SEMANTIC, MULTILINGUAL))


def results(reader: Reader, scene: Scene, ledger: Ledger, pool: Pool, query: Query) -> tuple[SearchResult, ...]:
    """Bodies, sessions, successors and relations, each fetched once for all rows."""
    positions = pool.ranked()
    rows = pool.rows[positions]
    nums = scene.columns["num"][rows].tolist()
    bodies = scene.bodies.of(nums)
    sessions = reader.sessions.sources(nums) if scene.columns.names["session"].texts else {}
    replaced = []
    for num in nums:
        id = bodies.memories[num].id
        if any(each.type is RelationType.SUPERSEDES and each.target == id for each in bodies.relations.get(num, ())):
            replaced.append(num)
    successors = _visible(bodies, reader.relations.successors(replaced, scene.at), query) if replaced else {}
    standing = _standing(scene, nums, bodies, query)
    saliences = scene.salience(pool.rows)[positions].tolist()
    superseded = scene.superseded(rows, by_now=True).tolist()
    proposers = pool.proposers(positions)
    parts = ledger.parts_of(positions)
    mark = Snippets(scene.words.words if scene.words is not None else counting(tokenize(query.text)))
    nearest = nearest_sentences(scene, rows, query)
    scores = pool.score[positions].tolist()
    relevance = [None] * len(nums) if pool.relevance is None else pool.relevance[positions].tolist()
    return tuple(
        SearchResult(
            rank=at + 1,
            memory=bodies.memories[num],
            score=scores[at],
            salience=saliences[at],
            match_type=match_type(proposers[at]),
            views=proposers[at],
            parts=parts[at],
            relevance=relevance[at],
            source_session=sessions.get(num),
            is_superseded=superseded[at],
            superseded_by=successors.get(num),
            related_count=len(bodies.relations.get(num, ())),
            state=standing[num],
            sentence=nearest.get(num),
            mark=None if _KEYWORD_VIEWS.isdisjoint(proposers[at]) else mark,
        )
        for at, num in enumerate(nums)
    )


def nearest_sentences(scene: Scene, rows: IntArray, query: Query) -> dict[int, str]:
    """By memory number, the sentence whose vector is nearer to the question than that of the whole, where one is; of a
    long text the window. Where there is a cut, the first ones that are too long to be shown whole are read for the
    nearest sentence, which takes an encoder a pass over each, unless one says it in the question's words.
    """
    nums = scene.columns["num"][rows].tolist()
    nearest = {}
    for num, part in zip(nums, scene.best_parts(rows).tolist(), strict=True):
        if part > 0:
            memory = scene.bodies.memories[num]
            own = own_parts(memory.author, memory.content)
            if part <= len(own):
                nearest[num] = own[part - 1]
    if not query.cut:
        return nearest
    wanted = Wanted.of(query.text)

    def choose(own: Sequence[str]) -> int | None:
        return None if is_said(wanted, own) else scene.nearest(own)

    for at in np.flatnonzero(scene.columns["tokens"][rows] > INDEX_TOKENS)[:READ_RESULTS].tolist():
        if (said := scene.bodies.sentence(nums[at], nearest.get(nums[at]), choose)) is not None:
            nearest[nums[at]] = said
    return nearest


def _standing(scene: Scene, nums: Sequence[int], bodies: Bodies, query: Query) -> dict[int, MemoryState]:
    if missing := {num: bodies.memories[num] for num in nums if num not in bodies.states}:
        known: dict[str, Any] = {"relations": bodies.relations, "checks": bodies.checks, "worktree": bodies.worktree}
        bodies.states |= states(scene.reader, missing, scene.at, scopes=query.scopes, **known)
    standing = {num: bodies.states[num] for num in nums}
    for behind, ahead in bodies.disagreements(nums).items():
        others = tuple(bodies.memories[nums[at]].handle for at in sorted(ahead))
        standing[nums[behind]] = structs.replace(standing[nums[behind]], stated_otherwise_by=others)
    return standing


def silence_of(scene: Scene, ledger: Ledger) -> Silence | None:
    """What came nearest where nothing was likely to help."""
    told = ledger.notes("silence")
    if not told:
        return None
    note = told[-1]
    num = scene.reader.memories.find([note["nearest"]])[note["nearest"]]
    return Silence(scene.bodies.of([num]).memories[num], note["relevance"], note["least"], tuple(note["missing"]))


def ended_of(scene: Scene, ledger: Ledger, query: Query) -> EndedNote | None:
    """What has ended and would have answered."""
    told = ledger.notes("ended")
    if not told:
        return None
    id = told[-1]["id"]
    num = scene.reader.memories.find([id])[id]
    bodies = scene.bodies.of([num])
    memory, state = bodies.memories[num], _standing(scene, [num], bodies, query)[num]
    by = state.superseded_by[-1] if state.superseded_by else None
    return EndedNote(id, memory.handle, memory.title, memory.valid_until, by)


def _visible(bodies: Bodies, successors: Mapping[int, Successor], query: Query) -> dict[int, Successor]:
    """The successors with their handles, and without the text of those whose text is withheld."""
    memories = bodies.named([successor.id for successor in successors.values()])
    shown = {}
    for num, successor in successors.items():
        memory = memories[successor.id]
        reason = withheld(memory, query.scopes)
        content = successor.content if reason is None else f"(withheld: {reason})"
        shown[num] = structs.replace(successor, content=content, handle=memory.handle)
    return shown


@lru_cache(maxsize=256)  # the views that proposed a row are one of a few sets
def match_type(views: tuple[str, ...]) -> MatchType | None:
    """Decided by which views proposed the row; absent if only another one did."""
    by_words, by_meaning = not _KEYWORD_VIEWS.isdisjoint(views), not _MEANING_VIEWS.isdisjoint(views)
    if by_words and by_meaning:
        return MatchType.BOTH
    if by_meaning:
        return MatchType.SEMANTIC
    return MatchType.KEYWORD if by_words else None


# ── what each result is ──


def describe(scene: Scene, pool: Pool, query: Query) -> Iterator[Note]:
    """What each result is, who served it and how far it may be trusted; the near misses by name."""
    if not len(pool):
        return
    chosen = pool.ranked()
    nums = scene.columns["num"][pool.rows[chosen]].tolist()
    missed = scene.columns["num"][pool.rows[near_misses(pool, chosen)]].tolist()
    bodies = scene.bodies.of([*nums, *missed])
    coverage = scene.coverage(pool.rows)[chosen].tolist()
    served, origins = {}, {}
    identities = {bodies.memories[num].id: identity(num, bodies, query) for num in nums}
    for num, sentence in nearest_sentences(scene, pool.rows[chosen], query).items():
        if "title" in identities[bodies.memories[num].id]:  # else its text is withheld
            identities[bodies.memories[num].id]["sentence"] = sentence[:SENTENCE_CHARACTERS]
    for num, state in _standing(scene, nums, bodies, query).items():
        if warnings := list(state.warnings()):
            identities[bodies.memories[num].id]["state"] = warnings
    for num in missed:
        memory = bodies.memories[num]
        replaced = (r.source for r in bodies.relations.get(num, ()) if r.type is RelationType.SUPERSEDES)
        successor = next((source for source in replaced if source != memory.id), None)
        identities[memory.id] = identity(num, bodies, query) | {"facts": facts_of(memory, successor)}
    for num, proposers, share in zip(nums, pool.proposers(chosen), coverage, strict=True):
        memory, relations, check = bodies.memories[num], bodies.relations.get(num, ()), bodies.checks.get(num)
        tier = served_by(proposers, share)
        served[memory.id] = {"servedBy": tier, "reason": f"served-by={tier}"}
        origins[memory.id] = provenance(memory, relations, query=query, served_by=tier, check=check)
    others = _spoken_of(bodies, (*nums, *missed), identities, scene.reader)
    bodies.of(list(others))
    identities |= {bodies.memories[num].id: identity(num, bodies, query) for num in others if num in bodies.memories}
    yield Note("identity", {"rows": identities})
    yield Note("served", {"rows": served})
    yield Note("provenance", {"rows": origins})


def identity(num: int, bodies: Bodies, query: Query) -> dict[str, Any]:
    """The name of a memory in the ledger; of one whose text is withheld from this caller, the handle alone."""
    memory = bodies.memories[num]
    handle = {"handle": memory.handle}
    if withheld(memory, query.scopes) is not None:
        return handle
    return {"title": title_of(memory), "path": path_of(memory, bodies.paths), **handle}


def facts_of(memory: Memory, successor: str | None) -> dict[str, Any]:
    """What a filter may have held against it, so that the X-ray can say by how much it missed."""
    facts = {name: getattr(memory, name) for name in ("created", "valid_from", "valid_until", "updated")}
    facts |= {"held_from": memory.held_from} if memory.held_from != memory.created else {}
    labels = {name: getattr(memory, name) for name in ("status", "project", "sector", "tier", "kind")}
    known = {**facts, **{name: value and str(value) for name, value in labels.items()}, "successor": successor}
    return {name: value for name, value in known.items() if value is not None}


def _spoken_of(bodies: Bodies, nums: Sequence[int], known: Collection[str], reader: Reader) -> list[int]:
    """Memories that replace or contradict these ones, which the X-ray names beside them."""
    ends = {
        end
        for num in nums
        for relation in bodies.relations.get(num, ())
        if relation.type in (RelationType.CONTRADICTS, RelationType.SUPERSEDES)
        for end in (relation.source, relation.target)
    }
    rest = sorted(ends.difference(known))
    return sorted(reader.memories.find(rest).values()) if rest else []


def near_misses(pool: Pool, chosen: IntArray) -> IntArray:
    """In the order in which the X-ray looks for them; a row that is only followed takes the place of none."""
    rest = all_but(len(pool), chosen)
    most = NEAR_MISSES + (len(pool.found[WATCH].positions) if WATCH in pool.found else 0)
    order = np.argsort(-pool.score[rest], kind="stable")
    ranked = pool.score[rest[order[: most + 1]]]
    if anywhere(ranked[1:] == ranked[:-1]):  # ties are settled by id
        order = np.lexsort((pool.ids[rest], -pool.score[rest]))
    missed: IntArray = rest[order[:most]]
    return missed


def served_by(proposers: Collection[str], coverage: float) -> str:
    """The first tier, in the settled order, that proposed the row and whose own gates it passes."""
    if DIRECT in proposers:
        return DIRECT
    hybrid = not HYBRID_VIEWS.isdisjoint(proposers)
    if REVIEW in proposers and (coverage < OVERLAP_FLOOR or not hybrid):
        return REVIEW
    if PROCEDURAL in proposers:
        return PROCEDURAL
    if hybrid:
        return "hybrid"
    return RECENT if {GRAPH, SUCCESSION, REPLACEMENT}.isdisjoint(proposers) else GRAPH


def path_of(memory: Memory, documents: Mapping[str, str]) -> str:
    """A file where the memory is a section of one, else its kind and id."""
    if memory.document is not None and memory.document in documents:
        return documents[memory.document]
    return f"{memory.kind}/{memory.id}"


# ── where it comes from, and whether it is safe to use ──


def provenance(
    memory: Memory,
    relations: Sequence[Relation],
    *,
    query: Query,
    served_by: str,
    check: CitationCheck | None = None,
) -> dict[str, Any]:
    at = query.at
    if query.as_of is not None:  # what has been said since then was not known
        relations = [relation for relation in relations if relation.created <= at]
    correction = correction_state(memory, relations, at)
    stale_citations = check.stale if check is not None and check.at <= at else ()
    stale = bool(stale_citations) or (memory.valid_until is not None and memory.valid_until <= at)
    blocked = [f"status={memory.status}"] if memory.status in BLOCKING else []
    blocked += [f"scope={scope}" for scope in not_held(memory, query.scopes)]
    review = []  # why somebody should look at it first
    if correction == "superseded":
        review.append("status=superseded")
    if correction == "disputed":
        review.append("disputed")
    if memory.status is Status.PENDING_REVIEW:
        review.append("status=pending_review")
    if memory.review is not None:
        review.append(f"note-status={memory.review}")
    if stale:
        review.append("stale=true")
        review += [f"stale-citation: {citation.reason}" for citation in stale_citations]
    if memory.zone is not Zone.TRUSTED:  # nobody has reviewed it yet: what it says is its writer's word
        review.append(f"zone={memory.zone}")
    if memory.confidence < LOW_CONFIDENCE:
        review.append(f"confidence<{LOW_CONFIDENCE}")
    safety = "blocked" if blocked else "requires-review" if review else "safe"
    return {
        "source": memory.source_id if memory.source == VAULT_SOURCE and memory.source_id else memory.source,
        "created": _instant(memory.created),
        "updated": _instant(memory.updated),
        "namespace": memory.namespace,
        "scope": f"namespace:{memory.namespace}",
        "userContextScopes": list(memory.scopes),
        "retrievalReason": f"served-by={served_by}",
        "confidence": memory.confidence,
        "stale": stale,
        "corrected": correction != "none",
        "correctionState": correction,
        "safeToUse": safety == "safe",
        "safety": safety,
        "safetyReasons": [*blocked, *review],
    }


def correction_state(memory: Memory, relations: Sequence[Relation], at: int) -> str:
    if memory.status is Status.FORGOTTEN:
        return "forgotten"
    if memory.status is Status.SUPERSEDED and (memory.valid_until is None or memory.valid_until <= at):
        return "superseded"
    state = "none"
    for relation in relations:
        if relation.valid_until is not None and relation.valid_until <= at:
            continue
        if relation.type is RelationType.CONTRADICTS:
            return "disputed"
        if relation.type is RelationType.SUPERSEDES and relation.source == memory.id:
            state = "correction"
    return state


# ── what of it is handed out, where results are shortened ──


class Excerpt(Struct, frozen=True):
    source: str
    title: str
    content: str
    remark: str = ""

    @property
    def block(self) -> str:
        label = f"{self.source}, {self.remark}" if self.remark else self.source
        title, text = " ".join(self.title.split()), _HEAD.sub(r"\1‹", "\n".join(self.content.splitlines()))
        # What has no title of its own is called by its first line, which need not be told twice.
        head = "" if text.startswith(title.removesuffix("…")) else f"{title}\n"
        return _CLOSING.sub("‹", f"[{label}] {head}{text}\n\n")

    @property
    def tokens(self) -> int:
        return count_tokens(self.block)


def excerpt(memory: Memory, *, question: str, source: str, path: str, remark: str = "") -> Excerpt:
    """What of a section answers the question, up to a length; a lesson's essence, up to a larger one. A section of a
    file is called by its path, and its headings stand before its text; a lesson is called alike. `remark` is what
    speaks against it.
    """
    lesson = memory.kind is Kind.LESSON
    text = memory.content.strip()
    essence = extract_lesson_essence(text, LESSON_CHARACTERS) if lesson else ""
    body = essence or _answering(text, question, LESSON_CHARACTERS if lesson else SECTION_CHARACTERS)
    if memory.document is None:
        return Excerpt(source, title_of(memory), body, remark)
    crumb = f"{memory.title}\n" if memory.title and not lesson and not text.startswith(memory.title) else ""
    return Excerpt(source, path, crumb + body, remark)


def _answering(text: str, question: str, characters: int) -> str:
    """Of a text that is too long, the sentences that answer, in at most so many characters."""
    if len(text) <= characters:
        return text
    tokens = estimate_tokens(text[:characters])
    while len(shown := answering(text, question, tokens=tokens)) > characters:
        tokens = tokens * characters // len(shown)
    return shown


_PLAIN: Final = re.compile(r"[\w.:-]{1,40}")  # a name that can be taken for nothing else


def remarks_of(memory: Memory, state: MemoryState) -> list[str]:
    """What speaks against a memory, and of one that is not the trusted person's, its zone and who said it."""
    remarks = list(state.against())
    if state.zone is not Zone.TRUSTED and state.withheld is None:
        remarks.append(f"{state.zone} zone")
        remarks += [f"from {memory.source}"] if _PLAIN.fullmatch(memory.source) else []
    return remarks


def excerpts(scene: Scene, pool: Pool, positions: IntArray, query: Query) -> list[Excerpt]:
    if not len(positions):
        return []
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    bodies = scene.bodies.of(nums)
    sources = [str(LAYERS[code]) for code in layers(scene, pool)[positions].tolist()]
    memories = [bodies.memories[num] for num in nums]
    standing = _standing(scene, nums, bodies, query)
    return [
        excerpt(memory, question=query.text, source=source, path=path_of(memory, bodies.paths),
                remark=", ".join(remarks_of(memory, standing[memory.num])))
        for memory, source in zip(memories, sources, strict=True)
    ]  # fmt: skip
