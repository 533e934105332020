"""Changing, hiding and deleting what is known, and mending what is derived from it."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import EncoderMismatch, EncoderMissing, InvalidInput, NotFound, StoreDamaged, StoreReadOnly
from recallens.index import resident
from recallens.ingest.draft import Draft
from recallens.model.citation import Citation, FileCitation
from recallens.model.memory import RelationType, Status, Usage, Zone
from recallens.model.salience import DAY_MS
from standing import FixedClock, Open


def found(engine: Engine, text: str, **options: object) -> list[str]:
    """Whatever is there to be found, whether or not it is likely to help."""
    return [result.memory.id for result in engine.search(text, record=False, cut=False, **options).results]


def bytes_of(engine: Engine) -> bytes:
    """Every byte of every file that the store consists of: database, log, shared memory, index folder."""
    folder = Path(engine.core.store.location).parent
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


# ── supersede and edit ──


def test_a_chain_of_supersessions_ends_in_the_last(engine: Engine, clock: FixedClock) -> None:
    ids = [engine.remember("The deploy day is Monday").id]
    for day in ("Tuesday", "Wednesday", "Thursday"):
        clock.advance(days=1)
        ids.append(engine.edit(ids[-1], f"The deploy day is {day}").id)
    assert found(engine, "deploy day") == [ids[-1]]
    everything = engine.search("deploy day", include_superseded=True, record=False)
    successors = {r.memory.id: r.superseded_by.id if r.superseded_by else None for r in everything.results}
    assert successors == dict(zip(ids, [*ids[1:], None], strict=True))
    assert [engine.get(id).status for id in ids] == [Status.SUPERSEDED] * 3 + [Status.ACTIVE]


def test_circles_are_refused(engine: Engine) -> None:
    a, b, c = (engine.remember(f"The colour is {colour}").id for colour in ("red", "green", "blue"))
    engine.supersede(a, b)
    engine.supersede(b, c)
    for old, new in ((c, a), (b, a), (c, b)):
        with pytest.raises(InvalidInput, match="that would be a circle"):
            engine.supersede(old, new)
    with pytest.raises(InvalidInput, match="cannot supersede itself"):
        engine.supersede(a, a)
    assert found(engine, "colour") == [c]


def test_what_no_longer_holds_replaces_nothing(engine: Engine) -> None:
    things = ("lamp", "oven", "fan", "tap")
    old, gone, replaced, refused = (engine.remember(f"The {thing} is on").id for thing in things)
    engine.forget(gone)
    engine.supersede(replaced, engine.remember("The new fan is on").id)
    with engine.core.changing(None) as tx:
        tx.memories.update(engine.core.num(tx, refused), {"status": Status.REJECTED})
    for new, status in ((gone, "forgotten"), (replaced, "superseded"), (refused, "rejected")):
        for supersede in (engine.supersede, lambda old, new: engine.relate(new, old, "SUPERSEDES")):
            with pytest.raises(InvalidInput, match=f"is {status} and can replace nothing"):
                supersede(old, new)
    assert engine.get(old).status is Status.ACTIVE
    engine.restore(gone)
    engine.supersede(old, gone)
    assert engine.get(old).status is Status.SUPERSEDED


def test_an_edit_is_a_new_memory_with_the_old_attributes(engine: Engine, clock: FixedClock) -> None:
    old = engine.remember(
        "The rate limit is 60", title="Limits", project="api", sector="procedural", kind="decision", tier="session",
        tags=("limits",), importance=0.9, confidence=0.4, author="mina", citations=(FileCitation("limits.toml", 3),),
    ).id  # fmt: skip
    clock.advance(days=1)
    edited = engine.edit(old, "The rate limit is 90")
    new, before = engine.get(edited.id), engine.get(old)
    assert before.content == "The rate limit is 60"  # content is immutable
    assert (before.status, before.valid_until) == (Status.SUPERSEDED, clock.now)
    assert (new.content, new.created, new.status) == ("The rate limit is 90", clock.now, Status.ACTIVE)
    for name in (
        "title",
        "project",
        "sector",
        "kind",
        "tier",
        "tags",
        "importance",
        "confidence",
        "author",
        "citations",
    ):
        assert getattr(new, name) == getattr(before, name), name


def test_an_edit_that_changes_little_is_not_taken_for_a_duplicate(engine: Engine) -> None:
    old = engine.remember("The nightly backup of the warehouse starts at two in the morning").id
    new = engine.edit(old, "The nightly backup of the warehouse starts at two in the morning.").id
    assert new != old
    assert found(engine, "nightly backup") == [new]


def test_a_memory_that_supersedes_another_is_never_merged_into_it(engine: Engine) -> None:
    text = "The nightly backup of the big warehouse database starts at two in the early morning"
    old = engine.remember(text).id
    new = engine.remember(f"{text} now", supersedes=old)
    assert new.outcome == "created"
    (batch,) = engine.memories.remember_many([Draft(f"{text} now again", supersedes=new.id)])
    assert batch[0].outcome == "created"
    assert found(engine, "nightly backup") == [batch[0].id]


def test_superseding_the_forgotten_is_refused_and_changes_nothing(engine: Engine) -> None:
    old = engine.remember("A lost thought").id
    engine.forget(old)
    with pytest.raises(InvalidInput, match="is forgotten"):
        engine.edit(old, "A found thought")
    assert found(engine, "thought", include_superseded=True) == []
    assert engine.maintenance.stats()["totals"]["memories"] == 1


# ── relate ──


@pytest.mark.parametrize("type", list(RelationType))
def test_relations_of_every_type(engine: Engine, type: RelationType) -> None:
    source, target = engine.remember("The cause is known").id, engine.remember("The effect is known").id
    engine.relate(source, target, type.lower(), confidence=0.6)
    (relation,) = engine.memories.relations(source)
    assert (relation.source, relation.target, relation.type) == (source, target, type)
    assert engine.memories.relations(target) == [relation]
    if type is RelationType.SUPERSEDES:
        assert engine.get(target).status is Status.SUPERSEDED
    else:
        assert (relation.confidence, relation.origin) == (0.6, "user")


def test_a_relation_stated_twice_is_one_relation(engine: Engine) -> None:
    a, b = engine.remember("One side").id, engine.remember("Another side").id
    engine.relate(a, b, "CONTRADICTS", confidence=0.2)
    engine.relate(a, b, "CONTRADICTS", confidence=0.9)
    assert [r.confidence for r in engine.memories.relations(a)] == [0.9]
    with pytest.raises(InvalidInput, match="cannot be related to itself"):
        engine.relate(a, a)
    with pytest.raises(InvalidInput, match="use one of: SUPERSEDES, CONTRADICTS"):
        engine.relate(a, b, "LIKES")


# ── forget and restore ──


def test_forgotten_is_hidden_until_restored(engine: Engine) -> None:
    id = engine.remember("The spare key is under the mat").id
    engine.forget(id)
    assert found(engine, "spare key", include_superseded=True) == []
    assert engine.get(id).status is Status.FORGOTTEN
    assert engine.restore(id) is Status.ACTIVE
    assert found(engine, "spare key") == [id]
    with pytest.raises(InvalidInput, match="is active"):
        engine.restore(id)


@pytest.mark.parametrize("status", ["pending_review", "quarantined"])
def test_restoring_what_nobody_decided_on_decides_nothing(engine: Engine, status: str) -> None:
    id = engine.remember("The spare key is under the mat", status=status, attributes={"room": "hall"}).id
    engine.forget(id)
    assert engine.restore(id) is Status(status)
    assert engine.get(id).attributes == {"room": "hall"}
    assert found(engine, "spare key") == []
    engine.memories.review(id, approve=True)
    assert found(engine, "spare key") == [id]


def test_a_superseded_memory_is_restored_as_superseded(engine: Engine) -> None:
    old = engine.remember("The key is under the mat").id
    engine.edit(old, "The key is in the drawer")
    engine.forget(old)
    assert engine.restore(old) is Status.SUPERSEDED


SECRET = "zyzzyva"


def test_a_hard_forget_leaves_no_byte(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in the file, its log, the index folder, nor any word of it in the dictionary."""
    monkeypatch.setattr(resident, "SMALLEST_IMAGE", 1)
    engine = opened()
    engine.sessions.start("s1")
    gone = engine.remember(
        f"The password hint is {SECRET}word near Quetzalcoatl", title=f"{SECRET}title", summary=f"{SECRET}summary",
        tags=(f"{SECRET}tag",), session="s1", author=f"{SECRET}author", attributes={"k": f"{SECRET}attribute"},
        citations=(FileCitation(f"src/{SECRET}file.py"),),
    ).id  # fmt: skip
    kept = engine.remember("The hint is elsewhere").id
    engine.relate(kept, gone, "MENTIONS")
    engine.edit(gone, f"The {SECRET}word has changed")
    engine.search(f"{SECRET}word", session="s1")
    engine.confirm(gone)
    assert engine.maintenance.publish() is True
    assert SECRET.encode() in bytes_of(engine)
    both = found(engine, SECRET, include_superseded=True, mode="keyword")
    assert len(both) == 2
    engine.forget(both[0] if both[1] == gone else both[1], hard=True)  # the older version goes with it
    assert SECRET.encode() not in bytes_of(engine).lower()
    assert b"quetzalcoatl" not in bytes_of(engine).lower()
    assert [row[0] for row in engine.core.store.connection.execute("SELECT term FROM terms ORDER BY 1")] == [
        "elsewher", "hint", "is", "the",
    ]  # fmt: skip
    assert found(engine, "hint") == [kept]
    assert list(engine.maintenance.doctor().problems) == []
    with pytest.raises(NotFound):
        engine.get(gone)


def test_pruning_shows_first_and_deletes_only_when_told(engine: Engine, clock: FixedClock) -> None:
    old = engine.remember(f"An old {SECRET} thought").id
    engine.forget(old)
    clock.advance(days=40)
    recent = engine.remember("A recent slip").id
    engine.forget(recent)
    superseded = engine.remember("A replaced claim").id
    engine.edit(superseded, "A better claim")
    clock.advance(days=10)
    assert [m.id for m in engine.maintenance.prune(older_than_days=30)] == [old]
    assert engine.get(old).status is Status.FORGOTTEN  # a dry run
    assert [m.id for m in engine.maintenance.prune(older_than_days=30, dry_run=False)] == [old]
    with pytest.raises(NotFound):
        engine.get(old)
    assert SECRET.encode() not in bytes_of(engine)
    assert engine.get(recent).status is Status.FORGOTTEN
    assert {m.id for m in engine.maintenance.prune(older_than_days=5, superseded=True)} == {recent, superseded}
    assert engine.maintenance.prune(older_than_days=5, namespace="nowhere") == []
    with pytest.raises(InvalidInput):
        engine.maintenance.prune(older_than_days=-1)


# ── confirm, de-emphasise, review ──


def test_confirming_takes_a_tenth_of_the_way_to_one_and_restarts_decay(engine: Engine, clock: FixedClock) -> None:
    id = engine.remember("The door opens inwards", salience=0.5).id
    clock.advance(days=30)
    engine.confirm(id, session="walk")
    memory = engine.get(id)
    assert (memory.confirmed, memory.uses, memory.last_used) == (True, 1, clock.now)
    own = 0.5 + 0.02 * math.log(2)
    assert engine.memories.salience([memory])[id] == pytest.approx(own + 0.1 * (1 - own), abs=1e-12)
    context = engine.sessions.context(id)
    assert context is not None
    assert (context.session.id, context.usage) == ("walk", Usage.REINFORCED)


def test_deemphasis_halves_what_a_memory_weighs(engine: Engine) -> None:
    loud, quiet = (engine.remember("The bell rings", dedupe=False).id for _ in range(2))
    assert engine.memories.deemphasise(loud) == 0.5
    assert found(engine, "bell") == [quiet, loud]
    assert engine.memories.salience([engine.get(loud)])[loud] == 0.5
    assert engine.memories.deemphasise(loud) == 0.25


@pytest.mark.parametrize(
    "draft",
    [
        Draft("An import says so", zone="quarantine"),
        Draft("An agent thinks so", status="pending_review"),
        Draft("A tool printed this", status="quarantined", zone="quarantine"),
    ],
    ids=["zone", "pending", "quarantined"],
)
def test_what_awaits_review_is_stored_and_not_served_until_approved(engine: Engine, draft: Draft) -> None:
    id, other = (engine.remember(draft, dedupe=False).id for _ in range(2))
    assert [memory.id for memory in engine.memories.awaiting_review()] == [id, other]
    assert found(engine, draft.content) == []
    engine.memories.review(id, approve=True)
    engine.memories.review(other, approve=False)
    assert engine.memories.awaiting_review() == []
    assert found(engine, draft.content) == [id]
    assert engine.get(id).zone is Zone.TRUSTED
    assert engine.get(other).status is Status.REJECTED
    with pytest.raises(InvalidInput, match="it is not waiting for review"):
        engine.memories.review(id, approve=True)


# ── namespaces ──


def test_namespaces_know_nothing_of_each_other(engine: Engine) -> None:
    mine = engine.remember("The vault code is in the safe", namespace="a").id
    theirs = engine.remember("The vault code is in the safe", namespace="b")
    assert theirs.outcome == "created"
    assert found(engine, "vault", namespace="a") == [mine]
    assert engine.search("vault", namespace="c", record=False).notice == "namespace 'c' holds nothing yet"
    for act in (
        lambda: engine.get(mine, namespace="b"),
        lambda: engine.forget(mine, namespace="b"),
        lambda: engine.relate(mine, theirs.id, namespace="b"),
        lambda: engine.supersede(mine, theirs.id, namespace="a"),
        lambda: engine.layers.timeline(mine, namespace="b"),
        lambda: engine.confirm(mine, namespace="b"),
    ):
        with pytest.raises(NotFound):
            act()
    assert engine.maintenance.namespaces() == [("a", 1), ("b", 1)]


def test_a_removed_namespace_leaves_no_byte(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "SMALLEST_IMAGE", 1)
    engine = opened()
    for namespace in ("keep", "drop"):
        engine.sessions.start("s1", title=f"{namespace}{SECRET}", namespace=namespace)
        engine.remember(
            f"{namespace}{SECRET} is the word", namespace=namespace, session="s1", tags=(f"tag{namespace}{SECRET}",)
        )
        engine.memories.add_document(
            f"# Doc\n\n{namespace}{SECRET} document", path=f"{namespace}.md", namespace=namespace
        )
        engine.search("word", namespace=namespace, session="s1")
        engine.maintenance.publish(namespace)
    assert engine.maintenance.remove_namespace("drop") == 2
    content = bytes_of(engine)
    assert f"drop{SECRET}".encode() not in content
    assert b"drop.md" not in content
    assert f"keep{SECRET}".encode() in content
    assert engine.maintenance.namespaces() == [("keep", 2)]
    assert list(engine.maintenance.doctor().problems) == []
    with pytest.raises(NotFound, match="no namespace 'drop'"):
        engine.maintenance.remove_namespace("drop")


# ── backup, damage, rebuilding ──


def test_a_backup_opens_and_searches(engine: Engine, opened: Open, tmp_path: Path) -> None:
    id = engine.remember("The pump is in the cellar").id
    engine.maintenance.backup(str(tmp_path / "copy.db"))
    engine.remember("The hose is in the shed")
    copy = opened("copy.db")
    assert found(copy, "pump") == [id]
    assert found(copy, "hose", mode="keyword") == []
    assert list(copy.maintenance.doctor().problems) == []
    with pytest.raises(InvalidInput, match="already exists"):
        engine.maintenance.backup(str(tmp_path / "copy.db"))
    with pytest.raises(InvalidInput, match="does not exist"):
        engine.maintenance.backup(str(tmp_path / "no" / "copy.db"))


def test_a_backup_put_in_the_place_of_its_original_ignores_the_old_index(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index files beside it are of a history that the copy does not share."""
    monkeypatch.setattr(resident, "SMALLEST_IMAGE", 1)
    engine = opened()
    engine.remember("The pump is in the cellar")
    engine.maintenance.backup(str(tmp_path / "copy.db"))
    for number in range(5):
        engine.remember(f"The lost thing number {number}", dedupe=False)
    assert engine.maintenance.publish() is True
    engine.close()
    (tmp_path / "copy.db").replace(tmp_path / "store.db")
    restored = opened()
    for number in range(8):
        restored.remember(f"The new thing number {number}", dedupe=False)
    again = opened()
    contents = {r.memory.content for r in again.search("thing number pump", limit=50, record=False, cut=False).results}
    assert contents == {"The pump is in the cellar", *(f"The new thing number {n}" for n in range(8))}


DAMAGES = {
    "DELETE FROM lexical WHERE num = 2": "1 memories without a lexical entry",
    "UPDATE lexical SET terms = x'' WHERE num = 2": "1 lexical entries whose length differs from their memory's",
    "UPDATE memories SET length = 99 WHERE num = 2": "1 lexical entries whose length differs from their memory's",
    "DELETE FROM vectors WHERE num = 2": "1 memories without a vector and not in the backlog",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_doctor_finds_what_is_missing_and_reindex_mends_it(engine: Engine, opened: Open, damage: str) -> None:
    for number in range(4):
        engine.remember(f"The pump number {number} is in cellar {number}", title=f"Pump {number}", dedupe=False)
    healthy = engine.recall(engine.recalls.query("pump in cellar 2")).ledger.canonical()
    assert engine.maintenance.doctor().problems == []
    engine.core.store.connection.execute(damage)
    *digests, named = engine.maintenance.doctor().problems
    assert named == DAMAGES[damage]
    assert [digest.rpartition(" ")[0] for digest in digests] in (
        ["index: words of memory m2: it is not as"],
        ["index: memory m2: its counts are not as"],
        ["index: vectors of memory m2: it is not as"],
    )
    assert opened().maintenance.reindex()["entries"] == 4
    engine.encoder.drain()
    assert engine.maintenance.doctor().problems == []
    assert engine.recall(engine.recalls.query("pump in cellar 2")).ledger.canonical() == healthy


def test_reindex_gives_back_words_labels_and_dictionary(engine: Engine) -> None:
    engine.remember("See src/pump/main.py for E1234", tags=("pumps",))
    healthy = engine.recall(engine.recalls.query("main.py E1234 #pumps")).ledger.canonical()
    for table in ("lexical", "labels", "terms"):
        engine.core.store.connection.execute(f"DELETE FROM {table}")
    engine.maintenance.reindex()
    assert engine.recall(engine.recalls.query("main.py E1234 #pumps")).ledger.canonical() == healthy


def test_changing_the_encoder_reembeds_while_words_serve(engine: Engine) -> None:
    ids = {engine.remember(f"The pump number {n} hums", dedupe=False).id for n in range(3)}
    assert engine.maintenance.reindex(encoder="hashing:32") == {"entries": 3, "queued": 3}
    meanwhile = engine.search("pump", record=False)
    assert {result.memory.id for result in meanwhile.results} == ids
    assert {result.match_type for result in meanwhile.results} == {"keyword"}
    assert meanwhile.degraded == {"semantic": "vectors incomplete: 3 memories wait for theirs; words find them"}
    assert engine.encoder.drain(limit=2) >= 2
    engine.encoder.drain()
    after = engine.search("pump", record=False)
    assert {result.match_type for result in after.results} == {"both"}
    assert after.encoder == "hashing-test@1/32/none"
    assert engine.maintenance.doctor().problems == []


def test_another_encoder_than_the_store_uses_is_refused(engine: Engine, opened: Open) -> None:
    engine.remember("The pump hums")
    other = opened(encoder="hashing:32")
    for act in (lambda: other.remember("x"), lambda: other.search("pump")):
        with pytest.raises(EncoderMismatch, match="this store was encoded with hashing, but hashing:32 is set"):
            act()
    assert engine.maintenance.stats()["totals"]["memories"] == 1


class Gone:
    """An encoder whose model is no longer there."""

    def __init__(self, key: object) -> None:
        self.key = key
        self.languages = ()

    def encode_query(self, text: str) -> object:
        raise EncoderMissing("the model is gone", hint="Fetch it.")

    def encode_documents(self, texts: object) -> object:
        raise EncoderMissing("the model is gone", hint="Fetch it.")


def test_a_missing_encoder_degrades_hybrid_search_and_stops_no_write(engine: Engine, opened: Open) -> None:
    from recallens.index.encoders.protocol import EncoderKey

    id = engine.remember("The pump hums").id
    without = opened(encoder=Gone(EncoderKey.parse(engine.core.encoding.key)))
    recall = without.search("pump", record=False)
    assert [result.memory.id for result in recall.results] == [id]
    assert recall.degraded == {"semantic": "EncoderMissing: the model is gone Fetch it."}
    assert without.search("pump", mode="keyword", record=False).degraded == {}
    alone = without.search("pump", mode="semantic", record=False)
    assert (alone.results, alone.degraded) == ((), recall.degraded)
    written = without.remember("The hose leaks")
    assert (written.outcome, written.embedded) == ("created", False)
    assert len(without.memories.add_document("The pump has a manual.", path="manual.md").memories) == 1
    assert engine.maintenance.doctor().facts["backlog"] == 2
    assert engine.encoder.drain() == 2
    assert engine.maintenance.doctor().problems == []


def test_an_encoder_that_cannot_be_opened_is_an_error_only_where_it_is_needed(opened: Open, tmp_path: Path) -> None:
    """The store says which encoder it uses; here that one needs a package that is not installed."""
    engine = opened()
    id = engine.remember("The pump hums").id
    with engine.core.store.write_all() as tx:
        tx.set_meta("encoder-spec", "fastembed:nobody/nothing")
        tx.set_meta("encoder-key", "nobody/nothing@1/64/none")
    later = Engine.open(tmp_path / "store.db")
    recall = later.search("pump", record=False)
    assert [result.memory.id for result in recall.results] == [id]
    assert set(recall.degraded) == {"semantic"}
    with pytest.raises(EncoderMissing, match="pip install"):
        later.search("pump", mode="semantic")
    assert any(problem.startswith("encoder: ") for problem in later.maintenance.doctor().problems)
    later.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_store_is_searched_and_not_written_to(engine: Engine, opened: Open, tmp_path: Path) -> None:
    engine.remember("The pump hums")
    engine.close()
    (tmp_path / "store.db").chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        reader = opened()
        recall = reader.search("pump")
        assert (len(recall.results), recall.recorded) == (1, False)
        with pytest.raises(StoreReadOnly):
            reader.remember("no")
    finally:
        tmp_path.chmod(0o755)


def test_a_file_that_is_no_store_is_left_as_it_is(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("not a database at all, just some text that is long enough\n" * 40)
    before = (tmp_path / "notes.db").read_bytes()
    with pytest.raises(StoreDamaged):
        opened("notes.db")
    assert (tmp_path / "notes.db").read_bytes() == before


# ── the same thing said twice ──


def test_the_same_text_is_one_memory(engine: Engine) -> None:
    first = engine.remember("The gateway listens on port 8443", tags=("net",))
    again = engine.remember("The gateway listens on port 8443", tags=("tls",))
    assert (again.id, again.outcome) == (first.id, "duplicate")
    memory = engine.get(first.id)
    assert set(memory.tags) == {"net", "tls"}
    assert memory.uses == 1


LONG = "The nightly backup of the warehouse database starts at two in the morning and is kept for thirty days"


@pytest.mark.parametrize(
    ("second", "outcome"),
    [
        (LONG + ".", "near-duplicate"),
        (LONG.replace("The nightly", "the nightly"), "near-duplicate"),
        (LONG.replace("is kept", "is not kept"), "created"),
        (LONG.replace("thirty", "sixty"), "created"),
        (LONG.replace("two", "2"), "created"),
        ("A wholly different sentence about something else", "created"),
    ],
)
def test_near_duplicates_merge_unless_they_say_something_else(engine: Engine, second: str, outcome: str) -> None:
    first = engine.remember(LONG)
    again = engine.remember(second)
    assert again.outcome == outcome
    assert (again.id == first.id) == (outcome != "created")


@pytest.mark.parametrize("text", ["!!!", "🎉🎉🎉", "…—…"])
def test_text_without_a_word_is_kept_and_never_merged(engine: Engine, text: str) -> None:
    first, second = engine.remember(text), engine.remember(text)
    assert first.id != second.id
    assert second.outcome == "created"
    assert engine.maintenance.doctor().problems == []


def test_another_project_is_another_memory(engine: Engine) -> None:
    first = engine.remember(LONG, project="a")
    for text in (LONG, LONG + "."):
        assert engine.remember(text, project="b", dedupe=True).id != first.id
    assert engine.remember(LONG).outcome == "created"  # and so is none
    assert engine.remember(LONG, project="a").id == first.id


def test_a_batch_recognises_its_own_repetitions(engine: Engine) -> None:
    (batch,) = engine.memories.remember_many([Draft(LONG), Draft("Something else"), Draft(LONG), Draft(LONG + ".")])
    assert [one.outcome for one in batch] == ["created", "created", "duplicate", "near-duplicate"]
    assert [batch[2].id, batch[3].id] == [batch[0].id] * 2


def test_what_was_forgotten_is_not_merged_into(engine: Engine) -> None:
    first = engine.remember(LONG)
    engine.forget(first.id)
    again = engine.remember(LONG)
    assert (again.outcome, again.id != first.id) == ("created", True)
    assert found(engine, "nightly backup") == [again.id]


def test_a_section_of_a_document_is_not_merged(engine: Engine) -> None:
    engine.memories.add_document(LONG, path="a.md")
    assert engine.remember(LONG).outcome == "created"
    assert len(engine.memories.add_document(LONG, path="b.md").memories) == 1


# ── secrets ──


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Use AKIAIOSFODNN7EXAMPLF for the bucket", "AKIAIOSFODNN7EXAMPLF"),
        ("The database is at postgres://app:hunter2hunter2@db/prod", "hunter2hunter2"),
        ("password: Tr0ub4dor&3xyz and nothing else", "Tr0ub4dor&3xyz"),
    ],
)
def test_a_secret_never_reaches_the_disk(engine: Engine, text: str, secret: str) -> None:
    """In the text, the title, the summary and a document."""
    kept = engine.remember(text, title=text, summary=text)
    assert kept.redacted
    engine.memories.add_document(f"# Notes\n\n{text}", path="notes.md")
    engine.search("database bucket password", session="s")
    memory = engine.get(kept.id)
    assert "[REDACTED:" in memory.content
    content = bytes_of(engine)
    assert secret.encode() not in content
    assert secret.lower().encode() not in content.lower()


def test_retention_counts_from_when_it_was_forgotten(engine: Engine, clock: FixedClock) -> None:
    id = engine.remember("Old but lately forgotten", created=clock.now - 400 * DAY_MS).id
    engine.forget(id)
    assert engine.maintenance.prune(older_than_days=30) == []
    clock.advance(days=30, ms=1)
    assert [m.id for m in engine.maintenance.prune(older_than_days=30)] == [id]


def test_citations_of_a_duplicate_are_added_to_the_memory(engine: Engine) -> None:
    first = engine.remember("The retry limit is five", citations=(FileCitation("retry.toml"),))
    engine.remember("The retry limit is five", citations=(FileCitation("retry.toml"), FileCitation("retry.md", 3, 9)))
    cited: tuple[Citation, ...] = engine.get(first.id).citations
    assert cited == (FileCitation("retry.toml"), FileCitation("retry.md", 3, 9))


# ── what cannot be kept is refused before anything is written ──


@pytest.mark.parametrize(
    ("attribute", "value", "complaint"),
    [
        ("created", "yesterday", "created must be a datetime or epoch milliseconds, not 'yesterday'"),
        ("valid_from", 2**70, "valid_from must be a datetime or epoch milliseconds"),
        ("valid_until", 1.5, "valid_until must be a datetime or epoch milliseconds, not 1.5"),
        ("project", 5, "project must be text, not 5"),
        ("author", b"x", "author must be text, not b'x'"),
        ("scopes", (3,), "scopes must be a list of texts"),
        ("position", -1, "position must be a whole number from 0, not -1"),
        ("attributes", {"a": object()}, "attributes must be plain JSON values"),
        ("attributes", {"a": "\ud800"}, "attributes must be plain JSON values"),
        ("status", "superseded", "a superseded memory needs valid-until"),
        ("importance", float("nan"), "importance is nan; it must be a number from 0 to 1"),
        ("sector", "lexical", "unknown sector 'lexical'; use one of: episodic, semantic"),
        ("nonsense", 1, "unknown attribute 'nonsense'; the attributes are: title, summary"),
    ],
)
def test_a_wrong_attribute_is_refused_and_the_store_stays_sound(
    engine: Engine, attribute: str, value: object, complaint: str
) -> None:
    kept = engine.remember("The pump hums").id
    with pytest.raises(InvalidInput, match=complaint):
        engine.remember("The hose leaks", **{attribute: value})
    assert found(engine, "pump hose") == [kept]
    assert engine.maintenance.doctor().problems == []


def test_names_are_cleaned_of_what_cannot_be_stored(engine: Engine) -> None:
    id = engine.remember("The pump hums", project="\ud800p\x00", session="s\udfff1", author="\x00mina").id
    memory = engine.get(id)
    assert (memory.project, memory.author) == ("p", "mina")
    assert found(engine, "pump", project="p\ud800", in_session="s1\x00") == [id]
    engine.sessions.start("\ud800two", title="\x00Two", project="p\ud800")
    assert engine.sessions.end("two\ud800", summary="\ud800done").summary == "done"
    assert engine.memories.add_document("The pump manual", path="\ud800manual.md").document.path == "manual.md"


def test_a_session_keeps_no_secret_either(engine: Engine) -> None:
    secret = "Tr0ub4dor&3xyz"
    engine.sessions.start("s1", title=f"password: {secret}")
    ended = engine.sessions.end("s1", summary=f"we set password: {secret} at last")
    assert ended.summary == "we set password: [REDACTED:password] at last"
    assert engine.memories.add_document("A manual", path="m.md", title=f"password: {secret}").document.title is not None
    assert secret.encode() not in bytes_of(engine)


def test_in_a_store_that_is_empty_yet_there_is_no_such_memory(engine: Engine) -> None:
    for change in (engine.forget, engine.restore, engine.get, lambda id: engine.edit(id, content="x")):
        with pytest.raises(NotFound, match="no memory 'm3' in this namespace"):
            change("m3")
    with pytest.raises(NotFound, match="no namespace 'team'"):
        engine.forget("m3", namespace="team")


def test_one_memory_that_waits_is_told_in_the_singular(engine: Engine) -> None:
    engine.remember("The pump hums")
    engine.maintenance.reindex(encoder="hashing:32")
    told = engine.search("pump", record=False).degraded["semantic"]
    assert told == "vectors incomplete: 1 memory waits for its own; words find it"
