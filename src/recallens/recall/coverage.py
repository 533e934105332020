"""Which rows speak of which of the things that a question requires, and what nobody speaks of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from recallens.index.views import BoundSymbolic
from recallens.model.verdict import BoolArray, IntArray
from recallens.recall.facets import Facet, FacetKind
from recallens.recall.scene import Scene
from recallens.recall.views import within_windows
from recallens.text.answers import holds_answer
from recallens.text.languages import grammar_of
from recallens.text.normalize import normalize

# A Korean word of this many pairs of syllables is a clause without spaces, and so many of them are most.
CLAUSE_PAIRS: Final = 6
MOST_PAIRS: Final = 0.6


def coverage(scene: Scene, facets: Sequence[Facet], rows: IntArray) -> BoolArray:
    """Which facets (down) which rows (across) cover."""
    covers = np.zeros((len(facets), len(rows)), dtype=np.bool_)
    if not len(rows):
        return covers
    words = list(dict.fromkeys(word for facet in facets for group in facet.groups for word in group))
    presence = scene.words.presence(words, rows) if scene.words is not None else np.zeros((len(words), len(rows)))
    held = dict(zip(words, presence.astype(np.bool_), strict=True))
    symbolic = scene.views.get("symbolic")
    if isinstance(symbolic, BoundSymbolic):
        for facet in facets:
            named = symbolic.carries(normalize(facet.text), rows) if facet.kind is FacetKind.ENTITY else None
            if named is not None:  # a file that a row cites is spoken of there
                held |= {word: held[word] | named for word in facet.words}
    created = scene.columns["created"][rows]
    for at, facet in enumerate(facets):
        if facet.window is not None:
            covers[at] = within_windows(created, [facet.window])
        elif facet.kind is FacetKind.ANSWER:
            covers[at] = answering(scene, facet.text, rows)
        else:
            groups = np.array([_whole(group, held) for group in facet.groups])
            covers[at] = groups.sum(axis=0) >= facet.needed
    return covers


def _whole(group: Sequence[str], held: Mapping[str, BoolArray]) -> BoolArray:
    """Rows that hold every word of the group.

    A Korean compound is written with or without its spaces (추적조회, 추적 조회), and the pair of syllables across the
    gap is in one spelling alone: it may be missing where both of its neighbours are there. Of a whole clause without
    spaces (나루물류요청한도), the particles and endings differ too: most of its pairs are enough.
    """
    there = []
    for at, word in enumerate(group):
        there.append(held[word])
        if 0 < at < len(group) - 1 and _across(group[at - 1], word, group[at + 1]):
            there[-1] = there[-1] | (held[group[at - 1]] & held[group[at + 1]])
    if len(group) >= CLAUSE_PAIRS and all(grammar_of(word) is not None for word in group):
        most: BoolArray = np.mean(there, axis=0) >= MOST_PAIRS
        return most
    every: BoolArray = np.all(there, axis=0)
    return every


def _across(before: str, word: str, after: str) -> bool:
    return grammar_of(word) is not None and before[-1] == word[0] and word[-1] == after[0]


def answering(scene: Scene, kind: str, rows: IntArray) -> BoolArray:
    """Which rows hold something that could answer, such as a number."""
    nums = scene.columns["num"][rows].tolist()
    memories = scene.bodies.of(nums).memories
    texts = (f"{memories[num].title or ''}\n{memories[num].content}" for num in nums)
    return np.array([holds_answer(kind, text) for text in texts], dtype=np.bool_)


def missing(facets: Sequence[Facet], covers: BoolArray) -> list[str]:
    """By name; a part of the question that is missing stands for the words in it."""
    bare = [facet for facet, row in zip(facets, covers, strict=True) if not row.any()]
    parts = [facet for facet in bare if facet.kind is FacetKind.QUESTION]
    of_parts = frozenset[str]().union(*(part.words for part in parts))
    rest = [facet for facet in bare if facet not in parts and not (facet.groups and facet.words <= of_parts)]
    return list(dict.fromkeys(facet.text for facet in [*parts, *rest]))
