"""A namespace from above: the recalls that were recorded, the latest first and by day."""

from __future__ import annotations

from recallens.engines.sqlite.trails import SqliteTrails
from recallens.model.salience import DAY_MS


class SqliteSurveys(SqliteTrails):
    def kept_ledgers(self, ns: int, limit: int, owner: str | None) -> list[tuple[str, int, str, bytes]]:
        """Id, time, session and ledger of the recalls that are still kept, the latest first.

        An owner sees their own and those of nobody, as with a single one.
        """
        rows = self._all(
            "SELECT id, at, session, ledger FROM snapshots WHERE ns = ?1"
            " AND (?3 IS NULL OR owner IS NULL OR owner = ?3) ORDER BY number DESC LIMIT ?2",
            ns, limit, owner,
        )  # fmt: skip
        return [(id, at, session, ledger) for id, at, session, ledger in rows]

    def recalls_by_day(self, ns: int, since: int) -> dict[int, int]:
        """How many questions were answered on each day, by the number of the day since 1970. One recall has an entry
        for each memory that it returned, all of one time and question.
        """
        rows = self._all(
            "SELECT at / ?1, count(DISTINCT at || ' ' || query_digest) FROM audit WHERE ns = ?2 AND at >= ?3"
            " GROUP BY 1",
            DAY_MS, ns, since,
        )  # fmt: skip
        return dict(rows)
