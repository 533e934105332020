"""Changing what is known: every change is told, and nothing is lost by accident."""

from __future__ import annotations

import pytest
from cli_scene import Ask, Remember, Run


def test_show_tells_everything_about_one(run: Run, remember: Remember) -> None:
    old = remember("The TTL is 300 seconds", "--session", "s-1", "--title", "TTL")
    new = remember("The TTL is 60 seconds", "--supersedes", old)
    shown = run("show", old[:20].lower()).stdout
    assert shown.startswith(f"TTL\nm1 {old}\n\nThe TTL is 300 seconds\n\nsuperseded by m2")
    assert "s-1 (created it" in shown
    assert "← SUPERSEDES m2" in shown
    assert "SUPERSEDES → m1" in run("show", new).stdout


def test_timeline_marks_its_anchor(run: Run, ask: Ask, remember: Remember) -> None:
    ids = [remember(f"{word} came then", "--created", f"2026-03-0{day}", "--session", "s-1")
           for day, word in enumerate(("Apple", "Bridge", "Cellar", "Donkey"), start=1)]  # fmt: skip
    around = ask("timeline", ids[1], "--before", "1", "--after", "1")
    assert [m["id"] for m in [*around["before"], around["anchor"], *around["after"]]] == ids[:3]
    shown = run("timeline", ids[1], "--before", "1", "--after", "1").stdout
    assert "▶  m2" in shown
    assert "s-1" in shown
    assert "m4" not in shown


def test_edit_supersedes(run: Run, ask: Ask, remember: Remember) -> None:
    old = remember("The TTL is 300 seconds", "--tag", "cache")
    new = ask("edit", old, "The", "TTL", "is", "60", "seconds")
    assert (new["supersedes"], new["changed"]) == (old, True)
    assert ask("show", new["id"])["memory"]["tags"] == ["cache"]
    piped = ask("edit", new["id"], "-", input="The TTL is 30 seconds\n")
    assert ask("show", piped["id"])["memory"]["content"] == "The TTL is 30 seconds"
    assert run("edit", piped["id"], "The TTL is 30 seconds").stdout == "unchanged m3\n"
    run("edit", piped["id"], code=2)


def test_supersede_relate_confirm_deemphasise(run: Run, ask: Ask, remember: Remember) -> None:
    one, two = remember("Apples are in the cellar"), remember("Tokens rotate daily")
    assert run("relate", one, two, "related_to").stdout == "m1 RELATED_TO m2\n"
    assert ask("relate", two, one, "CAUSED", "--confidence", "0.5")["confidence"] == 0.5
    assert run("confirm", one, "--session", "s-1").stdout == "confirmed m1\n"
    assert ask("show", one)["memory"]["confirmed"] is True
    assert run("deemphasise", two).stdout == "deemphasised m2: its salience starts at 0.50\n"
    assert run("supersede", one, two).stdout == "m2 supersedes m1\n"
    assert "circle" in run("supersede", two, one, code=2).stderr


def test_forget_restore_and_forget_for_good(run: Run, ask: Ask, remember: Remember) -> None:
    one, two = remember("Apples are in the cellar"), remember("Tokens rotate daily")
    assert "ZZZZZZ" in run("forget", one, "ZZZZZZ", code=3).stderr
    assert ask("list")["total"] == 2
    assert run("forget", one, two).stdout == "forgot m1\nforgot m2\n"
    assert ask("search", "apples")["results"] == []
    assert ask("restore", one)["restored"] == [{"id": one, "handle": "m1", "status": "active"}]
    assert "needs --yes" in run("forget", two, "--hard", code=2).stderr
    assert ask("list", "--status", "all")["total"] == 2
    told = run("forget", two, "--hard", "--yes").stdout
    assert told.startswith("deleted m2\n")
    assert "no byte of it is left in the store" in told
    assert "nothing in it belongs to what is deleted" in run("forget", "--verify", "Tokens rotate").stdout
    assert "the store holds it: memory" in run("forget", "--verify", "Apples", code=8).stderr
    assert ask("list", "--status", "all")["total"] == 1


def test_review(run: Run, ask: Ask, remember: Remember) -> None:
    good = remember("A claim from a call", "--status", "pending_review")
    bad = remember("Run rm to win", "--zone", "quarantine")
    assert [m["id"] for m in ask("review", "list")["memories"]] == [good, bad]
    assert "2 memories wait for review" in run("review", "list").stdout
    assert run("review", "approve", good).stdout == "approved m1\n"
    assert run("review", "reject", bad).stdout == "rejected m2\n"
    assert ask("show", good)["memory"]["status"] == "active"
    assert "0 memories wait" in run("review", "list").stdout
    assert "m1 is active and trusted: it is not waiting" in run("review", "approve", good, code=2).stderr


def test_sessions(run: Run, ask: Ask) -> None:
    started = run("session", "start", "--project", "api", "--title", "Pairing")
    id = started.stdout.split()[1]
    assert "made a new store" in started.stderr
    assert f"export RECALLENS_SESSION={id}" in started.stderr
    run("remember", "Tokens rotate daily", "--session", id)
    assert run("session", "end", id, "--summary", "wrote it down").stdout == f"ended {id}\n"
    (listed,) = ask("session", "list")["sessions"]
    assert (listed["title"], listed["memoriesInSession"], listed["projectId"]) == ("Pairing", 2, "api")  # and its recap
    shown = run("session", "show", id).stdout
    assert "wrote it down" in shown
    assert "created" in shown
    assert "no session" in run("session", "show", "nope", code=3).stderr
    assert "RECALLENS_SESSION" in run("session", "end", code=2).stderr


def test_list_pages_and_filters(run: Run, ask: Ask, remember: Remember) -> None:
    ids = [remember(f"{word} is a word", "--created", f"2026-03-0{day}", "--tag", word)
           for day, word in enumerate(("Apple", "Bridge", "Cellar"), start=1)]  # fmt: skip
    first, second = ask("list", "--limit", "2"), ask("list", "--limit", "2", "--page", "2")
    assert [m["id"] for m in first["memories"] + second["memories"]] == ids[::-1]
    assert first["total"] == 3
    assert run("list", "--limit", "2", "--page", "2").stdout.endswith("3 memories (active) · page 2 of 2\n")
    assert [m["id"] for m in ask("list", "--tag", "#APPLE")["memories"]] == ids[:1]
    assert "use one of" in run("list", "--status", "bogus", code=2).stderr


@pytest.mark.parametrize("command", [["show"], ["timeline"], ["forget"], ["restore"], ["confirm"], ["edit"]])
def test_an_id_that_fits_nothing(run: Run, remember: Remember, command: list[str]) -> None:
    remember("Tokens rotate daily")
    failed = run(*command, "NOSUCHID", *(["x"] if command == ["edit"] else []), code=3)
    assert failed.stderr.startswith("error: no memory 'NOSUCHID'")
