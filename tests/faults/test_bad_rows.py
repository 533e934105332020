"""A row that holds what it may not: refused when it is written, and never fatal where it is there all the same."""

from __future__ import annotations

import io
import math
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lived import lived_in
from recallens import Engine
from recallens.cli.main import main
from recallens.errors import InvalidInput, RecallensError
from recallens.model.memory import Session
from recallens.store.nouns import NOUNS, FieldKind, Noun, NounField
from standing import FixedClock, Open


@pytest.mark.parametrize("at", [math.inf, "x", 2.5, True, 10**400, -math.inf, b"x"])
def test_a_time_that_is_none_is_refused_at_the_door(at: Any, engine: Engine) -> None:
    old, new = (engine.remember(f"The cache holds {n} rows").id for n in range(2))
    refused: list[Callable[[], Any]] = [
        lambda: engine.supersede(old, new, at=at),
        lambda: engine.sessions.start("s", started=at),
        lambda: engine.sessions.put([Session("s", "default", at)]),
        lambda: engine.remember("A text", created=at),
        lambda: engine.remember("A text", valid_until=at),
    ]
    for call in refused:
        with pytest.raises(InvalidInput):
            call()
    assert [result.memory.id for result in engine.search("cache rows", cut=False).results] != []
    assert engine.maintenance.doctor().problems == []


def test_the_store_refuses_it_from_everybody_else(engine: Engine) -> None:
    """Also from a program that writes to the file by itself."""
    engine.remember("The cache holds rows", session="s")
    for statement in (
        "UPDATE memories SET status = 'lost'", "UPDATE memories SET created = 'x'", "UPDATE memories SET tags = '{'",
        "UPDATE memories SET valid_until = 9e999", "UPDATE memories SET importance = 7",
        "UPDATE sessions SET started = 'x'",
        "INSERT INTO sessions (ns, id, started) VALUES (1, 's2', 'x')", "UPDATE session_memories SET usage = 'thrown'",
    ):  # fmt: skip
        with sqlite3.connect(engine.core.store.location) as raw, pytest.raises(sqlite3.IntegrityError, match="may not"):
            raw.execute(statement)


NO_UTF8 = "CAST(x'ff' AS TEXT)"
# All of them with RECALLENS_SPOILS=1: some five minutes.
EVERY = 1 if os.environ.get("RECALLENS_SPOILS") else 23
BAD: dict[FieldKind, tuple[str, ...]] = {
    FieldKind.TEXT: ("x'ff00'", NO_UTF8),
    FieldKind.WHOLE: ("'x'", "9e999"),
    FieldKind.NUMBER: ("'x'", "9e999"),
    FieldKind.SHARE: ("'x'", "7"),
    FieldKind.TIME: ("'x'", "9e999", "9000000000000000000"),
    FieldKind.FLAG: ("'x'", "7"),
    FieldKind.LIST: ("'{'", "'{}'", "'[1,'", "7"),
    FieldKind.RECORD: ("'{'", "'[]'", "7"),
    FieldKind.BYTES: ("'x'",),
}
# Spoilt by their numbers alone, rows refer to nothing; the keys of a table are no fields that can be spoilt.
KEYS = {"id", "num", "key", "name", "vault", "session", "path", "number", "kind", "input", "data", "root", "branch"}


# Whoever looks at the log, or syncs a vault, may be told that it is damaged; a vector is no row of its own to anybody.
APART = ("namespace", "vector")


def spoils() -> Iterator[tuple[Noun, NounField, str]]:
    for noun in NOUNS.values():
        for field in noun.fields:
            if noun.of != "store" and noun.name not in APART and field.column not in KEYS:
                for value in BAD.get(field.kind, ()):
                    yield noun, field, value
                if field.options:
                    yield noun, field, "'lost'"


def reads(engine: Engine) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "search", lambda: engine.search("how long are lookups cached", session="s2", cut=False)
    yield "xray", lambda: engine.xray("who fixed the login last week")
    yield "context", lambda: engine.context("fix the gateway")
    yield "retrieve", lambda: engine.retrieve("캐시는 얼마나")
    yield "layers", lambda: engine.layers.search("what failed in the gateway")
    yield "get", lambda: engine.get("m2")
    yield "lineage", lambda: engine.memories.lineage("m31")
    yield "timeline", lambda: engine.layers.timeline("m2")
    yield "details", lambda: engine.layers.details("m2")
    yield "sessions", lambda: [engine.sessions.recent(), engine.sessions.report("s1")]
    yield "tasks", lambda: engine.tasks.recent()
    yield "review", lambda: engine.memories.awaiting_review()
    yield "survey", lambda: engine.maintenance.survey()
    yield "vaults", lambda: [engine.vaults.all(), engine.vaults.counts(), engine.vaults.sync("notes")]
    yield "audit", lambda: [engine.audit.verify(), engine.audit.anomalies()]
    yield "citations", lambda: engine.maintenance.citations.check()
    yield "remember", lambda: engine.remember("One more text about the gateway")
    yield "export", lambda: engine.maintenance.transfer.write(io.BytesIO(), tokens=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    clock = FixedClock()
    with Engine.open(folder / "whole.db", encoder="hashing", clock=clock) as engine:
        lived_in(engine, clock, folder)
        engine.core.store.compact()
    return folder / "whole.db"


def test_a_row_that_is_bad_all_the_same_is_named_left_out_and_never_fatal(
    whole: Path, tmp_path: Path, clock: FixedClock
) -> None:
    """Every field of every noun, spoilt in every row that has one, one at a time."""
    clock.advance(days=2)
    fatal, unnamed = [], []
    for at, (noun, field, value) in enumerate(list(spoils())[::EVERY]):
        path = tmp_path / f"{at}.db"
        path.write_bytes(whole.read_bytes())
        told = f"{noun.name}.{field.column} = {value}"
        with sqlite3.connect(path) as raw:
            for (trigger,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
                raw.execute(f'DROP TRIGGER "{trigger}"')
            where = f"rowid = (SELECT max(rowid) FROM {noun.table})" if _has_rowid(raw, noun.table) else "true"
            try:
                raw.execute(f'UPDATE {noun.table} SET "{field.column}" = {value} WHERE {where}')
            except sqlite3.Error:
                continue  # a key or an index holds only what it can
        raw.close()
        with Engine.open(path, clock=clock) as engine:
            named = any(noun.name in problem for problem in engine.maintenance.doctor().problems)
            if not named:
                unnamed.append(told)
            for name, read in reads(engine):
                try:
                    read()
                except RecallensError as error:
                    if name not in ("vaults", "audit"):
                        fatal.append(f"{told}: {name}: {error}")
                except Exception as error:  # what is looked for
                    fatal.append(f"{told}: {name}: {type(error).__name__}: {str(error)[:90]}")
        path.unlink()
    assert not fatal, "\n".join(fatal)
    assert not unnamed, "\n".join(unnamed)


def _has_rowid(raw: sqlite3.Connection, table: str) -> bool:
    try:
        raw.execute(f"SELECT rowid FROM {table} LIMIT 1")
    except sqlite3.OperationalError:
        return False
    return True


def test_a_recall_says_that_something_cannot_be_read(opened: Open, clock: FixedClock) -> None:
    engine = opened("bad.db")
    bad, good = (engine.remember(f"The cache holds {n} rows").id for n in (1, 2))
    raw = engine.core.store.connection
    raw.execute("DROP TRIGGER memories_sound_update")
    for spoilt in ("UPDATE memories SET status = 'lost', seq = seq WHERE id = ?", "UPDATE memories SET seq = seq + 1"):
        raw.execute(spoilt, (bad,) if "?" in spoilt else ())
        recall = engine.search("cache rows", cut=False)
        assert [result.memory.id for result in recall.results] == [good]
        assert "1 memory cannot be read" in str(recall.notice)
        raw.execute("UPDATE namespaces SET number = number + 1")
    assert engine.get(bad).status == "quarantined"
    (problem,) = [problem for problem in engine.maintenance.doctor().problems if problem.startswith("row:")]
    assert problem.startswith(f"row: memory {bad!r}: status is 'lost', not one of: active, pending_review, ")


def test_an_export_goes_on_past_what_is_no_text_and_says_so(whole: Path, tmp_path: Path) -> None:
    path, target = tmp_path / "s.db", tmp_path / "out.jsonl"
    path.write_bytes(whole.read_bytes())
    with sqlite3.connect(path) as raw:
        for (trigger,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            raw.execute(f'DROP TRIGGER "{trigger}"')
        raw.execute(f"UPDATE memories SET content = {NO_UTF8} WHERE num = 3")
        raw.execute(f"UPDATE sessions SET title = {NO_UTF8} WHERE id = 's1'")
        raw.execute(f"UPDATE artifacts SET content = {NO_UTF8}")
    raw.close()
    done = CliRunner().invoke(main, ["export", str(target), "--store", str(path)])
    assert done.exit_code == 4, done.output
    assert "1 session" in done.stderr
    assert "1 memory" in done.stderr
    assert "1 log" in done.stderr
    told = CliRunner().invoke(main, ["doctor", "--store", str(path)])
    assert "memory m3: content is no text, its bytes are no UTF-8" in told.output
    assert "session s1: title is no text, its bytes are no UTF-8" in told.output
    with Engine.open(tmp_path / "new.db", encoder="hashing", create=True) as fresh:
        assert fresh.maintenance.transfer.load(target).memories > 30
        assert fresh.maintenance.doctor().problems == []
