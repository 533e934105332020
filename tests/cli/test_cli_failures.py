"""Wrong input as a new user gives it: one line, the next step, an exit code, and nothing lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import apsw
import pytest
from cli_scene import Run, spawn

READS = [
    ["search", "x"], ["documents", "x"], ["show", "ABCDEF"], ["timeline", "ABCDEF"], ["list"], ["stats"], ["doctor"],
    ["session", "list"], ["review", "list"], ["namespace", "list"], ["forget", "ABCDEF"], ["edit", "ABCDEF", "x"],
    ["reindex"], ["backup", "copy.db"], ["prune", "--older-than", "1"], ["session", "end", "s-1"],
]  # fmt: skip


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_a_missing_store(run: Run, store: Path, command: list[str]) -> None:
    failed = run(*command, code=3)
    assert failed.stderr.splitlines() == [
        f"error: no store at {store}",
        "Run `recallens init` to make one, or name another with --store PATH.",
    ]
    record = json.loads(run(*command, "--json", code=3).stderr)
    assert record["error"]["code"] == "StoreMissing"
    assert record["error"]["hint"].startswith("Run `recallens init`")
    assert not store.exists()


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_a_mistyped_store_makes_nothing_where_only_is_read(run: Run, home: Path, command: list[str]) -> None:
    wrong = home / "nowhere" / "dir" / "x.db"
    failed = run("--store", str(wrong), *command, code=3)
    assert failed.stderr.splitlines()[0] == f"error: no store at {wrong}"
    assert not (home / "nowhere").exists()


def test_what_writes_says_which_folder_it_made(run: Run, home: Path) -> None:
    new = home / "nowhere" / "dir" / "x.db"
    told = run("--store", str(new), "remember", "The broker is RabbitMQ").stderr
    assert f"made a new store at {new}, and the folder {new.parent} for it" in told
    other = home / "nowhere" / "dir" / "y.db"
    assert f"made a new store at {other}\n" in run("--store", str(other), "remember", "The port is 8080").stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["remember", ""], "content is empty"),
        (["remember", " \n\t "], "content is empty"),
        (["remember", "x", "--sector", "bogus"], "unknown sector 'bogus'; use one of: episodic, semantic"),
        (["remember", "x", "--kind", "bogus"], "use one of: fact, decision"),
        (["remember", "x", "--importance", "7"], "from 0 to 1"),
        (["remember", "x", "--importance", "much"], "'much' is not a valid float"),
        (["remember", "x", "--created", "someday"], "'someday' is not a time; use an ISO 8601 date"),
        (["remember", "x", "--valid-from", "2026-02-01", "--valid-until", "2026-01-01"], "must come after"),
        (["remember", "x", "--cite", "page:3"], "unknown citation kind 'page'"),
        (["remember", "--file", "nowhere.txt"], "cannot read nowhere.txt: No such file"),
        (["remember", "--file", "."], "Is a directory"),
        (["remember", "x", "--file", "y"], "give one of TEXT"),
        (["remember", "x", "--namespace", "no spaces"], "is no namespace"),
        (["remember", "--document", "nowhere.md"], "cannot read nowhere.md"),
        (["search", "x", "--as-of", "yesteryear"], "is not a time"),
        (["search", "x", "--mode", "magic"], "use one of: hybrid, semantic, keyword"),
        (["search", "x", "--preset", "best"], "use one of: default, fusion, classic"),
        (["search", "x", "-k", "0"], "from 1 to 1,000"),
        (["search", "x" * 40_000], "at most 32,768"),
        (["search", "--bogus"], "No such option"),
        (["bogus"], "No such command 'bogus'"),
        (["list", "--page", "0"], "not in the range"),
        (["relate", "A", "B", "LIKES"], "unknown relation 'LIKES'; use one of: SUPERSEDES"),
        (["--store", "mysql://me:secret@host/db", "list"], "mysql:// is not known; a store is the path of a file"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
    ],
)
def test_wrong_input(run: Run, args: list[str], told: str) -> None:
    if args[0] != "remember":
        run("init")
    failed = run(*args, code=2)
    assert failed.stdout == ""
    assert failed.stderr.startswith("error: ")
    assert told in failed.stderr
    assert "secret" not in failed.stderr
    record = json.loads(run(*args, "--json", code=2).stderr)["error"]
    assert told in record["message"]


def test_wrong_input_makes_no_store(run: Run, store: Path) -> None:
    run("remember", "", code=2)
    run("remember", "x", "--sector", "bogus", code=2)
    assert not store.exists()


def test_ten_megabytes(run: Run, home: Path) -> None:
    (home / "big.txt").write_text("ten megabytes " * 750_000)
    for args, text in ((["--file", "big.txt"], None), (["-"], "x" * 10_000_000)):
        failed = run("remember", *args, input=text, code=2)
        assert "holds more than 4,194,304 bytes" in failed.stderr
        assert "Split it" in failed.stderr


def test_a_file_that_is_no_text(run: Run, home: Path) -> None:
    (home / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert "photo.png is not UTF-8 text (byte 0 is 0x89)" in run("remember", "--file", "photo.png", code=2).stderr


@pytest.mark.slow
def test_text_that_is_not_utf8_on_the_command_line() -> None:
    kept = spawn("remember", os.fsdecode(b"broken \xff byte"), "--project", os.fsdecode(b"p\xff"))
    assert kept.returncode == 0
    assert "broken" in spawn("list").stdout


def test_a_store_of_a_newer_schema(run: Run, remember: Any, store: Path) -> None:
    remember("Tokens rotate daily")
    apsw.Connection(str(store)).execute("INSERT INTO migrations VALUES ('9999-from-the-future', 0)")
    before = store.read_bytes()
    failed = run("list", code=4)
    assert "was written by a newer Recallens" in failed.stderr
    assert "pip install -U recallens" in failed.stderr
    assert store.read_bytes() == before


@pytest.mark.parametrize("command", [["search", "x"], ["remember", "x"], ["doctor"], ["stats"]])
def test_a_file_that_is_no_store(run: Run, home: Path, command: list[str]) -> None:
    (home / "notes.db").write_text("these are only notes, and long enough to be read as a header " * 40)
    failed = run(*command, "--store", "notes.db", code=4)
    assert "is not a sound Recallens store" in failed.stderr
    assert "recallens backup" in failed.stderr
    assert (home / "notes.db").read_text().startswith("these are only notes")


def test_a_damaged_store(run: Run, remember: Any, store: Path) -> None:
    for number in range(30):
        remember(f"Fact number {number} about the {number * 7} parcels in the depot", "--no-dedupe")
    with store.open("r+b") as file:
        for page in range(5, 40):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    failed = run("doctor", code=4)
    assert "recallens restore --from BACKUP" in failed.stdout + failed.stderr
    assert run("list", code=4).stderr.startswith("error: ")


def test_a_folder_as_store(run: Run, home: Path) -> None:
    assert f"--store {home / 'store.db'}" in run("list", "--store", home, code=3).stderr


def test_a_bad_config_file(run: Run, home: Path) -> None:
    (home / ".recallens.toml").write_text("colour = 'red'")
    assert "unknown setting 'colour'" in run("list", code=2).stderr
    (home / ".recallens.toml").write_text("=")
    assert "cannot be read as TOML" in run("list", code=2).stderr


def test_a_bug_is_told_shortly_and_traced_on_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init")
    monkeypatch.setattr("recallens.engine.maintenance.Maintenance.stats", lambda self, **where: 1 / 0)
    failed = run("stats", code=70)
    assert failed.stderr.splitlines()[0] == "error: unexpected ZeroDivisionError: division by zero"
    assert "Traceback" not in failed.stderr
    monkeypatch.setenv("RECALLENS_DEBUG", "1")
    assert "Traceback" in run("stats", code=70).stderr


@pytest.mark.parametrize("kind", [ImportError, SystemError])
def test_an_interrupt_while_a_compiled_module_loads_is_an_interrupt(
    run: Run, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def loading(self: object, **where: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as interrupt:
            raise kind("initialization failed") from interrupt

    run("init")
    monkeypatch.setattr("recallens.engine.maintenance.Maintenance.stats", loading)
    assert run("stats", code=130).stderr == "interrupted; everything acknowledged so far is kept\n"
    assert json.loads(run("stats", "--json", code=130).stderr)["error"]["code"] == "Interrupted"


def test_an_encoder_that_fails_loses_no_memory(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recallens.errors import EncoderFailed

    def broken(*_: object) -> None:
        raise EncoderFailed("the encoder is away")

    monkeypatch.setattr("recallens.index.encoders.hashing.HashingEncoder.encode_documents", broken)
    (home / "m.jsonl").write_text('{"content": "The broker is RabbitMQ"}\n')
    failed = run("remember", "--jsonl", "m.jsonl", code=5)
    assert "remembered 1 memory" in failed.stdout
    assert "error: the encoder is away" in failed.stderr
    kept = run("remember", "The port is 8080")
    assert "could not be encoded" in kept.stderr
    assert "RabbitMQ" in run("search", "rabbitmq", "--mode", "keyword").stdout


@pytest.mark.parametrize("command", [["backup"], ["export"], ["vault", "add"], ["trust"]], ids=" ".join)
def test_a_name_that_is_too_long_for_a_file_is_wrong_input(run: Run, command: list[str]) -> None:
    run("remember", "cranes rest at noon")
    assert "a name is too long for a file" in run(*command, "n" * 300, code=2).stderr


def test_json_that_nests_too_deep_and_bytes_that_are_no_text_are_wrong_input(run: Run, tmp_path: Path) -> None:
    run("remember", "cranes rest at noon")
    deep, binary = tmp_path / "deep.json", tmp_path / "settings.toml"
    deep.write_text("[" * 100_000, encoding="utf-8")
    binary.write_bytes(b"project = '\xff'")
    assert "this is no JSON of a search" in run("verify", "-", input="[" * 100_000, code=2).stderr
    assert "is neither a ledger nor the JSON of a snapshot" in run("diff", deep, deep, code=2).stderr
    assert "is not UTF-8 text" in run("trust", binary, code=2).stderr
