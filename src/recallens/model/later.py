"""What is told and decides nothing, worked out when it is first read: most recalls are used and never explained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value")


class Later(Mapping[str, Value]):
    """A mapping that is made once, by whoever reads it first.

    `tell` must be a pure function of values that no longer change, so that when it is called makes no difference.
    """

    __slots__ = ("_tell", "_told")

    def __init__(self, tell: Callable[[], Mapping[str, Value]]) -> None:
        self._tell: Callable[[], Mapping[str, Value]] | None = tell
        self._told: Mapping[str, Value] | None = None

    def _read(self) -> Mapping[str, Value]:
        tell = self._tell  # before what was told, which another thread sets first
        if self._told is None:
            assert tell is not None
            self._told = tell()
            self._tell = None  # what it held on to may go
        return self._told

    def __getitem__(self, key: str) -> Value:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return repr(self._read())

    def __reduce__(self) -> tuple[type[dict[str, Value]], tuple[dict[str, Value]]]:
        return dict, (dict(self),)  # what is sent elsewhere, or copied, is read for it
