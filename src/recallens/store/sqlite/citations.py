"""What memories cite in SQLite, which artifacts there are, and the last verdicts on citations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from msgspec import Struct

from recallens.model.citation import Checked, Citation, CitationCheck, Standing, citation_from_json, citation_to_json
from recallens.model.memory import Memory
from recallens.store.sqlite.connection import NamespaceConnection, packed, packed_record


class SqliteCitations(Struct, frozen=True):
    _here: NamespaceConnection

    def cited(self, nums: Sequence[int]) -> dict[int, tuple[Citation, ...]]:
        """The citations of memories of this namespace, in the order in which each gives them."""
        if not nums:
            return {}
        rows = self._here.all(
            "SELECT c.num, c.kind, c.data FROM json_each(?2) j CROSS JOIN citations c ON c.num = j.value"
            " ORDER BY c.num, c.position",
            packed(nums),
        )
        return {
            num: tuple(_citation_of(kind, data) for _, kind, data in own)
            for num, own in groupby(rows, key=itemgetter(0))
        }

    def of(self, nums: Sequence[int] | None, project: str | None) -> dict[int, tuple[str, list[Citation]]]:
        """The id and the citations of each memory that cites anything; forgotten and rejected ones are left out."""
        rows = self._here.all(
            "SELECT m.num, m.id, c.kind, c.data FROM memories m JOIN citations c ON c.num = m.num"
            " WHERE m.ns = ?1 AND m.status NOT IN ('forgotten', 'rejected') AND (?2 IS NULL OR m.project = ?2)"
            " AND (?3 IS NULL OR m.num IN (SELECT value FROM json_each(?3))) ORDER BY m.created, m.id, c.position",
            project, None if nums is None else packed(nums),
        )  # fmt: skip
        cited: dict[int, tuple[str, list[Citation]]] = {}
        for num, id, kind, data in rows:
            cited.setdefault(num, (id, []))[1].append(_citation_of(kind, data))
        return cited

    def artifacts(self, ids: Sequence[str]) -> dict[str, str]:
        """The kind of each artifact that there is."""
        return self._here.mapping(
            "SELECT a.id, a.kind FROM json_each(?2) j CROSS JOIN artifacts a ON a.id = j.value WHERE +a.ns = ?1",
            packed(ids),
        )

    def checks(self, nums: Sequence[int]) -> dict[int, CitationCheck]:
        rows = self._here.all(
            "SELECT k.num, m.id, k.at, k.verdicts FROM json_each(?2) j CROSS JOIN citation_checks k"
            " ON k.num = j.value JOIN memories m ON m.num = k.num AND m.ns = ?1",
            packed(nums),
        )
        checks = {}
        for num, id, at, verdicts in rows:
            checked = (Checked(citation_from_json(c), Standing(s), reason) for c, s, reason in json.loads(verdicts))
            checks[num] = CitationCheck(id, at, tuple(checked))
        return checks

    def put(self, nums: Sequence[int], memories: Sequence[Memory]) -> None:
        """The citations of new memories."""
        self._here.db.executemany(
            "INSERT INTO citations VALUES (?, ?, ?, ?)",
            [
                (num, position, *citation_columns(citation_to_json(citation)))
                for num, memory in zip(nums, memories, strict=True)
                for position, citation in enumerate(memory.citations)
            ],
        )

    def add(self, num: int, citations: Sequence[Citation]) -> bool:
        """Citations that a memory did not have go behind its own. Tells whether it cites anything now."""
        known = set(self._here.all("SELECT c.kind, c.data FROM citations c JOIN memories m ON m.num = c.num"
                                   " WHERE c.num = ?2 AND m.ns = ?1", num))  # fmt: skip
        for citation in citations:
            columns = citation_columns(citation_to_json(citation))
            if columns not in known:
                self._here.db.execute("INSERT INTO citations VALUES (?, ?, ?, ?)", (num, len(known), *columns))
                known.add(columns)
        return bool(known)

    def put_checks(self, checks: Mapping[int, CitationCheck]) -> None:
        rows = []
        for num, check in checks.items():
            verdicts = [[citation_to_json(each.citation), each.standing, each.reason] for each in check.checked]
            rows.append([num, check.at, packed(verdicts)])
        self._here.change(
            "INSERT OR REPLACE INTO citation_checks (num, at, verdicts)"
            " SELECT m.num, j.value ->> 1, j.value ->> 2 FROM json_each(?2) j CROSS JOIN memories m"
            " ON m.num = j.value ->> 0 AND m.ns = ?1",
            packed(rows),
        )


def citation_columns(record: Mapping[str, Any]) -> tuple[str, str]:
    """The kind of a citation, and all else that it says."""
    return str(record["kind"]), packed_record({name: value for name, value in record.items() if name != "kind"})


def _citation_of(kind: str, data: str) -> Citation:
    return citation_from_json({"kind": kind, **json.loads(data)})
