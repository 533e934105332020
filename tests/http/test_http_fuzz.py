"""Schemathesis against the application: what its own document says, and what it does not.

`make fuzz-http` asks a hundred times as much. What a schema cannot tell is taken out of the requests that ought to be
accepted, and has tests of its own: cursors, values that must belong together, and texts of many thousand characters,
which Hypothesis cannot make.
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
# What a schema cannot tell of a value: whose page a cursor is of, what must come along or later, how few are too few.
UNTELLABLE = (
    "budget", "contextBudget", "cursor", "maxTokens", "scope", "since", "tokens", "until", "validFrom", "validUntil",
)  # fmt: skip
TOO_LONG = 414
LONG_TEXT = 1_000


def without_long_texts(schema: Any) -> Any:
    """The same schema without the bounds of long texts."""
    if isinstance(schema, list):
        return [without_long_texts(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {name: without_long_texts(part) for name, part in schema.items()}
    return {name: part for name, part in parts.items() if name != "maxLength" or part <= LONG_TEXT}


schema = schemathesis.openapi.from_dict(without_long_texts(document()))
schema.config.checks.negative_data_rejection.expected_statuses = ["4xx"]
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
