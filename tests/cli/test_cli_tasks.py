"""Tasks, details, skills, patterns and gotchas as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_scene import EXAMPLES, Ask, Remember, Run, spawn, write_lines

TASKS = EXAMPLES.parent / "tasks.jsonl"


def test_the_life_of_a_task(ask: Ask, run: Run, remember: Remember) -> None:
    id = remember("Warm the cache before the deploy")
    started = ask("task", "start", "Deploy", "the API", "--id", "d-1", "--project", "api", "--session", "s-1")
    assert (started["id"], started["task"], started["session"]) == ("d-1", "Deploy the API", "s-1")
    assert ask("search", "cache deploy", "--task", "d-1")["results"][0]["memory"]["id"] == id
    assert ask("used", id, "--task", "d-1") == {"used": [id], "task": "d-1"}
    logged = ask("task", "log", "d-1", input="line one\nline two\n")
    assert (logged["kind"], logged["chars"]) == ("log", 17)
    assert [task["id"] for task in ask("task", "list", "--running")["tasks"]] == ["d-1"]
    ended = ask("task", "end", "d-1", "--reward", "0.9", "--summary", "Warm first.")
    assert (ended["reward"], ended["summary"], ended["promoted"]) == (0.9, "Warm first.", [])
    assert ask("show", id)["uplift"]["tasks"] == 1
    assert "uplift" in run("show", id).stdout
    assert "uplift" not in ask("show", ended["episode"])
    details = ask("details", "d-1")
    assert details["entries"][0]["full_content"] == "line one\nline two"
    handles = [ask("show", name)["memory"]["handle"] for name in (ended["episode"], id)]
    assert details["entries"][0]["relatedEntries"] == handles
    shown = run("details", handles[0]).stdout
    assert shown.startswith("task d-1 (reward 0.9): ")
    assert f"\n{handles[0]} " in shown
    assert "\n line one\n line two\n" in shown
    assert "reward 0.9" in run("task", "list", "--ended").stdout


@pytest.mark.slow
def test_two_processes_share_a_task(ask: Ask, remember: Remember) -> None:
    id = remember("Warm the cache before the deploy")
    assert spawn("task", "start", "Deploy", "--id", "d-1").stdout == "started d-1\n"
    assert spawn("search", "cache", "--task", "d-1").returncode == 0
    assert spawn("task", "log", "d-1", f"as {id} says").returncode == 0
    assert json.loads(spawn("task", "end", "d-1", "--reward", "1", "--json").stdout)["reward"] == 1.0
    assert ask("show", id)["uplift"]["tasks"] == 1


def test_crafts_are_added_and_found(ask: Ask, run: Run) -> None:
    added = ask("skill", "add", "결제 연동", "--principle", "멱등 키를 쓴다", "--pitfall", "웹훅 순서", "--guide", "-",
                input="1. 키를 받는다\n2. 서명을 확인한다")  # fmt: skip
    assert ask("skill", "get", "결제연동") == added
    assert added["core_principles"] == ["멱등 키를 쓴다"]
    assert "no skill about" in run("skill", "get", "gardening", code=3).stderr
    run("patterns", "add", "Retry with jitter", "--description", "Backs off.", "--success-count", "2")
    run("patterns", "add", "Retry with jitter", "--description", "Backs off.")
    assert ask("patterns", "search", "retry")["results"][0]["success_count"] == 3
    gotcha = ask("gotchas", "add", "Clock skew", "--resolution", "Allow 30 s.", "--trigger", "VM resumes", "--files",
                 "src/auth.py", "--cite", "commit:4be19c7")  # fmt: skip
    assert gotcha["citations"][0] == {"kind": "commit", "hash": "4be19c7"}
    assert ask("gotchas", "search", "--files", "src/auth.py")["results"] == [gotcha]
    assert ask("gotchas", "search", "skew", "--files", "src/other.py")["results"] == []
    assert "Resolution: Allow 30 s." in run("gotchas", "search", "skew").stdout
    assert ask("search", "skew", "--affected", "src/auth.py")["results"][0]["memory"]["id"] == gotcha["id"]


def test_wrong_input(run: Run, remember: Remember) -> None:
    remember("x")
    assert "no task 'nope'" in run("task", "end", "nope", "--reward", "1", code=3).stderr
    run("task", "start", "Do it", "--id", "t")
    assert "reward" in run("task", "end", "t", "--reward", "7", code=2).stderr
    assert "log, terminal_snapshot" in run("task", "log", "t", "x", "--kind", "video", code=2).stderr
    assert "give one of" in run("details", "t", "--full", "--tokens", "9", code=2).stderr
    assert "give a QUERY" in run("gotchas", "search", code=2).stderr


def test_the_sample_of_tasks_loads_twice_as_once(ask: Ask) -> None:
    first = ask("remember", "--jsonl", TASKS)
    assert (first["created"], first["tasks"], first["leftOut"]) == (4, 6, [])
    assert ask("remember", "--jsonl", TASKS)["tasks"] == 0
    assert [task["id"] for task in ask("task", "list", "--running")["tasks"]] == ["web-dark-mode"]
    skill = ask("skill", "get", "나루물류 요금표")
    assert skill["implementation_guide"].startswith("1. cp949로 읽는다")
    assert ask("skill", "get", "postgres upgrade")["pitfalls"] == [
        "Sequences are not replicated: set them before the switch"
    ]
    assert ask("gotchas", "search", "--files", "deploy/rabbitmq.conf")["results"][0]["occurrence_count"] == 2
    assert ask("details", "naru-import-1")["entries"][0]["full_content"].startswith("$ harbor import")
    assert ask("doctor")["ok"] is True


def test_bad_task_lines_are_named(run: Run, home: Path) -> None:
    bad = [{"type": "task", "id": "a"}, {"type": "task", "id": "a", "text": "b", "reward": 2},
           {"type": "task", "id": "a", "text": "b", "endedAt": "2026-01-01"},
           {"type": "task", "id": "a", "text": "b", "logs": ["x"]}, {"type": "task", "id": "a", "text": "b", "x": 1},
           {"type": "task", "id": "a", "text": "b", "logs": [{"kind": "video", "content": "x"}]}]  # fmt: skip
    failed = run("remember", "--jsonl", write_lines(home / "t.jsonl", bad), code=2).stderr
    assert "6 problems; nothing was written" in failed
    assert "a task needs `id` and `text`" in failed
