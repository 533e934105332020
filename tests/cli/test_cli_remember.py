"""Keeping one thing: text, standard input, a file, a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cli_scene import Ask, Run


def test_the_first_memory_makes_the_store_and_says_so(run: Run, store: Path) -> None:
    first = run("remember", "Deploys", "go", "out", "on", "Tuesdays")
    assert first.stdout == "remembered m1\n"
    assert first.stderr == f"made a new store at {store}\n"
    again = run("remember", "Deploys go out on Tuesdays")
    assert again.stdout == first.stdout.replace("remembered", "already known")
    assert again.stderr == ""


def test_text_comes_from_standard_input(run: Run, ask: Ask) -> None:
    for args in (["remember", "-"], ["remember"]):
        run(*args, input="배포는 화요일에 한다\n둘째 줄\n")
    (memory,) = ask("list")["memories"]
    assert memory["content"] == "배포는 화요일에 한다\n둘째 줄"


def test_text_comes_from_a_file(run: Run, ask: Ask, home: Path) -> None:
    (home / "note.txt").write_text("\ufeffThe port is 8080", encoding="utf-8")
    run("remember", "--file", "note.txt")
    assert ask("list")["memories"][0]["content"] == "The port is 8080"


def test_every_attribute_is_kept(ask: Ask) -> None:
    id = ask(
        "remember", "Tokens live 15 minutes", "--project", "api", "--sector", "Semantic", "--kind", "decision",
        "--tier", "session", "--title", "Token life", "--tag", "auth", "--tag", "#jwt", "--importance", "0.9",
        "--confidence", "1", "--session", "s-1", "--source", "meeting", "--task", "T-1", "--worktree", "wt",
        "--author", "mina", "--cite", "file:src/auth.py:3-9", "--cite", "commit:4be19d0", "--created", "2026-03-05",
        "--valid-from", "2026-03-06", "--valid-until", "2027-01-01", "--scope", "team", "--zone", "working",
        "--status", "pending_review",
    )["id"]  # fmt: skip
    memory = ask("show", id)["memory"]
    expected = {
        "projectId": "api", "sector": "semantic", "kind": "decision", "tier": "session", "title": "Token life",
        "tags": ["auth", "jwt"], "importance": 0.9, "confidence": 1.0, "source": "meeting", "task": "T-1",
        "worktree": "wt", "author": "mina", "createdAt": 1772668800000, "validFrom": 1772755200000,
        "validUntil": 1798761600000, "scopes": ["team"], "zone": "working", "status": "pending_review",
        "citations": [
            {"kind": "file", "path": "src/auth.py", "startLine": 3, "endLine": 9},
            {"kind": "commit", "hash": "4be19d0"},
        ],
    }  # fmt: skip
    assert {name: memory[name] for name in expected} == expected
    assert ask("show", id)["sessionContext"]["session"]["id"] == "s-1"


def test_a_new_text_may_supersede_one_that_says_nearly_the_same(ask: Ask) -> None:
    old = ask("remember", "The cache lives in Redis, in front of every carrier lookup that we make")["id"]
    new = ask("remember", "The cache lives in Redis, in front of each carrier lookup that we make", "--supersedes", old)
    assert new["outcome"] == "created"
    assert ask("show", old)["supersededBy"]["id"] == new["id"]
    assert ask("show", old)["memory"]["status"] == "superseded"


def test_no_dedupe_keeps_both(ask: Ask) -> None:
    first = ask("remember", "The port is 8080")
    second = ask("remember", "The port is 8080", "--no-dedupe")
    assert (first["outcome"], second["outcome"]) == ("created", "created")
    assert first["id"] != second["id"]


def test_no_embed_leaves_the_vector_for_later_and_words_find_it(ask: Ask) -> None:
    kept = ask("remember", "The broker is RabbitMQ", "--no-embed")
    assert kept["embedded"] is False
    assert ask("stats")["totals"]["backlog"] == 1
    assert ask("search", "rabbitmq")["results"][0]["memory"]["id"] == kept["id"]
    assert ask("reindex")["encoded"] == 1
    assert ask("stats")["totals"]["backlog"] == 0


def test_secrets_are_redacted_and_named(run: Run) -> None:
    key = "sk" + "_live_" + "0" * 24
    result = run("remember", f"the key is {key}")
    assert "redacted before it was stored" in result.stderr
    assert key not in run("list").stdout


def test_a_document_becomes_memories_and_is_replaced_when_added_again(ask: Ask, run: Run, home: Path) -> None:
    (home / "guide.md").write_text("# Setup\n\nInstall uv first.\n\n# Deploy\n\nDeploys need approval.\n")
    added = ask("remember", "--document", "guide.md", "--title", "Guide", "--project", "api")
    assert added["path"] == "guide.md"
    assert len(added["memories"]) >= 1
    found = ask("documents", "approval")["results"][0]["memory"]
    assert (found["source"], found["projectId"], found["title"]) == ("document", "api", "Guide")
    assert ask("search", "approval", "--documents", "exclude")["results"] == []
    (home / "guide.md").write_text("# Deploy\n\nDeploys are free.\n")
    run("remember", "--document", "guide.md")
    assert [r["memory"]["content"] for r in ask("documents", "deploys")["results"]] == ["# Deploy\n\nDeploys are free."]


def test_init_is_idempotent_and_keeps_the_encoder(ask: Ask, run: Run, monkeypatch: Any) -> None:
    monkeypatch.delenv("RECALLENS_ENCODER")
    first = ask("init", "--encoder", "hashing:64")
    assert first["encoderSpec"] == "hashing:64"
    assert ask("init") == first
    refused = run("init", "--encoder", "none", code=5)
    assert "reindex --encoder none" in refused.stderr


def test_shared_options_stand_on_either_side_of_the_command(run: Run, home: Path) -> None:
    run("--store", "one.db", "remember", "alpha")
    run("remember", "beta", "--store", "two.db", "--namespace", "team")
    assert "alpha" in run("list", "--store", "one.db").stdout
    assert "beta" in run("--store", "two.db", "--namespace", "team", "list").stdout
    assert "beta" not in run("--store", "two.db", "list").stdout
    assert "beta" in run("--store", "one.db", "list", "--store", "two.db", "--namespace", "team").stdout
    assert (home / "one.db").exists()


def test_the_environment_names_store_namespace_project_and_session(run: Run, ask: Ask, monkeypatch: Any) -> None:
    monkeypatch.setenv("RECALLENS_STORE", "env.db")
    monkeypatch.setenv("RECALLENS_NAMESPACE", "team")
    monkeypatch.setenv("RECALLENS_PROJECT", "api")
    monkeypatch.setenv("RECALLENS_SESSION", "s-1")
    id = ask("remember", "The port is 8080")["id"]
    memory = ask("show", id)["memory"]
    assert (memory["namespace"], memory["projectId"]) == ("team", "api")
    monkeypatch.setenv("RECALLENS_PROJECT", "web")
    assert ask("search", "port")["results"] == []
    assert ask("search", "port", "--project", "")["results"][0]["memory"]["id"] == id
    assert ask("session", "show", "s-1")["memories"][0]["usageType"] == "created"
    run("session", "end", "--summary", "done")
    assert ask("session", "show", "s-1")["session"]["summary"] == "done"
