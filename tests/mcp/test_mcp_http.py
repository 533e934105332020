"""Streamable HTTP on this machine: who may reach it, and how wrong requests are answered."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from mcp_scene import RECOLLECT, environment, serving

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPTS = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def url(filled: Path) -> Iterator[str]:
    with serving(filled) as address:
        yield address


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
    ended = subprocess.run(
        [*RECOLLECT, "mcp", "--http", "--port", port],
        env=environment(tmp_path / "s.db"),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2
    assert f"cannot listen at 127.0.0.1 port {port}: Address already in use" in ended.stderr
