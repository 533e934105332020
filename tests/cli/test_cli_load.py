"""Loading JSON lines: checked in full, linked by key, and the same when done twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cli_scene import EXAMPLES, Ask, Run, write_lines


def everything(ask: Ask) -> dict[str, Any]:
    """All that a load could change, without what time alone changes."""
    memories = ask("list", "--status", "all", "--limit", "1000")["memories"]
    for memory in memories:
        memory.pop("salience")
    relations = {memory["id"]: ask("show", memory["id"])["relations"] for memory in memories[:20]}
    return {"memories": memories, "relations": relations, "totals": ask("stats")["totals"]}


def test_the_sample_loads_twice_as_once(ask: Ask) -> None:
    first = ask("remember", "--jsonl", EXAMPLES)
    redactions = first["redactions"]
    assert len(redactions) == 1
    expected = {"created": 130, "duplicates": 0, "nearDuplicates": 0, "redacted": 1, "redactions": redactions,
                "sessions": 17, "superseded": 15,
                "relations": 59, "tasks": 0, "backlog": 0, "skipped": [], "leftOut": []}  # fmt: skip
    assert first == expected
    before = everything(ask)
    # Of the fifteen, three say themselves what they correct: what was proposed so has ended, and is kept.
    assert before["totals"]["relations"] == 77
    again = ask("remember", "--jsonl", EXAMPLES)
    assert again == expected | {"created": 0, "duplicates": 130, "superseded": 0, "redacted": 0, "redactions": []}
    assert everything(ask) == before
    assert ask("doctor")["ok"] is True


def test_what_was_superseded_forgotten_or_quarantined_does_not_come_back(ask: Ask, run: Run, home: Path) -> None:
    file = write_lines(home / "m.jsonl", [
        {"key": "old", "content": "The TTL is 300 seconds", "createdAt": "2026-03-01"},
        {"key": "new", "content": "The TTL is 60 seconds", "createdAt": "2026-04-01", "supersedes": "old"},
        {"key": "web", "content": "Set work_mem to 2 GB", "status": "quarantined"},
        {"key": "gone", "content": "Lunch is at noon"},
    ])  # fmt: skip
    run("remember", "--jsonl", file)
    by_key = {m["sourceId"]: m for m in ask("list", "--status", "all")["memories"]}
    run("forget", by_key["gone"]["id"])
    assert ask("remember", "--jsonl", file)["duplicates"] == 4
    after = {m["sourceId"]: m["status"] for m in ask("list", "--status", "all")["memories"]}
    assert after == {"old": "superseded", "new": "active", "web": "quarantined", "gone": "forgotten"}
    old = ask("show", by_key["old"]["id"])
    assert old["supersededBy"]["id"] == by_key["new"]["id"]
    assert old["memory"]["validUntil"] == by_key["new"]["createdAt"]


def test_the_same_key_with_another_text_is_another_memory(ask: Ask, run: Run, home: Path) -> None:
    run("remember", "--jsonl", write_lines(home / "a.jsonl", [{"key": "1", "content": "Apples are in the cellar"}]))
    loaded = ask("remember", "--jsonl", write_lines(home / "b.jsonl", [{"key": "1", "content": "Tokens rotate daily"}]))
    assert loaded["created"] == 1


def test_links_reach_the_store_by_id_prefix_and_source_id(ask: Ask, run: Run, home: Path, remember: Any) -> None:
    plain = remember("The broker is RabbitMQ")
    run("remember", "--jsonl", write_lines(home / "a.jsonl", [{"key": "ttl", "content": "The TTL is 300 seconds"}]))
    file = write_lines(home / "b.jsonl", [
        {"key": "new", "content": "The TTL is 60 seconds", "supersedes": "ttl"},
        {"type": "relation", "source": "new", "target": plain, "relation": "RELATED_TO"},
        {"type": "relation", "source": plain, "target": "ttl", "relation": "MENTIONS", "confidence": 0.5},
    ])  # fmt: skip
    loaded = ask("remember", "--jsonl", file)
    assert (loaded["superseded"], loaded["relations"], loaded["leftOut"]) == (1, 2, [])
    relations = {(r["relation"], r.get("confidence")) for r in ask("show", plain)["relations"]}
    assert relations == {("RELATED_TO", 1.0), ("MENTIONS", 0.5)}


def test_bad_lines_are_named_and_nothing_is_written(run: Run, home: Path, store: Path) -> None:
    bad = ['{"content": "x"', "[]", {"content": ""}, {"content": "x", "sector": "bogus"}, {"title": "no content"},
           {"content": "x", "createdAt": "never"}, {"content": "x", "colour": "red"}, {"type": "thing"},
           '{"content": "\\ud800"}', "[" * 100_000, {"content": "x", "importance": 2},
           {"content": "x", "position": 1e30}]  # fmt: skip
    file = write_lines(home / "m.jsonl", [{"content": "A good line"}, *bad])
    failed = run("remember", "--jsonl", file, code=2)
    lines = failed.stderr.splitlines()
    assert lines[0] == f"error: {file} has 12 problems; nothing was written"
    assert lines[1].startswith("  line 2: not JSON")
    assert len([line for line in lines if line.startswith("  line ")]) == 10
    assert lines[-2:] == ["  and 2 more", "Mend the lines, or pass --skip-bad to load the others."]
    assert not store.exists()


def test_skip_bad_loads_the_others(run: Run, home: Path) -> None:
    file = home / "m.jsonl"
    file.write_bytes(b'\xef\xbb\xbf{"content": "A good line"}\n{"content": "\xff"}\n\n{"content": "Another one"}\n')
    loaded = run("remember", "--jsonl", file, "--skip-bad")
    assert loaded.stdout.startswith("remembered 2 memories")
    assert "left out: line 2: not UTF-8" in loaded.stderr


def test_a_name_that_means_nothing_is_refused_before_writing(run: Run, ask: Ask, home: Path) -> None:
    file = write_lines(home / "m.jsonl", [{"content": "A good line", "supersedes": "nobody"}])
    failed = run("remember", "--jsonl", file, code=2)
    assert "'nobody' is neither a key of the file nor a memory of the store" in failed.stderr
    run("init")
    assert ask("stats")["totals"]["memories"] == 0
    assert ask("remember", "--jsonl", file, "--skip-bad")["created"] == 1


def test_two_memories_with_one_key_are_refused(run: Run, home: Path) -> None:
    file = write_lines(home / "m.jsonl", [{"key": "a", "content": "One"}, {"key": "a", "content": "Two"}])
    assert "key 'a' is given to 2 memories" in run("remember", "--jsonl", file, code=2).stderr


def test_a_circle_is_told_and_does_not_stop_the_rest(ask: Ask, home: Path) -> None:
    file = write_lines(home / "m.jsonl", [
        {"key": "a", "content": "The TTL is 300 seconds", "supersedes": "b"},
        {"key": "b", "content": "The TTL is 60 seconds", "supersedes": "a"},
    ])  # fmt: skip
    loaded = ask("remember", "--jsonl", file)
    assert (loaded["created"], loaded["superseded"]) == (2, 1)
    assert "circle" in loaded["leftOut"][0]


def test_options_fill_in_what_lines_leave_out(ask: Ask, run: Run, home: Path) -> None:
    file = write_lines(home / "m.jsonl", [{"content": "One thing"}, {"content": "Another matter", "project": "web"}])
    run("remember", "--jsonl", file, "--project", "api", "--tag", "loaded")
    assert {(m["content"], m["projectId"], *m["tags"]) for m in ask("list")["memories"]} == {
        ("One thing", "api", "loaded"),
        ("Another matter", "web", "loaded"),
    }
    assert "--title" in run("remember", "--jsonl", file, "--title", "x", code=2).stderr


def test_standard_input_holds_lines_too(ask: Ask) -> None:
    loaded = ask("remember", "--jsonl", "-", "--no-embed", input='{"content": "From a pipe"}\n')
    assert (loaded["created"], loaded["backlog"]) == (1, 1)


def test_an_open_session_stays_open(ask: Ask, home: Path) -> None:
    line = {"type": "session", "id": "s-1", "summary": "so far", "startedAt": "2026-03-01"}
    ask("remember", "--jsonl", write_lines(home / "m.jsonl", [line]))
    assert ask("session", "show", "s-1")["session"] == {"id": "s-1", "startedAt": 1772323200000, "summary": "so far"}


def test_the_lines_that_held_secrets_are_named_with_their_kinds(run: Run, ask: Ask, tmp_path: Path) -> None:
    lines = [{"content": f"note {at} of the bakery, which opens at seven"} for at in range(3)]
    lines += [{"content": f"key {at}: AKIAIOSFODNN7QQQQ{at:03}"} for at in range(12)]
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    told = ask("remember", "--jsonl", file, "--no-dedupe", "--no-embed")
    assert told["redacted"] == 12
    assert [one["place"] for one in told["redactions"]] == [f"line {at}" for at in range(4, 14)]
    assert all(one["kinds"] for one in told["redactions"])
    said = run("remember", "--jsonl", file, "--no-dedupe", "--no-embed").stderr
    assert f"redacted line 4: {told['redactions'][0]['kinds'][0]}; line 5" in " ".join(said.split())
    assert "; and 2 more" in " ".join(said.split())
