"""Checking citations, marking what is stale, and a recall that knows of it without touching the disk."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound
from recallens.ingest import citation_check
from recallens.ingest.draft import Draft
from recallens.model.citation import Citation, FileCitation, SymbolCitation
from recallens.render.records import recall_record
from standing import FixedClock, Open


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "cache.py").write_text("TTL = 60\n", encoding="utf-8")
    return tmp_path / "app"


def cited(engine: Engine, text: str, *citations: Citation, **attributes: object) -> str:
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


# ── recall at a commit ──

CODE = """TTL = 60
SIZE = 100


class Cache:
    def get(self, key):
        value = self.items.get(key)
        return value or self.load(key)
"""
QUESTION = "how long are lookups cached"


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, engine: Engine) -> Path:
    """A repository with one commit, in which four things were remembered of its files."""
    root = tmp_path / "harbor"
    root.mkdir()
    (root / "cache.py").write_text(CODE, encoding="utf-8")
    (root / "logo.bin").write_bytes(b"\x00\x01\x02")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    engine.core.folder = root
    cited(engine, "Lookups are cached for 60 seconds", FileCitation("cache.py", 1, 2))
    cited(engine, "A miss loads the value at once", SymbolCitation("x", "Cache.get", "cache.py"))
    cited(engine, "The logo is drawn once", FileCitation("logo.bin"))
    cited(engine, "Nobody has written this file yet", FileCitation("later.py", 1))
    return root


def findings(engine: Engine, root: Path | None = None, **options: object) -> list[tuple[str | None, str, int]]:
    checks = engine.maintenance.citations.check(root=root, **options)  # type: ignore[arg-type]
    return [(each.finding, each.now, each.changed) for check in checks for each in check.checked]


def test_cited_lines_are_unchanged_moved_changed_or_gone(engine: Engine, repository: Path) -> None:
    as_it_was = ("unchanged", "", 0)
    unseen = (None, "", 0)
    assert findings(engine) == [as_it_was, as_it_was, as_it_was, unseen]

    (repository / "cache.py").write_text(f"import time\n\n{CODE}", encoding="utf-8")
    assert findings(engine)[:2] == [("moved", "cache.py:3-4", 0), ("moved", "cache.py:8-10", 0)]

    (repository / "cache.py").write_text(CODE.replace("60", "300").replace("or self.load(key)", "or None"), "utf-8")
    (repository / "logo.bin").write_bytes(b"\x00\x01\x03")
    (limit, getter, logo, later) = (check.checked[0] for check in engine.maintenance.citations.check())
    commit = git(repository, "rev-parse", "HEAD")[:10]
    assert limit.reason == f"1 of 2 lines of cache.py changed since commit {commit}"
    assert (getter.finding, getter.changed, getter.now) == ("changed", 1, "cache.py:6-8")
    assert (logo.finding, logo.reason) == ("changed", f"logo.bin changed since commit {commit}")
    assert later.standing == "unknown"  # it was not in this checkout, which is only where somebody works

    git(repository, "checkout", "-q", "cache.py")
    git(repository, "mv", "cache.py", "store.py")
    git(repository, "commit", "-q", "-am", "second")
    assert findings(engine)[:2] == [("moved", "store.py:1-2", 0), ("moved", "store.py:6-8", 0)]

    (repository / "store.py").write_text("SIZE = 100\n\nclass Cache:\n    pass\n", encoding="utf-8")
    assert [finding for finding, _, _ in findings(engine)[:2]] == ["changed", "gone"]
    (repository / "store.py").unlink()
    assert [finding for finding, _, _ in findings(engine)[:2]] == ["gone", "gone"]


def test_every_answer_tells_of_changed_lines_by_checkout_and_branch(engine: Engine, repository: Path) -> None:
    other = repository.parent / "harbor-next"
    git(repository, "worktree", "add", "-q", str(other), "-b", "next")
    (repository / "cache.py").write_text(CODE.replace("60", "300"), encoding="utf-8")
    for root in (repository, other):
        engine.maintenance.citations.check(root=root, mark=True)
        engine.core.clock.advance(ms=1)  # type: ignore[attr-defined]
    shutil.rmtree(repository)  # a recall reads no file and asks no git
    shutil.rmtree(other)

    def first(**options: object) -> str:
        return engine.layers.search(QUESTION, **options).to_text().splitlines()[0]  # type: ignore[arg-type]

    assert "cites" not in first()  # the last look was at the branch `next`, where nothing changed
    assert "(cites changed lines, stale, hypothesis)" in first(worktree="main")
    assert "(cites changed lines, stale, hypothesis)" in first(worktree="harbor")
    assert "cites" not in first(worktree="harbor-next")
    assert [check.worktree.branch for check in engine.maintenance.citations.checks("m1")] == ["next", "main"]

    main = {"worktree": "main"}
    (result, *_) = engine.search(QUESTION, **main).results
    assert result.state.cites == "cites changed lines"
    assert recall_record(engine.search(QUESTION, **main))["results"][0]["state"]["cites"] == "cites changed lines"
    retrieved = engine.retrieve(QUESTION, **main)
    assert "[long-term-memory, cites changed lines]" in retrieved.selectedChunks[0].block
    assert "1 of 2 lines of cache.py changed" in retrieved.selectedChunks[0].metadata["stale"]
    told = " ".join(engine.xray(QUESTION, **main).results[0].provenance.safetyReasons)
    assert "stale-citation: 1 of 2 lines of cache.py changed" in told


def test_what_is_remembered_again_is_cited_as_it_is_now(engine: Engine, repository: Path) -> None:
    (repository / "cache.py").write_text(CODE.replace("SIZE = 100", "SIZE = 200"), encoding="utf-8")
    assert findings(engine)[0][0] == "changed"
    cited(engine, "Lookups are cached for 60 seconds", FileCitation("cache.py", 1, 2))
    assert findings(engine)[0][0] == "unchanged"


def test_another_repository_without_the_file_says_nothing(engine: Engine, repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (limit, *_) = engine.maintenance.citations.check(root=other)
    assert limit.standing == "unknown"
    assert "of another repository" in limit.checked[0].reason


def test_huge_unreadable_and_hostile_files_have_a_clear_word(
    engine: Engine, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(citation_check, "MOST_BYTES", 64)
    (limit, *_) = engine.maintenance.citations.check(root=repository)
    assert limit.checked[0].reason == "cache.py is larger than 0 MiB, and was not looked into"
    monkeypatch.undo()
    (repository / "cache.py").write_bytes(b"\x00" * 10)
    (limit, *_) = engine.maintenance.citations.check(root=repository)
    assert limit.checked[0].finding == "changed"
    hostile = ("--output=/tmp/x", "$(touch owned)", "; rm -rf .", "a\nb")
    for at, name in enumerate(hostile):
        cited(engine, f"A hostile name, number {at}", FileCitation(name, 1), SymbolCitation("x", name, name))
    monkeypatch.setenv("PATH", "/nowhere")  # without git the files are still looked into
    checks = engine.maintenance.citations.check(root=repository)
    assert {check.standing for check in checks[-len(hostile) :]} <= {"stale", "unknown"}
    assert not (repository / "owned").exists()


def test_a_citation_that_was_never_seen_is_known_from_the_first_mark_on(engine: Engine, repository: Path) -> None:
    (repository / "later.py").write_text("a = 1\nb = 2\n", encoding="utf-8")
    engine.maintenance.citations.check(root=repository, mark=True)
    (repository / "later.py").write_text("a = 2\nb = 2\n", encoding="utf-8")
    assert findings(engine, repository)[3] == ("changed", "later.py:1", 1)


SAFE = ("is this change safe to merge", "이 변경 합쳐도 안전해?", "can I land this diff", "이 PR 머지해도 돼?")


@pytest.mark.parametrize("question", SAFE)
def test_a_file_is_cited_by_its_symbols_and_under_the_name_that_it_has_now(
    engine: Engine, repository: Path, question: str
) -> None:
    other = cited(engine, "A change is safe to merge after a review", FileCitation("src/other.py"))

    def known(file: str, **options: object) -> list[str]:
        asked = options or {"files": [file]}
        found = engine.search(question, record=False, certify=True, **asked)  # type: ignore[arg-type]
        certificate = found.ledger.notes("certificate")[-1]
        assert (certificate["missing"], certificate["completenessScore"]) == ([], 1.0)
        return [result.memory.content for result in found.results if result.memory.id != other]

    both = {"Lookups are cached for 60 seconds", "A miss loads the value at once"}
    assert both <= set(known("cache.py"))
    assert set(known("cache.py", affected=["cache.py"])) == both
    git(repository, "mv", "cache.py", "store.py")
    findings(engine, mark=True)
    for file in ("store.py", "cache.py"):
        assert both <= set(known(file))
        assert set(known(file, affected=[file])) == both
    told = engine.context(question, files=["store.py"], record=False)
    assert both <= {item.memory.content for item in told.items if item.memory is not None}


def test_what_else_a_question_about_a_change_names_is_still_missing(engine: Engine, repository: Path) -> None:
    found = engine.search("does this change break the goat fence", files=["cache.py"], record=False, certify=True)
    assert "A miss loads the value at once" in [result.memory.content for result in found.results]
    assert set(found.ledger.notes("certificate")[-1]["missing"]) == {"goat", "fence"}
