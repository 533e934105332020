"""A folder becomes memory, and stays what the folder is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from notes import Notes, sections, synced
from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound, StoreBusy
from recallens.ingest.vault import files
from recallens.ingest.vault.files import Root
from recallens.model.memory import Memory
from standing import FixedClock, Open

LONG = "Lookups are answered from Redis and kept for sixty seconds. " * 12
PARTS = (
    f"# Cache\n\n{LONG}\n\n## Keys\n\nA key names the carrier. {LONG}\n\n## 무효화\n\n이벤트가 오면 지운다. {LONG}\n"
)


@pytest.fixture
def notes(tmp_path: Path, engine: Engine) -> Notes:
    own = Notes(tmp_path / "notes")
    own.write("cache.md", f"---\ndate: 2026-03-05\ntags: [redis]\nowner: ingrid\n---\n{PARTS}")
    own.write("ops/deploy.md", "# Deploys\n\nDeploys go out on Tuesdays. See [[cache#Keys]].\n")
    own.write("plain.txt", "The pager rotates weekly.")
    engine.vaults.add(own.root)
    return own


def found(engine: Engine, query: str) -> list[Memory]:
    """Whatever is there to be found by words, whether or not it is likely to help."""
    return [result.memory for result in engine.search(query, mode="keyword", record=False, cut=False).results]


def test_how_long_sections_are_is_the_vaults_own_and_can_be_changed(engine: Engine, notes: Notes) -> None:
    synced(engine)
    usual = sections(engine, "cache.md")
    engine.vaults.add(notes.root, chunk=400)
    report = synced(engine)
    assert report.changed == ("cache.md", "ops/deploy.md", "plain.txt")
    assert report.sections_kept == 2  # of those that fit either way
    short = sections(engine, "cache.md")
    assert len(short) == 2 * len(usual)
    assert max(len(memory.content) for memory in short) <= 400
    assert synced(engine).changed == ()
    engine.vaults.add(notes.root, chunk=20_000)
    synced(engine)
    assert len(sections(engine, "cache.md")) == 1
    assert engine.vaults.all()[0].options.chunk == 20_000
    for chunk in (199, 20_001):
        with pytest.raises(InvalidInput, match="200 to 20,000 characters"):
            engine.vaults.add(notes.root, chunk=chunk)


def test_a_file_becomes_its_sections(engine: Engine, notes: Notes) -> None:
    report = synced(engine)
    assert report.added == ("cache.md", "ops/deploy.md", "plain.txt")
    first, keys, evict = sections(engine, "cache.md")
    assert [memory.title for memory in (first, keys, evict)] == ["Cache", "Cache › Keys", "Cache › 무효화"]
    assert {(m.source, m.zone, m.kind, m.created) for m in (first, keys, evict)} == {
        ("vault", "trusted", "note", 1_772_668_800_000)
    }
    assert keys.tags == ("redis",)
    assert (keys.citations[0].path, keys.citations[0].start_line, keys.citations[0].end_line) == ("cache.md", 10, 12)
    assert keys.attributes["frontmatter"] == {"owner": "ingrid"}
    assert keys.attributes["headingPath"] == ["Cache", "Keys"]
    assert keys.attributes["category"] == "general"
    assert keys.attributes["isProjectEvidence"] is False
    plain = sections(engine, "plain.txt")[0]
    mtime = (notes.root / "plain.txt").stat().st_mtime_ns // 1_000_000
    assert (plain.created, plain.updated, plain.title) == (mtime, mtime, "plain")
    assert found(engine, "무효화")[0].id == evict.id
    assert engine.maintenance.doctor().problems == []


def test_what_did_not_change_is_neither_opened_nor_written(
    engine: Engine, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced(engine)
    opened: list[str] = []
    real = os.open

    def noting(path: str, flags: int, *rest: object, **more: object) -> int:
        if not flags & os.O_DIRECTORY:
            opened.append(str(path))
        return real(path, flags, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", noting)
    report = synced(engine)
    assert (report.unchanged, report.sections_indexed, opened) == (3, 0, [])
    notes.write("plain.txt", "The pager rotates daily.")
    synced(engine)
    assert opened == ["plain.txt"]


def test_a_touched_file_with_the_same_text_is_not_indexed(engine: Engine, notes: Notes) -> None:
    synced(engine)
    before = sections(engine)
    notes.age("cache.md")
    report = synced(engine)
    assert (report.changed, report.unchanged, report.sections_indexed) == ((), 3, 0)
    assert sections(engine) == before


def test_a_file_that_changed_within_the_same_tick_is_looked_at_again(engine: Engine, notes: Notes) -> None:
    (notes.root / "fast.md").write_text("first", encoding="utf-8")
    synced(engine)
    then = (notes.root / "fast.md").stat().st_mtime_ns
    (notes.root / "fast.md").write_text("later", encoding="utf-8")
    os.utime(notes.root / "fast.md", ns=(then, then))
    assert synced(engine).changed == ("fast.md",)


def test_an_edit_indexes_only_what_changed_and_keeps_id_history_and_usage(
    engine: Engine, notes: Notes, clock: FixedClock
) -> None:
    synced(engine)
    engine.encoder.drain()
    first, keys, evict = sections(engine, "cache.md")
    engine.confirm(keys.id)
    engine.sessions.link("s1", keys.id, "recalled")
    engine.relate(first.id, keys.id, "BUILDS_ON")
    engine.search("carrier key", session="s1")
    used = engine.get(keys.id)
    clock.advance(days=1)
    changed = PARTS.replace("A key names the carrier.", "A key names the shipper.").replace("# Cache\n", "# Cache\n\n")
    notes.write("cache.md", f"---\ndate: 2026-03-05\ntags: [redis]\nowner: ingrid\n---\n{changed}")
    report = synced(engine)
    assert report.changed == ("cache.md",)
    assert (report.sections_indexed, report.sections_kept, report.sections_removed) == (2, 1, 0)
    now = sections(engine, "cache.md")
    assert [memory.id for memory in now] == [first.id, keys.id, evict.id]
    assert (now[1].uses, now[1].confirmed, now[1].reinforcement) == (used.uses, True, used.reinforcement)
    assert now[1].version == 2
    assert now[1].created == keys.created
    assert now[2].citations[0].start_line == evict.citations[0].start_line + 1
    assert {relation.type for relation in engine.memories.relations(keys.id)} == {"BUILDS_ON", "MENTIONS"}
    assert engine.sessions.report("s1").links
    assert not [m for m in found(engine, "carrier") if m.id == keys.id]
    assert found(engine, "shipper")[0].id == keys.id
    assert engine.maintenance.doctor().problems == []
    engine.encoder.drain()
    assert engine.maintenance.stats()["totals"]["vectors"] == len(sections(engine))


def test_the_old_text_leaves_index_and_statistics(engine: Engine, notes: Notes, opened: Open) -> None:
    synced(engine)
    notes.write("plain.txt", "The pager rotates hourly.")
    notes.remove("ops/deploy.md")
    synced(engine)
    with engine.core.store.read("default") as reader:
        state = reader.state
        assert state is not None
        assert reader.terms.numbers(["week", "weekli", "weekly", "tuesday"]) == {}
        assert reader.terms.with_prefix(["hour"], 5)
    assert found(engine, "weekly Tuesdays") == []
    other = opened("store.db")  # a process that starts from the store sees the same
    assert other.search("hourly", record=False).results[0].memory.content == "The pager rotates hourly."
    # The writer's memory of word numbers is void too: what was dropped is given a number anew.
    notes.write("plain.txt", "The pager rotates weekly, on Tuesdays.")
    synced(engine)
    assert found(engine, "weekly Tuesdays")[0].content == "The pager rotates weekly, on Tuesdays."


def test_a_moved_section_and_a_renamed_heading_keep_their_ids(engine: Engine, notes: Notes) -> None:
    synced(engine)
    first, keys, evict = sections(engine, "cache.md")
    moved = f"## 지우기\n\n이벤트가 오면 지운다. {LONG}\n\n## Keys\n\nA key names the carrier. {LONG}\n"
    text = f"# Cache\n\n{LONG}\n\n{moved}"
    notes.write("cache.md", f"---\ndate: 2026-03-05\ntags: [redis]\nowner: ingrid\n---\n{text}")
    synced(engine)
    now = sections(engine, "cache.md")
    assert [(memory.id, memory.title) for memory in now] == [
        (first.id, "Cache"), (evict.id, "Cache › 지우기"), (keys.id, "Cache › Keys"),
    ]  # fmt: skip


@pytest.mark.parametrize("edited", [False, True])
def test_a_rename_keeps_the_document_its_memories_and_their_usage(engine: Engine, notes: Notes, edited: bool) -> None:
    synced(engine)
    engine.encoder.drain()
    before = sections(engine, "cache.md")
    engine.confirm(before[0].id)
    notes.move("cache.md", "wiki/caching.md")
    if edited:
        text = (notes.root / "wiki/caching.md").read_text(encoding="utf-8")
        notes.write("wiki/caching.md", text.replace("A key names the carrier.", "A key names the parcel."))
    report = synced(engine)
    assert (report.renamed, report.added, report.removed) == ((("cache.md", "wiki/caching.md"),), (), ())
    after = sections(engine, "wiki/caching.md")
    assert [memory.id for memory in after] == [memory.id for memory in before]
    assert {memory.document for memory in after} == {memory.document for memory in before}
    assert after[0].confirmed
    assert after[0].citations[0].path == "wiki/caching.md"
    assert after[0].attributes["category"] == "knowledge"
    assert {memory.id for memory in after} <= {memory.id for memory in found(engine, "wiki/caching.md")}
    waiting = engine.maintenance.stats()["totals"]["backlog"]
    assert waiting == (1 if edited else 0)  # what the encoder reads did not change with the path
    assert engine.maintenance.doctor().problems == []


def test_what_is_unlike_is_no_rename(engine: Engine, notes: Notes) -> None:
    synced(engine)
    notes.remove("plain.txt")
    notes.write("other.txt", "Couriers carry two batteries.")
    report = synced(engine)
    assert (report.renamed, report.added, report.removed) == ((), ("other.txt",), ("plain.txt",))


def test_a_removed_file_leaves_at_once(engine: Engine, notes: Notes) -> None:
    synced(engine)
    engine.encoder.drain()
    notes.remove("plain.txt")
    report = synced(engine)
    assert (report.removed, report.sections_removed) == (("plain.txt",), 1)
    assert found(engine, "pager") == []
    assert len(engine.vaults.counts()["notes"]) == 2
    assert engine.maintenance.doctor().problems == []


def test_links_become_relations_when_their_target_appears_and_go_with_the_text(engine: Engine, notes: Notes) -> None:
    notes.write("a.md", "Read [[later#둘째|that]] first.\n")
    synced(engine)
    (a,) = sections(engine, "a.md")
    assert engine.memories.relations(a.id) == []
    notes.write("x/later.md", f"# Later\n\n{LONG}\n\n## 둘째\n\n{LONG}{LONG}\n")
    synced(engine)
    target = next(m for m in sections(engine, "x/later.md") if m.title == "Later › 둘째")
    (relation,) = engine.memories.relations(a.id)
    assert (relation.source, relation.target, relation.type, relation.origin) == (a.id, target.id, "MENTIONS", "rule")
    notes.write("later.md", "# Nearer\n")  # a shorter path wins from now on
    synced(engine)
    assert [r.target for r in engine.memories.relations(a.id)] == [sections(engine, "later.md")[0].id]
    notes.remove("later.md")
    synced(engine)
    assert [r.target for r in engine.memories.relations(a.id)] == [target.id]
    notes.write("a.md", "Read nothing.\n")
    synced(engine)
    assert engine.memories.relations(a.id) == []


def test_a_relation_of_the_users_is_not_the_rules_to_drop(engine: Engine, notes: Notes) -> None:
    synced(engine)
    (deploy,), (plain,) = sections(engine, "ops/deploy.md"), sections(engine, "plain.txt")
    engine.relate(deploy.id, plain.id, "MENTIONS")
    notes.write("ops/deploy.md", "# Deploys\n\nNo links at all.\n")
    synced(engine)
    assert [(r.target, r.origin) for r in engine.memories.relations(deploy.id)] == [(plain.id, "user")]


def test_cards_are_one_memory_of_kind_lesson(engine: Engine, notes: Notes) -> None:
    notes.write("lessons/stale.md", f"# Stale\n\n## Mistake\n{LONG}\n\n## Fix\n{LONG}\n")
    notes.write("플레이북/배포.md", "# 배포\n\n1. 알린다.\n")
    synced(engine)
    (card,), (playbook,) = sections(engine, "lessons/stale.md"), sections(engine, "플레이북/배포.md")
    assert (card.kind, card.attributes["lessonKind"]) == ("lesson", "lesson")
    assert (playbook.kind, playbook.attributes["lessonKind"]) == ("lesson", "playbook")


def test_a_secret_in_a_note_is_redacted(engine: Engine, notes: Notes) -> None:
    key = "sk" + "_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    notes.write("env.md", f"Set STRIPE_KEY={key} first.")
    synced(engine)
    assert key not in sections(engine, "env.md")[0].content
    assert synced(engine).unchanged == 4


# ── what belongs to the vault ──


def test_raw_operational_and_hidden_folders_stay_out_unless_asked_for(engine: Engine, notes: Notes) -> None:
    for path in ("00_Raw/a.md", "transcripts/b.md", "sessions/c.md", "docs/records/d.md", ".obsidian/e.md",
                 "node_modules/f/g.md", ".hidden.md", "drafts/h.md"):  # fmt: skip
        notes.write(path, f"text of {path}")
    assert set(synced(engine).added) == {"cache.md", "ops/deploy.md", "plain.txt", "drafts/h.md"}
    engine.vaults.add(notes.root, include_raw=True, exclude=["drafts/", "b.md"])
    report = synced(engine)
    assert (report.added, report.removed) == (("00_Raw/a.md",), ("drafts/h.md",))
    engine.vaults.add(notes.root, include_operational=True, include=["transcripts/*.md"])
    report = synced(engine)
    assert report.added == ("docs/records/d.md", "drafts/h.md", "sessions/c.md", "transcripts/b.md")
    assert report.removed == ("00_Raw/a.md",)


def test_scopes_limit_the_vault_and_one_that_escapes_is_dropped_and_told(engine: Engine, notes: Notes) -> None:
    (notes.root.parent / "notes-secret").mkdir()
    (notes.root / "linked").symlink_to(notes.root.parent / "notes-secret")
    escaping = ["../notes-secret", "/etc", str(notes.root.parent / "notes-secret"), "linked", "nowhere"]
    engine.vaults.add(notes.root, scopes=["ops", *escaping])
    report = synced(engine)
    assert report.added == ("ops/deploy.md",)
    assert [problem.path for problem in report.dropped_scopes] == escaping
    assert {problem.reason for problem in report.dropped_scopes[:4]} == {"it leads out of the vault"}
    assert synced(engine).dropped_scopes == report.dropped_scopes  # told every time
    with pytest.raises(InvalidInput, match="none of the scopes"):
        engine.vaults.add(notes.root, scopes=["../notes-secret"])


def test_only_named_paths_are_looked_at(engine: Engine, notes: Notes) -> None:
    synced(engine)
    notes.write("plain.txt", "changed")
    notes.write("ops/new.md", "new here")
    notes.remove("ops/deploy.md")
    (report,) = engine.vaults.sync("notes", ["ops"]).vaults
    assert (report.added, report.changed, report.removed) == (("ops/new.md",), (), ("ops/deploy.md",))
    (report,) = engine.vaults.sync("notes", [str(notes.root / "plain.txt")]).vaults
    assert report.changed == ("plain.txt",)


# ── several of them, and stops ──


def test_two_syncs_at_once_are_refused_and_lose_nothing(engine: Engine, notes: Notes, opened: Open) -> None:
    other = opened("store.db")
    started, go_on = threading.Event(), threading.Event()

    def waiting(done: int, total: int) -> None:
        started.set()
        go_on.wait(10)

    report: list[object] = []
    thread = threading.Thread(target=lambda: report.append(engine.vaults.sync("notes", progress=waiting)))
    thread.start()
    assert started.wait(10)
    with pytest.raises(StoreBusy, match="another process is syncing"):
        other.vaults.sync("notes")
    go_on.set()
    thread.join()
    assert report
    assert other.vaults.sync("notes").vaults[0].unchanged == 3
    assert len(sections(engine)) == 5


def test_a_lease_that_was_lost_stops_the_writer(engine: Engine, notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    read = files.Root.read

    def losing(self: Root, path: str) -> object:
        vault = engine.vaults.get("notes").id
        with engine.core.store.write_all() as tx:
            holder = tx.lease_holder(f"vault:{vault}")
            assert holder is not None
            tx.drop_lease(f"vault:{vault}", holder)
            tx.hold_lease(f"vault:{vault}", "1-another", 0, 99_999_999_999)
        return read(self, path)

    monkeypatch.setattr(files.Root, "read", losing)
    with pytest.raises(StoreBusy):
        synced(engine)
    assert sections(engine) == []


def test_a_stopped_sync_goes_on_where_it_was(engine: Engine, notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recallens.engine.vault_sync.BATCH_FILES", 1)

    def interrupted(done: int, total: int) -> None:
        assert total == 3
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.vaults.sync("notes", progress=interrupted)
    report = synced(engine)
    assert len(report.added) == 1
    assert report.unchanged == 2
    assert len(sections(engine)) == 5
    assert engine.maintenance.doctor().problems == []


def test_vaults_are_listed_and_removed(engine: Engine, notes: Notes, tmp_path: Path) -> None:
    second = Notes(tmp_path / "second")
    second.write("cache.md", "the same name in another vault")
    engine.vaults.add(second.root, "둘째 금고", project="p")
    report = engine.vaults.sync()
    assert [one.vault for one in report.vaults] == ["notes", "둘째 금고"]
    assert engine.vaults.counts() == {"notes": (3, 5), "둘째 금고": (1, 1)}
    assert engine.vaults.remove("notes") == 5
    assert [memory.project for memory in sections(engine)] == ["p"]
    assert found(engine, "Deploys Tuesdays") == []
    with pytest.raises(NotFound, match="the vaults are: 둘째 금고"):
        engine.vaults.sync("notes")
    assert (notes.root / "cache.md").exists()
    engine.maintenance.remove_namespace("default")
    assert engine.vaults.all() == []


@pytest.mark.parametrize("name", ["", "a/b", "a:b", " "])
def test_a_name_must_be_one(engine: Engine, notes: Notes, name: str) -> None:
    with pytest.raises(InvalidInput):
        engine.vaults.add(notes.root, name)
    with pytest.raises(NotFound, match="there is no folder"):
        engine.vaults.add(notes.root / "nowhere")
