"""Looking after a store."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import apsw
from cli_scene import Ask, Remember, Run


def test_stats_and_doctor_of_a_sound_store(run: Run, ask: Ask, remember: Remember) -> None:
    remember("Tokens rotate daily")
    assert ask("stats")["totals"]["memories"] == 1
    assert "by status" in run("stats").stdout
    assert run("doctor").stdout.endswith("no problems\n")
    assert ask("doctor")["problems"] == []


def test_doctor_names_the_next_step_and_the_step_helps(run: Run, remember: Remember, store: Path) -> None:
    remember("Tokens rotate daily")
    apsw.Connection(str(store)).execute("DELETE FROM lexical")
    sick = run("doctor", code=4)
    assert "problem: 1 memories without a lexical entry\n  next: Run `recallens reindex`" in sick.stdout
    assert '"ok": false' in run("doctor", "--json", code=4).stdout
    assert run("reindex").stdout == "indexed 1 memory, encoded 0\n"
    run("doctor")


def test_another_encoder(run: Run, ask: Ask, remember: Remember, monkeypatch: Any) -> None:
    monkeypatch.delenv("RECALLENS_ENCODER")
    run("init", "--encoder", "hashing:64")
    remember("Tokens rotate daily")
    changed = ask("reindex", "--encoder", "hashing:32")
    assert (changed["entries"], changed["encoded"], changed["backlog"]) == (1, 1, 0)
    assert "/32/" in ask("stats")["encoder"]
    assert ask("reindex", "--vectors")["encoded"] == 1
    assert ask("reindex", "--encoder", "none")["encoder"] is None
    assert ask("search", "tokens")["results"][0]["matchType"] == "keyword"
    assert "use one of: minilm" in run("reindex", "--encoder", "bogus", code=2).stderr


def test_a_backup_is_a_store(run: Run, ask: Ask, remember: Remember, home: Path) -> None:
    remember("Tokens rotate daily")
    assert "copied to copy.db" in run("backup", "copy.db").stdout
    assert ask("list", "--store", "copy.db")["total"] == 1
    assert "already exists" in run("backup", "copy.db", code=2).stderr
    assert (home / "copy.db").stat().st_size > 0


def test_prune_shows_before_it_deletes(run: Run, ask: Ask, remember: Remember) -> None:
    old = remember("Tokens rotate daily", "--created", "2020-01-01")
    remember("Tokens rotate hourly", "--supersedes", old, "--created", "2020-02-01")
    dry = run("prune", "--older-than", "30", "--superseded").stdout
    assert re.search(r"^m1 .*Tokens rotate daily$", dry, re.MULTILINE)
    assert "1 memory would go" in dry
    assert ask("list", "--status", "all")["total"] == 2
    assert ask("prune", "--older-than", "30")["memories"] == []
    pruned = ask("prune", "--older-than", "30", "--superseded", "--yes")
    assert (pruned["deleted"], pruned["memories"]) == (True, [old])
    assert ask("list", "--status", "all")["total"] == 1


def test_namespaces(run: Run, ask: Ask, remember: Remember) -> None:
    remember("Tokens rotate daily", "--namespace", "team")
    remember("Apples are red", "--namespace", "home")
    assert run("namespace", "list").stdout == "home  1 memory\nteam  1 memory\n"
    assert "needs --yes" in run("namespace", "remove", "team", code=2).stderr
    assert run("namespace", "remove", "team", "--yes").stdout == "removed team and its 1 memory\n"
    assert ask("namespace", "list") == {"namespaces": [{"name": "home", "memories": 1}]}
    assert "no namespace 'team'" in run("namespace", "remove", "team", "--yes", code=3).stderr


def test_config_show_says_where_each_setting_came_from_and_no_secret(
    run: Run, ask: Ask, home: Path, monkeypatch: Any
) -> None:
    (home / ".recallens.toml").write_text('project = "api"\nencoder_url = "https://me:hunter2@host/v1?key=hunter2"\n')
    run("trust")
    monkeypatch.setenv("RECALLENS_LIMIT", "7")
    monkeypatch.setenv("RECALLENS_ENCODER_KEY", "hunter2")
    shown = ask("config", "show", "--namespace", "team")
    assert shown["project"] == {
        "value": "api",
        "from": str(home / ".recallens.toml"),
        "about": "the project that new memories belong to and searches are limited to",
    }
    assert (shown["limit"]["value"], shown["limit"]["from"]) == (7, "environment")
    assert (shown["namespace"]["value"], shown["namespace"]["from"]) == ("team", "flag")
    assert shown["encoder_key_env"]["value"] == "RECALLENS_ENCODER_KEY (set)"
    text = run("config", "show").stdout
    assert "hunter2" not in text + str(shown)
    assert "https://…@host/v1?…" in text
