"""Taking changes back: the person's last changes of a namespace, each with the steps that undo it.

They lie in the store's settings, so that a change on the page can be undone at the command. What an agent changes is
not among them: its changes are its own, or proposals.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from msgspec.json import decode, encode

from recallens.engine.core import Core
from recallens.model.reversal import MOST_REVERSALS, Reversal, ReversalStep
from recallens.store.protocols import Writer

META_REVERSALS: Final = "reversals:"
_GROUP: ContextVar[str | None] = ContextVar("group", default=None)
_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


class Reversals:
    """The journal of one store."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is changed within is one change, and is taken back at once."""
        token = _GROUP.set(_GROUP.get() or secrets.token_hex(4))
        try:
            yield
        finally:
            _GROUP.reset(token)

    @contextmanager
    def unnoted(self) -> Iterator[None]:
        """What is changed within is a part of something that is noted as a whole, or takes something back."""
        token = _QUIET.set(True)
        try:
            yield
        finally:
            _QUIET.reset(token)

    def note(self, tx: Writer, words: str, *steps: ReversalStep) -> None:
        """In the transaction of the change itself; what belongs to the change before joins it. Without steps it cannot
        be taken back, which is then said instead of taking back what was changed before it."""
        if not self._core.actor.decides or _QUIET.get():
            return
        known, group, at = self.all(tx.name), _GROUP.get() or secrets.token_hex(4), self._core.clock()
        if known and known[-1].group == group:
            before = known.pop()
            words, steps = f"{before.words}, {words}", (*steps, *before.steps)
        self._put(tx, [*known, Reversal(words, at, group, steps)])

    def drop_last(self, tx: Writer, group: str) -> None:
        known = self.all(tx.name)
        if known and known[-1].group == group:
            self._put(tx, known[:-1])

    def all(self, namespace: str) -> list[Reversal]:
        """The oldest first."""
        held = self._core.store.meta(META_REVERSALS + namespace)
        return [] if held is None else decode(held, type=list[Reversal])

    def last(self, namespace: str) -> Reversal | None:
        known = self.all(namespace)
        return known[-1] if known else None

    def _put(self, tx: Writer, known: Sequence[Reversal]) -> None:
        tx.whole.set_meta(META_REVERSALS + tx.name, encode(list(known)[-MOST_REVERSALS:]).decode())
