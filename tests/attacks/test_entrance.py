"""Who comes in: a real server, raw requests, and everybody who reaches its port without being let in."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recallens.engine import Engine
from recallens.http.entrance import IDLE_SECONDS, LONGEST_SECONDS, Entrance, of_another_user
from recallens.http.guard import COOKIE
from recallens.server import running, whole

pytestmark = pytest.mark.usefixtures("in_background")
PAGE = {"Accept": "text/html"}
OTHER_USER = 65_534


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "s.db"
    with Engine.open(path, encoder="hashing:64") as engine:
        engine.remember("The vault rent is 4711.")
    return path


@pytest.fixture
def served(store: Path) -> Iterator[dict[str, str]]:
    """As the command says it: address and link."""
    command = [sys.executable, "-m", "recallens", "serve", "--port", "0", "--json", "--store", str(store)]
    environment = {**os.environ, "RECALLENS_ENCODER": "hashing:64"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()
            process.wait(20)


def browser(address: str, **options: Any) -> httpx.Client:
    return httpx.Client(base_url=address, headers={"Origin": address}, timeout=30, **options)


def test_whoever_reaches_the_port_is_nobody_until_the_link_is_opened_once(served: dict[str, str]) -> None:
    address, link = served["address"], served["link"]
    with browser(address) as stranger, browser(address) as person:
        for path in ("/v1/search?q=vault", "/v1/memories", "/metrics", "/readyz", "/openapi.json", "/mcp", "/?q=vault"):
            assert stranger.get(path).status_code == 401, path
        assert stranger.post("/v1/vaults", json={"path": "/etc", "name": "etc"}).status_code == 401
        assert "4711" not in stranger.get("/?q=vault", headers=PAGE, follow_redirects=True).text
        # What looks the link up before the person does leaves it as it is.
        stranger.head(link)
        stranger.get(link, headers={"Sec-Purpose": "prefetch"})
        assert not stranger.cookies
        assert person.get(link).headers["refresh"] == "0; url=/"
        assert "4711" in person.get("/?q=vault", headers=PAGE).text
        assert stranger.get(link).status_code == 401
        assert not stranger.cookies
        # The cookie says nothing of a token or the link, and holds for the name under which it was opened.
        (kept,) = person.cookies.jar
        assert (kept.name, kept.value in link, kept.domain_specified) == (COOKIE, False, False)
        assert {"HttpOnly", "SameSite"} <= set(kept._rest)  # type: ignore[attr-defined]
        stolen = {"Cookie": f"{COOKIE}={kept.value}"}
        elsewhere = f"localhost:{address.rpartition(':')[2]}"
        assert stranger.get("/v1/stats", headers={**stolen, "Host": elsewhere, "Origin": ""}).status_code in (401, 403)
        assert httpx.get(f"{address}/v1/stats", headers={**stolen, "Host": elsewhere}).status_code == 401
        assert httpx.get(f"{address}/v1/stats", headers=stolen).status_code == 200
        # Signing out ends it for whoever kept the cookie.
        assert "Sign out" in person.get("/", headers=PAGE).text
        assert person.post("/sign-out").headers["location"] == "/sign-in"
        assert httpx.get(f"{address}/v1/stats", headers=stolen).status_code == 401


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/proc/net/tcp").exists(), reason="becoming another user needs root")
def test_another_user_of_the_machine_stays_out_even_with_the_cookie(served: dict[str, str]) -> None:
    """A cookie goes to every port of a host, so that another user's server can come to have it."""
    with browser(served["address"]) as person:
        person.get(served["link"])
        cookie = person.cookies[COOKIE]
    asking = (
        "import os, sys, http.client as http; 'x'.encode('idna'); os.setuid(int(sys.argv[3]));"
        "wire = http.HTTPConnection(sys.argv[1].removeprefix('http://'));"
        "wire.request('GET', '/v1/stats', headers={'Cookie': sys.argv[2]}); print(wire.getresponse().status)"
    )
    for uid, status in ((OTHER_USER, "401"), (0, "200")):
        command = [sys.executable, "-c", asking, served["address"], f"{COOKIE}={cookie}", str(uid)]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == status


def test_the_owner_of_a_connection_is_told_by_the_system() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        assert not of_another_user(client.getsockname(), listener.getsockname())
        assert not of_another_user(None, None)
        place, port = client.getsockname()
        # Another end with the same port, and what is left of a connection, are not this one.
        assert of_another_user(("127.0.0.9", port), listener.getsockname())
    assert of_another_user((place, port), ("127.0.0.1", 9))


def test_a_name_of_its_own_needs_a_token(store: Path) -> None:
    command = [sys.executable, "-m", "recallens", "serve", "--port", "0", "--store", str(store)]
    environment = {**os.environ, "RECALLENS_ENCODER": "hashing:64"}
    refused = subprocess.run(
        [*command, "--allow-host", "memory.example"], capture_output=True, text=True, env=environment, timeout=60,
        check=False,
    )  # fmt: skip
    assert (refused.returncode, "memory.example" in refused.stderr) == (6, True)


def test_a_token_in_a_browser_is_a_session_that_ends_with_it(store: Path) -> None:
    with Engine.open(store, encoder="hashing:64") as engine, running(whole(engine)) as address:
        made, text = engine.tokens.create(["default"], right="read")
        for way, sent in (("/session", {"json": {"token": text}}), ("/sign-in", {"data": {"token": text}})):
            with browser(address) as visitor:
                visitor.post(way, **sent)
                cookie = visitor.cookies[COOKIE]
                assert text not in cookie
                assert visitor.get("/v1/stats").status_code == 200
                # As a token it is nothing, and a token is no cookie.
                assert httpx.get(f"{address}/v1/stats", headers={"Authorization": f"Bearer {cookie}"}).is_client_error
                assert httpx.get(f"{address}/v1/stats", headers={"Cookie": f"{COOKIE}={text}"}).status_code == 401
                visitor.delete("/session")
                assert httpx.get(f"{address}/v1/stats", headers={"Cookie": f"{COOKIE}={cookie}"}).status_code == 401
        with browser(address) as visitor:
            visitor.post("/session", json={"token": text})
            engine.tokens.revoke(made.id)
            assert visitor.get("/v1/stats").status_code == 401


def test_sessions_end_by_themselves() -> None:
    now = [0.0]
    sessions = Entrance(lambda: now[0])
    idle = sessions.begin(None, "here")
    now[0] += IDLE_SECONDS + 1
    assert sessions.find(idle, "here") is None
    used = sessions.begin(None, "here")
    for _ in range(int(LONGEST_SECONDS / IDLE_SECONDS)):
        assert sessions.find(used, "here") is not None
        now[0] += IDLE_SECONDS
    assert sessions.find(used, "here") is not None
    now[0] += 1
    assert sessions.find(used, "here") is None
