"""Hosts, origins, tokens and cookies at the door."""

from __future__ import annotations

from typing import Any

import pytest

from http_scene import ADDRESS, Scene
from recallens.errors import NotAllowed
from recallens.http.guard import COOKIE, is_loopback
from recallens.server import refuse_open_doors

SEARCH = "/v1/search?q=cache"


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("localhost:8765", 200), ("[::1]:8765", 200), ("LOCALHOST", 200), ("memory.example", 200),
     ("evil.example", 421), ("127.0.0.1.evil.example", 421), ("", 421), ("[", 421), ("127.0.0.1:port", 421)],
)  # fmt: skip
def test_only_hosts_that_are_ours_are_answered(scene: Scene, host: str, status: int) -> None:
    with scene.client(allow_hosts=["memory.example"]) as client:
        assert client.get(SEARCH, headers={"Host": host}).status_code == status
        assert client.get("/healthz", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [(None, 200), (ADDRESS, 200), ("http://evil.example", 403), ("null", 403), ("http://127.0.0.1:9999", 403),
     ("http://localhost:8765", 403), ("file://", 403), ("http://[", 403)],
)  # fmt: skip
def test_a_page_from_elsewhere_is_refused(scene: Scene, origin: str | None, status: int) -> None:
    headers = {} if origin is None else {"Origin": origin}
    with scene.client() as client:
        for answer in (client.get(SEARCH, headers=headers), client.post("/v1/search", json={"query": "x"},
                                                                        headers=headers)):  # fmt: skip
            assert answer.status_code == status
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("site", "mode", "path", "status"),
    [("same-origin", "cors", SEARCH, 200), ("none", "navigate", SEARCH, 200), ("cross-site", "no-cors", SEARCH, 403),
     ("cross-site", "navigate", SEARCH, 403), ("same-site", "no-cors", SEARCH, 403),
     ("cross-site", "navigate", "/", 404), ("cross-site", "no-cors", "/", 403)],
)  # fmt: skip
def test_a_page_elsewhere_cannot_ask_by_an_image_or_a_link(
    scene: Scene, site: str, mode: str, path: str, status: int
) -> None:
    with scene.client() as client:
        answer = client.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
    assert answer.status_code == status


def test_a_default_port_may_be_left_out(scene: Scene) -> None:
    with scene.client(allow_hosts=["memory.example"]) as client:
        for origin, host in (("https://memory.example", "memory.example"), ("http://memory.example:80",
                                                                            "memory.example")):  # fmt: skip
            assert client.get(SEARCH, headers={"Host": host, "Origin": origin}).status_code == 200


def test_nobody_comes_in_without_a_token_whether_or_not_there_are_any(scene: Scene) -> None:
    with scene.client(private=False) as client:
        assert client.get(SEARCH).status_code == 401
        token = scene.token("default")
        assert client.get(SEARCH).status_code == 401
        shown = {"Authorization": f"Bearer {token}"}
        assert client.get(SEARCH, headers=shown).status_code == 200
        scene.engine.tokens.revoke(scene.engine.tokens.all()[0].id)
        assert client.get(SEARCH, headers=shown).status_code == 401
        assert client.get(SEARCH).status_code == 401


def test_an_expired_token_opens_nothing_and_leaves_nothing_open(scene: Scene) -> None:
    token = scene.token("default", expires=scene.engine.core.clock() + 1000)
    with scene.client(token) as client:
        assert client.get(SEARCH).status_code == 200
    scene.engine.core.clock.advance(ms=1000)  # type: ignore[attr-defined]
    for shown in (token, None):
        with scene.client(shown, private=False) as client:
            assert client.get(SEARCH).status_code == 401


def test_a_token_that_is_shown_at_a_socket_must_be_right(scene: Scene) -> None:
    with scene.client("rcl_wrong", private=True) as client:
        assert client.get(SEARCH).status_code == 401


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Basic {token}", "{token}", "Bearer {token}x", "Bearer \xff"])
def test_what_is_no_bearer_token(scene: Scene, header: str) -> None:
    token = scene.token("default")
    with scene.client(private=False) as client:
        answer = client.get(SEARCH, headers={"Authorization": header.format(token=token).encode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("[::1]", True), ("127.9.9.9", True), ("0.0.0.0", False),
     ("192.168.1.4", False), ("memory.example", False), ("::", False)],
)  # fmt: skip
def test_without_a_token_it_listens_to_this_machine_alone(scene: Scene, host: str, loopback: bool) -> None:
    """Under a name of its own as well: whoever can be led to that name would reach it."""
    assert is_loopback(host) is loopback
    for names in ((host, []), ("127.0.0.1", [host])):
        if loopback:
            refuse_open_doors(scene.engine, *names)
        else:
            with pytest.raises(NotAllowed, match="token"):
                refuse_open_doors(scene.engine, *names)
    scene.token("default")
    refuse_open_doors(scene.engine, host, [host])


def test_bound_elsewhere_it_stays_shut_whatever_becomes_of_the_tokens(scene: Scene) -> None:
    with scene.client(host="192.168.1.4", private=False) as client:
        assert client.get(SEARCH).status_code == 401


# ── the browser ──


def sign_in(client: Any, token: str, **more: Any) -> Any:
    return client.post("/session", **{"json": {"token": token}} | more)


def test_a_browser_signs_in_and_out(scene: Scene) -> None:
    token = scene.token("default")
    with scene.client(private=False) as client:
        signed = sign_in(client, token)
        assert signed.status_code == 204
        cookie = signed.headers["set-cookie"].lower()
        assert all(word in cookie for word in (COOKIE, "httponly", "samesite=strict", "path=/"))
        assert client.get(SEARCH).status_code == 200
        said = {"json": {"content": "Said on the page"}}
        assert client.post("/v1/memories", **said).status_code == 403
        assert client.post("/v1/memories", **said, headers={"Origin": ADDRESS}).status_code == 201
        assert client.delete("/session").status_code == 204
        assert client.get(SEARCH).status_code == 401


@pytest.mark.parametrize(
    ("onward", "to"),
    [("/search?q=x", "/search?q=x"), ("//evil.example", "/"), ("https://evil.example", "/"), ("/\\evil.example", "/")],
)
def test_signing_in_by_a_form_leads_on_within_this_site(scene: Scene, onward: str, to: str) -> None:
    with scene.client() as client:
        answer = client.post("/session", data={"token": scene.token("default"), "next": onward})
    assert (answer.status_code, answer.headers["location"]) == (303, to)


def test_signing_in_wrongly(scene: Scene) -> None:
    token = scene.token("default")
    with scene.client() as client:
        assert sign_in(client, "rcl_wrong").status_code == 401
        assert client.post("/session", json={}).status_code == 400
        assert client.post("/session", content=b"\xff").status_code == 400
        assert sign_in(client, token, headers={"Origin": "http://evil.example"}).status_code == 403
        assert sign_in(client, token, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        assert not client.cookies


def test_a_browser_without_a_token_is_shown_the_way_in(scene: Scene) -> None:
    scene.token("default")
    page = {"Accept": "text/html,application/xhtml+xml"}
    with scene.client(private=False, sign_in="/sign-in", public=["/sign-in", "/static/"]) as client:
        assert client.get("/static/page.css").status_code == 404
        assert client.get("/static").status_code == 401
        answer = client.get("/timeline?id=x", headers=page)
        assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/timeline%3Fid%3Dx")
        assert client.get("/").status_code == 401
        assert client.get("/sign-in").status_code == 404  # let through, and nobody has made the page here
