"""Layer 3 on a real store: the memory itself with its state and lineage, and logs by head, tail, match and page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound
from recallens.ingest.draft import Draft
from recallens.model.citation import FileCitation, LogCitation, TerminalCitation
from recallens.model.state import ONLY_HERE
from recallens.render.details import held_to
from recallens.render.records import to_line
from recallens.text.token_count import count_tokens

LINES = {
    "English": "2026-06-01 12:00:{0:02d} INFO worker {0} finished its batch of parcels.\n",
    "Korean": "{0}번 작업이 끝났습니다. 다음으로 넘어갑니다.\n",
}


def test_a_task_gives_its_logs_and_snapshots_then_what_it_left(engine: Engine) -> None:
    note = engine.remember("Disks are grown in the console", task="T").id
    task = engine.tasks.start("Grow the disk", id="T", project="api")
    log = engine.tasks.log("T", "resized\nchecked\n")
    screen = engine.tasks.log("T", "  Filesystem  Size\n  /dev/sda    40G", kind="terminal_snapshot")
    running = engine.layers.details("T")
    assert [entry.id for entry in running.entries] == [log.id, screen.id, note]
    episode = engine.tasks.end(task.id, reward=1).episode
    found = engine.layers.details("T")
    assert [(entry.id, entry.full_content) for entry in found.entries[:2]] == [
        (log.id, "resized\nchecked"),
        (screen.id, "  Filesystem  Size\n  /dev/sda    40G"),  # the layout of a screen is kept
    ]
    assert [entry.citations for entry in found.entries[:2]] == [(LogCitation(log.id),), (TerminalCitation(screen.id),)]
    assert found.entries[2].id == episode
    assert found.entries[0].related == (engine.get(episode).handle, engine.get(note).handle)
    assert found.total == 3
    assert "task T (reward 1): Grow the disk" in found.to_text()


def test_an_entry_has_the_specified_fields(engine: Engine) -> None:
    engine.tasks.start("Grow the disk", id="T", project="api")
    engine.tasks.log("T", "resized")
    record = engine.layers.details("T").to_json()
    entry = record["entries"][0]
    assert {"id", "full_content", "metadata", "citations", "relatedEntries"} <= entry.keys()
    assert entry["citations"] == [{"kind": "log", "pointer": entry["id"]}]
    assert (entry["metadata"]["task"], entry["truncated"]) == ("T", False)
    assert record["tokens"] == count_tokens(to_line(record) + "\n")


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_long_log_shows_head_and_tail_in_about_500_tokens_and_says_so(engine: Engine, line: str) -> None:
    content = "".join(line.format(at) for at in range(600)) + "ERROR: the disk is full"
    task = engine.tasks.start("Run the batch", project="api", session="s-1")
    engine.tasks.log(task.id, content)
    found = engine.layers.details(task.id)
    (entry,) = found.entries
    assert entry.truncated
    assert entry.full_content.startswith(content.splitlines()[0])
    assert entry.full_content.endswith("ERROR: the disk is full")
    assert 300 <= count_tokens(entry.full_content) <= 400
    assert 300 <= count_tokens(found.to_text()) <= 600
    assert "601 lines" in found.to_text()
    (whole,) = engine.layers.details(task.id, full=True).entries
    assert (whole.full_content, whole.truncated) == (content, False)


def test_a_line_in_the_middle_of_a_log_is_reached_by_its_words_and_by_pages(engine: Engine) -> None:
    lines = [LINES["English"].format(at) for at in range(600)]
    lines[333] = "E11000 duplicate key in the table of couriers\n"
    task = engine.tasks.start("Run the batch")
    engine.tasks.log(task.id, "".join(lines))
    assert "E11000" not in engine.layers.details(task.id).to_text()
    assert (
        "E11000 duplicate key in the table of couriers" in engine.layers.details(task.id, match="duplicate").to_text()
    )
    seen, offset = "", 0
    while True:
        record = engine.layers.details(task.id, offset=offset or 1, tokens=2_000).to_json()
        (entry,) = record["entries"]
        assert count_tokens(to_line(record)) <= 2_000
        seen += entry["full_content"]
        if "nextOffset" not in entry["metadata"]:
            break
        assert entry["metadata"]["nextOffset"] > offset
        offset = entry["metadata"]["nextOffset"]
    assert all(line.strip() in seen for line in lines[1:])


@given(st.text(alphabet="ab 가나.\n🙂", min_size=1, max_size=400).filter(str.strip), st.integers(1, 60))
def test_no_text_is_longer_than_asked_and_a_cut_ends_a_line_or_sentence(text: str, tokens: int) -> None:
    shown = held_to(text, tokens)
    assert count_tokens(shown) <= max(tokens, 3)  # one character and an ellipsis may take three
    if not shown.endswith("…"):
        assert text.startswith(shown)


def test_a_memory_is_always_there_before_the_logs_of_its_task(engine: Engine) -> None:
    task = engine.tasks.start("Plan the tour")
    log = engine.tasks.log(task.id, "planned\n" * 400)
    lesson = engine.remember(Draft("Vans must be booked a week before", task=task.id, kind="lesson")).id
    episode = engine.tasks.end(task.id, reward=1).episode
    for id, text in ((lesson, "Vans must be booked a week before"), (episode, "Plan the tour")):
        found = engine.layers.details(id, tokens=300)
        assert [entry.id for entry in found.entries] == [id, log.id]
        assert text in found.to_text()
    silent = engine.tasks.start("Say nothing")
    assert engine.layers.details(silent.id).entries == ()
    ended = engine.tasks.end(silent.id, reward=0, summary="Nothing was said.")
    assert [entry.id for entry in engine.layers.details(silent.id).entries] == [ended.episode]


def test_a_memory_says_what_it_cites_and_is_linked_to_in_the_direction_that_holds(engine: Engine) -> None:
    plain = engine.remember(
        Draft("Couriers start at six", title="Start", citations=(FileCitation("plan.md", 1, 9),))
    ).id
    linked = engine.remember("Vans leave at seven").id
    hidden = engine.remember(Draft("Only for the depot", scopes=(ONLY_HERE,))).id
    engine.relate(linked, plain, "DEPENDS_ON")
    engine.relate(plain, hidden, "BUILDS_ON")
    found = engine.layers.details(plain)
    assert found.to_text().splitlines() == [
        "m1 2026-06-01T00:00 fact",
        " cites plan.md:1-9 (unchecked)",
        " Start",
        " Couriers start at six",
        "needed by m2: Vans leave at seven",
        "builds on m3 (withheld: meant for another context only)",
    ]
    (entry,) = found.to_json()["entries"]
    assert entry["relatedEntries"] == ["m2", "m3"]
    assert "depot" not in to_line(found.to_json())


@pytest.mark.parametrize("limit", [1, 8, 30, 120, 700])
def test_a_limit_of_tokens_holds_as_sent(engine: Engine, limit: int) -> None:
    task = engine.tasks.start("Run the batch")
    engine.tasks.log(task.id, "".join(LINES["Korean"].format(at) for at in range(300)))
    engine.tasks.log(task.id, "one\ntwo")
    memory = engine.remember(Draft("배포는 목요일에 한다. " * 60, task=task.id)).id
    for id in (task.id, memory):
        found = engine.layers.details(id, tokens=limit)
        assert count_tokens(found.to_text() + "\n") <= limit
        assert count_tokens(to_line(found.to_json()) + "\n") <= limit


def test_wrong_input_lists_what_would_be_right(engine: Engine) -> None:
    engine.remember("Couriers start at six")
    with pytest.raises(NotFound, match="no task and no memory 'nowhere'"):
        engine.layers.details("nowhere")
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(InvalidInput, match="whole number"):
            engine.layers.details("x", tokens=wrong)  # type: ignore[arg-type]
