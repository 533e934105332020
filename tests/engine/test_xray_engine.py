"""X-rays through the engine: nothing of another namespace, nothing mixed, kept by session, replayed, compared."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from recallens.engine import Engine
from recallens.engine.search import LEDGERS_KEPT
from recallens.errors import InvalidInput, NotFound, RecallensError
from recallens.model.memory import IdSource
from recallens.model.snapshot import Snapshot
from recallens.render import render
from recallens.xray.diff import GoneSince
from recallens.xray.why_not import KeptOut
from standing import FixedClock, Open

TEXTS = (
    "we cache tracking lookups for a minute",
    "the cache is cleared on every deploy",
    "deploys go out on tuesday",
    "login tokens live for an hour",
    "the gateway drops idle connections of Harbor Freight",
    "Harbor Freight pays by invoice",
)
_MEASURED = re.compile(r'"(ms|latencyMs)": [-+.e\d]+')


def unmeasured(snapshot: Snapshot) -> str:
    return _MEASURED.sub(r'"\1": 0', render(snapshot, "json"))


def unnumbered(page: str) -> str:
    """Handles count the memories of the store, and the digests are made over them."""
    return re.sub(r'"(handle|digest|snapshotId)": "[^"]+"', r'"\1": ""', page)


def fill(engine: Engine, namespace: str, texts: tuple[str, ...] = TEXTS) -> list[str]:
    ids = [engine.remember(text, namespace=namespace, dedupe=False).id for text in texts]
    engine.relate(ids[0], ids[1], confidence=0.7, namespace=namespace)
    return ids


QUESTIONS: tuple[dict[str, Any], ...] = (
    {"text": "how long do we cache tracking lookups"},
    {"text": "cache", "limit": 2, "budget": 300},
    {"text": "deploy", "mode": "keyword", "preset": "classic"},
    {"text": "how to deploy", "files": ["src/app.py"]},
    {"text": "invoice", "tags": ["none"]},
)


def counts(engine: Engine) -> dict[str, int]:
    db = engine.core.store.connection
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}


# ── apart ──


def test_a_snapshot_says_nothing_of_other_namespaces(opened: Open, clock: FixedClock) -> None:
    alone, crowded = (opened(name, ids=IdSource(clock, lambda bits: 0)) for name in ("alone.db", "crowded.db"))
    for namespace in ("before", "mine/too"):
        for at in range(30):
            crowded.remember(f"cache lookups deploy Harbor Freight {at}", namespace=namespace, dedupe=False)
    clock.advance(ms=1)
    started = clock.now
    shown: list[list[str]] = []
    for engine in (alone, crowded):
        clock.now = started
        fill(engine, "mine")
        shown.append([unmeasured(engine.xray(**question, namespace="mine")) for question in QUESTIONS])
        recorded = engine.search("cache tracking", namespace="mine", session="s")
        shown[-1].append(unmeasured(engine.recalls.snapshot_of(recorded)))
    assert [unnumbered(page) for page in shown[0]] == [unnumbered(page) for page in shown[1]]
    assert all('"memoryId"' in page for page in (shown[0][0], shown[0][1], shown[0][-1]))


@pytest.mark.slow
def test_recalls_at_once_never_mix(engine: Engine) -> None:
    names = [f"ns-{at}" for at in range(8)]
    for at, name in enumerate(names):
        fill(engine, name, tuple(f"{text} in place {at}" for text in TEXTS))

    def ask(name: str) -> list[str]:
        at = names.index(name)
        asked = [f"{question['text']} place {at}" for question in QUESTIONS] * 2
        return [unmeasured(engine.xray(text, namespace=name, session=f"s-{at}")) for text in asked]

    expected = [ask(name) for name in names]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(2):
            assert list(pool.map(ask, names)) == expected


def test_recorded_recalls_at_once_keep_one_whole_chain(engine: Engine) -> None:
    fill(engine, "default")
    with ThreadPoolExecutor(8) as pool:
        recalls = list(pool.map(lambda at: engine.search("cache deploy", session=f"s-{at}"), range(8)))
    verdict = engine.audit.verify()
    assert (verdict.entries, verdict.problems) == (len(recalls), ())
    assert len({entry for recall in recalls for entry in recall.audit.values()}) == len(recalls)


# ── by session ──


def test_explain_gives_the_last_recall_of_each_session(engine: Engine) -> None:
    fill(engine, "default")
    for session, text in (("a", "cache"), ("b", "deploy"), ("a", "tokens"), (None, "gateway")):
        last = engine.search(text, session=session)
    for session, text in (("a", "tokens"), ("b", "deploy"), (None, "gateway")):
        snapshot = engine.recalls.last(session)
        assert snapshot is not None
        assert (snapshot.query, snapshot.sessionKey) == (text, session)
        assert all(result.auditEntryId for result in snapshot.results)
    assert render(engine.recalls.snapshot_of(last), "json") == render(engine.recalls.last(), "json")
    assert engine.recalls.last("nobody") is None
    assert engine.recalls.last("a", namespace="elsewhere") is None


def test_only_the_last_twenty_of_a_session_are_kept(engine: Engine, clock: FixedClock) -> None:
    fill(engine, "default")
    other = engine.recalls.snapshot_of(engine.search("deploy", session="other")).snapshotId
    names = []
    for _ in range(LEDGERS_KEPT + 3):
        clock.advance(ms=1)
        names.append(engine.recalls.snapshot_of(engine.search("cache", session="s")).snapshotId)
    for name in names[:3]:
        with pytest.raises(NotFound, match="no recorded recall"):
            engine.recalls.stored(name)
    for name in (*names[3:], other):
        assert engine.recalls.stored(name).query["text"] in ("cache", "deploy")


# ── replayed, altered, compared, scrubbed ──


def test_a_stored_recall_replays_and_the_live_store_says_what_differs(engine: Engine, clock: FixedClock) -> None:
    ids = fill(engine, "default")
    recall = engine.search("cache deploy", session="s")
    name = engine.recalls.snapshot_of(recall).snapshotId
    again, _ = engine.replay(name)
    assert again.ids == tuple(result.memory.id for result in recall.results)
    assert again.scores == tuple(result.score for result in recall.results)
    clock.advance(days=1)
    engine.forget(ids[0])
    again, live = engine.replay(name)
    assert again.ids == tuple(result.memory.id for result in recall.results)
    assert GoneSince("forgotten") in [each.cause for each in live if each.memory_id == ids[0]]


def test_what_was_edited_since_has_left_in_a_replay(engine: Engine, clock: FixedClock) -> None:
    old = engine.remember("The bakery opens at 7 in the morning").id
    name = engine.recalls.snapshot_of(engine.search("when does the bakery open")).snapshotId
    clock.advance(days=1)
    new = engine.edit(old, "The bakery opens at 8 in the morning").id
    _, live = engine.replay(name)
    assert [change.memory_id for change in live] == [new, old]
    assert live[1].sentence == f"{old} left from 1st place: it is superseded by {new} now."
    assert [result.memory.id for result in engine.search("when does the bakery open").results] == [new]


def test_a_recall_that_nobody_confirmed_is_not_told_as_one(engine: Engine) -> None:
    engine.remember("The bakery opens at 7 in the morning")
    name = engine.recalls.snapshot_of(engine.search("when does the bakery open")).snapshotId
    (rescored,) = engine.replay(name)[1]
    assert "how often it was recalled or confirmed (reinforcementBoost) counts" in rescored.sentence


def test_an_altered_ledger_in_the_store_is_refused(engine: Engine, tmp_path: Path) -> None:
    fill(engine, "default")
    name = engine.recalls.snapshot_of(engine.search("cache deploy")).snapshotId
    db = sqlite3.connect(tmp_path / "store.db")
    try:
        (packed,) = db.execute("SELECT ledger FROM snapshots WHERE id = ?", (name,)).fetchone()
        record = json.loads(zlib.decompress(packed))
        record["query"]["limit"] = 11
        db.execute("UPDATE snapshots SET ledger = ?", (zlib.compress(json.dumps(record).encode()),))
        db.commit()
        with pytest.raises(RecallensError, match=f"{name} does not reproduce"):
            engine.replay(name)
        db.execute("UPDATE snapshots SET ledger = ?", (b"\x00garbage",))
        db.commit()
        with pytest.raises(RecallensError, match="cannot be read as a ledger"):
            engine.diff(name, name)
        db.execute("UPDATE snapshots SET ledger = ?", (packed,))
        db.commit()
        assert engine.recalls.stored(name).query["limit"] == 10
    finally:
        db.close()


def test_a_difference_after_superseding_names_the_cause(engine: Engine, clock: FixedClock) -> None:
    ids = fill(engine, "default")
    before = engine.recalls.snapshot_of(engine.search("cache deploy")).snapshotId
    clock.advance(days=1)
    new = engine.remember("we cache tracking lookups for an hour", dedupe=False, supersedes=ids[0]).id
    after = engine.recalls.snapshot_of(engine.search("cache deploy")).snapshotId
    found = engine.diff(before, after)
    (left,) = (each for each in found.left if each.memory_id == ids[0])
    assert left.cause == GoneSince("superseded", new)
    assert f"it is superseded by {new} now" in left.sentence
    (entered,) = (each for each in found.entered if each.memory_id == new)
    assert "it is new" in entered.sentence


def test_forgetting_for_good_scrubs_the_stored_ledgers(engine: Engine, tmp_path: Path) -> None:
    ids = fill(engine, "default")
    name = engine.recalls.snapshot_of(engine.search("cache deploy", session="s")).snapshotId
    kept = engine.remember("cache elsewhere", namespace="other").id
    elsewhere = engine.recalls.snapshot_of(engine.search("cache", namespace="other")).snapshotId
    engine.forget(ids[0], hard=True)
    assert engine.recalls.last("s") is None
    with pytest.raises(NotFound):
        engine.recalls.stored(name)
    assert engine.audit.verify().problems == ()
    held = b"".join(path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file())
    assert b"tracking lookups for a minute" not in held
    assert [result.memoryId for result in _explained(engine, elsewhere, "other")] == [kept]


def _explained(engine: Engine, name: str, namespace: str) -> tuple[Any, ...]:
    assert engine.recalls.stored(name, namespace=namespace) is not None
    snapshot = engine.recalls.last(namespace=namespace)
    assert snapshot is not None
    return snapshot.results


def test_looking_records_nothing(engine: Engine) -> None:
    ids = fill(engine, "default")
    name = engine.recalls.snapshot_of(engine.search("cache deploy", session="s")).snapshotId
    before, changes = counts(engine), engine.core.store.connection.total_changes()
    snapshot = engine.xray("cache", session="looking", trace_id="t")
    assert all(result.auditEntryId is None for result in snapshot.results)
    assert isinstance(engine.why_not(ids[5], "cache", limit=1), KeptOut)
    engine.recalls.sensitivity("cache")
    engine.replay(name)
    engine.diff(name, name)
    assert engine.recalls.last("looking") is None
    assert counts(engine) == before
    assert engine.core.store.connection.total_changes() == changes


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_empty_question_is_refused_and_nothing_is_kept(engine: Engine, text: str) -> None:
    for ask in (engine.xray, engine.recalls.sensitivity, lambda text: engine.why_not("x", text)):
        with pytest.raises(InvalidInput, match="the query is empty"):
            ask(text)


@pytest.mark.parametrize("name", ["files", "scopes", "watch"])
def test_a_text_is_no_list_of_texts(engine: Engine, name: str) -> None:
    for wrong in ("src/app.py", 3, [3]):
        with pytest.raises(InvalidInput, match=f"{name} must be a list of texts"):
            engine.recalls.query("cache", **{name: wrong})
    assert getattr(engine.recalls.query("cache", **{name: iter(["a", "b"])}), name) == ("a", "b")


def test_an_option_that_is_none_is_not_given(engine: Engine) -> None:
    given = dict.fromkeys(
        ("budget", "tokens", "files", "scopes", "weights", "watch", "graph_floor", "graph_iterations")
    )
    assert engine.recalls.query("cache", **given) == engine.recalls.query("cache")
    assert engine.recalls.query("cache", graph_floor=0.0).graph_floor == 0.0


def test_a_memory_with_nothing_of_the_question_has_no_place_in_a_view(engine: Engine) -> None:
    ids = fill(engine, "default")
    found = engine.why_not(ids[5], "tracking lookups", mode="keyword", preset="bm25")
    assert isinstance(found, KeptOut)
    assert found.dropped_by.reason == "no view proposed it: none finds anything of the question in it"
    assert found.missed.view_rank is None
