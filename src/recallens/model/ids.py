"""Sortable ids: 48 bits of milliseconds, 80 bits of chance, in 26 characters of Crockford's base 32 (a ULID)."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable

ID_LENGTH = 26
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80

Clock = Callable[[], int]


def encode_id(milliseconds: int, chance: int) -> str:
    value = (milliseconds << _RANDOM_BITS) | chance
    return "".join(_ALPHABET[(value >> shift) & 31] for shift in range(125, -1, -5))


class IdSource:
    """Ids that sort in the order they were made, even within one millisecond."""

    def __init__(self, clock: Clock, chance: Callable[[int], int] = secrets.randbits) -> None:
        self._clock = clock
        self._chance = chance
        self._lock = threading.Lock()
        self._last = (0, 0)

    def __call__(self) -> str:
        with self._lock:
            now = self._clock()
            last_time, last_chance = self._last
            if now <= last_time:
                now, chance = last_time, last_chance + 1
            else:
                chance = self._chance(_RANDOM_BITS - 1)
            self._last = (now, chance)
            return encode_id(now, chance)
