"""What tells the document that answers: the section that speaks of the matter, the path and the names that the question
gives, and what the first ones mention.

A long text speaks of many things, and its path and title say what it is about. docs/benchmarks.md says what each gave.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from recallens.model.citation import FileCitation
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import BoolArray, FloatArray, IntArray, anywhere, counted, places
from recallens.recall.coverage import texts_of
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, floor_and_deviation, measured_against, score_term
from recallens.recall.terms.relevance import standing
from recallens.recall.views import GRAPH
from recallens.recall.views.mentions import DOCUMENT, documents, mentioned_in, text_of, titles_of
from recallens.text.stopwords import token_weight
from recallens.text.tokenizer import tokenize

# Candidates are read only so far down, and so many of the first lead on to what they mention.
READ, LEADING = 60, 3
# The first of them are read by later stages anyway, and here all at once.
READ_LATER: Final = 10
# A text that mentions more than so many says the less of each.
FEW: Final = 4
# Words of a section; a text of fewer has only one.
SECTION: Final = 200
_WORD: Final = re.compile(r"[^\W_]+")
_ENDING: Final = re.compile(r"\.[A-Za-z0-9]+$")
# Names of files that say nothing of what is in them.
_NAMELESS: Final = frozenset(("index", "readme", "init", "main", "default"))
_IDENTIFIER: Final = re.compile(
    r"`([^`\n]{2,60})`|(?<![\w-])(--?[a-z][\w-]+)|\b(v?\d+(?:\.\d+)+)\b|\b([A-Za-z]+[a-z0-9][A-Z]\w*)\b"
    r"|\b([A-Z][A-Z0-9]+)\b|\b([A-Za-z0-9]+(?:[_.][A-Za-z0-9]+)+)\b|\b([A-Za-z0-9]+(?:-[A-Za-z0-9]+)+)\b"
)


def document_share(scene: Scene, pool: Pool, least: int = SECTION) -> float:
    """The share of the candidates that are documents in prose, of several sections unless `least` says otherwise. The
    notes of a vault are none: they are cut into sections, and linked, already.
    """
    long = documents(scene, pool.rows) & (scene.columns["length"][pool.rows] > least)
    if not anywhere(long):
        return 0.0
    sample = measured_against(pool) & (scene.columns["document"][pool.rows] < 0)
    kept = long & sample
    code = scene.words.code_share(pool.rows, sample) if scene.words is not None else 0.0
    return (1.0 - code) * counted(kept) / max(counted(measured_against(pool)), 1)


@score_term("sections", view="lexical", fits=True)
def best_section(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """What shifting this much weight from the words of a whole text to those of its best section adds, as far as the
    candidates are documents of several sections.
    """
    if scene.words is None or not (share := document_share(scene, pool)):
        return None
    share *= scene.trust(pool.rows[pool.live])[0]
    first = _first(pool)
    rows, inside = pool.rows[first], measured_against(pool)[first]
    by_section = standing(scene.words.sections(rows, SECTION), inside)
    delta = weight * share * (by_section - standing(scene.words.score(rows), inside))
    return *_spread(pool, first, delta), {"weight": weight, "share": share}


@score_term("path", view="lexical", fits=True)
def path_words(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · BM25 of the question's words in a document's path, on the scale of the words' own term."""
    if scene.words is None or not (share := document_share(scene, pool)):
        return None
    first = _first(pool)
    asked = [word for word in scene.words.words if token_weight(word) > 0]
    rarity = dict(zip(asked, scene.words.rarity(asked), strict=True))
    paths = [set(tokenize(path)) for path in _paths(scene, pool.rows[first])]
    raw = np.array([sum(rarity[word] * token_weight(word) for word in path & rarity.keys()) for path in paths])
    _, deviation = floor_and_deviation(scene.words.score(pool.rows)[measured_against(pool)])
    return *_spread(pool, first, weight * share * raw / deviation), {"weight": weight, "share": share}


@score_term("fileName", fits=True)
def file_name(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight for a document whose file the question names, without its ending: words of the name side by side."""
    if not (share := document_share(scene, pool)):
        return None
    first = _first(pool)
    asked = f" {_words(query.text)} "
    names = [_words(_ENDING.sub("", path.rsplit("/", 1)[-1])) for path in _paths(scene, pool.rows[first])]
    named = np.array([len(name) > 2 and name not in _NAMELESS and f" {name} " in asked for name in names])
    return *_spread(pool, first, weight * share * named), {"weight": weight, "share": share}


@score_term("identifiers", fits=True)
def identifiers(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · the identifiers of the question that the text holds as they are written, by how rare they are among the
    first candidates.
    """
    asked = list(dict.fromkeys(next(filter(None, match.groups())) for match in _IDENTIFIER.finditer(query.text)))
    if not asked or not (share := document_share(scene, pool)):
        return None
    first = _first(pool)
    texts = texts_of(scene, pool.rows[first])
    held = np.array([[identifier in text for text in texts] for identifier in asked], dtype=np.float64)
    rarity = np.log((len(texts) + 1.0) / (held.sum(axis=1) + 0.5))
    return *_spread(pool, first, weight * share * (rarity @ held)), {"weight": weight, "share": share}


def _paths(scene: Scene, rows: IntArray) -> list[str]:
    """The path of each: of the file that it is a section of, or that it names first as its source."""
    columns, paths = scene.columns, [""] * len(rows)
    of_a_file = places(columns["cited"][rows] | (columns["document"][rows] >= 0))
    nums = columns["num"][rows[of_a_file]].tolist()
    bodies = scene.bodies.of(nums)
    for at, num in zip(of_a_file.tolist(), nums, strict=True):
        memory = bodies.memories[num]
        cited = (citation.path for citation in memory.citations if isinstance(citation, FileCitation))
        paths[at] = bodies.paths.get(memory.document or "") or next(cited, "")
    return paths


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


@score_term("mentioned", fits=True)
def mentioned(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight for a document whose title stands in the text of one of the first three, less where that mentions many.
    The graph brings such in.
    """
    if not (share := document_share(scene, pool, least=0)):
        return None
    first = _first(pool)
    linked = places(pool.proposed_by(GRAPH) & pool.live)
    first = np.concatenate([first, linked[~np.isin(linked, first)]])
    rows = pool.rows[first]
    leads = rows[:LEADING].tolist()
    # A row's first word is its title's: only where one of the texts holds that word may the title stand in it.
    words = np.concatenate([rows[:0], *map(scene.index.lexical.sequence, leads)])
    may_be_mentioned = np.isin(scene.index.lexical.first_words(rows), words)
    may_be_mentioned[:READ_LATER] = True
    titles = titles_of(scene, rows[may_be_mentioned])
    passed = np.zeros(len(rows))
    for lead in leads:
        own = titles.get(lead)
        others = {row: title for row, title in titles.items() if own is None or not np.array_equal(title, own)}
        named = mentioned_in(text_of(scene, lead), others)
        passed = np.maximum(passed, np.isin(rows, list(named)) * min(1.0, FEW / max(len(named), 1)))
    passed[scene.columns["document"][rows] >= 0] = 0.0  # a note of a vault is mentioned by a link: the graph walks it
    return *_spread(pool, first, weight * share * passed), {"weight": weight, "share": share}


@score_term("length", fits=True)
def how_long(scene: Scene, pool: Pool, query: Query, weight: float) -> Amounts | None:
    """weight · the logarithm of a document's length: of two that fit alike, the longer one says more of the matter."""
    if not (share := document_share(scene, pool)):
        return None
    tokens = scene.columns["tokens"][pool.rows]
    computed = documents(scene, pool.rows)
    delta = weight * share * np.log(np.maximum(tokens, DOCUMENT) / DOCUMENT)
    return np.where(computed, delta, 0.0), computed, {"weight": weight, "share": share}


def _first(pool: Pool) -> IntArray:
    """The first candidates that take part, the best first."""
    live = places(pool.live)
    order: IntArray = live[np.argsort(-pool.score[live], kind="stable")[:READ]]
    return order


def _spread(pool: Pool, first: IntArray, delta: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Of the first candidates, as one of all."""
    every, computed = np.zeros(len(pool)), np.zeros(len(pool), dtype=np.bool_)
    every[first], computed[first] = delta, delta != 0
    return every, computed
