"""The attributes that gates and terms read, resident as columns. A version never changes; a write makes the next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from recallens.model.memory import Kind, Sector, Status, Tier, Zone
from recallens.model.state import BLOCKING
from recallens.model.verdict import BoolArray, IntArray, everywhere
from recallens.store.records import COLUMN_TEXTS, COLUMN_VALUES, ColumnRow

Array = NDArray[Any]

NEVER = np.iinfo(np.int64).max
ALWAYS = np.iinfo(np.int64).min

# Options of two kinds may be spelt alike, and are equal then: each kind has numbers of its own.
_CODES: Mapping[type[StrEnum], Mapping[str, int]] = {
    options: {option: code for code, option in enumerate(options)} for options in (Sector, Kind, Tier, Status, Zone)
}
_OPTIONS: Mapping[str, type[StrEnum]] = {options.__name__.lower(): options for options in _CODES}
# Text that repeats is kept once and known by its number; -1 is none.
INTERNED = ("project", "document", "source", "task", "worktree", "author", "session", "review")
_DTYPES: Mapping[str, Any] = {
    "num": np.int64, "id": "S26", "project": np.int32, "sector": np.int8, "kind": np.int8, "kind_stated": np.bool_,
    "tier": np.int8, "status": np.int8, "zone": np.int8, "importance": np.float64, "confidence": np.float64,
    "base_salience": np.float64, "created": np.int64, "updated": np.int64, "last_used": np.int64, "uses": np.int32,
    "reinforcement": np.float64, "reinforced_at": np.int64, "confirmed": np.bool_, "valid_from": np.int64,
    "valid_until": np.int64, "recorded": np.int64,
    "document": np.int32, "source": np.int32, "task": np.int32, "worktree": np.int32,
    "author": np.int32, "session": np.int32, "position": np.int32, "reward": np.float64, "cited": np.bool_,
    "gist": np.uint64, "days_told": np.int64, "chars": np.int32, "tokens": np.int32, "length": np.int32,
    "review": np.int8, "tasks_with": np.int32, "reward_with": np.float64, "alive": np.bool_,
}  # fmt: skip
_MISSING: Mapping[str, Any] = {
    "valid_from": ALWAYS, "valid_until": NEVER, "recorded": ALWAYS,
    "position": -1, "reward": np.nan, "reinforced_at": 0,
}  # fmt: skip

_decode = json.JSONDecoder().decode
# What a row says of its text.
TOLD = ("gist", "days_told", "chars", "tokens", "length")

# Of a million rows 2 ms tell those whose gist ends as one of some hundred does, where looking each up takes 100 ms; one
# gist is looked up in 1 ms.
FEW_GISTS = 8
_LAST_BITS = 0xFFFF

# Spare room in a grown column, so that a stream of single writes copies it a few times and not each time.
_GROWTH = 1.5


def code_of(option: StrEnum) -> int:
    return _CODES[type(option)][option]


def table_of(options: Sequence[StrEnum]) -> BoolArray:
    """Which numbers of their column these options have, by number: a look-up takes a tenth of a search."""
    table = np.zeros(len(_CODES[type(options[0])]), dtype=np.bool_)
    table[[code_of(option) for option in options]] = True
    return table


@dataclass(slots=True)
class InternedTexts:
    """Texts by number. It only grows, so versions share it."""

    texts: list[str] = field(default_factory=list)
    codes: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.codes = {text: code for code, text in enumerate(self.texts)}

    def intern(self, text: str | None) -> int:
        if text is None:
            return -1
        if text not in self.codes:
            self.codes[text] = len(self.texts)
            self.texts.append(text)
        return self.codes[text]

    def find(self, text: str) -> int:
        """The number of a text, or -2, which no row has."""
        return self.codes.get(text, -2)


class _Buffer(Struct, eq=False):
    """An array with room at its end. `used` tells whether another version has already grown into that room."""

    data: Array
    used: int


class Columns:
    """One version of a namespace's rows. A row's place, once given, stays its place in every later version."""

    __slots__ = ("_buffers", "_held_from", "_plain", "_sorter", "_views", "names", "size")

    def __init__(self, buffers: dict[str, _Buffer], names: dict[str, InternedTexts], size: int) -> None:
        self._buffers = buffers
        self.names = names
        self.size = size
        self._sorter: IntArray | None = None
        self._plain: BoolArray | None = None
        self._held_from: IntArray | None = None
        # A recall asks for a column over a hundred times: the part of the buffer that is this version's is cut once.
        self._views: dict[str, Array] = {}

    @staticmethod
    def empty(room: int = 0) -> Columns:
        buffers = {name: _Buffer(np.empty(room, dtype=dtype), 0) for name, dtype in _DTYPES.items()}
        return Columns(buffers, {name: InternedTexts() for name in INTERNED}, 0)

    @staticmethod
    def of(arrays: Mapping[str, Array], names: Mapping[str, Sequence[str]]) -> Columns:
        """From a stored image, whose arrays may be read-only maps of a file."""
        size = len(arrays["num"])
        buffers = {name: _Buffer(arrays[name], size) for name in _DTYPES}
        return Columns(buffers, {name: InternedTexts(list(names[name])) for name in INTERNED}, size)

    def __getitem__(self, name: str) -> Array:
        try:
            return self._views[name]
        except KeyError:
            view = self._views[name] = self._buffers[name].data[: self.size]
            return view

    def arrays(self) -> dict[str, Array]:
        return {name: self[name] for name in _DTYPES}

    def locate(self, nums: Sequence[int] | Array) -> IntArray:
        """The place of each memory number, -1 where this version does not have it."""
        wanted = np.asarray(nums, dtype=np.int64)
        if not self.size or not len(wanted):
            return np.full(len(wanted), -1, dtype=np.int64)
        known = self["num"]
        if self._sorter is None:
            # Numbers are given out in the order of commits, so they are nearly always sorted already.
            self._sorter = np.argsort(known, kind="stable")
        at = np.minimum(np.searchsorted(known, wanted, sorter=self._sorter), self.size - 1)
        places: IntArray = self._sorter[at].astype(np.int64)
        places[known[places] != wanted] = -1
        return places

    def mask_of(self, nums: Sequence[int]) -> BoolArray:
        mask = np.zeros(self.size, dtype=np.bool_)
        places = self.locate(nums)
        mask[places[places >= 0]] = True
        return mask

    def next(self, rows: Sequence[ColumnRow], removed: Sequence[int]) -> tuple[Columns, int]:
        """The version after these changes, and how many of its rows are new; those are at its end."""
        buffers = dict(self._buffers)
        nums = [row[0] for row in rows]
        # Numbers are given out in order: most often all of these are new.
        old = bool(nums) and self.size > 0 and min(nums) <= self["num"][-1]
        places = self.locate(nums) if old else np.full(len(rows), -1)
        known = places >= 0
        parsed = self._parse(rows)
        if known.any():
            at = places[known]
            for name, values in parsed.items():
                old, new = self[name][at], values[known]
                if not np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
                    data = self[name].copy()
                    data[at] = new
                    buffers[name] = _Buffer(data, self.size)
        added = int((~known).sum())
        if added:
            for name, values in parsed.items():
                buffers[name] = _appended(buffers[name], self.size, values if added == len(rows) else values[~known])
        following = Columns(buffers, self.names, self.size + added)
        if removed and (gone := following.mask_of(removed)).any():
            buffers["alive"] = _Buffer(following["alive"] & ~gone, following.size)
            following = Columns(buffers, self.names, following.size)
        return following, added

    def silenced(self, gone: BoolArray) -> Columns:
        """The same rows; those that are gone say nothing of their text."""
        buffers = dict(self._buffers)
        for name in TOLD:
            buffers[name] = _Buffer(np.where(gone, 0, self[name]).astype(self[name].dtype), self.size)
        return Columns(buffers, self.names, self.size)

    def without(self, gone: BoolArray) -> Columns:
        """The same rows, of which these are not there."""
        buffers = {**self._buffers, "alive": _Buffer(self["alive"] & ~gone, self.size)}
        return Columns(buffers, self.names, self.size)

    @property
    def blocked(self) -> BoolArray:
        """The rows that are withheld from everybody, by their status or their zone."""
        statuses = [code_of(status) for status in (*BLOCKING, Status.PENDING_REVIEW)]
        blocked: BoolArray = np.isin(self["status"], statuses) | (self["zone"] == code_of(Zone.QUARANTINE))
        return blocked

    def about(self, gists: Array) -> IntArray:
        """The rows about the same as any of some texts."""
        known = self["gist"]
        if len(gists) <= FEW_GISTS:
            return np.flatnonzero(np.isin(known, gists))
        ends = np.zeros(_LAST_BITS + 1, dtype=np.bool_)
        ends[gists & np.uint64(_LAST_BITS)] = True
        rows = np.flatnonzero(ends[known & np.uint64(_LAST_BITS)])
        return rows[np.isin(known[rows], gists)]

    def _parse(self, rows: Sequence[ColumnRow]) -> dict[str, Array]:
        if not rows:
            return {}
        *columns, texts = zip(*rows, strict=True)
        by_name: dict[str, Sequence[Any]] = dict(zip(COLUMN_VALUES, columns, strict=True))
        parsed: dict[str, Array] = {"alive": np.ones(len(rows), dtype=np.bool_), **self._parse_texts(texts)}
        # Most columns say the same of every row, which is seen in a third of the time that reading them takes.
        for name, values in by_name.items():
            dtype = _DTYPES[name]
            if name == "id":
                together = "".join(values).encode()
                whole = len(together) == len(rows) * np.dtype(dtype).itemsize
                parsed[name] = np.frombuffer(together, dtype) if whole else np.array(values, dtype)
            elif name == "gist":
                parsed[name] = np.fromiter(values, np.int64, len(rows)).view(dtype)
            elif (value := values[0]) is None and values.count(None) == len(rows):
                missing = by_name["created"] if name == "last_used" else _MISSING[name]
                parsed[name] = np.full(len(rows), missing, dtype)
            elif value is not None and values.count(value) == len(rows):
                parsed[name] = np.full(len(rows), value, dtype)
            elif name == "last_used":
                used = [c if last is None else last for last, c in zip(values, by_name["created"], strict=True)]
                parsed[name] = np.array(used, dtype)
            elif name in _MISSING and None in values:
                missing = _MISSING[name]
                parsed[name] = np.array([missing if value is None else value for value in values], dtype)
            else:
                parsed[name] = np.fromiter(values, dtype, len(rows))
        return parsed

    def _parse_texts(self, texts: Sequence[str]) -> dict[str, Array]:
        """The numbers of each row's texts. Rows that are alike in all of them are looked up once."""
        places = {record: place for place, record in enumerate(dict.fromkeys(texts))}
        which = np.fromiter(map(places.__getitem__, texts), np.int64, len(texts))
        parsed: dict[str, Array] = {}
        for name, values in zip(COLUMN_TEXTS, zip(*map(_decode, places), strict=True), strict=True):
            codes = self.names[name].intern if name in INTERNED else _CODES[_OPTIONS[name]].__getitem__
            parsed[name] = np.array([codes(value) for value in values], dtype=_DTYPES[name])[which]
        return parsed

    @property
    def held_from(self) -> IntArray:
        """Since when each row is known, as `Memory.held_from` says it."""
        if self._held_from is None:
            created, trusted = self["created"], self["zone"] == code_of(Zone.TRUSTED)
            self._held_from = np.where(trusted, created, np.maximum(created, self["recorded"]))
        return self._held_from

    @property
    def plain(self) -> BoolArray:
        """The rows of which nothing special is said: active, trusted or from outside, and valid whenever one asks."""
        if self._plain is None:
            timeless = (self["valid_from"] == ALWAYS) & (self["valid_until"] == NEVER)
            self._plain = timeless & self.active & (self["zone"] != code_of(Zone.QUARANTINE))
        return self._plain

    def all_plain(self, rows: IntArray | slice) -> bool:
        return everywhere(self.plain[rows])

    @property
    def active(self) -> BoolArray:
        """The rows that statistics are taken over."""
        active: BoolArray = self["alive"] & (self["status"] == code_of(Status.ACTIVE))
        return active


def _appended(buffer: _Buffer, size: int, values: Array) -> _Buffer:
    total = size + len(values)
    in_place = buffer.used == size and len(buffer.data) >= total and buffer.data.flags.writeable
    if not in_place:
        data = np.empty(max(total, int(total * _GROWTH)), dtype=buffer.data.dtype)
        data[:size] = buffer.data[:size]
        buffer = _Buffer(data, size)
    buffer.data[size:total] = values
    buffer.used = total
    return buffer
