"""Every change of the person can be taken back, the last first; what an agent does is no part of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from recallens.engine import Engine
from recallens.errors import EditConflict, InvalidInput, NotAllowed, NotFound
from recallens.model.memory import Memory, Status, Zone
from recallens.model.trust import Actor

AGENT = Actor(Zone.WORKING, "robot", "agent")


def found(engine: Engine, text: str) -> set[str]:
    return {result.memory.content for result in engine.search(text, cut=False).results}


def state(engine: Engine) -> dict[str, tuple[object, ...]]:
    """All that a person sees of each memory and its relations; what is forgotten is not there."""
    now = engine.core.clock()

    def told(memory: Memory) -> tuple[object, ...]:
        ties = {(tie.source, tie.target, tie.type) for tie in engine.memories.relations(memory.id) if tie.holds(now)}
        return memory.content, memory.status, memory.zone, memory.valid_until, memory.base_salience, memory.confirmed, \
            memory.reinforcement, memory.uses, "pinned" in memory.attributes, frozenset(ties)  # fmt: skip

    ids = [engine.get(f"m{number}").id for number in range(1, 10) if known(engine, number)]
    return {id: told(memory) for id in ids if (memory := engine.get(id)).status is not Status.FORGOTTEN}


def known(engine: Engine, number: int) -> bool:
    try:
        engine.get(f"m{number}")
    except NotFound:
        return False
    return True


CHANGES: dict[str, tuple[str, Callable[[Engine], object]]] = {
    "edit": ("edited m1, which is m4 now", lambda engine: engine.edit("m1", "The spare key is in the drawer")),
    "supersede": ("replaced m1 by m2", lambda engine: engine.supersede("m1", "m2")),
    "forget": ("forgot m1", lambda engine: engine.forget("m1")),
    "relate": ("related m1 to m2", lambda engine: engine.relate("m1", "m2", "BUILDS_ON", confidence=0.5)),
    "unrelate": ("removed a relation of m2 to m1", lambda engine: engine.memories.unrelate("m2", "m1", "CAUSED")),
    "pin": ("pinned m1", lambda engine: engine.memories.pin("m1")),
    "unpin": ("unpinned m2", lambda engine: engine.memories.pin("m2", pinned=False)),
    "until": ("set the end of m1", lambda engine: engine.memories.hold_until("m1", datetime(2030, 1, 1, tzinfo=UTC))),
    "confirm": ("confirmed m1", lambda engine: engine.confirm("m1")),
    "deemphasise": ("halved the weight of m1", lambda engine: engine.memories.deemphasise("m1")),
    "approve": ("approved m3", lambda engine: engine.memories.review("m3", approve=True)),
    "reject": ("rejected m3", lambda engine: engine.memories.review("m3", approve=False)),
}


@pytest.fixture
def kept(engine: Engine) -> Engine:
    engine.remember("The spare key is under the mat")
    engine.remember("The spare bulb is in the cellar")
    engine.remember("The ferry leaves at nine", status="pending_review")
    engine.relate("m2", "m1", "CAUSED")
    engine.memories.pin("m2")
    return engine


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_taken_back(kept: Engine, change: str) -> None:
    words, do = CHANGES[change]
    before = state(kept)
    do(kept)
    assert state(kept) != before
    assert kept.memories.undo() == words
    assert state(kept) == before
    assert list(kept.maintenance.doctor().problems) == []


def test_changes_are_taken_back_one_after_the_other_the_last_first(kept: Engine) -> None:
    states = []
    for change in ("pin", "until", "relate", "edit"):
        states.append(state(kept))
        CHANGES[change][1](kept)
    while states:
        kept.memories.undo()
        assert state(kept) == states.pop()


def test_what_one_command_did_goes_back_at_once(kept: Engine) -> None:
    with kept.memories.reversals.together():
        kept.forget("m1")
        kept.forget("m2")
    assert found(kept, "spare") == set()
    assert kept.memories.undo() == "forgot m1, forgot m2"
    assert found(kept, "spare") == {"The spare key is under the mat", "The spare bulb is in the cellar"}


def test_only_the_change_that_was_meant_is_taken_back(kept: Engine) -> None:
    kept.forget("m1")
    group = kept.memories.reversals.all("default")[-1].group
    kept.memories.pin("m2", pinned=False)
    with pytest.raises(EditConflict, match="something else was changed since"):
        kept.memories.undo(group)
    assert kept.get("m1").status is Status.FORGOTTEN


def test_nothing_to_take_back_is_said(engine: Engine) -> None:
    engine.remember("The spare key is under the mat")
    with pytest.raises(NotFound, match="nothing was changed"):
        engine.memories.undo()


def test_an_agent_neither_undoes_nor_leaves_anything_to_undo(kept: Engine) -> None:
    before = kept.memories.reversals.all("default")
    with kept.core.acting(AGENT):
        own = kept.remember("The bell rings twice")
        kept.forget(own.id)
        for forbidden in (
            lambda: kept.memories.undo(), lambda: kept.memories.pin("m1"),
            lambda: kept.memories.hold_until("m1", None), lambda: kept.memories.unrelate("m2", "m1", "CAUSED"),
        ):  # fmt: skip
            with pytest.raises(NotAllowed):
                forbidden()
    assert kept.memories.reversals.all("default") == before


def test_a_replaced_memory_holds_again_and_its_edit_goes(kept: Engine) -> None:
    kept.edit("m1", "The spare key is in the drawer")
    assert kept.restore("m1") is Status.ACTIVE
    assert found(kept, "spare key") == {"The spare key is under the mat", "The spare bulb is in the cellar"}
    kept.edit("m1", "The spare key is in the box")
    kept.edit("m5", "The spare key is in the safe")
    with pytest.raises(InvalidInput, match="m5, which replaced it, was replaced too"):
        kept.restore("m1")


def test_the_journal_holds_no_text_and_does_not_travel(kept: Engine, tmp_path: object) -> None:
    kept.edit("m1", "The spare key is in the drawer")
    held = kept.core.store.meta("reversals:default") or ""
    assert "m1" in held
    assert "drawer" not in held
    assert "mat" not in held.replace("format", "")


def test_a_confirmation_that_is_taken_back_leaves_what_else_has_happened(kept: Engine) -> None:
    with kept.core.acting(AGENT):
        kept.confirm("m1")
    before = kept.get("m1")
    kept.confirm("m1")
    kept.confirm("m1")  # counts once, and is one change
    assert kept.get("m1").reinforcement > before.reinforcement
    assert kept.memories.undo() == "confirmed m1"
    assert kept.get("m1").reinforcement == pytest.approx(before.reinforcement)
    assert kept.get("m1").confirmed
    assert kept.memories.undo() == "pinned m2"
    kept.confirm("m1")
    assert kept.memories.reversals.last("default").words == "confirmed m1"  # it counts again


def test_what_was_deleted_for_good_is_said_and_nothing_else_taken_back(kept: Engine) -> None:
    kept.forget("m2")
    kept.forget("m1", hard=True)
    with pytest.raises(InvalidInput, match="deleted m1 for good: that cannot be taken back"):
        kept.memories.undo()
    assert kept.get("m2").status is Status.FORGOTTEN
    assert kept.memories.undo() == "forgot m2"


def test_a_change_gives_the_memory_as_it_is_now(kept: Engine) -> None:
    ends = datetime(2030, 1, 1, tzinfo=UTC)
    assert kept.memories.hold_until("m1", ends).valid_until_at == ends
    assert kept.memories.pin("m1").attributes["pinned"]
    now = kept.core.clock()
    assert kept.memories.hold_until("m1", "3d").valid_until == now + 3 * 86_400_000  # to come, as at the command
