"""What every command is given: where to look, how to answer. The engine is opened only when a command asks for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recallens.errors import InvalidInput

if TYPE_CHECKING:
    from recallens.config import Settings
    from recallens.engine import Engine


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

    @contextmanager
    def engine(self, *, create: bool = False, **flags: object) -> Iterator[Engine]:
        from recallens.engine import Engine
        from recallens.ingest.validate import namespace_name

        settings = self.settings(**flags)
        namespace_name(settings.namespace)  # before a store is made for it
        fresh = create and not Path(settings.store).exists()
        with Engine.open(settings=settings, create=create) as engine:
            if fresh:
                self.note(f"made a new store at {engine.core.store.location}")
            yield engine

    def emit(self, record: object) -> None:
        from recallens.render.records import to_text

        click.echo(to_text(record))

    def note(self, text: str) -> None:
        """A word beside the answer, for people: scripts read the record instead."""
        if not self.json:
            from recallens.cli.screen import visible

            click.echo(visible(text), err=True)

    def agreed(self, question: str, *, yes: bool) -> bool:
        """Whether to go on with what cannot be undone."""
        if yes:
            return True
        if self.json or not sys.stdin.isatty():
            raise InvalidInput(f"{question} needs --yes", hint="Nothing was changed.")
        return click.confirm(f"{question}: go on?", err=True)


pass_given = click.make_pass_decorator(Given)
