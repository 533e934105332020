"""Records: replayed, compared, and an audit log that shows whoever touches it."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from cli_scene import Ask, Remember, Run

NOW = "2026-09-02"
Tamper = Callable[[apsw.Connection], object]


@pytest.fixture
def two(remember: Remember) -> tuple[str, str]:
    return remember("The broker is RabbitMQ"), remember("The broker port is 5672")


def snapshot(ask: Ask, *args: str) -> str:
    return str(ask("search", *args, "--xray")["snapshot"]["snapshotId"])


# ── replay ──


def test_a_recorded_search_replays_by_id_by_its_json_and_by_its_ledger(
    run: Run, ask: Ask, two: tuple[str, str], home: Path
) -> None:
    shown = run("search", "broker 포트", "--xray", "json").stdout
    (home / "x.json").write_text(shown, encoding="utf-8")
    seen = json.loads(shown)["snapshot"]
    for name in (seen["snapshotId"], "x.json"):
        again = ask("replay", name)
        assert again["reproduced"] is True
        assert again["digest"] == seen["digest"]
        assert [(r["memoryId"], r["score"]) for r in again["results"]] == [
            (r["memoryId"], r["scoreDecomposition"]["final"]) for r in seen["results"]
        ]
    run("xray", "broker", "--ledger", "l.json", "--now", NOW)
    shown = run("replay", "l.json").stdout
    assert shown.startswith("reproduced: 2 results of 2 considered\n  1  m")
    assert "asked now, nothing differs" in shown


def test_replay_tells_what_differs_now_and_why(run: Run, ask: Ask, remember: Remember, two: tuple[str, str]) -> None:
    id = snapshot(ask, "broker")
    run("forget", two[0])
    remember("The broker moves to the attic")
    shown = run("replay", id).stdout
    assert "- m1 left from" in shown
    assert "it is forgotten now" in shown
    assert "- m3 entered" in shown
    assert {one["type"] for one in ask("replay", id)["live"]} >= {"left", "entered"}


def test_replay_stands_without_a_store_that_can_answer(run: Run, ask: Ask, two: tuple[str, str], home: Path) -> None:
    run("session", "start", "s-1")
    run("confirm", two[0], "--session", "s-1")
    run("xray", "broker", "--in-session", "s-1", "--ledger", "l.json")
    run("init", "--store", "other.db")
    run("remember", "Elsewhere", "--store", "other.db")
    shown = run("replay", "l.json", "--store", "other.db").stdout
    assert "reproduced: 1 result" in shown
    assert "the store could not be asked again: no session 's-1'" in shown
    assert "no session" in ask("replay", "l.json", "--store", "other.db")["liveError"]


def test_an_altered_ledger_does_not_reproduce(run: Run, two: tuple[str, str], home: Path) -> None:
    run("xray", "broker", "--ledger", "l.json")
    whole = json.loads((home / "l.json").read_text(encoding="utf-8"))
    told = {
        "a count": lambda record: record["entries"][-3].update(considered=77),
        "the query": lambda record: record["query"].update(text="brokers"),
        "an entry": lambda record: record["entries"].pop(4),
        "a field": lambda record: record["query"].update(colour="red"),
        "a part": lambda record: record["entries"][0].pop("verdict"),
    }
    for what, alter in told.items():
        record = json.loads(json.dumps(whole))
        alter(record)
        (home / "l.json").write_text(json.dumps(record), encoding="utf-8")
        failed = run("replay", "l.json", code=1)
        assert "l.json does not reproduce" in failed.stderr, what
        assert failed.stdout == ""
        assert json.loads(run("replay", "l.json", "--json", code=1).stderr)["error"]["message"]
        run("diff", "l.json", "l.json", code=1)


def test_an_altered_record_in_the_store_does_not_reproduce(
    run: Run, ask: Ask, two: tuple[str, str], store: Path
) -> None:
    id = snapshot(ask, "broker")
    db = apsw.Connection(str(store))
    (packed,) = db.execute("SELECT ledger FROM snapshots WHERE id = ?", (id,)).fetchone()  # type: ignore[misc]
    record = json.loads(zlib.decompress(packed))
    record["query"]["text"] = "brokers"
    for data in (zlib.compress(json.dumps(record).encode()), b"garbage"):
        db.execute("UPDATE snapshots SET ledger = ? WHERE id = ?", (data, id))
        assert "does not reproduce" in run("replay", id, code=1).stderr


def test_records_that_are_not_there(run: Run, two: tuple[str, str], home: Path) -> None:
    (home / "notes.txt").write_text("only notes")
    for name, code, told in (
        ("00000000-0000-5000-8000-000000000000", 3, "no recorded recall"),
        ("nowhere.json", 3, "xray --ledger FILE"),
        ("x" * 400, 3, "no recorded recall"),
        ("notes.txt", 2, "notes.txt is neither a ledger nor the JSON of a snapshot"),
    ):
        assert told in run("replay", name, code=code).stderr
        assert told in run("diff", name, name, code=code).stderr


# ── diff ──


def test_diff_names_the_cause_of_each_change(run: Run, ask: Ask, two: tuple[str, str], remember: Remember) -> None:
    first = snapshot(ask, "broker port", "-k", "1", "--all")  # which confirms what it returns
    before = snapshot(ask, "broker port", "-k", "1", "--all")
    after = snapshot(ask, "broker port", "-k", "2", "--all")
    assert re.search(
        r"- m2 stays 1st .* \(reinforcementBoost\) counts 0\.\d+ and not nothing", run("diff", first, before).stdout
    )
    record = ask("diff", before, after)
    assert (record["before"], record["after"]) == (before, after)
    assert [one["memoryId"] for one in record["entered"]] == [two[0]]
    assert record["entered"][0]["cause"] == {"type": "setting", "setting": "limit", "before": 1, "after": 2}
    shown = run("diff", before, after).stdout
    assert "entered:\n- m1 entered as 2nd: limit is 2 and was 1.\n" in shown
    assert "other scores:\n- 1 score moved by less than 0.0001\n" in shown
    assert re.search(
        r"settings:\n- now is \d{4}-\d\d-\d\dT.*Z and was .*Z\n- limit is 2 and was 1\n- max_results is 2 and was 1\n",
        shown,
    )
    assert run("diff", after, after).stdout == "nothing differs\n"


def test_diff_of_two_ledgers_with_another_weight(run: Run, sample_words: None, home: Path) -> None:
    run("xray", "broker", "--ledger", "a.json", "--now", NOW)
    run("xray", "broker", "--ledger", "b.json", "--now", NOW, "--weight", "bm25=3")
    shown = run("diff", "a.json", "b.json").stdout
    assert "weights.bm25 is 3.0 and was 1.0" in shown


@pytest.fixture
def sample_words(remember: Remember) -> None:
    for text in ("The broker is RabbitMQ", "A broker, the broker, any broker", "Apples are red"):
        remember(text, "--no-dedupe")


# ── audit ──


def four_recalls(run: Run) -> None:
    for query in ("broker", "port 5672", "the broker", "which port"):
        run("search", query, "--session", "s-1", "--now", NOW, "--all")


NO_ANCHOR = (
    "no anchor knows this log: a chain that was cut at its end and an older copy of the store cannot be told from a"
    " whole one"
)


def test_audit_of_a_sound_store(run: Run, ask: Ask, two: tuple[str, str]) -> None:
    assert run("audit", "list").stdout == "nothing was written down yet\n"
    assert run("audit", "verify").stdout == f"whole: 0 entries of namespace default\nnote: {NO_ANCHOR}\n"
    four_recalls(run)
    assert run("audit", "verify").stdout == f"whole: 4 entries of namespace default\nnote: {NO_ANCHOR}\n"
    sound = {"ok": True, "namespace": "default", "entries": 4, "problems": [], "notes": [NO_ANCHOR]}
    assert ask("audit", "verify") == sound
    record = ask("audit", "list", "--limit", "3")
    assert (record["total"], [entry["number"] for entry in record["entries"]]) == (4, [4, 3, 2])
    assert [entry["number"] for entry in ask("audit", "list", "--limit", "3", "--page", "2")["entries"]] == [1]
    assert ask("audit", "list", "--limit", "3", "--page", "3")["entries"] == []
    assert run("audit", "list", "--page", "9").stdout == "no more entries\n"
    seen = ask("explain", "--session", "s-1")["snapshot"]["results"]
    assert {result["auditEntryId"] for result in seen} == {record["entries"][0]["id"]}
    assert {result["memoryId"] for result in seen} == set(record["entries"][0]["memories"])
    shown = run("audit", "list").stdout
    assert all(handle in shown for handle in ("m1", "m2"))
    assert "session s-1" in shown
    assert "broker" not in shown
    assert run("audit", "anomalies").stdout == "no anomalies\n"
    assert run("audit", "verify", "--namespace", "other").stdout.startswith("whole: 0 entries of namespace other\n")


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (lambda db: db.execute("UPDATE audit SET session = 's-2' WHERE number = 2"), "entry 2 was altered"),
        (lambda db: db.execute("UPDATE audit SET at = at + 1 WHERE number = 4"), "entry 4 was altered"),
        (lambda db: db.execute("UPDATE audit SET marks = x'07' WHERE number = 1"), "entry 1 was altered"),
        (lambda db: db.execute("DELETE FROM audit WHERE number = 2"), "entries 2 to 2 are missing"),
        (lambda db: db.execute("DELETE FROM audit WHERE number = 1"), "entries 1 to 1 are missing"),
        (lambda db: db.execute("DELETE FROM audit WHERE number > 2"), "the chain ends at entry 2, but 4 were written"),
        (lambda db: db.execute("DELETE FROM audit"), "the chain ends at entry 0, but 4 were written"),
        (
            lambda db: db.execute(
                "UPDATE audit SET number = 99 WHERE number = 2; UPDATE audit SET number = 2 WHERE number = 3;"
                "UPDATE audit SET number = 3 WHERE number = 99"
            ),
            "entry 2 was altered",
        ),
        (
            lambda db: db.execute("UPDATE audit SET previous = (SELECT digest FROM audit WHERE number = 1)"),
            "entry 3 was altered",
        ),
    ],
    ids=["session", "time", "unreadable", "deleted", "first", "truncated", "emptied", "reordered", "rechained"],
)
def test_audit_finds_whatever_was_done_to_it(
    run: Run, two: tuple[str, str], store: Path, tamper: Tamper, told: str
) -> None:
    four_recalls(run)
    db = apsw.Connection(str(store))
    tamper(db)
    db.close()
    found = run("audit", "verify", code=4)
    assert "problem: " in found.stdout
    assert told in found.stdout
    assert "compare it with a backup" in found.stdout
    record = json.loads(run("audit", "verify", "--json", code=4).stdout)
    assert record["ok"] is False
    assert any(told in problem for problem in record["problems"])


def test_audit_flags_what_an_honest_agent_seldom_does(run: Run, ask: Ask, two: tuple[str, str]) -> None:
    for year in range(1999, 2005):  # the log goes by the machine's own time
        run("search", "broker", "--session", "s-1", "--now", f"{year}-09-02T10:00")
    (anomaly,) = ask("audit", "anomalies")["anomalies"]
    assert (anomaly["kind"], anomaly["session"], anomaly["count"]) == ("repeat-query", "s-1", 6)
    assert run("audit", "anomalies").stdout == ("repeat-query: 6 the same question within ten minutes, session s-1\n")
