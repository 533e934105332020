"""What every command is given: where to look, how to answer. The engine is opened only when a command asks for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recallens.config import is_address
from recallens.errors import InvalidInput, StoreMissing

if TYPE_CHECKING:
    from recallens.config import Settings
    from recallens.engine import Engine
    from recallens.model.recall import Recall
    from recallens.operations import Answer, Written

Printer = Callable[["Answer"], object]


@dataclass(slots=True)
class Given:
    """The shared options. `None` means that the environment, a file or the default decides."""

    store: str | None = None
    namespace: str | None = None
    json: bool = False
    no_color: bool = False

    def settings(self, **flags: object) -> Settings:
        from recallens.config import load

        return load({"store": self.store, "namespace": self.namespace, **flags})

    def asker(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options with the project and the session that the settings name where none is given.

        An empty project means any.
        """
        settings, project = self.settings(), options.get("project")
        project = settings.project if project is None else project
        return {**options, "project": project or None, "session": options.get("session") or settings.session}

    @contextmanager
    def engine(self, *, create: bool = False, whole: bool = False, **flags: object) -> Iterator[Engine]:
        """The store, made first with `create`. With `whole`, one that was made for what then fails is not left."""
        from recallens.engine import Engine
        from recallens.ingest.validate import namespace_name

        settings = self.settings(**flags)
        namespace_name(settings.namespace)  # before a store is made for it
        fresh = create and not is_address(settings.store) and not Path(settings.store).exists()
        place = Path(settings.store).expanduser().absolute()
        folders = [folder for folder in place.parents if not folder.exists()] if fresh else []
        beside = f", and the folder {place.parent} for it" if folders and self.store is not None else ""
        with (
            _nothing_left(place, folders) if fresh and whole else nullcontext(),
            Engine.open(settings=settings, create=create) as engine,
        ):
            if fresh and not whole:
                self.note(f"made a new store at {engine.core.store.location}{beside}")
            if engine.maintenance.erasure.resumed is not None:
                self.note(engine.maintenance.erasure.resumed)
            engine.core.folder = Path.cwd()
            yield engine
            if fresh and whole:
                self.note(f"made a new store at {engine.core.store.location}{beside}")

    @contextmanager
    def looking(self) -> Iterator[Engine]:
        """The store as it is, for what changes nothing; where there is none yet, an empty one that does not last."""
        from tempfile import TemporaryDirectory

        with ExitStack() as open_things:
            try:
                engine = open_things.enter_context(self.engine())
            except StoreMissing:
                folder = open_things.enter_context(TemporaryDirectory())
                empty = Given(store=str(Path(folder) / "empty.db"), namespace=self.namespace, json=True)
                engine = open_things.enter_context(empty.engine(create=True))
            yield engine

    def run(
        self, engine: Engine, name: str, arguments: Mapping[str, Any], *, no_record: bool = False,
        trace_id: str | None = None, deliver: Callable[[Recall], str] | None = None,
    ) -> Answer | Written:  # fmt: skip
        """An operation as the owner of the machine. Operations are imported here: they load the engine and numpy."""
        from recallens.cli.screen import Bars
        from recallens.operations import OPERATIONS, owner, perform

        shown = None if self.json else deliver
        caller = owner(engine.core.settings.namespace, record=False if no_record else None, deliver=shown)
        return perform(OPERATIONS[name], engine, caller, arguments, trace_id=trace_id, progress=Bars(self))

    def answer(
        self, engine: Engine, name: str, arguments: Mapping[str, Any], *, no_record: bool = False,
        deliver: Callable[[Recall], str] | None = None,
    ) -> Answer:  # fmt: skip
        """The same, for an operation that has a record."""
        from recallens.cli.screen import MEMORY_ID, handles
        from recallens.operations import Answer

        answer = self.run(engine, name, arguments, no_record=no_record, deliver=deliver)
        assert isinstance(answer, Answer)
        if not self.json:
            handles.set({**handles.get(), **engine.memories.handles(MEMORY_ID.findall(answer.text))})
        return answer

    def perform(
        self, name: str, arguments: Mapping[str, Any], printer: Printer, *, create: bool = False, whole: bool = False,
        no_record: bool = False, deliver: Callable[[Recall], str] | None = None, **flags: object,
    ) -> Answer:  # fmt: skip
        """A command: an operation on a store that is opened for it, and its printer."""
        with self.engine(create=create, whole=whole, **flags) as engine:
            answer = self.answer(engine, name, arguments, no_record=no_record, deliver=deliver)
        self.tell(answer, printer)
        return answer

    def print_layer(self, name: str, arguments: Mapping[str, Any], *, no_record: bool = False) -> None:
        """One of the three layers, byte for byte as an agent gets it: lines of text, or the record with --json."""
        with self.engine() as engine:
            asked = {**arguments, "format": "json" if self.json else "text"}
            answer = self.run(engine, name, asked, no_record=no_record)
        click.echo(answer.text, nl=False)

    def tell(self, answer: Answer, printer: Printer) -> None:
        """The record with --json, else what the printer makes of it; a failure that came after it is raised last."""
        if self.json:
            click.echo(answer.text, nl=False)
        else:
            printer(answer)
        if answer.failure is not None:
            raise answer.failure

    def emit(self, record: object) -> None:
        from recallens.render.records import to_text

        click.echo(to_text(record))

    def note(self, text: str) -> None:
        """A word beside the answer, for people: scripts read the record instead."""
        if not self.json:
            from recallens.cli.screen import named, visible

            click.echo(visible(named(text)), err=True)

    def agreed(self, question: str, *, yes: bool) -> bool:
        """Whether to go on with what cannot be undone."""
        if yes:
            return True
        if self.json or not sys.stdin.isatty():
            raise InvalidInput(f"{question} needs --yes", hint="Nothing was changed.")
        if click.confirm(f"{question}: go on?", err=True):
            return True
        click.echo("nothing was deleted", err=True)
        return False


@contextmanager
def _nothing_left(store: Path, folders: Sequence[Path]) -> Iterator[None]:
    """Where what follows fails and nothing is in the store that was made for it, that goes, with its folders."""
    from recallens.store.sqlite.files import discard_empty

    try:
        yield
    except BaseException:
        if discard_empty(store):
            with suppress(OSError):  # one that others use by now
                for folder in folders:
                    folder.rmdir()
        raise
