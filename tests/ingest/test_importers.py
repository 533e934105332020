"""An importer is a file of the package; nothing else names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallens.ingest import importers
from recallens.ingest.importers import importer_of, jsonl
from recallens.model.citation import FileCitation


@pytest.mark.parametrize("path", ["memories.jsonl", "MEMORIES.JSONL", "-", "notes.txt", "dir.csv/file"])
def test_json_lines_are_what_no_other_importer_claims(path: str) -> None:
    assert importer_of(path) is jsonl


def test_a_new_file_is_a_new_importer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one_a_line.py").write_text(
        "from recallens.ingest.draft import Draft\n"
        "from recallens.ingest.importers import Import, MemoryLine\n"
        "SUFFIXES = ('.txt',)\n"
        "def read_lines(lines, *, now):\n"
        "    return Import(memories=[MemoryLine(Draft(line), None, None) for line in lines])\n"
    )
    monkeypatch.setattr(importers, "__path__", [*importers.__path__, str(tmp_path)])
    importers._importers.cache_clear()
    try:
        found = importer_of("notes.txt").read_lines(["The cache is warm"], now=0)
        assert [line.draft.content for line in found.memories] == ["The cache is warm"]
        assert importer_of("notes.jsonl") is jsonl
    finally:
        importers._importers.cache_clear()


def test_a_line_may_spell_a_citation_and_a_day_as_the_command_does() -> None:
    line = '{"content": "The cache is warm", "created": "2026-01-02", "citations": ["file:cache.py#L1-L9"]}'
    (memory,) = importer_of("notes.jsonl").read_lines([line], now=0).memories
    assert memory.draft.citations == (FileCitation("cache.py", 1, 9),)
    assert memory.draft.created == 1_767_312_000_000
    found = importer_of("notes.jsonl").read_lines(['{"content": "x", "citations": [{"path": "a.py"}]}'], now=0)
    assert "a citation needs its 'kind'" in found.errors[0]
