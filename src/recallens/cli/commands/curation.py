from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recallens.cli.commands.upkeep import forget_topic
from recallens.cli.files import words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, OneOf, listed, refuse_unused, several_ids, shared
from recallens.cli.screen import counted, say
from recallens.config import is_address
from recallens.errors import InvalidInput
from recallens.model.memory import RelationType, Status

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
            say(f"remembered {record['id']}, which supersedes {record['supersedes']}")
        else:
            say(f"unchanged {record['id']}")

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
        lambda answer: say(f"{answer.record['new']} supersedes {answer.record['old']}"),
    )  # fmt: skip


@click.command()
@click.argument("source", type=TEXT)
@click.argument("target", type=TEXT)
@click.argument("type", type=OneOf(RelationType, "relation"))
@click.option("--confidence", type=float, default=1.0, metavar="0..1", help="How sure the link is (1).")
@click.option("--remove", is_flag=True, help="Take the link away; it stays as history.")
@shared
def relate(given: Given, source: str, target: str, type: RelationType, confidence: float, remove: bool) -> None:
    arguments = {"source": source, "target": target, "relation": type, "confidence": confidence}
    if remove:
        refuse_unused("with --remove", "confidence")
        given.perform(
            "unlink_memories", arguments,
            lambda answer: say(f"removed {answer.record['source']} {type} {answer.record['target']}"),
        )  # fmt: skip
        return
    given.perform(
        "link_memories", arguments,
        lambda answer: say(f"{answer.record['source']} {type} {answer.record['target']}"),
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
            say(f"deemphasised {one['id']}: its salience starts at {one['baseSalience']:.2f}")

    given.perform("deemphasise_memories", {"ids": ids}, printed)


@click.command()
@click.argument("ids", nargs=-1, type=TEXT, metavar="IDS...")
@click.option("--hard", is_flag=True, help="Delete for good, with what quotes it: no byte stays in the store.")
@click.option("--about", metavar="TOPIC", type=TEXT, help="What names every word of this, instead of IDS.")
@click.option("--dry-run", is_flag=True, help="Show what would be forgotten or deleted, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before --hard or --about.")
@click.option("--verify", is_flag=True, help="Look at every byte of the store: for what is deleted, or for texts.")
@shared
def forget(
    given: Given, ids: tuple[str, ...], hard: bool, about: str | None, dry_run: bool, yes: bool, verify: bool
) -> None:
    """Hide memories from every search. `recallens undo` or `restore` brings them back, unless --hard deleted them.

    \b
    recallens forget m12 m13
    recallens forget --about "the old billing system" --dry-run

    Exit 8: deleted, but another process still reads an older state. Whoever opens the store next finishes it.
    """
    if verify:
        refuse_unused("with --verify, which only looks", "hard", "about", "dry_run", "yes", "namespace")
        given.perform("verify_erasure", {"texts": ids}, _print_proof)
        return
    if about is not None:
        if ids or hard:
            raise InvalidInput("--about finds what to forget by itself", hint="Use it without IDS and without --hard.")
        forget_topic(given, about, dry_run=dry_run, yes=yes)
        return
    if not ids:
        raise InvalidInput("nothing to forget", hint="Name memories: `recallens list` shows handles.")
    with given.engine() as engine:
        # Every id is looked up first, so that a wrong one changes nothing.
        memories = {memory.id: memory for memory in map(engine.get, ids)}
        if dry_run:
            answer = given.answer(engine, "forget_memories", {"ids": tuple(memories), "hard": hard, "dry_run": True})
            given.tell(answer, lambda answer: _print_foreseen(given, answer))
            return
        if hard and not given.agreed(f"deleting {counted(len(memories), 'memory', 'memories')} for good", yes=yes):
            return
        answer = given.answer(engine, "forget_memories", {"ids": tuple(memories), "hard": hard})
    gone = ((each.handle, each.status is Status.FORGOTTEN) for each in memories.values())
    hidden = "\n".join(f"{handle} was forgotten before" if before else f"forgot {handle}" for handle, before in gone)
    given.tell(answer, _print_receipt if hard else lambda answer: say(hidden))


def _print_foreseen(given: Given, answer: Answer) -> None:
    for each in answer.record["memories"]:
        say(f"would {'delete' if answer.record['hard'] else 'forget'} {each['handle']}  {each['title']}")
    for each in answer.value.erased if answer.value is not None else ():
        if each.why != "named":
            say(f"  with it: {each.kind} {each.name}, {each.why}")
    given.note("nothing was changed: leave out --dry-run to do it")


def _print_receipt(answer: Answer) -> None:
    """What is gone, what stays, and what lies in other files."""
    receipt = answer.value
    for each in receipt.erased:
        named = each.kind == "memory" and each.why == "named"
        say(f"deleted {each.name}" if named else f"  with it: {each.kind} {each.name}, {each.why}")
    for text in receipt.remade:
        say(f"  made anew: {text}")
    for text in receipt.kept:
        say(f"  kept: {text}")
    for text in receipt.outside:
        say(f"  outside the store: {text}")
    if receipt.pending is None:
        looked = f"{counted(receipt.pages, 'page')} looked at"
        if receipt.beyond is None:
            say(f"no byte of it is left in the store: {looked}")
        else:
            say(f"no row of it is left in the store: {looked}\n  may still keep bytes of it: {receipt.beyond}")


def _print_proof(answer: Answer) -> None:
    proof = answer.value
    if proof.beyond is None:
        say(f"looked at {proof.bytes:,} bytes in {counted(proof.files, 'file')}")
    else:
        say(f"looked into every table\n  may still keep bytes of what is deleted: {proof.beyond}")
    for name in proof.outside:
        say(f"  outside the store: {name} holds it")
    if proof.finished:
        say("nothing in it belongs to what is deleted")


@click.command()
@click.argument("ids", nargs=-1, type=TEXT, metavar="IDS...")
@click.option("--from", "backup", metavar="BACKUP", type=click.Path(path_type=Path), help="Put a whole backup back.")
@shared
def restore(given: Given, ids: tuple[str, ...], backup: Path | None) -> None:
    """Bring back the memories IDS that were forgotten, or with --from the whole store as it was in BACKUP.

    The store that a backup replaces is kept beside it under another name.
    """
    if backup is not None:
        _restore_store(given, ids, backup)
        return
    if not ids:
        raise InvalidInput("nothing to restore", hint="Name memories, or a backup with --from BACKUP.")

    def printed(answer: Answer) -> None:
        for one in answer.record["restored"]:
            say(f"restored {one['id']}, which is {one['status']}")

    given.perform("restore_memories", {"ids": ids}, printed)


def _restore_store(given: Given, ids: tuple[str, ...], backup: Path) -> None:
    from recallens.store.sqlite.connection import restore as put_back

    if ids:
        raise InvalidInput("a backup is restored whole", hint="Give either memories or --from BACKUP.")
    refuse_unused("with --from: a backup is restored whole", "namespace")
    named = given.settings().store
    if is_address(named):
        raise InvalidInput(
            "a store on PostgreSQL is put back by the server's own tools",
            hint=f"Run pg_restore --clean --if-exists --dbname=DATABASE {backup}.",
        )
    store = Path(named)
    kept = put_back(store, backup.expanduser())
    if given.json:
        given.emit({"store": str(store), "backup": str(backup), "kept": kept and str(kept)})
        return
    say(f"restored {store} from {backup}" + (f"; what was there is kept as {kept}" if kept else ""))


def print_changes(word: str, answer: Answer) -> None:
    """What was done, with the id of each memory that the record lists under that word."""
    say("\n".join(f"{word} {id}" for id in answer.record[word]))


# ── review ──
