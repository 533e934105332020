"""Schemathesis against the application: what its own document says, and what it does not.

`make fuzz-http` asks a hundred times as much. What a schema cannot tell is taken out of the requests that ought to be
accepted, and has tests of its own: cursors, and values that name something which must belong together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case

from http_scene import Scene, listening_to
from recallens.http.openapi import document

pytestmark = pytest.mark.slow

SHORT = 1
EXAMPLES = int(os.environ.get("RECALLENS_FUZZ_HTTP", SHORT))
# What a schema cannot tell of a value: whose page a cursor is of, what must come along, what must come later.
UNTELLABLE = ("cursor", "maxTokens", "scope", "since", "tokens", "until", "validFrom", "validUntil")
TOO_LONG = 414
# Schemathesis folds a pattern and a length beside it into one expression; with a length like this it takes a second.
LONG_TEXT = 1_000


def length_apart(schema: Any) -> Any:
    """The same schema for Schemathesis: where a long text has a pattern, its greatest length stands in an `allOf`."""
    if isinstance(schema, list):
        return [length_apart(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: length_apart(part) for name, part in schema.items()}
    if isinstance(schema.get("pattern"), str) and schema.get("maxLength", 0) > LONG_TEXT:
        schema["allOf"] = [{"maxLength": schema.pop("maxLength")}]
    return schema


schema = schemathesis.openapi.from_dict(length_apart(document()))
schema.config.phases.coverage.enabled = EXAMPLES > SHORT


@pytest.fixture(scope="module")
def address(furnished: Scene) -> Iterator[str]:
    with listening_to(furnished.engine, private=False) as address:
        yield address


@pytest.fixture(scope="module")
def headers(furnished: Scene) -> dict[str, str]:
    return {"Authorization": f"Bearer {furnished.token('default')}"}


@schema.parametrize()
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
def test_the_server_keeps_to_its_document(case: Case, address: str, headers: dict[str, str]) -> None:
    if case.meta is not None and case.meta.generation.mode.is_positive:
        for given in (case.query, case.body):
            if isinstance(given, dict):
                for name in UNTELLABLE:
                    given.pop(name, None)
    response = case.call(base_url=address, headers=headers)
    if response.status_code != TOO_LONG:
        case.validate_response(response, headers=headers)
