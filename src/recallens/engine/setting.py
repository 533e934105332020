"""The scene of one recall: everything it looks at, bound to one snapshot of the store and one version of the index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recallens.engine.folders import all_paths, not_raw, within_folders
from recallens.errors import NotFound
from recallens.index.columns import Columns
from recallens.index.encoding import Encoding, LazySemantic
from recallens.index.lexical import BoundLexical, LexicalIndex, bind_lexical
from recallens.index.resident import Version
from recallens.index.vectors import Single, VectorIndex
from recallens.index.views import BoundView, bind_symbolic
from recallens.ingest.prepare import ROLES, labels
from recallens.model.checking import CitationCheck
from recallens.model.later import Later
from recallens.model.masks import everywhere
from recallens.model.memory import Annotations, Memory, Relation
from recallens.model.plan import Plan
from recallens.model.query import Mode, Query, Situation
from recallens.model.uplift import Trials
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.recall.graph import SHARED_ENTITY, SHARED_ENTITY_CONFIDENCE
from recallens.recall.plan import make_plan, noticed_in, widened
from recallens.recall.presets import Preset, views_for
from recallens.recall.provenance import ONLY_HERE
from recallens.recall.scene import Edge, Known, Likeness, Scene, Work, usage_at, usage_now
from recallens.recall.situation import LATEST_COMMANDS
from recallens.recall.uplift import trials_at, trials_now
from recallens.store.protocols import Reader
from recallens.store.records import NamespaceState
from recallens.text.language import known_share
from recallens.text.names import names_in, without_names
from recallens.text.normalize import normalize
from recallens.text.tokenizer import tokenize

# Ties by a shared name that one walk follows: the nearest are enough, and a crowd says nothing.
MOST_SHARED_TIES = 200
# Rows whose likeness to the others is worked out at once: about as many as a search returns.
ASKED_FIRST = 12


def set_scene(
    reader: Reader,
    state: NamespaceState,
    version: Version,
    *,
    encoding: Encoding,
    preset: Preset,
    query: Query,
    notes: Mapping[str, object],
) -> Scene:
    _ns, columns, filters = state.key, version.columns, query.filters
    if filters.in_session is not None and reader.sessions.get(filters.in_session) is None:
        raise NotFound(f"no session {filters.in_session!r}", hint="`recallens session list` shows those that exist.")
    if query.task is not None and reader.tasks.get(query.task) is None:
        raise NotFound(f"no task {query.task!r}", hint="`recallens task start` starts one; `task list` shows them.")
    past = query.as_of is not None
    fluency = known_share(query.text, encoding.languages)
    noticed = noticed_in(query.text)
    plan = make_plan(query) if preset.planned else None
    speakers = names_in(query.text, columns.names["author"].codes, ROLES) if preset.speakers else []
    views = bind_views(
        reader,
        version,
        encoding=encoding,
        preset=preset,
        query=query,
        noticed=noticed,
        plan=plan,
        readable=fluency > 0,
        meant=without_names(query.text, speakers),
    )
    words = views.get("lexical")
    lexical = words if isinstance(words, BoundLexical) else None
    watched, unknown = _watched(reader, columns, query.watch)
    documents = all_paths(reader, columns) if filters.folders or not filters.include_raw else {}
    in_folders, told = within_folders(columns, documents, filters.folders)
    notes = {**notes, **told}
    scene = Scene(
        columns=columns,
        views=views,
        at=query.at,
        usage=usage_at(columns, reader.trail.usage_until(query.at), query.at) if past else usage_now(columns),
        trials=_trials(reader, state, columns, query.as_of),
        linked=columns.mask_of(reader.sessions.numbers(filters.in_session)) if filters.in_session is not None else None,
        tagged=_tagged(reader, columns, filters.tags) if filters.tags else None,
        affected=_affected(reader, columns, filters.affected) if filters.affected else None,
        fluency=fluency,
        words=lexical,
        names=_names(reader, noticed) if lexical is not None and preset.tiers else (),
        touched=_touched(reader, columns, query.files) if query.files else None,
        held=None if ONLY_HERE in query.scopes else version.outside(reader, ONLY_HERE),
        speakers=sorted({name.code for name in speakers}),
        watched=watched,
        unknown=unknown,
        neighbours=_neighbours(reader, query.at) if preset.tiers or preset.by_strategy else None,
        likeness=_likeness(version.vectors if fluency > 0 else None, views.get("semantic"), version.lexical),
        known=_known(reader),
        notes=_notes(notes, encoding.key, fluency, plan),
        plan=plan,
        noticed=noticed if preset.planned else None,
        paths=_paths(reader),
        in_folders=in_folders,
        not_raw=None if filters.include_raw else not_raw(columns, documents),
        work=_work(reader, columns, query.situation) if query.situation.working else None,
    )
    if plan is None or not query.widen:
        return scene
    wide = widened(plan, query)
    words = _bind_words(reader, version, preset=preset, query=query, plan=wide)
    again = {name: words if name == "lexical" else view for name, view in views.items()}
    words = words if lexical is not None else None
    return replace(scene, wider=replace(scene, plan=wide, views=again, words=words, told={}))


def _notes(notes: Mapping[str, object], encoder: str | None, fluency: float, plan: Plan | None) -> Later[object]:
    return Later(
        lambda: {**notes, "encoder": encoder, "fluency": fluency, **(plan.to_json() if plan is not None else {})}
    )


def _bind_words(
    reader: Reader, version: Version, *, preset: Preset, query: Query, plan: Plan | None
) -> BoundLexical:
    return bind_lexical(
        reader,
        version.lexical,
        query.text,
        formula=preset.formula,
        prefixes=preset.prefixes,
        expansions=plan.expansions if plan is not None else None,
    )


def bind_views(
    reader: Reader,
    version: Version,
    *,
    encoding: Encoding,
    preset: Preset,
    query: Query,
    noticed: Annotations,
    plan: Plan | None,
    readable: bool,
    meant: str,
) -> dict[str, BoundView]:
    """A query that the encoder cannot read at all is not put to it, unless the caller or the preset insists.

    `meant` is the text that the encoder gets.
    """
    views: dict[str, BoundView] = {}
    for name in views_for(preset, query.mode, None if plan is None else plan.strategy):
        if name == "lexical":
            views[name] = _bind_words(reader, version, preset=preset, query=query, plan=plan)
        elif name == "symbolic":
            views[name] = bind_symbolic(reader, version.columns, _exact_names(noticed))
        elif version.vectors is not None and (readable or query.mode is Mode.SEMANTIC or not preset.fluent):
            views[name] = LazySemantic(encoding, version.vectors, version.columns, meant)
    return views


def _paths(reader: Reader) -> Callable[[Sequence[str]], Mapping[str, str]]:
    """The paths of documents, each fetched once however many stages ask."""
    known: dict[str, str] = {}

    def fetch(documents: Sequence[str]) -> Mapping[str, str]:
        missing = [one for one in documents if one not in known]
        if missing:
            known.update(dict.fromkeys(missing, ""))
            known.update(reader.documents.paths(missing))
        return known

    return fetch


def _work(reader: Reader, columns: Columns, situation: Situation) -> Work:
    file = normalize(situation.open_file or "").replace("\\", "/")
    name = file.rsplit("/", 1)[-1]
    stem = tokenize(name.rpartition(".")[0] or name)
    commands = [tokenize(command) for command in situation.commands[:LATEST_COMMANDS]]
    words = sorted({word for one in (stem, *commands) for word in one})
    numbers = reader.terms.numbers(words) if words else {}
    hits = reader.terms.labelled([(value, "path") for value in sorted({file, name})]) if file else []
    return Work(
        named=columns.mask_of([num for value, _, num in hits if value == file]),
        alike=columns.mask_of([num for _, _, num in hits]),
        file_words=[numbers.get(word, -1) for word in stem],
        commands=[[numbers.get(word, -1) for word in command] for command in commands if command],
    )


def _exact_names(noticed: Annotations) -> list[tuple[str, str]]:
    """What the query names exactly. A name is no such thing: people and products are words, and the words find them."""
    return list(dict.fromkeys(label for label in labels(noticed) if label[1] != "entity"))


def _names(reader: Reader, noticed: Annotations) -> list[list[int]]:
    """The names in the query, each as the numbers of its words; a word that nobody wrote has a number that none has."""
    names = [tokenize(name) for name in noticed.entities]
    known = reader.terms.numbers(sorted({word for name in names for word in name})) if names else {}
    return [[known.get(word, -1) for word in name] for name in names]


def _tagged(reader: Reader, columns: Columns, wanted: Sequence[str]) -> BoolArray:
    """Rows that carry every one of the tags."""
    hits = reader.terms.labelled([(normalize(tag), "tag") for tag in wanted])
    mask = np.ones(columns.size, dtype=np.bool_)
    for tag in wanted:
        mask &= columns.mask_of([num for value, _, num in hits if value == normalize(tag)])
    return mask


def _touched(reader: Reader, columns: Columns, files: Sequence[str]) -> BoolArray:
    """Rows that name one of the files, in full or by its last part."""
    values = {normalize(file) for file in files} | {normalize(file).rsplit("/", 1)[-1] for file in files}
    return columns.mask_of([num for _, _, num in reader.terms.labelled([(value, "path") for value in sorted(values)])])


def _affected(reader: Reader, columns: Columns, files: Sequence[str]) -> BoolArray:
    """Rows about one of the files. Two that share only their last part are two files, so the folders must agree too."""
    wanted = sorted({normalize(file).removeprefix("./") for file in files})
    hits = reader.terms.labelled([(value.rsplit("/", 1)[-1], "path") for value in wanted])
    named: dict[int, set[str]] = {}
    for num, path in reader.terms.paths(sorted({num for _, _, num in hits})):
        named.setdefault(num, set()).add(path)
    return columns.mask_of([num for num, paths in named.items() if any(about(paths, file) for file in wanted)])


def about(paths: Set[str], file: str) -> bool:
    """Whether a memory that names these paths is about the file; the last part of a longer one stands for nothing."""
    full = {path for path in paths if not any(other.endswith(f"/{path}") for other in paths)}
    return any(path == file or path.endswith(f"/{file}") or file.endswith(f"/{path}") for path in full)


def _trials(reader: Reader, state: NamespaceState, columns: Columns, as_of: int | None) -> Trials:
    if as_of is None:
        return trials_now(columns, state.tasks_ended, state.reward_total)
    return trials_at(columns, *reader.tasks.trials_until(as_of))


def _watched(reader: Reader, columns: Columns, ids: Sequence[str]) -> tuple[IntArray | None, list[str]]:
    if not ids:
        return None, []
    found = reader.memories.find(ids)
    places = columns.locate([found[id] for id in ids if id in found])
    return places[places >= 0], [id for id in ids if id not in found]


def _neighbours(reader: Reader, at: int) -> Callable[[Sequence[int]], Iterable[Edge]]:
    def around(nums: Sequence[int]) -> Iterable[Edge]:
        for source, target, relation, confidence in reader.relations.neighbours(nums, at):
            yield Edge(source, target, relation, confidence)
        for source, target in reader.terms.sharing_names(nums, MOST_SHARED_TIES):
            yield Edge(source, target, SHARED_ENTITY, SHARED_ENTITY_CONFIDENCE)

    return around


def _likeness(vectors: VectorIndex | None, semantic: BoundView | None, lexical: LexicalIndex) -> Likeness:
    """How alike rows are: cosine where both have a vector that the encoder meant, else the share of words in common."""

    def among(rows: IntArray) -> Callable[[int], FloatArray]:
        words: Callable[[int], FloatArray] | None = None

        def by_words(at: int) -> FloatArray:
            nonlocal words
            if words is None:
                words = _shared_words([lexical.sequence(int(row)) for row in rows])
            return words(at)

        if vectors is None or not len(vectors):
            return by_words
        has = vectors.where[rows] >= 0
        of_all = everywhere(has)
        with_vector = rows if of_all else rows[has]
        matrix = semantic.vectors(with_vector) if isinstance(semantic, LazySemantic) else vectors.single(with_vector)
        if not of_all:
            matrix = _at(has, matrix)
        # The first rows are those that will be asked about, so theirs are worked out in one product.
        ahead = np.minimum(matrix @ matrix[:ASKED_FIRST].T, 1.0).T.astype(np.float64, order="C")

        def to(at: int) -> FloatArray:
            if not has[at]:
                return by_words(at)
            cosine: FloatArray
            cosine = ahead[at] if at < len(ahead) else np.minimum(matrix @ matrix[at], 1.0).astype(np.float64)
            return cosine if of_all else np.where(has, cosine, by_words(at))

        return to

    return among


def _at(has: BoolArray, vectors: Single) -> Single:
    """Zeros where there is no vector."""
    matrix = np.zeros((len(has), vectors.shape[1]), dtype=np.float32)
    matrix[has] = vectors
    return matrix


def _shared_words(sequences: Sequence[NDArray[np.uint32]]) -> Callable[[int], FloatArray]:
    """Jaccard of one row with each, by their terms."""
    terms, place = np.unique(np.concatenate(sequences), return_inverse=True)
    owner = np.repeat(np.arange(len(sequences)), [len(sequence) for sequence in sequences])
    holds = np.zeros((len(sequences), max(len(terms), 1)), dtype=np.float32)
    holds[owner, place] = 1.0
    sizes = holds.sum(axis=1).astype(np.float64)

    def to(at: int) -> FloatArray:
        common = (holds @ holds[at]).astype(np.float64)
        either = sizes + sizes[at] - common
        shares: FloatArray = np.divide(common, either, out=np.zeros_like(common), where=either > 0)
        return shares

    return to


def _known(reader: Reader) -> Callable[[Sequence[int]], Known]:
    """The rows in full, each fetched once however many stages ask."""
    memories: dict[int, Memory] = {}
    relations: dict[int, list[Relation]] = {}
    paths: dict[str, str] = {}
    checks: dict[int, CitationCheck] = {}

    def fetch(nums: Sequence[int]) -> Known:
        missing = [num for num in nums if num not in memories]
        if missing:
            found = reader.memories.get(missing)
            memories.update(found)
            relations.update(reader.relations.find(missing))
            if cited := [num for num, memory in found.items() if memory.citations]:
                checks.update(reader.citations.checks(cited))
            documents = sorted({memory.document for memory in found.values() if memory.document is not None})
            if documents:
                paths.update(reader.documents.paths(documents))
        return Known(memories, relations, paths, checks)

    return fetch
