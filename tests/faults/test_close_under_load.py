"""A store that is closed while threads use it: each of them ends with an error of ours, or with its answer."""

from __future__ import annotations

import threading
import time

import pytest

from recallens import Engine
from recallens.errors import StoreClosed, StoreError
from standing import Open


@pytest.mark.parametrize("pause", [0.0, 0.01, 0.05])
def test_closing_while_threads_search_and_write_is_an_error_of_ours(pause: float, opened: Open) -> None:
    engine = opened("busy.db")
    for at in range(50):
        engine.remember(f"The cache holds {at} rows of the gateway")
    ended: list[Exception] = []

    def work(place: int) -> None:
        at = 0
        try:
            while True:
                at += 1
                engine.search("cache of the gateway") if place % 3 else engine.remember(f"Text {place}-{at}")
        except Exception as error:  # what each thread ends with
            ended.append(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(6)]
    for thread in threads:
        thread.start()
    time.sleep(0.1 + pause)
    engine.close()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert [type(error) for error in ended if not isinstance(error, StoreError)] == []
    assert len(ended) == len(threads)
    with pytest.raises(StoreClosed, match="was closed"):
        engine.search("cache")


def test_a_closed_store_may_be_closed_again_and_is_whole(opened: Open) -> None:
    engine: Engine = opened("twice.db")
    kept = engine.remember("The cache holds rows").id
    engine.close()
    engine.close()
    assert opened("twice.db").get(kept).content == "The cache holds rows"
