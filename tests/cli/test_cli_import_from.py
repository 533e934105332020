"""`import --from`: files of the real form of each program, taken in once however often it is asked."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli_scene import Ask, Run, spawn, write_lines

import recallens
from recallens.model.salience import DAY_MS

FILES = Path(__file__).parents[1] / "imports"
NAMES = (
    "basic-memory", "chatgpt", "claude", "claude-code", "codex", "cursor", "gemini", "longmemeval", "mcp-memory",
    "mem0", "vscode",
)  # fmt: skip
# What the files hold: entries, what is imported of them, what stands in them twice, what is skipped, outputs of tools.
COUNTS = {
    "basic-memory": (5, 4, 0, 1, 0),
    "chatgpt": (7, 3, 0, 4, 1),
    "claude": (7, 4, 0, 3, 2),
    "claude-code": (18, 7, 0, 11, 3),
    "codex": (12, 4, 0, 8, 2),
    "cursor": (6, 3, 0, 3, 0),
    "gemini": (4, 3, 0, 1, 1),
    "longmemeval": (7, 4, 2, 1, 0),
    "mcp-memory": (6, 4, 0, 2, 0),
    "mem0": (4, 2, 0, 2, 0),
    "vscode": (10, 5, 0, 5, 2),
}
SESSION = "5b1f0c3e-7a44-4d0f-9c55-2f9b6a1d7e10"


def memories(ask: Ask) -> dict[str, dict[str, Any]]:
    """By the id that each has where it came from."""
    listed = ask("list", "--status", "all", "--limit", "1000")["memories"]
    for memory in listed:
        memory.pop("salience")  # time alone changes it
    return {memory["sourceId"]: memory for memory in listed if "sourceId" in memory}


def imported(ask: Ask, name: str, *options: str) -> dict[str, Any]:
    record: dict[str, Any] = ask("import", "--from", name, FILES / name, "--no-embed", *options)
    return record


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_is_accounted_for_and_nothing_is_added_the_second_time(ask: Ask, name: str) -> None:
    read, new, twice, skipped, outputs = COUNTS[name]
    first = imported(ask, name)
    told = first["read"], first["imported"], first["alreadyThere"], len(first["skipped"]), first["quarantined"]
    assert told == (read, new, twice, skipped, outputs)
    assert read == new + twice + skipped
    assert all(entry["place"] and entry["reason"] for entry in first["skipped"])
    before = ask("stats")["totals"], memories(ask)
    again = imported(ask, name)
    assert (again["imported"], again["alreadyThere"], again["skipped"]) == (0, new + twice, first["skipped"])
    assert (ask("stats")["totals"], memories(ask)) == before
    assert again["found"] == 0
    assert ask("doctor")["ok"] is True


@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_says_the_same_and_writes_nothing(ask: Ask, run: Run, store: Path, name: str) -> None:
    dry = imported(ask, name, "--dry-run")
    assert not store.exists()
    run("init")
    before = ask("stats")["totals"]
    assert imported(ask, name, "--dry-run") == dry
    assert ask("stats")["totals"] == before
    real = imported(ask, name)
    counted = ("files", "read", "imported", "alreadyThere", "skipped", "quarantined", "sessions", "found")
    assert [dry[each] for each in counted] == [real[each] for each in counted]


def test_turns_keep_their_ids_times_and_session(ask: Ask) -> None:
    imported(ask, "claude-code")
    turns = memories(ask)
    decided = turns["claude-code:0000000a-0000-4000-8000-00000000000a"]
    assert decided["content"].startswith("We decided that the tracking worker retries five times")
    assert (decided["author"], decided["kind"], decided["zone"]) == ("user", "episode", "working")
    assert (decided["projectId"], decided["createdAt"]) == ("harbor", 1_777_881_660_000)
    session = ask("session", "show", SESSION)
    assert (session["session"]["title"], session["session"]["startedAt"]) == (
        "Retry of the tracking worker",
        1_777_881_601_000,
    )
    assert len([link for link in session["memories"] if link["usageType"] == "created"]) == 10


def test_what_was_decided_and_what_worked_is_found_in_a_backfill(ask: Ask, run: Run) -> None:
    told = run("import", "--from", "claude-code", FILES / "claude-code", "--no-embed").stdout
    assert "2 decisions, corrections and commands that worked at last found in what was said" in told
    found = {each["content"]: each for each in ask("list", "--limit", "100")["memories"] if each["kind"] != "episode"}
    (decided,) = [each for text, each in found.items() if text.startswith("We decided that the tracking worker")]
    assert (decided["kind"], decided["zone"], decided["projectId"]) == ("decision", "working", "harbor")
    assert [each for each in found if each.startswith("`pytest tests/test_worker.py` failed; `")]


def test_a_session_whose_name_cannot_be_kept_ends_no_import(ask: Ask, home: Path) -> None:
    lines = [
        {"type": "user", "uuid": f"u{number}", "sessionId": session, "cwd": "/x/harbor",
         "timestamp": "2026-05-05T09:00:05Z", "message": {"role": "user", "content": f"Buoy {number} is red"}}
        for number, session in enumerate(("s-1", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "s-2"))
    ]  # fmt: skip
    write_lines(home / "talk.jsonl", lines)
    record = ask("import", "--from", "claude-code", home / "talk.jsonl", "--no-embed")
    assert (record["read"], record["imported"], len(record["skipped"])) == (3, 2, 1)
    assert "secret" in record["skipped"][0]["reason"]


def test_relations_are_read_in_either_form_of_the_mcp_memory_server(ask: Ask, home: Path) -> None:
    entities = [{"name": name, "entityType": "person", "observations": [f"{name} likes tea"]} for name in ("Ada", "Bo")]
    relation = {"from": "Ada", "to": "Bo", "relationType": "works_with"}
    (home / "memory.json").write_text(json.dumps({"entities": entities, "relations": [relation]}), encoding="utf-8")
    record = ask("import", "--from", "mcp-memory", home / "memory.json", "--no-embed")
    assert (record["read"], record["imported"], record["relations"]) == (3, 3, 1)


def test_a_text_whose_id_is_anothers_too_is_named_every_time(ask: Ask, home: Path) -> None:
    said = [{"uuid": "k11", "sender": "human", "text": text} for text in ("Buoy 1 is red", "Buoy 1 is green")]
    (home / "conversations.json").write_text(json.dumps([{"uuid": "c1", "chat_messages": said}]), encoding="utf-8")
    first, again = (ask("import", "--from", "claude", home / "conversations.json", "--no-embed") for _ in range(2))
    assert (first["imported"], again["imported"], again["replaced"]) == (1, 0, 0)
    assert first["skipped"] == again["skipped"]
    assert "same id" in first["skipped"][0]["reason"]


@pytest.mark.parametrize("name", ["claude-code", "codex", "cursor"])
def test_an_empty_file_is_named(ask: Ask, home: Path, name: str) -> None:
    (home / "empty.jsonl").write_text("", encoding="utf-8")
    record = ask("import", "--from", name, home / "empty.jsonl", "--no-embed")
    assert [(entry["place"], entry["reason"]) for entry in record["skipped"]] == [
        ("empty.jsonl", "there is nothing in it")
    ]


@pytest.mark.parametrize(
    ("name", "empty"),
    [("claude", {"uuid": "c1", "chat_messages": []}), ("chatgpt", {"conversation_id": "c1", "mapping": {}})],
)
def test_a_conversation_without_messages_is_named(ask: Ask, home: Path, name: str, empty: dict[str, Any]) -> None:
    (home / "conversations.json").write_text(json.dumps([empty]), encoding="utf-8")
    record = ask("import", "--from", name, home / "conversations.json", "--no-embed")
    assert (record["read"], record["imported"]) == (1, 0)
    assert [entry["reason"] for entry in record["skipped"]] == ["a conversation without messages"]


def test_secrets_are_taken_out(ask: Ask) -> None:
    record = imported(ask, "claude-code")
    assert record["redacted"] == 1
    (one,) = record["redactions"]
    assert one["place"].startswith("claude-code:")
    assert one["kinds"]
    assert not [each for each in memories(ask).values() if "s3cr3t-Anchor" in each["content"]]


def test_what_tools_gave_is_in_quarantine_and_in_no_answer(ask: Ask, run: Run) -> None:
    imported(ask, "claude-code", "--zone", "trusted")
    failed = memories(ask)["claude-code:00000007-0000-4000-8000-000000000007"]
    assert failed["content"].splitlines()[0] == "Bash: pytest tests/test_worker.py"
    assert failed["attributes"] == {"tool": "Bash", "command": "pytest tests/test_worker.py", "failed": True}
    assert (failed["zone"], failed["status"]) == ("quarantine", "archived")
    results = ask("search", "ModuleNotFoundError: No module named 'harbor'")["results"]
    assert failed["id"] not in [result["memory"]["id"] for result in results]
    assert ask("review", "list")["memories"] == []


def test_what_was_said_is_served_and_marked_as_not_reviewed(ask: Ask) -> None:
    imported(ask, "codex")
    shown = ask("xray", "which port does the gateway of the harbor listen on")
    origins = [row["provenance"] for row in shown["snapshot"]["results"]]
    assert len(origins) >= 2
    assert {(origin["safety"], *origin["safetyReasons"]) for origin in origins} == {("requires-review", "zone=working")}


def test_the_person_chooses_the_zone_and_the_project(ask: Ask) -> None:
    imported(ask, "mem0", "--zone", "trusted", "--project", "travel")
    assert {(each["zone"], each["projectId"]) for each in memories(ask).values()} == {("trusted", "travel")}


def test_what_is_forgotten_does_not_come_back(ask: Ask, run: Run) -> None:
    imported(ask, "mem0")
    ferry = memories(ask)["mem0:892db2ae-06d9-49e5-8b3e-585ef9b85b8e"]
    run("forget", ferry["id"])
    assert imported(ask, "mem0")["alreadyThere"] == 2
    assert memories(ask)[ferry["sourceId"]]["status"] == "forgotten"


def test_a_text_that_has_changed_takes_the_place_of_the_old_one(ask: Ask, home: Path) -> None:
    def keys(locker: int) -> Path:
        return write_lines(
            home / "m.jsonl",
            [{"id": "k1", "memory": f"The keys are in locker {locker}"}, {"id": "k2", "memory": "Tea"}],
        )

    ask("import", "--from", "mem0", keys(12))
    changed = ask("import", "--from", "mem0", keys(14))
    assert (changed["imported"], changed["replaced"], changed["alreadyThere"]) == (1, 1, 1)
    texts = [result["memory"]["content"] for result in ask("search", "where are the keys")["results"]]
    assert texts == ["The keys are in locker 14"]


def test_bad_and_partial_lines_end_nothing(ask: Ask, home: Path) -> None:
    good = (FILES / "claude-code" / "-home-ada-harbor" / f"{SESSION}.jsonl").read_text(encoding="utf-8").splitlines()[4]
    bad = ["{", "[1]", '"text"', '{"type":"user"}', '{"type":"user","message":{"content":7}}',
           '{"type":"user","message":null}',
           '{"type":"assistant","message":{"content":[null,3,{"type":"text"}]}}', "[" * 50_000]  # fmt: skip
    record = ask("import", "--from", "claude-code", write_lines(home / "t.jsonl", [*bad, good]), "--no-embed")
    assert (record["imported"], record["read"]) == (1, 1 + len(record["skipped"]))
    assert {entry["place"] for entry in record["skipped"]} == {f"t.jsonl:{line}" for line in range(1, 9)}


def test_what_a_client_or_a_hook_put_into_a_turn_was_said_by_nobody(ask: Ask, home: Path) -> None:
    said = (
        "Where is the buoy?\n<system-reminder>Recallens remembers m1</system-reminder><hook_context>m2</hook_context>"
    )
    line = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": said}}
    only = {**line, "uuid": "u2", "message": {"role": "user", "content": "<system-reminder>m1</system-reminder>"}}
    record = ask("import", "--from", "claude-code", write_lines(home / "t.jsonl", [line, only]), "--no-embed")
    assert (record["imported"], [entry["reason"] for entry in record["skipped"]]) == (1, ["no text"])
    assert memories(ask)["claude-code:u1"]["content"] == "Where is the buoy?"


def test_an_export_that_was_cut_off_gives_what_it_holds(ask: Ask, home: Path) -> None:
    whole = (FILES / "claude" / "conversations.json").read_text(encoding="utf-8")
    cut = home / "conversations.json"
    cut.write_text(whole[: whole.index('"broken"')], encoding="utf-8")
    record = ask("import", "--from", "claude", cut, "--no-embed")
    assert record["imported"] == 4
    assert "cut off" in record["skipped"][-1]["reason"]


def test_a_home_folder_is_backfilled(ask: Ask, home: Path) -> None:
    for number in range(3):
        folder = home / "ada" / ".codex" / "sessions" / "2026" / f"0{number}"
        folder.mkdir(parents=True)
        said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"Buoy {number}?"}]}
        line = {"timestamp": "2026-05-05T09:00:05Z", "type": "response_item", "payload": said}
        write_lines(folder / f"rollout-2026-05-05-{number}.jsonl", [line])
    write_lines(home / "ada" / "rollout-elsewhere.jsonl", ["{}"])
    record = ask("import", "--from", "codex", home / "ada", "--no-embed")
    assert (record["files"], record["imported"], record["sessions"]) == (3, 3, 3)


def test_commits_are_episodes_that_cite_the_commit_and_its_files(ask: Ask, home: Path) -> None:
    def git(*words: str) -> None:
        who = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "Ada",
               "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_AUTHOR_DATE": "2026-05-01T10:00:00Z"}  # fmt: skip
        subprocess.run(["git", "-C", str(home / "quay"), *words], check=True, capture_output=True, env=os.environ | who)

    (home / "quay").mkdir()
    git("init", "-q")
    (home / "quay" / "crane.py").write_text("LIFT = 40\n")
    git("add", ".")
    git("commit", "-q", "-m", "Lift forty tonnes\n\nThe old limit was thirty.")
    record = ask("import", "--from", "git", home / "quay", "--no-embed")
    assert (record["files"], record["read"], record["imported"]) == (0, 1, 1)  # a history is no file
    (commit,) = memories(ask).values()
    assert (commit["title"], commit["kind"], commit["projectId"]) == ("Lift forty tonnes", "episode", "quay")
    assert [citation["kind"] for citation in commit["citations"]] == ["commit", "file"]
    assert commit["createdAt"] == 1_777_629_600_000
    assert ask("import", "--from", "git", home / "quay")["imported"] == 0


def test_an_obsidian_vault_stays_a_vault(ask: Ask, run: Run, home: Path) -> None:
    (home / "notes" / ".obsidian").mkdir(parents=True)
    (home / "notes" / "pier.md").write_text("# Pier\n\nPier 4 opens at six.\n", encoding="utf-8")
    dry = ask("import", "--from", "obsidian", home / "notes", "--dry-run")
    assert (dry["read"], dry["imported"]) == (1, 1)
    first = ask("import", "--from", "obsidian", home / "notes", "--no-embed")
    assert dry["files"] == first["files"] == 1
    assert (first["imported"], first["vault"]) == (1, "notes")
    again = ask("import", "--from", "obsidian", home / "notes", "--no-embed")
    assert (again["imported"], again["alreadyThere"]) == (0, 1)
    dry = ask("import", "--from", "obsidian", home / "notes", "--dry-run")
    assert (dry["imported"], dry["alreadyThere"]) == (0, 1)
    refused = run("import", "--from", "obsidian", home / "notes", "--zone", "working", code=2)
    assert "Leave out --zone" in refused.stderr


def test_notes_of_basic_memory_are_linked_as_they_say(ask: Ask) -> None:
    assert imported(ask, "basic-memory")["relations"] == 1
    observations = [each for each in memories(ask).values() if each["title"] == "Coffee on the pier"]
    relations = [relation for each in observations for relation in ask("show", each["id"])["relations"]]
    assert [relation["relation"] for relation in relations] == ["DEPENDS_ON"]


def test_notes_of_one_name_in_two_folders_are_two(ask: Ask, home: Path) -> None:
    for folder, text in (("a", "Call the plumber"), ("b", "Call the dentist")):
        (home / "notes" / folder).mkdir(parents=True)
        (home / "notes" / folder / "todo.md").write_text(f"# Todo\n\n- [task] {text}\n", encoding="utf-8")
    record = ask("import", "--from", "basic-memory", home / "notes", "--no-embed")
    assert (record["imported"], record["skipped"]) == (2, [])
    again = ask("import", "--from", "basic-memory", home / "notes" / "b", "--no-embed")
    assert (again["imported"], again["alreadyThere"]) == (0, 1)


def test_a_wrong_name_or_place_is_told_with_what_would_be_right(run: Run, store: Path, home: Path) -> None:
    unknown = run("import", "--from", "chat-gpt", home, code=2)
    assert "use one of: basic-memory, chatgpt, claude, claude-code, codex, cursor, gemini, git," in unknown.stderr
    run("import", "--from", "codex", home / "nowhere", code=3)
    assert "does nothing without --from NAME" in run("import", home / "x.jsonl", "--dry-run", code=2).stderr
    assert "recallens export" in run("import", "--from", "git", home, "--tokens", code=2).stderr
    assert "git cannot tell the history" in run("import", "--from", "git", home, code=2).stderr
    subprocess.run(["git", "init", "-q", str(home / "fresh")], check=True)
    assert "has no commit yet" in run("import", "--from", "git", home / "fresh", code=2).stderr
    assert not store.exists()


def test_skipped_entries_are_named_with_their_reasons(run: Run) -> None:
    done = run("import", "--from", "mcp-memory", FILES / "mcp-memory", "--no-embed")
    assert done.stdout.splitlines()[0] == "6 entries of 1 file read: 4 imported, 0 already there, 2 skipped"
    assert "skipped 1: a relation without from, to and relationType: memory.jsonl:4" in done.stderr


def test_a_process_of_its_own_draws_no_bar_where_nobody_watches(home: Path) -> None:
    done = spawn("import", "--from", "codex", FILES / "codex", "--no-embed", "--json")
    assert json.loads(done.stdout)["imported"] == 4
    assert done.stderr == ""


def turn(
    id: str, text: str, *, session: str = "s1", at: str = "2026-05-04T08:00:00.000Z", **more: Any
) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"type": "user", "uuid": id, "sessionId": session, "timestamp": at, "message": message, **more}


def sessions(ask: Ask) -> dict[str, tuple[Any, ...]]:
    listed = ask("session", "list", "--limit", "200")["sessions"]
    return {each["id"]: (each.get("title"), each.get("startedAt"), each.get("endedAt")) for each in listed}


@pytest.mark.parametrize("stored", [256, 600])
def test_an_import_that_was_stopped_is_made_whole_by_the_next(home: Path, store: Path, ask: Ask, stored: int) -> None:
    """After one batch, and after the last turn but before any session had its end."""
    conversations = [
        {"uuid": f"c{number}", "name": f"Talk {number}", "created_at": "2026-04-01T12:00:00Z", "chat_messages": [
            {"uuid": f"c{number}m{turn}", "sender": "human", "text": f"Buoy {number} lies {turn * 7} metres deep",
             "created_at": f"2026-04-01T12:0{turn}:00Z"} for turn in range(6)]} for number in range(100)
    ]  # fmt: skip
    file = home / "conversations.json"
    file.write_text(json.dumps(conversations), encoding="utf-8")
    store.parent.mkdir(parents=True)
    with recallens.open(store, encoder="hashing") as engine, pytest.MonkeyPatch.context() as patch:

        def stop(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        if stored == 600:
            patch.setattr(engine.sessions, "end_many", stop)
        else:
            taken = iter(range(2))
            progress = lambda done, total: next(taken, None) is None and stop()  # noqa: E731
        with pytest.raises(KeyboardInterrupt):
            engine.maintenance.imports.run("claude", file, progress=None if stored == 600 else progress)
    again = ask("import", "--from", "claude", file, "--no-embed")
    assert (again["read"], len(again["skipped"])) == (600, 0)
    assert len(sessions(ask)) == 100
    assert all(title and ended for title, _, ended in sessions(ask).values())
    assert ask("import", "--from", "claude", file, "--no-embed")["sessions"] == 0


def test_a_turn_that_stands_in_two_files_is_found_out_once(ask: Ask, home: Path) -> None:
    decided = turn("t1", "We decided to keep invoices for ten years.")
    for name in ("a", "b"):  # a session that is gone on with is copied
        write_lines(home / "copies" / f"{name}.jsonl", [decided, turn(f"t-{name}", "Thanks, that is all.")])
    record = ask("import", "--from", "claude-code", home / "copies", "--no-embed")
    assert (record["imported"], record["alreadyThere"], record["found"]) == (3, 1, 1)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_session_of_several_files_begins_with_the_first_and_ends_with_the_last(
    ask: Ask, home: Path, order: str
) -> None:
    days = {"1": "2026-03-01T08:00:00.000Z", "9": "2026-03-09T08:00:00.000Z"}
    for name, day in zip(order, days, strict=True):
        write_lines(
            home / "parts" / f"{name}.jsonl", [turn(f"t{day}", f"On day {day} the tram stood still", at=days[day])]
        )
    ask("import", "--from", "claude-code", home / "parts", "--no-embed")
    ((_, started, ended),) = sessions(ask).values()
    assert (ended - started) / DAY_MS == 8


WRONG = {
    "claude": [{"uuid": "c", "name": "n", "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "The buoy is red", "content": 5, "attachments": True}]}],
    "gemini": {"sessionId": "s", "messages": [
        {"id": "m1", "type": "user", "content": "The buoy is red", "toolCalls": 5},
        {"id": "m2", "type": "gemini", "content": "Yes", "toolCalls": [{"result": [{"functionResponse": None}]}]}]},
    "longmemeval": [{"question_id": "q", "haystack_sessions": [[{"role": "user", "content": "The buoy is red"}]],
                     "haystack_session_ids": 5, "haystack_dates": {"a": 1}}],
    "mcp-memory": {"entities": [{"name": "Ada", "entityType": "person", "observations": "He likes tea"},
                                {"name": "Buoy", "entityType": "thing", "observations": ["The buoy is red"]}]},
    "mem0": [{"id": "a", "memory": "The buoy is red"}, {"id": "b", "memory": "Tea", "metadata": {"x": float("nan")}}],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_value_of_another_type_than_expected_ends_nothing(ask: Ask, home: Path, name: str) -> None:
    names = {"claude": "conversations.json", "gemini": "chats/session-1.json", "mcp-memory": "memory.json"}
    file = home / "wrong" / names.get(name, "all.json")
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(WRONG[name]), encoding="utf-8")
    record = ask("import", "--from", name, home / "wrong", "--no-embed")
    assert record["read"] == record["imported"] + len(record["skipped"])
    assert "The buoy is red" in {memory["content"] for memory in memories(ask).values()}
