"""The audit log of what was injected: whether its chain holds, its entries, and what looks odd in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallens.engine.core import Core
from recallens.model.audit import Anomaly, AuditEntry, anomalies, verify_chain

if TYPE_CHECKING:
    pass


class Audit:
    def __init__(self, core: Core) -> None:
        self._core = core

    def verify(self, *, namespace: str | None = None) -> tuple[int, list[str]]:
        """How many entries the chain has, and what is wrong with it."""
        with self._core.store.read(self._core.namespace(namespace)) as reader:
            if reader.state is None:
                return 0, []
            head = reader.trail.audit_head()
            try:
                entries = reader.trail.audit()
                return len(entries), verify_chain(entries, head)
            except (ValueError, TypeError) as error:
                return head[0], [f"an entry was altered so that it cannot be read ({error})"]

    def entries(self, *, limit: int, page: int = 1, namespace: str | None = None) -> tuple[int, list[AuditEntry]]:
        """How many entries were written, and one page of them, the latest first."""
        with self._core.store.read(self._core.namespace(namespace)) as reader:
            if reader.state is None:
                return 0, []
            written = reader.trail.audit_head()[0]
            after = written - page * limit
            found = reader.trail.audit(max(after, 0), limit + min(after, 0)) if after > -limit else []
            return written, found[::-1]

    def anomalies(self, *, namespace: str | None = None) -> list[Anomaly]:
        with self._core.store.read(self._core.namespace(namespace)) as reader:
            if reader.state is None:
                return []
            return anomalies(reader.trail.audit(), len(reader.memories.numbers()))
