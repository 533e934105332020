"""Asking: what people read and what programs read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli_scene import EXAMPLES, Ask, Run, write_lines
from rich.cells import cell_len

from recallens.cli.printers import shares
from recallens.model.terms import shown_parts
from recallens.text.token_count import count_tokens


def test_a_result_says_what_it_is_where_it_is_from_and_why(run: Run, remember: Any) -> None:
    id = remember("We cache tracking lookups for 60 seconds", "--project", "api", "--kind", "decision", "--cite",
                  "commit:4be19d0", "--session", "s-1")  # fmt: skip
    plainly = run("search", "how", "long", "are", "lookups", "cached").stdout
    assert plainly.splitlines()[0] == "We cache tracking lookups for 60 seconds"
    assert re.fullmatch(r"m1 \w+, relevance 0\.\d+", plainly.splitlines()[1])
    shown = run("search", "how", "long", "are", "lookups", "cached", "--verbose").stdout
    assert id not in shown + plainly
    assert "api · reflective · decision" in shown
    assert "just now" in shown
    assert "session s-1" in shown
    assert "cites commit 4be19d0" in shown
    score, parts = re.search(r"why: (\d\.\d\d) = (.*?)  █", shown.replace("\n   ", " "), re.DOTALL).groups()  # type: ignore[union-attr]
    assert sum(float(number) for number in re.findall(r"\d\.\d\d", parts)) == pytest.approx(float(score))
    assert "why:" not in run("search", "lookups", "--verbose", "--no-why").stdout + plainly
    assert "why:" in run("search", "lookups", "--why").stdout


def test_every_result_says_that_nobody_reviewed_it(run: Run, remember: Any) -> None:
    remember("The billing database may not be dropped", "--kind", "decision")
    for text in ("The billing database may be dropped on Monday", "The billing database was dropped once"):
        remember(text, "--zone", "working", "--source", "agent")
    shown = run("search", "may the billing database be dropped", "--all").stdout
    rows = re.split(r"\n\d  m\d", shown)[1:]
    assert len(rows) == 3
    assert ["working zone, not reviewed" in row for row in rows].count(True) == 2


def test_output_fits_eighty_columns_with_korean(run: Run) -> None:
    run("remember", "--jsonl", EXAMPLES)
    for command in (["search", "나루물류 요청 한도"], ["list"], ["session", "list"], ["review", "list"], ["stats"]):
        lines = run(*command).stdout.splitlines()
        assert max(map(cell_len, lines)) <= 80, command
        assert all(line == line.rstrip() for line in lines), command


def test_filters_and_near_misses_are_for_whoever_asks(run: Run, remember: Any) -> None:
    old = remember("The TTL is 300 seconds")
    remember("The TTL is 60 seconds", "--supersedes", old)
    shown = run("search", "ttl", "--verbose").stdout
    assert "status-active kept out 1 of 2: rejected superseded" in shown
    assert re.search(r"near miss: m1 The TTL is 300 seconds: superseded \d+ \w+ by m2", shown)
    assert "300 seconds" not in run("search", "ttl").stdout
    both = run("search", "ttl", "--include-superseded", "--verbose").stdout
    assert " m1 " in both
    assert "superseded by" in both
    assert "The TTL is 60 seconds" in both


def test_each_filter_reaches_the_engine(ask: Ask, remember: Any) -> None:
    one = remember("Port 8080 serves the API", "--project", "api", "--kind", "fact", "--sector", "semantic", "--tag",
                   "net", "--tier", "session", "--session", "s-1")  # fmt: skip
    remember("Port of Busan opens at six", "--project", "web", "--kind", "episode", "--sector", "episodic")
    for option in (["--project", "api"], ["--kind", "fact"], ["--sector", "semantic"], ["--tag", "net"],
                   ["--tier", "session"], ["--in-session", "s-1"], ["--limit", "1"]):  # fmt: skip
        assert [r["memory"]["id"] for r in ask("search", "port 8080", *option)["results"]] == [one], option
    assert ask("search", "port", "--min-salience", "1")["filters"]
    for mode in ("hybrid", "semantic", "keyword"):
        assert ask("search", "port", "--mode", mode)["mode"] == mode
    assert ask("search", "port", "--preset", "classic")["preset"] == "classic"


def test_as_of_answers_with_what_was_known_then(ask: Ask, home: Path, run: Run) -> None:
    run("remember", "--jsonl", write_lines(home / "m.jsonl", [
        {"key": "a", "content": "The TTL is 300 seconds", "createdAt": "2026-03-01"},
        {"key": "b", "content": "The TTL is 60 seconds", "createdAt": "2026-04-01", "supersedes": "a"},
    ]))  # fmt: skip
    then = ask("search", "ttl", "--as-of", "2026-03-15")["results"]
    assert [r["memory"]["sourceId"] for r in then] == ["a"]
    relative = ask("search", "ttl", "--now", "2026-03-20", "--as-of", "5d")
    assert relative["askedAt"] - relative["asOf"] == 5 * 86_400_000
    assert [r["memory"]["sourceId"] for r in relative["results"]] == ["a"]


def test_what_a_session_was_told_is_linked_unless_not_recorded(ask: Ask, remember: Any) -> None:
    remember("The broker is RabbitMQ")
    assert ask("search", "broker", "--session", "s-9", "--no-record")["recorded"] is False
    assert ask("session", "list")["sessions"] == []
    assert ask("search", "broker", "--session", "s-9")["recorded"] is True
    assert ask("session", "show", "s-9")["memories"][0]["usageType"] == "recalled"


def test_nothing_to_find_is_no_failure(run: Run) -> None:
    run("init")
    assert run("search").stdout == "the query is empty: nothing was searched\n"
    assert run("search", "  ").stdout == "the query is empty: nothing was searched\n"
    assert run("search", "x", "--namespace", "other").stdout == "namespace 'other' holds nothing yet\n"
    assert run("search", "x").stdout == "Nothing here answers this.\n"


def test_a_missing_encoder_degrades_the_search_and_says_so(run: Run, ask: Ask, remember: Any, monkeypatch: Any) -> None:
    remember("The broker is RabbitMQ")
    monkeypatch.setattr("recallens.index.encoders.hashing.HashingEncoder.encode_query", _broken)
    shown = run("search", "broker")
    assert "RabbitMQ" in shown.stdout
    assert "warning: the semantic view failed" in shown.stderr
    assert "semantic" in ask("search", "broker")["degraded"]
    assert run("search", "broker", "--json").stderr == ""


def _broken(*_: object) -> None:
    from recallens.errors import EncoderFailed

    raise EncoderFailed("the encoder is away")


HOSTILE = "[bold red]not markup[/] \x1b[31mred\x1b[0m \x07bell <mark>tag</mark> :smile: \u202eturned"


def test_text_cannot_touch_the_terminal(run: Run, ask: Ask) -> None:
    id = ask("remember", HOSTILE, "--title", "[/] \x1b]0;title\x07", "--project", "\x1b[2J")["id"]
    for args in (["search", "markup bell"], ["show", id], ["list"], ["timeline", id]):
        shown = run(*args).stdout
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", shown), args
    shown = run("show", id).stdout
    assert "[bold red]not markup[/] \\x1b[31mred" in shown
    assert ":smile: \\u202eturned" in shown
    assert ask("show", id)["memory"]["content"] == HOSTILE


def test_shown_parts_add_up_to_the_shown_score() -> None:
    parts = {"keyword": 1.944, "semantic": 1.424, "salience": 0.104, "superseded": -0.333, "recency": 0.0004}
    score = sum(parts.values())
    shown = shown_parts(parts, score)
    assert sum(value for _, value in shown) == round(score * 100)
    assert all(abs(value / 100 - parts[name]) < 0.01 for name, value in shown)
    assert [name for name, _ in shown] == ["keyword", "semantic", "superseded", "salience"]


def test_the_bar_shares_its_cells_among_what_added() -> None:
    assert shares([("keyword", 50), ("semantic", 25), ("lost", -30), ("salience", 25)]) == "████████▓▓▓▓▒▒▒▒"
    assert shares([]) == ""


@pytest.mark.parametrize(
    "options", [["--budget", "800"], ["--budget", "1700"], ["--tokens", "300"], ["--budget", "60"]]
)
def test_a_budget_holds_for_what_is_printed_and_the_xray_says_how_much_it_was(run: Run, options: list[str]) -> None:
    run("remember", "--jsonl", EXAMPLES)
    for question in ("how long do we cache tracking lookups", "나루물류 요청 한도"):
        printed = run("search", question, "--session", "s-1", *options).stdout
        assert len(printed) <= int(options[1]) if options[0] == "--budget" else count_tokens(printed) <= int(options[1])
        if printed.startswith("nothing that was found fits"):
            continue
        told = run("explain", "--session", "s-1", "--json").stdout
        budget = json.loads(told)["snapshot"]["budget"]
        assert (budget["used"], budget["usedTokens"]) == (len(printed), count_tokens(printed))
