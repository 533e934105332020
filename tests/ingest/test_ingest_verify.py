"""Citations against a real checkout: what is there, what is gone, and what must not be looked at."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from recallens.ingest.citation_check import OUTSIDE, Checkout, verify
from recallens.model.citation import (
    Checked,
    Citation,
    CitationCheck,
    CommitCitation,
    FileCitation,
    LogCitation,
    Standing,
    SymbolCitation,
    TerminalCitation,
    updated,
)

STORE_ID = "01M7GPP8JD13DP4C2X4F8NR301"


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    (root / "src").mkdir(parents=True)
    (root / "src" / "cache.py").write_text(
        "class Cache:\n    def warm_up(self):\n        return 60\n", encoding="utf-8"
    )
    (root / "문서.md").write_text("# 인증\n토큰은 한 시간 뒤에 만료된다.\n", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("one\ntwo\n", encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def verdict(citation: Citation, root: Path | None, **artifacts: str) -> tuple[str, str]:
    found = verify([(citation, None)], Checkout(root), artifacts)[citation, None]
    return found.standing, found.reason


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        (FileCitation("src/cache.py"), ("verified", "")),
        (FileCitation("src\\cache.py", 3), ("verified", "")),
        (FileCitation("src/cache.py", 1, 3), ("verified", "")),
        (FileCitation("문서.md", 2), ("verified", "")),
        (FileCitation("src/cache.py", 2, 4), ("stale", "src/cache.py has 3 lines, not 4")),
        (FileCitation("src/gone.py", 1), ("stale", "src/gone.py does not exist")),
        (FileCitation("src/cache.py/more.py"), ("stale", "src/cache.py/more.py does not exist")),
        (FileCitation("src"), ("stale", "src is no file")),
        (SymbolCitation("x", "warm_up", "src/cache.py"), ("verified", "")),
        (SymbolCitation("x", "Cache.warm_up", "src/cache.py"), ("verified", "")),
        (SymbolCitation("x", "warm", "src/cache.py"), ("stale", "src/cache.py does not name warm")),
        (SymbolCitation("x", "인증", "문서.md"), ("verified", "")),
        (SymbolCitation("x", "warm_up", "src/gone.py"), ("stale", "src/gone.py does not exist")),
    ],
)
def test_files_lines_and_symbols(checkout: Path, citation: Citation, expected: tuple[str, str]) -> None:
    assert verdict(citation, checkout) == expected


@pytest.mark.parametrize("path", ["../secret.txt", "src/../../secret.txt", "/etc/hosts", "~/secret.txt", "C:\\x.txt"])
def test_nothing_outside_the_root_is_looked_at(checkout: Path, path: str) -> None:
    assert verdict(FileCitation(path, 1), checkout) == ("unknown", f"{path} {OUTSIDE}")


def test_a_link_out_of_the_root_is_not_followed_and_one_inside_is(checkout: Path) -> None:
    (checkout / "out.txt").symlink_to(checkout.parent / "secret.txt")
    (checkout / "outside").symlink_to(checkout.parent)
    (checkout / "inside.py").symlink_to("src/cache.py")
    (checkout / "loop").symlink_to("loop")
    assert verdict(FileCitation("out.txt", 1), checkout) == ("unknown", f"out.txt {OUTSIDE}")
    assert verdict(FileCitation("outside/secret.txt", 1), checkout) == ("unknown", f"outside/secret.txt {OUTSIDE}")
    assert verdict(FileCitation("inside.py", 3), checkout) == ("verified", "")
    assert verdict(FileCitation("loop"), checkout)[0] == "unknown"


def test_an_absolute_path_inside_the_root_is_looked_at(checkout: Path) -> None:
    assert verdict(FileCitation(f"{checkout}/src/cache.py", 3), checkout)[0] == "verified"


def test_a_pipe_does_not_hang_the_check(checkout: Path) -> None:
    os.mkfifo(checkout / "pipe.log")
    assert verdict(FileCitation("pipe.log", 1), checkout) == ("stale", "pipe.log is no file")


def test_commits_by_one_process(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as inside a hook
    asked = [CommitCitation(head), CommitCitation(head[:7]), CommitCitation("deadbee"), CommitCitation("0" * 40)]
    found = verify([(each, None) for each in asked], Checkout(checkout), {})
    assert [found[each, None].standing for each in asked] == ["verified", "verified", "stale", "stale"]
    assert found[asked[2], None].reason == "the repository has no commit deadbee"


def test_a_tree_is_no_commit(checkout: Path) -> None:
    assert verdict(CommitCitation(git(checkout, "rev-parse", "HEAD^{tree}")), checkout)[0] == "stale"


def test_a_shallow_clone_cannot_tell(checkout: Path, tmp_path: Path) -> None:
    first = git(checkout, "rev-parse", "HEAD")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", checkout.as_uri(), "shallow")
    assert verdict(CommitCitation(first), tmp_path / "shallow") == (
        "unknown",
        "the repository is a shallow clone without it",
    )


def test_without_a_repository_without_git_and_without_a_root(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    assert verdict(CommitCitation("deadbee"), tmp_path / "plain") == (
        "unknown",
        f"{tmp_path / 'plain'} is no git repository",
    )
    assert verdict(CommitCitation("deadbee"), None)[0] == "unknown"
    assert verdict(FileCitation("src/cache.py"), None)[0] == "unknown"
    monkeypatch.setenv("PATH", str(tmp_path / "plain"))
    assert verdict(CommitCitation("deadbee"), checkout) == ("unknown", "git is not installed")


def test_artifacts_of_the_store() -> None:
    assert verdict(LogCitation(f"{STORE_ID}#L40"), None, **{STORE_ID: "log"}) == ("verified", "")
    assert verdict(TerminalCitation(STORE_ID), None, **{STORE_ID: "terminal_snapshot"})[0] == "verified"
    assert verdict(TerminalCitation(STORE_ID), None, **{STORE_ID: "log"})[0] == "stale"
    assert verdict(LogCitation(STORE_ID), None) == ("stale", f"the store has no log {STORE_ID} any more")
    assert verdict(LogCitation("loki/api?from=1"), None)[0] == "unknown"


def test_an_unknown_verdict_does_not_erase_one_that_knew() -> None:
    gone, there = FileCitation("a.py"), FileCitation("b.py")
    before = CitationCheck("M", 1, (Checked(gone, Standing.STALE, "gone"), Checked(there, Standing.STALE, "gone")))
    after = CitationCheck("M", 2, (Checked(gone, Standing.UNKNOWN, "no root"), Checked(there, Standing.VERIFIED)))
    merged = updated(before, after)
    assert [each.standing for each in merged.checked] == ["stale", "verified"]
    assert merged.at == 2
