"""Golden sets and their runs that lie beside a store, by namespace, so that a surface can name them without a path.

`STORE.golden/ns-NAME/SET.yaml` (or .jsonl) are sets, written by hand or rated on the page result by result;
`STORE.golden/ns-NAME/runs/ID.json` is what they measured.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound, StoreReadOnly
from recallens.evaluate.expectations import expectations
from recallens.evaluate.golden import FIELDS, GRADES, SUFFIXES, GoldenQuestion, GoldenSet, read_golden
from recallens.evaluate.harness import Variant, run_golden
from recallens.evaluate.runs import SUFFIX, Run, read_runs, write_runs
from recallens.text.normalize import clean

MOST_RUNS = 100
RATED_SUFFIX = ".yaml"
# A page waits for them; `recallens eval` asks all.
LATEST = 50
_NAME = re.compile(r"\w[\w. -]{0,199}")
_RATED_NAME = re.compile(r"\w[\w -]{0,63}")
# One writer at a time: a set is read, changed and written whole.
_writing = threading.Lock()


def folder_of(store: Path, namespace: str) -> Path:
    return Path(f"{store}.golden") / f"ns-{quote(namespace, safe='')}"


def set_names(folder: Path) -> list[str]:
    paths = folder.iterdir() if folder.is_dir() else ()
    return sorted({path.stem for path in paths if path.suffix in SUFFIXES and _NAME.fullmatch(path.stem)})


def golden_set(folder: Path, name: str) -> GoldenSet:
    for suffix in SUFFIXES:
        path = folder / f"{name}{suffix}"
        if _NAME.fullmatch(name) and path.is_file():
            return read_golden(path)
    names = ", ".join(set_names(folder)) or "none"
    raise NotFound(f"no golden set {name!r}; those beside the store are: {names}")


def within(golden: GoldenSet, namespace: str) -> GoldenSet:
    return replace(golden, questions=tuple(replace(question, namespace=namespace) for question in golden.questions))


def keep(folder: Path, run: Run, id: str) -> dict[str, Any]:
    name = f"{run.set}-{id}"
    write_runs(folder / "runs" / f"{name}{SUFFIX}", [run])
    return kept_run(folder, name)


def kept_run(folder: Path, id: str) -> dict[str, Any]:
    path = folder / "runs" / f"{id}{SUFFIX}"
    if not _NAME.fullmatch(id) or not path.is_file():
        raise NotFound(f"no recorded run {id!r}")
    (run, *_) = read_runs(path)
    return {"id": id, "at": int(path.stat().st_mtime * 1000), **run.to_json()}


def run_summaries(folder: Path) -> list[dict[str, Any]]:
    """The latest first."""
    paths = sorted((folder / "runs").glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
    runs = [kept_run(folder, path.stem) for path in paths[:MOST_RUNS] if _NAME.fullmatch(path.stem)]
    return [run | {"questions": len(run["questions"])} for run in runs]


class RatedScore(Struct, frozen=True):
    """How well a set is answered now whose results people rated, each by how right it is."""

    questions: tuple[GoldenQuestion, ...]  # the latest of the set, which were asked
    ndcg: Mapping[str, float]  # nDCG@10 by question's id
    total: int  # of all questions of the set

    @property
    def mean(self) -> float | None:
        return sum(self.ndcg.values()) / len(self.ndcg) if self.ndcg else None


def rated_sets(engine: Engine, *, namespace: str) -> list[str]:
    folder = folder_of(engine.core.store.beside, namespace)
    return sorted(path.stem for path in folder.glob(f"*{RATED_SUFFIX}")) if folder.is_dir() else []


def rated_path(engine: Engine, name: str, *, namespace: str) -> Path:
    wanted = clean(name).strip()
    if not _RATED_NAME.fullmatch(wanted):
        raise InvalidInput(f"{name!r} is no name for a set; use up to 64 letters, digits, blanks and - _")
    return folder_of(engine.core.store.beside, namespace) / f"{wanted}{RATED_SUFFIX}"


def rated_questions(engine: Engine, name: str, *, namespace: str) -> tuple[GoldenQuestion, ...]:
    path = rated_path(engine, name, namespace=namespace)
    return read_golden(path).questions if path.is_file() else ()


def rate(engine: Engine, name: str, query: str, grades: Mapping[str, int], *, namespace: str) -> GoldenQuestion:
    """Keep the grades of a question's results; earlier grades of other results stay. Gives the question as kept."""
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
        questions = list(read_golden(path).questions) if path.is_file() else []
        new = GoldenQuestion(asked, asked, (), namespace=namespace)
        at = next((at for at, question in enumerate(questions) if question.query == asked), len(questions))
        before = (*questions, new)[at]
        merged = {**before.grades, **grades}
        expect = tuple(id for id, grade in merged.items() if grade > 0)
        if not expect:
            raise InvalidInput("nothing is rated above 0", hint="A question counts once one result is rated 1 or more.")
        questions[at : at + 1] = [replace(before, expect=expect, grades=merged)]
        _write(path, questions)
    return questions[at]


def rated_score(engine: Engine, name: str, *, namespace: str, now: int, latest: int = LATEST) -> RatedScore:
    """Asked as `recallens eval` asks: the same path, the same formula."""
    every = rated_questions(engine, name, namespace=namespace)
    golden = GoldenSet(name, every[-latest:])
    if not every:
        return RatedScore((), {}, 0)
    try:
        expected = expectations(engine, golden)
    except NotFound:  # everything that was rated is gone from the store
        ndcg = {question.id: 0.0 for question in golden.questions}
    else:
        run = run_golden(engine, golden, expected, Variant(engine.core.settings.preset), now=now)
        ndcg = {question.id: question.metrics["ndcg@10"] for question in run.questions}
    return RatedScore(golden.questions, ndcg, len(every))


def _write(path: Path, questions: list[GoldenQuestion]) -> None:
    """All of it or nothing: the old set stands until the new one is on the disk."""
    head = f"# Rated on the page. recallens eval '{path.name}' measures it.\n"
    records = [_record(question) for question in questions]
    text = head + yaml.safe_dump(records, allow_unicode=True, sort_keys=False, width=120)
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
    record = to_builtins(question)
    fields = (name for name in FIELDS if name != "id" or question.id != question.query)
    return {name: record[name] for name in fields if record[name] not in (None, [], {})}
