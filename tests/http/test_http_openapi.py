"""The document is OpenAPI 3.1, says every route, and is true of what is answered."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemathesis

from http_scene import Scene, examples
from recallens.http.openapi import ANSWERS, document
from recallens.http.routes import ROUTES, Route
from recallens.model.query import Ranking
from recallens.operations import OPERATIONS, Right
from recallens.recall.presets import PRESETS

DOCS = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
BESIDE = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/metrics"), ("GET", "/openapi.json"),
          ("POST", "/session"), ("DELETE", "/session")}  # fmt: skip


def test_it_is_openapi_3_1() -> None:
    found = document()
    schemathesis.openapi.from_dict(found).validate()
    assert found["openapi"] == "3.1.0"
    jsonschema.Draft202012Validator.check_schema({"$defs": found["components"]["schemas"]})
    for name in re.findall(r'"#/components/(\w+/\w+)"', str(found).replace("'", '"')):
        part, _, key = name.partition("/")
        assert key in found["components"][part], name


def test_it_says_every_route_once_and_nothing_else() -> None:
    told = {(method.upper(), path) for path, methods in document()["paths"].items() for method in methods}
    assert told == {(route.method, route.path) for route in ROUTES} | {one for one in BESIDE if one[1] != "/session"}
    ids = [one["operationId"] for methods in document()["paths"].values() for one in methods.values()]
    assert len(ids) == len(set(ids))
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)


def test_every_operation_has_a_route_and_every_route_an_operation() -> None:
    named = {name for route in ROUTES for name in (route.name, route.brief) if name is not None}
    assert named == {name for name, operation in OPERATIONS.items() if operation.needs is not Right.OWNER}
    assert set(ANSWERS) <= set(OPERATIONS)


def test_every_route_is_documented() -> None:
    told = set(re.findall(r"`(GET|POST|PATCH|DELETE) (/[^\s`?]*)", DOCS))
    assert told == {(route.method, route.path) for route in ROUTES} | BESIDE


def test_the_presets_that_are_offered_are_those_that_there_are() -> None:
    assert list(Ranking) == list(PRESETS)


def test_every_argument_has_a_schema_and_a_question_an_example() -> None:
    for methods in document()["paths"].values():
        for one in methods.values():
            for parameter in one.get("parameters", ()):
                assert parameter["schema"], parameter
    (asked,) = [one for one in document()["paths"]["/v1/search"]["get"]["parameters"] if one["name"] == "q"]
    assert (asked["required"], asked["schema"]["examples"]) == (True, ["how long are lookups cached"])


@pytest.mark.parametrize("route", [route for route in ROUTES if route.name in ANSWERS], ids=lambda one: one.name)
def test_what_is_answered_is_what_the_document_says(scene: Scene, route: Route) -> None:
    path, given = examples(scene)[route.method, route.path]
    scene.engine.sessions.start("s-mine")
    with scene.client() as client:
        said: dict[str, Any] = {"json": given} if route.has_body else {"params": given}
        answer = client.request(route.method, path, **said)
    content = document()["paths"][route.path][route.method.lower()]["responses"][str(route.status)]["content"]
    jsonschema.validate(answer.json(), content["application/json"]["schema"])
