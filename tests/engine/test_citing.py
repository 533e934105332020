"""Checking citations, marking what is stale, and a recall that knows of it without touching the disk."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound
from recallens.ingest.draft import Draft
from recallens.model.citation import FileCitation, LogCitation
from standing import FixedClock, Open


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "cache.py").write_text("TTL = 60\n", encoding="utf-8")
    return tmp_path / "app"


def cited(engine: Engine, text: str, *citations: FileCitation | LogCitation, **attributes: object) -> str:
    return engine.remember(Draft(text, citations=citations, **attributes)).id  # type: ignore[arg-type]


def provenance(engine: Engine, text: str, **options: object) -> dict[str, object]:
    return engine.recall(engine.recalls.query(text, limit=1, **options)).ledger.notes("provenance")[0]["rows"]  # type: ignore[no-any-return]


def test_checking_writes_nothing_and_marking_reaches_the_xray(
    engine: Engine, checkout: Path, clock: FixedClock
) -> None:
    id = cited(engine, "The cache holds lookups for a minute", FileCitation("cache.py", 1), FileCitation("old.py"))
    (check,) = engine.maintenance.citations.check(root=checkout)
    assert (check.memory, check.standing) == (id, "stale")
    assert [each.standing for each in check.checked] == ["verified", "stale"]
    assert engine.maintenance.citations.last_check(id) is None
    assert provenance(engine, "cache lookups")[id]["safety"] == "safe"

    engine.maintenance.citations.check(root=checkout, mark=True)
    shutil.rmtree(checkout)  # a recall reads no file
    snapshot = engine.xray("cache lookups")
    (result,) = snapshot.results
    assert result.provenance.stale is True
    assert result.provenance.safety == "requires-review"
    assert list(result.provenance.safetyReasons) == ["stale=true", "stale-citation: old.py does not exist"]


def test_a_mark_is_lifted_when_the_file_is_back(engine: Engine, checkout: Path) -> None:
    id = cited(engine, "The cache holds lookups", FileCitation("new.py"))
    engine.maintenance.citations.check([id], root=checkout, mark=True)
    assert provenance(engine, "cache lookups")[id]["stale"] is True
    (checkout / "new.py").write_text("", encoding="utf-8")
    engine.maintenance.citations.check([id], root=checkout, mark=True)
    assert provenance(engine, "cache lookups")[id]["stale"] is False


def test_marking_without_a_workspace_keeps_what_was_known(engine: Engine, checkout: Path) -> None:
    id = cited(engine, "The cache holds lookups", FileCitation("gone.py"))
    engine.maintenance.citations.check(root=checkout, mark=True)
    (check,) = engine.maintenance.citations.check(mark=True)
    assert check.standing == "unknown"
    assert provenance(engine, "cache lookups")[id]["stale"] is True


def test_what_was_marked_later_was_not_known_then(engine: Engine, checkout: Path, clock: FixedClock) -> None:
    id = cited(engine, "The cache holds lookups", FileCitation("gone.py"))
    then = clock()
    clock.advance(days=2)
    engine.maintenance.citations.check(root=checkout, mark=True)
    assert provenance(engine, "cache lookups")[id]["stale"] is True
    assert provenance(engine, "cache lookups", as_of=then)[id]["stale"] is False


def test_only_what_was_asked_for_is_checked(engine: Engine, checkout: Path) -> None:
    first = cited(engine, "The cache holds lookups", FileCitation("gone.py"), project="api")
    second = cited(engine, "Deploys run at night", FileCitation("cache.py"), project="web")
    engine.remember("Nothing is cited here")
    elsewhere = engine.remember(Draft("Another cache", citations=(FileCitation("x.py"),)), namespace="other").id
    gone = cited(engine, "Backups are kept", FileCitation("gone.py"))
    engine.forget(gone)
    assert [check.memory for check in engine.maintenance.citations.check(root=checkout)] == [first, second]
    assert [check.memory for check in engine.maintenance.citations.check(root=checkout, project="web")] == [second]
    assert [check.memory for check in engine.maintenance.citations.check([second], root=checkout)] == [second]
    assert [check.memory for check in engine.maintenance.citations.check(namespace="other")] == [elsewhere]
    with pytest.raises(NotFound):
        engine.maintenance.citations.check([elsewhere], root=checkout)
    assert engine.maintenance.citations.check(namespace="nobody") == []


def test_forgetting_for_good_takes_the_verdict_along(engine: Engine, checkout: Path) -> None:
    id = cited(engine, "The cache holds lookups", FileCitation("gone.py"))
    engine.maintenance.citations.check(root=checkout, mark=True)
    engine.forget(id, hard=True)
    rows = engine.core.store.connection.execute("SELECT count(*) FROM citation_checks").fetchall()  # type: ignore[attr-defined]
    assert rows == [(0,)]


def test_the_workspace_is_given_set_or_the_stores_own_work_tree(opened: Open, tmp_path: Path, checkout: Path) -> None:
    plain = opened("plain.db")
    assert plain.maintenance.citations.workspace() is None
    assert plain.maintenance.citations.workspace(checkout) == checkout.resolve()
    (tmp_path / ".git").mkdir()
    assert plain.maintenance.citations.workspace() == tmp_path.resolve()
    assert opened("other.db", workspace=str(checkout)).maintenance.citations.workspace() == checkout.resolve()
    with pytest.raises(InvalidInput, match="is no folder"):
        plain.maintenance.citations.workspace(tmp_path / "nowhere")
