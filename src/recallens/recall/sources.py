"""Where a memory comes from, as the specification tells sources apart, and what each source is worth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

import numpy as np

from recallens.index.columns import code_of
from recallens.model.memory import Kind, Sector
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import BoolArray, IntArray, Note, Term
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene
from recallens.recall.sessions import recaps
from recallens.recall.terms import TermStage
from recallens.recall.tiers import GRAPH, RECENT


class Layer(StrEnum):
    BRAIN_TRACE = "brain-trace"
    BRAIN_MEMORY = "brain-memory"
    PROJECT_MEMORY = "project-memory"
    LONG_TERM_MEMORY = "long-term-memory"
    PROCEDURAL_MEMORY = "procedural-memory"
    MEDIUM_TERM_MEMORY = "medium-term-memory"
    EPISODIC_MEMORY = "episodic-memory"
    PROJECT_SCAN = "project-scan"
    RECENT_KNOWLEDGE = "recent-knowledge"


# The specification's table, to the letter.
SOURCE_PRIOR: Final[Mapping[str, float]] = {
    Layer.BRAIN_TRACE: 1.0,
    Layer.BRAIN_MEMORY: 0.9,
    Layer.PROJECT_MEMORY: 0.85,
    Layer.LONG_TERM_MEMORY: 0.8,
    Layer.PROCEDURAL_MEMORY: 0.95,
    Layer.MEDIUM_TERM_MEMORY: 0.78,
    Layer.EPISODIC_MEMORY: 0.7,
    Layer.PROJECT_SCAN: 0.6,
    Layer.RECENT_KNOWLEDGE: 0.75,
}
UNKNOWN_PRIOR: Final = 0.5
LESSON_BOOST: Final = 1.4
# Specified is each source by its own best, so that a lone poor hit of a source counts as a perfect one. A source
# whose best reaches less than this of the best possible is measured against this instead.
SOURCE_FLOOR: Final = 0.8
RECENT_DAYS: Final = 7

LAYERS: Final = tuple(Layer)
_CODE: Final = {layer: code for code, layer in enumerate(LAYERS)}
_MANIFEST: Final = re.compile(
    r"readme(?:\.\w+)?|package\.json|pyproject\.toml|cargo\.toml|go\.mod|setup\.(?:py|cfg)|pom\.xml|build\.gradle(?:\.kts)?"
    r"|gemfile|composer\.json|requirements\.txt|makefile|cmakelists\.txt",
    re.IGNORECASE,
)
# A vault's files are known as NAME:PATH; a slash after the colon is a drive's.
_VAULT_PREFIX: Final = re.compile(r"[^:/\\]+:(?![/\\])")


def prior_of(source: str) -> float:
    return SOURCE_PRIOR.get(source, UNKNOWN_PRIOR)


def inner_path(path: str) -> str:
    """A file's path within its vault."""
    prefix = _VAULT_PREFIX.match(path)
    return (path[prefix.end() :] if prefix else path).replace("\\", "/").removeprefix("./")


def is_manifest(path: str) -> bool:
    """A README or manifest at the root: it says what the project is, and little of how anything in it works."""
    return _MANIFEST.fullmatch(inner_path(path)) is not None


def layers(scene: Scene, pool: Pool) -> IntArray:
    """The layer of each row, as its place in `LAYERS`; the first rule that fits decides."""
    columns, rows = scene.columns, pool.rows
    filed = columns["document"][rows] >= 0
    recent = (scene.at - columns["updated"][rows] <= RECENT_DAYS * DAY_MS) & pool.proposed_by(RECENT)
    rules = (
        (_manifests(scene, rows), Layer.PROJECT_SCAN),
        (filed & pool.proposed_by(GRAPH), Layer.BRAIN_TRACE),
        (filed & recent, Layer.RECENT_KNOWLEDGE),
        (filed, Layer.BRAIN_MEMORY),
        (recaps(columns)[rows], Layer.MEDIUM_TERM_MEMORY),
        (columns["sector"][rows] == code_of(Sector.PROCEDURAL), Layer.PROCEDURAL_MEMORY),
        (columns["sector"][rows] == code_of(Sector.EPISODIC), Layer.EPISODIC_MEMORY),
        (columns["project"][rows] >= 0, Layer.PROJECT_MEMORY),
    )
    codes: IntArray = np.select(
        [holds for holds, _ in rules], [_CODE[layer] for _, layer in rules], _CODE[Layer.LONG_TERM_MEMORY]
    ).astype(np.int64)
    return codes


def _manifests(scene: Scene, rows: IntArray) -> BoolArray:
    documents = scene.columns["document"][rows]
    codes = [code for code in np.unique(documents).tolist() if code >= 0]
    names = scene.columns.names["document"].texts
    paths = scene.paths([names[code] for code in codes]) if codes and scene.paths is not None else {}
    return np.isin(documents, [code for code in codes if is_manifest(paths.get(names[code], ""))])


def source_scale(scene: Scene, pool: Pool, query: Query) -> Term:
    """score / max(the best of the row's source, the floor)."""
    codes = layers(scene, pool)
    factor, stats = np.ones(len(pool)), {}
    for code in np.unique(codes[pool.live]).tolist():
        of_it = codes == code
        best = max(float(pool.score[of_it & pool.live].max()), SOURCE_FLOOR)
        factor[of_it] = 1.0 / best
        stats[str(LAYERS[code])] = best
    delta = pool.score * (factor - 1.0)
    return Term("sourceScale", delta, delta != 0.0, {"floor": SOURCE_FLOOR, **stats})


def source_prior(scene: Scene, pool: Pool, query: Query) -> Term:
    table = np.array([prior_of(layer) for layer in LAYERS])
    factor = table[layers(scene, pool)]
    return Term("sourcePrior", pool.score * (factor - 1.0), np.ones(len(pool), dtype=np.bool_))


def lesson_boost(factor: float, *, cards: bool = False) -> TermStage:
    """Lessons are short and say what to check: a relevant one goes before an ordinary note.

    `cards` are those that were cut from files. The kind of another memory may be a guess from its words: with those
    boosted too, 26 of 200 rankings of korquad-dev changed, which has no lessons.
    """

    def term(scene: Scene, pool: Pool, query: Query) -> Term | None:
        if cards and not scene.columns.names["document"].texts:
            return None
        computed = scene.columns["kind"][pool.rows] == code_of(Kind.LESSON)
        if cards:
            computed = computed & (scene.columns["document"][pool.rows] >= 0)
        return Term("lessonBoost", np.where(computed, pool.score * (factor - 1.0), 0.0), computed, {"factor": factor})

    return term


def tell_sources(scene: Scene) -> Decide:
    """How many candidates of each source are in the race, and the source of each that was chosen."""

    def decide(pool: Pool, query: Query) -> Iterable[Note]:
        codes = layers(scene, pool)
        chosen = pool.ranked()
        counts = np.bincount(codes[pool.passed], minlength=len(LAYERS)).tolist()
        coverage = scene.coverage(pool.rows[chosen]).tolist()
        rows = {
            pool.ids[position].decode(): {"layer": str(LAYERS[codes[position]]), "queryCoverage": coverage[at]}
            for at, position in enumerate(chosen.tolist())
        }
        found = {str(layer): count for layer, count in zip(LAYERS, counts, strict=True) if count}
        yield Note("sources", {"candidates": found, "rows": rows})

    return decide
