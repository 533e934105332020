"""What the command says of an answer: what disputes it, how it stood at the time asked about, by handle, in words."""

from __future__ import annotations

import re

import pytest
from cli_scene import Ask, Remember, Run

NOTE = "The ramp lift carries {} kilograms, says the plate of {}."
ID = re.compile(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b")


@pytest.fixture
def lifts(run: Run, remember: Remember) -> tuple[str, str]:
    old = remember(NOTE.format("1,800", "the maker"), "--created", "2026-04-01", "--cite", "file:a.md")
    new = remember(NOTE.format("1,200", "the inspector"), "--created", "2026-05-01", "--cite", "file:b.md")
    run("relate", "m2", "m1", "CONTRADICTS")
    return old, new


def test_a_disputed_answer_says_by_what(run: Run, ask: Ask, lifts: tuple[str, str]) -> None:
    question = ("search", "how much can the ramp lift carry")
    told = run(*question).stdout
    answer, rest = told.split("\n\n", 1)
    assert re.search(r"! disputed by m[12]", answer), told
    assert rest.count("disputed by") == 2
    states = [result["state"]["disputedBy"] for result in ask(*question)["results"]]
    assert sorted(states) == [["m1"], ["m2"]]


def test_what_was_replaced_later_was_in_force_then(run: Run, remember: Remember) -> None:
    remember("The no-bid timeout of the clock is 12 seconds.", "--created", "2026-02-01")
    remember("The no-bid timeout of the clock is 9 seconds.", "--created", "2026-06-05", "--supersedes", "m1")
    for form in ((), ("--brief",)):
        told = run("search", "no-bid timeout of the clock", "--as-of", "2026-04-01", *form).stdout
        assert "12 seconds" in told
        assert "superseded" not in told
    told = run("search", "no-bid timeout of the clock", "--include-superseded").stdout
    assert "superseded by m2" in told
    assert not ID.search(told)
    xray = run("xray", "no-bid timeout of the clock", "--include-superseded").stdout
    assert "! superseded by m2" in xray
    assert "status=" not in xray
    assert "stale" not in xray


def test_the_nearest_thing_after_silence_shows_its_text(run: Run, remember: Remember) -> None:
    remember("The kiosk has a screen of 43 inches.")
    told = run("search", "how do I bake sourdough bread").stdout
    assert "nearest: m1 The kiosk has a screen of 43 inches." in told


def test_people_read_handles_wherever_a_memory_is_named(run: Run, ask: Ask, lifts: tuple[str, str]) -> None:
    said = [
        run("remember", "The lift is painted green"), run("list"), run("timeline", "m2"),
        run("edit", "m3", "It is red"),
        run("supersede", "m4", "m3", code=2), run("relate", "m1", "m3", "RELATED_TO"), run("confirm", "m1"),
        run("deemphasise", "m1"), run("forget", "m1", "m2"), run("restore", "m1"), run("why-not", "m1", "green lift"),
        run("review", "list"), run("forget", "m2", "--hard", "--yes"),
    ]  # fmt: skip
    for one in said:
        assert not ID.search(one.stdout), one.stdout
    assert said[0].stdout.strip() == "remembered m3"
    assert said[3].stdout.strip() == "remembered m4, which supersedes m3"
    assert said[8].stdout.split() == ["forgot", "m1", "forgot", "m2"]
    assert run("show", "m1").stdout.splitlines()[0] == f"m1 {lifts[0]}"
    record = ask("forget", "m1")
    assert (record["forgotten"], record["handles"]) == ([lifts[0]], ["m1"])
    assert ask("remember", "Another thing altogether")["handle"] == "m5"


def test_the_help_of_all_says_what_it_does(run: Run) -> None:
    told = " ".join(run("search", "--help").stdout.split())
    assert "--all As many results as are asked for, also what is unlikely to help." in told
