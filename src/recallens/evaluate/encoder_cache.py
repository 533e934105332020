"""Vectors kept by the hash of their text, so that a second evaluation is about the ranking and not about encoding."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import numpy as np

from recallens.config import Settings
from recallens.errors import InvalidInput
from recallens.index.encoders.protocol import Encoder, EncoderKey, Vectors
from recallens.index.encoders.registry import open_encoder

CACHE_VARIABLE = "RECALLENS_EVAL_CACHE"
# Texts that go to the encoder at once: a stop loses at most this much work.
STEP = 64
# A parallel run writes a step in milliseconds; past this something is wrong.
BUSY_MS = 60_000


class CachedEncoder:
    """An encoder that encodes each text once in its life; one file an encoder key."""

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self._encoder = encoder
        name = hashlib.sha256(str(encoder.key).encode()).hexdigest()[:12]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._kept = apsw.Connection(str(folder / f"{name}.vectors"))
            self._kept.set_busy_timeout(BUSY_MS)
            self._kept.execute("PRAGMA journal_mode=WAL")
            self._kept.execute("PRAGMA synchronous=NORMAL")  # what a power cut takes is encoded again
            self._kept.execute("CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        except (OSError, apsw.Error) as error:
            raise InvalidInput(
                f"the cache of vectors in {folder} cannot be used ({error})",
                hint=f"Delete it, or name another folder in {CACHE_VARIABLE}.",
            ) from error
        self.encoded = 0
        self.second: CachedEncoder | None = None  # for what it cannot read

    @property
    def key(self) -> EncoderKey:
        return self._encoder.key

    @property
    def languages(self) -> tuple[str, ...]:
        return self._encoder.languages

    def close(self) -> None:
        self._kept.close()
        if self.second is not None:
            self.second.close()

    def encode_query(self, text: str) -> Vectors:
        # Under a name of its own: an encoder may write a prefix before a query that a document does not get.
        vector: Vectors = self._remembered([text], "query", lambda texts: self._encoder.encode_query(texts[0])[None])[0]
        return vector

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return self._remembered(texts, "document", self._encoder.encode_documents)

    def _remembered(self, texts: Sequence[str], role: str, encode: Callable[[Sequence[str]], Vectors]) -> Vectors:
        names = [hashlib.sha256(f"{role}\0{text}".encode("utf-8", "replace")).digest() for text in texts]
        kept = (self._kept.execute("SELECT text, vector FROM vectors WHERE text = ?", (name,)).get for name in names)
        blobs: dict[bytes, bytes] = dict(row for row in kept if row is not None)
        missing = list({name: text for name, text in zip(names, texts, strict=True) if name not in blobs}.items())
        for start in range(0, len(missing), STEP):
            step = missing[start : start + STEP]
            vectors = encode([text for _, text in step]).astype("<f4")
            fresh = {name: vector.tobytes() for (name, _), vector in zip(step, vectors, strict=True)}
            with self._kept:
                self._kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", fresh.items())
            blobs |= fresh
            self.encoded += len(step)
        if not names:
            return np.empty((0, self.key.dimension), dtype=np.float32)
        return np.stack([np.frombuffer(blobs[name], dtype="<f4") for name in names])


def cached_encoder(settings: Settings) -> CachedEncoder | None:
    """The encoder that is set, remembering what it has encoded; None where words alone are searched."""
    encoder = open_encoder(
        settings.encoder, base_url=settings.encoder_url, api_key=os.environ.get(settings.encoder_key_env),
        dimension=settings.encoder_dimension, threads=settings.encoder_threads,
    )  # fmt: skip
    if encoder is None:
        return None
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get(CACHE_VARIABLE) or caches / "recallens" / "evaluate")
    cached = CachedEncoder(encoder, folder)
    second = open_encoder(settings.encoder_second, threads=settings.encoder_threads) if encoder.languages else None
    if second is not None:
        cached.second = CachedEncoder(second, folder)
    return cached
