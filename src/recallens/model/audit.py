"""The audit chain and the tokens that open a store: what was handed out, and to whom.

Each entry's digest covers the one before it, so nothing can be altered, dropped or moved unseen. A token's text is
known to whoever it was given to, and nowhere kept.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

GENESIS = "0" * 64

REPEAT_QUERY = 5
REPEAT_WINDOW_MS = 10 * 60_000
RAPID_FIRE = 30
RAPID_WINDOW_MS = 60_000
HIGH_CARDINALITY = 200
NAMESPACE_WALK_SHARE = 0.5
NAMESPACE_WALK_LEAST = 50


class AuditEntry(Struct, frozen=True):
    id: str
    namespace: str
    number: int
    at: int
    session: str | None
    query_digest: str
    memories: tuple[str, ...]
    previous: str
    digest: str


_digested = attrgetter("namespace", "number", "at", "session", "query_digest", "memories", "previous")


def query_digest(text: str) -> str:
    """The log holds digests, never text."""
    return hashlib.sha256(text.encode()).hexdigest()


def entry_digest(entry: AuditEntry) -> str:
    """Over all of the entry but its id, which is made of the digest."""
    return hashlib.sha256(json.dumps(_digested(entry), ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def chained(
    *,
    namespace: str,
    head: tuple[int, str],
    at: int,
    session: str | None,
    query: str,
    injected: Sequence[tuple[str, str]],
) -> list[AuditEntry]:
    """An entry for each memory that was injected: its id and the hash of its text."""
    previous = head[1] or GENESIS
    entries = []
    for number, memories in enumerate(injected, start=head[0] + 1):
        entry = AuditEntry("", namespace, number, at, session, query, memories, previous, "")
        previous = entry_digest(entry)
        entries.append(replace(entry, id=f"audit-{previous[:12]}-{number}", digest=previous))
    return entries


def verify_chain(entries: Iterable[AuditEntry], head: tuple[int, str]) -> list[str]:
    """What is wrong with a chain, in words; nothing if it is whole."""
    problems: list[str] = []
    number, previous = 0, GENESIS
    for entry in entries:
        if entry.number != number + 1:
            problems.append(f"entries {number + 1} to {entry.number - 1} are missing" if entry.number > number + 1
                            else f"entry {entry.number} is out of order")  # fmt: skip
        if entry_digest(entry) != entry.digest:
            problems.append(f"entry {entry.number} was altered")
        elif entry.previous != previous:
            problems.append(f"entry {entry.number} does not follow from the one before it")
        number, previous = entry.number, entry.digest
    if (number, previous) != (head[0], head[1] or GENESIS):
        problems.append(f"the chain ends at entry {number}, but {head[0]} were written")
    return problems


class Anomaly(Struct, frozen=True):
    kind: str
    session: str | None
    count: int
    about: str


def anomalies(entries: Sequence[AuditEntry], memories: int) -> list[Anomaly]:
    """Patterns that an honest agent seldom shows, by session, over the whole of the given entries."""
    found: list[Anomaly] = []
    by_session: dict[str | None, list[AuditEntry]] = {}
    for entry in entries:
        by_session.setdefault(entry.session, []).append(entry)
    for session, mine in by_session.items():
        recalls = sorted({(entry.at, entry.query_digest) for entry in mine})
        asked: dict[str, list[int]] = {}
        for at, query in recalls:
            asked.setdefault(query, []).append(at)
        repeated = max(_most_within(times, REPEAT_WINDOW_MS) for times in asked.values())
        rapid = _most_within([at for at, _ in recalls], RAPID_WINDOW_MS)
        distinct = len({entry.memories[0] for entry in mine})
        walked = max(NAMESPACE_WALK_LEAST, NAMESPACE_WALK_SHARE * memories) if memories else math.inf
        for kind, count, least, about in (
            ("repeat-query", repeated, REPEAT_QUERY, "the same question within ten minutes"),
            ("rapid-fire", rapid, RAPID_FIRE, "recalls within a minute"),
            ("high-cardinality", distinct, HIGH_CARDINALITY, "different memories injected"),
            ("namespace-walk", distinct, walked, f"of the namespace's {memories} memories injected"),
        ):
            if count >= least:
                found.append(Anomaly(kind, session, count, about))
    return found


def _most_within(times: Sequence[int], window: int) -> int:
    """The most events in any stretch of this length."""
    most, start = 0, 0
    for end, at in enumerate(times):
        while at - times[start] > window:
            start += 1
        most = max(most, end - start + 1)
    return most


# ── tokens: who may ask from outside ──


class Token(Struct, frozen=True):
    """Times are epoch milliseconds. `digest` is the SHA-256 of the token's text; `scopes` are the contexts held."""

    id: str
    name: str
    digest: str
    namespaces: tuple[str, ...]
    right: str
    created: int
    expires: int | None = None
    revoked: int | None = None
    scopes: tuple[str, ...] = ()

    def live(self, now: int) -> bool:
        return self.revoked is None and (self.expires is None or now < self.expires)


class KeptAnswer(Struct, frozen=True):
    """What a write with an Idempotency-Key was, and what it was answered; `status` is None while it is under way."""

    request: str
    created: int
    status: int | None = None
    body: str = ""
