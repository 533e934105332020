"""Taking memories out of the stored index in the place where they lie: the cost is that of their words.

What is stored of a memory is its row of the columns, its words by number, its vector, and names that only it has, such
as its author's. The row stays, as one that is not alive and says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recallens.index.columns import INTERNED, TOLD
from recallens.index.images import BY_ENCODER, OpenImage, checksum, scan_of
from recallens.index.vectors import BLOCK_ROWS, has_scans, to_single
from recallens.model.verdict import IntArray

# No word has this number.
NO_TERM = np.uint32(0xFFFFFFFF)


def erase(path: Path, nums: Sequence[int]) -> bool:
    """Overwrite every trace of these memories in an image and its scan; False where that could not be done."""
    try:
        image = OpenImage(path)
    except (ValueError, OSError):
        return False
    rows = np.flatnonzero(np.isin(image.arrays["num"], np.asarray(nums, dtype=np.int64)))
    if not len(rows):
        return True
    for row in rows.tolist():
        image.put("alive", row, np.zeros(1, dtype=np.bool_))
        for name in TOLD:
            image.put(name, row, np.zeros(1, dtype=image.arrays[name].dtype))
        _erase_words(image, row)
    _erase_names(image, rows)
    erased = [_erase_vectors(image, name, scan_of(path, name), rows) for name in BY_ENCODER if name in image.arrays]
    return image.close() and all(erased)


def _erase_words(image: OpenImage, row: int) -> None:
    """Its words in text order, and its place under each of them; that becomes a second, empty one of a neighbour."""
    arrays = image.arrays
    first, last = (int(at) for at in arrays["segment.offsets"][row : row + 2])
    words = np.unique(arrays["segment.forward"][first:last])
    image.put("segment.forward", first, np.full(last - first, NO_TERM))
    for at, word in zip(arrays["segment.terms"].searchsorted(words).tolist(), words.tolist(), strict=True):
        if word == NO_TERM or arrays["segment.terms"][at] != word:
            continue
        start, end = (int(edge) for edge in arrays["segment.starts"][at : at + 2])
        held = arrays["segment.rows"][start:end]
        left, right = int(held.searchsorted(row)), int(held.searchsorted(row, side="right"))
        beside = held[left - 1] if left else held[right] if right < len(held) else 0
        image.put("segment.counts", start + left, np.zeros(right - left, dtype=np.uint16))
        image.put("segment.rows", start + left, np.full(right - left, beside, dtype=np.int32))


def _erase_names(image: OpenImage, rows: IntArray) -> None:
    """Names that no other living row has: an author, a session, a task."""
    alive = image.arrays["alive"]
    for name in INTERNED:
        codes = image.arrays[name]
        for code in np.unique(codes[rows]).tolist():
            if code >= 0 and not (alive & (codes == code)).any():
                image.extra["names"][name][code] = ""


def _erase_vectors(image: OpenImage, name: str, scan: Path, rows: IntArray) -> bool:
    arrays = image.arrays
    erased = np.isin(arrays[f"{name}_rows"], rows.astype(np.int32))
    places = np.flatnonzero(erased)
    if not len(places):
        return True
    if f"{name}_scan" not in image.extra:
        for place in places.tolist():
            image.put(name, place, np.zeros((1, arrays[name].shape[1])))
    elif erased.all() or not _erase_scanned(image, name, scan, places):
        return False
    for block in np.unique(places // BLOCK_ROWS).tolist():
        vectors = arrays[name][block * BLOCK_ROWS : (block + 1) * BLOCK_ROWS]
        image.put(f"{name}_sums", block, np.array([checksum(vectors)], dtype=np.uint64))
    return True


def _erase_scanned(image: OpenImage, name: str, path: Path, places: IntArray) -> bool:
    """A scan gives a vector up only to the last one, which takes its place. It is then added once more at the end, so
    that it is found in both, and whoever has the old scan in memory finds nothing else there."""
    if not has_scans():
        return False
    import turbovec

    vectors, rows, last = image.arrays[name], image.arrays[f"{name}_rows"], len(image.arrays[name]) - 1
    if erased_last := int(places[-1]) == last:
        row_has_parts = bool((rows[1:] == rows[:-1]).any())
        if row_has_parts:  # the one that would take its place must stay beside the other parts of its row
            return False
    donor = int(np.setdiff1d(np.arange(last, max(last - len(places) - 1, -1), -1), places)[-1]) if erased_last else last
    try:
        scan = turbovec.TurboQuantIndex.load(str(path))
        for place in sorted(places.tolist(), reverse=True):
            given = donor if place == last else last
            vector, row = vectors[given : given + 1].copy(), rows[given : given + 1].copy()
            scan.swap_remove(place)
            scan.add(to_single(vector))
            image.put(name, place, vector)
            image.put(f"{name}_rows", place, row)
        fresh = path.with_suffix(".tmp")
        scan.write(str(fresh))
        fresh.chmod(0o600)
        image.extra[f"{name}_scan"] = checksum(np.memmap(fresh, mode="r", dtype=np.uint8))
        fresh.replace(path)
    except (OSError, ValueError):
        return False
    return True
