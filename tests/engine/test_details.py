"""Layer 3 on a real store: full logs, held to a size that is measured and told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.engine import Engine
from recallens.engine.layers import held_to
from recallens.errors import InvalidInput, NotFound
from recallens.model.citation import LogCitation, TerminalCitation
from recallens.render.records import detail_record
from recallens.text.token_count import count_tokens


def test_a_task_gives_its_logs_and_snapshots_in_full(engine: Engine) -> None:
    note = engine.remember("Disks are grown in the console", task="T").id
    task = engine.tasks.start("Grow the disk", id="T", project="api")
    log = engine.tasks.log("T", "resized\nchecked\n")
    screen = engine.tasks.log("T", "  Filesystem  Size\n  /dev/sda    40G", kind="terminal_snapshot")
    running = engine.layers.details("T")
    assert running.related == (note,)
    episode = engine.tasks.end(task.id, reward=1).episode
    found = engine.layers.details("T")
    assert [(entry.id, entry.full_content) for entry in found.entries] == [
        (log.id, "resized\nchecked"),
        (screen.id, "  Filesystem  Size\n  /dev/sda    40G"),  # the layout of a screen is kept
    ]
    assert [entry.citations for entry in found.entries] == [(LogCitation(log.id),), (TerminalCitation(screen.id),)]
    assert found.entries[0].related == (episode, note)
    assert found.total == 2
    assert len(engine.layers.details("T", limit=1).entries) == 1


def test_an_entry_has_the_specified_fields(engine: Engine) -> None:
    engine.tasks.start("Grow the disk", id="T", project="api")
    engine.tasks.log("T", "resized")
    record = detail_record(engine.layers.details("T").entries[0])
    assert {"id", "full_content", "metadata", "citations", "relatedEntries"} <= record.keys()
    assert record["citations"] == [{"kind": "log", "pointer": record["id"]}]
    assert record["metadata"]["task"] == "T"
    assert (record["truncated"], record["tokens"]) == (False, count_tokens("resized"))


@pytest.mark.parametrize(
    "line",
    [
        "2026-06-01 12:00:{0:02d} INFO worker {0} finished its batch of parcels.\n",
        "{0}번 작업이 끝났습니다. 다음으로 넘어갑니다.\n",
    ],
)
def test_a_long_log_is_held_to_about_500_tokens_and_says_so(engine: Engine, line: str) -> None:
    content = "".join(line.format(at) for at in range(2_000))
    task = engine.tasks.start("Run the batch", project="api", session="s-1")
    engine.tasks.log(task.id, content)
    engine.tasks.end(task.id, reward=0.7, summary="All of it ran.")
    (entry,) = engine.layers.details(task.id).entries
    assert entry.truncated
    assert content.startswith(entry.full_content + "\n")
    assert 350 <= entry.tokens == count_tokens(entry.full_content) <= 400
    assert entry.tokens + entry.omitted_tokens == count_tokens(content.rstrip())
    assert 400 <= count_tokens(json.dumps(detail_record(entry), ensure_ascii=False)) <= 600
    assert engine.layers.details(task.id, tokens=50).entries[0].tokens <= 50
    (whole,) = engine.layers.details(task.id, full=True).entries
    assert (whole.full_content, whole.truncated) == (content.rstrip(), False)


@given(st.text(alphabet="ab 가나.\n🙂", min_size=1, max_size=400).filter(str.strip), st.integers(1, 60))
def test_no_text_is_longer_than_asked_and_a_cut_ends_a_line_or_sentence(text: str, tokens: int) -> None:
    shown = held_to(text, tokens)
    assert count_tokens(shown) <= max(tokens, 3)  # one character and an ellipsis may take three
    if not shown.endswith("…"):
        assert text.startswith(shown)


def test_a_memory_leads_to_the_logs_of_its_task_or_to_itself(engine: Engine) -> None:
    plain = engine.remember("Couriers start at six", title="Start").id
    linked = engine.remember("Vans leave at seven").id
    engine.relate(plain, linked, "RELATED_TO")
    task = engine.tasks.start("Plan the tour")
    log = engine.tasks.log(task.id, "planned")
    episode = engine.tasks.end(task.id, reward=1).episode
    assert engine.layers.details(episode).entries[0].id == log.id
    (entry,) = engine.layers.details(plain).entries
    assert (entry.id, entry.full_content, entry.related) == (
        plain,
        f">> Couriers start at six\nRELATED_TO {linked}: Vans leave at seven",
        (linked,),
    )
    silent = engine.tasks.start("Say nothing")
    assert engine.layers.details(silent.id).entries == ()
    ended = engine.tasks.end(silent.id, reward=0, summary="Nothing was said.")
    assert [entry.id for entry in engine.layers.details(silent.id).entries] == [ended.episode]


def test_wrong_input_lists_what_would_be_right(engine: Engine) -> None:
    engine.remember("Couriers start at six")
    with pytest.raises(NotFound, match="no task and no memory 'nowhere'"):
        engine.layers.details("nowhere")
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(InvalidInput, match="positive whole number"):
            engine.layers.details("x", tokens=wrong)  # type: ignore[arg-type]
