"""Golden sets that people rate: how right each result of a question is, kept beside the store as `eval` reads it."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound, StoreReadOnly
from recallens.evaluate.golden import GRADES, GoldenQuestion, GoldenSet, read_golden
from recallens.evaluate.golden_running import Variant, expectations, run_golden
from recallens.evaluate.shelf import folder_of
from recallens.text.normalize import clean

SUFFIX = ".yaml"
# A page waits for them; `recallens eval` asks all.
LATEST = 50
_NAME = re.compile(r"\w[\w -]{0,63}")
# One writer at a time: a set is read, changed and written whole.
_writing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Standing:
    """How well questions of a set are answered now: nDCG@10 by question's id, and the mean. `total` counts all of the
    set, of which the latest were asked.
    """

    questions: tuple[GoldenQuestion, ...]
    ndcg: Mapping[str, float]
    total: int

    @property
    def mean(self) -> float | None:
        return sum(self.ndcg.values()) / len(self.ndcg) if self.ndcg else None


def rated_sets(engine: Engine, *, namespace: str) -> list[str]:
    folder = folder_of(str(engine.core.store.location), namespace)
    return sorted(path.stem for path in folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []


def rated_path(engine: Engine, name: str, *, namespace: str) -> Path:
    wanted = clean(name).strip()
    if not _NAME.fullmatch(wanted):
        raise InvalidInput(f"{name!r} is no name for a set; use up to 64 letters, digits, blanks and - _")
    return folder_of(str(engine.core.store.location), namespace) / f"{wanted}{SUFFIX}"


def rated_questions(engine: Engine, name: str, *, namespace: str) -> tuple[GoldenQuestion, ...]:
    path = rated_path(engine, name, namespace=namespace)
    if not path.is_file():
        return ()
    return read_golden(path).questions


def rate(engine: Engine, name: str, query: str, grades: Mapping[str, int], *, namespace: str) -> GoldenQuestion:
    """Keep what was said of a question's results; what was said of others before stays. Gives the question as kept."""
    if engine.core.store.read_only:
        raise StoreReadOnly(f"{engine.core.store.location} cannot be written to", hint="Rate in a copy of it.")
    wrong = [grade for grade in grades.values() if grade not in GRADES]
    if wrong:
        raise InvalidInput(f"a grade is one of 0, 1, 2, 3, not {wrong[0]!r}")
    asked = clean(query).strip()
    if not asked:
        raise InvalidInput("the question is empty: there is nothing to rate")
    path = rated_path(engine, name, namespace=namespace)
    with _writing:
        kept = list(read_golden(path).questions) if path.is_file() else []
        at = next((at for at, one in enumerate(kept) if one.query == asked), None)
        before = kept[at].grades if at is not None else {}
        whole = {**before, **grades}
        expect = tuple(id for id, grade in whole.items() if grade > 0)
        if not expect:
            raise InvalidInput("nothing is rated above 0", hint="A question counts once one result is rated 1 or more.")
        if at is None:
            question = GoldenQuestion(asked, asked, expect, namespace=namespace, grades=whole)
            kept.append(question)
        else:
            question = kept[at] = replace(kept[at], expect=expect, grades=whole)
        _write(path, kept)
    return question


def standing(engine: Engine, name: str, *, namespace: str, now: int, latest: int = LATEST) -> Standing:
    """Asked as `recallens eval` asks: the same path, the same formula."""
    every = rated_questions(engine, name, namespace=namespace)
    questions = every[-latest:]
    if not questions:
        return Standing((), {}, 0)
    golden = GoldenSet(name, questions)
    try:
        expected = expectations(engine, golden)
    except NotFound:  # everything that was rated is gone from the store
        return Standing(questions, dict.fromkeys((one.id for one in questions), 0.0), len(every))
    run = run_golden(engine, golden, expected, Variant(engine.core.settings.preset), now=now)
    return Standing(questions, {one.id: one.metrics["ndcg@10"] for one in run.record.questions}, len(every))


def _write(path: Path, questions: list[GoldenQuestion]) -> None:
    """All of it or nothing: the old set stands until the new one is on the disk."""
    head = f"# Rated on the page. recallens eval '{path.name}' measures it.\n"
    text = head + yaml.safe_dump([_record(one) for one in questions], allow_unicode=True, sort_keys=False, width=120)
    path.parent.parent.mkdir(mode=0o700, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _record(question: GoldenQuestion) -> dict[str, Any]:
    record: dict[str, Any] = {"query": question.query, "expect": list(question.expect)}
    if question.grades:
        record["grades"] = dict(question.grades)
    if question.id != question.query:
        record["id"] = question.id
    if question.tags:
        record["tags"] = list(question.tags)
    if question.now is not None:
        record["now"] = question.now
    named = {"project": question.project, "namespace": question.namespace}
    return record | {name: value for name, value in named.items() if value is not None}
