from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, WHOLE_STORE, refuse_unused, shared
from recallens.cli.screen import counted, say, screen
from recallens.errors import EncoderError, StoreBusy, StoreDamaged, StoreError

if TYPE_CHECKING:
    from recallens.engine import Engine
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
        if "hooks" in held:
            rows.append(("hooks", _hooks_told(held["hooks"])))
        screen(given).print(facts(rows))

    with given.engine() as engine:
        answer = given.answer(engine, "stats", {})
        hooks = _hook_rates(engine.core.settings.store)
    given.tell(replace(answer, record={**answer.record, **hooks}), printed)


def _hook_rates(store: str) -> dict[str, Any]:
    """How the hooks of this machine did; nothing where none ever ran."""
    from recallens.cli.hook_log import HookLog
    from recallens.model.hook import rates
    from recallens.model.memory import as_json

    decisions = list(HookLog(store).read())
    return {"hooks": as_json(rates(decisions))} if decisions else {}


def _hooks_told(hooks: dict[str, Any]) -> str:
    told = f"{counted(hooks['injections'], 'injection')}, {counted(hooks['silences'], 'silence')}"
    if hooks["judgedInjections"]:
        told += f"; false fires {hooks['falseFires']:,} of {hooks['judgedInjections']:,}"
    if hooks["judgedSilences"]:
        told += f"; misses {hooks['misses']:,} of {hooks['judgedSilences']:,}"
    return told


@click.command()
@shared
@click.pass_context
def doctor(ctx: click.Context, given: Given) -> None:
    """Check the file, the indexes and the encoder. Changes nothing; exit 4 if there is a problem."""

    def printed(answer: Answer) -> None:
        facts, problems = answer.record["facts"], answer.record["problems"]
        made_by = f"SQLite {facts['sqlite']}" if "sqlite" in facts else f"PostgreSQL {facts['postgres']}"
        say(f"{facts['path']}, {facts['bytes']:,} bytes, {made_by}")
        say(f"encoder {facts['encoder'] or 'none'}")
        if facts["backlog"]:
            waiting = counted(facts["backlog"], "text waits", "texts wait")
            click.echo(f"{waiting} to be encoded; `recallens reindex` does it")
        for each in problems:
            say(f"problem: {each['problem']}\n  next: {each['next']}")
        click.echo(counted(len(problems), "problem") if problems else "no problems")
        given.note(f"every row was looked at in {facts['seconds']:.1f} s")

    refuse_unused(*WHOLE_STORE)
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

    refuse_unused(*WHOLE_STORE)
    given.perform("reindex", {"encoder": encoder, "vectors": vectors}, printed)


@click.command()
@click.option("--every", metavar="SECONDS", type=click.FloatRange(min=0.1, max=3600), default=2.0,
              help="How long to wait where nothing waits (2).")  # fmt: skip
@click.option("--once", is_flag=True, help="End when nothing waits any more.")
@shared
def worker(given: Given, every: float, once: bool) -> None:
    """Encode what waits for a vector, until Ctrl-C. Beside a store on a server any number may run, on any machine.

    Each takes texts of its own; what one that died had taken is free again after two minutes. A server or an encoder
    that does not answer is told of once, and waited for. Where the server has pgvector, it also makes the index of
    namespaces that are larger than the setting resident_memories.
    """
    import signal
    import time
    from threading import Event

    stop, encoded, failing, look = Event(), 0, False, 0.0
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, lambda *_: stop.set())  # what is being encoded is written first
    with given.engine(create=True) as engine:
        while not stop.is_set():
            try:
                encoded += engine.encoder.drain()
                if time.monotonic() >= look:  # nobody waits for it, so it is not looked for after every text
                    look = time.monotonic() + LOOK_SECONDS
                    _index_large(given, engine)
                failing = False
            except (StoreBusy, EncoderError) as error:
                if once:
                    raise
                if not failing:
                    given.note(f"{error} It is tried again.")
                failing = True
            if once:
                break
            stop.wait(every)
        waiting = engine.encoder.waiting() if not failing else 0
    if given.json:
        given.emit({"encoded": encoded, "backlog": waiting})
        return
    say(f"encoded {counted(encoded, 'text')}")


# How often a worker looks for namespaces that have become large.
LOOK_SECONDS = 60.0


def _index_large(given: Given, engine: Engine) -> None:
    """One worker at a time makes an index; the others leave it to that one."""
    if engine.core.store.path is not None:
        return
    holder = f"{os.getpid()}-{id(engine)}"
    for name in engine.maintenance.large.due():
        if not engine.core.store.lease("index", holder, seconds=3600):
            return
        try:
            standing = engine.maintenance.large.index(name)
            given.note(f"{name}: the database proposes candidates from now on ({standing.memories:,} memories)")
        except StoreBusy:
            raise
        except StoreError as error:
            given.note(f"{name} stays in memory: {error}")
        finally:
            engine.core.store.release("index", holder)


@click.command()
@click.argument("target")
@shared
def backup(given: Given, target: str) -> None:
    """Copy the store to the new file TARGET while others go on using it. The copy is a store like any other."""
    refuse_unused(*WHOLE_STORE)
    given.perform(
        "backup", {"target": target}, lambda answer: say(f"copied to {target} ({answer.record['bytes']:,} bytes)")
    )


_TRAILS = {
    "ledgers": ("recorded search",), "recalls": ("recall",), "sessionLinks": ("session link",),
    "audit": ("audit entry", "audit entries"),
}  # fmt: skip


@click.command()
@click.option("--older-than", type=int, metavar="DAYS", help="Also memories that were forgotten this long ago.")
@click.option("--superseded", is_flag=True, help="Also what was superseded that long ago.")
@click.option("--yes", is_flag=True, help="Delete. Without it, only show what would go.")
@shared
def prune(given: Given, older_than: int | None, superseded: bool, yes: bool) -> None:
    """Delete what is kept no longer: trails (settings ledger_days, trail_days), and memories forgotten long ago.

    Without --yes it only shows what would go.
    """

    def printed(answer: Answer) -> None:
        from recallens.cli.printers import table

        console, due = screen(given), answer.value
        if due:
            console.print(table(due))
        trails = answer.record["trails"]
        told = counted(len(due), "memory", "memories") if older_than is not None else ""
        of_trails = (counted(trails[name], *words) for name, words in _TRAILS.items() if trails[name])
        going = ", ".join(filter(None, (told, *of_trails))) or "nothing"
        if going != "nothing":
            console.print(f"deleted {going} for good" if yes else f"{going} would go; --yes deletes them for good")
        else:
            console.print("nothing is due")

    if older_than is None:
        refuse_unused("without --older-than, which says how long ago", "superseded")
    given.perform("prune", {"older_than": older_than, "superseded": superseded, "delete": yes}, printed)


# ── the encoder ──
