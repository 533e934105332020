"""A golden set: questions about the user's own store, and what answers each. docs/evaluation.md has the format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path

import yaml
from msgspec import Struct

from recallens.errors import InvalidInput, NotFound
from recallens.evaluate.dataset import absolute_time
from recallens.text.normalize import clean

FIELDS = ("query", "expect", "grades", "id", "tags", "now", "project", "namespace")
# What a person may say of a result: not relevant, somewhat, relevant, exactly what was asked for.
GRADES = (0, 1, 2, 3)
LINES_SUFFIXES = (".jsonl", ".ndjson")
SUFFIXES = (".yaml", ".yml", *LINES_SUFFIXES)
_EXAMPLE = "For example: - query: how long are lookups cached, then expect: [architecture/cache.md] under it."


class GoldenQuestion(Struct, frozen=True):
    """Where a time, a project or a namespace is None, the settings decide."""

    id: str
    query: str
    expect: tuple[str, ...]  # names of files or memories, all of them right
    tags: tuple[str, ...] = ()
    now: int | None = None
    project: str | None = None
    namespace: str | None = None
    grades: Mapping[str, int] = {}  # how right each name is; 1 where nothing stands here


class GoldenSet(Struct, frozen=True):
    name: str
    questions: tuple[GoldenQuestion, ...]


def read_golden_sets(paths: Sequence[Path]) -> list[GoldenSet]:
    """Sets are told apart by their names, here and in stored runs, so two may not share one."""
    sets = [read_golden(path) for path in dict.fromkeys(paths)]
    for name, count in Counter(golden.name for golden in sets).items():
        if count > 1:
            raise InvalidInput(f"two sets are called {name!r}", hint="Rename one: a set is called as its file.")
    return sets


def read_golden(path: Path) -> GoldenSet:
    questions: dict[str, GoldenQuestion] = {}
    for where, record in _records(path):
        try:
            question = _question(record)
        except InvalidInput as error:
            raise InvalidInput(f"{where}: {error.message}", hint=error.hint) from error
        if question.id in questions:
            raise InvalidInput(f"{where}: a second question {question.id!r}", hint="Give each an `id` of its own.")
        questions[question.id] = question
    if not questions:
        raise InvalidInput(f"{path} holds no questions", hint=_EXAMPLE)
    return GoldenSet(path.stem, tuple(questions.values()))


def _records(path: Path) -> Iterator[tuple[str, object]]:
    """Each record, and where it stands."""
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"{path} is no golden set: its name must end in one of {', '.join(SUFFIXES)}")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(f"no golden set {path}", hint="`recallens eval --init -o FILE` proposes one.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    if path.suffix.lower() in LINES_SUFFIXES:
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                try:
                    yield f"{path}:{number}", json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise InvalidInput(f"{path}:{number}: no JSON ({error})") from error
        return
    try:
        records = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is no YAML: {error}") from error
    if records is not None and not isinstance(records, list):
        raise InvalidInput(f"{path} must be a list of questions", hint=_EXAMPLE)
    yield from ((f"{path}, question {number}", record) for number, record in enumerate(records or (), start=1))


def _question(record: object) -> GoldenQuestion:
    if not isinstance(record, Mapping):
        raise InvalidInput(f"a question is a mapping, not {str(record)[:40]!r}", hint=_EXAMPLE)
    unknown = [str(name) for name in record if name not in FIELDS]
    if unknown:
        raise InvalidInput(f"unknown field {unknown[0]!r}; the fields are: {', '.join(FIELDS)}")
    query = _text("query", record.get("query"))
    if query is None:
        raise InvalidInput("it has no `query`", hint=_EXAMPLE)
    grades = _grades(record.get("grades"))
    named = _texts("expect", record.get("expect"))
    expect = tuple(dict.fromkeys((*named, *(name for name, grade in grades.items() if grade > 0))))
    if not expect:
        raise InvalidInput("it expects nothing; `expect` names files or memories", hint=_EXAMPLE)
    now = record.get("now")
    return GoldenQuestion(
        _text("id", record.get("id")) or query, query, expect, _texts("tags", record.get("tags")),
        None if now is None else absolute_time(now.isoformat() if isinstance(now, date) else now),
        _text("project", record.get("project")), _text("namespace", record.get("namespace")), grades,
    )  # fmt: skip


def _text(name: str, value: object) -> str | None:
    """A number is its digits: YAML reads `id: 7` and a memory's name of digits as numbers."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput(f"`{name}` must be text, not {value!r}", hint="Put it in quotes.")
    text = clean(str(value)).strip()
    if not text:
        raise InvalidInput(f"`{name}` is empty")
    return text


def _texts(name: str, value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    return tuple(dict.fromkeys(text for item in values if (text := _text(name, item)) is not None))


def _grades(value: object) -> dict[str, int]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput("`grades` must be a mapping of names to grades, for example {architecture/cache.md: 3}")
    grades: dict[str, int] = {}
    for name, grade in value.items():
        if isinstance(grade, bool) or grade not in GRADES:
            raise InvalidInput(f"the grade of {name!r} must be one of 0, 1, 2, 3, not {grade!r}")
        expected = _text("grades", name)
        assert expected is not None  # a mapping's key
        grades[expected] = grade
    return grades
