"""Looking for what was erased: in every file of the store, in what was made of it, and while others read or die."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from click.testing import CliRunner, Result

from recallens.cli.main import main
from recallens.engine import Engine
from recallens.errors import ErasurePending, NotFound
from recallens.index import resident
from recallens.ingest.draft import Draft
from recallens.model.citation import CommitCitation, FileCitation, LogCitation, SymbolCitation, TerminalCitation

DRAWER = "The drawer of the chest in the archive is 47118265, said Quetzalcoatl"
TRACES = ("47118265", "quetzalcoatl", "drawer of the chest")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(resident, "SMALLEST_IMAGE", 1)
    return tmp_path / "store.db"


@pytest.fixture
def engine(store: Path) -> Iterator[Engine]:
    with Engine.open(store, encoder="hashing") as engine:
        for number in range(40):
            engine.remember(f"Note {number}: the gateway retries {number + 7} times on Friday")
        yield engine


def octets(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()).lower()


def left(folder: Path, traces: tuple[str, ...] = TRACES) -> list[str]:
    held = octets(folder)
    return [trace for trace in traces if trace.encode() in held]


# ── what was made of it ──


def test_versions_recaps_and_summaries_go_with_it(engine: Engine, store: Path) -> None:
    first = engine.remember(DRAWER, session="s", title="The DRAWER", author="Quetzalcoatl").id
    engine.remember("We deploy on Fridays", session="s")
    engine.search("which pin has the chest", session="s")
    engine.sessions.end("s", summary="Noted the drawer 47118265. Then deployed.")
    engine.remember(f"Later: {DRAWER}", session="t", dedupe=False)
    engine.sessions.end("t")
    engine.maintenance.publish()
    newest = engine.edit(first, f"{DRAWER}. Twice.").id
    other = engine.search("Later", session="u").results
    engine.forget(newest, hard=True)
    # What somebody wrote by themselves is theirs, and stays; with it and what was made of it the last byte goes.
    mine = [result.memory.id for result in other if "47118265" in result.memory.content]
    assert mine
    for id in mine:
        with suppress(NotFound):  # its recap went with it
            engine.forget(id, hard=True)
    assert left(store.parent) == []
    assert engine.sessions.report("s").session.summary is None
    recap = [memory.content for memory, _, _ in engine.sessions.report("s").links if memory.kind == "summary"]
    assert len(recap) == 1
    assert "We deploy on Fridays" in recap[0]
    assert list(engine.maintenance.doctor().problems) == []


@pytest.mark.parametrize("restriction", ["forgotten", "scoped"])
def test_a_summary_that_was_withheld_is_not_published_by_the_erasure(
    engine: Engine, store: Path, restriction: str
) -> None:
    scopes = ("hr",) if restriction == "scoped" else ()
    secret = engine.remember(DRAWER, session="s", scopes=scopes).id
    engine.remember("We deploy on Fridays", session="s")
    engine.sessions.end("s", summary="Noted what Quetzalcoatl said of the drawer of the chest: 47118265")
    if restriction == "forgotten":
        engine.forget(secret)
    engine.forget(secret, hard=True)
    assert left(store.parent) == []
    recaps = [memory for memory, _, _ in engine.sessions.report("s").links if memory.kind == "summary"]
    assert all("drawer" not in memory.content for memory in recaps)


def test_the_receipt_names_what_went_what_stays_and_what_lies_outside(engine: Engine, store: Path) -> None:
    first = engine.remember(DRAWER, session="s").id
    own = engine.remember(f"Later: {DRAWER}", dedupe=False).id
    engine.sessions.end("s", summary="Noted the drawer 47118265.")
    engine.maintenance.backup(str(store.parent / "copy.db"))
    newest = engine.edit(first, f"{DRAWER}. Twice.").id
    receipt = engine.maintenance.erasure.erase([newest])
    handle = receipt.erased[0].name
    assert receipt.pending is None
    assert {(each.kind, each.why) for each in receipt.erased} >= {
        ("memory", "named"), ("memory", f"an older version of {handle}"), ("session", "its summary said part of it"),
    }  # fmt: skip
    assert receipt.kept == (f"{engine.get(own).handle} says part of it, by itself",)
    assert any(text.startswith("copy.db") for text in receipt.outside)
    proof = engine.maintenance.erasure.verify(["47118265"])
    assert proof.traces
    assert f"memory {own}" in proof.holders
    assert proof.outside == ("copy.db",)


def test_logs_episodes_and_crafts_go_with_it(engine: Engine, store: Path) -> None:
    for number in range(3):
        task = engine.tasks.start(f"Open the chest in the archive, round {number}").id
        engine.remember(DRAWER, task=task, kind="gotcha", dedupe=False)
        engine.tasks.log(task, f"turned the dial\nThe drawer of the chest in the archive is 47118265\n{number}")
        engine.tasks.end(task, reward=1.0, summary="1. went in\n2. used the drawer 47118265 for it\n3. took the file")
    engine.maintenance.publish()
    held = [m.id for m in engine.memories.many(_all(engine)).values() if m.content == DRAWER]
    for id in held:
        engine.forget(id, hard=True)
    assert left(store.parent) == []
    assert list(engine.maintenance.doctor().problems) == []


@pytest.mark.parametrize("zone", ["working", "trusted"])
def test_another_memory_of_the_same_words_keeps_nothing_that_was_made_of_it(
    engine: Engine, store: Path, zone: str
) -> None:
    """An agent could keep everything that was made of a memory by naming two of its words."""
    engine.sessions.start("s1")
    task = engine.tasks.start("Handle Quetzalcoatl refund", session="s1").id
    secret = "Maria Quetzalcoatl resigned because of her vertigo diagnosis"
    named = engine.remember(secret, session="s1", task=task).id
    engine.tasks.log(task, "called Quetzalcoatl about vertigo")
    engine.tasks.end(task, reward=1.0, summary="Quetzalcoatl left, vertigo")
    engine.sessions.end("s1", summary="Quetzalcoatl and the vertigo case")
    engine.remember("quetzalcoatl vertigo", zone=zone)
    receipt = engine.maintenance.erasure.erase([named])
    assert {"memory", "log", "task", "session"} <= {each.kind for each in receipt.erased}
    saying = [memory.content for memory in engine.memories.many(_all(engine)).values() if "uetzal" in memory.content]
    assert saying == ["quetzalcoatl vertigo"]
    assert any("says part of it" in kept or "words of it" in kept for kept in receipt.kept)
    assert b"vertigo diagnosis" not in octets(store.parent)
    assert b"quetzalcoatl left" not in octets(store.parent)


def _all(engine: Engine) -> list[str]:
    with engine.core.read(None) as reader:
        return list(reader.memories.ids(reader.memories.numbers()).values())


def test_no_digest_of_a_pin_is_left_to_guess(engine: Engine, store: Path) -> None:
    """Texts of that form are tried against everything that is left, as a digest in bytes and in letters."""
    text = "The DRAWER is {:04}"
    id = engine.remember(text.format(4711), session="s").id
    engine.search("DRAWER", session="s")
    engine.forget(id, hard=True)
    held = octets(store.parent)
    for pin in range(4_500, 5_000):
        for spelt in (text.format(pin), text.format(pin).lower()):
            digest = hashlib.sha256(spelt.encode())
            assert not any(each in held for each in (digest.digest().lower(), digest.hexdigest().encode())), pin


def test_the_newer_version_stays_if_the_older_is_named(engine: Engine, store: Path) -> None:
    """Whoever took the secret out of a memory wants the old version gone, and not the memory."""
    old = engine.remember(DRAWER).id
    new = engine.edit(old, "The drawer of the chest in the archive is known to Ann").id
    engine.forget(old, hard=True)
    assert engine.get(new).content.endswith("known to Ann")
    assert left(store.parent, ("47118265", "quetzalcoatl")) == []


def test_pruning_and_removing_a_namespace_leave_no_byte(engine: Engine, store: Path) -> None:
    id = engine.remember(DRAWER).id
    engine.forget(id)
    engine.remember(DRAWER, namespace="other")
    engine.maintenance.publish("other")
    engine.maintenance.publish()
    assert [m.id for m in engine.maintenance.prune(older_than_days=0, dry_run=False)] in ([id], [])
    engine.maintenance.prune(older_than_days=0, dry_run=False)
    assert left(store.parent) == list(TRACES)
    engine.maintenance.remove_namespace("other")
    assert left(store.parent) == []


# ── bytes that belong to nothing ──


def test_no_moved_row_leaves_a_copy_between_the_pages(store: Path) -> None:
    """SQLite leaves the bytes of rows that it moved to another page; some are left by every few hundred writes."""
    chance = random.Random(7)
    marks = [f"mark{number:05}x" for number in range(1_000)]
    with Engine.open(store, encoder="none") as engine:
        drafts = [Draft(f"{mark} {'lorem ipsum ' * chance.randrange(1, 60)}") for mark in marks]
        for start in range(0, len(drafts), 50):
            list(engine.memories.remember_many(drafts[start : start + 50], dedupe=False))
        ids = dict(zip(marks, _all(engine), strict=True))
        for mark in chance.sample(marks, 400):
            engine.confirm(ids[mark])
        gone = chance.sample(marks, 40)
        for mark in gone:
            engine.forget(ids[mark], hard=True)
        held = octets(store.parent)
        assert [mark for mark in gone if mark.encode() in held] == []
        assert engine.maintenance.erasure.verify([gone[0]]).traces == ()
        assert list(engine.maintenance.doctor().problems) == []
        held = octets(store.parent)
        assert all(held.count(mark.encode()) >= 1 for mark in marks if mark not in gone)


def test_the_stored_index_is_mended_and_not_made_anew(engine: Engine, store: Path) -> None:
    """The words of what is erased leave it, whoever has it mapped finds the rest as before, and so does a new one."""
    ids = [engine.remember(f"Station {n} reports storm {n % 5} at the harbour of {DRAWER if n == 7 else 'Oslo'}").id
           for n in range(60)]  # fmt: skip
    assert engine.maintenance.publish()
    (image,) = (store.parent / "store.db.index").rglob("*.image")
    with Engine.open(store, encoder="hashing") as beside:
        questions = ["storm harbour", "station 12", "gateway retries", "Oslo storm"]
        beside.search(questions[0])
        inode = image.stat().st_ino
        engine.forget(ids[7], hard=True)
        assert image.stat().st_ino == inode
        told = [_told(beside, question) for question in questions]
        assert told == [_told(engine, question) for question in questions]
        assert any(told)
        assert ids[7] not in str(told)
    engine.core.discard_index("default")
    assert [_told(engine, question) for question in questions] == told
    assert left(store.parent) == []


def _told(engine: Engine, question: str) -> list[str]:
    return [f"{each.memoryId} {each.scoreDecomposition['final']:.4f}" for each in engine.xray(question).results]


# ── while others read, and after a death ──


def run(store: Path, *args: str, code: int) -> Result:
    result = CliRunner().invoke(main, [*args, "--store", str(store)])
    assert result.exit_code == code, (result.stdout, result.stderr)
    return result


def test_a_reader_that_holds_an_old_page_makes_it_fail_and_the_next_command_finishes(
    engine: Engine, store: Path
) -> None:
    id = engine.remember(DRAWER).id
    engine.close()
    reader = apsw.Connection(str(store))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM memories WHERE content LIKE '%47118265%'").fetchall() == [(1,)]
    failed = run(store, "forget", "--hard", "--yes", id, "--json", code=8)
    assert "an older state" in json.loads(failed.stdout)["receipt"]["pending"]
    assert left(store.parent) == list(TRACES)
    noted = reader.execute("SELECT value FROM meta WHERE key = 'erasure'").fetchall()
    assert noted == []  # it reads the old state still
    assert "still lies in the file" in run(store, "list", code=0).stderr
    with Engine.open(store, encoder="hashing") as still, pytest.raises(ErasurePending):
        still.forget(still.remember("Another for good: 81500518").id, hard=True)
    reader.execute("ROLLBACK")
    assert "finished an earlier deletion" in run(store, "list", code=0).stderr
    assert left(store.parent, (*TRACES, "81500518")) == []
    assert run(store, "list", code=0).stderr == ""
    assert "nothing in it belongs to what is deleted" in run(store, "forget", "--verify", DRAWER, code=0).stdout
    for nothing in ("", "  "):
        assert "an empty text is in everything" in run(store, "forget", "--verify", nothing, code=2).stderr
    reader.close()


KILLED = """
import os, signal, sys
from recallens.engine import Engine, erasure
from recallens.index import erasure as stored, resident
resident.SMALLEST_IMAGE = 1
store, id, where = sys.argv[1:]
die = lambda *given, **named: os.kill(os.getpid(), signal.SIGKILL)
engine = Engine.open(store, encoder="hashing")
match where:
    case "after the deletion": erasure.Erasure.finish = die
    case "in the index": stored._erase_names = die
    case "before the pages": type(engine.core.store.file).clean = die
    case "before the end": type(engine.core.store.file).settle = die
engine.forget(id, hard=True)
"""


@pytest.mark.parametrize("where", ["after the deletion", "in the index", "before the pages", "before the end"])
def test_what_was_killed_on_the_way_is_finished_by_the_next(where: str, engine: Engine, store: Path) -> None:
    id = engine.remember(DRAWER, author="Quetzalcoatl").id
    assert engine.maintenance.publish()
    engine.close()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(store), id, where], env=dict(os.environ), check=False)
    assert killed.returncode == -signal.SIGKILL
    assert re.search("finished an earlier deletion", run(store, "list", code=0).stderr)
    assert left(store.parent) == []
    with Engine.open(store, encoder="hashing") as after:
        assert list(after.maintenance.doctor().problems) == []
        assert after.search("gateway retries").results


# ── every field of it ──


def mark(name: str) -> str:
    return f"Zq{name}Xv"


MARKED = Draft(
    f"The drawer is {mark('content')}, said {mark('Entity')} of `{mark('symbol')}()` in src/{mark('path')}.py",
    title=mark("title"), summary=mark("summary"), tags=(mark("tag"),), author=mark("author"), project=mark("project"),
    task=mark("task"), worktree=mark("worktree"), session=mark("session"), scopes=(mark("scope"),),
    source=mark("source"), source_id=mark("sourceid"), attributes={mark("name"): mark("value")},
    citations=(
        FileCitation(mark("file"), 1, 2), SymbolCitation(mark("id"), mark("called"), mark("of")),
        TerminalCitation(mark("terminal")), LogCitation(mark("log")), CommitCitation("deadbeef1234567"),
    ),
)  # fmt: skip


def marks_left(folder: Path) -> set[str]:
    return {found.decode().lower() for found in re.findall(rb"zq[a-z]{2,24}xv", octets(folder))}


@pytest.mark.parametrize("ended", [False, True])
def test_no_field_of_it_is_left_but_the_name_of_its_session_in_the_log(
    engine: Engine, store: Path, ended: bool
) -> None:
    id = engine.remember(MARKED, dedupe=False).id
    engine.search(f"where is the drawer {mark('question')}", session=mark("session"), scopes=(mark("scope"),))
    if ended:
        engine.sessions.end(mark("session"))
    engine.maintenance.publish()
    assert mark("author").lower() in marks_left(store.parent)
    receipt = engine.maintenance.erasure.erase([id])
    assert marks_left(store.parent) == {mark("session").lower()}
    assert f"the audit log names session {mark('session')}" in receipt.kept
    assert ("session", "nothing else is of it") in {(each.kind, each.why) for each in receipt.erased}
    assert engine.maintenance.erasure.verify([mark("project")]).traces == ()
    assert list(engine.maintenance.doctor().problems) == []


def test_a_session_loses_the_project_that_only_it_gave(engine: Engine, store: Path) -> None:
    id = engine.remember(MARKED, dedupe=False).id
    engine.remember("We deploy on Fridays", session=mark("session"))
    engine.remember("Another of the team", session="u", project=mark("project"))
    proof = engine.maintenance.erasure.verify([mark("project")])
    assert f"session {mark('session')}" in proof.holders
    receipt = engine.maintenance.erasure.erase([id])
    said = {each.name: each.why for each in receipt.erased if each.kind == "session"}
    assert said == {mark("session"): "its project was that of it, and of nothing else there"}
    assert engine.sessions.report(mark("session")).session.project is None
    assert engine.sessions.report("u").session.project == mark("project")


def test_a_session_keeps_the_project_that_others_gave_too(engine: Engine) -> None:
    id = engine.remember(MARKED, dedupe=False).id
    engine.remember("We deploy on Fridays", session=mark("session"), project=mark("project"))
    receipt = engine.maintenance.erasure.erase([id])
    assert [each for each in receipt.erased if each.kind == "session"] == []
    assert engine.sessions.report(mark("session")).session.project == mark("project")
