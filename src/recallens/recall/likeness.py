"""How alike rows are: by meaning where both have a vector, else by their words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recallens.index.encoding import LazySemantic
from recallens.model.verdict import FloatArray, IntArray, everywhere
from recallens.recall.scene import MULTILINGUAL, SEMANTIC, Scene

# Rows whose likeness to the others is worked out at once: about as many as a search returns.
ASKED_FIRST: Final = 12
# From here on two rows say the same in other words.
SAME: Final = 0.7


def repeated_share(scene: Scene, rows: IntArray) -> float:
    """Of the rows, the share that says what one before it says."""
    if len(rows) < 2:
        return 0.0
    like = likeness(scene, rows)
    repeats = [float(like(at)[:at].max()) >= SAME for at in range(1, len(rows))]
    return sum(repeats) / len(rows)


def likeness(scene: Scene, rows: IntArray) -> Callable[[int], FloatArray]:
    """A function from one of the rows, by its place, to its likeness with each: 1 if they are the same, 0 or less if
    unlike. It is the cosine where both have a vector that the encoder meant, else the share of words in common. Rows
    that are likeliest to be asked about come first.
    """
    lexical, semantic = scene.index.lexical, scene.views.get(MULTILINGUAL, scene.views.get(SEMANTIC))
    vectors = scene.index.vectors if scene.question.fluency > 0 else None
    if MULTILINGUAL in scene.views:  # of one encoder, which reads all of them
        vectors = scene.index.second
    words: Callable[[int], FloatArray] | None = None

    def by_words(at: int) -> FloatArray:
        nonlocal words
        if words is None:
            words = _shared_words([lexical.sequence(int(row)) for row in rows])
        return words(at)

    if vectors is None or not len(vectors):
        return by_words
    has_vector = vectors.has(rows)
    of_all = everywhere(has_vector)
    with_vector = rows if of_all else rows[has_vector]
    matrix = semantic.vectors(with_vector) if isinstance(semantic, LazySemantic) else vectors.single(with_vector)
    if not of_all:
        known, matrix = matrix, np.zeros((len(rows), matrix.shape[1]), dtype=np.float32)
        matrix[has_vector] = known
    # The first rows are those that will be asked about, so theirs are worked out in one product.
    ahead = np.minimum(matrix @ matrix[:ASKED_FIRST].T, 1.0).T.astype(np.float64, order="C")

    def by_meaning(at: int) -> FloatArray:
        if not has_vector[at]:
            return by_words(at)
        cosine: FloatArray
        cosine = ahead[at] if at < len(ahead) else np.minimum(matrix @ matrix[at], 1.0).astype(np.float64)
        return cosine if of_all else np.where(has_vector, cosine, by_words(at))

    return by_meaning


def _shared_words(sequences: Sequence[NDArray[np.uint32]]) -> Callable[[int], FloatArray]:
    """Jaccard of one row with each, by their terms."""
    terms, place = np.unique(np.concatenate(sequences), return_inverse=True)
    owner = np.repeat(np.arange(len(sequences)), [len(sequence) for sequence in sequences])
    holds = np.zeros((len(sequences), max(len(terms), 1)), dtype=np.float32)
    holds[owner, place] = 1.0
    sizes = holds.sum(axis=1).astype(np.float64)

    def jaccard(at: int) -> FloatArray:
        common = (holds @ holds[at]).astype(np.float64)
        either = sizes + sizes[at] - common
        shares: FloatArray = np.divide(common, either, out=np.zeros_like(common), where=either > 0)
        return shares

    return jaccard
