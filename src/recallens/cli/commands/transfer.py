from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from recallens.cli.files import STDIN, opened
from recallens.cli.given import Given
from recallens.cli.options import shared
from recallens.cli.screen import counted, say
from recallens.errors import InvalidInput, StoreError

if TYPE_CHECKING:
    from recallens.operations import Answer


@click.command("export")
@click.argument("target")
@click.option("--vectors", is_flag=True, help="Also the vectors, so that an import need not encode anything.")
@click.option("--tokens", is_flag=True, help="Also what tokens open, and their digests; nobody knows their texts.")
@shared
@click.pass_context
def export_store(ctx: click.Context, given: Given, target: str, vectors: bool, tokens: bool) -> None:
    """Write everything of the store, or of the namespace that --namespace names, to the new file TARGET.

    The file is JSON lines, with every id, number, time, version and trail; `recallens import` makes a store of it that
    recalls the same. Use - for standard output. Rows that cannot be read are left out and told of; exit 4 then.
    """

    def printed(answer: Answer) -> None:
        record = answer.record
        told = counted(record["memories"], "memory", "memories")
        others = counted(record["rows"] - record["memories"], "other row")
        namespaces = ", ".join(record["namespaces"]) or "no namespace"
        (given.note if target == STDIN else say)(f"exported {told} and {others} of {namespaces} to {target}")
        if record["unreadable"]:
            left = counted(record["unreadable"], "row was", "rows were")
            listed = ", ".join(f"{count} {noun}" for noun, count in record["leftOut"].items())
            given.note(f"{left} left out, being unreadable ({listed}): `recallens doctor` names them")

    place = sys.stdout.buffer if target == STDIN else target
    arguments = {"target": place, "only": given.namespace, "vectors": vectors, "tokens": tokens}
    with given.engine() as engine:
        answer = given.answer(engine, "export_store", arguments)
    if target == STDIN:
        printed(answer)
    else:
        given.tell(answer, printed)
    if answer.record["unreadable"]:
        ctx.exit(StoreError.exit_code)


@click.command("import")
@click.argument("source")
@click.option("--tokens", is_flag=True, help="Also the tokens of the file: whoever has one may use this store.")
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
def import_store(given: Given, source: str, tokens: bool, no_embed: bool) -> None:
    """Make the namespaces of SOURCE, a file that `recallens export` wrote: all of it, or nothing.

    With --namespace only that one. A namespace that holds anything already is refused. Use - for standard input.
    """
    from recallens.engine.lines import LineReader

    if source != STDIN:
        with opened(source) as (stream, _):
            LineReader(stream).header()  # before a store is made for it

    def printed(answer: Answer) -> None:
        record = answer.record
        told = counted(record["memories"], "memory", "memories")
        others = counted(record["rows"] - record["memories"], "other row")
        say(f"imported {told} and {others} into {', '.join(record['namespaces'])}")
        if record["firstNumber"] != 1:
            given.note(f"numbers were taken in this store: what was m1 in the export is m{record['firstNumber']} here")
        if record["encoderKept"]:
            given.note(f"the texts are encoded by this store's own encoder, {record['encoder'] or 'none'}")
        if record["backlog"]:
            waiting = counted(record["backlog"], "text waits", "texts wait")
            given.note(f"{waiting} to be encoded; `recallens reindex` does it")

    place = sys.stdin.buffer if source == STDIN else source
    arguments = {"source": place, "only": given.namespace, "tokens": tokens, "embed": not no_embed}
    given.perform("import_store", arguments, printed, create=True, whole=True)


@click.command("migrate")
@click.option("--from", "source", metavar="STORE", required=True, help="The store to move: a file or postgresql://….")
@click.option("--to", "target", metavar="STORE", required=True, help="Where to: a new file, or an empty database.")
@shared
def migrate_store(given: Given, source: str, target: str) -> None:
    """Move everything of one store into another that is empty: from a file to a server, or back.

    Ids, numbers, history, vectors and tokens stay as they are. Every row is read back and compared; the first store is
    left as it was. It is one transaction: where it is stopped, nothing has happened, and it can be begun again.

    \b
    recallens migrate --from team.db --to postgresql://app@db.internal/recallens
    """
    from recallens.cli.screen import Bars
    from recallens.engine import Engine
    from recallens.engine.migration import migrate

    if given.store is not None:
        raise InvalidInput("--store is of no use here", hint="Give --from and --to.")
    with (
        Engine.open(source, create=False) as old,
        Engine.open(target) as new,
        Bars(given).growing("moving") as progress,
    ):
        moved = migrate(old.core, new.core, progress=progress)
        places = old.core.store.location, new.core.store.location
    if given.json:
        given.emit({
            "from": places[0], "to": places[1], "namespaces": [name for name in moved.carried.counts if name],
            "memories": moved.carried.memories, "rows": moved.compared, "equal": True,
        })  # fmt: skip
        return
    memories = counted(moved.carried.memories, "memory", "memories")
    others = counted(moved.compared - moved.carried.memories, "other row")
    say(f"moved {memories} and {others} to {places[1]}: all are equal")
