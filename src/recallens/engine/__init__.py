"""The engine: one object that stores, recalls and looks after memories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from recallens.config import Settings, load
from recallens.engine.bootstrap import Bootstrapping
from recallens.engine.citing import Citing
from recallens.engine.contexts import Contexts
from recallens.engine.core import open_sqlite, wall_clock
from recallens.engine.detailing import Detailing
from recallens.engine.disclosing import Disclosing
from recallens.engine.layering import Layering
from recallens.engine.recapping import Recapping
from recallens.engine.retrieving import Retrieving
from recallens.engine.surveying import Surveying
from recallens.engine.tokens import Tokens
from recallens.engine.vaults import Vaults
from recallens.index.encoders.protocol import Encoder
from recallens.model.memory import Clock


class Engine(
    Disclosing, Contexts, Retrieving, Recapping, Vaults, Detailing, Bootstrapping, Citing, Layering, Surveying, Tokens
):
    """Use it as a context manager, or call `close`."""

    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        create: bool = True,
        settings: Settings | None = None,
        clock: Clock = wall_clock,
        ids: Callable[[], str] | None = None,
        encoder: Encoder | str | None = None,
        **flags: object,
    ) -> Self:
        """Open a store, making it if need be. Other settings can be given by name: `namespace=`, `project=` …

        `encoder` is a spec such as "minilm" or "ollama:bge-m3", or an Encoder of your own.
        """
        if settings is None:
            named = encoder if isinstance(encoder, str) else None
            settings = load({"store": str(store) if store is not None else None, "encoder": named, **flags})
        given = None if isinstance(encoder, str) else encoder
        return cls(open_sqlite(settings, create=create), settings, clock=clock, ids=ids, encoder=given)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


__all__ = ["Engine"]
