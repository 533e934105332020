"""One namespace in one transaction, as its nouns, whichever engine they are kept by."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from recallens.store.candidates import CandidateReader
from recallens.store.records import NamespaceState
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.erasure import SqlErasure
from recallens.store.sql.lineage import SqlLineage, SqlProposals
from recallens.store.sql.memories import SqlMemories
from recallens.store.sql.portable import SqlPortable
from recallens.store.sql.relations import SqlCitations, SqlRelations
from recallens.store.sql.sessions import SqlSessions
from recallens.store.sql.tasks import SqlTasks
from recallens.store.sql.terms import SqlTerms, SqlVectors, TermCache
from recallens.store.sql.trail import SqlTrail
from recallens.store.sql.vaults import SqlDocuments, SqlVaults

# What goes with a namespace that is removed; the ledgers and kept answers go apart.
_TABLES = (
    "memories", "tombstones", "relations", "sessions", "session_memories", "documents", "artifacts", "tasks",
    "events", "terms", "labels", "vectors", "backlog", "vaults", "session_owners", "lineage", "proposals",
)  # fmt: skip
COUNTED = (
    "memories", "relations", "sessions", "documents", "artifacts", "tasks", "events", "vectors", "backlog", "terms",
)  # fmt: skip
SORTS = ("status", "sector", "kind", "tier", "zone")

# How many memories of a namespace that is removed go in one statement.
REMOVED_ROWS = 10_000

Whole = TypeVar("Whole")


class SqlNamespace(Generic[Whole]):
    """Nouns that are written together are given each other. `whole` is the transaction, in its engine's own words."""

    def __init__(self, here: NamespaceConnection, cache: TermCache, whole: Whole) -> None:
        self._here = here
        self._cache = cache
        self.whole = whole
        self.name = here.name
        self.citations = SqlCitations(here)
        self.terms = SqlTerms(here, cache)
        self.tasks = SqlTasks(here)
        self.trail = SqlTrail(here)
        self.lineage = SqlLineage(here)
        self.proposals = SqlProposals(here)
        self.memories = SqlMemories(here, self.citations, self.terms, self.tasks, self.trail, self.lineage)
        self.vectors = SqlVectors(here)
        self.relations = SqlRelations(here)
        self.sessions = SqlSessions(here)
        self.documents = SqlDocuments(here)
        self.erasure = SqlErasure(here)
        self.vaults = SqlVaults(here, self.memories, self.terms, self.citations)

    @property
    def state(self) -> NamespaceState | None:
        return self._here.state

    @property
    def portable(self) -> SqlPortable:
        return SqlPortable(self._here.db, self._here)

    def statistics(self) -> dict[str, Any]:
        """How many rows there are of everything, and how many memories of each sort. What is withheld from who reads is
        counted by what withholds it, and its text has no part in anything."""
        here = self._here
        text, tie = here.seen("memories.num"), here.seen("relations.source") + here.seen("relations.target")

        def count(table: str, by: str = "''", seen: str = "") -> dict[Any, Any]:
            return here.mapping(f"SELECT {by}, count(*) FROM {table} WHERE ns = ?1{seen} GROUP BY 1 ORDER BY 2 DESC, 1")

        by = {sort: count("memories", sort, "" if sort in ("status", "zone") else text) for sort in SORTS}
        tables = [table for table in COUNTED if not text or table != "terms"]
        # What somebody did is theirs, also in numbers.
        mine, seen = here.theirs("owner"), {"relations": tie}
        if mine:
            own_tasks = f"SELECT t.id FROM tasks t WHERE t.ns = ?1 AND {here.theirs('t.owner')}"
            seen |= {"tasks": f" AND {mine}", "events": f" AND {mine}", "artifacts": f" AND task IN ({own_tasks})"}
            seen |= {"sessions": f" AND id IN (SELECT s.id FROM sessions s WHERE s.ns = ?1 AND {self.sessions.there})"}
        totals = {table: count(table, seen=seen.get(table, "")).get("", 0) for table in tables}
        return {"totals": totals, "by": by}

    def ensure(self, at: int) -> NamespaceState:
        return self._here.ensure(at)

    @property
    def candidates(self) -> CandidateReader | None:
        return self._here.db.candidates(self._here)

    def remove(self) -> None:
        self._here.db.losing_words(self._here, None)
        some = f"num IN (SELECT num FROM memories WHERE ns = ?1 LIMIT {REMOVED_ROWS})"
        while self._here.change(f"DELETE FROM memories WHERE ns = ?1 AND {some} RETURNING 1"):
            self._here.db.settle()
        for table in _TABLES:
            self._here.change(f"DELETE FROM {table} WHERE ns = ?1")
        self.trail.drop_ledgers()
        self._here.change("DELETE FROM namespaces WHERE id = ?1")
        self._cache.pop(self._here.key, None)
        self._here.look_up()
