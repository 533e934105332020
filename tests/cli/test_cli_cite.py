"""`recallens cite check`: what it says, what it writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

from cli_scene import Ask, Remember, Run


def test_check_tells_each_verdict_and_marks_on_request(home: Path, run: Run, ask: Ask, remember: Remember) -> None:
    (home / "app.py").write_text("TTL = 60\n", encoding="utf-8")
    id = remember("토큰 캐시는 60초 동안 유지된다", "--cite", "file:app.py:1", "--cite", "file:gone.py")
    shown = run("cite", "check", id, "--root", home).stdout
    assert "m1  verified   app.py:1\n" in shown
    assert "m1  stale      gone.py: gone.py does not exist\n" in shown
    assert shown.endswith("2 citations of 1 memory: 1 verified, 1 stale, 0 unknown\n")
    assert "citationCheck" not in ask("show", id)
    record = ask("cite", "check", "--all", "--root", home, "--mark")
    assert (record["verified"], record["stale"], record["unknown"], record["marked"]) == (1, 1, 0, True)
    assert record["checks"][0]["citations"][1] == {
        "citation": {"kind": "file", "path": "gone.py"},
        "verdict": "stale",
        "reason": "gone.py does not exist",
    }
    assert ask("show", id)["citationCheck"]["verdict"] == "stale"
    assert "gone.py (stale: gone.py does not exist)" in run("show", id).stdout
    assert "! stale: gone.py does not exist" in run("xray", "토큰 캐시").stdout


def test_without_a_workspace_it_says_so(run: Run, remember: Remember) -> None:
    remember("Lookups are cached", "--cite", "file:app.py:1")
    done = run("cite", "check", "--all")
    assert "0 stale, 1 unknown" in done.stdout
    assert "--root DIR" in done.stderr


def test_wrong_input_says_what_would_be_right(run: Run, remember: Remember, home: Path) -> None:
    id = remember("Lookups are cached", "--cite", "file:app.py:1")
    assert "--all" in run("cite", "check", code=2).stderr
    assert "--all" in run("cite", "check", id, "--all", code=2).stderr
    assert "is no folder" in run("cite", "check", "--all", "--root", home / "nowhere", code=2).stderr
    assert "--project goes with --all" in run("cite", "check", id, "--project", "x", code=2).stderr
    run("cite", "check", "01NOSUCHMEMORY", code=3)
