"""A store from above: its growth, its recalls, its lineages, the files of its vaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound
from recallens.ingest.draft import Draft
from recallens.model.salience import DAY_MS
from standing import START_MS, FixedClock


def test_an_empty_store_is_surveyed_too(engine: Engine) -> None:
    found = engine.maintenance.survey()
    assert (found.memories, found.active, found.tokens, found.grown, found.recalls) == (0, 0, 0, {}, {})
    assert engine.recalls.recent() == ()


def test_growth_counts_every_month_and_a_pause_shows(engine: Engine) -> None:
    for month, texts in (("2026-01", ["one cache", "two queues"]), ("2026-03", ["three brokers"])):
        for text in texts:
            created = {"2026-01": 1_768_435_200_000, "2026-03": 1_773_532_800_000}[month]
            engine.remember(Draft(text, created=created))
    engine.forget(engine.remember("four ports", created=1_773_532_800_000).id)
    found = engine.maintenance.survey()
    assert found.grown == {"2026-01": 2, "2026-02": 0, "2026-03": 2}
    assert (found.memories, found.active) == (4, 3)
    assert sum(found.saliences) == sum(found.lengths.values()) == 3


def test_recalls_are_counted_by_day_and_listed_latest_first(engine: Engine, clock: FixedClock) -> None:
    engine.remember("Lookups are cached for 60 seconds.")
    engine.remember("배포는 화요일에 한다.")
    engine.search("cached lookups")
    clock.advance(ms=5)
    engine.search("배포", session="s1")
    clock.advance(days=1)
    engine.search("cached lookups")
    listed = engine.recalls.recent()
    assert [(one.query, one.session) for one in listed] == [
        ("cached lookups", None), ("배포", "s1"), ("cached lookups", None),
    ]  # fmt: skip
    assert listed[0].at == START_MS + DAY_MS + 5
    assert [recorded.id for recorded in engine.recalls.recent(limit=1)] == [listed[0].id]
    assert list(engine.maintenance.survey().recalls.values()) == [2, 1]
    assert engine.recalls.snapshot(listed[1].id).query == "배포"


def test_a_lineage_is_the_whole_chain_from_any_link_of_it(engine: Engine, clock: FixedClock) -> None:
    ids = [engine.remember("The limit is 20.").id]
    for text in ("The limit is 50.", "The limit is 80."):
        clock.advance(days=1)
        ids.append(engine.edit(ids[-1], text).id)
    other = engine.remember("Nothing to do with it.").id
    engine.relate(ids[0], other, "RELATED_TO")
    for id in ids:
        assert [memory.id for memory in engine.memories.lineage(id)] == ids
    assert [memory.id for memory in engine.memories.lineage(other)] == [other]


def test_the_pages_of_a_vault(engine: Engine, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for name, text in (("a.md", "# A\n\nfirst\n"), ("배포.md", "# 배포\n\n화요일\n")):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    engine.vaults.add(folder, "notes")
    engine.vaults.sync("notes")
    page = engine.vaults.files("notes")
    assert [(one.file.path, len(one.sections)) for one in page.files] == [("a.md", 1), ("배포.md", 1)]
    assert [one.file.path for one in engine.vaults.files("notes", like="배포").files] == ["배포.md"]
    second = engine.vaults.files("notes", offset=1, limit=1)
    assert (second.total, [one.file.path for one in second.files]) == (2, ["배포.md"])
    with pytest.raises(NotFound):
        engine.vaults.files("other")
    with pytest.raises(InvalidInput):
        engine.vaults.files("notes", limit=0)


def test_many_memories_at_once_and_only_of_the_namespace(engine: Engine) -> None:
    here = engine.remember("here").id
    there = engine.remember("there", namespace="other").id
    assert list(engine.memories.many([here, there])) == [here]
    assert list(engine.memories.many([here, there], namespace="other")) == [there]
    assert engine.memories.many([here], namespace="nowhere") == {}
