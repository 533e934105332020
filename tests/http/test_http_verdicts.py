"""Every route and every kind of caller has a verdict, made from the table: a new route without one fails."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from http_scene import Scene, examples
from recallens.http.routes import ROUTES, Route
from recallens.operations import Right

BAD_TOKEN = "rcl_" + "x" * 43


# What a token only proposes against the person's memories: told by 202.
PROPOSED = frozenset(("edit_memory", "forget", "restore", "deemphasise", "supersede", "relate"))
# The examples name recalls, a session and a task of the person at the machine, which are no token's.
OF_THE_PERSON = {
    "get_snapshot", "replay", "diff", "get_session", "get_task", "log_task", "end_task", "finish_work",
}  # fmt: skip


def verdicts(route: Route) -> dict[str, int]:
    needs, theirs = route.operation.needs, route.operation.name in OF_THE_PERSON
    done = 202 if route.name in PROPOSED else route.status
    return {
        "no token": 401,
        "bad token": 401,
        "read": 403 if needs is not Right.READ else 404 if theirs else route.status,
        "other namespace": 404 if needs is not Right.LOCAL else 403,
        "write": 404 if theirs else done if needs is not Right.LOCAL else 403,
    }


def ask(client: TestClient, route: Route, example: tuple[str, dict[str, Any]], **extra: Any) -> Any:
    path, arguments = example
    given = arguments | extra
    return client.request(route.method, path, **({"json": given} if route.has_body else {"params": given}))


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_every_route_has_a_verdict_for_every_caller(scene: Scene, route: Route) -> None:
    example = examples(scene)[route.method, route.path]
    writer = scene.token("default")
    tokens = {
        "no token": None,
        "bad token": BAD_TOKEN,
        "read": scene.token("default", right="read"),
        "other namespace": scene.token("elsewhere"),
        "write": writer,
    }
    with scene.client(writer) as client:
        client.post("/v1/sessions", json={"id": "s-mine"}).raise_for_status()
    for who, verdict in verdicts(route).items():
        extra = {"namespace": "default"} if who == "other namespace" else {}
        with scene.client(tokens[who], private=False) as client:
            answer = ask(client, route, example, **extra)
        assert answer.status_code == verdict, (who, answer.text)
        if verdict >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert {"error", "code", "message", "type", "title", "status"} <= answer.json().keys()
            assert ("www-authenticate" in answer.headers) == (verdict == 401)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_the_person_at_the_machine_may_do_everything(scene: Scene, route: Route) -> None:
    example = examples(scene)[route.method, route.path]
    scene.engine.sessions.start("s-mine")
    with scene.client() as client:
        answer = ask(client, route, example)
    assert answer.status_code == route.status, answer.text


@pytest.mark.parametrize("path", ["/readyz", "/metrics", "/openapi.json", "/nowhere", "/v1", "/"])
def test_everything_else_needs_a_token_too(scene: Scene, path: str) -> None:
    token = scene.token("default", right="read")
    with scene.client(private=False) as client:
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"Authorization": f"Bearer {BAD_TOKEN}"}).status_code == 401
        assert client.get("/healthz").json() == {"status": "ok"}
    with scene.client(token) as client:
        assert client.get(path).status_code == (200 if path in ("/readyz", "/metrics", "/openapi.json") else 404)


FOREIGN_IDS = [route for route in ROUTES if "/memories/{" in route.path and route.operation.needs is not Right.LOCAL]


@pytest.mark.parametrize("route", FOREIGN_IDS, ids=lambda route: f"{route.method} {route.path}")
def test_a_foreign_id_is_one_that_does_not_exist(scene: Scene, route: Route) -> None:
    _, arguments = examples(scene)[route.method, route.path]
    nobodys = "01" + "Z" * 24
    with scene.client(scene.token("default")) as client:
        told = [ask(client, route, (route.path.format(id=id, old=id), arguments)) for id in (scene.foreign, nobodys)]
    assert [answer.status_code for answer in told] == [404, 404]
    assert told[0].text.replace(scene.foreign, nobodys) == told[1].text


@pytest.mark.parametrize("path", ["/v1/search?q=secret", "/v1/stats", "/v1/memories", "/v1/recall/xray?q=secret"])
def test_a_foreign_namespace_is_one_that_does_not_exist(scene: Scene, path: str) -> None:
    sign = "&" if "?" in path else "?"
    with scene.client(scene.token("default")) as client:
        told = [client.get(f"{path}{sign}namespace={name}") for name in ("elsewhere", "nowhere", "no such!")]
    assert [answer.status_code for answer in told] == [404, 404, 404]
    assert told[0].text.replace("elsewhere", "nowhere") == told[1].text


def test_of_several_namespaces_one_must_be_named(scene: Scene) -> None:
    with scene.client(scene.token("default", "elsewhere")) as client:
        vague = client.get("/v1/stats")
        assert vague.status_code == 400
        assert "default, elsewhere" in vague.json()["message"]
        assert client.get("/v1/stats?namespace=elsewhere").json()["namespace"] == "elsewhere"
        assert {one["name"] for one in client.get("/v1/namespaces?namespace=default").json()["namespaces"]} == {
            "default", "elsewhere",
        }  # fmt: skip


def test_a_token_is_told_nothing_of_the_machine(scene: Scene) -> None:
    with scene.client(scene.token("default")) as client:
        told = client.get("/v1/stats").text + client.get("/v1/vaults").text + client.post("/v1/vaults/notes/sync").text
    assert str(scene.vault) not in told
    assert scene.engine.core.store.location not in told
    assert scene.engine.core.store.id not in told


def test_a_token_hides_and_does_not_destroy(scene: Scene) -> None:
    first = scene.ids[0]
    with scene.client(scene.token("default")) as client:
        assert client.delete(f"/v1/memories/{first}?hard=true").status_code == 403
        own = client.post("/v1/memories", json={"content": "Deploys go out at noon"}).json()
        assert client.delete(f"/v1/memories/{own['id']}").json() == {
            "forgotten": [own["id"]], "handles": [own["handle"]], "hard": False,
        }  # fmt: skip
        assert client.delete(f"/v1/memories/{first}").json()["proposal"] == "p1"
    assert scene.engine.get(own["id"]).status == "forgotten"
    assert scene.engine.get(first).status == "active"
