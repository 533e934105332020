from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from recallens.cli.given import Given
from recallens.cli.options import TEXT, WHOLE_STORE, refuse_unused, shared
from recallens.cli.screen import counted, say, screen, visible

if TYPE_CHECKING:
    from recallens.operations import Answer


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

    with given.looking() as engine:
        given.tell(given.answer(engine, "detect_encoders", {}), printed)


@encoder.command()
@click.argument("spec", type=TEXT)
@shared
def use(given: Given, spec: str) -> None:
    """Encode everything with SPEC from now on: minilm, openai:MODEL, ollama:MODEL, fastembed:MODEL or none."""
    refuse_unused(*WHOLE_STORE)
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

    refuse_unused(*WHOLE_STORE)
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
    refuse_unused("here: NAME says which", "namespace")
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


@click.command()
@click.argument("place", type=click.Path(path_type=Path), default=".")
@click.option("--undo", is_flag=True, help="Take the trust back.")
@shared
def trust(given: Given, place: Path, undo: bool) -> None:
    """Let the project file PLACE (or that of the folder PLACE) set what names a place, a key or an encoder.

    It is trusted as it stands: once its text changes, it has to be trusted again.
    """
    from recallens import project_file
    from recallens.config import trusted_files

    path = (place / project_file.NAME if place.is_dir() else place).resolve()
    if undo:
        had = project_file.distrust(path, trusted_files())
        record, line = {"distrusted": str(path) if had else None}, f"no longer trusted: {path}"
        line = line if had else f"{path} was not trusted"
    else:
        text = project_file.trust(path, trusted_files())
        record, line = {"trusted": str(path)}, f"trusted as it stands: {path}\n{text.strip()}"
    if given.json:
        given.emit(record)
    else:
        say(visible(line))
