"""Where a memory comes from, as the specification tells sources apart, what each source is worth, and the log of a
retrieval over them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import numpy as np

from recallens.index.columns import Columns, code_of
from recallens.ingest.draft import RECAP_SOURCE
from recallens.model.ledger import Ledger
from recallens.model.memory import Kind, Sector
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.salience import DAY_MS
from recallens.model.verdict import BoolArray, Found, Gate, IntArray, Note, Pick, Term, all_true, anywhere
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, score_term
from recallens.recall.views import GRAPH, RECENT
from recallens.store.protocols import Reader
from recallens.text.normalize import normalize
from recallens.text.tokenizer import tokenize


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


def session_summaries(columns: Columns) -> BoolArray:
    of_session = columns["source"] == columns.names["source"].find(RECAP_SOURCE)
    summaries: BoolArray = of_session & (columns["kind"] == code_of(Kind.SUMMARY))
    return summaries


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
        (session_summaries(columns)[rows], Layer.MEDIUM_TERM_MEMORY),
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
    paths = scene.bodies.paths_of([names[code] for code in codes])
    return np.isin(documents, [code for code in codes if is_manifest(paths.get(names[code], ""))])


@score_term("sourceScale")
def source_scale(scene: Scene, pool: Pool, query: Query) -> Amounts:
    """score / max(the best of the row's source, the floor)."""
    codes = layers(scene, pool)
    factor, stats = np.ones(len(pool)), {"floor": SOURCE_FLOOR}
    for code in np.unique(codes[pool.live]).tolist():
        of_source = codes == code
        best = max(float(pool.score[of_source & pool.live].max()), SOURCE_FLOOR)
        factor[of_source] = 1.0 / best
        stats[str(LAYERS[code])] = best
    delta = pool.score * (factor - 1.0)
    return delta, delta != 0.0, stats


@score_term("sourcePrior")
def source_prior(scene: Scene, pool: Pool, query: Query) -> Amounts:
    factor = np.array([prior_of(layer) for layer in LAYERS])[layers(scene, pool)]
    return pool.score * (factor - 1.0), all_true(len(pool)), {}


@score_term("wholeFile")
def whole_file(scene: Scene, pool: Pool, query: Query) -> Amounts | None:
    """(1 − α) · the share of the question's words that the file's other sections have and this one lacks, where a
    caller wants files: their words then count wherever in the file they stand.
    """
    if query.chunk_level or scene.words is None or not anywhere(pool.live):
        return None
    documents = scene.columns["document"][pool.rows]
    words = list(dict.fromkeys(tokenize(query.text)))
    rarity = np.array(scene.words.rarity(words))
    held = scene.words.presence(words, pool.rows)
    within = held.copy()
    for document in np.unique(documents[(documents >= 0) & pool.live]).tolist():
        of_file = documents == document
        within[:, of_file] = np.any(held[:, of_file & pool.live], axis=1, keepdims=True)
    lacking = rarity @ (within & ~held) / max(float(rarity.sum()), 1e-9)
    return (1.0 - query.blend) * lacking, lacking > 0, {"blend": query.blend}


@score_term("lessonBoost")
def lesson_boost(scene: Scene, pool: Pool, query: Query, factor: float, *, cards: bool = False) -> Amounts | None:
    """Lessons are short and say what to check: a relevant one goes before an ordinary note.

    `cards` are those that were cut from files. The kind of another memory may be a guess from its words: with those
    boosted too, 26 of 200 rankings of korquad-dev changed, which has no lessons.
    """
    if cards and not scene.columns.names["document"].texts:
        return None
    computed = scene.columns["kind"][pool.rows] == code_of(Kind.LESSON)
    if cards:
        computed = computed & (scene.columns["document"][pool.rows] >= 0)
    return np.where(computed, pool.score * (factor - 1.0), 0.0), computed, {"factor": factor}


def note_sources(scene: Scene, pool: Pool, query: Query) -> Iterator[Note]:
    """How many candidates of each source passed the gates, and the source of each that was chosen."""
    codes = layers(scene, pool)
    chosen = pool.ranked()
    counts = np.bincount(codes[pool.passed], minlength=len(LAYERS)).tolist()
    coverage = scene.coverage(pool.rows[chosen]).tolist()
    rows = {
        pool.ids[position].decode(): {"layer": str(LAYERS[codes[position]]), "queryCoverage": coverage[at]}
        for at, position in enumerate(chosen.tolist())
    }
    candidates = {str(layer): count for layer, count in zip(LAYERS, counts, strict=True) if count}
    yield Note("sources", {"candidates": candidates, "rows": rows})


# ── the log of a retrieval: a line a stage, read off the ledger ──

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
        *(f"{view} view failed: {error}" for view, error in _failures(ledger).items()),
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


def _failures(ledger: Ledger) -> dict[str, str]:
    views = [entry.verdict for entry in ledger.entries if isinstance(entry.verdict, Found)]
    return {view.view: view.error for view in views if view.error is not None}


def _layers(ledger: Ledger) -> Iterator[str]:
    yield from (row["layer"] for row in _last(ledger, "sources").get("rows", {}).values())


def _brain_line(filters: Mapping[str, Any], plan: Mapping[str, Any], chunks: int) -> str:
    if filters["brain_file_limit"] == 0:
        return "Brain search: skipped (Knowledge Mix weight = 0)"
    if not filters["folders"]:
        return f"Brain search: {chunks} chunks found"
    dropped = "".join(f"; dropped {folder['path']}: {folder['reason']}" for folder in plan.get("droppedFolders", ()))
    return f"Brain search (scoped to {len(plan.get('folders', ()))} folder(s)): {chunks} chunks{dropped}"


def _cuts(ledger: Ledger) -> Iterator[str]:
    """Each filter that took something away, and why."""
    for entry in ledger.last_round():
        verdict = entry.verdict
        if isinstance(verdict, Gate | Pick) and entry.admitted < entry.considered and verdict.name != "budget-fit":
            reason = f" ({verdict.reason})" if verdict.reason else ""
            yield f"{verdict.name}: {entry.admitted} of {entry.considered} kept{reason}"


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


def cited_files(reader: Reader, names: Sequence[str]) -> list[tuple[int, str]]:
    """Files of these names that memories cite by a symbol, or that a check has found what they cite in."""
    cited = ((num, normalize(path).removeprefix("./")) for num, path in reader.citations.files(names))
    return [(num, path) for num, path in cited if path.rsplit("/", 1)[-1] in names]
