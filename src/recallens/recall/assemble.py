"""The chosen rows as results: bodies, sessions, successors and relations, each fetched once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial

from recallens.model.later import Later
from recallens.model.ledger import Ledger
from recallens.model.memory import Memory, Relation, RelationType
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.recall import MatchType, SearchResult
from recallens.model.verdict import IntArray
from recallens.recall.scene import Scene
from recallens.store.protocols import Reader
from recallens.text.snippet import Snippets, counting
from recallens.text.tokenizer import tokenize

_KEYWORD_VIEWS = frozenset(("lexical", "symbolic"))


def results(reader: Reader, scene: Scene, ledger: Ledger, pool: Pool, query: Query) -> tuple[SearchResult, ...]:
    positions = pool.ranked()
    rows = pool.rows[positions]
    nums = scene.columns["num"][rows].tolist()
    assert scene.known is not None
    known = scene.known(nums)
    sessions = reader.sessions.sources(nums) if scene.columns.names["session"].texts else {}
    replaced = [
        num
        for num in nums
        if num in known.relations and any(_replaces(one, known.memories[num]) for one in known.relations[num])
    ]
    successors = reader.relations.successors(replaced, scene.at) if replaced else {}
    saliences = scene.salience(pool.rows)[positions].tolist()
    superseded = scene.superseded(pool.rows)[positions].tolist()
    proposers = scene.once("proposers", positions, lambda: pool.proposers(positions))
    parts = _parts(ledger, positions)
    mark = Snippets(scene.words.words if scene.words is not None else counting(tokenize(query.text)))
    scores = pool.score[positions].tolist()
    found = []
    for rank, num in enumerate(nums):
        views = proposers[rank]
        found.append(
            SearchResult(
                rank=rank + 1,
                memory=known.memories[num],
                score=scores[rank],
                salience=saliences[rank],
                match_type=match_type(views),
                views=views,
                parts=parts[rank],
                source_session=sessions.get(num),
                is_superseded=superseded[rank],
                superseded_by=successors.get(num),
                related_count=len(known.relations.get(num, ())),
                mark=None if _KEYWORD_VIEWS.isdisjoint(views) else mark,
            )
        )
    return tuple(found)


def _parts(ledger: Ledger, positions: IntArray) -> list[Later[float]]:
    """Each result's parts, worked out for all of them when those of the first are read."""
    told: list[dict[str, float]] = []

    def of(rank: int) -> Mapping[str, float]:
        if not told:
            told.extend(ledger.parts_of(positions))
        return told[rank]

    return [Later(partial(of, rank)) for rank in range(len(positions))]


def _replaces(relation: Relation, memory: Memory) -> bool:
    return relation.type is RelationType.SUPERSEDES and relation.target == memory.id


def apart(found: tuple[SearchResult, ...], limit: int) -> tuple[tuple[SearchResult, ...], tuple[SearchResult, ...]]:
    """The results that were asked for, and the lessons beside them."""
    return found[:limit], found[limit:]


@lru_cache(maxsize=256)  # the views that proposed a row are one of a few sets
def match_type(views: tuple[str, ...]) -> MatchType | None:
    """Decided by which views proposed the row; absent if only another one did."""
    by = set(views)
    words, meaning = bool(by & _KEYWORD_VIEWS), "semantic" in by
    if words and meaning:
        return MatchType.BOTH
    if meaning:
        return MatchType.SEMANTIC
    return MatchType.KEYWORD if words else None
