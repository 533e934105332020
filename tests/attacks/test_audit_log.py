"""What a token does stands in the log: whatever it asks, wherever it asks, whatever time it claims; or it gets nothing.

And whoever changes the log, cuts it, makes it anew or brings an older store back is found by the key and the anchor.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace
from starlette.routing import Route
from starlette.testclient import TestClient

from http_scene import QUESTION, Scene, examples, furnish
from recallens.deadline import until
from recallens.engine import Engine
from recallens.errors import AuditFailed, RecallensError, StoreError, TooLate
from recallens.http.limits import Limits
from recallens.http.routes import ROUTES
from recallens.model.audit import CUT, Act, Anchor, ChainHead, Key, against_anchors, chained, cut_of, verify_chain
from recallens.model.memory import Memory
from recallens.operations import OPERATIONS, Caller, Right, perform
from recallens.server import whole
from standing import FixedClock, Open

JSON = {"Accept": "application/json, text/event-stream"}
# What shows no memory: whether the server lives, what it measures, what it offers, and the way in.
SHOWS_NONE = {
    "/healthz", "/readyz", "/metrics", "/v1/openapi.json", "/openapi.json", "/session", "/sign-in", "/sign-out",
    "/favicon.ico",
    "/undo", "/memories/{id}/{action}",  # they change something and lead on to a page
}  # fmt: skip


@pytest.fixture
def scene(engine: Engine, tmp_path: Path) -> Scene:
    return furnish(engine, tmp_path)


@pytest.fixture
def served(engine: Engine) -> Iterator[TestClient]:
    with TestClient(whole(engine, allow_hosts=("testserver",)), follow_redirects=False) as client:
        yield client


def entries_of(engine: Engine, token: str, since: int) -> list[Any]:
    """What was written down of a token since a number, the oldest first."""
    _, entries = engine.audit.entries(limit=1_000)
    return [entry for entry in entries[::-1] if entry.number > since and entry.act.who == token]


def named_in(engine: Engine, entries: list[Any]) -> set[str]:
    known = engine.audit.memories()
    return {known[mark] for entry in entries for mark in entry.marks if mark in known}


def unnamed(engine: Engine, text: str, entries: list[Any]) -> list[str]:
    """The lines of memories that a text shows though no entry names a memory that has them."""
    plain = re.sub(r"<[^>]+>", "", text).replace("\\n", "\n")
    named = named_in(engine, entries)
    with engine.core.read(None) as reader:
        memories: list[Memory] = list(reader.memories.get(reader.memories.numbers()).values())
    holders: dict[str, set[str]] = {}
    for memory in memories:
        for line in memory.content.split("\n"):
            if len(line) > 20 and line in plain:
                holders.setdefault(line, set()).add(memory.id)
    return [line for line, ids in holders.items() if not ids & named]


def asked(client: TestClient, secret: str, method: str, path: str, given: dict[str, Any]) -> Any:
    body = {"json": given} if method in ("POST", "PATCH") else {"params": given}
    return client.request(method, path, headers={"Authorization": f"Bearer {secret}"}, **body)


@pytest.mark.parametrize("right", ["read", "write"])
def test_every_operation_of_the_table_by_a_token_leaves_an_entry(engine: Engine, right: str) -> None:
    """With nothing given most of them are refused: that a token tried is written down too."""
    engine.remember("Lookups are cached for 60 seconds")
    caller = Caller(Right(right), frozenset(["default"]), owner="tk", record=False)
    for name, operation in OPERATIONS.items():
        before = engine.audit.entries(limit=1)[0]
        try:
            perform(operation, engine, caller, {}, strict=True)
            refused = ""
        except RecallensError as error:
            refused = type(error).__name__
        left = entries_of(engine, "tk", before)
        assert left, name
        assert (left[-1].act.what, left[-1].act.outcome) == (name, refused)
    before = engine.audit.entries(limit=1)[0]
    with pytest.raises(RecallensError):
        perform(OPERATIONS["stats"], engine, caller, {"namespace": "elsewhere"})
    assert [entry.act.outcome for entry in entries_of(engine, "tk", before)] == ["NotFound"]


@pytest.mark.parametrize("right", ["read", "write"])
def test_every_route_names_in_the_log_what_it_gave(scene: Scene, served: TestClient, right: str) -> None:
    engine = scene.engine
    token, secret = engine.tokens.create(["default"], right=right)
    asked(served, secret, "POST", "/v1/sessions", {"id": "s-mine"})
    gave = 0
    for route in ROUTES:
        path, given = examples(scene)[route.method, route.path]
        before = engine.audit.entries(limit=1)[0]
        answer = asked(served, secret, route.method, path, given)
        left = entries_of(engine, token.id, before)
        assert left, (route, answer.text)
        assert left[-1].act.at == engine.core.clock()
        assert {entry.act.what for entry in left} <= {route.name, route.brief}
        assert bool(left[-1].act.outcome) is (answer.status_code >= 400), (route, answer.text)
        gave += len(unnamed(engine, answer.text, []))
        assert not unnamed(engine, answer.text, left), (route, answer.text)
        if route.method == "GET" and route.name != "get_context":
            assert len(left) == 1, route
    assert gave > 15


def test_every_page_names_in_the_log_what_it_showed(scene: Scene, served: TestClient) -> None:
    engine, first = scene.engine, scene.ids[0]
    token, secret = engine.tokens.create(["default"], right="read")
    pages = [
        "/", f"/?q={QUESTION}", f"/xray?q={QUESTION}", f"/xray/download?q={QUESTION}&format=markdown", "/diff",
        f"/snapshots/{scene.snapshots[0]}", f"/snapshots/{scene.snapshots[0]}/download", f"/why-not?q={QUESTION}",
        f"/why-not?q={QUESTION}&memory={first}", f"/sandbox?q={QUESTION}", f"/sandbox/ranking?q={QUESTION}",
        f"/memories/{first}", "/memories/m1", f"/timeline/{first}", "/vault", "/stats", f"/rate?q={QUESTION}",
        "/review", f"/forget?q={QUESTION}",
    ]  # fmt: skip
    walked = {re.sub(r"^/(memories|timeline|snapshots)/[^/?]+", r"/\1/{id}", page).partition("?")[0] for page in pages}
    paths = {route.path for route in served.app.routes if isinstance(route, Route)}  # type: ignore[attr-defined]
    api = {route.path for route in ROUTES}
    assert {path for path in paths if not path.startswith(("/static", "/open/", "/enter"))} <= {
        *walked, *SHOWS_NONE, *api, "/mcp"
    }, "a new address is walked here, or says why it shows no memory"  # fmt: skip
    for page in pages:
        before = engine.audit.entries(limit=1)[0]
        answer = asked(served, secret, "GET", page, {})
        left = entries_of(engine, token.id, before)
        assert len(left) == 1, page
        assert left[0].act.what.startswith("page ")
        assert not unnamed(engine, answer.text, left), page


def test_every_format_names_in_the_log_what_it_gave(scene: Scene) -> None:
    """Texts and pages name a memory by its handle or its id, and so does the log."""
    engine, caller = scene.engine, Caller(Right.WRITE, frozenset(["default"]), owner="tk")
    asks = {"query": QUESTION, "task": "change how lookups are cached", "id": scene.ids[0], "topic": "database upgrade",
            "observation_id": scene.ids[0], "content": "Deploys are frozen on Fridays", "session": "mine"}  # fmt: skip
    perform(OPERATIONS["start_session"], engine, caller, {"id": "mine"})
    engine.search(QUESTION, session="mine", owner="tk")
    walked = set()
    for operation in OPERATIONS.values():
        fields = operation.arguments.__struct_fields__
        if "format" not in fields or operation.needs is not Right.READ:
            continue
        for format in ("text", "markdown", "html"):
            beside = {"task"} if operation.name != "get_context" else set()
            given = {name: asks[name] for name in fields if name in asks.keys() - beside} | {"format": format}
            before = engine.audit.entries(limit=1)[0]
            with suppress(RecallensError):
                answer = perform(operation, engine, caller, given).text
                assert not unnamed(engine, answer, entries_of(engine, "tk", before)), (operation.name, format, answer)
                walked.add(operation.name)
    assert {"search_memory", "get_context", "recall_xray", "get_details", "get_timeline", "get_skill"} <= walked


def test_a_browser_that_signed_in_is_its_token(scene: Scene, served: TestClient) -> None:
    token, secret = scene.engine.tokens.create(["default"], right="read")
    here = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    assert served.post("/sign-in", data={"token": secret, "next": "/"}, headers=here).status_code == 303
    before = scene.engine.audit.entries(limit=1)[0]
    assert served.get(f"/memories/{scene.ids[0]}", headers={"Accept": "text/html"}).status_code == 200
    (entry,) = entries_of(scene.engine, token.id, before)
    assert scene.ids[0] in named_in(scene.engine, [entry])


def test_every_tool_and_resource_names_in_the_log_what_it_gave(scene: Scene, served: TestClient) -> None:
    engine, first = scene.engine, scene.ids[0]
    token, secret = engine.tokens.create(["default"], right="write")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("resources/list", {}), ("resources/read", {"uri": f"recallens://memories/{first}"}),
        ("prompts/get", {"name": "session_start", "arguments": {"task": QUESTION}}),
        *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in (
            ("search_memory", {"query": QUESTION}), ("get_details", {"task_id": first}),
            ("get_timeline", {"observation_id": first}), ("get_skill", {"topic": "database upgrade"}),
            ("remember", {"content": "Deploys are frozen on Fridays by the team"}), ("forget", {"id": first}),
            ("begin_work", {"task": "Roll the API back"}), ("search_memory", {"query": QUESTION, "format": "json"}),
        )),
    ]  # fmt: skip
    for method, params in calls:
        before = engine.audit.entries(limit=1)[0]
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = served.post("/mcp", json=body, headers={**JSON, "Authorization": f"Bearer {secret}"})
        assert answer.status_code == 200
        left = entries_of(engine, token.id, before)
        assert left, (method, params, answer.text)
        assert not unnamed(engine, answer.text, left), (method, params, answer.text)


def test_an_answer_that_is_given_again_is_written_down_again(scene: Scene, served: TestClient) -> None:
    token, secret = scene.engine.tokens.create(["default"], right="write")
    headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": "once"}
    body = {"content": "Deploys are frozen on Fridays"}
    kept = served.post("/v1/memories", json=body, headers=headers).json()["id"]
    before = scene.engine.audit.entries(limit=1)[0]
    assert served.post("/v1/memories", json=body, headers=headers).headers["idempotent-replayed"] == "true"
    (again,) = entries_of(scene.engine, token.id, before)
    assert (again.act.what, named_in(scene.engine, [again])) == ("remember (again)", {kept})


def test_a_call_whose_time_is_up_is_written_down(engine: Engine) -> None:
    engine.remember("Lookups are cached for 60 seconds")
    caller = Caller(Right.READ, frozenset(["default"]), owner="tk")
    with until(0.0), pytest.raises(TooLate):
        perform(OPERATIONS["search"], engine, caller, {"query": QUESTION})
    assert [entry.act.outcome for entry in entries_of(engine, "tk", 0)] == ["TooLate"]


def test_calls_at_once_leave_one_whole_chain(engine: Engine) -> None:
    ids = [engine.remember(f"Fact {at} about the harbour", dedupe=False).id for at in range(8)]
    caller = Caller(Right.READ, frozenset(["default"]), owner="tk")
    commits: list[int] = []
    engine.core.store.after_commit = lambda: commits.append(1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda at: perform(OPERATIONS["get_memory"], engine, caller, {"id": ids[at % 8]}), range(200)))
    assert (engine.audit.verify().entries, engine.audit.verify().problems) == (200, ())
    assert len(commits) <= 200


# ── at the machine's own time ──


def test_no_claimed_time_and_no_past_hides_a_call(scene: Scene, served: TestClient, clock: FixedClock) -> None:
    engine = scene.engine
    token, secret = engine.tokens.create(["default"], right="write")
    for given in ({"now": "1999-01-01"}, {"asOf": "2026-01-01"}, {"now": "2099-01-01"}, {"asOf": "now"}):
        clock.advance(ms=60_000)
        before = engine.audit.entries(limit=1)[0]
        answer = asked(served, secret, "GET", "/v1/search", {"q": QUESTION, **given})
        assert answer.status_code == 200, answer.text
        left = entries_of(engine, token.id, before)
        assert left, given
        assert {entry.act.at for entry in left} == {clock.now}
    clock.advance(ms=60_000)
    asked(served, secret, "GET", "/v1/search", {"q": QUESTION, "now": "1971-01-01"})
    kinds = {(found.kind, found.who) for found in engine.audit.anomalies()}
    assert ("repeat-query", token.id) in kinds
    with engine.core.read(None) as reader:
        memories = reader.memories.get(reader.memories.numbers()).values()
    assert all((memory.reinforced_at or 0) <= clock.now for memory in memories)  # nor does it reach the memories


def test_a_read_token_that_lists_everything_is_named_as_such(engine: Engine) -> None:
    for at in range(159):
        engine.remember(f"Fact number {at} about the harbour", dedupe=False)
    caller = Caller(Right.READ, frozenset(["default"]), owner="tk")
    cursor: dict[str, Any] = {}
    while True:
        page = perform(OPERATIONS["list_memories"], engine, caller, {"limit": 20, **cursor}).record  # type: ignore[union-attr]
        if "next" not in page:
            break
        cursor = {"cursor": page["next"]}
    assert {(found.kind, found.who, found.count) for found in engine.audit.anomalies()} == {
        ("namespace-walk", "tk", 159)
    }


# ── where it cannot be written down ──


def _no_entries(engine: Engine) -> None:
    with engine.core.store.write_all() as tx:
        tx._db.execute("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(FAIL, 'disk full'); END")


def _no_key(engine: Engine) -> None:
    engine.core.log.__dict__.pop("key", None)
    engine.core.log._key_file = Path("/proc/no/such/place/audit.key")


def _no_anchor(engine: Engine) -> None:
    engine.core.log._anchor_file = Path("/proc/no/such/place/anchor")


@pytest.mark.parametrize("broken", [_no_entries, _no_key, _no_anchor])
def test_a_token_gets_nothing_and_changes_nothing_where_no_entry_can_be_written(
    scene: Scene, served: TestClient, broken: Callable[[Engine], None]
) -> None:
    engine = scene.engine
    _, secret = engine.tokens.create(["default"], right="write")
    _, page_secret = engine.tokens.create(["default"], right="read")
    walk = [(route, *examples(scene)[route.method, route.path]) for route in ROUTES]
    before = _everything(engine)
    broken(engine)
    for route, path, given in walk:
        answer = asked(served, secret, route.method, path, given)
        assert answer.status_code >= 400, route
        assert not unnamed(engine, answer.text, []), route
        assert answer.status_code >= 500 or answer.status_code in (403, 404), (route, answer.text)
    for page in ("/", f"/?q={QUESTION}", f"/memories/{scene.ids[0]}", "/stats"):
        answer = asked(served, page_secret, "GET", page, {})
        assert answer.status_code >= 500, page
        assert not unnamed(engine, answer.text, []), page
    assert _everything(engine) == before
    if broken is _no_entries:
        return
    found = engine.search(QUESTION)  # the person at the machine has the answer, and is told
    assert found.results
    assert "not recorded" in (found.notice or "")
    told = engine.context(QUESTION, 2_000)
    assert told.items
    assert not told.recorded


def _everything(engine: Engine) -> dict[str, list[Any]]:
    tables = ("memories", "events", "sessions", "tasks", "artifacts", "relations", "documents", "audit", "snapshots")
    connection = engine.core.store.connection  # type: ignore[attr-defined]
    return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in tables}


def test_a_read_of_a_token_costs_one_write(scene: Scene, served: TestClient) -> None:
    engine = scene.engine
    _, secret = engine.tokens.create(["default"], right="read")
    commits: list[int] = []
    asked(served, secret, "GET", f"/v1/memories/{scene.ids[0]}", {})
    engine.core.store.after_commit = lambda: commits.append(1)
    for path in (f"/v1/memories/{scene.ids[0]}", "/v1/memories", f"/v1/details/{scene.ids[0]}", "/v1/stats"):
        commits.clear()
        assert asked(served, secret, "GET", path, {}).status_code == 200
        assert len(commits) == 1, path


# ── no owner means local only (S13) ──


def test_what_the_person_asked_is_no_tokens_to_see(scene: Scene, served: TestClient) -> None:
    engine = scene.engine
    private = engine.search("the salary of the captain and how lookups are cached")
    snapshot = engine.recalls.snapshot_of(private).snapshotId
    for right in ("read", "write"):
        _, secret = engine.tokens.create(["default"], right=right)
        paths = (
            "/", "/diff", f"/snapshots/{snapshot}", f"/snapshots/{snapshot}/download", f"/v1/snapshots/{snapshot}",
            f"/v1/snapshots/{snapshot}/replay", f"/v1/diff?before={snapshot}&after={snapshot}",
            f"/diff?before={snapshot}&after={snapshot}", "/v1/recall/explain",
        )  # fmt: skip
        for path in paths:
            answer = served.get(path, headers={"Authorization": f"Bearer {secret}"})
            assert "salary" not in answer.text, (right, path)
        found = asked(served, secret, "GET", "/v1/search", {"q": QUESTION})
        assert found.status_code == 200


# ── whoever changes the log ──


def watched_store(opened: Open, tmp_path: Path) -> tuple[Engine, Path]:
    """A store with ten calls of a token and an anchor elsewhere."""
    anchor = tmp_path / "elsewhere" / "anchor"
    anchor.parent.mkdir()
    engine = opened(audit_anchor=str(anchor))
    ids = [engine.remember(f"Fact {at} about the harbour", dedupe=False).id for at in range(5)]
    caller = Caller(Right.READ, frozenset(["default"]), owner="tk")
    for at in range(10):
        perform(OPERATIONS["get_memory"], engine, caller, {"id": ids[at % 5]})
    return engine, anchor


def _rows(db: apsw.Connection) -> list[Any]:
    return db.execute("SELECT * FROM audit ORDER BY number").fetchall()


def _cut(db: apsw.Connection) -> None:
    """The last three, with the head set back to what it was."""
    db.execute("DELETE FROM audit WHERE number > 7")
    db.execute("UPDATE audit_heads SET (number, digest) = (SELECT number, digest FROM audit WHERE number = 7)")


def _rebuilt(db: apsw.Connection, skip: int = 4) -> None:
    """All of it anew without one entry, by the product's own code and a key of the attacker's, named as the real."""
    forger, rows = Key(b"f" * 32), _rows(db)
    ((chain,),) = db.execute("SELECT chain FROM audit_heads").fetchall()
    head = ChainHead(str(chain))
    db.execute("DELETE FROM audit")
    for _, number, at, who, what, outcome, session, question, marks, total, key, _, _ in rows:
        if number == skip:
            continue
        act = Act("default", what, at, who, session, question.hex(), outcome)
        entry = chained(
            forger, head, act, [marks[start : start + 12].hex() for start in range(0, len(marks), 12)], total
        )
        entry = replace(entry, key=key)
        head = ChainHead(head.chain, entry.number, entry.digest)
        db.execute(
            f"INSERT INTO audit VALUES ({', '.join('?' * 13)})",
            ("default", entry.number, at, who, what, outcome, session, question, marks, total, key,
             bytes.fromhex(entry.previous), bytes.fromhex(entry.digest)),
        )  # fmt: skip
    db.execute("UPDATE audit_heads SET number = ?, digest = ?", (head.number, bytes.fromhex(head.digest)))


def _replayed(db: apsw.Connection) -> None:
    """Genuine entries, in another order under the numbers of the first."""
    rows = {row[1]: row for row in _rows(db)}
    for number, other in ((2, 3), (3, 2)):
        db.execute("DELETE FROM audit WHERE number = ?", (number,))
        moved = list(rows[other])
        moved[1] = number
        db.execute(f"INSERT OR REPLACE INTO audit VALUES ({', '.join('?' * 13)})", moved)


def _exchanged(db: apsw.Connection) -> None:
    """What stands for two memories, which no entry shows."""
    other = "(SELECT salt, mark FROM audit_marks o WHERE o.num = 3 - audit_marks.num)"
    db.execute(f"UPDATE audit_marks SET (salt, mark) = {other} WHERE num IN (1, 2)")


ATTACKS: dict[str, tuple[Callable[[apsw.Connection], Any], bool]] = {
    # what is done, and whether it is found without an anchor too
    "another token": (lambda db: db.execute("UPDATE audit SET who = 'someone' WHERE number = 3"), True),
    "no token": (lambda db: db.execute("UPDATE audit SET who = NULL WHERE number = 3"), True),
    "another time": (lambda db: db.execute("UPDATE audit SET at = at - 86400000 WHERE number = 3"), True),
    "no memories": (lambda db: db.execute("UPDATE audit SET marks = x'', total = 0 WHERE number = 3"), True),
    "other memories": (_exchanged, True),
    "every link deleted": (lambda db: db.execute("DELETE FROM audit_marks"), True),
    "one link deleted": (lambda db: db.execute("DELETE FROM audit_marks WHERE num = 2"), True),
    "a memory deleted by hand": (
        lambda db: db.execute("PRAGMA foreign_keys = ON; DELETE FROM memories WHERE num = 2"),
        True,
    ),
    "one deleted": (lambda db: db.execute("DELETE FROM audit WHERE number = 4"), True),
    "the first deleted": (lambda db: db.execute("DELETE FROM audit WHERE number < 4"), True),
    "reordered": (_replayed, True),
    "the end deleted": (lambda db: db.execute("DELETE FROM audit WHERE number > 7"), True),
    "all deleted": (lambda db: db.execute("DELETE FROM audit"), True),
    "rebuilt": (_rebuilt, True),
    "cut, with the head": (_cut, False),
    "all deleted, with the head": (lambda db: db.execute("DELETE FROM audit; DELETE FROM audit_heads"), False),
    "all deleted, of a store with another id": (
        lambda db: db.execute(
            "DELETE FROM audit; DELETE FROM audit_heads; DELETE FROM audit_marks;"
            "UPDATE meta SET value = 'another' WHERE key = 'store-id'"
        ),
        False,
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_whatever_is_done_to_the_log_is_found(opened: Open, tmp_path: Path, attack: str) -> None:
    engine, anchor = watched_store(opened, tmp_path)
    assert engine.audit.verify() == engine.audit.verify(anchor=str(anchor))
    assert (engine.audit.verify().entries, engine.audit.verify().problems, engine.audit.verify().notes) == (10, (), ())
    change, alone = ATTACKS[attack]
    db = apsw.Connection(str(tmp_path / "store.db"))
    change(db)
    db.close()
    reopened = opened("store.db")  # whose id is read anew
    assert reopened.audit.verify(anchor=str(anchor)).problems, attack
    bare = opened("store.db")  # by one who knows of no anchor
    assert bool(bare.audit.verify().problems) is alone
    if not alone:
        assert "no anchor knows this log" in bare.audit.verify().notes[0]


def test_a_cut_that_the_key_signed_is_compared_with_the_anchor(opened: Open, tmp_path: Path) -> None:
    engine, anchor = watched_store(opened, tmp_path)
    head, invented = engine.audit.anchor(str(anchor)).head, "ab" * 32
    cut = chained(
        engine.core.log.key, replace(head, digest=invented),
        Act("default", CUT, head.number, outcome=cut_of(head.number, invented)), (),
    )  # fmt: skip
    anchors = [Anchor(engine.core.store.id, "default", head, 0)]
    ended = ChainHead(head.chain, cut.number, cut.digest)
    assert verify_chain([cut], ended, {cut.key: engine.core.log.key}) == []
    (problem,), _ = against_anchors(anchors, engine.core.store.id, [cut], ended)
    assert f"entry {head.number} is not the one that was anchored" in problem


def test_what_a_text_mentions_is_not_given_and_what_has_no_handle_is(scene: Scene) -> None:
    engine, reader = scene.engine, Caller(Right.READ, frozenset(["default"]), owner="reader")
    mentions = engine.remember("The garden gate is painted by m1, m2 and m3 in turns", dedupe=False)
    before = engine.audit.entries(limit=1)[0]
    answer = perform(OPERATIONS["retrieve"], engine, reader, {"query": "who paints the garden gate", "format": "text"})
    assert "garden gate" in answer.text
    assert mentions.id in (named := named_in(engine, entries_of(engine, "reader", before)))
    with engine.core.read(None) as known:
        others = set(known.memories.ids([1, 2, 3]).values())
    assert not (others & named) or any(id in answer.text for id in others)


def test_what_is_refused_with_a_key_is_written_down(scene: Scene, served: TestClient) -> None:
    token, secret = scene.engine.tokens.create(["default"], right="read")
    before = scene.engine.audit.entries(limit=1)[0]
    for key in ("k-1", "bad key"):
        headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": key}
        assert served.post("/v1/memories", json={"content": "Mine"}, headers=headers).status_code in (400, 403)
    assert len(entries_of(scene.engine, token.id, before)) == 2


def test_an_older_copy_of_the_store_is_found(opened: Open, tmp_path: Path) -> None:
    engine, anchor = watched_store(opened, tmp_path)
    engine.maintenance.backup(str(tmp_path / "older.db"))
    caller = Caller(Right.READ, frozenset(["default"]), owner="tk")
    perform(OPERATIONS["list_memories"], engine, caller, {})
    older = opened("older.db")
    assert older.audit.verify().problems == ()
    (found,) = older.audit.verify(anchor=str(anchor)).problems
    assert "entry 11 was anchored, but the chain ends at 10" in found
    perform(OPERATIONS["stats"], older, caller, {})  # and where it goes on from there
    (found,) = older.audit.verify(anchor=str(anchor)).problems
    assert "made anew" in found


def test_another_key_neither_signs_nor_passes(opened: Open, tmp_path: Path) -> None:
    engine, _ = watched_store(opened, tmp_path)
    key = engine.core.log._key_file
    assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert tmp_path not in key.parents
    stranger = opened("store.db", audit_key=str(tmp_path / "own.key"))
    stranger.search("harbour")
    assert [p for p in stranger.audit.verify().problems if "which is not here" in p]
    assert [p for p in engine.audit.verify().problems if "which is not here" in p]
    assert engine.audit.verify(key=str(tmp_path / "own.key")).problems == ()


def test_the_log_holds_no_text_and_forgets_which_memory_it_was(opened: Open, tmp_path: Path) -> None:
    engine, _ = watched_store(opened, tmp_path)
    with engine.core.read(None) as reader:
        memory = next(iter(reader.memories.get([1]).values()))
    held = repr(_rows(apsw.Connection(str(tmp_path / "store.db"))))
    for told in ("harbour", memory.id, memory.content_hash):
        assert told not in held
    assert memory.id in engine.audit.memories().values()
    engine.forget(memory.id, hard=True)
    assert memory.id not in engine.audit.memories().values()
    verdict = engine.audit.verify()
    assert (verdict.entries, verdict.problems) == (11, ())
    assert verdict.notes == ("1 of the memories that it names are deleted for good",)


@pytest.mark.parametrize("way", ["forgotten", "pruned", "document", "note", "namespace"])
def test_what_is_erased_in_any_way_leaves_a_log_that_is_whole(
    opened: Open, tmp_path: Path, clock: FixedClock, way: str
) -> None:
    """However a memory goes for good, an entry tells so; only what goes past the product does not."""
    engine, anchor = watched_store(opened, tmp_path)
    caller = Caller(Right.READ, frozenset(["default"]), owner="tk")
    added = engine.memories.add_document("Tides are told by the harbour office.", path="tides.md")
    note = tmp_path / "notes" / "quay.md"
    note.parent.mkdir()
    note.write_text("The quay closes at ten.\n")
    engine.vaults.add(note.parent, name="notes")
    engine.vaults.sync("notes")
    with engine.core.read(None) as reader:
        ids = list(reader.memories.ids(reader.memories.numbers()).values())
    for id in ids:
        perform(OPERATIONS["get_memory"], engine, caller, {"id": id})
    match way:
        case "forgotten":
            engine.forget(ids[0], hard=True)
        case "pruned":
            engine.forget(ids[0])
            clock.advance(days=1)
            engine.maintenance.prune(older_than_days=0, dry_run=False)
        case "document":
            engine.memories.add_document("Tides are told by the captain.", path="tides.md")
            assert added.memories[0] not in engine.audit.memories().values()
        case "note":
            note.unlink()
            engine.vaults.sync("notes")
        case _:
            engine.maintenance.remove_namespace("default")
    verdict = engine.audit.verify(anchor=str(anchor))
    assert verdict.problems == ()
    gone = len(ids) if way == "namespace" else 1
    assert verdict.notes == (f"{gone} of the memories that it names are deleted for good",)
    assert engine.audit.anomalies() == []


@pytest.mark.parametrize("share", [0, 1, 2])
def test_an_anchor_that_was_emptied_or_cut_is_told_of(opened: Open, tmp_path: Path, share: int) -> None:
    engine, anchor = watched_store(opened, tmp_path)
    told = anchor.read_bytes()
    anchor.write_bytes(told[: len(told) * share // 3])
    (problem, *_) = engine.audit.verify(anchor=str(anchor)).problems
    assert ("says nothing of this log" if share == 0 else "is not whole: it was cut") in problem
    assert engine.audit.verify().problems, "the setting names the same file"
    anchor.write_bytes(told.replace(b"default", b"another"))
    (problem,) = engine.audit.verify(anchor=str(anchor)).problems
    assert "says nothing of this log" in problem
    anchor.write_bytes(told)
    assert engine.audit.verify(anchor=str(anchor)).problems == ()


# ── retention ──


def test_trails_end_and_what_they_prove_stays_whole(opened: Open, tmp_path: Path, clock: FixedClock) -> None:
    engine, anchor = watched_store(opened, tmp_path)
    for _ in range(6):
        clock.advance(days=40)
        engine.search("facts about the harbour", session="s")
    clock.advance(days=410)
    engine.search("facts about the harbour", session="late")
    clock.advance(days=1)
    past = {"as_of": clock.now - 2 * 86_400_000}
    ranked = [(hit.memory.id, hit.score) for hit in engine.search("harbour", **past).results]
    due = engine.maintenance.prune_trails()
    assert due["audit"] > 10
    assert due["recalls"] > 0
    assert due["sessionLinks"] > 0
    assert engine.maintenance.prune_trails() == due  # looking changes nothing
    assert engine.maintenance.prune_trails(dry_run=False) == due
    assert not any(engine.maintenance.prune_trails().values())
    assert [(hit.memory.id, hit.score) for hit in engine.search("harbour", **past).results] == ranked
    verdict = engine.audit.verify()
    assert (verdict.problems, verdict.notes) == ((), ())
    assert verdict.entries < 10
    db = apsw.Connection(str(tmp_path / "store.db"))
    db.execute("DELETE FROM audit WHERE number = (SELECT min(number) FROM audit)")
    db.close()
    assert any("no entry says that they were pruned" in problem for problem in engine.audit.verify().problems)
    assert engine.audit.verify(anchor=str(anchor)).problems


def test_recorded_searches_do_not_grow_for_ever(opened: Open, clock: FixedClock) -> None:
    """One a day in a session of its own, for a year: what is kept is bounded by the days, not by the searches."""
    engine = opened(ledger_days=30)
    engine.remember("Lookups are cached for 60 seconds")
    for day in range(120):
        clock.advance(days=1)
        engine.search("how long are lookups cached", session=f"s-{day}")
    assert len(engine.recalls.recent(limit=1_000)) <= 31


def test_the_command_prunes_and_verifies(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from recallens.cli.main import main

    def run(*arguments: str) -> str:
        env = {"RECALLENS_ENCODER": "hashing", "RECALLENS_STORE": str(tmp_path / "store.db")}
        done = CliRunner().invoke(main, arguments, env=env)
        assert done.exit_code == 0, done.output
        return done.stdout

    run("remember", "Lookups are cached for 60 seconds")
    run("search", "lookups")
    anchor = str(tmp_path / "anchor")
    assert run("audit", "anchor", anchor) == "anchored entry 1 of namespace default\n"
    assert run("audit", "verify", "--anchor", anchor) == "whole: 1 entry of namespace default\n"
    assert run("prune") == "nothing is due\n"
    shutil.copy(tmp_path / "store.db", tmp_path / "older.db")
    assert json.loads(run("prune", "--json"))["trails"] == {"ledgers": 0, "recalls": 0, "sessionLinks": 0, "audit": 0}


def test_a_failure_of_the_log_is_a_typed_error(engine: Engine) -> None:
    engine.remember("Lookups are cached for 60 seconds")
    _no_key(engine)
    with pytest.raises(StoreError, match="the key of the audit log"):
        perform(OPERATIONS["list_memories"], engine, Caller(Right.READ, frozenset(["default"]), owner="tk"), {})


REFUSED: dict[str, tuple[int, dict[str, Any]]] = {
    "a body that is too large": (413, {"method": "POST", "url": "/v1/search", "content": b" " * 3_000_000}),
    "a query that is too long": (414, {"method": "GET", "url": "/v1/search", "params": {"q": "x" * 2_000}}),
    "a head that is too large": (431, {"method": "GET", "url": "/v1/stats", "headers": {"X-More": "x" * 40_000}}),
    "another host": (421, {"method": "GET", "url": "/v1/stats", "headers": {"Host": "evil.example"}}),
    "another origin": (403, {"method": "GET", "url": "/v1/stats", "headers": {"Origin": "https://evil.example"}}),
    "another method": (405, {"method": "DELETE", "url": "/mcp"}),
    "no JSON to MCP": (400, {"method": "POST", "url": "/mcp", "content": b"{", "headers": JSON}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_at_the_door_is_written_down_where_a_token_is_shown(engine: Engine, case: str) -> None:
    engine.remember("Lookups are cached for 60 seconds")
    token, secret = engine.tokens.create(["default"], right="read")
    status, request = REFUSED[case]
    headers = {"Content-Type": "application/json", **request.get("headers", {})}
    with TestClient(whole(engine, allow_hosts=("testserver",), limits=Limits(query_bytes=1_000))) as client:
        for shown in ({}, {"Authorization": "Bearer rcl_nobody"}, {"Cookie": "recallens_session=nobody"}):
            assert client.request(**{**request, "headers": {**headers, **shown}}).status_code in (status, 401)
        assert engine.audit.entries(limit=9)[0] == 0  # a stranger fills no log
        answer = client.request(**{**request, "headers": {**headers, "Authorization": f"Bearer {secret}"}})
    assert answer.status_code == status, answer.text
    (entry,) = entries_of(engine, token.id, 0)
    assert str(status) in entry.act.what or entry.act.what == "no route"
    assert entry.act.outcome


def test_a_token_that_has_been_answered_too_much_is_written_down(engine: Engine) -> None:
    engine.remember("Lookups are cached for 60 seconds")
    token, secret = engine.tokens.create(["default"], right="read")
    with TestClient(whole(engine, allow_hosts=("testserver",), limits=Limits(bytes_a_minute=10))) as client:
        answers = [asked(client, secret, "GET", "/v1/stats", {}).status_code for _ in range(2)]
    assert answers == [200, 429]
    assert [entry.act.what for entry in entries_of(engine, token.id, 0)] == ["stats", "no operation (429)"]


@pytest.mark.parametrize("asks", [
    ("tools/call", {"name": "no_such_tool", "arguments": {}}), ("tools/call", {"name": "remember", "arguments": {}}),
    ("resources/read", {"uri": "recallens://nothing/1"}), ("prompts/get", {"name": "no_such_prompt"}),
    ("prompts/get", {"name": "session_start", "arguments": {"tokens": "many"}}),
])  # fmt: skip
def test_what_comes_to_no_tool_resource_or_prompt_is_written_down(
    engine: Engine, served: TestClient, asks: tuple[str, dict[str, Any]]
) -> None:
    engine.remember("Lookups are cached for 60 seconds")
    token, secret = engine.tokens.create(["default"], right="write")
    body = {"jsonrpc": "2.0", "id": 1, "method": asks[0], "params": asks[1]}
    served.post("/mcp", json=body, headers={**JSON, "Authorization": f"Bearer {secret}"})
    (entry,) = entries_of(engine, token.id, 0)
    assert entry.act.outcome


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file grows past so many bytes, as on a disk that becomes full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_anchor_that_becomes_full_fails_the_next_call_and_none_that_was_done(opened: Open, tmp_path: Path) -> None:
    anchor = tmp_path / "elsewhere.anchor"
    engine = opened(audit_anchor=str(anchor))
    caller = Caller(Right.WRITE, frozenset(["default"]), owner="tk")
    perform(OPERATIONS["remember"], engine, caller, {"content": "Lookups are cached for 60 seconds"})
    told, tell = anchor.read_bytes(), engine.core.store.after_commit

    def tell_a_full_disk() -> None:
        with room_for(len(told) + 10):
            tell()

    engine.core.store.after_commit = tell_a_full_disk
    kept = perform(OPERATIONS["remember"], engine, caller, {"content": "Deploys are frozen on Fridays"}).record  # type: ignore[union-attr]
    assert engine.get(kept["id"]).content == "Deploys are frozen on Fridays"  # it was done, and so it is told
    assert anchor.read_bytes() == told  # no half of a line
    with room_for(len(told)), pytest.raises(AuditFailed):
        engine.core.log._tell_anchor(engine.core.log._owed)
    verdict = engine.audit.verify()
    assert (verdict.problems, [note for note in verdict.notes if "anchored up to" in note] != []) == ((), True)
    engine.core.store.after_commit = tell
    perform(OPERATIONS["stats"], engine, caller, {})
    assert (engine.audit.verify().problems, engine.audit.verify().notes) == ((), ())
