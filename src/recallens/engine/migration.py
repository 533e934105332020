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


# In a store that is being moved into: the id of the one that it comes from, until all is there.
META_MOVING: Final = "moving-from"
_OF_A_NAMESPACE: Final = tuple(noun.name for noun in NOUNS.values() if noun.of != "store")


class Migrated(Struct, frozen=True):
    carried: Carried
    compared: int  # rows that were read back, all equal


def migrate(source: Core, target: Core, *, progress: Advance = lambda done, total: None) -> Migrated:
    """Everything of a store into one that holds nothing, with its ids, numbers, vectors and tokens. Each namespace is
    one transaction there: a move that is stopped has carried some of them, and goes on with the next when it is begun
    again."""
    if source.store.id == target.store.id:
        raise InvalidInput("both are the same store", hint="Name another file or database with --to.")
    counts = dict[str, Mapping[str, int]]()
    for name in _left(source, target):
        with tempfile.TemporaryFile() as lines:
            Transfer(source).write(lines, namespace=name, vectors=True, progress=progress)
            lines.seek(0)
            carried = Transfer(target).read(lines, namespace=name, as_numbered=True, progress=progress)
        counts.update(carried.counts)
    with source.store.read_all() as old, target.store.write_all() as new:
        new.portable.load("token", list(old.portable.rows("token")))
        new.portable.keep_numbers(old.portable.numbers())
        new.drop_meta(META_MOVING)
    here, there = digests(source), digests(target)
    differing = sorted(key for key in here.keys() | there.keys() if here.get(key) != there.get(key))
    if differing:
        namespace, noun = differing[0]
        raise StoreDamaged(
            f"the {noun} rows of {namespace or 'the store'} are not the same in {target.store.location}",
            hint=f"{source.store.location} is as it was. Was it written to meanwhile? Begin again with an empty one.",
        )
    with source.store.read_all() as whole:
        held = {state.name: whole.at(state.name).portable for state, _ in whole.namespaces()}
        rows = {name: {noun: held[name].count(noun) for noun in _OF_A_NAMESPACE} for name in held}
    return Migrated(Carried(rows), sum(count for of in rows.values() for count in of.values()))


def _left(source: Core, target: Core) -> list[str]:
    """The namespaces that are not in the other store yet. What is in it must have come from this one, by a move that
    was stopped."""
    with target.store.read_all() as whole:
        taken = {state.name for state, _ in whole.namespaces()}
    if taken and target.store.meta(META_MOVING) != source.store.id:
        raise InvalidInput(
            f"{target.store.location} holds the namespace {min(taken)!r} already; a store is moved into an empty one",
            hint="Name a new file or database with --to; `recallens import` adds namespaces to a store.",
        )
    with target.store.write_all() as tx:
        tx.set_meta(META_MOVING, source.store.id)
    with source.store.read_all() as whole:
        return [state.name for state, _ in whole.namespaces() if state.name not in taken]


def digests(core: Core) -> Digests:
    """What a store holds, in whatever order its engine gives the rows. Its settings are left out: what was noted for
    the moment stays where it was."""
    with core.store.read_all() as whole:
        sums = {("", "token"): _sum(whole.portable.rows("token"))}
        for state, _ in whole.namespaces():
            portable = whole.at(state.name).portable
            sums |= {(state.name, noun): _sum(portable.rows(noun)) for noun in _OF_A_NAMESPACE}
    return sums


def _sum(rows: Iterable[Row]) -> str:
    total = sum(int.from_bytes(sha256(msgpack.encode(row)).digest()) for row in rows)
    return f"{total % _ORDER:064x}"
