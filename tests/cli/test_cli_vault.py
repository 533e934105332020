"""The vault commands, in words and as records."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cli_scene import RECALLENS, Ask, Run

from notes import Notes


@pytest.fixture
def notes(home: Path) -> Notes:
    own = Notes(home / "notes")
    own.write("cache.md", "# Cache\n\nLookups are kept for sixty seconds. See [[배포]].\n")
    own.write("ops/배포.md", "# 배포\n\n배포는 화요일에 한다.\n")
    own.write("bad.md", b"\xff\xfe")
    return own


def test_adding_reads_and_says_what_was_read(run: Run, ask: Ask, notes: Notes) -> None:
    shown = run("vault", "add", notes.root, "--scope", "../outside", "--scope", ".")
    assert shown.stdout == (
        "notes: 2 added, 0 changed, 0 renamed, 0 removed, 0 unchanged, 1 error\n"
        "  2 sections indexed, 0 kept as they were, 0 removed\n"
    )
    assert "scope dropped: ../outside: it leads out of the vault" in shown.stderr
    assert "error: bad.md: it is UTF-16; save it as UTF-8" in shown.stderr
    assert ask("search", "화요일 배포", "--no-record")["results"][0]["memory"]["title"] == "배포"


def test_the_report_as_a_record(ask: Ask, notes: Notes) -> None:
    added = ask("vault", "add", notes.root, "--name", "wiki", "--project", "p")
    (one,) = added["vaults"]
    assert added["backlog"] == 0
    assert one == {
        "name": "wiki", "root": str(notes.root), "added": ["cache.md", "ops/배포.md"], "changed": [], "renamed": [],
        "removed": [], "unchanged": 0, "errors": [{"path": "bad.md", "reason": "it is UTF-16; save it as UTF-8"}],
        "warnings": [], "skipped": [], "leftOut": [], "droppedScopes": [],
        "sections": {"indexed": 2, "kept": 0, "removed": 0},
    }  # fmt: skip
    notes.move("cache.md", "caching.md")
    notes.remove("bad.md")
    notes.remove("ops/배포.md")
    (one,) = ask("vault", "sync", "wiki")["vaults"]
    assert one["renamed"] == [{"from": "cache.md", "to": "caching.md"}]
    assert one["removed"] == ["ops/배포.md"]
    assert one["errors"] == []
    listed = ask("vault", "list")["vaults"]
    assert [(vault["name"], vault["files"], vault["sections"], vault["project"]) for vault in listed] == [
        ("wiki", 1, 1, "p")
    ]


def test_vectors_can_wait_and_paths_can_be_named(ask: Ask, notes: Notes) -> None:
    assert ask("vault", "add", notes.root, "--no-sync")["files"] == 0
    named = ask("vault", "sync", "--path", "ops", "--no-embed")
    assert named["vaults"][0]["added"] == ["ops/배포.md"]
    assert named["backlog"] == 1
    assert ask("vault", "sync")["backlog"] == 0


def test_listing_and_removing(run: Run, ask: Ask, notes: Notes) -> None:
    run("vault", "add", notes.root)
    shown = run("vault", "list").stdout
    assert shown.startswith(f"notes  {notes.root}\n   2 files, 2 sections, synced ")
    assert "needs --yes" in run("vault", "remove", "notes", code=2).stderr
    assert ask("vault", "remove", "notes", "--yes") == {"removed": "notes", "sections": 2}
    assert run("vault", "list").stdout == "no vaults\n"
    assert ask("search", "화요일", "--no-record")["results"] == []


def test_wrong_input_names_the_next_step(run: Run, notes: Notes, home: Path) -> None:
    assert "there is no folder" in run("vault", "add", home / "nowhere", code=3).stderr
    run("init")
    assert "there is no vault yet" in run("vault", "sync", code=3).stderr
    run("vault", "add", notes.root)
    assert "the vaults are: notes" in run("vault", "sync", "other", code=3).stderr
    assert "is the vault notes already" in run("vault", "add", notes.root, "--name", "again", code=2).stderr


@pytest.mark.usefixtures("in_background")
def test_a_watch_runs_until_it_is_interrupted_and_exits_cleanly(run: Run, ask: Ask, notes: Notes) -> None:
    run("vault", "add", notes.root)
    command = [*RECALLENS, "vault", "watch", "notes", "--debounce", "50", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        first = json.loads(watching.stdout.readline())
        assert first["vaults"][0]["unchanged"] == 2
        (notes.root / "new.md").write_text("A new berth opens.", encoding="utf-8")
        assert json.loads(watching.stdout.readline())["vaults"][0]["added"] == ["new.md"]
        time.sleep(0.2)
        watching.send_signal(signal.SIGINT)
        try:
            _, errors = watching.communicate(timeout=30)
        finally:
            watching.kill()  # the block's end would wait for ever for one that did not stop
    assert (watching.returncode, errors) == (0, "")
    assert ask("search", "berth", "--no-record")["results"][0]["memory"]["title"] == "new"
