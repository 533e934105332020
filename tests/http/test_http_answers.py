"""What comes back: the bytes of the command, what a cache may know, pages, errors, and whose session is whose."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from starlette.testclient import TestClient

from http_scene import QUESTION, Scene
from recallens.engine.maintenance import Maintenance
from recallens.engine.search import Search
from recallens.errors import EncoderFailed, StoreBusy, StoreDamaged, StoreReadOnly
from recallens.operations import OPERATIONS, Caller, owner, perform
from recallens.render import render
from recallens.text.token_count import count_tokens

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def xray(client: TestClient, **given: Any) -> Any:
    return client.get("/v1/recall/xray", params={"q": QUESTION, **given})


# ── the same bytes ──


@pytest.mark.parametrize(
    ("format", "kind"),
    [("json", "application/json"), ("text", "text/plain"), ("markdown", "text/markdown"), ("html", "text/html")],
)
def test_a_recorded_recall_is_the_same_bytes_in_every_format(scene: Scene, format: str, kind: str) -> None:
    snapshot = scene.engine.recalls.snapshot(scene.snapshots[0])
    with scene.client() as client:
        answer = client.get(f"/v1/snapshots/{scene.snapshots[0]}", params={"format": format})
    assert answer.content == (render(snapshot, format) + "\n").encode()
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert ("content-security-policy" in answer.headers) == (format == "html")


@pytest.mark.parametrize("limit", [None, 60, 400])
def test_layer_one_is_the_record_of_the_command_byte_for_byte(scene: Scene, limit: int | None) -> None:
    asked = {"query": QUESTION, "cut": False, "max_tokens": limit}
    command = perform(OPERATIONS["search_memory"], scene.engine, owner("default", record=False), asked).text
    with scene.client() as client:
        answer = client.post("/v1/search", json={**asked, "brief": True})
    assert answer.content == command.encode()
    assert limit is None or count_tokens(answer.text) <= limit
    structured = json.dumps(answer.json(), ensure_ascii=False, separators=(",", ":"))
    assert structured + "\n" == answer.text  # as MCP sends it where JSON is asked for


def test_the_specified_path_is_an_alias(scene: Scene) -> None:
    with scene.client() as client:
        answers = [client.get(path, params={"q": QUESTION}) for path in ("/v1/recall/xray", "/engram/v1/recall/xray")]
    both = [answer.json() for answer in answers]
    assert [one["snapshotFound"] for one in both] == [True, True]
    assert both[0]["snapshot"]["digest"] == both[1]["snapshot"]["digest"]


def test_an_xray_asked_in_korean(scene: Scene) -> None:
    scene.engine.remember("배송 조회는 60초 동안 캐시한다")
    with scene.client() as client:
        found = client.get("/v1/recall/xray", params={"q": "조회는 얼마나 캐시하나요", "format": "text"})
    assert "query: 조회는 얼마나 캐시하나요" in found.text


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}, TRACE),
        ({"X-Trace-Id": "mine-7"}, "mine-7"),
        ({"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "X-Trace-Id": "mine-7"}, TRACE),
        ({"traceparent": "00-00000000000000000000000000000000-00f067aa0ba902b7-01"}, None),
        ({"traceparent": "nonsense"}, None),
        ({}, None),
    ],
)
def test_the_trace_id_of_the_caller_is_carried(scene: Scene, headers: dict[str, str], told: str | None) -> None:
    with scene.client() as client:
        answer = client.get("/v1/recall/xray", params={"q": QUESTION}, headers=headers)
    assert answer.json()["snapshot"].get("traceId") == told
    assert answer.headers["x-trace-id"] == (told or answer.headers["x-trace-id"])


# ── wrong input ──


@pytest.mark.parametrize("path", ["/v1/recall/xray", "/engram/v1/recall/xray"])
@pytest.mark.parametrize(
    "given",
    [{}, {"q": ""}, {"q": "  "}, {"q": "x", "budget": 0}, {"q": "x", "budget": "many"}, {"q": "x", "budget": "1.0"},
     {"q": "x", "format": "pdf"}, {"q": "x", "unknown": "1"}, {"q": "x", "query": "y"}, {"q": ["x", "y"]},
     {"q": "x", "limit": 100_000}, {"q": "x", "weights[semantic]": "a lot"}, {"q": "x", "intent": "guess"},
     {"q": "x" * 40_000}],
)  # fmt: skip
def test_what_cannot_be_asked_is_400_with_the_specified_three_fields(scene: Scene, path: str, given: Any) -> None:
    with scene.client() as client:
        answer = client.get(path, params=given)
    assert answer.status_code == 400
    told = answer.json()
    assert (told["error"], told["code"]) in (("invalid-input", "InvalidInput"), ("unknown-option", "UnknownOption"))
    assert (told["status"], told["instance"], told["message"]) == (400, path, told["detail"])


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [(b"{", "application/json", 400), (b"[]", "application/json", 400), (b'{"content": NaN}', "application/json", 400),
     (b'{"content": "x"}', "text/plain", 415), (b'{"content": "x"}', "", 415),
     (b'{"content": "x", "id": "y"}', "application/json", 400), (b'{"content": "\\ud800"}', "application/json", 400),
     (b'{"content": "x", "importance": "0.5"}', "application/json", 400), (b"[" * 100_000, "application/json", 400),
     (b"\xff\xfe", "application/json", 400), (b"", "application/json", 400)],
)  # fmt: skip
def test_a_body_that_cannot_be_read_is_refused(scene: Scene, body: bytes, kind: str, status: int) -> None:
    with scene.client() as client:
        answer = client.post("/v1/memories", content=body, headers={"Content-Type": kind})
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_what_is_not_there_and_what_may_not_be_done_to_it(scene: Scene) -> None:
    with scene.client() as client:
        assert client.get("/v1/nothing").json()["code"] == "NotFound"
        wrong = client.put("/v1/search")
        assert (wrong.status_code, wrong.json()["code"]) == (405, "MethodNotAllowed")
        assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}
        asked = client.options("/v1/memories")
        assert (asked.status_code, asked.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")
        assert not [name for name in asked.headers if name.startswith("access-control")]
        head = client.head("/v1/stats")
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["etag"] == client.get("/v1/stats").headers["etag"]


# ── what failed here ──


@pytest.mark.parametrize(
    ("error", "status"),
    [(StoreBusy("busy"), 503), (StoreReadOnly("read-only"), 503), (EncoderFailed("no"), 503),
     (StoreDamaged("damaged"), 500), (RuntimeError("a memory's own words"), 500)],
)  # fmt: skip
def test_a_fault_is_told_apart_and_logged_under_its_trace_id(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception, status: int
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Search, "recall", failing)
    with caplog.at_level(logging.WARNING), scene.client() as client:
        answer = client.get("/v1/search", params={"q": QUESTION}, headers={"X-Trace-Id": "fault-1"})
    assert answer.status_code == status
    assert ("retry-after" in answer.headers) == (status == 503)
    assert answer.json().get("traceId") == ("fault-1" if status == 500 else None)
    assert ("fault-1" in caplog.text) == (status == 500)
    assert "own words" not in caplog.text + answer.text


def test_a_fault_without_a_trace_id_of_the_callers_gets_one(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Maintenance, "stats", lambda *_, **__: 1 / 0)
    with caplog.at_level(logging.ERROR), scene.client() as client:
        answer = client.get("/v1/stats")
    assert answer.status_code == 500
    assert answer.json()["traceId"] == answer.headers["x-trace-id"]
    assert answer.json()["traceId"] in caplog.text


# ── caches and pages ──


def test_an_answer_is_private_and_has_a_strong_etag(scene: Scene) -> None:
    with scene.client() as client:
        first = client.get("/v1/stats")
        assert first.headers["cache-control"] == "private"
        assert "Authorization" in first.headers["vary"]
        etag = first.headers["etag"]
        assert not etag.startswith("W/")
        for known in (etag, f'"other", {etag}', f"W/{etag}", "*"):
            again = client.get("/v1/stats", headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
        assert client.get("/v1/stats", headers={"If-None-Match": '"other"'}).status_code == 200
        scene.engine.remember("Something else")
        assert client.get("/v1/stats", headers={"If-None-Match": etag}).status_code == 200
        assert client.post("/v1/memories", json={"content": "x y z"}).headers["cache-control"] == "no-store"


def test_pages_follow_each_other_while_memories_come_in(scene: Scene) -> None:
    ids = [scene.engine.remember(f"Memory number {number} of many", dedupe=False).id for number in range(7)]
    seen: list[str] = []
    with scene.client() as client:
        cursor: str | None = None
        while True:
            page = client.get("/v1/memories", params={"limit": 3} | ({"cursor": cursor} if cursor else {})).json()
            seen += [memory["id"] for memory in page["memories"]]
            scene.engine.core.clock.advance(ms=1)  # type: ignore[attr-defined]
            scene.engine.remember(f"Came in after page {len(seen)}", dedupe=False)
            cursor = page.get("next")
            if cursor is None:
                break
    assert len(seen) == len(set(seen))
    assert set(ids) <= set(seen)


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/sessions", "/v1/tasks", "/v1/vaults/notes/sections"])
@pytest.mark.parametrize("cursor", ["x", "%%%", "bnVsbA", "W10", "WyJ4IiwxXQ", "가", ""])
def test_a_cursor_of_nobodys_making_is_refused(scene: Scene, path: str, cursor: str) -> None:
    with scene.client() as client:
        assert client.get(path, params={"cursor": cursor}).status_code == 400


def test_a_cursor_fits_only_its_own_listing(scene: Scene) -> None:
    scene.engine.remember("Another one")
    with scene.client() as client:
        cursor = client.get("/v1/memories", params={"limit": 1}).json()["next"]
        assert client.get("/v1/memories", params={"limit": 1, "cursor": cursor}).status_code == 200
        assert client.get("/v1/memories", params={"limit": 1, "cursor": cursor, "kind": "note"}).status_code == 400
        assert client.get("/v1/sessions", params={"cursor": cursor}).status_code == 400


# ── capture and sessions ──


def test_without_capture_there_is_no_xray_and_no_ledger(scene: Scene) -> None:
    from dataclasses import replace

    engine = scene.engine
    engine.core.settings = replace(engine.core.settings, capture=False)
    with scene.client() as client:
        assert xray(client).json() == {"snapshotFound": False}
        assert xray(client).content == b'{\n  "snapshotFound": false\n}\n'
        assert xray(client, format="text").status_code == 404
        searched = client.get("/v1/search", params={"q": QUESTION, "session": "s-uncaptured"}).json()
        assert searched["recorded"] is True
        assert client.get("/v1/recall/explain", params={"session": "s-uncaptured"}).json() == {"snapshotFound": False}
    engine.core.settings = replace(engine.core.settings, capture=True)
    assert engine.recalls.last("s-uncaptured") is None


def test_a_session_belongs_to_the_token_that_used_it_first(scene: Scene) -> None:
    mine, theirs, reader = scene.token("default"), scene.token("default"), scene.token("default", right="read")
    asked = {"q": QUESTION, "session": "s-mine"}
    with scene.client(mine) as client:
        assert client.get("/v1/search", params=asked).json()["recorded"] is True
        explained = client.get("/v1/recall/explain", params={"session": "s-mine"}).json()
        assert explained["snapshotFound"] is True
        snapshot = explained["snapshot"]["snapshotId"]
        assert client.get(f"/v1/snapshots/{snapshot}").status_code == 200
    for token in (theirs, reader):
        with scene.client(token) as client:
            for path in ("/v1/recall/explain", "/v1/recall/xray"):
                given = {"session": "s-mine"} if path.endswith("explain") else asked
                assert client.get(path, params=given).json() == {"snapshotFound": False}
                assert client.get(path, params=given | {"format": "markdown"}).status_code == 404
            assert client.get("/v1/search", params=asked).status_code == 404
            assert client.get(f"/v1/snapshots/{snapshot}").status_code == 404
            assert client.get(f"/v1/snapshots/{snapshot}/replay").status_code == 404
            assert client.get("/v1/diff", params={"before": snapshot, "after": snapshot}).status_code == 404
            assert xray(client, session=f"s-new-{token[-4:]}").json()["snapshotFound"] is True
    with scene.client(theirs) as client:
        assert client.post("/v1/sessions/s-mine/end", json={}).status_code == 404
        assert client.post("/v1/sessions", json={"id": "s-mine"}).status_code == 404


def test_what_a_token_asks_without_a_session_is_its_own_too(scene: Scene) -> None:
    mine, theirs = scene.token("default"), scene.token("default")
    with scene.client(mine) as client:
        client.get("/v1/search", params={"q": QUESTION})
        assert client.get("/v1/recall/explain").json()["snapshotFound"] is True
    with scene.client(theirs) as client:
        assert client.get("/v1/recall/explain").json() == {"snapshotFound": False}


def test_a_session_of_the_person_at_the_machine_is_no_tokens(scene: Scene) -> None:
    with scene.client(scene.token("default")) as client:
        assert client.get("/v1/recall/explain", params={"session": "s-local"}).json() == {"snapshotFound": False}
        assert xray(client, session="s-local").json() == {"snapshotFound": False}
    assert scene.engine.recalls.last("s-local") is not None


def test_sessions_are_owned_below_every_surface(scene: Scene) -> None:
    one, other = (Caller(namespaces=frozenset(["default"]), owner=owner) for owner in ("a", "b"))
    given = {"query": QUESTION, "session": "s-agents"}
    perform(OPERATIONS["search"], scene.engine, one, given)
    seen = perform(OPERATIONS["recall_explain"], scene.engine, one, {"session": "s-agents"})
    hidden = perform(OPERATIONS["recall_explain"], scene.engine, other, {"session": "s-agents"})
    assert json.loads(seen.text)["snapshotFound"] is True
    assert json.loads(hidden.text) == {"snapshotFound": False}


# ── one context string ──


def test_a_recall_is_one_string_within_a_budget_whose_parts_say_where_they_are_from(scene: Scene) -> None:
    with scene.client() as client:
        said = {"content": "Lookups are cached per region", "citations": ["commit:4f2a9c1"]}
        cited = client.post("/v1/memories", json=said).json()["id"]
        said = client.get("/v1/recall", params={"q": QUESTION, "contextBudget": 1_000})
        words = client.get("/v1/recall", params={"q": QUESTION, "contextBudget": 300, "format": "text"})
        tight = client.get("/v1/recall", params={"q": QUESTION, "contextBudget": 1_000, "tokens": 1})
    found = said.json()
    chunks = {one["id"]: one for one in found["selectedChunks"]}
    assert chunks[cited]["metadata"]["citations"] == [{"kind": "commit", "hash": "4f2a9c1"}]
    # Each form holds to its budget as it is sent, and a budget that holds no record is refused.
    assert found["totalTokensUsed"] == count_tokens(said.text) <= found["contextBudget"] == 1_000
    assert count_tokens(words.text) <= 300
    assert chunks[cited]["content"] in words.text
    assert (tight.status_code, "too few" in tight.text) == (400, True)


def test_work_begins_with_what_is_known_and_ends_with_what_was_learned(scene: Scene) -> None:
    with scene.client() as client:
        begun = client.post("/v1/work", json={"task": QUESTION, "tokens": 1_500})
        used = begun.json()["sections"][2]["items"][0]["id"]
        learned = {"outcome": "success", "used": [used], "learned": ["The cache is per region now"]}
        ended = client.post(f"/v1/work/{begun.json()['taskId']}/finish", json=learned).json()
    assert begun.status_code == 201
    assert begun.json()["budget"]["used"] == count_tokens(begun.text) <= 1_500
    assert (ended["reward"], ended["used"]) == (1.0, [used])
    assert [kept["outcome"] for kept in ended["learned"]] == ["created"]


# ── what agents write ──


def test_what_an_agent_writes_is_in_the_working_zone_whatever_it_touches(scene: Scene) -> None:
    engine, first = scene.engine, scene.ids[0]
    with scene.client(scene.token("default")) as client:
        made = client.post("/v1/memories", json={"content": "An agent's own words"}).json()["id"]
        edited = client.patch(f"/v1/memories/{first}", json={"content": "Changed by an agent"}).json()["id"]
        skill = client.post("/v1/skills", json={"topic": "agents' skill"}).json()["id"]
        section = client.post("/v1/documents", json={"path": "a.md", "text": "Agents' document"}).json()["memories"][0]
        task = client.post("/v1/tasks", json={"task": "An agent's task"}).json()["id"]
        episode = client.post(f"/v1/tasks/{task}/end", json={"reward": 1}).json()["episode"]
        client.post("/v1/sessions", json={"id": "s-agent", "title": "An agent's session"})
        client.post("/v1/sessions/s-agent/end", json={"summary": "It went well"})
    recap = next(one for one in engine.search("went well").results if one.memory.kind == "summary").memory.id
    for id in (made, edited, skill, section, episode, recap):
        assert engine.get(id).zone == "working", id
    assert engine.get(first).zone == "trusted"


def test_a_vaults_file_is_changed_only_by_its_folder(scene: Scene) -> None:
    (path,) = {one["path"] for one in _sections(scene)}
    document = scene.engine.recalls.search_documents(QUESTION).results[0].memory.citations[0].path  # type: ignore[union-attr]
    with scene.client(scene.token("default")) as client:
        for name in (path, document):
            answer = client.post("/v1/documents", json={"path": name, "text": "Taken over"})
            assert answer.status_code in (201, 403)
    assert [one["path"] for one in _sections(scene)] == [path]


def _sections(scene: Scene) -> list[dict[str, Any]]:
    with scene.client(scene.token("default", right="read")) as client:
        return list(client.get("/v1/vaults/notes/sections").json()["sections"])
