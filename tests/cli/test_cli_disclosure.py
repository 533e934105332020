"""Layer 1, the certificate and its verification on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

from cli_scene import Ask, Remember, Run

from recallens.text.token_count import count_tokens


def test_brief_is_layer_one_with_its_certificate(run: Run, ask: Ask, remember: Remember) -> None:
    remember("The billing service uses PostgreSQL as its database")
    question = ("search", "which database does the billing service use and who approves hotfixes", "--brief", "--all")
    answer = ask(*question)
    assert {"id", "summary", "utilityScore", "type", "citations"} <= answer["results"][0].keys()
    assert answer["certificate"]["missing"] == ["who approves hotfixes"]
    assert answer["metadata"]["strategy"] == "standard"
    shown = run(*question).stdout
    assert shown.startswith("m1 ")
    assert re.search(r"\(hypothesis(, \d+% likely)?\): The billing service uses PostgreSQL as its database\n", shown)
    assert "missing: who approves hotfixes" in shown


def test_the_callers_limits_hold_as_sent(run: Run, remember: Remember) -> None:
    for at in range(12):
        remember(
            f"Lookup {at} is cached for {at} minutes, as the team has decided after a long discussion of the matter"
        )
    for flags in ((), ("--json",)):
        for limit in (40, 100, 300):
            sent = run("search", "how long are lookups cached", "--brief", "--max-tokens", str(limit), *flags).stdout
            assert count_tokens(sent) <= limit
        assert run("search", "how long are lookups cached", "--brief", "-k", "1", *flags).stdout.count("Lookup ") == 1


def test_intent_alpha_beta_and_scope_are_part_of_the_question(run: Run, ask: Ask, remember: Remember) -> None:
    remember("Deploy with the release job", "--kind", "skill", "--project", "api")
    given = ("--intent", "how_to", "--alpha", "0.4", "--beta", "0.6", "--project", "api", "--scope", "project")
    snapshot = ask("xray", "deploy", *given)["snapshot"]
    assert snapshot["plan"]["intent"] == "how_to_do"
    assert (snapshot["plan"]["alpha"], snapshot["plan"]["beta"]) == (0.4, 0.6)
    assert "scope" in [rung["name"] for rung in snapshot["filters"]]
    assert "intentMatch" in snapshot["results"][0]["scoreDecomposition"]


def test_wrong_values_list_what_would_be_right(run: Run, remember: Remember) -> None:
    remember("x marks the spot")
    assert "how_to_do, what_happened" in run("search", "x", "--intent", "why", code=2).stderr
    assert "alpha" in run("search", "x", "--alpha", "7", code=2).stderr
    assert "--task" in run("search", "x", "--scope", "task", code=2).stderr
    assert (
        "one of: task, worktree, project, org" in run("search", "x", "--scope", "task", "--scope", "org", code=2).stderr
    )
    assert "--brief" in run("search", "x", "--max-tokens", "90", code=2).stderr


def test_a_certificate_is_verified_until_a_memory_in_it_changes(
    run: Run, ask: Ask, remember: Remember, tmp_path: Path
) -> None:
    id = remember("Deploys need two approvals")
    answer = tmp_path / "answer.json"
    answer.write_text(run("search", "who approves deploys", "--json").stdout, encoding="utf-8")
    assert run("verify", answer).stdout == "valid: every memory is as it was\n"
    assert ask("verify", answer) == {"valid": True, "altered": False, "stale": {}}
    run("edit", id, "Deploys need three approvals")
    assert "m1: now superseded" in run("verify", answer, code=1).stdout
    found = json.loads(run("verify", answer, "--json", code=1).stdout)
    assert found == {"valid": False, "altered": False, "stale": {id: "now superseded"}}


def test_what_is_no_certificate_is_refused(run: Run, remember: Remember) -> None:
    remember("x marks the spot")
    assert "no JSON of a search" in run("verify", input="nonsense", code=2).stderr
    assert "evidence (id, contentHash)" in run("verify", input="{}", code=2).stderr
