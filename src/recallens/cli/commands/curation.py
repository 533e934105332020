from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import click
from rich.text import Text

from recallens.cli.files import words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, OneOf, listed, several_ids, shared
from recallens.cli.printers import table
from recallens.cli.screen import counted, say, screen
from recallens.errors import InvalidInput
from recallens.model.citation import Standing
from recallens.model.memory import RelationType
from recallens.render.formats import cited

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
        "confirm_memories", {"ids": ids, "session": session}, lambda answer: _print_lines("confirmed", answer)
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


def _print_lines(word: str, answer: Answer) -> None:
    """What was done, with the id of each memory that the record lists under that word."""
    click.echo("\n".join(f"{word} {id}" for id in answer.record[word]))


# ── review ──


@click.group()
def review() -> None:
    """Decide on memories that wait: pending ones and those in quarantine. Searches leave them out until then."""


@review.command("list")
@shared
def waiting(given: Given) -> None:
    """What waits for a decision, oldest first."""

    def printed(answer: Answer) -> None:
        console, memories = screen(given), answer.value
        if memories:
            console.print(table(memories))
        console.print(Text(f"{counted(len(memories), 'memory waits', 'memories wait')} for review", style="dim"))

    given.perform("list_reviews", {}, printed)


@review.command()
@several_ids
@shared
def approve(given: Given, ids: tuple[str, ...]) -> None:
    """Make them active and trusted."""
    given.perform("review_memories", {"ids": ids, "approve": True}, lambda answer: _print_lines("approved", answer))


@review.command()
@several_ids
@shared
def reject(given: Given, ids: tuple[str, ...]) -> None:
    """Keep them out of every search; `recallens prune` deletes them in the end."""
    given.perform("review_memories", {"ids": ids, "approve": False}, lambda answer: _print_lines("rejected", answer))


# ── citations ──


@click.group()
def cite() -> None:
    """What memories cite: files, symbols, commits, logs and terminal snapshots."""


@cite.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, type=TEXT)
@click.option("--all", "every", is_flag=True, help="Every memory that cites anything.")
@click.option("--root", metavar="DIR", type=TEXT, help="The checkout to look in (also RECALLENS_WORKSPACE).")
@click.option("--project", metavar="NAME", type=TEXT, help="With --all: only the memories of this project.")
@click.option("--mark", is_flag=True, help="Keep the verdicts: what is stale then needs review in a recall.")
@shared
def check(given: Given, ids: tuple[str, ...], every: bool, root: str | None, project: str | None, mark: bool) -> None:
    """Whether files, lines, symbols, commits and logs that are cited are there.

    \b
    recallens cite check --all --root ~/src/harbor --mark
    recallens cite check 01M7GPP8JD13

    Nothing outside the root is read, and nothing is written without --mark.
    """
    if bool(ids) == every:
        raise InvalidInput("name the memories to check, or all of them", hint="Use `cite check ID…` or `--all`.")
    if ids and project is not None:
        raise InvalidInput("--project goes with --all: an ID names its memory by itself")

    def printed(answer: Answer) -> None:
        counts = Counter(each.standing for one in answer.value for each in one.checked)
        for one in answer.value:
            for each in one.checked:
                if ids or each.standing is not Standing.VERIFIED:
                    why = f": {each.reason}" if each.reason else ""
                    say(f"{one.memory}  {each.standing:8}  {cited(each.citation)}{why}")
        figures = ", ".join(f"{counts[standing]:,} {standing}" for standing in Standing)
        memories = counted(len(answer.value), "memory", "memories")
        click.echo(f"{counted(sum(counts.values()), 'citation')} of {memories}: {figures}")
        if answer.record["root"] is None and counts[Standing.UNKNOWN]:
            given.note("no workspace: files and commits were not looked for. Give the checkout with --root DIR.")

    project = given.asker({"project": project})["project"] if every else None
    given.perform("check_citations", {"ids": ids, "root": root, "project": project, "mark": mark}, printed)
