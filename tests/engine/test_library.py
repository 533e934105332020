"""The library as a program uses it: where a store may be made, a closed engine, a recall in the hand, asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import recallens
from recallens.errors import StoreClosed
from standing import Open


def test_open_makes_a_store_and_no_folders(tmp_path: Path) -> None:
    with pytest.raises(recallens.InvalidInput, match="does not exist") as refused:
        recallens.open(tmp_path / "no" / "such" / "team.db", encoder="none")
    assert refused.value.hint == "Make it first, or name a store elsewhere."
    assert not (tmp_path / "no").exists()
    with pytest.raises(recallens.InvalidInput, match="the path of a file"):
        recallens.open(5)  # type: ignore[arg-type]
    with recallens.open(tmp_path / "team.db", encoder="none") as memory:
        memory.remember("The ferry leaves at nine")
    assert (tmp_path / "team.db").exists()


@pytest.mark.parametrize(
    "act",
    [
        lambda memory: memory.search("ferry"), lambda memory: memory.remember("The ferry leaves at ten"),
        lambda memory: memory.get("m1"), lambda memory: memory.context("ferry"), lambda memory: memory.forget("m1"),
        lambda memory: memory.sessions.recent(), lambda memory: memory.maintenance.stats(),
    ],
)  # fmt: skip
def test_a_closed_engine_does_nothing_more(tmp_path: Path, act: Callable[[Any], object]) -> None:
    memory = recallens.open(tmp_path / "team.db", encoder="none")
    memory.remember("The ferry leaves at nine")
    memory.close()
    with pytest.raises(StoreClosed):
        act(memory)


def test_an_engine_says_which_store_it_has_and_whether_it_is_open(tmp_path: Path) -> None:
    store = tmp_path / "team.db"
    memory = recallens.open(store, encoder="none")
    assert repr(memory) == f"<Engine {str(store)!r}, namespace 'default', open>"
    memory.close()
    assert repr(memory) == f"<Engine {str(store)!r}, namespace 'default', closed>"
    with pytest.raises(StoreClosed, match="is closed"), memory:
        pass


# ── times ──

MAY, JUNE = datetime(2026, 5, 4, 9, 30, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


def test_every_time_may_be_a_datetime(opened: Open) -> None:
    memory = opened()
    kept = memory.remember("The gateway listens on port 8443", created=MAY, valid_from=MAY, valid_until=JUNE).id
    ((drafted,),) = memory.memories.remember_many([recallens.Draft("The ferry leaves at nine", created=MAY)])
    known = memory.get(kept)
    assert (known.created_at, known.valid_from_at, known.valid_until_at) == (MAY, MAY, JUNE)
    assert memory.get(drafted.id).created_at == MAY
    assert memory.get(drafted.id).valid_until_at is None
    asked = "which port does the gateway listen on"
    assert not memory.search(asked, now=JUNE + timedelta(days=1))
    for bounds in ({"now": MAY + timedelta(days=1)}, {"as_of": MAY + timedelta(days=1)}):
        assert [result.memory.id for result in memory.search(asked, **bounds)] == [kept]
    within = {"since": MAY - timedelta(days=1), "until": MAY + timedelta(days=1)}
    assert memory.search(asked, as_of=MAY + timedelta(days=2), **within)
    assert not memory.search(asked, as_of=MAY + timedelta(days=2), since=MAY + timedelta(hours=1))
    assert memory.sessions.start("s-1", started=MAY).started == known.created
    assert memory.sessions.end("s-1", ended=JUNE).ended == known.valid_until
    task = memory.tasks.start("Move the gateway", started=MAY)
    assert memory.tasks.end(task.id, reward=1.0, ended=JUNE).task.ended == known.valid_until
    session = memory.sessions.report("s-1").session
    assert (session.started_at, session.ended_at) == (MAY, JUNE)
    for bounds in ({"until": datetime.max}, {"since": datetime.min}, {"since": datetime.max}):
        memory.search(asked, **bounds)
    with pytest.raises(recallens.InvalidInput, match="a datetime or epoch milliseconds"):
        memory.remember("The ferry leaves at ten", created="long ago")


# ── a recall in the hand ──


def test_a_recall_gives_its_results_one_by_one_and_says_what_it_is_in_a_line(opened: Open) -> None:
    memory = opened()
    memory.remember("The gateway of the harbor listens on port 8443")
    recall = memory.search("which port does the gateway of the harbor listen on")
    assert [result.memory.content for result in recall] == ["The gateway of the harbor listens on port 8443"]
    shown = repr(recall)
    assert shown.startswith("<Recall 'which port does the gateway of the harbor listen on': 1 result, first m1 (")
    assert len(shown) < 250
    assert "nothing is likely to help" in repr(memory.search("the capital of Mongolia"))
    assert len(recall) == 1
    assert recall[0] is next(iter(recall))
    assert recall
    nothing = memory.search("the capital of Mongolia")
    assert (len(nothing), bool(nothing)) == (0, False)


def test_a_notebook_shows_the_bars_and_nothing_that_a_memory_says_is_markup(opened: Open) -> None:
    memory = opened()
    memory.remember("The gateway <script>alert(1)</script> of the harbor listens on port 8443", title='<b onload="x">')
    recall = memory.search("which port does the gateway of the harbor listen on")
    html = recall._repr_html_()
    assert "<script" not in html
    assert 'onload="x"' not in html
    assert html.count("<rect") == len([part for result in recall for part in result.parts])
    ElementTree.fromstring(html)
    assert "nothing is likely to help" in memory.search("the capital of Mongolia")._repr_html_()


# ── asyncio ──


def test_every_verb_can_be_awaited_and_they_run_side_by_side(tmp_path: Path) -> None:
    async def scene() -> None:
        async with await recallens.AsyncEngine.open(tmp_path / "team.db", encoder="none") as memory:
            kept = await memory.remember("The gateway of the harbor listens on port 8443")
            batches = await memory.memories.remember_many(
                [recallens.Draft(f"Buoy {number} is {number * 7} metres deep") for number in range(1, 6)]
            )
            assert [len(batch) for batch in batches] == [5]
            asked = [memory.search(f"how deep is buoy {number}") for number in range(1, 6)]
            recalls = await asyncio.gather(*asked)
            assert [next(iter(recall)).memory.content for recall in recalls] == [
                f"Buoy {number} is {number * 7} metres deep" for number in range(1, 6)
            ]
            assert (await memory.get(kept.id)).handle == "m1"
            assert (await memory.maintenance.transfer.export(tmp_path / "out.jsonl")).memories == 6
            assert memory.core.settings.namespace == "default"
            with pytest.raises(recallens.NotFound):
                await memory.get("m99")
        for act in (memory.search("buoy"), memory.memories.remember_many([recallens.Draft("Too late")])):
            with pytest.raises(StoreClosed, match="closed"):
                await act
        with pytest.raises(StoreClosed, match="closed"):
            await memory.__aenter__()
        assert repr(memory).startswith("<AsyncEngine '")

    asyncio.run(scene())


def test_what_comes_bit_by_bit_can_be_taken_so(tmp_path: Path) -> None:
    async def scene() -> None:
        async with await recallens.AsyncEngine.open(tmp_path / "team.db", encoder="none") as memory:
            drafts = (recallens.Draft(f"Buoy {number} is {number * 7} metres deep") for number in range(600))
            sizes, counts = [], []
            async for batch in memory.memories.remember_many(drafts, dedupe=False):
                sizes.append(len(batch))
                counts.append(len(await memory.memories.resolve([f"m{number}" for number in range(1, 601)])))
            assert sizes == [256, 256, 88]
            assert counts == [256, 512, 600]  # each is kept before the next is asked for

    asyncio.run(scene())


def test_an_async_engine_has_what_an_engine_has(opened: Open) -> None:
    engine = opened()
    both = recallens.AsyncEngine(engine)
    names = [name for name in dir(engine) if not name.startswith("_")]
    assert dir(both) == names
    assert all(hasattr(both, name) for name in names)
    with pytest.raises(AttributeError):
        _ = both.no_such_verb
