"""A judged set in a folder: what to ingest, what to ask, what is right. The format is in docs/evaluation.md."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from recallens.errors import InvalidInput, NotFound
from recallens.ingest.validate import option, parse_when, text_content

INFO, UNITS, QUERIES, JUDGEMENTS, HAYSTACKS = (
    "dataset.json", "units.jsonl.gz", "queries.jsonl.gz", "qrels.tsv", "haystacks.jsonl.gz",
)  # fmt: skip
Record = TypeVar("Record", bound=Struct)
JUDGEMENT_FIELDS = ("query-id", "unit-id", "group-id", "grade")


class Scoring(StrEnum):
    """A conversation is scored by session as well as by turn; documents by document alone."""

    CONVERSATION = "conversation"
    DOCUMENTS = "documents"


class Unit(Struct, frozen=True):
    id: str
    text: str
    group: str | None = None
    position: int | None = None
    speaker: str | None = None
    at: int | None = None
    title: str | None = None
    path: str | None = None


class JudgedQuestion(Struct, frozen=True):
    id: str
    text: str
    type: str | None = None
    at: int | None = None
    haystack: str | None = None
    answerable: bool = True


class Gold(Struct, frozen=True):
    """What is right for one question: the grade of each unit, and of each session by its best unit."""

    units: Mapping[str, float]
    groups: Mapping[str, float]


class Haystack(Struct, frozen=True):
    """What some questions see: sessions in the order in which they happened."""

    id: str | None  # None for the one haystack of a set that has no others: everything
    groups: tuple[str, ...] = ()
    at: tuple[int, ...] | None = None  # the dates of the sessions, where these are its own


class Dataset(Struct, frozen=True, eq=False):
    name: str
    scoring: Scoring
    units: tuple[Unit, ...]
    questions: tuple[JudgedQuestion, ...]
    gold: Mapping[str, Gold]
    haystacks: tuple[Haystack, ...]
    left_out: int = 0  # units that no memory can be made of: they have neither a text nor a title

    def seen_in(self, haystack: Haystack) -> list[Unit]:
        """The units of a haystack as they happened."""
        if haystack.id is None:
            return sorted(self.units, key=lambda unit: (unit.at or 0, unit.group or "", unit.position or 0))
        by_group: dict[str | None, list[Unit]] = defaultdict(list)
        for unit in sorted(self.units, key=lambda unit: unit.position or 0):
            by_group[unit.group].append(unit)
        return [unit for group in haystack.groups for unit in by_group.get(group, ())]

    def dates_in(self, haystack: Haystack) -> Mapping[str, int]:
        """The sessions that the haystack itself dates."""
        return dict(zip(haystack.groups, haystack.at, strict=True)) if haystack.at is not None else {}

    def questions_of(self, haystack: Haystack) -> list[JudgedQuestion]:
        return [question for question in self.questions if haystack.id is None or question.haystack == haystack.id]

    def is_judged(self, question: JudgedQuestion) -> bool:
        return question.answerable and question.id in self.gold


def absolute_time(text: str) -> int:
    """In milliseconds. A time relative to now would make another question of it tomorrow."""
    return parse_when(text, now_ms=0)


def folders_in(folder: Path) -> list[Path]:
    """The folder of a set, or those of all sets that a folder holds, by name."""
    if (folder / INFO).is_file() or not folder.is_dir():
        return [folder]
    return sorted(path.parent for path in folder.glob(f"*/{INFO}")) or [folder]


def read_dataset(folder: Path) -> Dataset:
    if not (folder / INFO).is_file():
        raise NotFound(
            f"no evaluation set in {folder}: it has no {INFO}",
            hint=f"A set is a folder with {INFO}, {UNITS}, {QUERIES} and {JUDGEMENTS}; see docs/evaluation.md.",
        )
    info = _object(folder / INFO, (folder / INFO).read_text(encoding="utf-8"))
    questions = tuple(_read(folder / QUERIES, partial(_dated, JudgedQuestion)))
    haystacks = tuple(_read(folder / HAYSTACKS, _haystack)) if (folder / HAYSTACKS).exists() else (Haystack(None),)
    ids = {haystack.id for haystack in haystacks}
    lost = next((question for question in questions if None not in ids and question.haystack not in ids), None)
    if lost is not None:
        raise InvalidInput(f"{folder / QUERIES}: question {lost.id} asks an unknown haystack, {lost.haystack!r}")
    units = list(_read(folder / UNITS, partial(_dated, Unit)))
    usable = tuple(filter(None, map(_with_text, units)))
    return Dataset(
        str(info.get("name") or folder.name), option(Scoring, info.get("kind"), f"kind in {folder / INFO}"),
        usable, questions, _gold(folder / JUDGEMENTS), haystacks, len(units) - len(usable),
    )  # fmt: skip


def _with_text(unit: Unit) -> Unit | None:
    """A title stands for the text of a unit that has none."""
    for text in (unit.text, unit.title):
        try:
            text_content(text)
        except InvalidInput:
            continue
        return unit if text is unit.text else replace(unit, text=text)
    return None


def _present(path: Path) -> Path:
    if not path.is_file():
        raise NotFound(f"{path} is missing", hint="See docs/evaluation.md for the files of a set.")
    return path


def _gold(path: Path) -> dict[str, Gold]:
    units: dict[str, dict[str, float]] = defaultdict(dict)
    groups: dict[str, dict[str, float]] = defaultdict(dict)
    with _present(path).open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if tuple(rows.fieldnames or ()) != JUDGEMENT_FIELDS:
            raise InvalidInput(f"{path}: the first line must name the columns {', '.join(JUDGEMENT_FIELDS)}")
        for row in rows:
            try:
                grade = float(row["grade"])
            except (TypeError, ValueError) as error:
                raise InvalidInput(f"{path}:{rows.line_num}: the grade {row['grade']!r} is no number") from error
            for grades, id in ((units[row["query-id"]], row["unit-id"]), (groups[row["query-id"]], row["group-id"])):
                if id:
                    grades[id] = max(grade, grades.get(id, 0.0))
    return {query: Gold(units[query], groups[query]) for query in units if units[query] or groups[query]}


def _read(path: Path, record: Callable[[Mapping[str, Any]], Record]) -> Iterator[Record]:
    number = 0
    try:
        with gzip.open(_present(path), "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):  # noqa: B007 (the errors below name it)
                if line.strip():
                    yield record(_object(path, line))
    except KeyError as error:
        raise InvalidInput(f"{path}:{number}: no field {error.args[0]!r}") from error
    except (InvalidInput, OSError, UnicodeDecodeError, EOFError) as error:
        raise InvalidInput(f"{path}:{number}: {error}") from error


def _object(path: Path, text: str) -> Mapping[str, Any]:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path.name} is no JSON: {error}") from error
    if not isinstance(record, dict):
        raise InvalidInput(f"{path.name} must hold JSON objects, not {text.strip()[:40]!r}")
    return record


def _dated(kind: type[Record], record: Mapping[str, Any]) -> Record:
    """A unit or a question, whose date is read. Other fields are taken as they are, and unknown ones left out."""
    fields = {"id": record["id"], "text": record["text"]}
    fields |= {name: value for name, value in record.items() if name in kind.__struct_fields__}
    return kind(**fields | ({"at": absolute_time(record["at"])} if record.get("at") is not None else {}))


def _haystack(record: Mapping[str, Any]) -> Haystack:
    groups, dates = tuple(record["groups"]), record.get("at")
    if dates is not None and len(dates) != len(groups):
        raise InvalidInput(f"haystack {record['id']} has {len(groups)} groups and {len(dates)} dates")
    return Haystack(record["id"], groups, None if dates is None else tuple(map(absolute_time, dates)))
