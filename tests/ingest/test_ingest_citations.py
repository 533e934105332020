from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.errors import InvalidInput, UnknownOption
from recallens.ingest.citations import (
    parse_citation,
    parse_citations,
)
from recallens.model.citation import (
    Citation,
    CommitCitation,
    FileCitation,
    LogCitation,
    SymbolCitation,
    TerminalCitation,
    citation_from_json,
    citation_to_json,
)

ALL_KINDS: list[tuple[Citation, dict[str, Any], str]] = [
    (CommitCitation("abc1234"), {"kind": "commit", "hash": "abc1234"}, "commit:abc1234"),
    (FileCitation("src/a.py"), {"kind": "file", "path": "src/a.py"}, "file:src/a.py"),
    (FileCitation("a.py", 10), {"kind": "file", "path": "a.py", "startLine": 10}, "file:a.py:10"),
    (
        FileCitation("a.py", 10, 20),
        {"kind": "file", "path": "a.py", "startLine": 10, "endLine": 20},
        "file:a.py:10-20",
    ),
    (
        SymbolCitation("Name@src/a.py", "Name", "src/a.py"),
        {"kind": "symbol", "id": "Name@src/a.py", "name": "Name", "file": "src/a.py"},
        "symbol:Name@src/a.py",
    ),
    (TerminalCitation("t-9"), {"kind": "terminal_snapshot", "id": "t-9"}, "terminal_snapshot:t-9"),
    (LogCitation("run/1.log#40"), {"kind": "log", "pointer": "run/1.log#40"}, "log:run/1.log#40"),
]


@pytest.mark.parametrize(("citation", "data", "typed"), ALL_KINDS)
def test_each_kind_round_trips(citation: Citation, data: dict[str, Any], typed: str) -> None:
    assert citation_to_json(citation) == data
    assert citation_from_json(data) == citation
    assert parse_citation(typed) == citation


@pytest.mark.parametrize(
    "typed", ["file:src/a.py#L1-L9", "file:src/a.py#L1-9", "file:src/a.py:1-9", "src/a.py:1-9", "src/a.py#L1-L9"]
)
def test_lines_are_spelled_as_the_tools_say_and_as_a_compiler_does(typed: str) -> None:
    assert parse_citation(typed) == FileCitation("src/a.py", 1, 9)


def test_citations_are_read_from_text_in_order() -> None:
    text = (
        "See src/a.py:10-20, src/b.py:10 and src/c.py#L3-L9, commit ABC1234, [symbol: Name@src/d.py], "
        "[log: run/1.log], [terminal: t-9], lib/x.ts. Again src/b.py:10."
    )
    assert parse_citations(text) == (
        FileCitation("src/a.py", 10, 20),
        FileCitation("src/b.py", 10),
        FileCitation("src/c.py", 3, 9),
        CommitCitation("abc1234"),
        SymbolCitation("Name@src/d.py", "Name", "src/d.py"),
        LogCitation("run/1.log"),
        TerminalCitation("t-9"),
        FileCitation("lib/x.ts"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "at 10:30",
        "localhost:8080",
        "example.com:443",
        "https://example.com/a.html:3",
        "and/or",
        "a.py",
        "commit to it",
    ],
)
def test_what_is_no_citation(text: str) -> None:
    assert parse_citations(text) == ()


def test_a_windows_path_with_a_line() -> None:
    assert parse_citations("C:\\app\\main.cs:4") == (FileCitation("C:\\app\\main.cs", 4),)


@pytest.mark.parametrize(
    "data",
    [
        "commit",
        {},
        {"kind": "page"},
        {"kind": "commit"},
        {"kind": "commit", "hash": "xyz"},
        {"kind": "file", "path": " "},
        {"kind": "file", "path": "a.py", "startLine": 0},
        {"kind": "file", "path": "a.py", "startLine": "3"},
        {"kind": "file", "path": "a.py", "startLine": True},
        {"kind": "file", "path": "a.py", "endLine": 3},
        {"kind": "file", "path": "a.py", "startLine": 9, "endLine": 3},
        {"kind": "symbol", "id": "x", "name": "y"},
    ],
)
def test_a_wrong_object_is_refused_with_the_five_kinds(data: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        citation_from_json(data)
    for spelled in (
        "commit (hash)",
        "startLine",
        "symbol (id, name, file)",
        "terminal_snapshot (id)",
        "log (pointer)",
    ):
        assert spelled in str(refused.value)


def test_an_unknown_kind_on_the_command_line_lists_the_kinds() -> None:
    with pytest.raises(UnknownOption, match=r"use one of: commit, file, symbol, terminal_snapshot, log"):
        parse_citation("page:3")


@pytest.mark.parametrize("typed", ["commit:", "symbol:Name", "commit:zzz", "file:a.py:9-3"])
def test_an_incomplete_citation_is_refused(typed: str) -> None:
    with pytest.raises(InvalidInput):
        parse_citation(typed)


@given(st.text(alphabet=st.characters()))
def test_any_text_can_be_read_for_citations(text: str) -> None:
    for citation in parse_citations(text):
        assert citation_from_json(citation_to_json(citation)) == citation


@pytest.mark.parametrize("unit", ["a", "a/", "a.", "[symbol:", "[", "a:1", "commit ", "://", "\\"])
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    began = time.perf_counter()
    parse_citations(unit * (1_000_000 // len(unit)))
    assert time.perf_counter() - began < 10
