"""A run as it is kept: what each question expected, where that stood, and its metrics. One form for every set."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recallens import __version__
from recallens.errors import InvalidInput, NotFound
from recallens.evaluate.dataset import Scoring
from recallens.evaluate.running import Run

DECIMALS = 6
SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class Scored:
    """`ranks` is where each expected thing stood, from 1; None where it was not found."""

    id: str
    query: str
    ranks: Mapping[str, int | None]
    metrics: Mapping[str, float]
    tags: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id, "query": self.query, "tags": list(self.tags), "ranks": dict(self.ranks),
            "metrics": {name: round(value, DECIMALS) for name, value in self.metrics.items()},
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Record:
    """`options` are those of the query that differ from the preset's own, as a sweep sets them."""

    set: str
    preset: str
    encoder: str
    questions: tuple[Scored, ...]
    seconds: float
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return " ".join((self.preset, *(f"{name}={value}" for name, value in self.options.items())))

    @property
    def metrics(self) -> dict[str, float]:
        return means(self.questions)

    def to_json(self) -> dict[str, Any]:
        return {
            "set": self.set, "preset": self.preset, "options": dict(self.options), "encoder": self.encoder,
            "metrics": self.metrics, "seconds": round(self.seconds, 3),
            "questions": [question.to_json() for question in self.questions],
        }  # fmt: skip


def means(questions: Iterable[Scored]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for question in questions:
        for name, value in question.metrics.items():
            values[name].append(value)
    return {name: round(sum(found) / len(found), DECIMALS) for name, found in values.items()}


def by_tag(record: Record) -> dict[str, dict[str, float]]:
    tagged: dict[str, list[Scored]] = defaultdict(list)
    for question in record.questions:
        for tag in question.tags:
            tagged[tag].append(question)
    return {tag: means(own) for tag, own in sorted(tagged.items())}


def ranks_in(ranked: Sequence[str], wanted: Mapping[str, str]) -> dict[str, int | None]:
    """By name, the place of its key."""
    places = {key: rank for rank, key in reversed(list(enumerate(ranked, start=1)))}
    return {name: places.get(key) for name, key in wanted.items()}


def of_dataset(run: Run) -> Record:
    """By session for conversations, by document for documents, as its metrics are."""
    by_session = run.dataset.scoring is Scoring.CONVERSATION
    questions = []
    for answer in run.scored:
        gold = run.dataset.gold[answer.question.id]
        right = gold.groups if by_session else gold.units
        ranked = answer.groups if by_session else [place.unit for place in answer.places]
        ranks = ranks_in(ranked, {id: id for id, grade in sorted(right.items()) if grade > 0})
        tags = () if answer.question.type is None else (answer.question.type,)
        questions.append(Scored(answer.question.id, answer.question.text, ranks, answer.metrics, tags))
    return Record(run.dataset.name, run.preset, run.encoder, tuple(questions), run.seconds)


# ── in a file ──


def write_records(path: Path, records: Sequence[Record]) -> None:
    if path.suffix != SUFFIX:  # so that a slip cannot write over somebody's questions
        raise InvalidInput(f"a run is written to a file whose name ends in {SUFFIX}, not to {path.name}")
    held = {"recallens": __version__, "runs": [record.to_json() for record in records]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written to ({error.strerror})", hint="Use another --out.") from error


def read_records(path: Path) -> list[Record]:
    try:
        return [_record(run) for run in json.loads(path.read_text(encoding="utf-8"))["runs"]]
    except FileNotFoundError as error:
        raise NotFound(f"no run in {path}", hint="`recallens eval … --out FILE.json` writes one.") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(
            f"{path} holds no run that was written by --out", hint="`recallens eval … --out FILE.json` writes one."
        ) from error


def _record(run: Mapping[str, Any]) -> Record:
    questions = tuple(
        Scored(
            str(one["id"]), str(one["query"]),
            {str(name): None if rank is None else int(rank) for name, rank in one["ranks"].items()},
            {str(name): float(value) for name, value in one["metrics"].items()},
            tuple(map(str, one["tags"])),
        )
        for one in run["questions"]
    )  # fmt: skip
    options = {str(name): str(value) for name, value in run["options"].items()}
    return Record(run["set"], run["preset"], run["encoder"], questions, float(run["seconds"]), options)
