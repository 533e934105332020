"""Asking a set's questions as a user would: a store for each haystack, filled and asked through the engine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from recallens.config import Settings
from recallens.engine import Engine
from recallens.evaluate.confidence import confidences
from recallens.evaluate.dataset import Dataset, Question, Scoring, Unit
from recallens.evaluate.metrics import score
from recallens.index.encoders.protocol import Encoder
from recallens.ingest.draft import Draft
from recallens.model.ids import IdSource
from recallens.model.memory import FileCitation
from recallens.store.records import Prepared

# Documents are asked as a user asks, ten at a time. A session stands where its best turn stands, so ten sessions take
# more turns: with 50 and with 200 locomo-dev has 79.6 and 80.4 recall_all@5, 51.5 and 51.3 nDCG@10 by turn.
ROWS = {Scoring.CONVERSATION: 50, Scoring.DOCUMENTS: 10}
# When what has no date was said, and when a set without dates is asked: 2000-01-01.
UNDATED = 946_684_800_000
# Nothing here has to survive a power cut, so it goes where a write costs no disk, if there is such a place.
SHARED_MEMORY = Path("/dev/shm")

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Place:
    """One result, by the set's own ids."""

    unit: str
    group: str | None
    score: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One question's ranked list. `metrics` is empty for a question without an answer."""

    question: Question
    places: tuple[Place, ...]
    metrics: Mapping[str, float]
    confidences: Mapping[str, float]

    @property
    def groups(self) -> list[str]:
        return _distinct_groups(self.places)


@dataclass(slots=True)
class Run:
    """All that one preset answered on one set, and the time its recalls took."""

    dataset: Dataset
    preset: str
    encoder: str
    answers: list[Answer] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def scored(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.metrics]


class Filling(Engine):
    """An engine that prepares a unit once, however many haystacks hold it: they differ only in its date."""

    known: dict[str, Prepared]

    def _prepared(self, drafts: Sequence[Draft], namespace: str | None) -> list[Prepared]:
        rows = []
        for draft in drafts:
            row = self.known.get(draft.source_id or "")
            if row is None:
                (row,) = super()._prepared([draft], namespace)
                self.known[draft.source_id or ""] = row
            created = row.memory.created if draft.created is None else draft.created
            memory = replace(row.memory, id=self.new_id(), created=created, updated=created)
            rows.append(replace(row, memory=memory))
        return rows


def asked(dataset: Dataset, *, unanswerable: bool, most: int | None) -> list[Question]:
    """The questions of a run, in the set's order; ranking is measured on those that have an answer."""
    wanted = [one for one in dataset.questions if unanswerable or _is_judged(dataset, one)]
    return wanted[:most]


def steps(dataset: Dataset, questions: Sequence[Question], presets: Sequence[str]) -> int:
    """How far the progress of a run goes: each unit ingested and each question asked once a preset."""
    ids = {question.id for question in questions}
    units = sum(
        len(dataset.seen_in(haystack))
        for haystack in dataset.haystacks
        if any(question.id in ids for question in dataset.questions_of(haystack))
    )
    return units + len(questions) * len(presets)


def evaluate(
    dataset: Dataset,
    questions: Sequence[Question],
    presets: Sequence[str],
    *,
    encoder: Encoder | None,
    advance: Advance = lambda done: None,
) -> list[Run]:
    """One run a preset. Every haystack is ingested once and asked all of its questions under every preset."""
    key = str(encoder.key) if encoder is not None else "none"
    runs = [Run(dataset, preset, key) for preset in presets]
    wanted = {question.id for question in questions}
    known: dict[str, Prepared] = {}
    for haystack in dataset.haystacks:
        asking = [question for question in dataset.questions_of(haystack) if question.id in wanted]
        if not asking:
            continue
        units = dataset.seen_in(haystack)
        with _filled(units, dataset.dates_in(haystack), known, encoder, advance) as (engine, latest):
            for run in runs:
                started = time.perf_counter()
                for question in asking:
                    run.answers.append(_answer(engine, dataset, question, run.preset, latest))
                    advance(1)
                run.seconds += time.perf_counter() - started
    return runs


@contextmanager
def _filled(
    units: Sequence[Unit],
    dates: Mapping[str, int],
    known: dict[str, Prepared],
    encoder: Encoder | None,
    advance: Advance,
) -> Iterator[tuple[Engine, int]]:
    """A store that holds these units and nothing else, each as a memory of its own, and the time of the latest."""
    drafts = [_draft(unit, dates) for unit in units]
    latest = max((draft.created for draft in drafts if draft.created is not None), default=UNDATED)
    folder = SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="recallens-eval-", dir=folder) as place:
        settings = Settings(store=str(Path(place) / "store.db"), encoder="none" if encoder is None else "minilm")
        ids = IdSource(lambda: latest, lambda bits: 0)  # ties are settled by id: the same ids every time
        with Filling.open(settings=settings, encoder=encoder, clock=lambda: latest, ids=ids) as engine:
            engine.known = known
            # Two units that say the same are two units: whichever is judged must be there to be found.
            for batch in engine.remember_many(drafts, dedupe=False):
                advance(len(batch))
            engine.drain()
            yield engine, latest


def _draft(unit: Unit, dates: Mapping[str, int]) -> Draft:
    at = dates.get(unit.group, unit.at) if unit.group is not None else unit.at
    return Draft(
        unit.text,
        title=unit.title,
        source_id=unit.id,
        session=unit.group,
        position=unit.position,
        author=unit.speaker,
        created=UNDATED if at is None else at,
        citations=(FileCitation(unit.path),) if unit.path else (),
    )


def _answer(engine: Engine, dataset: Dataset, question: Question, preset: str, latest: int) -> Answer:
    now = latest if question.at is None else question.at
    recall = engine.recall(
        engine.query(question.text, preset=preset, limit=ROWS[dataset.scoring], now=now, certify=True)
    )
    places = tuple(
        Place(
            result.memory.source_id or "",
            result.source_session.id if result.source_session is not None else None,
            result.score,
        )
        for result in recall.results
    )
    metrics = {}
    if _is_judged(dataset, question):
        units = [place.unit for place in places]
        metrics = score(dataset.scoring, units, _distinct_groups(places), dataset.gold[question.id])
    return Answer(question, places, metrics, confidences(recall))


def _is_judged(dataset: Dataset, question: Question) -> bool:
    return question.answerable and question.id in dataset.gold


def _distinct_groups(places: Sequence[Place]) -> list[str]:
    """Sessions in the order of their best turns."""
    return list(dict.fromkeys(place.group for place in places if place.group is not None))
