"""Browsers that came in, and the ways in that this process gave: links that work once, and the key of its run.

All of it is in memory, or in a folder that the processes of one server share, and ends with them. Only digests are
kept, so that nothing here opens anything.
"""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

from msgspec import DecodeError, Struct, json, structs

from recallens.config import make_private
from recallens.engine.audit import PREFIX, TOKEN_BYTES, digest

LINK: Final = "/open/"
# A session ends after this long without a visit, and after this long in any case.
IDLE_SECONDS: Final = 12 * 3600
LONGEST_SECONDS: Final = 7 * 86_400
MOST_SESSIONS: Final = 1_000
# That somebody is there is noted once in so long.
SEEN_SECONDS: Final = 10

Address = tuple[str, int] | None


class BrowserSession(Struct, frozen=True):
    """`token` is the id of the token that was shown; without one it is the person at the machine."""

    token: str | None
    host: str  # the one under which it was opened: a cookie would go to every port of a name
    opened: float
    seen: float

    def ended(self, now: float) -> bool:
        return now - self.seen > IDLE_SECONDS or now - self.opened > LONGEST_SECONDS


class FolderSessions(MutableMapping[str, BrowserSession]):
    """Sessions by their digests, a file each, for the processes of one server. Every change is one step, which happens
    as a whole: of two processes that take the same one away, one is told that it was not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, key: str) -> BrowserSession:
        try:
            return json.decode((self._folder / key).read_bytes(), type=BrowserSession)
        except (OSError, DecodeError) as error:
            raise KeyError(key) from error

    def __setitem__(self, key: str, session: BrowserSession) -> None:
        written = self._folder / f".{key}.{os.getpid()}.{threading.get_ident()}"
        written.write_bytes(json.encode(session))
        written.replace(self._folder / key)

    def __delitem__(self, key: str) -> None:
        try:
            (self._folder / key).unlink()
        except OSError as error:
            raise KeyError(key) from error

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in self._folder.iterdir() if not path.name.startswith("."))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Entrance:
    def __init__(self, clock: Callable[[], float] = time.monotonic, shared: Path | None = None) -> None:
        """`shared` is a folder that only this user can open, the same for every process of a server."""
        self._clock = clock
        self._open: MutableMapping[str, BrowserSession] = {} if shared is None else _folder(shared, "sessions")
        self._links: MutableMapping[str, BrowserSession] = {} if shared is None else _folder(shared, "links")
        self._keys: set[str] = set()
        self.redeemed: Callable[[], None] = lambda: None  # told when a link was used

    def new_link(self) -> str:
        """A path that opens the page once, for the person at the machine."""
        key = secrets.token_urlsafe(TOKEN_BYTES)
        self._links[digest(key)] = BrowserSession(None, "", self._clock(), self._clock())
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
        try:
            del self._links[digest(key)]
        except KeyError:
            return None
        self.redeemed()
        return self.begin(None, host)

    def begin(self, token: str | None, host: str) -> str:
        """The new session's id, which the browser keeps; of too many sessions the longest unseen ends."""
        now, id = self._clock(), secrets.token_urlsafe(TOKEN_BYTES)
        known = {key: session for key in list(self._open) if (session := self._open.get(key)) is not None}
        going = [key for key, session in known.items() if session.ended(now)]
        if len(known) - len(going) >= MOST_SESSIONS:
            going.append(min(known.keys() - set(going), key=lambda key: known[key].seen))
        for key in going:
            self._open.pop(key, None)
        self._open[digest(id)] = BrowserSession(token, host, now, now)
        return id

    def find(self, id: str, host: str) -> BrowserSession | None:
        key, now = digest(id), self._clock()
        session = self._open.get(key)
        if session is None or session.host != host:
            return None
        if session.ended(now):
            self._open.pop(key, None)
            return None
        if now - session.seen >= SEEN_SECONDS:
            self._open[key] = structs.replace(session, seen=now)
        return session

    def end(self, id: str) -> None:
        self._open.pop(digest(id), None)


def _folder(shared: Path, name: str) -> FolderSessions:
    folder = shared / name
    make_private(folder)
    return FolderSessions(folder)


def of_another_user(client: Address, server: Address) -> bool:
    """Whether a connection on this machine is another user's, or nobody's that can be told, as Linux tells it.

    A cookie goes to every port of a host, so that another user's server can be given it: it is of no use to them. A
    connection is known by both of its ends while it is open; what is left of one that was closed belongs to root.
    """
    if client is None or server is None or not hasattr(os, "getuid"):
        return False
    ends, seen = (_end(*client[:2]), _end(*server[:2])), False
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/net/{table}").read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        seen = True
        for line in lines:
            fields = line.split()
            if fields[3] == _ESTABLISHED and (_listed_end(fields[1]), _listed_end(fields[2])) == ends:
                return int(fields[7]) not in (os.getuid(), 0)
    return seen and ends[0][0].is_loopback


_ESTABLISHED: Final = "01"
End = tuple[IPv4Address | IPv6Address, int]


def _end(address: str, port: int) -> End:
    ip = ip_address(address.partition("%")[0])
    return (ip.ipv4_mapped or ip if isinstance(ip, IPv6Address) else ip), port


def _listed_end(place: str) -> End:
    """An end as the kernel lists it: words of four bytes in the machine's order."""
    address, _, port = place.partition(":")
    words = [int(address[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(address), 8)]
    return _end(str(ip_address(b"".join(words))), int(port, 16))
