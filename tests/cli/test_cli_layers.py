"""`recallens timeline --window`: layer 2 on the command line."""

from __future__ import annotations

from cli_scene import Ask, Remember, Run

from recallens.text.token_count import count_tokens


def test_a_window_shows_the_entries_as_an_agent_reads_them(run: Run, ask: Ask, remember: Remember) -> None:
    first = remember("Lookups are cached for a minute", "--created", "2026-05-01", "--task", "HAR-1")
    anchor = remember("캐시가 오래된 상태를 보여 주었다", "--created", "2026-05-02", "--task", "HAR-1")
    remember("Much later", "--created", "2026-05-20")
    record = ask("timeline", anchor, "--window", "7")
    assert (record["observation_id"], record["window"]) == (anchor, 7.0)
    (entry,) = record["entries"]
    assert (entry["id"], entry["relation"], entry["task"]) == (first, "same_task", "HAR-1")
    sent = run("timeline", anchor, "--window", "7", "--json").stdout
    assert record["tokens"] == count_tokens(sent)
    shown = run("timeline", anchor, "--window", "7").stdout
    assert shown.startswith(
        "m1 2026-05-01T00:00 fact (hypothesis) same_task -1.0d task HAR-1\n Lookups are cached for a"
    )
    assert shown.endswith("1 memory within 7 days of m2.\n")
    assert len(ask("timeline", anchor, "--window", "30", "--limit", "1")["entries"]) == 2


def test_options_that_do_not_go_together(run: Run, remember: Remember) -> None:
    id = remember("Lookups are cached")
    assert "--limit N" in run("timeline", id, "--window", "7", "--before", "2", code=2).stderr
    assert "--window DAYS" in run("timeline", id, "--limit", "2", code=2).stderr
    assert "from 0 to" in run("timeline", id, "--window", "-2", code=2).stderr
