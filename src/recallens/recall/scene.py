"""Everything that one recall looks at: one snapshot of the store, one version of the index, the views bound to the
question, and the time by which rows are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from recallens.errors import NotFound
from recallens.index.columns import NEVER, Columns, code_of
from recallens.index.encoding import Encoding, LazySemantic
from recallens.index.images import DamagedIndex
from recallens.index.lexical import BoundLexical, bind_lexical, bind_words
from recallens.index.version import Version
from recallens.index.views import BoundView, bind_symbolic
from recallens.ingest.encoded import ROLES
from recallens.ingest.prepare import labels
from recallens.model.citation import CitationCheck
from recallens.model.memory import Annotations, EventKind, Memory, Relation, Status
from recallens.model.plan import Intent, Plan, Window
from recallens.model.query import Mode, Query
from recallens.model.salience import SECTOR_ORDER, reinforced, salience
from recallens.model.state import MemoryState
from recallens.model.verdict import BoolArray, FloatArray, IntArray
from recallens.recall.disagreements import disagreements
from recallens.recall.facets import WORDED, Facet, FacetKind, facets_of, topic_of
from recallens.recall.intents import names_a_kind
from recallens.recall.plan import PLANNED_CHARACTERS, annotations_of, make_plan
from recallens.recall.states import holds
from recallens.store.protocols import Reader
from recallens.store.records import NamespaceState
from recallens.text.languages import spaced
from recallens.text.languages.translation import TranslatedWords, words_in_translation
from recallens.text.scripts import is_read, known_share
from recallens.text.sentences import sentences
from recallens.text.statements import Disagreement
from recallens.text.stopwords import names_in, projects_named, without_names

if TYPE_CHECKING:  # a preset is a list of terms, and terms read scenes
    from recallens.recall.presets import Preset

SEMANTIC: Final = "semantic"
# The view of the second encoder, which reads what the store's own cannot.
MULTILINGUAL: Final = "multilingual"
TRANSLATION: Final = "translation"
# Rows without a vector of it stand behind those with one, so that it is not asked while more lack theirs than so many,
# and than this share of all.
FEW, SMALL_SHARE = 32, 0.1
# Between these shares of the question's words that the best row holds, words get their say where an answer may be in
# another language.
OF_SECOND, OF_BOTH = (0.25, 0.55), (0.4, 0.7)
LEAST_WORDS: Final = 0.02
# Of a text, so much is read for the sentence that is nearest to the question: four passes of the encoder at most.
READ_CHARACTERS, MOST_READ = 4_000, 32

Rows = IntArray | slice
EVERY = slice(None)

UsageEvents = Sequence[tuple[int, str, int, float | None]]


class UsageColumns(Struct, frozen=True, eq=False):
    """How each row has been used, as it stood at the judging time: what salience is worked out from."""

    last_used: NDArray[np.int64]
    uses: NDArray[np.int64]
    reinforcement: FloatArray
    reinforced_at: NDArray[np.int64]


class Interpretation(Struct, frozen=True, eq=False):
    """What was read out of the question before anything was searched."""

    annotations: Annotations
    fluency: float  # the share of the question that the encoder can read: its opinion weighs as much
    unread: bool  # whether the store's own encoder cannot read it
    speakers: Sequence[int]  # the authors whom the question names, by their codes in the columns
    plan: Plan | None  # absent under a preset that does not plan
    facets: tuple[Facet, ...] = ()  # what an answer would have to speak of
    projects: Sequence[int] = ()  # those that the question names, by their codes in the columns

    @property
    def windows(self) -> tuple[Window, ...]:
        return () if self.plan is None else self.plan.windows

    @property
    def only_windows(self) -> tuple[Window, ...]:
        """The times that the question asks about, where it asks about nothing else."""
        timeless = any(facet.kind is not FacetKind.TIME for facet in self.facets)
        return () if timeless else self.windows

    @property
    def then(self) -> int | None:
        """The time by whose end it is asked what held, where the question asks that."""
        ends = [window.end for window in self.windows if window.as_of]
        return max(ends) if ends else None


class Bodies:
    """Memories in full, each read once however many stages ask for it.

    Relations, citation checks and states are by memory number, paths by document.
    """

    def __init__(self, reader: Reader, worktree: str | None = None) -> None:
        self._reader, self.worktree = reader, worktree
        self.memories: dict[int, Memory] = {}
        self.relations: dict[int, Sequence[Relation]] = {}
        self._ties: dict[int, Sequence[Relation]] = {}
        self._numbers: dict[str, int] = {}
        self.checks: dict[int, CitationCheck] = {}
        self.states: dict[int, MemoryState] = {}
        self.paths: dict[str, str] = {}
        self._translated: dict[int, TranslatedWords] = {}
        self._nearest: dict[int, str | None] = {}
        self._disagreements: dict[tuple[int, ...], Mapping[int, Mapping[int, Disagreement]]] = {}

    def of(self, nums: Sequence[int]) -> Bodies:
        missing = [num for num in nums if num not in self.memories]
        if missing:
            memories = self._reader.memories.get(missing)
            self.memories.update(memories)
            self.relations_of(missing)
            cited, documents = [], set()
            for num, memory in memories.items():
                if memory.citations:
                    cited.append(num)
                if memory.document is not None:
                    documents.add(memory.document)
            if cited:
                self.checks.update(self._reader.citations.checks(cited, self.worktree))
            self.paths_of(sorted(documents))
        return self

    def sentence(self, num: int, window: str | None, choose: Callable[[Sequence[str]], int | None]) -> str | None:
        """The sentence that is chosen of a memory, or of a window of it; asked once."""
        if num not in self._nearest:
            own = sentences((window or self.memories[num].content)[:READ_CHARACTERS])[:MOST_READ]
            at = choose(own) if len(own) > 1 else None
            self._nearest[num] = None if at is None else own[at]
        return self._nearest[num]

    def named(self, ids: Sequence[str]) -> dict[str, Memory]:
        """Memories by their ids; those that no stage has asked for are read, without what goes with them."""
        known = {memory.id: memory for memory in self.memories.values()}
        if missing := [id for id in ids if id not in known]:
            read = self._reader.memories.get(list(self._reader.memories.find(missing).values()))
            known |= {memory.id: memory for memory in read.values()}
        return known

    def relations_of(self, nums: Sequence[int]) -> Mapping[int, Sequence[Relation]]:
        """The relations of memories whose texts need not be read."""
        self.read_relations(nums)
        self.relations.update((num, self._ties[num]) for num in nums if self._ties[num])
        return self.relations

    def read_relations(self, nums: Sequence[int]) -> None:
        """Read the relations of memories that later stages will ask for, in one statement."""
        if missing := [num for num in nums if num not in self._ties]:
            self._ties.update(dict.fromkeys(missing, ()))
            self._ties.update(self._reader.relations.find(missing))

    def edges_of(self, nums: Sequence[int], at: int) -> list[tuple[int, int, str, float]]:
        """The relations that touch these memories and hold at the judging time: source, target, kind, confidence."""
        self.read_relations(nums)
        ties = [tie for num in nums for tie in self._ties[num] if holds(tie, at)]
        ends = {end for tie in ties for end in (tie.source, tie.target)}
        if missing := sorted(ends - self._numbers.keys()):
            self._numbers.update(self._reader.memories.find(missing))
        number = self._numbers
        return sorted({(number[tie.source], number[tie.target], str(tie.type), tie.confidence) for tie in ties})

    def disagreements(self, nums: Sequence[int]) -> Mapping[int, Mapping[int, Disagreement]]:
        """Which of these memories cannot hold together, by their places: several stages ask of the same ones."""
        key = tuple(nums)
        if key not in self._disagreements:
            memories = self.of(nums).memories
            self._disagreements[key] = disagreements([memories[num] for num in nums])
        return self._disagreements[key]

    def translated(self, nums: Sequence[int]) -> list[TranslatedWords]:
        """The words of memories as another language would say them, each memory read once."""
        memories = self.of(nums).memories
        for num in nums:
            if num not in self._translated:
                self._translated[num] = TranslatedWords(f"{memories[num].title or ''}\n{memories[num].content}")
        return [self._translated[num] for num in nums]

    def paths_of(self, documents: Sequence[str]) -> Mapping[str, str]:
        """The paths of documents; one that is not known is left out."""
        missing = [document for document in documents if document not in self.paths]
        if missing:
            self.paths.update(self._reader.documents.paths(missing))
        return self.paths


class Scene(Struct, frozen=True, eq=False):
    reader: Reader
    state: NamespaceState
    index: Version
    views: Mapping[str, BoundView]
    question: Interpretation
    at: int  # epoch milliseconds: rows are judged as they stood then
    usage: UsageColumns
    bodies: Bodies
    second_vectors: tuple[int, int]  # where the second encoder is wanted: rows in use with a vector of it, and all
    heirs: dict[int, int]  # rows that were replaced, and the row that took the place of each, once that is known
    versions: Mapping[str, object]  # what the answer depends on beside store, query and clock, for the plan's note

    @property
    def columns(self) -> Columns:
        return self.index.columns

    @property
    def words(self) -> BoundLexical | None:
        """The question's words, where the lexical view takes part."""
        lexical = self.views.get("lexical")
        return lexical if isinstance(lexical, BoundLexical) else None

    def coverage(self, rows: IntArray) -> FloatArray:
        """The share of the question's words that each row holds; 0 where the lexical view takes no part."""
        words = self.words
        return words.coverage(rows) if words is not None else np.zeros(len(rows))

    @property
    def reads_meaning(self) -> bool:
        """Whether an encoder was asked."""
        return SEMANTIC in self.views or MULTILINGUAL in self.views

    def meaning(self, rows: IntArray) -> FloatArray:
        """The cosine of each row with the question, NaN where it has no vector: the better one of the encoders that
        were asked. Neither compares a vector with one of the other's.
        """
        first = self.score(SEMANTIC, rows) if SEMANTIC in self.views else np.full(len(rows), np.nan)
        if MULTILINGUAL not in self.views:
            return first
        return np.fmax(first, self.score(MULTILINGUAL, rows))

    def trust(self, candidates: IntArray) -> tuple[float, float]:
        """How much the opinions of the words and of the encoder weigh: that as much as it can read of the question.

        Where an answer may be in another language, words say the less the fewer of them any row holds.
        """
        fluency = self.question.fluency
        if MULTILINGUAL not in self.views or self.words is None:
            return 1.0, fluency
        most = float(self.coverage(candidates).max(initial=0.0))
        few, many = OF_BOTH if SEMANTIC in self.views else OF_SECOND
        held = min(max((most - few) / (many - few), 0.0), 1.0)
        return LEAST_WORDS + (1.0 - LEAST_WORDS) * held, fluency

    def score(self, view: str, rows: IntArray) -> FloatArray:
        """The view's raw score of each row, NaN where it cannot say, which is everywhere if it failed."""
        try:
            return self.views[view].score(rows)
        except DamagedIndex:
            raise
        except Exception:  # the failure itself is in the ledger, from when the view was asked to propose
            return np.full(len(rows), np.nan)

    def best_parts(self, rows: IntArray) -> IntArray:
        """Which part of each row has its cosine: 0 the whole, else one of its `own_parts`; -1 where it has none."""
        view = self.views.get(SEMANTIC)
        if isinstance(view, LazySemantic):
            with suppress(Exception):  # as with the scores, its failure is known
                return view.best_parts(rows)
        return np.full(len(rows), -1)

    def nearest(self, sentences: Sequence[str]) -> int | None:
        """Which of the sentences of a text is nearest to the question, by the first encoder that reads them."""
        for view in (self.views.get(SEMANTIC), self.views.get(MULTILINGUAL)):
            if isinstance(view, LazySemantic) and view.reads(" ".join(sentences)):
                with suppress(Exception):  # as with the scores, its failure is known
                    return view.nearest(sentences)
        return None

    def salience(self, rows: Rows, *, own: bool = False) -> FloatArray:
        """`own` leaves out what recalls and confirmations have added to it."""
        columns, usage, reinforcement = self.columns, self.usage, self.usage.reinforcement[rows]
        return salience(
            base=columns["base_salience"][rows],
            sector=columns["sector"][rows],
            importance=columns["importance"][rows],
            last_used=usage.last_used[rows],
            uses=usage.uses[rows],
            reinforcement=None if own or not np.count_nonzero(reinforcement) else reinforcement,
            reinforced_at=usage.reinforced_at[rows],
            at=self.at,
        )

    def superseded(self, rows: Rows, *, by_now: bool = False) -> BoolArray:
        """Rows closed at the judging time, or at the one that the question asks about. An end that is still to come
        does not count; a superseded row without an end counts as closed.
        """
        end, then = self.columns["valid_until"][rows], self.question.then
        replaced = self.columns["status"][rows] == code_of(Status.SUPERSEDED)
        closed: BoolArray = (end <= (self.at if then is None or by_now else then)) | (replaced & (end == NEVER))
        return closed


def open_scene(
    reader: Reader,
    state: NamespaceState,
    index: Version,
    *,
    encoding: Encoding,
    second: Encoding | None,
    preset: Preset,
    query: Query,
    versions: Mapping[str, object],
    standing: str | None = None,
) -> Scene:
    """`standing` is the checkout that the caller works in, where it is known."""
    query = replace(query, text=spaced(query.text))
    columns, in_session = index.columns, query.filters.in_session
    if in_session is not None and reader.sessions.get(in_session) is None:
        raise NotFound(f"no session {in_session!r}", hint="`recallens session list` shows those that exist.")
    if query.task is not None and reader.tasks.get(query.task) is None:
        raise NotFound(f"no task {query.task!r}", hint="`recallens task start` starts one; `task list` shows them.")
    speakers = names_in(query.text, index.authors, ROLES) if preset.speakers else []
    annotations, plan = annotations_of(query.text), make_plan(query) if preset.planned else None
    fluency, unread = known_share(query.text, encoding.languages), not is_read(query.text, encoding.languages)
    wants_second = second is not None and preset.fluent and (unread or state.unread) and _means(preset, query, plan)
    projects = projects_named(query.text[:PLANNED_CHARACTERS], columns.names["project"].codes) if plan else {}
    question = Interpretation(
        annotations=annotations,
        fluency=fluency,
        unread=unread,
        speakers=sorted({name.code for name in speakers}),
        plan=plan,
        facets=() if plan is None else facets_asked(query.text[:PLANNED_CHARACTERS], annotations, plan, projects),
        projects=sorted(projects.values()),
    )
    # The words of a question that is only a time say nothing to an encoder.
    have, wanted = index.with_second() if wants_second else (0, 0)
    served = have > 0 and wanted - have <= max(FEW, SMALL_SHARE * wanted) and not question.only_windows
    if served and second is not None and unread:
        question = replace(question, fluency=known_share(query.text, second.languages))
    meant = without_names(query.text, speakers)
    if unread and question.windows and not question.only_windows:
        # The second encoder averages over words: those of the time, which a text need not name, would be half of them.
        meant = topic_of(meant, [window.text for window in question.windows])
    past = query.as_of is not None
    views = _bind_views(reader, index, encoding, preset, query, question, meant, instead=served and unread)
    if served and second is not None and index.second is not None:
        views[MULTILINGUAL] = LazySemantic(second, index.second, columns, meant, name=MULTILINGUAL)
        if others := [
            word for facet in question.facets if facet.kind in WORDED for word in words_in_translation(facet.text)
        ]:
            others = list(dict.fromkeys(others))
            views[TRANSLATION] = bind_words(reader, index.lexical, others, formula=preset.formula, name=TRANSLATION)
    return Scene(
        reader=reader,
        state=state,
        index=index,
        views=views,
        question=question,
        at=query.at,
        usage=usage_at(columns, reader.trail.usage_until(query.at), query.at) if past else usage_now(columns),
        bodies=Bodies(reader, query.worktree or standing),
        second_vectors=(have, wanted),
        heirs={},
        versions=versions,
    )


def _means(preset: Preset, query: Query, plan: Plan | None) -> bool:
    return SEMANTIC in preset.views(query.mode, None if plan is None else plan.strategy)


def facets_asked(text: str, annotations: Annotations, plan: Plan, projects: Collection[str] = ()) -> tuple[Facet, ...]:
    """What the question requires. Words that only say which kind of answer is wanted are required of nobody. Who asks
    what to watch out for when deploying, or where something is in the code, asks for no time and no place.
    """
    facets = facets_of(text, annotations, plan.windows, projects)
    if plan.intent in (Intent.KNOWN_ISSUES, Intent.HOW_TO_DO, Intent.CODE_STRUCTURE):
        facets = tuple(facet for facet in facets if facet.answer not in ("time", "place"))
    terms = [facet for facet in facets if facet.kind is FacetKind.TERM]
    kinds = [facet for facet in terms if names_a_kind(facet.text, text, plan.intent_cues)]
    left = tuple(facet.without(kinds) for facet in facets if facet not in kinds)
    return left if any(facet.kind in (FacetKind.TERM, FacetKind.ENTITY) for facet in left) else facets


def widened_scene(scene: Scene, preset: Preset, query: Query) -> Scene:
    """The scene of a second round: the same rows, asked with the widened plan and its other words for each word."""
    first = scene.question.plan
    plan = replace(make_plan(query, widened=True), windows=scene.question.windows)
    if first is not None:
        plan = replace(plan, undated=first.undated, perhaps=first.perhaps, place=first.place)
    words = _bind_words(scene.reader, scene.index, preset, query, plan)
    views = {name: words if name == "lexical" else view for name, view in scene.views.items()}
    return replace(scene, views=views, question=replace(scene.question, plan=plan))


def _bind_views(
    reader: Reader,
    index: Version,
    encoding: Encoding,
    preset: Preset,
    query: Query,
    question: Interpretation,
    encoded_text: str,
    *,
    instead: bool,
) -> dict[str, BoundView]:
    """The views that the preset names. A question that the encoder cannot read at all is not put to it, unless the
    caller or the preset insists; nor is one that the second reads `instead`.
    """
    plan, views = question.plan, dict[str, BoundView]()
    for name in preset.views(query.mode, None if plan is None else plan.strategy):
        if name == "lexical":
            views[name] = _bind_words(reader, index, preset, query, plan)
        elif name == "symbolic":
            # People and products are words, and the lexical view finds them: the symbolic one takes the other labels.
            exact = dict.fromkeys(label for label in labels(question.annotations) if label[1] != "entity")
            views[name] = bind_symbolic(reader, index.columns, list(exact))
        elif instead:
            continue
        elif index.vectors is not None and (question.fluency > 0 or query.mode is Mode.SEMANTIC or not preset.fluent):
            views[name] = LazySemantic(encoding, index.vectors, index.columns, encoded_text)
    return views


def _bind_words(reader: Reader, index: Version, preset: Preset, query: Query, plan: Plan | None) -> BoundLexical:
    return bind_lexical(
        reader,
        index.lexical,
        query.text,
        formula=preset.formula,
        prefixes=preset.prefixes,
        expansions=plan.expansions if plan is not None else None,
    )


def usage_now(columns: Columns) -> UsageColumns:
    return UsageColumns(columns["last_used"], columns["uses"], columns["reinforcement"], columns["reinforced_at"])


def usage_at(columns: Columns, events: UsageEvents, at: int) -> UsageColumns:
    """The history up to `at`, worked out again from the events: the columns hold only how it ended."""
    last_used = columns["created"].copy()
    uses = np.zeros(columns.size, dtype=np.int64)
    reinforcement = np.zeros(columns.size)
    reinforced_at = np.zeros(columns.size, dtype=np.int64)
    rows = columns.locate([num for num, *_ in events]).tolist()
    for row, (_, kind, when, amount) in zip(rows, events, strict=True):
        if row < 0 or when > at:
            continue
        if kind in (EventKind.USED, EventKind.CONFIRMED):
            last_used[row] = max(last_used[row], when)
            uses[row] += 1
        if amount:
            reinforcement[row] = reinforced(
                reinforcement=float(reinforcement[row]),
                reinforced_at=int(reinforced_at[row]),
                sector=SECTOR_ORDER[columns["sector"][row]],
                importance=float(columns["importance"][row]),
                by=amount,
                at=when,
            )
            reinforced_at[row] = when
    return UsageColumns(last_used, uses, reinforcement, reinforced_at)
