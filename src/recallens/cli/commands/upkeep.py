"""Looking after memories: what is told first, until when each holds, what a topic leads to, and taking back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, now_ms, several_ids, shared
from recallens.cli.screen import counted, say

if TYPE_CHECKING:
    from recallens.operations import Answer

NEVER = "never"


@click.command()
@several_ids
@click.option("--off", is_flag=True, help="No longer.")
@shared
def pin(given: Given, ids: tuple[str, ...], off: bool) -> None:
    """Tell memories first at the start of every session of their project, before what was decided last.

    `recallens list --pinned` shows them.
    """
    word = "unpinned" if off else "pinned"
    given.perform(
        "pin_memories", {"ids": ids, "pinned": not off},
        lambda answer: say("\n".join(f"{word} {handle}" for handle in answer.record["handles"])),
    )  # fmt: skip


@click.command()
@click.argument("id", type=TEXT)
@click.argument("when", type=TEXT)
@shared
def until(given: Given, id: str, when: str) -> None:
    """Say until WHEN the memory ID holds: 2026-12-31, 30d for in thirty days, now, or never for no end.

    Afterwards no search brings it, unless it asks as of an earlier day (`--as-of`).
    """
    from recallens.ingest.validate import later
    from recallens.model.times import moment

    end = None if when == NEVER else later(when, now_ms=now_ms())

    def printed(answer: Answer) -> None:
        handle = answer.record["handle"]
        say(f"{handle} holds without an end" if end is None else f"{handle} holds until {moment(end)} UTC")

    given.perform("hold_memory", {"id": id, "until": end}, printed)


@click.command()
@shared
def undo(given: Given) -> None:
    """Take the last change back: an edit, a replacement, what was forgotten, pinned, related or decided in review.

    It can be said again for the change before that, up to fifty. What `forget --hard` deleted is gone.
    """
    given.perform("undo_change", {}, lambda answer: say(f"taken back: {answer.record['undone']}"))


def forget_topic(given: Given, topic: str, *, dry_run: bool, yes: bool) -> None:
    """What names the topic, shown first; it is forgotten once the person has agreed."""
    with given.engine() as engine:
        found = given.answer(engine, "forget_about", {"topic": topic})
        if dry_run or not found.value:
            given.tell(found, _print_found)
            return
        if not given.json:
            _print_found(found)
        if not given.agreed(f"forgetting {counted(len(found.value), 'memory', 'memories')}", yes=yes):
            return
        sure = tuple(memory.id for memory in found.value)
        answer = given.answer(engine, "forget_about", {"topic": topic, "dry_run": False, "sure": sure})
    given.tell(
        answer, lambda answer: say(f"forgot {', '.join(answer.record['handles'])}; `recallens undo` brings them back")
    )


def _print_found(answer: Answer) -> None:
    for each in answer.record["memories"]:
        say(f"{each['handle']}  {each['title']}  (names {', '.join(each['names'])})")
    if not answer.record["memories"]:
        say(f"nothing here is about {answer.record['topic']!r}")
    for each in answer.record["related"]:
        say(f"stays: {each['handle']}  {each['title']}  (does not say {', '.join(each['lacks'])})")
