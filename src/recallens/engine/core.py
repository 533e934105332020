"""What every part of the engine stands on: a store, its encoder, the derived state of its namespaces, a clock."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from recallens.config import Settings, is_address
from recallens.engine.witness import AuditLog
from recallens.errors import (
    EncoderError,
    EncoderMismatch,
    EncoderMissing,
    InvalidInput,
    NotFound,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
)
from recallens.index.encoders.protocol import Encoder
from recallens.index.encoders.registry import open_encoder
from recallens.index.encoding import Encoding
from recallens.index.rerankers import Reranker, open_reranker
from recallens.index.resident import Resident
from recallens.index.version import Version
from recallens.ingest.curation import enter_session
from recallens.ingest.preparation import Preparation
from recallens.ingest.prepare import Prepare, prepare
from recallens.ingest.validate import epoch_ms, namespace_name, reference
from recallens.model.memory import Clock, IdSource, Memory, Session, number_of
from recallens.model.query import DEFAULT_NAMESPACE
from recallens.model.times import When
from recallens.model.trust import PERSON, Actor
from recallens.recall.rerank import Reranking
from recallens.store.candidates import CandidateReader
from recallens.store.protocols import Reader, Store, Writer
from recallens.store.records import META_ENCODER_KEY, META_ENCODER_SPEC, META_PARTS, NamespaceState
from recallens.store.sqlite.store import SqliteStore
from recallens.text.normalize import clean
from recallens.text.scripts import is_read

# The index of an empty namespace takes some memory too.
LEAST_BYTES = 32_768
# Fewer characters of an id are not looked up.
MIN_ID_PREFIX = 6
# The spec of a store whose encoder is an object of the calling program's, which no setting can open.
GIVEN_ENCODER = "given"
NO_ENCODER = "none"
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
        second: Encoder | None = None,
        reranker: Reranker | None = None,
        prepare: Prepare = prepare,
    ) -> None:
        self.store = store
        self.settings = settings
        self.clock = clock
        self.new_id = ids or IdSource(clock)
        self.given_encoder = encoder
        self._given_second = second
        self._reranker = reranker
        self.preparation = Preparation(prepare)
        self.log = AuditLog(store, settings, lambda: self.clock())
        self.folder: Path | None = None  # where the person or the agent works, if they work on this machine
        self._encoding: Encoding | None = None
        self._second: tuple[Encoding, Encoding | None] | None = None  # and for which first one
        self._residents: OrderedDict[tuple[int, str | None, str | None, bool, bool], Resident] = OrderedDict()
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

    @property
    def second(self) -> Encoding | None:
        """The encoder for what the store's own cannot read; None where that reads everything, or there is none."""
        first, known = self.encoding, self._second
        if known is None or known[0] is not first:
            known = self._second = first, self._open_second(first)
        return known[1]

    @property
    def second_key(self) -> str | None:
        """What the second encoder's vectors are stored under."""
        return self.second.key if self.second is not None else None

    def _open_second(self, first: Encoding) -> Encoding | None:
        spec = self.settings.encoder_second
        if first.key is None or not first.languages or spec == NO_ENCODER:
            return None
        try:
            encoder = self._given_second or open_encoder(spec, threads=self.settings.encoder_threads)
        except EncoderMissing:  # an installation without it; `doctor` says so
            return None
        return None if encoder is None else Encoding(spec, str(encoder.key), encoder)

    @cached_property
    def reranking(self) -> Reranking | None:
        """The model that looks at the best rows again, where there is one."""
        settings = self.settings
        model = self._reranker or open_reranker(settings.reranker, threads=settings.encoder_threads)
        return None if model is None else Reranking(model, settings.reranker_milliseconds)

    def await_vectors(self, tx: Writer, nums: Sequence[int], texts: Iterable[str]) -> None:
        """Memories with these texts wait for their vectors. The first text that the store's encoder cannot read lets
        all of the namespace wait for those of the second one too.
        """
        encoding, second = self.encoding, self.second_key
        if encoding.key is None:
            return
        tx.vectors.enqueue_missing(encoding.key, nums)
        state = self.state(tx)
        if not state.unread and not all(is_read(text, encoding.languages) for text in texts):
            tx.vectors.mark_unread()
            if second is not None and state.second != second:
                tx.vectors.begin_second(second)
                return
        if second is not None and state.second == second:
            tx.vectors.enqueue_missing(second, nums)

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
                tx.whole.set_meta(META_PARTS, encoding.key)  # there is nothing yet that could lack them

    # ── derived state ──

    def index_folder(self) -> Path | None:
        """Where the index is kept between two processes; of a store on a server no copy is left on this machine."""
        return None if self.store.read_only or self.store.path is None else Path(f"{self.store.path}.index")

    def _candidates(self, reader: Reader) -> CandidateReader | None:
        """The database's own index of a namespace that is too large to be held here; None where it is held here."""
        candidates = reader.candidates
        if candidates is None or not candidates.standing.ready:
            return None
        known = self.encoding.key is None or self.encoding.key in candidates.standing.encoders
        large = candidates.standing.memories > self.settings.resident_memories
        return candidates if known and large else None

    def _over(self, version: Version, reader: Reader, candidates: CandidateReader) -> Version:
        first, second = (
            (encoding.key, encoding.dimension) if encoding is not None and encoding.key is not None else None
            for encoding in (self.encoding, self.second)
        )
        return version.over(reader, candidates, first, second)

    def version(self, reader: Reader) -> Version | None:
        """The index of a namespace that exists as a transaction sees it; None if another thread is past it."""
        candidates, state = self._candidates(reader), self.state(reader)
        version = self.resident(state.key, columns_alone=candidates is not None).at(reader, self.store.id, state)
        return version if version is None or candidates is None else self._over(version, reader, candidates)

    def resident(self, ns: int, *, columns_alone: bool = False, apart: bool = False) -> Resident:
        encoding, second = self.encoding, self.second
        beside = (second.key, second.dimension) if second is not None and second.key is not None else None
        key = (ns, encoding.key, beside and beside[0], columns_alone, apart)
        with self._lock:
            if key not in self._residents:
                folder = self.index_folder()
                self._residents[key] = Resident(
                    folder / str(ns) if folder else None, encoding.key, encoding.dimension, beside,
                    columns_alone=columns_alone,
                )  # fmt: skip
            self._residents.move_to_end(key)
            return self._residents[key]

    def _make_room(self) -> None:
        """The least recently used indexes go until the others take no more memory than they may; one stays anyway. Who
        is at one that goes keeps it until they are done."""
        most = self.settings.resident_megabytes << 20
        with self._lock:
            held = sum(LEAST_BYTES + resident.size for resident in self._residents.values())
            while held > most and len(self._residents) > 1:
                _, gone = self._residents.popitem(last=False)
                held -= LEAST_BYTES + gone.size

    def discard_index(self, namespace: str) -> None:
        """Forget the derived state of a namespace, in memory and on disk: the next reader makes it of the store."""
        with self.read(namespace) as reader:
            if reader.state is not None:
                self.resident(reader.state.key).discard()

    @contextmanager
    def snapshot(
        self, namespace: str, *, meant: str | None = None, recalls: bool = False
    ) -> Iterator[tuple[Reader, NamespaceState, Version] | None]:
        """One state of the store and the version of the index that belongs to it; None for an unknown namespace.

        `meant` is a text that will be encoded: where the index must be loaded first, the model loads beside it.
        What `recalls` may be answered by a replica, where the settings name one, and has an index of its own: the
        replica may be behind what this process knows.
        """
        read = self.store.recalling if recalls else self.store.read
        apart = recalls and self.settings.read_url is not None
        while True:
            with read(namespace, self.actor.sight) as reader:
                state = reader.state
                self.refresh_encoding(self.store.meta(META_ENCODER_KEY) if state is None else state.encoder)
                if state is None:
                    yield None
                    return
                candidates = self._candidates(reader)
                resident = self.resident(state.key, columns_alone=candidates is not None, apart=apart)
                if meant is not None and resident.is_cold:
                    self.encoding.load_for(meant)
                    if (
                        state.second is not None
                        and self.second is not None
                        and (state.unread or not is_read(meant, self.encoding.languages))
                    ):
                        self.second.load_for(meant)
                try:
                    version = resident.at(reader, self.store.id, state)
                except (ValueError, TypeError, IndexError, OverflowError) as error:  # rows that fit no index
                    hint = "`recallens doctor` names the rows; `recallens reindex` makes what is derived anew."
                    raise StoreDamaged(
                        f"the index of {self.store.location} cannot be made ({error})", hint=hint
                    ) from error
                if version is not None:
                    self._make_room()
                    yield reader, state, version if candidates is None else self._over(version, reader, candidates)
                    return

    @contextmanager
    def seen(
        self, namespace: str, *, meant: str | None = None, recalls: bool = False
    ) -> Iterator[tuple[Reader, NamespaceState, Version] | None]:
        """A snapshot as who acts sees it: what is withheld from them is not in it, and changes nothing of it."""
        with self.snapshot(namespace, meant=meant, recalls=recalls) as snapshot:
            sight = self.actor.sight
            if snapshot is None or sight.everything:
                yield snapshot
            else:
                reader, state, version = snapshot
                yield reader, state, version.seen_with(reader, sight.scopes)

    # ── looking things up ──

    def moment(self, name: str, given: When | None) -> int:
        """A time that a caller gives, or now."""
        known = epoch_ms(name, given)
        return self.clock() if known is None else known

    def namespace(self, name: str | None) -> str:
        return namespace_name(name if name is not None else self.settings.namespace)

    def read(self, namespace: str | None) -> AbstractContextManager[Reader]:
        """One snapshot of a namespace as who acts sees it; one that does not exist reads as empty."""
        return self.store.read(self.namespace(namespace), self.actor.sight)

    @contextmanager
    def reading(self, namespace: str | None) -> Iterator[Reader]:
        """One snapshot of a namespace that exists; what is unknown is an error here. The default one exists, and is
        empty until something is kept in it.
        """
        with self.read(namespace) as reader:
            if reader.name != DEFAULT_NAMESPACE:
                self.state(reader)
            yield reader

    @contextmanager
    def changing(self, namespace: str | None) -> Iterator[Writer]:
        """One transaction on a namespace that exists."""
        with self.store.write(self.namespace(namespace)) as tx:
            if tx.name != DEFAULT_NAMESPACE:
                self.state(tx)
            yield tx

    @contextmanager
    def making(self, namespace: str | None, *, texts: bool = False) -> Iterator[Writer]:
        """One transaction on a namespace that is made if need be. What writes `texts` settles their encoder too."""
        with self.store.write(self.namespace(namespace)) as tx:
            if tx.state is None:
                reference("namespace", tx.name)
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

    def ensure_session(
        self, tx: Writer, id: str | None, *, at: int | None = None, project: str | None = None, owner: str | None = None
    ) -> None:
        """A session that acts without having been started is started by its first act. `owner` is the token that acts,
        where that is not who acts here."""
        if id is None:
            return
        if tx.sessions.get(id) is None:
            reference("session id", id)
            begun = self.clock() if at is None else at
            tx.sessions.put(Session(id, tx.name, begun, project=project, zone=self.actor.zone))
        if owner is None:
            enter_session(tx, id, by=self.actor)

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
        raise _no_memory(id)

    def memory(self, reader: Reader, id: str) -> tuple[int, Memory]:
        num = self.num(reader, id)
        return num, reader.memories.get([num])[num]

    def seen_memory(self, reader: Reader, id: str) -> tuple[int, Memory]:
        """A memory that who acts may see. What is withheld from them is answered as what is not there."""
        num, memory = self.memory(reader, id)
        if self.actor.sight.withholds(memory) is not None:
            raise _no_memory(id)
        return num, memory


def _no_memory(id: str) -> NotFound:
    return NotFound(f"no memory {id!r} in this namespace", hint="`recallens list` shows handles.")


def open_store(settings: Settings, *, create: bool) -> Store:
    """The engine that a store's name asks for: a file is SQLite's, an address PostgreSQL's."""
    if not is_address(settings.store):
        if settings.sources.get("read_url") == "flag":
            raise InvalidInput("a store in a file has no replica", hint="Leave out the address to read from.")
        return SqliteStore(settings.store, create=create)
    scheme = settings.store.partition("://")[0]
    if scheme not in ("postgresql", "postgres"):
        raise InvalidInput(
            f"a store at {scheme}:// is not known; a store is the path of a file, or postgresql://…",
            hint="Use --store PATH, for example --store team.db.",
        )
    try:
        from recallens.store.postgres.store import PostgresStore
    except ImportError as error:
        raise StoreError(
            "a store on PostgreSQL needs psycopg", hint="Install it: pip install 'recallens[postgres]'."
        ) from error
    return PostgresStore(settings.store, create=create, read_url=settings.read_url)
