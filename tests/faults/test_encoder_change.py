"""Changing the encoder, and what can happen on the way: it does not answer, or the process dies between two steps."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from recallens.engine import Engine
from recallens.engine import encoder as encoders
from recallens.errors import EncoderError, StoreBusy
from recallens.store.sqlite.store import SqliteStore


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = Engine.open(tmp_path / "s.db", encoder="hashing", create=True)
    for number in range(5):
        engine.remember(f"The pump number {number} hums in the cellar", dedupe=False)
    return engine


def test_an_encoder_that_does_not_answer_changes_nothing(engine: Engine) -> None:
    before = engine.core.encoding.key
    for change in (engine.encoder.use, lambda spec: engine.maintenance.reindex(encoder=spec)):
        with pytest.raises(EncoderError):
            change("ollama:http-nowhere")
    assert engine.core.encoding.key == before
    assert engine.maintenance.doctor().problems == []
    assert engine.search("pump", record=False, cut=False).degraded == {}


def test_a_stop_after_the_change_leaves_everything_in_the_backlog(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> dict[str, int]:
        raise KeyboardInterrupt

    monkeypatch.setattr(encoders, "rebuild", killed)
    with pytest.raises(KeyboardInterrupt):
        engine.encoder.use("hashing:32")
    engine.close()
    with Engine.open(tmp_path / "s.db") as after:
        answer = after.search("pump", record=False, cut=False)
        assert len(answer.results) == 5
        assert answer.degraded["semantic"].startswith("vectors incomplete: 5 memories wait")
        assert after.maintenance.doctor().problems == []
        assert after.encoder.drain() == 5
        assert after.search("pump", record=False, cut=False).degraded == {}
        with after.core.store.read_all() as reader:
            assert reader.statistics()["totals"]["vectors"] == 5  # the old ones have gone


def test_a_search_that_cannot_record_answers_the_person_and_no_token(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = apsw.Connection(str(tmp_path / "s.db"))
    other.execute("BEGIN IMMEDIATE")  # a writer that does not end
    store = engine.core.store
    assert isinstance(store, SqliteStore)
    store.connection.set_busy_timeout(50)
    answer = engine.search("pump", cut=False)
    assert len(answer.results) == 5
    assert not answer.recorded
    assert answer.notice is not None
    assert answer.notice.startswith("not recorded: another process has been writing")
    with pytest.raises(StoreBusy):
        engine.search("pump", cut=False, owner="token-1")
    other.execute("ROLLBACK")
    assert engine.search("pump", cut=False).recorded
