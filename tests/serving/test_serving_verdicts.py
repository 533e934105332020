"""Beside the API: every route of the page and of MCP, and every kind of caller. One without a verdict fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from recallens.engine import Engine
from recallens.http.routes import ROUTES
from recallens.server import whole
from recallens.web.page import ICON, asset
from recallens.web.upkeep import TICK

HOST = "http://127.0.0.1:8765"
FROM_HERE = {"Origin": HOST, "Sec-Fetch-Site": "same-origin"}
BAD_TOKEN = "rcl_" + "x" * 43
CALLERS = ("no token", "bad token", "read", "write", "other namespace")
# In the order of the callers. A namespace that is not theirs is one that does not exist.
LOOKING = (401, 401, 200, 200, 404)
CHANGING = (401, 401, 403, 303, 404)
OWN = (401, 401, 200, 404, 404)  # a recorded recall is whose it is: here that of the token that reads
PERSONAL = (401, 401, 403, 403, 403)  # for nobody but the person whose machine it is
SAME_FOR_ALL = (401, 401, 200, 200, 200)
OPEN = (200, 200, 200, 200, 200)
LISTED = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@dataclass(frozen=True)
class Asked:
    """What is asked of a route, as a page or a client would; `verdicts` are the statuses."""

    verdicts: tuple[int, ...]
    path: str = ""
    params: dict[str, str] | None = None
    data: dict[str, str] | None = None
    json: dict[str, Any] | None = None
    headers: dict[str, str] | None = None


@dataclass(frozen=True)
class Known:
    memory: str
    snapshot: str
    token: str


def asked_of(known: Known) -> dict[tuple[str, str], Asked]:
    question = {"q": "how long are lookups cached"}
    rated = {**question, "set": "mine", f"grade.{known.memory}": "3"}
    signing = {"token": known.token}
    return {
        ("GET", "/healthz"): Asked(OPEN),
        ("GET", "/readyz"): Asked(SAME_FOR_ALL),
        ("GET", "/metrics"): Asked(SAME_FOR_ALL),
        ("GET", "/openapi.json"): Asked(SAME_FOR_ALL),
        # These bring the token themselves; whatever stands in the header makes no difference.
        ("POST", "/session"): Asked((204,) * 5, json=signing),
        ("DELETE", "/session"): Asked((204,) * 5),
        ("GET", "/sign-in"): Asked(OPEN),
        ("POST", "/sign-in"): Asked((303,) * 5, data=signing),
        ("POST", "/sign-out"): Asked((303,) * 5),
        # Nobody has the link but the person who reads what the command prints.
        ("GET", "/open/{key}"): Asked((401,) * 5, path="/open/" + "x" * 43),
        ("GET", "/static/{digest}/{name}"): Asked(OPEN, path=asset("page.css")),
        ("GET", ICON): Asked(OPEN),
        ("GET", "/"): Asked(LOOKING, params=question),
        ("GET", "/xray"): Asked(LOOKING, params=question),
        ("GET", "/xray/download"): Asked(LOOKING, params={**question, "format": "json"}),
        ("GET", "/snapshots/{id}"): Asked(OWN, path=f"/snapshots/{known.snapshot}"),
        ("GET", "/snapshots/{id}/download"): Asked(OWN, path=f"/snapshots/{known.snapshot}/download"),
        ("GET", "/why-not"): Asked(LOOKING, params={**question, "memory": known.memory}),
        ("GET", "/sandbox"): Asked(LOOKING, params=question),
        ("GET", "/sandbox/ranking"): Asked(LOOKING, params=question),
        ("GET", "/diff"): Asked(OWN, params={"before": known.snapshot, "after": known.snapshot}),
        ("GET", "/memories/{id}"): Asked(LOOKING, path=f"/memories/{known.memory}"),
        ("GET", "/timeline/{id}"): Asked(LOOKING, path=f"/timeline/{known.memory}"),
        ("GET", "/vault"): Asked(LOOKING),
        ("GET", "/stats"): Asked(LOOKING),
        ("GET", "/rate"): Asked(LOOKING, params=question),
        ("POST", "/rate"): Asked(CHANGING, data=rated),
        ("POST", "/memories/{id}/{action}"): Asked(CHANGING, path=f"/memories/{known.memory}/confirm", data={"x": ""}),
        ("GET", "/forget"): Asked(LOOKING, params=question),
        ("POST", "/forget"): Asked(CHANGING, data={f"{TICK}{known.memory}": "on"}),
        ("GET", "/review"): Asked(LOOKING),
        ("POST", "/review"): Asked(PERSONAL, data={"id": known.memory, "decision": "approve"}),
        ("POST", "/undo"): Asked(PERSONAL, data={"next": "/"}),
        # What a tool may is decided by the operations, call by call; the list is the same for all who may come in.
        ("POST", "/mcp"): Asked(SAME_FOR_ALL, json=LISTED, headers={"Accept": "application/json, text/event-stream"}),
    }


@pytest.fixture
def known(engine: Engine) -> Known:
    memory = engine.remember("Lookups are cached for 60 seconds.").id
    engine.remember("The plans of another team.", namespace="elsewhere")
    token, text = engine.tokens.create(["default"], right="read")
    theirs = engine.search("how long are lookups cached", owner=token.id)
    return Known(memory, engine.recalls.snapshot_of(theirs).snapshotId, text)


def beside_the_api(engine: Engine) -> set[tuple[str, str]]:
    api = {(route.method, route.path) for route in ROUTES}
    served = {(method, route.path) for route in whole(engine).routes for method in route.methods}
    return {one for one in served - api if one[0] not in ("HEAD", "OPTIONS")}


@pytest.mark.slow
def test_every_route_has_a_verdict_for_every_caller(engine: Engine, known: Known) -> None:
    asked = asked_of(known)
    assert asked.keys() == beside_the_api(engine)
    tokens = {
        "no token": None,
        "bad token": BAD_TOKEN,
        "read": known.token,
        "write": engine.tokens.create(["default"], right="write")[1],
        "other namespace": engine.tokens.create(["elsewhere"], right="write")[1],
    }
    for (method, path), one in asked.items():
        for who, verdict in zip(CALLERS, one.verdicts, strict=True):
            token = tokens[who]
            bearer = {} if token is None else {"Authorization": f"Bearer {token}"}
            where = {"namespace": "default"} if who == "other namespace" and one.verdicts in (LOOKING, CHANGING) else {}
            with TestClient(whole(engine), base_url=HOST, follow_redirects=False) as client:
                answer = client.request(
                    method, one.path or path, params={**(one.params or {}), **where}, data=one.data, json=one.json,
                    headers={**FROM_HERE, **bearer, **(one.headers or {})},
                )  # fmt: skip
            assert answer.status_code == verdict, (method, path, who, answer.text[:500])
            if verdict in (401, 403, 404):
                assert "60 seconds" not in answer.text
