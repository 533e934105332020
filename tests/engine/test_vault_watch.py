"""A watched vault follows its folder, through the ways in which editors save."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from notes import Notes, sections
from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.model.vault import SyncReport
from standing import Open

PATIENCE = 20


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    own = Notes(tmp_path / "notes")
    own.write("a.md", "first text")
    return own


@pytest.fixture
def reports(opened: Open, notes: Notes) -> Iterator[list[SyncReport]]:
    """A watch in a thread; it must end by itself when it is told to."""
    engine = opened("store.db")
    engine.vaults.add(notes.root)
    stop, told = threading.Event(), list[SyncReport]()
    thread = threading.Thread(
        target=lambda: engine.vaults.watch("notes", stop, on_sync=told.append, debounce_ms=100), daemon=True
    )
    thread.start()
    yield told
    stop.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def texts(engine: Engine) -> dict[str, str]:
    return {str(memory.attributes["path"]): memory.content for memory in sections(engine)}


def test_a_watch_follows_writes_atomic_saves_moves_and_deletions(
    opened: Open, notes: Notes, reports: list[SyncReport]
) -> None:
    engine = opened("store.db")
    until(lambda: texts(engine) == {"a.md": "first text"})
    id = sections(engine)[0].id
    (notes.root / "a.md").write_text("second text", encoding="utf-8")
    until(lambda: texts(engine) == {"a.md": "second text"})
    (notes.root / ".a.md.swp").write_text("third text", encoding="utf-8")  # as vim and many others save
    (notes.root / ".a.md.swp").replace(notes.root / "a.md")
    until(lambda: texts(engine) == {"a.md": "third text"})
    notes.move("a.md", "folder/b.md")
    until(lambda: texts(engine) == {"folder/b.md": "third text"})
    (notes.root / "folder").rename(notes.root / "폴더")
    until(lambda: texts(engine) == {"폴더/b.md": "third text"})
    assert sections(engine)[0].id == id
    assert any(one.renamed for report in reports for one in report.vaults)
    notes.remove("폴더/b.md")
    until(lambda: texts(engine) == {})


def test_without_its_package_a_watch_says_what_to_install(
    engine: Engine, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.vaults.add(notes.root)
    monkeypatch.setattr("recallens.engine.vaults.find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match=r'pip install "recallens\[watch\]"'):
        engine.vaults.watch("notes", threading.Event())
