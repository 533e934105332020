from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from recallens.cli.files import words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, OneOf, listed, several_ids, shared
from recallens.cli.screen import counted
from recallens.model.memory import RelationType

if TYPE_CHECKING:
    from recallens.operations import Answer


# ── a memory and another ──


@click.command()
@click.argument("id", type=TEXT)
@click.argument("text", nargs=-1, type=TEXT)
@shared
def edit(given: Given, id: str, text: tuple[str, ...]) -> None:
    """Give the memory ID a new TEXT (- for standard input, none for $EDITOR).

    The old text stays as history: a new memory with the same attributes supersedes it.
    """

    def printed(answer: Answer) -> None:
        record = answer.record
        if record["changed"]:
            click.echo(f"remembered {record['id']}, which supersedes {record['supersedes']}")
        else:
            click.echo(f"unchanged {record['id']}")

    with given.engine() as engine:
        old = engine.get(id)
        content = words(text) if text else _from_editor(old.content)
        answer = given.answer(engine, "rewrite_memory", {"id": old.id, "content": content})
    given.tell(answer, printed)


def _from_editor(content: str) -> str:
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise click.UsageError("give the new TEXT, or - to read it from standard input")
    edited = click.edit(content, extension=".md")
    return content if edited is None else edited


@click.command()
@click.argument("old", type=TEXT)
@click.argument("new", type=TEXT)
@shared
def supersede(given: Given, old: str, new: str) -> None:
    """Say that the memory NEW replaces OLD. Searches leave OLD out from now on; it stays as history."""
    given.perform(
        "supersede", {"old": old, "new": new},
        lambda answer: click.echo(f"{answer.record['new']} supersedes {answer.record['old']}"),
    )  # fmt: skip


@click.command()
@click.argument("source", type=TEXT)
@click.argument("target", type=TEXT)
@click.argument("type", type=OneOf(RelationType, "relation"))
@click.option("--confidence", type=float, default=1.0, metavar="0..1", help="How sure the link is (1).")
@shared
def relate(given: Given, source: str, target: str, type: RelationType, confidence: float) -> None:
    arguments = {"source": source, "target": target, "relation": type, "confidence": confidence}
    given.perform(
        "link_memories", arguments,
        lambda answer: click.echo(f"{answer.record['source']} {type} {answer.record['target']}"),
    )  # fmt: skip


relate.help = f"Link SOURCE to TARGET. TYPE is one of {listed(RelationType)}."


# ── several memories ──


@click.command()
@several_ids
@click.option("--session", metavar="ID", type=TEXT, help="The session that saw it proved.")
@shared
def confirm(given: Given, ids: tuple[str, ...], session: str | None) -> None:
    """Say that memories proved right: they are found more easily."""
    given.perform(
        "confirm_memories", {"ids": ids, "session": session}, lambda answer: print_changes("confirmed", answer)
    )


@click.command()
@several_ids
@shared
def deemphasise(given: Given, ids: tuple[str, ...]) -> None:
    """Halve the weight of memories, and keep them."""

    def printed(answer: Answer) -> None:
        for one in answer.record["deemphasised"]:
            click.echo(f"deemphasised {one['id']}: its salience starts at {one['baseSalience']:.2f}")

    given.perform("deemphasise_memories", {"ids": ids}, printed)


@click.command()
@several_ids
@click.option("--hard", is_flag=True, help="Delete for good: no byte of it stays in the store.")
@click.option("--yes", is_flag=True, help="Do not ask before --hard.")
@shared
def forget(given: Given, ids: tuple[str, ...], hard: bool, yes: bool) -> None:
    """Hide memories from every search. `recallens restore` brings them back, unless --hard deleted them."""
    with given.engine() as engine:
        # Every id is looked up first, so that a wrong one changes nothing.
        memories = tuple(dict.fromkeys(engine.get(id).id for id in ids))
        if hard and not given.agreed(f"deleting {counted(len(memories), 'memory', 'memories')} for good", yes=yes):
            return
        answer = given.answer(engine, "forget_memories", {"ids": memories, "hard": hard})
    word = "deleted" if hard else "forgot"
    given.tell(answer, lambda answer: click.echo("\n".join(f"{word} {id}" for id in memories)))


@click.command()
@several_ids
@shared
def restore(given: Given, ids: tuple[str, ...]) -> None:
    """Bring back what was forgotten."""

    def printed(answer: Answer) -> None:
        for one in answer.record["restored"]:
            click.echo(f"restored {one['id']}, which is {one['status']}")

    given.perform("restore_memories", {"ids": ids}, printed)


def print_changes(word: str, answer: Answer) -> None:
    """What was done, with the id of each memory that the record lists under that word."""
    click.echo("\n".join(f"{word} {id}" for id in answer.record[word]))


# ── review ──
