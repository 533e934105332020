"""A store moved to another place or engine: exported, imported, and every row read back and compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from msgspec import Struct, msgpack

from recallens.engine.core import Core
from recallens.engine.transfer import Advance, Carried, Transfer
from recallens.errors import InvalidInput, StoreDamaged
from recallens.store.nouns import NOUNS, Row

_ORDER: Final = 1 << 256

Digests = Mapping[tuple[str, str], str]
"""By namespace and noun, what all its rows add up to."""


class Migrated(Struct, frozen=True):
    carried: Carried
    compared: int  # rows that were read back, all equal


def migrate(source: Core, target: Core, *, progress: Advance = lambda done, total: None) -> Migrated:
    """Everything of a store into one that holds nothing, with its ids, numbers, vectors and tokens. It is one
    transaction there: what is stopped has not happened, and can be begun again."""
    if source.store.id == target.store.id:
        raise InvalidInput("both are the same store", hint="Name another file or database with --to.")
    with target.store.read_all() as whole:
        taken = [state.name for state, _ in whole.namespaces()]
    if taken:
        raise InvalidInput(
            f"{target.store.location} holds the namespace {taken[0]!r} already; a store is moved into an empty one",
            hint="Name a new file or database with --to; `recallens import` adds namespaces to a store.",
        )
    with tempfile.TemporaryFile() as lines:
        Transfer(source).write(lines, vectors=True, tokens=True, progress=progress)
        lines.seek(0)
        carried = Transfer(target).read(lines, tokens=True, progress=progress)
    here, there = digests(source), digests(target)
    differing = sorted(key for key in here.keys() | there.keys() if here.get(key) != there.get(key))
    if differing:
        namespace, noun = differing[0]
        raise StoreDamaged(
            f"the {noun} rows of {namespace or 'the store'} are not the same in {target.store.location}",
            hint=f"{source.store.location} is as it was. Was it written to meanwhile? Begin again with an empty one.",
        )
    rows = sum(count for of in carried.counts.values() for count in of.values())
    return Migrated(carried, rows)


def digests(core: Core) -> Digests:
    """What a store holds, in whatever order its engine gives the rows. Its settings are left out: what was noted for
    the moment stays where it was."""
    with core.store.read_all() as whole:
        sums = {("", "token"): _sum(whole.portable.rows("token"))}
        for state, _ in whole.namespaces():
            portable = whole.at(state.name).portable
            own = (noun.name for noun in NOUNS.values() if noun.of != "store")
            sums |= {(state.name, noun): _sum(portable.rows(noun)) for noun in own}
    return sums


def _sum(rows: Iterable[Row]) -> str:
    total = sum(int.from_bytes(sha256(msgpack.encode(row)).digest()) for row in rows)
    return f"{total % _ORDER:064x}"
