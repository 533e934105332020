"""Everything of a store, or of a namespace, out of it and into another one: ids, numbers, times and history kept.

An export is one snapshot; an import is one transaction, all of it or nothing. Rows pass one by one or a batch at a
time, so that neither costs memory by the size of the store. What is derived is made anew from the rows, as `reindex`
makes it, so that the same Recallens with the same encoder recalls the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from recallens.engine.core import Core
from recallens.engine.lines import VERSION, Header, LineReader, LineWriter, moved, named
from recallens.errors import InvalidInput, NotFound
from recallens.ingest.prepare import reannotated
from recallens.store.nouns import NOUNS, Noun, PortableReader, Row
from recallens.store.protocols import StoreReader, StoreWriter, Writer
from recallens.store.records import META_ENCODER_KEY, META_ENCODER_SPEC, META_PARTS
from recallens.store.sqlite.files import made_beside

# Rows that are written at a time, and how many bytes of lines: a log may be megabytes long.
BATCH_ROWS: Final = 500
BATCH_BYTES: Final = 4 * 1024 * 1024
STORE: Final = ""
# What people and agents call by its number.
NUMBERED: Final = ("memory", "vault", "proposal")
Advance = Callable[[int, int], None]
Counts = Mapping[str, Mapping[str, int]]


class Carried(Struct, frozen=True):
    """What an export holds or an import took: the rows of each noun in each namespace; "" is the store."""

    counts: Counts
    unreadable: Counts = {}  # rows of the store that are not in the export, since they hold what they may not
    first: int = 1  # the number that the import gave to what was memory 1: another one where numbers were taken
    encoder_kept: bool = False  # the store had an encoder already, so that the texts are encoded by that one

    @property
    def memories(self) -> int:
        return sum(of.get("memory", 0) for of in self.counts.values())


class Transfer:
    """Writes exports and reads them."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def export(
        self, target: str | Path, *, namespace: str | None = None, vectors: bool = False, tokens: bool = False,
        progress: Advance = lambda done, total: None,
    ) -> Carried:  # fmt: skip
        """To a new private file, which appears whole or not at all. Without a namespace, the whole store."""
        path = Path(target).expanduser()
        if not path.parent.is_dir():
            raise InvalidInput(f"the folder {path.parent} does not exist", hint="Make it first.")
        if path.exists():
            raise _exists(path)
        try:
            with made_beside(path) as fresh, fresh.open("wb") as stream:
                carried = self.write(stream, namespace=namespace, vectors=vectors, tokens=tokens, progress=progress)
                stream.flush()
                os.fsync(stream.fileno())
        except FileExistsError:
            raise _exists(path) from None
        except OSError as error:
            why = f"cannot write {path}: {error.strerror or error}"
            raise InvalidInput(why, hint="Nothing was written there.") from error
        return carried

    def write(
        self, stream: BinaryIO, *, namespace: str | None = None, vectors: bool = False, tokens: bool = False,
        progress: Advance = lambda done, total: None,
    ) -> Carried:  # fmt: skip
        """The lines of an export. `vectors` and `tokens` (their digests; a token's text is not known) are extra."""
        with self._core.store.read_all() as whole:
            names = self._names(whole, namespace)
            left_out = ({"vector"} if not vectors else set()) | ({"token"} if not tokens else set())
            parts = {name: _portable(whole, name) for name in (STORE, *names)}
            wanted = {name: [noun for noun in _nouns(name) if noun.name not in left_out] for name in parts}
            counts = {name: {n.name: parts[name].count(n.name) for n in nouns} for name, nouns in wanted.items()}
            lost = {name: {n.name: parts[name].unreadable(n.name) for n in nouns} for name, nouns in wanted.items()}
            numbers = whole.portable.numbers()
            writer, total = LineWriter(stream), sum(sum(of.values()) for of in counts.values())
            kept = {name: {noun: count for noun, count in of.items() if count} for name, of in counts.items()}
            writer.header(Header(VERSION, tuple(names), kept, {name: numbers[name] for name in NUMBERED}))
            for name, nouns in wanted.items():
                for noun in nouns:
                    for row in parts[name].rows(noun.name):
                        writer.row(noun, row)
                        if writer.lines % BATCH_ROWS == 0:
                            progress(writer.lines, total)
            writer.end()
        return Carried(kept, {name: of for name, of in lost.items() if any(of.values())})

    def _names(self, whole: StoreReader, namespace: str | None) -> list[str]:
        names = [state.name for state, _ in whole.namespaces()]
        if namespace is None:
            return names
        if self._core.namespace(namespace) not in names:
            raise NotFound(f"no namespace {namespace!r}", hint="`recallens namespace list` shows those that exist.")
        return [namespace]

    def load(
        self, source: str | Path, *, namespace: str | None = None, tokens: bool = False,
        progress: Advance = lambda done, total: None,
    ) -> Carried:  # fmt: skip
        """A file that `export` made, into namespaces that are empty. Without a namespace, all that it holds."""
        try:
            with Path(source).expanduser().open("rb") as stream:
                return self.read(stream, namespace=namespace, tokens=tokens, progress=progress)
        except OSError as error:
            raise InvalidInput(f"cannot read {source}: {error.strerror or error}") from error

    def read(
        self, stream: BinaryIO, *, namespace: str | None = None, tokens: bool = False, as_numbered: bool = False,
        progress: Advance = lambda done, total: None,
    ) -> Carried:  # fmt: skip
        """`as_numbered` keeps the numbers of the file, for a store that holds nothing but what came from the same."""
        lines = LineReader(stream)
        header = lines.header()
        if namespace is not None and namespace not in header.namespaces:
            raise NotFound(f"the export has no namespace {namespace!r}", hint=f"It has {named(header.namespaces)}.")
        names = header.namespaces if namespace is None else (namespace,)
        with self._core.store.write_all() as whole:
            _refuse_taken(whole, names)
            encoder_kept = self._core.given_encoder is not None or "encoder" in self._core.settings.sources
            encoder_kept = encoder_kept or self._core.store.meta(META_ENCODER_SPEC) is not None
            loading = Loading(self._core, whole, names, tokens=tokens, encoder_kept=encoder_kept)
            if as_numbered:
                loading.bases = dict.fromkeys(loading.bases, 0)
            total = sum(sum(of.values()) for of in header.counts.values())
            for noun, row in lines.rows():
                try:
                    loading.take(noun, row, lines.size)
                except InvalidInput as error:
                    raise lines.wrong(f"here or a little before: {error.message}") from error
                if lines.number % BATCH_ROWS == 0:
                    progress(lines.number, total)
            loading.finish(header.numbers, lambda done: progress(lines.number + done, total + loading.memories))
            whole.drop_meta(META_PARTS)  # the file may be older than they are: whoever encodes next looks
        key = self._core.store.meta(META_ENCODER_KEY)
        self._core.refresh_encoding(key)
        return Carried(loading.counts, first=loading.bases.get("memory", 0) + 1, encoder_kept=encoder_kept)


class Loading:
    """Rows of an export on their way into a transaction."""

    def __init__(
        self, core: Core, whole: StoreWriter, names: tuple[str, ...], *, tokens: bool, encoder_kept: bool
    ) -> None:
        self._core, self._whole, self._names = core, whole, names
        self._tokens, self._encoder_kept = tokens, encoder_kept
        self._at: Writer | None = None
        self._skipped = False  # the lines are of a namespace that is not wanted
        self._noun: Noun | None = None
        self._rows: list[Row] = []
        self._settled = False
        self._bytes = 0
        self.bases = whole.portable.numbers()
        self.counts: dict[str, dict[str, int]] = {}
        self.loaded: list[Writer] = []

    @property
    def memories(self) -> int:
        return sum(of.get("memory", 0) for of in self.counts.values())

    def take(self, noun: Noun, row: Row, size: int) -> None:
        if noun is not self._noun or len(self._rows) >= BATCH_ROWS or self._bytes >= BATCH_BYTES:
            self._flush()
            self._noun = noun
        if noun.name == "namespace":
            self._enter(row)
        elif noun.of == "store":
            self._take_store(noun, row)
        elif self._at is None and not self._skipped:
            raise InvalidInput(f"a {noun.name} stands before the first namespace")
        elif not self._skipped and not (noun.name == "vector" and row[1] not in self._keys()):
            self._settle_encoder(noun)
            self._rows.append(moved(noun, row, self.bases))
            self._bytes += size

    def _keys(self) -> tuple[str | None, ...]:
        """The encoders whose vectors are of use here."""
        second = self._core.second
        return self._core.store.meta(META_ENCODER_KEY), second.key if second is not None else None

    def _settle_encoder(self, noun: Noun) -> None:
        """From the first text on, the store says which encoder it uses: the file's, or its own."""
        if noun.name == "memory" and self._at is not None and not self._settled:
            self._core.settle_encoding(self._at)
            self._settled = True

    def _enter(self, row: Row) -> None:
        name = str(row[0])
        self._skipped = name not in self._names
        self._at = None if self._skipped else self._whole.at(self._core.namespace(name))
        if self._at is not None:
            self._at.portable.begin(row)
            self.loaded.append(self._at)
            self._count(name, "namespace", 1)

    def _take_store(self, noun: Noun, row: Row) -> None:
        """A setting that the store has already stays as it is."""
        if noun.name == "token" and self._tokens:
            self._whole.portable.load("token", [row])
            self._count(STORE, "token", 1)
        elif noun.name == "setting":
            key, value = map(str, row)
            if self._core.store.meta(key) is None and not (self._encoder_kept and key.startswith("encoder")):
                self._whole.set_meta(key, value)
                self._count(STORE, "setting", 1)

    def _flush(self) -> None:
        if self._rows and self._noun is not None and self._at is not None:
            self._at.portable.load(self._noun.name, self._rows)
            self._count(self._at.name, self._noun.name, len(self._rows))
        self._rows, self._bytes = [], 0

    def _count(self, name: str, noun: str, rows: int) -> None:
        of = self.counts.setdefault(name, {})
        of[noun] = of.get(noun, 0) + rows

    def finish(self, numbers: Mapping[str, int], progress: Callable[[int], None]) -> None:
        """Write everything that is derived, and let the texts without a vector wait for the encoder."""
        self._flush()
        missing = [name for name in self._names if name not in self.counts]
        if missing:
            raise InvalidInput(f"its header names the namespace {missing[0]!r}, which it does not hold")
        done = 0
        for tx in self.loaded:
            tx.portable.settle()
            last = 0
            while part := tx.portable.after(last, BATCH_ROWS):
                memories = tx.memories.get(part)
                tx.memories.rederive(part, [reannotated(memories[num], None) for num in part])
                self._core.await_vectors(tx, part, [memory.content for memory in memories.values()])
                last, done = part[-1], done + len(part)
                progress(done)
            tx.tasks.recount()
        self._whole.portable.keep_numbers({name: self.bases[name] + given for name, given in numbers.items()})


def _nouns(name: str) -> Iterator[Noun]:
    return (noun for noun in NOUNS.values() if (noun.of == "store") == (name == STORE))


def _portable(whole: StoreReader, name: str) -> PortableReader:
    return whole.portable if name == STORE else whole.at(name).portable


def _refuse_taken(whole: StoreWriter, names: tuple[str, ...]) -> None:
    for name in names:
        tx = whole.at(name)
        if tx.state is not None and any(tx.portable.count(n.name) for n in _nouns(name) if n.name != "namespace"):
            raise InvalidInput(
                f"the namespace {name!r} of this store is not empty; an import makes a namespace, it adds to none",
                hint="Import into a new store with --store PATH, or remove the namespace first.",
            )


def _exists(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} already exists", hint="Name a new file: an export never overwrites.")
