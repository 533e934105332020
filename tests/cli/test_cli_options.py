"""An option acts or is refused: none is ignored by one form of a command, a dry run least of all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli_scene import Ask, Remember, Run

from recallens.cli.main import main
from recallens.operations import OPERATIONS
from recallens.operations.arguments import Arguments

TALK = '{"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "We use port 8443."}}\n'

# Every form that a command with a dry run has.
DRY_RUNS = {
    "forget": [["m1"], ["m1", "m2", "--hard"], ["m1", "--hard", "--yes"], ["--about", "ferry"],
               ["--about", "ferry", "--yes"], ["m1", "--json"]],
    "import": [["--from", "claude-code", "talk.jsonl"], ["--from", "claude-code", "talk.jsonl", "--zone", "trusted"]],
    "install": [["--client", "claude-code", "--hooks", "--instructions", "--skill"],
                ["--client", "claude-code", "--undo"], ["--client", "codex", "--user", "--json"]],
}  # fmt: skip
# Statements of a server: `tests/conformance/test_cluster.py` runs it.
ON_A_SERVER = "store distribute"


def commands(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from commands(inner, (*path, name))


def test_every_command_with_a_dry_run_is_tried_here() -> None:
    with_one = {path for path, command in commands(main) if any("--dry-run" in each.opts for each in command.params)}
    assert with_one == {*DRY_RUNS, ON_A_SERVER}
    operations = {name for name, each in OPERATIONS.items() if "dry_run" in each.arguments.__struct_fields__}
    assert operations == {"forget_memories", "forget_about", "import_from", "distribute_store"}
    assert issubclass(OPERATIONS["forget_memories"].arguments, Arguments)


@pytest.mark.parametrize(
    ("command", "words"), [(command, words) for command, forms in DRY_RUNS.items() for words in forms], ids=str
)
def test_a_dry_run_changes_nothing(
    run: Run, ask: Ask, remember: Remember, home: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: list[str]
) -> None:
    monkeypatch.setenv("HOME", str(home / "person"))
    first = remember("The ferry to Bergen leaves at nine", "--session", "s-1")
    ask("edit", first, "The ferry to Bergen leaves at ten")
    run("restore", "m1")
    remember("The ferry to Oslo is red")
    (home / "talk.jsonl").write_text(TALK, encoding="utf-8")
    if "--undo" in words:
        run("install", *words[:2], "--hooks")
    before = everything(run, home)
    run(command, *words, "--dry-run")
    assert everything(run, home) == before


def everything(run: Run, home: Path) -> tuple[str, dict[str, bytes]]:
    """All rows of the store, and every file beside it."""
    files = {str(path): path.read_bytes() for path in home.rglob("*") if path.is_file() and "data" not in path.parts}
    return run("export", "-").stdout, files


def test_a_dry_run_says_what_would_go_and_with_what(run: Run, ask: Ask, remember: Remember) -> None:
    old = remember("The ferry to Bergen leaves at nine")
    ask("edit", old, "The ferry to Bergen leaves at ten")
    shown = run("forget", "m2", "--dry-run")
    assert shown.stdout == "would forget m2  The ferry to Bergen leaves at ten\n"
    assert "nothing was changed" in shown.stderr
    shown = run("forget", "m2", "--hard", "--dry-run")
    assert shown.stdout.splitlines()[0] == "would delete m2  The ferry to Bergen leaves at ten"
    assert "  with it: memory m1, an older version of m2" in shown.stdout
    foreseen = ask("forget", "m2", "--hard", "--dry-run")["receipt"]["erased"]
    assert ask("forget", "m2", "--hard", "--yes")["receipt"]["erased"] == foreseen


IGNORED = [
    "forget m1 --verify --hard", "forget --verify --about ferry", "forget m1 --verify --dry-run",
    "import export.jsonl --dry-run", "import export.jsonl --zone trusted", "import export.jsonl --project api",
    "import --from claude-code talk.jsonl --tokens", "relate m1 m2 CAUSED --remove --confidence 0.5",
    "remember text --skip-bad", "remember --document notes.md --no-embed", "remember --document notes.md --no-dedupe",
    "prune --superseded", "search ferry --max-tokens 50", "search ferry --brief --why", "search ferry --brief -v",
    "search ferry --brief --xray=text", "search ferry --why --xray", "search ferry -v --xray=json",
    "eval --init --misses", "eval --init --min recall@5=0.8", "eval --init --preset bm25",
    "store index --drop --measure",
    "backup copy.db --namespace team", "--namespace team backup copy.db", "restore --from copy.db --namespace team",
    "reindex --namespace team", "doctor --namespace team", "encoder use none --namespace team",
    "namespace remove team --namespace other --yes", "migrate --from a.db --to b.db --namespace team",
    "migrate --from a.db --to b.db --store c.db", "mcp --http --token rcl_x", "mcp --port 9000",
    "serve --socket s.sock --port 9000",
]  # fmt: skip


@pytest.mark.parametrize("words", IGNORED)
def test_an_option_that_would_do_nothing_is_refused(run: Run, remember: Remember, home: Path, words: str) -> None:
    remember("The ferry to Bergen leaves at nine")
    remember("The ferry to Oslo is red")
    (home / "talk.jsonl").write_text(TALK, encoding="utf-8")
    (home / "notes.md").write_text("# Notes\nThe bell rings twice.\n", encoding="utf-8")
    before = everything(run, home)
    assert "does nothing" in run(*words.split(), code=2).stderr
    assert everything(run, home) == before


def test_looking_for_encoders_makes_no_store(run: Run, store: Path) -> None:
    assert "available  minilm" in run("encoder", "detect").stdout
    assert not store.exists()


@pytest.mark.parametrize("told", ["", "no JSON", "[]"])
def test_a_hook_says_what_it_would_be_told(run: Run, told: str) -> None:
    said = run("hook", "prompt", input=told)
    assert said.stdout == "{}\n"
    assert said.stderr == "recallens hook prompt: a hook is told a JSON object on standard input\n"


def test_one_scope_at_a_time(run: Run, home: Path) -> None:
    refused = run("install", "--client", "cursor", "--project", "--user", code=2)
    assert "--project and --user exclude each other" in refused.stderr
    assert list(home.iterdir()) == []


def test_what_the_environment_sets_is_meant_for_every_command(
    run: Run, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember("The ferry to Bergen leaves at nine")
    monkeypatch.setenv("RECALLENS_NAMESPACE", "team")
    assert "copied to" in run("backup", "copy.db").stdout
