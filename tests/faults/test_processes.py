"""Many at once: processes, threads and forks on one store, and index files that are damaged or in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.engine.search import Search
from recallens.errors import EncoderMismatch
from recallens.index import images, resident
from recallens.index.images import FORMAT, read_image
from recallens.ingest.draft import Draft

pytestmark = pytest.mark.slow

COLLEAGUE = Path(__file__).with_name("colleague.py")
# `make soak` lets them work for longer.
SECONDS = float(os.environ.get("RECALLENS_SOAK", "2"))


def test_three_writers_and_two_readers_on_one_new_store(tmp_path: Path) -> None:
    """They even create it together. Nobody sees an error, nothing is lost, what is acknowledged is found at once."""
    notes, store = tmp_path / "notes", tmp_path / "store.db"
    notes.mkdir()
    roles = [("writer", "wa"), ("writer", "wb"), ("writer", "wc"), ("reader", "ra"), ("reader", "rb")]
    processes = [
        subprocess.Popen(
            [sys.executable, str(COLLEAGUE), role, name, str(store), str(notes), str(SECONDS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for role, name in roles
    ]
    ended = [(*process.communicate(timeout=60 + SECONDS), process.returncode) for process in processes]
    assert [(err, code) for _, err, code in ended] == [("", 0)] * len(roles)
    assert all(int(out) > 0 for out, _, _ in ended)
    with Engine.open(store, encoder="hashing") as engine:
        assert list(engine.maintenance.doctor().problems) == []
        kept = {row[0].split()[0] for row in engine.core.store.connection.execute("SELECT content FROM memories")}
        noted = {line for path in notes.iterdir() for line in path.read_text().split()}
        assert noted <= kept
        assert engine.core.store.connection.execute("SELECT count(*) FROM backlog").fetchone() == (0,)
        # What was erased while others read, and could not be finished then, is finished by now.
        texts = [f"wax{count - 1}t is temporary" for count in range(30, int(ended[0][0]), 31) if count % 9 != 4]
        proof = engine.maintenance.erasure.verify(texts)
        assert (proof.finished, proof.traces, proof.holders) == (True, (), ())


def test_eight_threads_search_and_write(engine: Engine) -> None:
    def work(worker: int) -> int:
        for number in range(25):
            key = f"t{worker}x{number}"
            engine.remember(f"{key} is a thing on shelf {number}")
            found = engine.search(key, mode="keyword", limit=2, session=f"s{worker}")
            assert found.results[0].memory.content.startswith(key)
        return worker

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == list(range(8))
    assert list(engine.maintenance.doctor().problems) == []
    assert len(engine.search("shelf", limit=300, record=False, cut=False).results) == 200


def test_a_thread_that_has_ended_leaves_no_open_file(engine: Engine) -> None:
    engine.remember("Threads come and go")

    def ask() -> None:
        assert engine.search("threads", record=False, cut=False).results

    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("no /proc here to count open files in")
    ask()
    before = open_files()
    for _ in range(30):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert open_files() <= before + 4


FORKING = """
import os, sys
from recallens.engine import Engine
from recallens.engine.search import Search
engine = Engine.open(sys.argv[1], encoder="hashing")
engine.remember("written before the fork")
assert len(engine.search("fork").results) == 1
child = os.fork()
who = "child" if child == 0 else "parent"
for number in range(20):
    engine.remember(f"{who} number {number} writes after the fork", dedupe=False)
    assert engine.search(f"{who} {number}", mode="keyword", limit=50).results
if child == 0:
    engine.close()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert len(engine.search("fork", limit=100).results) == 41
assert not engine.maintenance.doctor().problems, engine.maintenance.doctor().problems
engine.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_opens_its_own_connection(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FORKING, str(tmp_path / "store.db")], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stderr) == (0, "")


DYING = """
import os, sys
from recallens.engine import Engine
from recallens.engine.search import Search
engine = Engine.open(sys.argv[1], encoder="hashing")
engine.core.store.lease("backlog", f"{os.getpid()}-x", 3600)
os._exit(9)
"""


def test_a_dead_process_does_not_hold_up_the_backlog(engine: Engine) -> None:
    next(engine.memories.remember_many([Draft("waits for its vector")]))
    subprocess.run([sys.executable, "-c", DYING, engine.core.store.location], timeout=60)
    assert engine.encoder.drain() == 1


def test_a_living_process_keeps_its_lease(engine: Engine) -> None:
    next(engine.memories.remember_many([Draft("waits for its vector")]))
    assert engine.core.store.lease("backlog", f"{os.getpid()}-other", 60)
    assert engine.encoder.drain() == 0
    engine.core.store.release("backlog", f"{os.getpid()}-other")
    assert engine.encoder.drain() == 1


# ── two engines, as two processes are ──


def test_doctor_looks_at_one_moment_while_another_writes(engine: Engine, opened) -> None:
    engine.remember("The valve is on the left")
    other, connection, wrote = opened(), engine.core.store.connection, []

    def write_beside(cursor: object, sql: str, values: object) -> bool:
        if "FROM digests" in sql:
            wrote.append(other.remember(f"zeppelin{len(wrote)} lands beside quay{len(wrote)}", dedupe=False).id)
        return True

    connection.exec_trace = write_beside
    try:
        assert list(engine.maintenance.doctor().problems) == []
    finally:
        connection.exec_trace = None
    assert wrote


def test_a_namespace_made_anew_holds_nothing_of_the_old_one(engine: Engine, opened) -> None:
    other = opened()
    for number in range(6):
        engine.remember(f"old secret number {number}", namespace="team", dedupe=False)
    assert len(other.search("secret", namespace="team", record=False, cut=False).results) == 6
    engine.maintenance.remove_namespace("team")
    assert other.search("secret", namespace="team", record=False, cut=False).results == ()
    engine.remember("a new beginning", namespace="team")
    assert [
        r.memory.content for r in other.search("secret new", namespace="team", record=False, cut=False).results
    ] == ["a new beginning"]
    other.remember("old words again: secret number", namespace="team")
    for each in (engine, other):
        found = each.search("secret", namespace="team", mode="keyword", record=False, cut=False)
        assert [r.memory.content for r in found.results] == ["old words again: secret number"]
    assert list(engine.maintenance.doctor().problems) == []


def test_a_hard_forget_is_seen_by_the_other_engine_at_once(engine: Engine, opened) -> None:
    other = opened()
    gone = engine.remember("the zeppelin lands at noon").id
    kept = engine.remember("the balloon lands at noon").id
    assert len(other.search("lands", mode="keyword", record=False, cut=False).results) == 2
    engine.forget(gone, hard=True)
    found = other.search("zeppelin lands", record=False, cut=False)
    assert [result.memory.id for result in found.results] == [kept]
    # Both give out term numbers anew: neither may use one that it remembers from before.
    first = other.remember("the airship lands at dusk").id
    second = engine.remember("the zeppelin returns").id
    assert [r.memory.id for r in other.search("zeppelin", mode="keyword", record=False, cut=False).results] == [second]
    assert [r.memory.id for r in engine.search("airship", mode="keyword", record=False, cut=False).results] == [first]


def test_a_recorded_search_does_not_undo_what_happened_meanwhile(engine: Engine, opened) -> None:
    """A confirmation between a recall and its recording stands."""
    id = engine.remember("The valve is on the left", salience=0.5).id
    recall = engine.recall(engine.recalls.query("valve"))
    opened().confirm(id)
    confirmed = engine.get(id)
    with engine.core.store.write(recall.query.namespace) as tx:
        Search(engine.core, engine.encoder).write_down(tx, recall.query, [id], recall.ledger)
    after = engine.get(id)
    assert (after.reinforcement, after.reinforced_at, after.uses) == (
        confirmed.reinforcement, confirmed.reinforced_at, 1,
    )  # fmt: skip


def test_another_process_changes_the_encoder(tmp_path: Path, opened, clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running engine follows the store: its next memory has its place in the new encoder's backlog."""
    monkeypatch.setenv("RECALLENS_ENCODER", "")
    first = opened()
    first.remember("The lamp is in the hall")
    running = Engine.open(tmp_path / "store.db", clock=clock)
    assert running.search("lamp", record=False, cut=False).encoder == "hashing-test@1/64/none"
    first.maintenance.reindex(encoder="hashing:32")
    first.encoder.drain()
    assert running.search("lamp", record=False, cut=False).encoder == "hashing-test@1/32/none"
    running.remember("The rug is in the hall")
    assert list(running.maintenance.doctor().problems) == []
    assert len(running.search("hall", mode="semantic", record=False, cut=False).results) == 2
    running.close()
    with pytest.raises(EncoderMismatch, match="this store was encoded with hashing:32, but hashing is set"):
        opened().search("lamp")


# ── index files ──


@pytest.fixture
def published(opened, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A store with an image beside it, of a size at which that normally does not pay."""
    monkeypatch.setattr(resident, "SMALLEST_IMAGE", 1)
    engine: Engine = opened()
    drafts = [Draft(f"The fact number {n} concerns the {'pump' if n % 3 else 'valve'}") for n in range(60)]
    list(engine.memories.remember_many(drafts, dedupe=False))
    engine.encoder.drain()
    engine.search("pump", record=False, cut=False)
    assert engine.maintenance.publish() is True
    return engine


def image_of(engine: Engine) -> Path:
    folder = engine.core.index_folder()
    assert folder is not None
    (path,) = folder.rglob("*.image")
    return path


def answers(engine: Engine) -> bytes:
    return engine.recall(engine.recalls.query("pump valve", limit=7)).ledger.canonical()


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "empty": lambda data: b"",
    "no header": lambda data: b"\xff" * len(data),
    "another format": lambda data: data.replace(b'"format": %d' % FORMAT, b'"format": %d' % (FORMAT - 1), 1),
    "another store": lambda data: data.replace(b'"store": "', b'"store": "x', 1)[: len(data)],
    "a header that lies": lambda data: data.replace(b'"dtype": "<i8"', b'"dtype": "<i4"', 1),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_image_is_ignored_and_made_anew(published: Engine, opened, how: str) -> None:
    expected, image = answers(published), image_of(published)
    image.write_bytes(DAMAGE[how](image.read_bytes()))
    fresh = opened()
    assert answers(fresh) == expected
    assert fresh.maintenance.publish() is True
    assert fresh.maintenance.doctor().problems == []
    assert answers(opened()) == expected


def test_doctor_finds_a_flipped_byte_and_reindex_mends_it(published: Engine, opened) -> None:
    expected, image = (
        [r.memory.id for r in published.search("valve", record=False, cut=False).results],
        image_of(published),
    )
    data = bytearray(image.read_bytes())
    data[-5] ^= 0xFF
    image.write_bytes(data)
    engine = opened()
    (problem,) = engine.maintenance.doctor().problems
    assert problem == f"index file {image.name} of 1 is damaged; `recallens reindex` makes it anew"
    engine.maintenance.reindex()
    assert engine.maintenance.doctor().problems == []
    assert [r.memory.id for r in engine.search("valve", record=False, cut=False).results] == expected


def test_an_image_of_an_older_format_is_no_damage_and_is_made_anew(
    published: Engine, opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, image = answers(published), image_of(published)
    whole = read_image(image)
    assert whole is not None
    with monkeypatch.context() as older:
        older.setattr(images, "FORMAT", FORMAT - 1)
        images.write_image(image, whole)
    assert read_image(image) is None
    engine = opened()
    assert engine.maintenance.doctor().problems == []
    assert answers(engine) == expected
    assert engine.maintenance.publish() is True
    assert read_image(image_of(engine)) is not None
    data = bytearray(image_of(engine).read_bytes())
    data[30] ^= 0x01  # what its header says is then not what was written, whatever format that names
    image_of(engine).write_bytes(data)
    assert len(opened().maintenance.doctor().problems) == 1


def test_what_a_dead_process_left_half_written_is_cleared_away(published: Engine) -> None:
    left = image_of(published).with_suffix(".4711.tmp")
    left.write_bytes(b"half")
    for number in range(60):
        published.remember(f"another fact {number} about the hose", dedupe=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resident, "LONGEST_TAIL", 10)
        published.search("hose", record=False, cut=False)
        assert published.maintenance.publish() is True
    assert not left.exists()


def test_an_index_folder_that_cannot_be_written_to_costs_nothing_but_time(published: Engine, opened) -> None:
    folder = published.core.index_folder()
    assert folder is not None
    expected = answers(published)
    for path in folder.rglob("*.*"):
        path.unlink()
    (folder / "1" / "lock").unlink()
    (folder / "1").rmdir()
    (folder / "1").write_text("a file where a folder should be")
    engine = opened()
    assert answers(engine) == expected
    assert engine.maintenance.publish() is False


def test_an_image_replaced_while_it_is_mapped_stays_readable(published: Engine, opened) -> None:
    """The older reader keeps the pages it mapped; the newer one maps the new file."""
    reader = opened()
    expected = answers(reader)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resident, "LONGEST_TAIL", 1)
        for number in range(30):
            published.remember(f"The hose number {number} is new", dedupe=False)
        published.search("hose", record=False, cut=False)
        assert published.maintenance.publish() is True
    assert answers(reader) == answers(published) == answers(opened())
    assert answers(reader) != expected


def test_a_scan_file_that_is_missing_or_damaged_is_made_anew(opened, monkeypatch: pytest.MonkeyPatch) -> None:
    from recallens.index import vectors

    monkeypatch.setattr(resident, "SMALLEST_IMAGE", 1)
    monkeypatch.setattr(vectors, "EXACT_ROWS", 32)
    engine: Engine = opened()
    list(engine.memories.remember_many([Draft(f"fact {n} of the {n % 5} pumps") for n in range(80)], dedupe=False))
    engine.encoder.drain()
    engine.search("pump", record=False, cut=False)
    assert engine.maintenance.publish() is True
    folder = engine.core.index_folder()
    assert folder is not None
    (scan,) = folder.rglob("*.scan")
    whole, expected = scan.read_bytes(), answers(engine)
    for damaged in (b"", whole[: len(whole) // 2], b"\x00" * len(whole), whole[:-1]):
        scan.write_bytes(damaged)
        fresh = opened()
        assert answers(fresh) == expected
        assert fresh.maintenance.publish() is True
        assert scan.read_bytes() == whole
    scan.unlink()
    assert answers(opened()) == expected
