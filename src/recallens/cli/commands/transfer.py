from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.files import STDIN, opened
from recallens.cli.given import Given
from recallens.cli.options import TEXT, OneOf, listed, refuse_unused, shared
from recallens.cli.screen import counted, redactions_told, say
from recallens.errors import StoreError
from recallens.model.memory import Zone

if TYPE_CHECKING:
    from recallens.operations import Answer

# Of the entries that are skipped for one reason, so many are named on the screen.
SHOWN_PLACES = 20


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
@click.option("--from", "program", metavar="NAME", help="What another program keeps; a wrong NAME lists them all.")
@click.option("--dry-run", is_flag=True, help="With --from: say what would be imported, and write nothing.")
@click.option("--zone", type=OneOf(Zone, "zone"), help=f"With --from: how far to trust it: {listed(Zone)} (working).")
@click.option("--project", metavar="NAME", type=TEXT, help="With --from: the project it belongs to.")
@click.option("--tokens", is_flag=True, help="Also the tokens of an export: whoever has one may use this store.")
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
def import_store(
    given: Given, source: str, program: str | None, dry_run: bool, zone: Zone | None, project: str | None, tokens: bool,
    no_embed: bool,
) -> None:  # fmt: skip
    """Make the namespaces of SOURCE, a file that `recallens export` wrote: all of it, or nothing. Use - for standard
    input. With --namespace only that one; one that holds anything already is refused.

    With --from, take in what another program keeps at SOURCE, a file or a folder. Twice is the same as once.

    \b
    recallens import --from claude-code ~ --dry-run
    recallens import --from chatgpt ~/Downloads/export
    recallens import --from git .
    """
    if program is not None:
        refuse_unused("with --from: it is for a file that `recallens export` wrote", "tokens")
        _import_from(given, program, source, dry_run=dry_run, zone=zone, project=project, embed=not no_embed)
        return
    refuse_unused("without --from NAME: it is for what another program keeps", "dry_run", "zone", "project")
    _import_export(given, source, tokens=tokens, embed=not no_embed)


def _import_export(given: Given, source: str, *, tokens: bool, embed: bool) -> None:
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
    arguments = {"source": place, "only": given.namespace, "tokens": tokens, "embed": embed}
    given.perform("import_store", arguments, printed, create=True, whole=True)


def _import_from(
    given: Given, program: str, path: str, *, dry_run: bool, zone: Zone | None, project: str | None, embed: bool
) -> None:
    from recallens.ingest.importers import files_of, source_named

    files_of(source_named(program), Path(path).expanduser())  # before a store is made for it
    arguments = {
        "source": program, "path": path, "zone": zone, "project": project, "dry_run": dry_run, "embed": embed,
    }  # fmt: skip
    with given.looking() if dry_run else given.engine(create=True, whole=True) as engine:
        answer = given.answer(engine, "import_from", arguments)
    given.tell(answer, lambda answer: _print_imported(given, answer.record))


def _print_imported(given: Given, record: dict[str, Any]) -> None:
    skipped, dry = record["skipped"], record["dryRun"]
    of_files = f" of {counted(record['files'], 'file')}" if record["files"] else ""  # a history has none
    say(
        f"{counted(record['read'], 'entry', 'entries')}{of_files} read:"
        f" {record['imported']} {'would be ' if dry else ''}imported, {record['alreadyThere']} already there,"
        f" {len(skipped)} skipped"
    )
    also = [
        (record["sessions"], "session", None), (record["relations"], "relation", None),
        (record["replaced"], "changed text", None), (record["quarantined"], "output of tools in quarantine",
         "outputs of tools in quarantine"), (record["redacted"], "text redacted", "texts redacted"),
    ]  # fmt: skip
    if record["found"]:
        found = counted(record["found"], "decision, correction or command that worked at last",
                        "decisions, corrections and commands that worked at last")  # fmt: skip
        say(f"{found} {'would be ' if dry else ''}found in what was said")
    if any(count for count, _, _ in also):
        say("with " + ", ".join(counted(count, noun, plural) for count, noun, plural in also if count))
    if record["redactions"]:
        told = [(one["place"], one["kinds"]) for one in record["redactions"]]
        given.note(redactions_told(told, record["redacted"]))
    reasons: dict[str, list[str]] = {}
    for entry in skipped:
        reasons.setdefault(entry["reason"], []).append(entry["place"])
    for reason, places in sorted(reasons.items(), key=lambda item: -len(item[1])):
        more = f" and {len(places) - SHOWN_PLACES} more (--json names all)" if len(places) > SHOWN_PLACES else ""
        given.note(f"skipped {len(places)}: {reason}: {_places_named(places[:SHOWN_PLACES])}{more}")
    if dry:
        given.note("nothing was written: leave out --dry-run to do it")
    if record.get("vault"):
        given.note(f"it is the vault {record['vault']} now: `recallens vault sync` reads what you edit later")
    if record["backlog"] and not dry:
        given.note(
            f"{counted(record['backlog'], 'text waits', 'texts wait')} to be encoded; `recallens reindex` does it"
        )


def _places_named(places: list[str]) -> str:
    """One after the other; lines of one file stand behind its name once."""
    files: dict[str, list[str]] = {}
    for place in places:
        file, _, line = place.rpartition(":")
        files.setdefault(file if line.isdigit() else place, []).extend([line] if line.isdigit() and file else [])
    return "; ".join(f"{file}:{','.join(lines)}" if lines else file for file, lines in files.items())


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

    refuse_unused("here: --from and --to name the stores, and all of one is moved", "store", "namespace")
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
