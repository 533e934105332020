"""A store's own file whose disk gives back other bits: each is told by `doctor` or by whoever reads, or nothing that
anybody is given is another."""

from __future__ import annotations

import io
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lived import QUESTIONS, lived_in
from recallens import Draft, Engine
from recallens.errors import RecallensError
from recallens.operations.machine import next_step
from recallens.store.sqlite import damage
from standing import FixedClock

FLIPS = int(os.environ.get("RECALLENS_FLIPS", "40"))
THINGS = ("pump", "valve", "gate", "lamp", "밸브", "펌프")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store with something of every noun and over 200 memories, as one file."""
    folder, clock = tmp_path_factory.mktemp("flipped"), FixedClock()
    with Engine.open(folder / "s.db", encoder="hashing", create=True, clock=clock) as engine:
        lived_in(engine, clock, folder)
        drafts = [Draft(f"The {THINGS[n % 6]} {n} stands in hall {n * 7 % 50}", scopes=("hr",) if n % 9 == 0 else (),
                        author=f"a{n % 7}", project=("billing", None)[n % 2]) for n in range(200)]  # fmt: skip
        list(engine.memories.remember_many(drafts, dedupe=False))
        engine.encoder.drain()
        assert engine.maintenance.doctor().problems == []
    return (folder / "s.db").read_bytes()


def opened(path: Path) -> Engine:
    return Engine.open(path, encoder="hashing", clock=FixedClock())


def given(path: Path) -> list[Any]:
    """Whatever anybody is given: every row of every noun with its rights, and recalls by words, meaning and filters."""
    with opened(path) as engine:
        rows = io.BytesIO()
        lost = engine.maintenance.transfer.write(rows, vectors=True, tokens=True).unreadable
        recalls = [
            engine.search(question, limit=20, record=False, cut=False, **filters)
            for question in (*QUESTIONS, "valve in hall 7", "밸브 10")
            for filters in ({}, {"project": "billing"}, {"tags": ("t",)}, {"as_of": FixedClock().now})
        ]
        results = [[(each.memory.id, round(each.score, 9)) for each in recall.results] for recall in recalls]
        chains = [engine.audit.verify(namespace=name) for name in ("default", "other")]
        return [rows.getvalue(), lost, results, repr(chains)]


def problems(path: Path) -> list[str]:
    with opened(path) as engine:
        return list(engine.maintenance.doctor().problems)


def test_every_flipped_bit_of_the_store_is_told_or_changes_nothing(stored: bytes, tmp_path: Path) -> None:
    path, chance, ends = tmp_path / "s.db", random.Random(17), Counter[str]()
    wrong: list[str] = []
    path.write_bytes(stored)
    true = given(path)
    for _ in range(FLIPS):
        at, bit = chance.randrange(len(stored)), 1 << chance.randrange(8)
        damaged = bytearray(stored)
        damaged[at] ^= bit
        for suffix in ("-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(damaged)
        told, same = ["nobody"], False
        try:
            told = problems(path)
            same = given(path) == true
        except RecallensError:
            ends["refused"] += 1
            continue
        except Exception as error:  # whatever else it is, people see it as an error of ours
            wrong.append(f"bit {bit} of byte {at}: {error!r}")
        if not told and not same:
            wrong.append(f"bit {bit} of byte {at} changes an answer, and nobody says so")
        ends["told by doctor" if told else "harmless"] += 1
    print(f"\n{FLIPS} bits of {len(stored):,} bytes: {dict(ends)}")
    assert wrong == []
    assert ends["told by doctor"] > ends["harmless"] / 10


def test_every_table_is_under_digests_and_each_changed_field_is_named(stored: bytes, tmp_path: Path) -> None:
    """Past the triggers, with another hand: what nobody else would notice."""
    path, looked_at = tmp_path / "s.db", set[str]()
    path.write_bytes(stored)
    with opened(path) as engine:
        db = engine.core.store.connection
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            db.execute(f'DROP TRIGGER "{name}"')
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for table in set(tables) - {"digests", "migrations", "sqlite_sequence", "leases", "backlog"}:
            filled = db.execute(f"SELECT 1 FROM {table}").fetchone() is not None
            for _, column, sort, *_ in db.execute(f"PRAGMA table_info({table})").fetchall() if filled else ():
                place = f'"{column}"'
                other = {"TEXT": f"coalesce({place}, '') || 'x'", "BLOB": f"{place} || x'01'"}.get(
                    sort, f"coalesce({place}, 0) + 1000000"
                )
                if column == "details":  # an index reads it
                    other = """'{"other": 1}'"""
                db.execute("PRAGMA foreign_keys=OFF")
                db.execute("BEGIN")
                db.execute(f"UPDATE {table} SET {place} = {other}")
                told = list(damage.faults(db))
                db.execute("ROLLBACK")
                assert told, f"{table}.{column}"
                looked_at.add(table)
        assert list(damage.faults(db)) == []
    assert len(looked_at) >= 26, looked_at


def test_a_digest_that_is_no_number_any_more_differs_in_every_bit() -> None:
    """A flipped bit makes a number of the file a blob of it (de3966c: an error of Python's)."""
    stored = [(1, 7), (2, b"\0"), (b"\3", 9)]
    assert list(damage._kept(stored)) == [(1, 7), (2, damage.EVERY_BIT)]


def test_what_is_said_names_the_row_the_fields_and_the_next_step(stored: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(stored)
    with opened(path) as engine:
        db = engine.core.store.connection
        db.execute("""UPDATE memories SET scopes = '["hs"]' WHERE num = 32""")
        db.execute("UPDATE memories SET author = 'o7ner' WHERE num = 60")
        db.execute("UPDATE tokens SET right = 'write'")
        db.execute("UPDATE sessions SET title = CAST(x'ff41' AS TEXT) WHERE id = 's1'")
        db.execute("UPDATE vectors SET vector = zeroblob(length(vector)) WHERE num = 60")
        told = {problem.split(": ", 1)[1]: next_step(problem) for problem in engine.maintenance.doctor().problems}
        token = engine.tokens.all()[0].id
        restored = {
            "memory m32: its rights are not as written",
            "memory m60: its other fields are not as written",
            f"token {token}: it is not as written",
            "session s1: title is no text, its bytes are no UTF-8",
        }
        assert {problem for problem, step in told.items() if "restore" in step} == restored
        assert {problem for problem, step in told.items() if "reindex" in step} == {
            "vectors of memory m60: it is not as written"
        }
        engine.confirm("m32")  # what is done to a damaged row later makes it no sound one
        engine.maintenance.reindex()
        engine.encoder.drain()
        left = {problem.split(": ", 1)[1] for problem in engine.maintenance.doctor().problems}
        assert left == restored
