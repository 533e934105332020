"""Browsers that came in, and the ways in that this process gave: links that work once, and the key of its run.

All of it is in memory and ends with the process. Only digests are kept, so that nothing here opens anything.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from recallens.engine.audit import PREFIX, TOKEN_BYTES, digest

LINK: Final = "/open/"
# A session ends after this long without a visit, and after this long in any case.
IDLE_SECONDS: Final = 12 * 3600
LONGEST_SECONDS: Final = 7 * 86_400
MOST_SESSIONS: Final = 1_000

Address = tuple[str, int] | None


class BrowserSession(Struct, frozen=True):
    """`token` is the id of the token that was shown; without one it is the person at the machine."""

    token: str | None
    host: str  # the one under which it was opened: a cookie would go to every port of a name
    opened: float
    seen: float

    def ended(self, now: float) -> bool:
        return now - self.seen > IDLE_SECONDS or now - self.opened > LONGEST_SECONDS


class Entrance:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, BrowserSession] = {}
        self._links: set[str] = set()
        self._keys: set[str] = set()
        self.redeemed: Callable[[], None] = lambda: None  # told when a link was used

    def new_link(self) -> str:
        """A path that opens the page once, for the person at the machine."""
        key = secrets.token_urlsafe(TOKEN_BYTES)
        self._links.add(digest(key))
        return LINK + key

    def new_key(self) -> str:
        """What a program of the person shows as a bearer token, for as long as this process runs."""
        key = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        self._keys.add(digest(key))
        return key

    def has_key(self, shown: str) -> bool:
        return digest(shown) in self._keys

    def redeem(self, key: str, host: str) -> str | None:
        """A session for the link's key, which then opens nothing more."""
        link = digest(key)
        if link not in self._links:
            return None
        self._links.remove(link)
        self.redeemed()
        return self.begin(None, host)

    def begin(self, token: str | None, host: str) -> str:
        """The new session's id, which the browser keeps; of too many sessions the longest unseen ends."""
        now, id = self._clock(), secrets.token_urlsafe(TOKEN_BYTES)
        self._open = {key: session for key, session in self._open.items() if not session.ended(now)}
        if len(self._open) >= MOST_SESSIONS:
            del self._open[min(self._open, key=lambda key: self._open[key].seen)]
        self._open[digest(id)] = BrowserSession(token, host, now, now)
        return id

    def find(self, id: str, host: str) -> BrowserSession | None:
        key, now = digest(id), self._clock()
        session = self._open.get(key)
        if session is None or session.host != host:
            return None
        if session.ended(now):
            del self._open[key]
            return None
        self._open[key] = structs.replace(session, seen=now)
        return session

    def end(self, id: str) -> None:
        self._open.pop(digest(id), None)


def of_another_user(client: Address, server: Address) -> bool:
    """Whether a connection on this machine is known to be another user's, as Linux tells it.

    A cookie goes to every port of a host, so that another user's server can be given it: it is of no use to them.
    """
    if client is None or server is None or not hasattr(os, "getuid"):
        return False
    for table, family in (("tcp", 4), ("tcp6", 6)):
        try:
            lines = Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            here, there = (int(place.rpartition(":")[2], 16) for place in fields[1:3])
            if (here, there) == (client[1], server[1]) and (family == 6) == (":" in client[0]):
                return int(fields[7]) not in (os.getuid(), 0)
    return False
