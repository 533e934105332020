from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, shared
from recallens.cli.screen import counted, say, screen, visible
from recallens.errors import StoreDamaged, StoreError

if TYPE_CHECKING:
    from recallens.operations import Answer


@click.command()
@click.option("--encoder", metavar="SPEC", type=TEXT,
              help="minilm, openai:MODEL, ollama:MODEL, fastembed:MODEL or none.")  # fmt: skip
@shared
def init(given: Given, encoder: str | None) -> None:
    """Make a store, or say what the one that is there uses.

    The encoder turns text into vectors. A new store takes the packaged one, or one that is found on this machine:
    `recallens encoder detect` shows what there is, `recallens encoder use SPEC` changes it.
    """

    def printed(answer: Answer) -> None:
        record = answer.record
        say(f"store      {record['store']}")
        say(f"namespace  {record['namespace']}")
        say(f"encoder    {record['encoderSpec']}")
        if "suggestedEncoder" in record:
            given.note(f"{answer.value.reason}: recallens encoder use {record['suggestedEncoder']}")
        if record["encoder"] is None:
            click.echo("This store has no encoder: searches go by words alone.")

    given.perform("init_store", {}, printed, create=True, encoder=encoder)


@click.command()
@shared
def stats(given: Given) -> None:
    """What the namespace holds, and how it is encoded."""

    def printed(answer: Answer) -> None:
        from recallens.cli.printers import facts

        held = answer.record
        rows: list[tuple[str, str | None]] = [
            ("store", held["store"] + (" (read-only)" if held["readOnly"] else "")),
            ("namespace", held["namespace"]),
            ("encoder", held["encoder"] or "none: searches go by words alone"),
        ]
        rows += [(name, f"{count:,}") for name, count in held["totals"].items()]
        for name, counts in held["by"].items():
            rows.append((f"by {name}", ", ".join(f"{value.replace('_', ' ')} {n:,}" for value, n in counts.items())))
        screen(given).print(facts(rows))

    given.perform("stats", {}, printed)


@click.command()
@shared
@click.pass_context
def doctor(ctx: click.Context, given: Given) -> None:
    """Check the file, the indexes and the encoder. Changes nothing; exit 4 if there is a problem."""

    def printed(answer: Answer) -> None:
        facts, problems = answer.record["facts"], answer.record["problems"]
        say(f"{facts['path']}, {facts['bytes']:,} bytes, SQLite {facts['sqlite']}")
        say(f"encoder {facts['encoder'] or 'none'}")
        if facts["backlog"]:
            waiting = counted(facts["backlog"], "text waits", "texts wait")
            click.echo(f"{waiting} to be encoded; `recallens reindex` does it")
        for each in problems:
            say(f"problem: {each['problem']}\n  next: {each['next']}")
        click.echo(counted(len(problems), "problem") if problems else "no problems")

    try:
        answer = given.perform("doctor", {}, printed)
    except StoreDamaged as error:  # one that cannot even be opened
        from recallens.operations.machine import RESTORE

        raise StoreDamaged(error.message, hint=f"Nothing was changed. {RESTORE}") from error
    if not answer.record["ok"]:
        ctx.exit(StoreError.exit_code)


@click.command()
@click.option("--encoder", metavar="SPEC", type=TEXT,
              help="Encode with another one: minilm, openai:MODEL, ollama:MODEL, fastembed:MODEL or none.")  # fmt: skip
@click.option("--vectors", is_flag=True, help="Encode everything again with the same encoder.")
@shared
def reindex(given: Given, encoder: str | None, vectors: bool) -> None:
    """Build everything derived anew from the memories, and encode what waits. It can be stopped and run again."""

    def printed(answer: Answer) -> None:
        record = answer.record
        click.echo(f"indexed {counted(record['entries'], 'memory', 'memories')}, encoded {record['encoded']:,}")
        if record["backlog"] and answer.failure is None:
            given.note(f"{counted(record['backlog'], 'text waits', 'texts wait')}: another process is encoding")

    given.perform("reindex", {"encoder": encoder, "vectors": vectors}, printed)


@click.command()
@click.argument("target")
@shared
def backup(given: Given, target: str) -> None:
    """Copy the store to the new file TARGET while others go on using it. The copy is a store like any other."""
    given.perform(
        "backup", {"target": target}, lambda answer: say(f"copied to {target} ({answer.record['bytes']:,} bytes)")
    )


@click.command()
@click.option("--older-than", type=int, required=True, metavar="DAYS", help="Only what was forgotten this long ago.")
@click.option("--superseded", is_flag=True, help="Also what was superseded that long ago.")
@click.option("--yes", is_flag=True, help="Delete. Without it, only show what would go.")
@shared
def prune(given: Given, older_than: int, superseded: bool, yes: bool) -> None:
    """Delete for good what was forgotten or rejected long ago. Without --yes it only shows what would go."""

    def printed(answer: Answer) -> None:
        from recallens.cli.printers import table

        console, due = screen(given), answer.value
        if due:
            console.print(table(due))
        told = counted(len(due), "memory", "memories")
        console.print(f"deleted {told} for good" if yes else f"{told} would go; --yes deletes them for good")

    given.perform("prune", {"older_than": older_than, "superseded": superseded, "delete": yes}, printed)


# ── the encoder ──


@click.group()
def encoder() -> None:
    """Find, choose or clear the encoder, which turns text into vectors."""


@encoder.command()
@shared
def detect(given: Given) -> None:
    """Look for encoders: the packaged one, Ollama, and the endpoint that is set. Nothing is downloaded or changed."""

    def printed(answer: Answer) -> None:
        detection = answer.value
        say(f"in use     {detection.current or 'none yet'}")
        for found in detection.available:
            say(f"available  {found.spec}{'  (multilingual)' if found.multilingual else ''}")
        for place in detection.looked:
            if place.problem is not None:
                say(f"not there  {place.place}: {place.problem}")
        for spec in detection.cleared:
            say(f"cleared    {spec}")
        say(f"suggested  {detection.suggestion or 'nothing else'}: {detection.reason}")
        if detection.suggestion is not None:
            given.note(f"recallens encoder use {detection.suggestion}")

    given.perform("detect_encoders", {}, printed, create=True)


@encoder.command()
@click.argument("spec", type=TEXT)
@shared
def use(given: Given, spec: str) -> None:
    """Encode everything with SPEC from now on: minilm, openai:MODEL, ollama:MODEL, fastembed:MODEL or none."""
    given.perform(
        "use_encoder", {"spec": spec},
        lambda answer: say(f"uses {spec}, encoded {counted(answer.record['encoded'], 'text')}"), create=True,
    )  # fmt: skip


@encoder.command()
@shared
def clear(given: Given) -> None:
    """Search by words alone. What was used is never set again by itself; `encoder use` sets it by name."""

    def printed(answer: Answer) -> None:
        before = answer.record["cleared"]
        say(f"cleared {before}: words alone from now on" if before else "there is no encoder to clear")

    given.perform("clear_encoder", {}, printed)


# ── namespaces ──


@click.group()
def namespace() -> None:
    """List or remove namespaces. Nothing crosses from one to another."""


@namespace.command("list")
@shared
def names(given: Given) -> None:
    """Every namespace and how many memories it holds."""

    def printed(answer: Answer) -> None:
        for one in answer.record["namespaces"]:
            say(f"{one['name']}  {counted(one['memories'], 'memory', 'memories')}")

    given.perform("namespaces", {}, printed)


@namespace.command()
@click.argument("name", type=TEXT)
@click.option("--yes", is_flag=True, help="Do not ask.")
@shared
def remove(given: Given, name: str, yes: bool) -> None:
    """Delete the namespace NAME and everything in it for good."""
    with given.engine() as engine:
        held = dict(engine.maintenance.namespaces()).get(name)
        # An unknown name is refused by the engine; there is nothing to ask about.
        if held is not None and not given.agreed(
            f"deleting namespace {name} and its {counted(held, 'memory', 'memories')} for good", yes=yes
        ):
            return
        answer = given.answer(engine, "remove_namespace", {"name": name})
    memories = counted(answer.record["memories"], "memory", "memories")
    given.tell(answer, lambda answer: say(f"removed {name} and its {memories}"))


# ── settings ──


@click.group()
def config() -> None:
    """The settings in force. Flag > environment > .recallens.toml > the user's config.toml > default."""


@config.command()
@shared
def show(given: Given) -> None:
    """Each setting, its value, where it came from and what it means. Keys are never shown."""
    from rich.text import Text

    settings = given.settings()
    from recallens.operations.machine import config_record

    record = config_record(settings)
    if given.json:
        given.emit(record)
        return
    console = screen(given)
    for name, setting in record.items():
        value = setting["value"]
        told = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        line = Text.assemble((name, "bold"), f" = {visible(told)}", (visible(f"  ({setting['from']})"), "dim"))
        console.print(line, soft_wrap=True)
        console.print(Text(f"    {setting['about']}", style="dim"), soft_wrap=True)
