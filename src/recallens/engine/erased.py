"""Which of the memories of another program were deleted for good: they do not come back with its next import.

The ids that they have at their source are kept as salted digests, and nothing that they said.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from msgspec import Struct

from recallens.engine.core import Core
from recallens.store.protocols import Writer

META_ERASED: Final = "erased-sources:"
# Of each namespace so many are known, the latest.
MOST_ERASED: Final = 20_000
_DIGEST_BYTES: Final = 8


class ErasedSources(Struct, frozen=True):
    salt: bytes
    digests: frozenset[str]

    def holds(self, source_id: str) -> bool:
        return bool(self.digests) and _digest(self.salt, source_id) in self.digests


def erased_sources(core: Core, namespace: str) -> ErasedSources:
    held = core.store.meta(META_ERASED + namespace) or ""
    return ErasedSources(core.store.id.encode(), frozenset(held.split()))


def note_erased(core: Core, tx: Writer, source_ids: Iterable[str]) -> None:
    """In the transaction that deletes them."""
    salt, known = core.store.id.encode(), (core.store.meta(META_ERASED + tx.name) or "").split()
    ordered = dict.fromkeys([*known, *(_digest(salt, id) for id in source_ids)])
    if len(ordered) > len(known):
        tx.whole.set_meta(META_ERASED + tx.name, " ".join(list(ordered)[-MOST_ERASED:]))


def _digest(salt: bytes, source_id: str) -> str:
    return blake2b(source_id.encode("utf-8", "surrogatepass"), key=salt[:64], digest_size=_DIGEST_BYTES).hexdigest()
