"""Looking after memories at the command: pins, ends, a topic, and taking back."""

from __future__ import annotations

import json
from collections.abc import Callable

from cli_scene import Ask, Run

Remember = Callable[..., str]


def test_what_is_pinned_is_told_first_at_the_start_of_a_session(run: Run, ask: Ask, remember: Remember) -> None:
    remember("We decided that the gateway listens on port 8443", "--kind", "decision")
    remember("The harbor office is on the third floor")
    assert "pinned m2" in run("pin", "m2").stdout
    assert [memory["handle"] for memory in ask("list", "--pinned")["memories"]] == ["m2"]
    told = json.loads(
        run("hook", "session-start", input=json.dumps({"session_id": "s", "cwd": "/home/ada/harbor"})).stdout
    )
    lines = told["hookSpecificOutput"]["additionalContext"]
    assert 0 < lines.index("The harbor office is on the third floor") < lines.index("port 8443")
    run("pin", "m2", "--off")
    assert ask("list", "--pinned")["memories"] == []
    assert "third floor" not in run("hook", "session-start", input=json.dumps({"cwd": "/home/ada/harbor"})).stdout


def test_a_memory_holds_until_its_end(run: Run, ask: Ask, remember: Remember) -> None:
    remember("The ferry leaves at nine")
    assert run("until", "m1", "2031-01-31").stdout == "m1 holds until 2031-01-31 00:00 UTC\n"
    assert ask("show", "m1")["memory"]["validUntil"] == 1_927_584_000_000
    assert ask("search", "when does the ferry leave")["results"]
    assert "m1 holds until" in run("until", "m1", "now").stdout
    assert ask("search", "when does the ferry leave")["results"] == []
    assert run("until", "m1", "never").stdout == "m1 holds without an end\n"
    ahead = ask("until", "m1", "30d")
    assert ahead["validUntil"] - ask("show", "m1")["memory"]["createdAt"] > 29 * 86_400_000
    assert "or a time from now (30min" in run("until", "m1", "whenever", code=2).stderr


def test_what_no_longer_holds_is_neither_pinned_nor_dated_nor_confirmed(run: Run, ask: Ask, remember: Remember) -> None:
    remember("The ferry leaves at nine")
    remember("The bell rings twice")
    run("forget", "m1")
    for words in (("pin", "m2", "m1"), ("until", "m1", "30d"), ("confirm", "m2", "m1")):
        assert "m1 is forgotten\nRestore it first" in run(*words, code=2).stderr
    assert ask("list", "--pinned")["memories"] == []
    assert ask("show", "m2")["memory"]["confirmed"] is False
    assert run("forget", "m1", "m2").stdout == "m1 was forgotten before\nforgot m2\n"


def test_changes_are_taken_back_the_last_first(run: Run, ask: Ask, remember: Remember) -> None:
    remember("The spare key is under the mat")
    remember("The spare bulb is in the cellar")
    run("pin", "m2", "--json")
    run("forget", "m1", "m2")
    assert run("undo").stdout == "taken back: forgot m1, forgot m2\n"
    assert run("undo").stdout == "taken back: pinned m2\n"
    assert len(ask("list")["memories"]) == 2
    run("relate", "m1", "m2", "CAUSED")
    assert "removed" in run("relate", "m1", "m2", "CAUSED", "--remove").stdout
    assert ask("show", "m1")["relations"] == []
    run("undo")
    assert len(ask("show", "m1")["relations"]) == 1
    run("edit", "m1", "The spare key is in the drawer")
    run("undo")
    assert ask("show", "m1")["memory"]["status"] == "active"
    run("undo")
    assert "nothing was changed that could be taken back" in run("undo", code=3).stderr


def test_what_was_deleted_for_good_is_not_taken_back(run: Run, remember: Remember) -> None:
    remember("The spare key is under the mat")
    remember("The spare bulb is in the cellar")
    run("pin", "m1")
    run("forget", "m1")
    run("prune", "--older-than", "0", "--yes")
    for words in ("deleted m1 for good", "forgot m1", "pinned m1"):
        assert f"{words}: that cannot be taken back" in run("undo", code=2).stderr
    assert "nothing was changed that could be taken back" in run("undo", code=3).stderr


def test_a_topic_is_forgotten_after_a_look(run: Run, ask: Ask, remember: Remember) -> None:
    remember("The ferry to Bergen leaves at nine")
    remember("The ferry to Bergen costs 40 kroner")
    remember("The spare key is under the mat")
    shown = run("forget", "--about", "the ferry to Bergen", "--dry-run")
    assert "m1  The ferry to Bergen leaves at nine" in shown.stdout
    assert "mat" not in shown.stdout
    assert len(ask("list")["memories"]) == 3
    refused = run("forget", "--about", "the ferry to Bergen", code=2)
    assert "forgetting 2 memories needs --yes" in refused.stderr
    done = run("forget", "--about", "the ferry to Bergen", "--yes")
    assert "`recallens undo` brings them back" in done.stdout
    assert [memory["handle"] for memory in ask("list")["memories"]] == ["m3"]
    run("undo")
    assert len(ask("list")["memories"]) == 3
    assert "nothing here is about" in run("forget", "--about", "the price of tea in Lhasa", "--dry-run").stdout
    assert "name a topic" in run("forget", "--about", " ", "--yes", code=2).stderr
    assert "without IDS" in run("forget", "m1", "--about", "ferries", code=2).stderr


def test_what_is_only_related_to_a_topic_stays(run: Run, ask: Ask, remember: Remember) -> None:
    remember("The ferry to Bergen leaves at nine")
    remember("Boats to Bergen are cancelled in storms")
    remember("The ferry to Oslo leaves at eight")
    remember("베르겐행 페리요금은 40크로네다")
    remember("베르겐행 열차 요금은 60크로네다")
    shown = run("forget", "--about", "the ferry to Bergen", "--dry-run").stdout.splitlines()
    assert shown[0] == "m1  The ferry to Bergen leaves at nine  (names ferry, Bergen)"
    assert sorted(shown[1:]) == [
        "stays: m2  Boats to Bergen are cancelled in storms  (does not say ferry)",
        "stays: m3  The ferry to Oslo leaves at eight  (does not say Bergen)",
    ]
    assert [each["handle"] for each in ask("forget", "--about", "페리 요금", "--dry-run")["memories"]] == ["m4"]
    run("forget", "--about", "the ferry to Bergen", "--yes")
    run("forget", "--about", "페리 요금", "--yes")
    assert [memory["handle"] for memory in ask("list")["memories"]] == ["m5", "m3", "m2"]


def test_the_queue_says_why_each_waits(run: Run, ask: Ask) -> None:
    run("remember", "--zone", "quarantine", "The bell rings twice", "--status", "quarantined")
    listed = ask("review", "list")["memories"]
    assert listed[0]["reasons"] == ["it came from a source that is not trusted"]
    assert "m1: it came from a source that is not trusted" in run("review", "list").stdout
