"""Help is immediate, complete, and the documentation knows every option."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli_scene import RECALLENS, Run

from recallens.cli.main import COMMANDS, EVERYDAY, main
from recallens.cli.suggestions import FOREIGN

DOCS = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def fastest(command: list[str]) -> float:
    """Processor time, the best of five: on a busy machine a process waits, and that is not its own doing."""
    times = []
    for _ in range(5):
        before = spent_by_children()
        subprocess.run(command, capture_output=True, check=True)
        times.append(spent_by_children() - before)
    return min(times)


def spent_by_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def test_help_takes_under_three_tenths_of_a_second_and_hardly_more_than_click_itself() -> None:
    bare = fastest([sys.executable, "-c", "import click"])
    with_help = fastest([*RECALLENS, "--help"])
    assert with_help < 0.3 or with_help < 3 * bare
    assert with_help < 4 * bare


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom recallens.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'rich', 'apsw', 'onnxruntime', 'tokenizers'}\n"
        "print(sorted(heavy & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_help_lists_every_command_and_the_exit_codes(run: Run) -> None:
    shown = run("--help").stdout
    everyday, more = shown.split("More, each with --help:")
    assert all(f"  {name} " in everyday for name in EVERYDAY)
    assert len(EVERYDAY) <= 16
    listed = set(re.split(r"[\s,]+", more))
    assert set(EVERYDAY) | (listed & set(COMMANDS)) == set(COMMANDS)
    assert "130  interrupted" in shown


@pytest.mark.parametrize("group", [[], ["session"], ["review"]])
def test_nothing_asked_shows_what_could_be(run: Run, group: list[str]) -> None:
    shown = run(*group, code=2)
    assert shown.stderr.startswith(" ".join(["Usage: recallens", *group]))


def test_version(run: Run) -> None:
    assert run("--version").stdout == "recallens 0.1.0\n"


def commands(group: click.Group, path: str = "recallens") -> Iterator[tuple[str, click.Command]]:
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


EVERY = list(commands(main))


@pytest.mark.parametrize(("path", "command"), EVERY, ids=[path for path, _ in EVERY])
def test_every_command_and_option_is_documented(path: str, command: click.Command) -> None:
    name = path.split()[-1]
    assert path in DOCS or (len(path.split()) == 3 and f"{path.split()[1]} {name}" in DOCS), path
    for param in command.params:
        for option in [*param.opts, *param.secondary_opts]:
            if option.startswith("-"):
                assert f"`{option}" in DOCS or f" {option}" in DOCS, f"{path} {option} is not in docs/cli.md"


@pytest.mark.parametrize(("path", "command"), EVERY, ids=[path for path, _ in EVERY])
def test_every_command_has_help_that_fits_and_takes_json(path: str, command: click.Command, run: Run) -> None:
    shown = run(*path.split()[1:], "--help").stdout
    assert all(len(line) <= 80 for line in shown.splitlines())
    if not isinstance(command, click.Group):
        assert "--json" in shown
        assert "--store" in shown


def test_the_table_says_what_the_commands_say() -> None:
    assert {name for name, _ in ((path.split()[1], c) for path, c in EVERY)} == set(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run: Run, shell: str) -> None:
    assert "_RECALLENS_COMPLETE" in run("completion", shell).stdout


def test_completion_of_a_command_and_of_a_value(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setenv("_RECALLENS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "recallens rem")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run().stdout == "plain,remember\n"
    monkeypatch.setenv("COMP_WORDS", "recallens search --sector ep")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert run().stdout == "plain,episodic\n"


# ── a wrong word ──


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("serach", "search"), ("add", "remember"), ("ls", "list"), ("delete", "forget"), ("exprot", "export"),
     ("rm", "forget"), ("LS", "list"), ("status", "stats"), ("vualt", "vault"), ("dump", "export"), ("delte", "forget"),
     ("version", "--version")],
)  # fmt: skip
def test_a_slip_or_a_foreign_word_is_answered_with_the_right_one(run: Run, typed: str, meant: str) -> None:
    failed = run(typed, code=2)
    assert f"`recallens {meant}`" in failed.stderr.splitlines()[0]


def test_a_question_without_a_command_and_nonsense_are_told(run: Run) -> None:
    assert "`recallens search" in run("how long are lookups cached", code=2).stderr
    assert "did you mean" not in run("xyzzy", code=2).stderr


def test_every_foreign_word_leads_to_a_command(run: Run) -> None:
    words = [command.split() for command in FOREIGN.values() if not command.startswith("-")]
    assert {first for first, *_ in words} <= set(COMMANDS)
    assert FOREIGN.keys().isdisjoint(COMMANDS)


def test_a_question_is_read_from_standard_input(run: Run) -> None:
    run("remember", "The gateway listens on port 8443", "--no-embed")
    assert "8443" in run("search", "-", input="which port does the gateway listen on\n").stdout
    assert "both" in run("search", "-", "--diff", "-", input="x", code=2).stderr
