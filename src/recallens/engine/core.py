"""What every part of the engine stands on: a store, its encoder, the derived state of its namespaces, a clock."""

from __future__ import annotations

import os
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

from recallens.config import Settings
from recallens.engine.witness import AuditLog
from recallens.errors import EncoderError, EncoderMismatch, EncoderMissing, InvalidInput, NotFound, StoreReadOnly
from recallens.index.encoders.protocol import Encoder
from recallens.index.encoders.registry import open_encoder
from recallens.index.encoding import Encoding
from recallens.index.resident import Resident, Version
from recallens.ingest.prepare import Prepare, prepare
from recallens.ingest.validate import namespace_name
from recallens.model.memory import Clock, IdSource, Memory, Session, number_of
from recallens.model.trust import PERSON, Actor
from recallens.store.protocols import Reader, Store, Writer
from recallens.store.records import META_ENCODER_KEY, META_ENCODER_SPEC, NamespaceState
from recallens.store.sqlite.store import SqliteStore
from recallens.text.normalize import clean

# Namespaces whose derived state is kept in memory; the least recently used makes room.
RESIDENT_NAMESPACES = 16
# Fewer characters of an id are not looked up.
MIN_ID_PREFIX = 6
# The spec of a store whose encoder is an object of the calling program's, which no setting can open.
GIVEN_ENCODER = "given"
_GIVE_IT_AGAIN = "Open it with the same encoder, or run `recallens reindex --encoder minilm`."


# Who acts in this thread: the person at the machine, unless a surface says otherwise for the time of one call.
_ACTOR: ContextVar[Actor] = ContextVar("actor", default=PERSON)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Everything inside is done by them: it enters in their zone, and only proposes where they may not change."""
    before = _ACTOR.set(actor)
    try:
        yield
    finally:
        _ACTOR.reset(before)


def wall_clock() -> int:
    return int(time.time() * 1000)


class Core:
    """What every part of the engine is given: the store and its encoder, the index of each namespace, clock and ids."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        clock: Clock = wall_clock,
        ids: Callable[[], str] | None = None,
        encoder: Encoder | None = None,
        prepare: Prepare = prepare,
    ) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self.new_id = ids or IdSource(clock)
        self.given_encoder = encoder
        self.prepare = prepare
        self.log = AuditLog(store, settings, lambda: self.clock())
        self.folder: Path | None = None  # where the person or the agent works, if they work on this machine
        self._encoding: Encoding | None = None
        self._residents: OrderedDict[tuple[int, str | None], Resident] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        self.store.close()

    @property
    def actor(self) -> Actor:
        return _ACTOR.get()

    acting = staticmethod(acting)

    # ── the encoder ──

    @property
    def encoding(self) -> Encoding:
        """The store's own encoder. A store that has none yet takes the one that is set, at its first write."""
        encoding = self._encoding
        if encoding is None:  # kept apart from the attribute, which another thread may void at any moment
            encoding = self._encoding = self._resolve_encoding()
        return encoding

    def _resolve_encoding(self) -> Encoding:
        settings = self.settings
        spec, key = self.store.meta(META_ENCODER_SPEC), self.store.meta(META_ENCODER_KEY)
        chosen = "encoder" in settings.sources
        if self.given_encoder is not None:
            own = settings.encoder if chosen else GIVEN_ENCODER
            return Encoding(own, key or str(self.given_encoder.key), self.given_encoder)
        if spec is not None and chosen and settings.encoder != spec:
            raise EncoderMismatch(
                f"this store was encoded with {spec}, but {settings.encoder} is set",
                hint=f"Unset it, or run `recallens reindex --encoder {settings.encoder}` to encode everything anew.",
            )
        spec = spec or settings.encoder
        if spec == GIVEN_ENCODER:
            missing = EncoderMissing(f"this store's vectors are of {key}", hint=_GIVE_IT_AGAIN)
            return Encoding(spec, key, missing=missing)
        try:
            encoder = self.open_encoder(spec)
            return Encoding(spec, key or (str(encoder.key) if encoder else None), encoder)
        except EncoderError as error:
            return Encoding(spec, key, missing=error)

    def use_encoding(self, encoding: Encoding) -> None:
        """From now on the store's texts are encoded by another; the one that the caller brought, if any, is let go."""
        self.settings = replace(self.settings, encoder=encoding.spec)
        self.given_encoder = None
        self._encoding = encoding

    def refresh_encoding(self, key: str | None) -> None:
        """Another process may have settled or changed the store's encoder, now `key`, since this one looked."""
        known = self._encoding
        if known is not None and key != known.key and self.store.meta(META_ENCODER_SPEC) is not None:
            self._encoding = None

    def open_encoder(self, spec: str) -> Encoder | None:
        settings = self.settings
        return open_encoder(
            spec,
            base_url=settings.encoder_url,
            api_key=os.environ.get(settings.encoder_key_env),
            dimension=settings.encoder_dimension,
            threads=settings.encoder_threads,
        )

    def settle_encoding(self, tx: Writer) -> None:
        """From the first write on, the store says itself which encoder it uses."""
        self.refresh_encoding(self.store.meta(META_ENCODER_KEY))
        if self.store.meta(META_ENCODER_SPEC) is None:
            if self.encoding.missing is not None:
                self._encoding = None  # it may answer by now; a store without a key cannot begin
            encoding = self.encoding
            if encoding.missing is not None:
                raise encoding.missing
            tx.whole.set_meta(META_ENCODER_SPEC, encoding.spec)
            if encoding.key is not None:
                tx.whole.set_meta(META_ENCODER_KEY, encoding.key)

    # ── derived state ──

    def index_folder(self) -> Path | None:
        return None if self.store.read_only else Path(f"{self.store.location}.index")

    def resident(self, ns: int) -> Resident:
        key = (ns, self.encoding.key)
        with self._lock:
            if key not in self._residents:
                folder = self.index_folder()
                self._residents[key] = Resident(
                    folder / str(ns) if folder else None, self.encoding.key, self.encoding.dimension
                )
                while len(self._residents) > RESIDENT_NAMESPACES:
                    self._residents.popitem(last=False)
            self._residents.move_to_end(key)
            return self._residents[key]

    def discard_index(self, namespace: str) -> None:
        """Forget the derived state of a namespace, in memory and on disk: the next reader makes it of the store."""
        with self.read(namespace) as reader:
            if reader.state is not None:
                self.resident(reader.state.key).discard()

    @contextmanager
    def snapshot(
        self, namespace: str, *, meant: str | None = None
    ) -> Iterator[tuple[Reader, NamespaceState, Version] | None]:
        """One state of the store and the version of the index that belongs to it; None for an unknown namespace.

        `meant` is a text that will be encoded: where the index must be loaded first, the model loads beside it.
        """
        while True:
            with self.store.read(namespace) as reader:
                state = reader.state
                self.refresh_encoding(self.store.meta(META_ENCODER_KEY) if state is None else state.encoder)
                if state is None:
                    yield None
                    return
                resident = self.resident(state.key)
                if meant is not None and resident.is_cold:
                    self.encoding.load_for(meant)
                version = resident.at(reader, self.store.id, state)
                if version is not None:
                    yield reader, state, version
                    return

    # ── looking things up ──

    def namespace(self, name: str | None) -> str:
        return namespace_name(name if name is not None else self.settings.namespace)

    def read(self, namespace: str | None) -> AbstractContextManager[Reader]:
        """One snapshot of a namespace; one that does not exist reads as empty."""
        return self.store.read(self.namespace(namespace))

    @contextmanager
    def reading(self, namespace: str | None) -> Iterator[Reader]:
        """One snapshot of a namespace that exists; what is unknown is an error here."""
        with self.read(namespace) as reader:
            self.state(reader)
            yield reader

    @contextmanager
    def changing(self, namespace: str | None) -> Iterator[Writer]:
        """One transaction on a namespace that exists."""
        with self.store.write(self.namespace(namespace)) as tx:
            self.state(tx)
            yield tx

    @contextmanager
    def making(self, namespace: str | None, *, texts: bool = False) -> Iterator[Writer]:
        """One transaction on a namespace that is made if need be. What writes `texts` settles their encoder too."""
        with self.store.write(self.namespace(namespace)) as tx:
            if texts:
                self.settle_encoding(tx)
            tx.ensure(self.clock())
            yield tx

    def refuse_read_only(self) -> None:
        if self.store.read_only:
            raise StoreReadOnly(f"{self.store.location} cannot be written to", hint="Check its permissions.")

    def state(self, reader: Reader) -> NamespaceState:
        if reader.state is None:
            raise NotFound(f"no namespace {reader.name!r}", hint="`recallens namespace list` shows those that exist.")
        return reader.state

    def ensure_session(self, tx: Writer, id: str | None, *, at: int | None = None, project: str | None = None) -> None:
        """A session that acts without having been started is started by its first act."""
        if id is not None and tx.sessions.get(id) is None:
            begun = self.clock() if at is None else at
            tx.sessions.put(Session(id, tx.name, begun, project=project, zone=self.actor.zone))

    def num(self, reader: Reader, id: str) -> int:
        """A memory's number by its handle, its id, or a beginning of the id that fits only one."""
        wanted = clean(id).strip().upper()
        numbers = reader.memories.find([wanted])
        if wanted in numbers:
            return numbers[wanted]
        number = number_of(wanted)
        if number is not None and reader.memories.ids([number]):
            return number
        like = reader.memories.find_prefix(wanted) if len(wanted) >= MIN_ID_PREFIX else []
        if len(like) == 1:
            return like[0]
        if like:
            raise InvalidInput(f"{id!r} begins several memory ids", hint="Give more of it.")
        raise NotFound(f"no memory {id!r} in this namespace", hint="`recallens list` shows handles.")

    def memory(self, reader: Reader, id: str) -> tuple[int, Memory]:
        num = self.num(reader, id)
        return num, reader.memories.get([num])[num]


# A scheme has two letters at least, so that a Windows drive is a path. Reading the setting as a path may have
# folded the two slashes into one.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def open_sqlite(settings: Settings, *, create: bool) -> Store:
    if url := _URL.match(settings.store):
        raise InvalidInput(
            f"a store at {url[1]}:// is not built in this version; a store is the path of a SQLite file",
            hint="Use --store PATH, for example --store team.db.",
        )
    return SqliteStore(settings.store, create=create)
