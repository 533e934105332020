"""Streamable HTTP: who may reach it, what a token grants, and how wrong requests are answered."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from click.testing import CliRunner
from mcp_scene import environment, over_stdio, serving

from recallens import Engine
from recallens.cli.main import main
from recallens.mcp.http import endpoint
from recallens.server import build, listening

pytestmark = pytest.mark.slow

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPTS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def served(filled: Path) -> Iterator[tuple[str, dict[str, str]]]:
    with serving(filled) as (address, header):
        yield address, header


@pytest.fixture
def url(served: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> str:
    """Asked with the key of its run, as it was printed."""
    monkeypatch.setitem(ACCEPTS, *next(iter(served[1].items())))
    return served[0]


def test_a_ping_is_answered_as_json(url: str) -> None:
    answer = httpx.post(url, json=PING, headers=ACCEPTS)
    assert (answer.status_code, answer.json()["result"]) == (200, {})
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_a_page_of_another_site_cannot_reach_it(url: str, headers: dict[str, str], status: int) -> None:
    assert httpx.post(url, json=PING, headers={**ACCEPTS, **headers}).status_code == status


def test_wrong_requests_are_answered_and_the_server_stays(url: str) -> None:
    assert httpx.post(url, content=b"{", headers={**ACCEPTS, "Content-Type": "application/json"}).status_code == 400
    assert httpx.post(url, json={**PING, "params": {"x": "y" * 5_000_000}}, headers=ACCEPTS).status_code == 413
    assert httpx.get(url.replace("/mcp", "/"), headers=ACCEPTS).status_code == 404
    assert httpx.post(url, json=PING, headers=ACCEPTS).status_code == 200


def test_a_port_that_is_taken_is_named(url: str, tmp_path: Path) -> None:
    port = url.split(":")[2].split("/")[0]
    ended = CliRunner().invoke(main, ["mcp", "--http", "--port", port], env=environment(tmp_path / "s.db"))
    assert ended.exit_code == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in ended.stderr


def test_it_is_not_opened_to_others_without_a_token(tmp_path: Path) -> None:
    ended = CliRunner().invoke(main, ["mcp", "--http", "--host", "0.0.0.0"], env=environment(tmp_path / "s.db"))
    assert ended.exit_code == 6
    assert "without a token the server answers this machine alone" in ended.stderr


# ── tokens ──


@dataclass(frozen=True)
class Team:
    store: Path
    secret: str
    reader: str
    writer: str
    both: str


@pytest.fixture
def team(tmp_path: Path) -> Team:
    store = tmp_path / "team.db"
    with Engine.open(store, encoder="hashing:64") as engine:
        engine.remember("The vault rent is 4711.", namespace="private")
        engine.remember("The team meets on Monday.", namespace="team")
        secret = engine.search("vault rent", namespace="private", record=False).results[0].memory.id
        tokens = [
            engine.tokens.create(names, right=right)[1]
            for names, right in ((["team"], "read"), (["team"], "write"), (["team", "private"], "read"))
        ]
    return Team(store, secret, *tokens)


def call(url: str, token: str | None, method: str, **params: Any) -> httpx.Response:
    headers = {**ACCEPTS, **({"Authorization": f"Bearer {token}"} if token else {})}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx.post(url, json=body, headers=headers, timeout=30)


def tool(url: str, token: str, name: str, **arguments: Any) -> tuple[bool, str]:
    result = call(url, token, "tools/call", name=name, arguments=arguments).json()["result"]
    text = result["content"][0]["text"] if result["content"] else json.dumps(result["structuredContent"])
    return result.get("isError", False), text


def check_the_grants(url: str, team: Team) -> None:
    for token in (None, "rcl_nobody"):
        refused = call(url, token, "tools/list")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="recallens"')
    assert "Monday" in tool(url, team.reader, "search_memory", query="when does the team meet")[1]
    assert tool(url, team.reader, "remember", content="x") == (
        True, "this token may read and not write. `recallens token create --right write` makes one that may.",
    )  # fmt: skip
    assert tool(url, team.writer, "remember", content="The team meets in room 4.")[0] is False
    # Another's namespace and another's memory are as those that do not exist.
    for name in ("private", "nowhere"):
        failed, said = tool(url, team.reader, "search_memory", query="vault rent", namespace=name)
        assert (failed, said) == (True, f"no namespace '{name}'")
    for id in (team.secret, "01M00000000000000000000000"):
        failed, said = tool(url, team.reader, "get_timeline", observation_id=id)
        assert (failed, said.replace(id, "ID")) == (
            True,
            "no memory 'ID' in this namespace. `recallens list` shows handles.",
        )
        gone = call(url, team.reader, "resources/read", uri=f"recallens://memories/{id}").json()
        assert "no memory" in gone["error"]["message"]
    # Several namespaces: one has to be named, also in the address of a resource.
    assert (
        "several namespaces are granted; name one of: private, team" in tool(url, team.both, "get_skill", topic="x")[1]
    )
    listed = call(url, team.both, "resources/list").json()["result"]["resources"]
    assert {one["uri"].partition("?")[2] for one in listed} == {"namespace=private", "namespace=team"}
    held = call(url, team.both, "resources/read", uri=f"recallens://memories/{team.secret}?namespace=private").json()
    assert "4711" in held["result"]["contents"][0]["text"]


def test_a_token_grants_what_it_grants_and_no_more(team: Team) -> None:
    with serving(team.store) as (url, _):
        check_the_grants(url, team)


def test_the_same_endpoint_beside_the_rest_of_the_server(team: Team) -> None:
    with Engine.open(team.store, encoder="hashing:64") as engine:
        made = endpoint(engine)
        app = build(engine, routes=[made.route], lifespans=[made.running])
        with listening("127.0.0.1", 0) as listener:
            server = uvicorn.Server(uvicorn.Config(app, log_config=None))
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                address = f"http://127.0.0.1:{listener.getsockname()[1]}"
                while not server.started:
                    time.sleep(0.01)
                check_the_grants(address + "/mcp", team)
                assert httpx.get(address + "/healthz").status_code == 200
            finally:
                server.should_exit = True
                thread.join(30)


def test_over_stdio_a_token_limits_the_process_until_it_is_revoked(team: Team) -> None:
    with over_stdio(team.store, env={"RECALLENS_TOKEN": team.reader}) as desk:
        assert desk.ask("search_memory", query="Monday")["results"]
        assert "may read and not write" in desk.refused("remember", content="x")
        assert "no namespace 'private'" in desk.refused("search_memory", query="x", namespace="private")
        with Engine.open(team.store, encoder="hashing:64") as engine:
            known = engine.tokens.find(team.reader)
            assert known is not None
            engine.tokens.revoke(known.id)
        assert "this token is not known, or holds no longer" in desk.refused("search_memory", query="Monday")
