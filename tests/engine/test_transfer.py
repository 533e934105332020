"""An export holds everything, and a store made of it is the same store: in every byte, in every recall."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lived import QUESTIONS, lived_in
from recallens import Engine
from recallens.engine.lines import LineWriter
from recallens.errors import InvalidInput, NotFound
from recallens.model.memory import Zone
from recallens.model.salience import DAY_MS
from recallens.model.trust import Actor
from recallens.store.nouns import NOUNS
from standing import FixedClock, Open

ROOT = Path(__file__).parents[2]


@pytest.fixture
def full(opened: Open, clock: FixedClock, tmp_path: Path) -> Engine:
    return lived_in(opened("full.db"), clock, tmp_path)


def exported(engine: Engine, **options: Any) -> bytes:
    stream = io.BytesIO()
    engine.maintenance.transfer.write(stream, **options)
    return stream.getvalue()


def imported(engine: Engine, lines: bytes, **options: Any) -> Engine:
    engine.maintenance.transfer.read(io.BytesIO(lines), **options)
    engine.encoder.drain()
    return engine


def recalls(engine: Engine, now: int) -> list[list[tuple[str, str, float]]]:
    asked = [engine.recall(engine.recalls.query(text, now=now, cut=False)) for text in QUESTIONS]
    return [[(row.memory.id, row.memory.handle, row.score) for row in recall.results] for recall in asked]


def test_a_store_made_of_an_export_is_the_same_in_every_byte_and_every_recall(
    full: Engine, opened: Open, clock: FixedClock
) -> None:
    lines = exported(full, tokens=True)
    again = imported(opened("again.db"), lines, tokens=True)
    assert exported(again, tokens=True) == lines
    assert recalls(again, clock.now) == recalls(full, clock.now)
    assert again.audit.verify() == full.audit.verify()
    assert again.audit.verify().entries > 0
    assert again.maintenance.doctor().problems == []
    types = {json.loads(line)["type"] for line in lines.splitlines()}
    assert types == NOUNS.keys() - {"vector"} | {"recallens-export", "end"}
    # A handle that was given out once is never given out again.
    assert again.remember("Something new").id
    assert again.get(f"m{json.loads(lines.splitlines()[0])['numbers']['memory'] + 1}").content == "Something new"


@pytest.mark.parametrize("source", ["agent", "mcp", "mcp:Claude Code"])
def test_an_export_without_recorded_times_has_those_that_a_migration_gives(
    opened: Open, clock: FixedClock, source: str
) -> None:
    """The rows of the migration's own test; what the person let an agent date has none, and keeps none."""
    engine, long_ago = opened("new.db"), clock.now - 300 * DAY_MS
    with engine.core.acting(Actor(Zone.WORKING)):
        claimed = engine.remember("The mast is 30 meters high", source=source, created=long_ago).id
        engine.remember("The dock is 20 meters long", source=source)
    with engine.core.acting(Actor(Zone.WORKING, dates=True)):
        let = engine.remember("The buoy is green", source=source, created=long_ago).id
    engine.remember("The pier is 5 meters wide", created=long_ago)
    engine.remember("The shed is 4 meters wide", created=long_ago, zone=Zone.WORKING)
    lines = exported(engine)
    again = imported(opened("again.db"), lines)
    assert exported(again) == lines
    assert (again.get(claimed).recorded, again.get(let).recorded) == (clock.now, None)
    older = imported(opened("older.db"), without_recorded(lines))
    known = {memory["memory"]: memory.get("recorded") for memory in of_type(exported(older), "memory")}
    assert known == {1: clock.now, 2: None, 3: clock.now, 4: None, 5: None}
    assert [each.memory.id for each in older.search("how high is the mast", as_of=clock.now, record=False).results]
    assert claimed not in {
        each.memory.id
        for each in older.search("how high is the mast", as_of=clock.now - DAY_MS, cut=False, record=False).results
    }


def of_type(lines: bytes, name: str) -> list[dict[str, Any]]:
    return [record for record in map(json.loads, lines.splitlines()) if record["type"] == name]


def without_recorded(lines: bytes) -> bytes:
    """As the version before wrote them, which did not know the field."""
    *body, _ = lines.splitlines()
    kept = []
    for line in body:
        record = json.loads(line)
        if record["type"] == "memory":
            record.pop("recorded", None)
        kept.append(json.dumps(record).encode() + b"\n")
    end = {"type": "end", "lines": len(kept), "sha256": hashlib.sha256(b"".join(kept)).hexdigest()}
    return b"".join(kept) + json.dumps(end).encode() + b"\n"


def test_vectors_are_carried_where_asked_and_nothing_is_encoded_then(full: Engine, opened: Open) -> None:
    lines = exported(full, vectors=True)
    again = opened("again.db")
    again.maintenance.transfer.read(io.BytesIO(lines))
    assert again.encoder.drain() == 0
    assert exported(again, vectors=True) == lines


def test_one_namespace_goes_alone_both_ways(full: Engine, opened: Open) -> None:
    alone = exported(full, namespace="other")
    assert b"gateway" not in alone
    first = imported(opened("first.db"), alone)
    second = imported(opened("second.db"), exported(full), namespace="other")
    assert exported(first, namespace="other") == exported(second, namespace="other") == alone
    assert [name for name, _ in second.maintenance.namespaces()] == ["other"]
    with pytest.raises(NotFound, match="no namespace 'else'"):
        exported(full, namespace="else")
    with pytest.raises(NotFound, match="It has 'other'"):
        imported(opened("third.db"), alone, namespace="else")


def test_numbers_that_are_taken_move_and_what_refers_to_them_moves_along(
    full: Engine, opened: Open, clock: FixedClock
) -> None:
    mine = opened("mine.db", namespace="mine")
    for at in range(3):
        mine.remember(f"Mine, number {at}")
    carried = mine.maintenance.transfer.read(io.BytesIO(exported(full)))
    assert carried.first == 4
    assert mine.get("m1").content == "Mine, number 0"
    assert mine.get("m4", namespace="default").content == full.get("m1").content
    related = [(tie.source, tie.target) for tie in full.memories.relations("m1")]
    assert [(tie.source, tie.target) for tie in mine.memories.relations("m4", namespace="default")] == related
    mine.encoder.drain()
    asked = mine.recalls.query(QUESTIONS[0], namespace="default", now=clock.now, cut=False)
    theirs = full.recalls.query(QUESTIONS[0], now=clock.now, cut=False)
    assert [(row.memory.id, row.score) for row in mine.recall(asked).results] == [
        (row.memory.id, row.score) for row in full.recall(theirs).results
    ]
    assert mine.maintenance.doctor().problems == []


def test_a_namespace_that_holds_anything_is_refused(full: Engine) -> None:
    before = exported(full, tokens=True)
    with pytest.raises(InvalidInput, match="'default' of this store is not empty"):
        imported(full, exported(full))
    assert exported(full, tokens=True) == before


def test_tokens_open_a_store_only_where_that_is_asked(full: Engine, opened: Open) -> None:
    lines = exported(full, tokens=True)
    assert b'"type":"token"' not in exported(full)
    assert imported(opened("without.db"), lines).tokens.all() == []
    assert imported(opened("with.db"), lines, tokens=True).tokens.all() == full.tokens.all()


def resealed(lines: list[bytes]) -> bytes:
    """The lines with an end whose digest fits: what is wrong with them is all that is wrong."""
    stream = io.BytesIO()
    writer = LineWriter(stream)
    for line in lines:
        writer._write(line)
    writer.end()
    return stream.getvalue()


def changed(pattern: bytes, change: dict[str, Any]) -> Any:
    def apply(lines: list[bytes]) -> int:
        at = next(at for at, line in enumerate(lines) if pattern in line)
        record = json.loads(lines[at]) | change
        lines[at] = json.dumps({name: value for name, value in record.items() if value != "GONE"}).encode()
        return at + 1

    return apply


MEMORY = b'"type":"memory"'
BAD_LINES = {
    "status of a memory is \"lost\"; it must be one of: active,": changed(MEMORY, {"status": "lost"}),
    "importance of a memory is 7; it must be a number from 0 to 1": changed(MEMORY, {"importance": 7}),
    "created of a memory is \"x\"; it must be a time": changed(MEMORY, {"created": "x"}),
    "validUntil of a memory is Infinity; it must be a time": changed(MEMORY, {"validUntil": float("inf")}),
    "tags of a memory is {}; it must be a JSON list": changed(MEMORY, {"tags": {}}),
    "a memory needs 'content': text": changed(MEMORY, {"content": "GONE"}),
    "unknown field 'colour'; a memory has: memory, id": changed(MEMORY, {"colour": 1}),
    "unknown type 'memo'; use one of: setting,": changed(MEMORY, {"type": "memo"}),
    "unknown type None": changed(MEMORY, {"type": None}),
    "started of a session is \"x\"": changed(b'"type":"session"', {"started": "x"}),
    "ledger of a ledger is \"!\"; it must be base64": changed(b'"type":"ledger"', {"ledger": "!"}),
    "refers to what is not there": changed(b'"type":"relation"', {"target": 99_999}),
    "is in this store already": changed(b'"content":"memory 3 ', {"memory": 1}),
    "its header names the namespace 'default'": changed(b'"type":"namespace"', {"name": "else"}),
}  # fmt: skip


@pytest.mark.parametrize("message", BAD_LINES)
def test_a_bad_line_is_named_with_what_would_be_right_and_nothing_is_imported(
    message: str, full: Engine, opened: Open
) -> None:
    lines = exported(full).splitlines()[:-1]
    number = BAD_LINES[message](lines)
    again = opened("again.db")
    if "Infinity" in message:  # which is no JSON
        message = f"line {number}: not a JSON object"
    with pytest.raises(InvalidInput) as caught:
        imported(again, resealed(lines))
    assert message in str(caught.value)
    told = re.search(r"line ([\d,]+)", str(caught.value))
    assert told is not None or "namespace" in message
    if "store already" not in message and "not there" not in message and told is not None:
        assert int(told[1].replace(",", "")) == number
    assert again.maintenance.namespaces() == []


@pytest.mark.parametrize("what", ["cut", "byte", "line", "more", "empty", "other", "version"])
def test_a_file_that_is_not_as_it_was_written_is_refused(what: str, full: Engine, opened: Open) -> None:
    lines = exported(full)
    damaged = {
        "cut": lines[: len(lines) // 2],
        "byte": lines.replace(b"gateway", b"gatewaY", 1),
        "line": b"\n".join(line for line in lines.split(b"\n") if line != lines.split(b"\n")[-3]),
        "more": lines + b"{}\n",
        "empty": b"",
        "other": b'{"content": "a memory"}\n',
        "version": lines.replace(b'"version":1', b'"version":2', 1),
    }[what]
    message = {
        "cut": "cut off", "byte": "digest differs", "line": "digest differs", "more": "follows the last line",
        "empty": "cut off", "other": "no export of Recallens", "version": "of version 2",
    }[what]  # fmt: skip
    again = opened("again.db")
    with pytest.raises(InvalidInput, match=message):
        imported(again, damaged)
    assert again.maintenance.namespaces() == []
    assert imported(again, lines).maintenance.namespaces() == full.maintenance.namespaces()


def test_an_export_appears_whole_is_private_and_overwrites_nothing(
    full: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.jsonl"
    full.maintenance.transfer.export(target)
    assert target.read_bytes() == exported(full)
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InvalidInput, match="already exists"):
        full.maintenance.transfer.export(target)
    with pytest.raises(InvalidInput, match="does not exist"):
        full.maintenance.transfer.export(tmp_path / "no" / "out.jsonl")

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recallens.engine.transfer.BATCH_ROWS", 5)
    with pytest.raises(KeyboardInterrupt):
        full.maintenance.transfer.export(tmp_path / "stopped.jsonl", progress=stop)
    assert [path.name for path in tmp_path.glob("*stopped*")] == []


KILLED = """
import os, signal, sys
from recallens import Engine
import recallens.engine.transfer as transfer
transfer.BATCH_ROWS = 5
def progress(done, total):
    if done >= int(sys.argv[3]): os.kill(os.getpid(), signal.SIGKILL)
with Engine.open(sys.argv[1], encoder="hashing") as engine:
    engine.maintenance.transfer.load(sys.argv[2], progress=progress)
"""


@pytest.mark.parametrize("line", [10, 60, 140])
def test_an_import_that_is_killed_leaves_nothing_and_can_be_run_again(
    line: int, full: Engine, opened: Open, tmp_path: Path
) -> None:
    file, store = tmp_path / "out.jsonl", tmp_path / "again.db"
    full.maintenance.transfer.export(file)
    done = subprocess.run([sys.executable, "-c", KILLED, store, file, str(line)], check=False)
    assert done.returncode == -signal.SIGKILL
    again = opened("again.db")
    assert again.maintenance.namespaces() == []
    assert exported(imported(again, file.read_bytes())) == file.read_bytes()


def test_the_command_carries_a_store_through_a_pipe(full: Engine, tmp_path: Path) -> None:
    full.close()
    recallens = f"{sys.executable} -m recallens"
    pipe = f"{recallens} export - --store full.db | {recallens} import - --store again.db --json"
    done = subprocess.run(pipe, shell=True, cwd=tmp_path, check=True, capture_output=True, text=True)
    record = json.loads(done.stdout)
    assert (record["namespaces"], record["encoderKept"], record["firstNumber"]) == (["default", "other"], False, 1)
    for name in ("full", "again"):
        words = [sys.executable, "-m", "recallens", "export", f"{name}.jsonl", "--store", f"{name}.db"]
        subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "full.jsonl").read_bytes()
    (tmp_path / "bad.jsonl").write_text('{"content": "x"}\n')
    bad = [sys.executable, "-m", "recallens", "import", "bad.jsonl", "--store", "none.db"]
    failed = subprocess.run(bad, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (failed.returncode, (tmp_path / "none.db").exists()) == (2, False)
    assert "`recallens remember --jsonl FILE`" in failed.stderr


def test_the_sample_and_its_vault_go_through_unchanged(real: Engine, opened: Open, minilm: Any, tmp_path: Path) -> None:
    """With the packaged encoder: a vector is the same bytes whatever it is encoded beside, so none is carried."""
    shutil.copytree(ROOT / "examples" / "vault" / "decisions", tmp_path / "vault")
    real.vaults.add(str(tmp_path / "vault"), "decisions")
    real.vaults.sync("decisions")
    real.encoder.drain()
    lines, now = exported(real), real.core.clock()
    again = imported(opened("again.db", encoder=minilm), lines)
    assert exported(again) == lines
    assert recalls(again, now) == recalls(real, now)
