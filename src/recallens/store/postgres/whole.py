"""What belongs to no single namespace, in one transaction on PostgreSQL.

A transaction sees the rows of one namespace at a time: what is asked of all is asked of each, one after another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from recallens.model.audit import ChainHead
from recallens.model.state import EVERYTHING, Sight
from recallens.store.postgres.database import PostgresDatabase
from recallens.store.records import META_ENCODER_KEY, NamespaceState, ReplicaLag, Unencoded
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.namespace import COUNTED, SORTS, SqlNamespace
from recallens.store.sql.portable import SqlPortable
from recallens.store.sql.terms import TermCache
from recallens.store.sql.trail import SqlTokens, chain_heads

_LAG = (
    "SELECT pg_is_in_recovery(), pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn(),"
    " CAST(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) AS float8),"
    " CAST(pg_last_xact_replay_timestamp() AS text)"
)
_STATES = (
    "SELECT n.id, n.name, n.number, n.epoch, n.tasks_ended, n.reward_total, (SELECT value FROM meta WHERE key = ?1),"
    " n.second, n.unread FROM namespaces n ORDER BY n.name"
)


class PostgresTransaction:
    """One transaction, whose numbers and words all its namespaces share."""

    __slots__ = ("_cache", "_db", "_numbers")

    def __init__(self, db: PostgresDatabase, numbers: dict[int, int], cache: TermCache) -> None:
        self._db, self._numbers, self._cache = db, numbers, cache

    @property
    def tokens(self) -> SqlTokens:
        self._db.enter_whole()
        return SqlTokens(self._db)

    @property
    def portable(self) -> SqlPortable:
        self._db.enter_whole()
        return SqlPortable(self._db)

    def at(self, namespace: str, sight: Sight = EVERYTHING) -> PostgresNamespace:
        return SqlNamespace(self._connection(namespace, sight), self._cache, self)

    def _connection(self, namespace: str, sight: Sight = EVERYTHING) -> NamespaceConnection:
        return NamespaceConnection(self._db, namespace, self._numbers, sight)

    def _execute(self, sql: str, *values: Any) -> list[Any]:
        self._db.enter_whole()
        return self._db.execute(sql, values).fetchall()

    def _states(self) -> list[NamespaceState]:
        return [NamespaceState(*row) for row in self._execute(_STATES, META_ENCODER_KEY)]

    def each(self) -> Iterator[NamespaceConnection]:
        """Every namespace, by name."""
        return (self._connection(state.name) for state in self._states())

    def index_vectors(self) -> None:
        """What was encoded goes into the index of its namespace, where the database keeps one."""
        for key, number in self._numbers.items():
            self._db.index_vectors(key, number)

    def changed(self, limit: int) -> dict[str, tuple[int, list[int]]]:
        """How many memories this transaction has changed in each namespace, and the first `limit` of them."""
        changed: dict[str, tuple[int, list[int]]] = {}
        for key, number in self._numbers.items():
            named = self._execute("SELECT name FROM namespaces WHERE id = ?1", key)
            if named:
                here = self._connection(named[0][0])
                nums = here.first("SELECT num FROM memories WHERE ns = ?1 AND seq = ?2 ORDER BY num", number)
                if nums:
                    changed[here.name] = len(nums), nums[:limit]
        return changed

    def lag(self) -> ReplicaLag | None:
        """What a replica has received and not replayed is counted by the time of its last replayed change."""
        recovering, level, seconds, replayed = self._execute(_LAG)[0]
        behind = 0.0 if level or seconds is None else max(float(seconds), 0.0)
        return ReplicaLag(behind, replayed) if recovering else None

    def audit_heads(self) -> dict[str, ChainHead]:
        self._db.enter_whole()
        return chain_heads(self._db)

    def namespaces(self) -> list[tuple[NamespaceState, int]]:
        """Every namespace by name, with the number of its memories."""
        counted = []
        for state in self._states():
            self._db.enter(state.name, state.key)
            ((count,),) = self._db.execute("SELECT count(*) FROM memories WHERE ns = ?1", (state.key,)).fetchall()
            counted.append((state, int(count)))
        return counted

    def statistics(self) -> dict[str, Any]:
        totals: Counter[str] = Counter(dict.fromkeys(COUNTED, 0))
        by: dict[str, Counter[str]] = {sort: Counter() for sort in SORTS}
        for here in self.each():
            own = SqlNamespace(here, self._cache, self).statistics()
            totals.update(own["totals"])
            for sort, counts in own["by"].items():
                by[sort].update(counts)
        return {
            "totals": dict(totals),
            "by": {sort: dict(sorted(by[sort].items(), key=lambda item: (-item[1], item[0]))) for sort in SORTS},
        }

    def backlog(self, encoder: str, limit: int) -> list[Unencoded]:
        found = self._execute(
            "SELECT ns, num FROM backlog WHERE encoder = ?1 ORDER BY num DESC LIMIT ?2", encoder, limit
        )
        return self._texts(self._named(found))

    def _named(self, rows: list[tuple[int, int]]) -> list[tuple[str, int]]:
        """Numbers of memories by the names of their namespaces, which a cluster has elsewhere than the memories."""
        names = {state.key: state.name for state in self._states()} if rows else {}
        return [(names[key], num) for key, num in rows if key in names]

    def take_backlog(self, encoder: str, limit: int, holder: str, now: int, until: int) -> list[Unencoded]:
        """Some of the backlog that nobody is at, marked as this holder's until a time. Who comes at the same moment
        is given others."""
        if self._db.clustered:
            return self._texts(self._taken(encoder, limit, holder, now, until))
        rows = self._execute(
            "UPDATE backlog b SET holder = ?3, held_until = ?5 WHERE (b.ns, b.encoder, b.num) IN (SELECT ns, encoder,"
            " num FROM backlog WHERE encoder = ?1 AND held_until < ?4 ORDER BY num DESC LIMIT ?2"
            " FOR UPDATE SKIP LOCKED) RETURNING b.ns, b.num",
            encoder, limit, holder, now, until,
        )  # fmt: skip
        return self._texts(self._named(rows))

    def _taken(self, encoder: str, limit: int, holder: str, now: int, until: int) -> list[tuple[str, int]]:
        """The same on a cluster, which locks no rows of several workers at once: each namespace's are marked by
        themselves, and what another has marked meanwhile is passed over."""
        free = self._execute(
            "SELECT ns, num FROM backlog WHERE encoder = ?1 AND held_until < ?2 ORDER BY num DESC LIMIT ?3",
            encoder, now, limit,
        )  # fmt: skip
        nums: dict[str, list[int]] = {}
        for name, num in self._named(free):
            nums.setdefault(name, []).append(num)
        taken = []
        for name, wanted in sorted(nums.items()):
            here = self._connection(name)
            rows = here.change(
                "UPDATE backlog SET holder = ?3, held_until = ?5 WHERE ns = ?1 AND encoder = ?2 AND held_until < ?4"
                " AND num IN (SELECT value FROM NUMBERS(?6)) RETURNING num",
                encoder, holder, now, until, str(wanted),
            )  # fmt: skip
            taken += [(name, int(num)) for (num,) in rows]
        return taken

    def give_back(self, holder: str) -> None:
        self._execute("UPDATE backlog SET holder = NULL, held_until = 0 WHERE holder = ?1", holder)

    def _texts(self, rows: list[tuple[str, int]]) -> list[Unencoded]:
        """The texts of memories by namespace and number, the latest first."""
        nums: dict[str, list[int]] = {}
        for name, num in rows:
            nums.setdefault(name, []).append(num)
        texts: list[Unencoded] = []
        for name, wanted in nums.items():
            own = self._connection(name).all(
                "SELECT m.num, m.title, m.author, m.content FROM NUMBERS(?2) j JOIN memories m ON m.num = j.value"
                " AND m.ns = ?1",
                str(wanted),
            )
            texts += [Unencoded(name, *row) for row in own]
        return sorted(texts, key=lambda text: -text.num)

    def backlog_size(self, encoder: str) -> int:
        ((count,),) = self._execute("SELECT count(*) FROM backlog WHERE encoder = ?1", encoder)
        return int(count)

    def set_meta(self, key: str, value: str) -> None:
        self._execute(
            "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            key, value,
        )  # fmt: skip

    def drop_meta(self, key: str) -> None:
        self._execute("DELETE FROM meta WHERE key = ?1", key)

    def enqueue_missing(self, encoder: str) -> int:
        """Everything that has no vector of this encoder yet goes to its backlog, once."""
        return sum(
            len(here.change(
                "INSERT INTO backlog (ns, encoder, num) SELECT ?1, ?2, m.num FROM memories m WHERE m.ns = ?1"
                " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.ns = ?1 AND v.encoder = ?2 AND v.num = m.num)"
                " ON CONFLICT DO NOTHING RETURNING num",
                encoder,
            ))
            for here in self.each()
        )  # fmt: skip

    def drop_other_vectors(self, encoder: str, second: str | None = None) -> None:
        """Once every memory has a vector of this encoder, those of others serve nobody, but for the second's."""
        if not self.backlog_size(encoder):
            kept = (encoder, second or encoder)
            for here in self.each():
                here.change("DELETE FROM vectors WHERE ns = ?1 AND encoder NOT IN (?2, ?3)", *kept)
                here.change("DELETE FROM backlog WHERE ns = ?1 AND encoder NOT IN (?2, ?3)", *kept)
                here.change("UPDATE namespaces SET second = NULL WHERE id = ?1 AND second NOT IN (?2, ?3)", *kept)

    def drop_vectors(self, encoder: str) -> None:
        for here in self.each():
            here.change("DELETE FROM vectors WHERE ns = ?1 AND encoder = ?2", encoder)

    def drop_damaged_vectors(self) -> None:
        """A page that is damaged is refused by the server's own checksums."""

    def hold_lease(self, name: str, holder: str, now: int, expires: int) -> bool:
        """Take or renew a lease, unless another holds it and it has not run out. Tells whether it is held now."""
        self._execute(
            "INSERT INTO leases (name, holder, expires) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO UPDATE SET"
            " holder = excluded.holder, expires = excluded.expires"
            " WHERE leases.holder = excluded.holder OR leases.expires < ?4",
            name, holder, expires, now,
        )  # fmt: skip
        return self._execute("SELECT holder FROM leases WHERE name = ?1", name) == [(holder,)]

    def drop_lease(self, name: str, holder: str) -> None:
        self._execute("DELETE FROM leases WHERE name = ?1 AND holder = ?2", name, holder)


PostgresNamespace = SqlNamespace[PostgresTransaction]
