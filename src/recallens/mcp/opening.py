"""The engine when it is first needed: a client waits for the list of tools, not for an encoder."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recallens.config import Settings
    from recallens.engine import Engine


class Opening:
    """Opens the store once, whoever asks first. A failure is told to whoever asked, and tried again by the next."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._engine: Engine | None = None
        self._lock = threading.Lock()

    def __call__(self) -> Engine:
        with self._lock:
            if self._engine is None:
                from recallens.engine import Engine

                self._engine = Engine.open(settings=self.settings, create=True)
            return self._engine

    def close(self) -> None:
        with self._lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = None
