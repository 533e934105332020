"""Images: what is written is read back, mapped; a damaged one is no image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recallens.index.images import Image, Stamp, exclusively, read_image, write_image

STAMP = Stamp(store="s-1", namespace=3, encoder="e@1/4/none", epoch=2, number=77)
ARRAYS = {
    "num": np.arange(7, dtype=np.int64),
    "id": np.array([b"a", b"bc", b"d"], dtype="S26"),
    "flags": np.array([True, False, True]),
    "vectors": np.arange(12, dtype=np.float16).reshape(3, 4),
    "none": np.empty((0, 4), dtype=np.float16),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.image"
    write_image(path, Image(STAMP, ARRAYS, {"names": {"project": ["p", "프로젝트"]}, "rows": 7}))
    return path


def test_round_trip(path: Path) -> None:
    image = read_image(path)
    assert image is not None
    assert image.is_sound()
    assert image.stamp == STAMP
    assert image.extra == {"names": {"project": ["p", "프로젝트"]}, "rows": 7}
    for name, values in ARRAYS.items():
        assert image.arrays[name].dtype == values.dtype
        assert np.array_equal(image.arrays[name], values)
        assert not (image.arrays[name].flags.writeable and values.size)
    assert [each.name for each in path.parent.iterdir()] == ["x.image"]


def test_every_flipped_byte_of_the_data_is_found_by_the_checksums(path: Path) -> None:
    whole = path.read_bytes()
    start = whole.index(np.arange(7, dtype=np.int64).tobytes())
    for at in range(start, start + 56, 9):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        image = read_image(path)
        assert image is not None
        assert not image.is_sound()


def test_any_flipped_byte_of_the_header_makes_it_no_image(path: Path) -> None:
    whole = path.read_bytes()
    for at in range(16 + int(whole[:8], 16)):
        damaged = bytearray(whole)
        damaged[at] ^= 1
        path.write_bytes(damaged)
        assert read_image(path) is None


def test_every_truncation_makes_it_no_image(path: Path) -> None:
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        assert read_image(path) is None
    assert read_image(path.with_name("missing.image")) is None


def test_a_stamp_fits_an_earlier_state_of_the_same_thing() -> None:
    later = Stamp("s-1", 3, "e@1/4/none", 2, 80)
    assert later.fits(STAMP)
    assert STAMP.fits(STAMP)
    assert not STAMP.fits(later)
    for other in (
        Stamp("s-2", 3, "e@1/4/none", 2, 1),
        Stamp("s-1", 4, "e@1/4/none", 2, 1),
        Stamp("s-1", 3, "f@1/4/none", 2, 1),
        Stamp("s-1", 3, "e@1/4/none", 1, 1),
    ):
        assert not later.fits(other)


def test_one_at_a_time_replaces_files_and_nobody_waits(tmp_path: Path) -> None:
    with exclusively(tmp_path) as first, exclusively(tmp_path) as second:
        assert (first, second) == (True, False)
    with exclusively(tmp_path) as third:
        assert third is True
