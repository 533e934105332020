"""What the store knows of its citations: which memories cite what, which artifacts there are, and the last verdicts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recallens.engines.sqlite.rows import citation_of
from recallens.engines.sqlite.trails import SqliteTrails, packed
from recallens.model.citation import Checked, Citation, CitationCheck, Standing, citation_from_json, citation_to_json

CITATION_CHECKS = """
-- The last verdict on a memory's citations, so that a recall knows of it without touching the disk.
CREATE TABLE citation_checks (
    num INTEGER PRIMARY KEY REFERENCES memories(num) ON DELETE CASCADE,
    at INTEGER NOT NULL, verdicts TEXT NOT NULL
);
"""


class SqliteChecks(SqliteTrails):
    def citing(self, ns: int, nums: Sequence[int] | None, project: str | None) -> dict[int, tuple[str, list[Citation]]]:
        """The id and the citations of each memory that cites anything; forgotten and rejected ones are left out."""
        rows = self._all(
            "SELECT m.num, m.id, c.kind, c.data FROM memories m JOIN citations c ON c.num = m.num"
            " WHERE m.ns = ?1 AND m.status NOT IN ('forgotten', 'rejected') AND (?2 IS NULL OR m.project = ?2)"
            " AND (?3 IS NULL OR m.num IN (SELECT value FROM json_each(?3))) ORDER BY m.created, m.id, c.position",
            ns, project, None if nums is None else packed(nums),
        )  # fmt: skip
        found: dict[int, tuple[str, list[Citation]]] = {}
        for num, id, kind, data in rows:
            found.setdefault(num, (id, []))[1].append(citation_of(kind, data))
        return found

    def kept_artifacts(self, ns: int, ids: Sequence[str]) -> dict[str, str]:
        rows = self._all(
            "SELECT a.id, a.kind FROM json_each(?) j CROSS JOIN artifacts a ON a.id = j.value WHERE a.ns = ?",
            packed(ids), ns,
        )  # fmt: skip
        return dict(rows)

    def citation_checks(self, nums: Sequence[int]) -> dict[int, CitationCheck]:
        rows = self._all(
            "SELECT k.num, m.id, k.at, k.verdicts FROM json_each(?) j CROSS JOIN citation_checks k ON k.num = j.value"
            " JOIN memories m ON m.num = k.num",
            packed(nums),
        )
        return {num: CitationCheck(id, at, _checked(verdicts)) for num, id, at, verdicts in rows}


class SqliteCheckWrites(SqliteTrails):
    def put_citation_checks(self, checks: Mapping[int, CitationCheck]) -> None:
        self._all(
            "INSERT OR REPLACE INTO citation_checks (num, at, verdicts)"
            " SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2 FROM json_each(?) j",
            packed([[num, check.at, _verdicts(check)] for num, check in checks.items()]),
        )


def _verdicts(check: CitationCheck) -> str:
    rows = [[citation_to_json(each.citation), each.standing, each.reason] for each in check.checked]
    return json.dumps(rows, ensure_ascii=False)


def _checked(verdicts: str) -> tuple[Checked, ...]:
    rows: list[list[Any]] = json.loads(verdicts)
    return tuple(Checked(citation_from_json(cited), Standing(standing), reason) for cited, standing, reason in rows)
