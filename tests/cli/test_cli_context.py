"""`recallens context`: the block on stdout and nothing else, the figures on stderr, all of it in JSON."""

from __future__ import annotations

import json
from pathlib import Path

from cli_scene import EXAMPLES, Ask, Remember, Run

from recallens.text.token_count import count_tokens


def test_the_block_goes_to_stdout_and_the_figures_to_stderr(run: Run, ask: Ask) -> None:
    run("remember", "--jsonl", EXAMPLES)
    task = "how do we deploy, and what goes wrong with the tracking cache"
    done = run("context", task, "--tokens", "800")
    told = run("--json", "context", task, "--tokens", "800", "--no-record").stdout
    record = json.loads(told)
    # Each form holds to the budget as it is printed, so that the text has room for more than the record.
    assert record["budget"]["used"] == count_tokens(told) <= 800
    assert len(record["block"]) <= len(done.stdout)
    assert f"used: {count_tokens(done.stdout):,} of 800 tokens" in done.stderr
    assert count_tokens(done.stdout) <= 800
    assert "left out: " in done.stderr
    assert "next 500: " in done.stderr
    assert record["recorded"] is False
    assert run("audit", "verify").stdout.startswith("whole:")


def test_formats_and_options(home: Path, run: Run, ask: Ask, remember: Remember) -> None:
    id = remember("`warm_up` fills the cache", "--kind", "skill", "--project", "api")
    remember("Another project", "--project", "web")
    (home / "C.md").write_text("Be brief.", encoding="utf-8")
    record = ask("context", "call", "warm_up", "--constitution", "C.md", "--project", "api", "--session", "s9")
    assert [section["items"][0]["id"] for section in record["sections"] if section["items"]] == ["C.md", id]
    assert record["task"] == "call warm_up"
    assert record["recorded"] is True
    assert set(record["snapshots"]) >= {"general"}
    assert run("context", "warm_up", "--format", "markdown").stdout.startswith("# Context\n")
    assert run("context", "warm_up", "--format", "json").stdout.startswith("{")
    assert ask("session", "show", "s9")["memories"][0]["usageType"] == "recalled"


def test_a_diff_names_the_files(run: Run, ask: Ask, remember: Remember) -> None:
    id = remember("Lookups live a minute", "--cite", "file:src/cache.py:3")
    diff = "--- a/src/cache.py\n+++ b/src/cache.py\n@@ -1 +1 @@\n-a\n+b\n"
    record = ask("context", "review this", "--diff", "-", input=diff)
    symbols = next(section for section in record["sections"] if section["name"] == "codeSymbols")
    assert [item["id"] for item in symbols["items"]] == [id]
    assert ask("context", "review this", "--files", "src/cache.py")["block"] == record["block"]


def test_wrong_input_says_what_would_be_right(run: Run, remember: Remember) -> None:
    remember("Lookups live a minute")
    assert "--tokens 8000" in run("context", "x", "--tokens", "0", code=2).stderr
    assert "text, markdown, json" in run("context", "x", "--format", "html", code=2).stderr
    assert "cannot read the constitution" in run("context", "x", "--constitution", "nowhere.md", code=2).stderr
    assert "exclude each other" in run("context", "x", "--json", "--format", "text", code=2).stderr
