"""From an empty home: install, connect Claude Code, work a session, and the next one is told what the first decided.

The client is the real one, with its own transcripts and hooks; the model is a script. Nobody says a word to the memory.
docs/quickstart.md shows the same with what it prints, and is compared here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from clients_scene import Client
from scripted_model import ScriptedModel, runs, said, scripted_model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PAGE = Path(__file__).parents[2] / "docs" / "quickstart.md"
DECIDED = "We decided that the tracking worker retries five times with a pause of two seconds."
ASKED = "How often does the tracking worker retry?"
FAILING, WORKING = "make check", "make -f build.mk check"
FIRST = [runs(FAILING), runs(WORKING), said("Done: RETRIES is 5, and the checks pass.")]
SECOND = [runs(FAILING), said("Five times, with a pause of two seconds.")]


def talk(client: Client, model: ScriptedModel, prompt: str) -> str:
    told = {"ANTHROPIC_BASE_URL": model.address, "ANTHROPIC_API_KEY": "none"}
    return client("claude", "-p", prompt, "--allowedTools", "Bash", **told).stdout.strip()


@pytest.fixture
def worked(client: Client, project: Path) -> ScriptedModel:
    """The first session, in which something was decided and a command failed before one like it worked."""
    (project / "build.mk").write_text("check:\n\t@echo 4 passed\n")
    client("recallens", "install", "--client", "claude-code", "--hooks", "--user")
    with scripted_model(FIRST) as model:
        assert talk(client, model, DECIDED) == FIRST[-1]["text"]
    assert "hook additional context" not in model.texts()[0]  # nothing was known
    return model


def test_the_next_session_is_told_what_the_first_decided(client: Client, worked: ScriptedModel) -> None:
    kept = json.loads(client("recallens", "list", "--limit", "50", "--json").stdout)["memories"]
    assert {memory["zone"] for memory in kept} == {"working"}
    assert (DECIDED, "decision") in {(memory["content"], memory["kind"]) for memory in kept}
    assert f"`{FAILING}` failed; `{WORKING}` worked." in {memory["content"] for memory in kept}
    with scripted_model(SECOND) as model:
        assert talk(client, model, ASKED) == SECOND[-1]["text"]
    first, second = model.texts()
    assert f": {DECIDED}" in first  # at the start of the session
    assert "SessionStart" in first
    assert re.search(
        r"UserPromptSubmit hook additional context: Recallens remembers .*retries five times", first, re.DOTALL
    )
    assert f"`{WORKING}` worked." in second  # before the command that failed is run again
    figures = json.loads(client("recallens", "stats", "--json").stdout)["hooks"]
    assert figures["injections"] >= 3
    again = client("recallens", "list", "--status", "all", "--limit", "50", "--json").stdout
    assert len([each for each in json.loads(again)["memories"] if each["kind"] == "decision"]) == 1


# ── as the quickstart shows it ──

BLOCK = re.compile(r"<!-- session -->\n```console\n(.*?)```", re.DOTALL)


def test_the_quickstart_shows_what_happens(client: Client, worked: ScriptedModel, project: Path) -> None:
    block = BLOCK.search(PAGE.read_text(encoding="utf-8"))
    assert block is not None
    steps = re.split(r"^\$ ", block[1], flags=re.MULTILINE)[1:]
    shown = {step.partition("\n")[0]: step.partition("\n")[2] for step in steps}
    assert [command.split()[0] for command in shown] == ["recallens", "claude", "recallens", "claude"]
    for command, output in shown.items():
        if command.startswith("recallens list"):
            assert_like(client(*command.split()).stdout, output)
        if command == f'claude "{ASKED}"':
            with scripted_model(SECOND) as model:
                talk(client, model, ASKED)
            assert_like(model.texts()[0], output)


def assert_like(printed: str, shown: str) -> None:
    """Every line that is shown is printed; what stands for … may be anything."""
    for line in filter(None, map(str.strip, shown.splitlines())):
        pattern = ".*".join(re.escape(part) for part in re.split(r"…|\d{4}-\d\d-\d\d", line))
        assert re.search(pattern, printed), f"{line!r} is not in:\n{printed}"
