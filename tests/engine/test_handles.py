"""Handles: a short name for each memory, given once, that every look-up takes."""

import pytest

from recallens.engine import Engine
from recallens.errors import NotFound


def test_a_memory_has_a_short_handle_that_every_look_up_takes(engine: Engine) -> None:
    first = engine.remember("The cache holds for fifteen minutes.").id
    second = engine.remember("Deploys are on Thursday.").id
    handle = engine.get(second).handle
    assert handle == "m2"
    assert engine.get("m1").id == first
    assert engine.get("M2").id == engine.get(second).id == second
    assert engine.layers.details(handle).about == second
    assert engine.memories.resolve(["m1", "m9"]) == {"m1": first}


def test_a_handle_is_of_its_own_namespace_and_never_given_again(engine: Engine) -> None:
    engine.remember("Here.")
    engine.remember("There.", namespace="other")
    with pytest.raises(NotFound):
        engine.get("m2")
    assert engine.get("m2", namespace="other").content == "There."
    engine.memories.forget("m1", hard=True)
    again = engine.remember("Here again.").id
    assert engine.get(again).handle == "m3"


def test_a_task_has_a_short_id(engine: Engine) -> None:
    first, second = engine.tasks.start("Deploy the API"), engine.tasks.start("Deploy the page")
    assert first.id != second.id
    assert len(first.id) == len("t-") + 8
