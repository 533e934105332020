"""A run: what each question of a set gave under one ranking. Judged and golden sets share it, here and in files."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from recallens import __version__
from recallens.errors import InvalidInput, NotFound

DECIMALS = 6
SUFFIX = ".json"


class Place(Struct, frozen=True):
    """One result, by the judged set's own ids."""

    unit: str
    group: str | None
    score: float


class Delivered(Struct, frozen=True):
    """What a caller gets who names no number: how much, how much of it is right, and how much there was to be got."""

    size: int
    right: int
    gold: int


class QuestionScore(Struct, frozen=True):
    """`metrics` is empty for a question without an answer."""

    id: str
    query: str
    ranks: Mapping[str, int | None]  # where each expected thing stood, from 1; None where it was not found
    metrics: Mapping[str, float]
    tags: tuple[str, ...] = ()
    # Only a judged set measures these, and no file of runs keeps them.
    answerable: bool = True
    hit: bool = False  # something right is among the results that are read
    places: tuple[Place, ...] = ()
    confidences: Mapping[str, float] = {}
    delivered: Delivered | None = None
    judged: tuple[tuple[float, bool], ...] = ()  # the relevance of each of the first results, and whether it is right

    def to_json(self) -> dict[str, Any]:
        metrics = {name: round(value, DECIMALS) for name, value in self.metrics.items()}
        tags, ranks = list(self.tags), dict(self.ranks)
        return {"id": self.id, "query": self.query, "tags": tags, "ranks": ranks, "metrics": metrics}


class Run(Struct, frozen=True):
    """One set under one preset, and the time that its recalls took."""

    set: str
    preset: str
    encoder: str
    questions: tuple[QuestionScore, ...]
    seconds: float
    options: Mapping[str, str] = {}  # those of the query that differ from the preset's own, as a sweep sets them
    left_out: int = 0  # units of the set that have neither a text nor a title

    @property
    def label(self) -> str:
        return " ".join((self.preset, *(f"{name}={value}" for name, value in self.options.items())))

    @property
    def scored(self) -> list[QuestionScore]:
        return [question for question in self.questions if question.metrics]

    @property
    def metrics(self) -> dict[str, float]:
        return means(self.questions)

    @property
    def metrics_by_tag(self) -> dict[str, dict[str, float]]:
        tags = sorted({tag for question in self.scored for tag in question.tags})
        return {tag: means(question for question in self.scored if tag in question.tags) for tag in tags}

    def to_json(self) -> dict[str, Any]:
        return {
            "set": self.set, "preset": self.preset, "options": dict(self.options), "encoder": self.encoder,
            "metrics": self.metrics, "seconds": round(self.seconds, 3),
            "questions": [question.to_json() for question in self.scored],
            **({"left_out": self.left_out} if self.left_out else {}),
        }  # fmt: skip


def means(questions: Iterable[QuestionScore]) -> dict[str, float]:
    values: dict[str, list[float]] = defaultdict(list)
    for question in questions:
        for name, value in question.metrics.items():
            values[name].append(value)
    return {name: round(sum(numbers) / len(numbers), DECIMALS) for name, numbers in values.items()}


class _RunFile(Struct):
    runs: list[Run]


def write_runs(path: Path, runs: Sequence[Run]) -> None:
    if path.suffix != SUFFIX:  # so that a slip cannot write over somebody's questions
        raise InvalidInput(f"a run is written to a file whose name ends in {SUFFIX}, not to {path.name}")
    content = {"recallens": __version__, "runs": [run.to_json() for run in runs]}
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_runs(path: Path) -> list[Run]:
    hint = "`recallens eval … --out FILE.json` writes one."
    try:
        return msgspec.json.decode(path.read_bytes(), type=_RunFile).runs
    except FileNotFoundError as error:
        raise NotFound(f"no run in {path}", hint=hint) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} holds no run that was written by --out", hint=hint) from error


def write_lists(folder: Path, runs: Iterable[Run]) -> list[Path]:
    """The ranked lists of judged sets: one file a set and preset, one question a line."""
    paths = []
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for run in runs:
            records = (
                {
                    "query": question.id, "type": next(iter(question.tags), None), "answerable": question.answerable,
                    "ranked": msgspec.to_builtins(question.places), "metrics": question.metrics,
                    "confidence": question.confidences,
                }
                for question in run.questions
            )  # fmt: skip
            paths.append(folder / f"{run.set}.{run.preset}.jsonl")
            lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            paths[-1].write_text("".join(lines), encoding="utf-8")
    return paths


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written to ({error.strerror})", hint="Use another --out.") from error
