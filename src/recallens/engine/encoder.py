"""The store's encoder: which there are, which fits, changing it, and encoding what waits in the backlog."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from recallens.engine.core import GIVEN_ENCODER, NO_ENCODER, Core
from recallens.errors import EncoderError, RecallensError
from recallens.index.encoding import Encoding
from recallens.index.vectors import to_blob
from recallens.ingest.encoded import (
    READ_CHARACTERS,
    ROLES,
    SHORT_CHARACTERS,
    USER_ROLES,
    encoded_parts,
    encoded_text,
    with_parts,
)
from recallens.ingest.prepare import reannotated
from recallens.model.memory import Memory
from recallens.store.records import META_ENCODER_KEY, META_ENCODER_SPEC, META_PARTS, Unencoded
from recallens.text.scripts import hangul_share

if TYPE_CHECKING:
    from recallens.index.encoders.detect import Available, Looked

META_REINDEXING: Final = "reindexing"
META_CLEARED: Final = "encoder-cleared"
# Set while vectors of an encoder that was used before may still be there.
META_CHANGED: Final = "encoder-changed"
# Texts looked at to tell the store's language, spread over it, and how much of each.
SAMPLED: Final = 200
SAMPLED_CHARACTERS: Final = 500
MOSTLY_KOREAN: Final = 0.5
# A text that any encoder can encode.
PROBE: Final = "recallens"


class Detection(Struct, frozen=True):
    """`suggestion` is what would fit better than what the store uses; None where nothing would, `reason` says why."""

    current: str | None
    looked: tuple[Looked, ...]
    hangul: float
    cleared: tuple[str, ...]
    suggestion: str | None
    reason: str

    @property
    def available(self) -> tuple[Available, ...]:
        return tuple(encoder for place in self.looked for encoder in place.found)

    def to_json(self) -> dict[str, Any]:
        failed = [place for place in self.looked if place.problem is not None]
        return {
            "current": self.current,
            "available": [
                {"encoder": each.spec, "origin": each.origin, "multilingual": each.multilingual}
                for each in self.available
            ],
            "unavailable": [{"place": place.place, "problem": place.problem} for place in failed],
            "koreanShare": self.hangul,
            "cleared": list(self.cleared),
            "suggestion": self.suggestion,
            "reason": self.reason,
        }


# Texts an encoding step takes from the backlog; a stop loses at most this much work.
BACKLOG_ROWS = 256
# Beside other work a step is shorter, as a process that ends waits for it; and so long it waits for more of them.
QUIET_ROWS = 32
LAST_SECONDS = 2.0
LEASE_SECONDS = 120
Progress = Callable[[int], None]
# Memories read at a time while the lexical view is written anew.
REBUILD_ROWS = 1_000


def rebuild(core: Core, *, vectors: bool = False, progress: Progress = lambda done: None) -> dict[str, int]:
    """Write everything derived anew from the memories; with `vectors`, all texts wait to be encoded again.

    It goes in steps, between which others write. Until the last, a memory is found by its old words or its new ones.
    """
    core.refuse_read_only()
    entries = queued = 0
    with core.store.write_all() as whole:
        whole.set_meta(META_REINDEXING, str(os.getpid()))
        states = [state for state, _ in whole.namespaces()]
        for state in states:
            whole.at(state.name).terms.mend()
    for state in states:
        entries += _rebuild_namespace(core, state.name, progress)
    with core.store.write_all() as whole:
        if core.encoding.key is not None:
            whole.drop_damaged_vectors()
            if vectors:
                whole.drop_vectors(core.encoding.key)
            whole.enqueue_missing(core.encoding.key)
            queued = whole.backlog_size(core.encoding.key)
        second = core.second_key
        if vectors and second is not None:
            whole.drop_vectors(second)
        for state in states:
            if second is not None and state.second == second:
                whole.at(state.name).vectors.begin_second(second)
        whole.drop_meta(META_REINDEXING)
    for state in states:
        core.resident(state.key).discard()
    return {"entries": entries, "queued": queued}


def _rebuild_namespace(core: Core, name: str, progress: Progress) -> int:
    entries = 0
    with core.store.read(name) as reader:
        nums = reader.memories.numbers()  # what is remembered from now on is derived by whoever writes it
    for start in range(0, len(nums), REBUILD_ROWS):
        part = nums[start : start + REBUILD_ROWS]
        with core.store.read(name) as reader:
            read = reader.memories.get(part)
        rows = {num: reannotated(memory, None) for num, memory in read.items()}
        with core.store.write(name) as tx:
            for num, memory in (present := tx.memories.get(part)).items():
                if memory != read.get(num):  # somebody changed it meanwhile
                    rows[num] = reannotated(memory, None)
            if present:
                tx.memories.rederive(list(present), [rows[num] for num in present])
        entries += len(present)
        progress(len(present))
    with core.store.read(name) as reader:
        unused, seen = reader.terms.unused(), reader.state.number if reader.state is not None else 0
    with core.store.write(name) as tx:
        if tx.state is not None:  # nobody has removed it meanwhile
            late = tx.terms.held(tx.terms.changes(seen).changed)
            tx.terms.drop([number for number in unused if number not in late])
            tx.terms.begin_epoch()
            tx.tasks.recount()
    return entries


class StoreEncoder:
    """Chooses the encoder of a store and drains its backlog."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._worker: Thread | None = None
        self._wanted: dict[str, None] = {}  # namespaces whose texts need vectors of the second encoder
        self._closing = Event()

    def drain(self, progress: Progress = lambda done: None, *, limit: int | None = None) -> int:
        """Encode what waits in the backlog, a step at a time; a stop loses one step. In a file one process at a time
        does it; on a server any number, each with texts of its own.

        What waits for the second encoder comes after it, unless there is a limit.
        """
        if self._worker is not None and limit is None:
            self._worker.join()  # it holds the lease, and does what is left of this
        done = self._drain(self._core.encoding, progress, limit)
        if self._core.second is not None and limit is None:
            done += self._drain(self._core.second, progress, None)
        return done

    def _drain(self, encoding: Encoding, progress: Progress, limit: int | None, *, quietly: bool = False) -> int:
        key, second = encoding.key, encoding is self._core.second
        if key is None:
            return 0
        if not second:
            self._await_parts()
        with self._core.store.read_all() as reader:
            if not reader.backlog_size(key):
                return 0
        holder, done = f"{os.getpid()}-{uuid.uuid4().hex}", 0
        step = QUIET_ROWS if second or quietly else BACKLOG_ROWS
        try:
            while limit is None or done < limit:
                some = step if limit is None else min(step, limit - done)
                waiting = self._core.store.take_backlog(key, some, holder, LEASE_SECONDS)
                if waiting is None:
                    break
                if not waiting:
                    if not second:
                        self._drop_other_vectors(key)
                    break
                rows: dict[str, list[tuple[int, int, bytes]]] = {}
                parts = [
                    (memory, part, text)
                    for memory in waiting
                    for part, text in enumerate(texts_of(encoding, memory, second=second))
                ]
                vectors = encoding.documents([text for _, _, text in parts])
                for (memory, part, _), vector in zip(parts, vectors, strict=True):
                    rows.setdefault(memory.namespace, []).append((memory.num, part, to_blob(vector)))
                with self._core.store.write_all() as whole:
                    for namespace, encoded in sorted(rows.items()):
                        tx = whole.at(namespace)
                        if tx.state is not None:  # else it was removed while its texts were being encoded
                            tx.vectors.put(key, encoded)
                done += len(waiting)
                progress(len(waiting))
                if (second or quietly) and self._closing.is_set():
                    break
        finally:
            self._core.store.give_back(holder)
        return done

    def _drop_other_vectors(self, key: str) -> None:
        """After a change of the encoder, and only then: to look for them costs by the size of the store."""
        if self._core.store.meta(META_CHANGED) is not None:
            with self._core.store.write_all() as whole:
                if not whole.backlog_size(key):  # another process may have added to it since
                    whole.drop_other_vectors(key, self._core.second_key)
                    whole.drop_meta(META_CHANGED)

    def drain_quietly(self) -> None:
        """Encode what was just kept; where the encoder fails, it is kept all the same and waits in the backlog."""
        with suppress(EncoderError):
            self.drain(limit=QUIET_ROWS)
        self.later()

    def _await_parts(self) -> None:
        """Texts that were encoded before their parts had vectors wait for those, once in the life of a store."""
        if self._lacks_parts():
            key = str(self._core.encoding.key)
            with self._core.store.write_all() as whole:
                for state, _ in whole.namespaces():
                    whole.at(state.name).vectors.await_parts(
                        key, users=USER_ROLES, short=SHORT_CHARACTERS, roles=sorted(ROLES), long=READ_CHARACTERS
                    )
                whole.set_meta(META_PARTS, key)

    def _lacks_parts(self) -> bool:
        encoding = self._core.encoding
        return encoding.reads_parts and self._core.store.meta(META_PARTS) != encoding.key

    # ── vectors of parts in an old store, and of the second encoder: made when nobody waits ──

    def waiting(self) -> int:
        """How many texts wait for a vector, of either encoder."""
        return self._size(self._core.encoding.key, self._core.second_key)

    def _size(self, *keys: str | None) -> int:
        with self._core.store.read_all() as reader:
            return sum(reader.backlog_size(key) for key in keys if key is not None)

    def begun(self) -> bool:
        """Whether some namespace has vectors of the second encoder."""
        with self._core.store.read_all() as reader:
            return any(state.second is not None for state, _ in reader.namespaces())

    def begin(self, namespace: str) -> None:
        """From now on texts of this namespace have vectors of the second encoder too; those there are wait for it."""
        second = self._core.second_key
        if second is not None:
            with self._core.store.write(namespace) as tx:
                if tx.state is not None:
                    tx.vectors.begin_second(second)

    def later(self, namespace: str | None = None) -> None:
        """Encode beside whatever comes next what waits; a namespace that is named begins to wait for the second."""
        if self._core.store.read_only or self._closing.is_set() or not (namespace or self._behind()):
            return
        if namespace is not None:
            self._wanted[namespace] = None
        if self._worker is None or not self._worker.is_alive():
            self._worker = Thread(target=self._work, name="recallens-backlog")
            self._worker.start()

    def _behind(self) -> bool:
        """Whether texts wait for an encoder of this machine."""
        return self._lacks_parts() or self._size(*(encoding.key for encoding in self._own())) > 0

    def _own(self) -> list[Encoding]:
        """The packaged encoders: beside other work nobody waits for a network."""
        first, second = self._core.encoding, self._core.second
        return [*([first] if first.reads_parts else []), *([second] if second is not None else [])]

    def _work(self) -> None:
        # What cannot be done now is done after another answer; until then each says what is missing.
        with suppress(RecallensError):
            while self._wanted:
                self.begin(self._wanted.popitem()[0])
            for encoding in self._own():
                self._drain(encoding, lambda done: None, None, quietly=True)

    def close(self) -> None:
        """A process that ends gives the work some time yet, and leaves the rest to the next."""
        if self._worker is not None:
            self._worker.join(LAST_SECONDS)
            self._closing.set()
            self._worker.join()

    def detect(self) -> Detection:
        """Look for encoders, within about a second a place. Nothing is downloaded, loaded or changed."""
        # Late, as it brings urllib and ssl.
        from recallens.index.encoders.detect import ollama, openai, packaged

        url, key = self._core.settings.encoder_url, os.environ.get(self._core.settings.encoder_key_env)
        looked = (packaged(), ollama(url, key), *(() if url is None else (openai(url, key),)))
        available = [encoder for place in looked for encoder in place.found]
        current, cleared = self._core.store.meta(META_ENCODER_SPEC), self.cleared()
        hangul = self.korean_share()
        suggestion, reason = suggest(available, current=current, hangul=hangul, cleared=cleared)
        return Detection(current, looked, hangul, cleared, suggestion, reason)

    def bootstrap(self) -> Detection:
        """At first use: a store without an encoder takes the one that fits, unless a setting or the user says which."""
        detection, core = self.detect(), self._core
        chosen = detection.current is not None or "encoder" in core.settings.sources or core.given_encoder is not None
        if not chosen and detection.suggestion is not None and not core.store.read_only:
            self.change(detection.suggestion, probe=False)  # it was found a moment ago, and nothing is lost with it
        return detection

    def use(self, spec: str, *, progress: Progress = lambda done: None) -> dict[str, int]:
        """Encode everything with this one from now on. Asked for by name, it is no longer ruled out."""
        self.change(spec)
        done = rebuild(self._core, progress=progress)
        self._put_cleared([other for other in self.cleared() if other != spec])
        return done

    def clear(self) -> str | None:
        """Words alone from now on; what was used is never set again unless it is asked for by name."""
        self._core.refuse_read_only()
        before = self._core.store.meta(META_ENCODER_SPEC) or self._core.settings.encoder
        if before == NO_ENCODER:
            return None
        self.change(NO_ENCODER)
        if before != GIVEN_ENCODER:
            self._put_cleared([*self.cleared(), before])
        return before

    def cleared(self) -> tuple[str, ...]:
        return tuple(json.loads(self._core.store.meta(META_CLEARED) or "[]"))

    def change(self, spec: str, *, probe: bool = True) -> None:
        """The change and what it leaves to be encoded are one transaction, after the encoder has shown that it answers.

        Vectors of the old one stay until the new one's are there: two models are never mixed, and none is lost.
        """
        encoder = self._core.open_encoder(spec)
        key = str(encoder.key) if encoder is not None else None
        encoding = Encoding(spec, key, encoder)
        if key is not None and probe:
            encoding.documents([PROBE])
        with self._core.store.write_all() as tx:
            tx.set_meta(META_ENCODER_SPEC, spec)
            if key is not None:
                tx.set_meta(META_ENCODER_KEY, key)
                tx.enqueue_missing(key)
                tx.set_meta(META_CHANGED, key)
            else:
                tx.drop_meta(META_ENCODER_KEY)
        self._core.use_encoding(encoding)

    def korean_share(self) -> float:
        """Hangul over all letters, of texts sampled evenly over the whole store."""
        texts: list[str] = []
        with self._core.store.read_all() as whole:
            for state, _ in whole.namespaces():
                reader = whole.at(state.name)
                nums = reader.memories.numbers()
                chosen = nums[:: max(1, len(nums) // SAMPLED)][:SAMPLED]
                texts += [memory.content[:SAMPLED_CHARACTERS] for memory in reader.memories.get(chosen).values()]
        return hangul_share("\n".join(texts))

    def _put_cleared(self, specs: list[str]) -> None:
        with self._core.store.write_all() as tx:
            tx.set_meta(META_CLEARED, json.dumps(list(dict.fromkeys(specs)), ensure_ascii=False))


def texts_of(encoding: Encoding, memory: Memory | Unencoded, *, second: bool = False) -> list[str]:
    """What is encoded of a memory, one vector a text."""
    text = memory.title, memory.author, memory.content
    if second:
        return encoded_parts(*text)
    return with_parts(*text) if encoding.reads_parts else [encoded_text(*text)]


def suggest(
    available: list[Available], *, current: str | None, hangul: float, cleared: tuple[str, ...]
) -> tuple[str | None, str]:
    """A multilingual model for a store that is mostly Korean, else the packaged one, else whatever there is.

    A store whose encoder was cleared is left alone.
    """
    from recallens.index.encoders.detect import multilingual_rank

    if current == NO_ENCODER or (current is None and cleared):
        return None, "the encoder was cleared; `recallens encoder use SPEC` sets one again"
    allowed = [encoder for encoder in available if encoder.spec not in cleared]
    multilingual = [encoder for encoder in allowed if encoder.multilingual and encoder.origin != "packaged"]
    multilingual.sort(key=lambda encoder: multilingual_rank(encoder.spec.partition(":")[2]) or 0)
    if hangul > MOSTLY_KOREAN:
        if multilingual and multilingual[0].spec != current:
            return multilingual[0].spec, "the store is mostly Korean, which this model reads"
        if not multilingual and current is not None:
            if any(encoder.spec == "multilingual" for encoder in allowed):
                return None, "the store is mostly Korean, which the packaged multilingual encoder reads"
            return None, "the store is mostly Korean, and no multilingual model was found: words find it"
    if current is not None:
        return None, f"{current} fits"
    ranked = [*(encoder for encoder in allowed if encoder.origin == "packaged"), *multilingual, *allowed]
    return (ranked[0].spec, "the first that is there") if ranked else (None, "no encoder was found: words alone")
