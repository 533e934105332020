"""Asking the questions of a set through the path that every search takes.

A judged set is asked in stores of its own, one for each haystack; a golden set is asked of the user's store, where
nothing is recorded. Both give a `Run`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from recallens.config import Settings
from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.evaluate.dataset import Dataset, Gold, Haystack, JudgedQuestion, Scoring, Unit
from recallens.evaluate.encoder_cache import CachedEncoder
from recallens.evaluate.expectations import Expected, Target
from recallens.evaluate.golden import GoldenQuestion, GoldenSet
from recallens.evaluate.metrics import GOLDEN, confidences, measured, score
from recallens.evaluate.runs import Delivered, Place, QuestionScore, Run
from recallens.index.encoders.protocol import Encoder
from recallens.ingest.draft import Draft
from recallens.ingest.prepare import prepare
from recallens.model.citation import FileCitation
from recallens.model.memory import IdSource, Memory
from recallens.model.query import MAX_LIMIT, Query
from recallens.model.recall import Recall, SearchResult
from recallens.store.records import Prepared
from recallens.text.days_told import days_told
from recallens.text.scripts import is_read
from recallens.xray.ladder import Fate, Walk
from recallens.xray.why_not import KeptOut, WhyNot

Advance = Callable[[int], None]


class Variant(Struct, frozen=True):
    """A ranking to measure: a preset, and the options that a sweep set, as values and as they were written."""

    preset: str
    options: Mapping[str, Any] = {}
    written: Mapping[str, str] = {}
    chunk: int | None = None  # how long the sections of the vaults are; None asks the store as it is


def _timed(asks: Iterable[Callable[[], QuestionScore]], advance: Advance) -> tuple[list[QuestionScore], float]:
    scores = []
    started = time.perf_counter()
    for ask in asks:
        scores.append(ask())
        advance(1)
    return scores, time.perf_counter() - started


def _ranks(ranked: Sequence[str], keys_by_name: Mapping[str, str]) -> dict[str, int | None]:
    """Where the key of each name stands, from 1."""
    ranks = {key: rank for rank, key in reversed(list(enumerate(ranked, start=1)))}
    return {name: ranks.get(key) for name, key in keys_by_name.items()}


# ── judged sets ──

# Documents are asked as a user asks, ten at a time. A session stands where its best turn stands, so ten sessions take
# more turns: with 50 and with 200 locomo-dev has 79.6 and 80.4 recall_all@5, 51.5 and 51.3 nDCG@10 by turn.
ROWS = {Scoring.CONVERSATION: 50, Scoring.DOCUMENTS: 10}
# A judged question counts as answered if something right is among so many results.
HIT_WITHIN = 5
# When what has no date was said, and when a set without dates is asked: 2000-01-01.
UNDATED = 946_684_800_000
# Nothing here has to survive a power cut, so it goes where a write costs no disk, if there is such a place.
SHARED_MEMORY = Path("/dev/shm")  # nosec B108: a folder with a random name is made in it


def asked(dataset: Dataset, *, unanswerable: bool, most: int | None) -> list[JudgedQuestion]:
    """The questions of a run, in the set's order; ranking is measured on those that have an answer."""
    return [question for question in dataset.questions if unanswerable or dataset.is_judged(question)][:most]


def steps(dataset: Dataset, questions: Sequence[JudgedQuestion], presets: Sequence[str]) -> int:
    """How far the progress of a run goes: each unit ingested and each question asked once a preset."""
    ids = {question.id for question in questions}
    asked = [own for own in dataset.haystacks if any(question.id in ids for question in dataset.questions_of(own))]
    return sum(len(dataset.seen_in(haystack)) for haystack in asked) + len(questions) * len(presets)


def run_judged(
    dataset: Dataset, questions: Sequence[JudgedQuestion], presets: Sequence[str], *, encoder: Encoder | None,
    advance: Advance = lambda done: None,
) -> list[Run]:  # fmt: skip
    """One run a preset. Every haystack is ingested once and asked all of its questions under every preset."""
    key = str(encoder.key) if encoder is not None else "none"
    wanted = {question.id for question in questions}
    scores: dict[str, list[QuestionScore]] = {preset: [] for preset in presets}
    seconds = dict.fromkeys(presets, 0.0)
    prepared = PreparedUnits()
    for haystack in dataset.haystacks:
        own = [question for question in dataset.questions_of(haystack) if question.id in wanted]
        if not own:
            continue
        with filled(dataset, haystack, prepared, encoder, advance) as (engine, latest):
            for preset in presets:
                ask = partial(_judged_score, engine, dataset, preset, latest)
                more, took = _timed((partial(ask, question) for question in own), advance)
                scores[preset] += more
                seconds[preset] += took
    left_out = dataset.left_out
    return [
        Run(dataset.name, preset, key, tuple(scores[preset]), seconds[preset], left_out=left_out) for preset in presets
    ]


@contextmanager
def filled(
    dataset: Dataset, haystack: Haystack, prepared: PreparedUnits, encoder: Encoder | None, advance: Advance
) -> Iterator[tuple[Engine, int]]:
    """A store that holds one haystack, each unit as a memory of its own, and the time of the latest."""
    drafts = [_draft(unit, dataset.dates_in(haystack)) for unit in dataset.seen_in(haystack)]
    latest = max((draft.created_ms for draft in drafts if draft.created_ms is not None), default=UNDATED)
    folder = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="recallens-eval-", dir=folder) as place:
        second = encoder.second if isinstance(encoder, CachedEncoder) else None
        settings = Settings(
            store=str(Path(place) / "store.db"), encoder="none" if encoder is None else "minilm",
            encoder_second="none" if second is None else "multilingual",
        )  # fmt: skip
        ids = IdSource(lambda: latest, lambda bits: 0)  # ties are settled by id: the same ids every time
        with Engine.open(
            settings=settings, encoder=encoder, second=second, clock=lambda: latest, ids=ids, prepare=prepared
        ) as engine:
            # Two units that say the same are two units: whichever is judged must be there to be found.
            for batch in engine.memories.remember_many(drafts, dedupe=False):
                advance(len(batch))
            prepare_languages(engine, (question.text for question in dataset.questions_of(haystack)))
            yield engine, latest


def prepare_languages(engine: Engine, questions: Iterable[str], namespace: str | None = None) -> None:
    """Encode whatever waits, and with the second encoder too where a question is in a language that the first cannot
    read: what is measured does not depend on what was asked before.
    """
    core = engine.core
    if not all(is_read(question, core.encoding.languages) for question in questions):
        engine.encoder.begin(core.namespace(namespace))
    engine.encoder.drain()


class PreparedUnits:
    """Prepares a unit once, however many haystacks hold it: they differ only in its date."""

    def __init__(self) -> None:
        self._rows: dict[str, Prepared] = {}

    def __call__(self, draft: Draft, *, id: str, namespace: str, now: int) -> Prepared:
        row = self._rows.get(draft.source_id or "")
        if row is None:
            row = self._rows[draft.source_id or ""] = prepare(draft, id=id, namespace=namespace, now=now)
        created = row.memory.created if draft.created_ms is None else draft.created_ms
        dated = structs.replace(row.memory, id=id, created=created, updated=created)
        told = row.days_told and days_told(f"{dated.title or ''}\n{dated.content}", created)
        return replace(row, memory=dated, days_told=told)


def _draft(unit: Unit, dates: Mapping[str, int]) -> Draft:
    at = dates.get(unit.group or "", unit.at)
    return Draft(
        unit.text, title=unit.title, source_id=unit.id, session=unit.group, position=unit.position,
        author=unit.speaker, created=UNDATED if at is None else at,
        citations=(FileCitation(unit.path),) if unit.path else (),
    )  # fmt: skip


def _judged_score(
    engine: Engine, dataset: Dataset, preset: str, latest: int, question: JudgedQuestion
) -> QuestionScore:
    now, limit = latest if question.at is None else question.at, ROWS[dataset.scoring]
    asked = partial(engine.recalls.query, question.text, preset=preset, now=now)
    recall = engine.recall(asked(limit=limit, certify=True, cut=False))
    places = tuple(
        Place(result.memory.source_id or "", session.id if (session := result.source_session) else None, result.score)
        for result in recall.results
    )
    units = [place.unit for place in places]
    # A session stands where its best turn stands.
    groups = list(dict.fromkeys(place.group for place in places if place.group is not None))
    ranks, metrics, hit = {}, {}, False
    if dataset.is_judged(question):
        gold = dataset.gold[question.id]
        metrics = score(dataset.scoring, units, groups, gold)
        right, results = (gold.groups, groups) if gold.groups else (gold.units, units)
        hit = not right.keys().isdisjoint(results[:HIT_WITHIN])
        right, results = (gold.groups, groups) if dataset.scoring is Scoring.CONVERSATION else (gold.units, units)
        ranks = _ranks(results, {id: id for id, grade in sorted(right.items()) if grade > 0})
    tags = () if question.type is None else (question.type,)
    return QuestionScore(
        question.id, question.text, ranks, metrics, tags,
        answerable=question.answerable, hit=hit, places=places, confidences=confidences(recall),
        delivered=_delivered(engine.recall(asked()), dataset.gold.get(question.id)),
        judged=_judged(recall, dataset.gold.get(question.id)),
    )  # fmt: skip


def _is_right(gold: Gold | None, result: SearchResult) -> bool:
    """By turn or document; by session where only sessions are judged."""
    if gold is None:
        return False
    session = result.source_session.id if result.source_session else ""
    return (gold.units.get(result.memory.source_id or "", 0) if gold.units else gold.groups.get(session, 0)) > 0


def _delivered(recall: Recall, gold: Gold | None) -> Delivered:
    right = sum(_is_right(gold, result) for result in recall.results)
    grades = {} if gold is None else gold.units or gold.groups
    return Delivered(len(recall.results), right, sum(grade > 0 for grade in grades.values()))


def _judged(recall: Recall, gold: Gold | None) -> tuple[tuple[float, bool], ...]:
    first = recall.results[:HIT_WITHIN]
    return tuple((each.relevance, _is_right(gold, each)) for each in first if each.relevance is not None)


# ── golden sets ──

# As the specified rankBrainForEval: a ranking of 20 files, from three times as many sections. More changes nothing:
# on the sample vault recall@5 is 95.2 with 20, 60 and 100 rows (94.6 with 10).
RANKED = 20
ROWS_PER_FILE = 3
# What a question's expectations must stand in, not to be a miss.
READ = 10


class RankedMemory(Struct, frozen=True):
    """A file by its best section, or a memory."""

    key: str
    memory: Memory
    score: float


def ranked(
    engine: Engine, text: str, *, key_of: Callable[[Memory], str], limit: int = RANKED, **options: Any
) -> list[RankedMemory]:
    """The first `limit` files or memories for a question, before any budget, by the scores that a search gives."""
    rows = min(limit * ROWS_PER_FILE, MAX_LIMIT)
    best: dict[str, RankedMemory] = {}
    for result in engine.recall(engine.recalls.query(text, limit=rows, cut=False, **options)).results:
        key = key_of(result.memory)
        best.setdefault(key, RankedMemory(key, result.memory, result.score))
    return list(best.values())[:limit]


@contextmanager
def cut_anew(engine: Engine, chunk: int) -> Iterator[Engine]:
    """A store of its own with the vaults of another, cut into sections of this length."""
    vaults = engine.vaults.all()
    if not vaults:
        raise InvalidInput("a sweep of chunk cuts the files of vaults anew, and this store has none")
    core = engine.core
    with tempfile.TemporaryDirectory(prefix="recallens-eval-") as place:
        settings = replace(core.settings, store=str(Path(place) / "store.db"))
        with Engine.open(settings=settings, encoder=core.encoding.encoder, clock=core.clock) as other:
            for vault in vaults:
                other.vaults.add(vault.root, vault.name, **structs.asdict(vault.options) | {"chunk": chunk})
            other.vaults.sync()
            other.encoder.drain()
            yield other


def run_golden(
    engine: Engine, golden: GoldenSet, expected: Mapping[str, Expected], variant: Variant, *, now: int,
    advance: Advance = lambda done: None,
) -> Run:  # fmt: skip
    ask = partial(_golden_score, engine, expected, variant, now)
    scores, seconds = _timed((partial(ask, question) for question in golden.questions), advance)
    return Run(golden.name, variant.preset, engine.core.encoding.key or "none", tuple(scores), seconds, variant.written)


def asking(engine: Engine, question: GoldenQuestion, variant: Variant, now: int) -> dict[str, Any]:
    """The options of the question's query; without a project of its own it is asked as `search` would ask it."""
    return {
        **variant.options, "preset": variant.preset, "now": now if question.now is None else question.now,
        "project": question.project or engine.core.settings.project, "namespace": question.namespace,
    }  # fmt: skip


def _golden_score(
    engine: Engine, expected: Mapping[str, Expected], variant: Variant, now: int, question: GoldenQuestion
) -> QuestionScore:
    own = expected[question.id]
    rows = ranked(engine, question.query, key_of=own.key_of, **asking(engine, question, variant, now))
    keys = [row.key for row in rows]
    # What the store does not hold is expected all the same, and never found.
    names = {target.key: target.name for target in own.targets} | {name: name for name in own.unknown}
    gold = {key: float(question.grades.get(name, 1)) for key, name in names.items()}
    ranks = _ranks(keys, {target.name: target.key for target in own.targets}) | dict.fromkeys(own.unknown)
    recall = engine.recall(engine.recalls.query(question.query, **asking(engine, question, variant, now)))
    delivered = dict.fromkeys(own.key_of(result.memory) for result in recall.results)
    right = sum(gold.get(key, 0.0) > 0 for key in delivered)
    return QuestionScore(
        question.id, question.query, ranks, measured(GOLDEN, keys, gold), question.tags,
        delivered=Delivered(len(delivered), right, sum(grade > 0 for grade in gold.values())),
    )  # fmt: skip


# ── what a golden set expects and its first ten lack ──

# A ranking is measured before any budget, and so is what is missing from it.
UNBOUNDED = 1_000_000_000


class Miss(Struct, frozen=True):
    question: str
    query: str
    expected: str
    rank: int | None
    why: WhyNot | None  # the engine's own answer; None where the store holds nothing of that name

    @property
    def sentence(self) -> str:
        if self.why is None:
            return "the store holds no file and no memory of this name"
        if not isinstance(self.why, KeptOut):
            return f"asked for {READ} results alone, it is there: {self.why.sentence}"
        margin = self.why.missed.score
        lacks = "" if margin is None else f", {margin:.4f} under the last result"
        return f"{self.why.dropped_by.stage} ({self.why.dropped_by.name}): {self.why.dropped_by.reason}{lacks}"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.question, "query": self.query, "expected": self.expected, "rank": self.rank,
            "sentence": self.sentence, "whyNot": None if self.why is None else self.why.to_json(),
        }  # fmt: skip


def misses(
    engine: Engine, golden: GoldenSet, expected: Mapping[str, Expected], variant: Variant, run: Run, *, now: int
) -> list[Miss]:
    """Asked as a user asks, for the first ten: each takes a recall or more, so only who wants to know pays for it."""
    missed: list[Miss] = []
    for question, scored in zip(golden.questions, run.questions, strict=True):
        options = asking(engine, question, variant, now)
        options |= {"limit": READ, "budget": UNBOUNDED, "tokens": UNBOUNDED, "cut": False}
        for target in expected[question.id].targets:
            rank = scored.ranks[target.name]
            if rank is None or rank > READ:
                memory = _nearest(engine, engine.recalls.question(question.query, **options), target)
                why = None if memory is None else engine.why_not(memory, question.query, **options)
                missed.append(Miss(question.id, question.query, target.name, rank, why))
        missed += [Miss(question.id, question.query, name, None, None) for name in expected[question.id].unknown]
    return missed


def _nearest(engine: Engine, query: Query, target: Target) -> str | None:
    """The section that came nearest, by a recall that follows all of them without their taking part."""
    if len(target.memories) < 2:
        return next(iter(target.memories), None)
    walk = Walk(engine.recalls.ledger(structs.replace(query, watch=target.memories)))

    def distance(fate: Fate) -> tuple[bool, bool, float, str]:
        return bool(fate.gates), not fate.proposed, -fate.score, fate.id

    return min((walk.fate(id) for id in target.memories), key=distance).id
