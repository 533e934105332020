"""What only the owner does: refused to others, offered by no other surface, answered as the command prints it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotAllowed, UnknownOption
from recallens.http.routes import ROUTES
from recallens.mcp.tools import full_tools
from recallens.operations import OPERATIONS, Answer, Caller, Right, owner, perform

OWNER = owner("default")
OWNED = [operation for operation in OPERATIONS.values() if operation.needs is Right.OWNER]


def do(engine: Engine, operation: str, **given: Any) -> Any:
    answer = perform(OPERATIONS[operation], engine, OWNER, given)
    assert isinstance(answer, Answer)
    assert json.loads(answer.text) == json.loads(json.dumps(answer.record))
    return answer.record


@pytest.mark.parametrize("operation", OWNED, ids=lambda operation: operation.name)
def test_nobody_else_may(engine: Engine, operation: Any) -> None:
    for caller in (Caller(home="default"), Caller(namespaces=frozenset(["default"]), owner="w")):
        with pytest.raises(NotAllowed, match="for the person at the machine"):
            perform(operation, engine, caller, {})


def test_no_other_surface_offers_it() -> None:
    names = {operation.name for operation in OWNED}
    assert not names & {name for route in ROUTES for name in (route.name, route.brief)}
    assert not names & {tool.operation for tool in full_tools()}


def test_the_owner_does_what_everybody_may_and_is_recorded_as_the_settings_say(engine: Engine) -> None:
    kept = do(engine, "keep_memory", content="Lookups are cached for 60 seconds", attributes={"kind": "decision"})
    assert do(engine, "search", query="lookups")["recorded"] is True
    quiet = perform(OPERATIONS["search"], engine, owner("default", record=False), {"query": "lookups"})
    assert isinstance(quiet, Answer)
    assert quiet.record["recorded"] is False
    assert quiet.value.results[0].memory.id == kept["id"]


def test_what_the_owner_gives_is_judged_by_the_engine(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match=r"^min salience is 7; it must be a number from 0 to 1"):
        do(engine, "search", query="lookups", min_salience=7)
    with pytest.raises(UnknownOption, match="unknown right 'all'"):
        do(engine, "create_token", namespaces=("default",), right="all")
    with pytest.raises(TypeError, match="target"):
        do(engine, "backup")


def test_the_store_is_looked_after(engine: Engine, tmp_path: Path) -> None:
    kept = do(engine, "keep_memory", content="Lookups are cached for 60 seconds", attributes={})
    assert do(engine, "init_store")["namespace"] == "default"
    assert do(engine, "doctor")["ok"] is True
    assert do(engine, "reindex")["entries"] == 1
    copied = do(engine, "backup", target=str(tmp_path / "copy.db"))
    assert copied == {"target": str(tmp_path / "copy.db"), "bytes": (tmp_path / "copy.db").stat().st_size}
    gone = {"forgotten": [kept["id"]], "handles": [kept["handle"]], "hard": False}
    assert do(engine, "forget_memories", ids=(kept["id"],)) == gone
    later = engine.core.clock() + 2 * 86_400_000
    engine.core.clock = lambda: later
    trails = {"ledgers": 0, "recalls": 0, "sessionLinks": 0, "audit": 0}
    assert do(engine, "prune") == {"deleted": False, "memories": [], "trails": trails}
    assert do(engine, "prune", older_than=1) == {"deleted": False, "memories": [kept["id"]], "trails": trails}
    assert do(engine, "restore_memories", ids=(kept["id"],))["restored"][0]["status"] == "active"
    assert do(engine, "show_config")["namespace"]["from"] in {"default", "flag"}
    assert do(engine, "remove_namespace", name="default") == {"removed": "default", "memories": 1}


def test_the_encoder_is_found_used_and_cleared(engine: Engine) -> None:
    do(engine, "keep_memory", content="Lookups are cached for 60 seconds", attributes={})
    assert "suggestion" in do(engine, "detect_encoders")
    assert do(engine, "use_encoder", spec="none") == {
        "encoderSpec": "none", "encoder": None, "encoded": 0, "backlog": 0,
    }  # fmt: skip
    assert do(engine, "clear_encoder") == {"cleared": None}


def test_tokens_are_made_listed_and_ended(engine: Engine) -> None:
    made = do(engine, "create_token", namespaces=("default",), right="write", name="laptop", expires="30d")
    assert made["expiresAt"] - made["createdAt"] == 30 * 86_400_000
    assert do(engine, "list_tokens")["tokens"] == [{name: made[name] for name in made if name != "token"}]
    assert do(engine, "revoke_token", token="laptop")["revokedAt"]


def test_the_log_is_verified_listed_and_watched(engine: Engine) -> None:
    kept = do(engine, "keep_memory", content="Lookups are cached for 60 seconds", attributes={})
    do(engine, "search", query="lookups")
    verdict = do(engine, "verify_audit")
    assert (verdict["ok"], verdict["namespace"], verdict["entries"], verdict["problems"]) == (True, "default", 1, [])
    assert "no anchor" in verdict["notes"][0]
    listed = do(engine, "list_audit")
    assert (listed["total"], listed["page"], listed["limit"]) == (1, 1, 20)
    assert listed["entries"][0]["memories"] == [kept["id"]]
    assert do(engine, "list_anomalies") == {"anomalies": []}


def test_a_vault_is_added_read_and_removed(engine: Engine, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "cache.md").write_text("# Cache\n\nLookups are cached for 60 seconds\n", encoding="utf-8")
    assert do(engine, "keep_vault", folder=str(notes), sync=False)["sections"] == 0
    synced = do(engine, "sync_vaults", name="notes", paths=("cache.md",))
    assert (synced["vaults"][0]["added"], synced["backlog"]) == (["cache.md"], 0)
    assert do(engine, "keep_vault", folder=str(notes))["vaults"][0]["unchanged"] == 1
    assert do(engine, "remove_vault", name="notes") == {"removed": "notes", "sections": 1}


def test_sessions_and_tasks_by_pages_and_at_times_of_ones_own(engine: Engine) -> None:
    assert do(engine, "begin_session", id="s", started=5)["startedAt"] == 5
    assert do(engine, "finish_session", id="s", ended=9)["endedAt"] == 9
    page = do(engine, "page_of_sessions", page=1, limit=7)
    assert ([one["id"] for one in page["sessions"]], page["page"], page["limit"]) == (["s"], 1, 7)
    task = do(engine, "start_task", task="Deploy", id="deploy-7")
    assert [one["id"] for one in do(engine, "page_of_tasks", running=True)["tasks"]] == [task["id"]]
    kept = do(engine, "keep_memory", content="Lookups are cached for 60 seconds", attributes={})["id"]
    assert do(engine, "use_memories", ids=(kept,), task="deploy-7") == {"used": [kept], "task": "deploy-7"}


def test_memories_are_curated_several_at_once(engine: Engine) -> None:
    texts = ("Lookups are cached for 60 seconds", "The gateway retries three times")
    first, second = (do(engine, "keep_memory", content=text, attributes={})["id"] for text in texts)
    assert do(engine, "confirm_memories", ids=(first, second)) == {
        "confirmed": [first, second], "handles": ["m1", "m2"],
    }  # fmt: skip
    assert [one["id"] for one in do(engine, "deemphasise_memories", ids=(first,))["deemphasised"]] == [first]
    assert do(engine, "link_memories", source=first, target=second, relation="RELATED_TO")["confidence"] == 1.0
    assert do(engine, "rewrite_memory", id=first, content="Lookups are cached for 60 seconds")["changed"] is False
    assert do(engine, "rewrite_memory", id=first, content="Lookups are cached for 30 seconds")["supersedes"] == first
    page = do(engine, "page_of_memories", statuses=("superseded",))
    assert ([one["id"] for one in page["memories"]], page["total"]) == ([first], 1)
    assert do(engine, "check_citations")["memories"] == 0
    waiting = do(engine, "keep_memory", content="To be seen", attributes={"status": "pending_review"})["id"]
    assert do(engine, "review_memories", ids=(waiting,), approve=True)["approved"] == [waiting]
    assert do(engine, "keep_document", text="# A\n\nOne\n", path="a.md")["path"] == "a.md"


def test_a_record_is_replayed_and_compared_from_a_file(engine: Engine, tmp_path: Path) -> None:
    do(engine, "keep_memory", content="Lookups are cached for 60 seconds", attributes={})
    ledger = engine.recalls.ledger(engine.recalls.question("lookups"))
    held = tmp_path / "ledger.json"
    held.write_text(json.dumps({**ledger.to_json(), "digest": ledger.digest()}), encoding="utf-8")
    assert do(engine, "replay_record", name=str(held))["reproduced"] is True
    assert do(engine, "diff_records", before=str(held), after=str(held))["before"] == str(held)
    assert "Lookups" in do(engine, "compose_context", task="shorten the lookups")["block"]
