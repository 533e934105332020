"""What is told later is worked out once, for whoever reads it first, and is the same to all."""

import copy
import pickle
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from recallens import Draft, Engine
from recallens.model.later import Later


def test_it_is_worked_out_when_read_and_only_once() -> None:
    calls: list[int] = []

    def tell() -> Mapping[str, int]:
        calls.append(1)
        return {"a": 1, "b": 2}

    later = Later(tell)
    assert not calls
    assert later == {"a": 1, "b": 2}
    assert dict(later) == {"a": 1, "b": 2}
    assert len(later) == 2
    assert later["a"] == 1
    assert later.get("c") is None
    assert repr(later) == "{'a': 1, 'b': 2}"
    assert len(calls) == 1


def test_a_copy_of_it_is_what_it_tells() -> None:
    later = Later(lambda: {"a": 1})
    assert pickle.loads(pickle.dumps(later)) == {"a": 1}
    assert copy.deepcopy(later) == {"a": 1}


def test_readers_at_one_time_read_the_same() -> None:
    together = Barrier(4)

    def tell() -> Mapping[str, int]:
        together.wait(timeout=10)  # all are inside before any is done
        return {"a": 1}

    later = Later(tell)
    with ThreadPoolExecutor(4) as readers:
        told = list(readers.map(lambda _: dict(later), range(4)))
    assert told == [{"a": 1}] * 4


def test_a_recall_that_is_read_after_later_writes_tells_what_it_saw(engine: Engine) -> None:
    first = engine.remember(Draft("Payments retry after 30 seconds at most.")).id
    engine.remember(Draft("Payments retry after 45 seconds at most, says the runbook."))
    read, unread = (
        engine.recall(engine.recalls.query("how long until payments retry", now=engine.core.clock())) for _ in range(2)
    )
    before = read.ledger.canonical()
    assert read.ledger.notes("conflicts")[0]["rows"]
    engine.edit(first, "Something else altogether.")
    engine.forget(first)
    assert unread.ledger.canonical() == before
    assert [dict(result.parts) for result in unread.results] == [dict(result.parts) for result in read.results]
