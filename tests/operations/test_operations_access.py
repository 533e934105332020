"""Who may do what, decided below every surface."""

from __future__ import annotations

from typing import Any

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotAllowed, NotFound
from recallens.operations import OPERATIONS, Answer, Caller, Right, perform

LOCAL = Caller(home="default")
READER = Caller(Right.READ, frozenset(["default"]), owner="r")
WRITER = Caller(Right.WRITE, frozenset(["default"]), owner="w")


def do(engine: Engine, caller: Caller, operation: str, **given: Any) -> dict[str, Any]:
    answer = perform(OPERATIONS[operation], engine, caller, given, strict=True)
    assert isinstance(answer, Answer)
    return answer.record


def test_only_the_person_at_the_machine_has_the_right_local(engine: Engine) -> None:
    local = [name for name, one in OPERATIONS.items() if one.needs is Right.LOCAL]
    assert sorted(local) == ["add_vault", "review", "run_set"]
    for name in local:
        for caller in (READER, WRITER):
            with pytest.raises(NotAllowed):
                perform(OPERATIONS[name], engine, caller, {})


def test_a_vault_is_added_from_a_path_by_the_person_at_the_machine(engine: Engine, tmp_path: Any) -> None:
    (tmp_path / "notes").mkdir()
    assert do(engine, LOCAL, "add_vault", path=str(tmp_path / "notes"))["name"] == "notes"


def test_a_reader_leaves_no_trace(engine: Engine) -> None:
    kept = engine.remember("Lookups are cached for 60 seconds")
    before = engine.get(kept.id)
    assert do(engine, READER, "search", query="lookups", session="s-reader")["recorded"] is False
    assert engine.get(kept.id) == before
    assert engine.tokens.owns_session("s-reader", "somebody else")
    with pytest.raises(NotAllowed, match="read and not write"):
        do(engine, READER, "remember", content="x")


def test_an_unknown_session_is_simply_new_and_then_the_first_ones(engine: Engine) -> None:
    engine.remember("Lookups are cached for 60 seconds")
    assert do(engine, WRITER, "recall_xray", query="lookups", session="s")["snapshotFound"] is True
    other = Caller(Right.WRITE, frozenset(["default"]), owner="other")
    assert do(engine, other, "recall_xray", query="lookups", session="s") == {"snapshotFound": False}
    with pytest.raises(NotFound, match="no session 's' of yours"):
        do(engine, other, "remember", content="Written into another's session", session="s")
    assert do(engine, LOCAL, "recall_xray", query="lookups", session="s")["snapshotFound"] is True


def test_a_session_is_kept_apart_in_each_namespace(engine: Engine) -> None:
    both = frozenset(["default", "다른곳"])
    one, other = Caller(namespaces=both, owner="one"), Caller(namespaces=both, owner="other")
    do(engine, one, "remember", content="가", session="s", namespace="default")
    do(engine, other, "remember", content="나", session="s", namespace="다른곳")
    with pytest.raises(NotFound):
        do(engine, other, "remember", content="다", session="s", namespace="default")


def test_removing_a_namespace_removes_whose_its_sessions_were(engine: Engine) -> None:
    do(engine, WRITER, "remember", content="x", session="s")
    engine.maintenance.remove_namespace("default")
    engine.remember("y")
    assert engine.tokens.owns_session("s", "somebody else")


def test_strictly_a_number_is_no_text(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        do(engine, LOCAL, "search", query="x", limit="5")
    assert isinstance(perform(OPERATIONS["search"], engine, LOCAL, {"query": "x", "limit": "5"}), Answer)


def test_no_operation_opens_a_path_that_is_given(engine: Engine, tmp_path: Any) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"entries": []}', encoding="utf-8")
    for name in ("replay", "get_snapshot"):
        with pytest.raises(NotFound, match="no recorded recall"):
            do(engine, LOCAL, name, id=str(secret))
    with pytest.raises(InvalidInput, match="id"):
        do(engine, LOCAL, "get_run", id="../../secret")
    with pytest.raises(NotFound):
        do(engine, LOCAL, "run_set", set="secret")
    made = do(engine, LOCAL, "add_document", path=str(secret), text="Only a name")
    assert engine.get(made["memories"][0]).content == "Only a name"


def test_feedback_tells_nothing_until_every_memory_is_known(engine: Engine) -> None:
    kept = engine.remember("Lookups are cached for 60 seconds").id
    with pytest.raises(NotFound):
        do(engine, WRITER, "feedback", memories=[kept, "01NOSUCHMEMORY"], verdict="confirmed")
    assert engine.get(kept).confirmed is False
    for verdict in ("used", "confirmed"):
        assert do(engine, WRITER, "feedback", memories=[kept], verdict=verdict)["memories"] == [kept]
    told = do(engine, WRITER, "feedback", memories=[kept], verdict="unhelpful")
    assert (told["memories"], told["proposals"]) == ([], {kept: "p1"})
    engine.memories.review("p1", approve=True)
    assert engine.get(kept).confirmed is True
    assert engine.get(kept).base_salience < 1
