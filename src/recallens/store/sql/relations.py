"""Relations between memories; and what memories cite, with the last verdicts on it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from msgspec import Struct, structs
from msgspec.json import decode, encode

from recallens.model.citation import (
    Checked,
    Citation,
    CitationCheck,
    CitedLines,
    Finding,
    Standing,
    Worktree,
    citation_from_json,
    citation_to_json,
)
from recallens.model.memory import Memory, Origin, Relation, RelationType
from recallens.model.recall import Successor
from recallens.store.records import Tie
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.rows import packed, packed_record, readable

SUCCESSOR_EXCERPT = 200
# A row that cannot be read counts as absent.
_SOUND = "SOUND(relation, r)"
# Letters that LIKE does not fold, or that JSON writes otherwise; and the lines behind the name of a file.
_UNSURE = re.compile(r"[^ -!#-\[\]-~]+")
_LINES = re.compile(r":\d+(?:-\d+)?$")
_HOLDING = f"{_SOUND} AND r.ns = ?1 AND r.created <= ?2 AND (r.valid_until IS NULL OR r.valid_until > ?2)"


class SqlRelations(Struct, frozen=True):
    _here: NamespaceConnection

    @property
    def _between(self) -> str:
        """Relations of memories that who reads may see. That one took another's place holds whatever either says."""
        seen = self._here.seen("r.source") + self._here.seen("r.target")
        return f" AND (r.type = 'SUPERSEDES' OR (true{seen}))" if seen else ""

    def of(self, num: int) -> list[Relation]:
        return self.find([num]).get(num, [])

    def find(self, nums: Sequence[int]) -> dict[int, list[Relation]]:
        """Every relation that touches each of these memories, the oldest first."""
        from_one, to_one = (
            "SELECT j.value, r.id, a.id, b.id, r.type, r.confidence, r.origin, r.created, r.valid_until"
            f" FROM NUMBERS(?2) j CROSS JOIN relations r ON r.{end} = j.value AND r.ns = ?1"
            f" AND {_SOUND}{self._between} JOIN memories a ON a.num = r.source AND a.ns = ?1"
            " JOIN memories b ON b.num = r.target AND b.ns = ?1"
            for end in ("source", "target")
        )
        rows = self._here.all(f"{from_one} UNION {to_one} ORDER BY 1, 2", packed(nums))
        relations: dict[int, list[Relation]] = {}
        for num, _, source, target, kind, confidence, origin, created, until in rows:
            relation = Relation(source, target, RelationType(kind), confidence, Origin(origin), created, until)
            relations.setdefault(num, []).append(relation)
        return relations

    def neighbours(self, nums: Sequence[int], at: int) -> list[tuple[int, int, str, float]]:
        """Relations that touch these memories and hold at that time."""
        columns = f"SELECT r.source, r.target, r.type, r.confidence FROM relations r WHERE {_HOLDING}{self._between}"
        return self._here.all(
            f"{columns} AND r.source IN (SELECT value FROM NUMBERS(?3))"
            f" UNION {columns} AND r.target IN (SELECT value FROM NUMBERS(?3)) ORDER BY 1, 2, 3",
            at, packed(nums),
        )  # fmt: skip

    def successors(self, nums: Sequence[int], at: int) -> dict[int, Successor]:
        """What each memory had been replaced by at a time, with the beginning of its text."""
        rows = self._here.all(
            "SELECT r.target, m.id, substr(m.content, 1, CAST(?3 AS INTEGER)), m.created FROM NUMBERS(?2) j"
            " CROSS JOIN relations r ON r.target = j.value AND r.type = 'SUPERSEDES' AND r.ns = ?1"
            " JOIN memories m ON m.num = r.source AND m.ns = ?1"
            " WHERE r.created <= ?4 AND (r.valid_until IS NULL OR r.valid_until > ?4) ORDER BY r.id",
            packed(nums), SUCCESSOR_EXCERPT, at,
        )  # fmt: skip
        return {target: Successor(id, content, created) for target, id, content, created in rows}

    def heirs(self, nums: Sequence[int], at: int, most: int) -> dict[int, int]:
        """For each memory that had been replaced by a time, the last of those that took its place one after another,
        at most so many steps on."""
        return self._here.mapping(
            "WITH RECURSIVE chain(first, last, step) AS (SELECT value, value, 0 FROM NUMBERS(?2) UNION ALL"
            " SELECT c.first, r.source, c.step + 1 FROM chain c JOIN relations r ON r.ns = ?1 AND r.id ="
            " (SELECT max(id) FROM relations WHERE target = c.last AND type = 'SUPERSEDES' AND ns = ?1"
            " AND created <= ?3) WHERE c.step < ?4)"
            " SELECT c.first, c.last FROM chain c WHERE c.step > 0"
            " AND c.step = (SELECT max(d.step) FROM chain d WHERE d.first = c.first)",
            packed(nums), at, most,
        )  # fmt: skip

    def put(self, source: int, target: int, relation: Relation) -> None:
        self.put_many({(source, target, relation.type): relation})

    def known(self, ties: Sequence[Tie]) -> set[Tie]:
        """Which of these relations are there, whether or not they still hold."""
        rows = self._here.all(
            "SELECT r.source, r.target, r.type FROM RECORDS(?2) j CROSS JOIN relations r"
            " ON r.source = CAST(j.value ->> 0 AS BIGINT) AND r.target = CAST(j.value ->> 1 AS BIGINT)"
            " AND r.type = (j.value ->> 2) AND r.ns = ?1",
            packed([list(tie) for tie in ties]),
        )
        return {(source, target, kind) for source, target, kind in rows}

    def put_many(self, relations: Mapping[Tie, Relation]) -> None:
        for (source, target, _), relation in relations.items():
            self._put(source, target, *structs.astuple(relation)[2:])
        self._touch({num for source, target, _ in relations for num in (source, target)})

    def supersede(self, old: int, new: int, at: int) -> None:
        """The old memory stays, closed at `at`; an end that had come earlier is kept. What waited for review, or was
        decided against, is not let out by having a successor."""
        self._here.change(
            "UPDATE memories SET status = CASE WHEN status IN ('active', 'archived') THEN 'superseded' ELSE status END,"
            " updated = ?2, seq = ?3, valid_until = CASE WHEN valid_until < ?2 THEN valid_until ELSE ?2 END"
            " WHERE num = ?4 AND ns = ?1",
            at, self._here.number(), old,
        )  # fmt: skip
        self._put(new, old, RelationType.SUPERSEDES, 1.0, Origin.USER, at, None)

    def _touch(self, nums: Collection[int]) -> None:
        self._here.change(
            "UPDATE memories SET seq = ?2 WHERE +ns = ?1 AND num IN (SELECT value FROM NUMBERS(?3))",
            self._here.number(), packed(nums),
        )  # fmt: skip

    def _put(self, *values: Any) -> None:
        self._here.change(
            "INSERT INTO relations (ns, source, target, type, confidence, origin, created, valid_until)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT KEY(source, target, type) DO UPDATE SET"
            " confidence = excluded.confidence, origin = excluded.origin, valid_until = excluded.valid_until",
            *values,
        )


_CITE = "INSERT INTO citations (ns, num, position, kind, data) VALUES (?1, ?2, ?3, ?4, ?5)"


class SqlCitations(Struct, frozen=True):
    _here: NamespaceConnection

    def cited(self, nums: Sequence[int]) -> dict[int, tuple[Citation, ...]]:
        """The citations of memories of this namespace, in the order in which each gives them."""
        if not nums:
            return {}
        rows = self._here.all(
            "SELECT c.num, c.kind, c.data FROM NUMBERS(?2) j CROSS JOIN citations c ON c.num = j.value"
            " AND +c.ns = ?1 ORDER BY c.num, c.position",
            packed(nums),
        )
        return {
            num: tuple(readable(((kind, data) for _, kind, data in own), _citation_of))
            for num, own in groupby(rows, key=itemgetter(0))
        }

    def of(self, nums: Sequence[int] | None, project: str | None) -> dict[int, tuple[str, list[Citation]]]:
        """The id and the citations of each memory that cites anything; forgotten and rejected ones are left out."""
        rows = self._here.all(
            "SELECT m.num, m.id, c.kind, c.data FROM memories m JOIN citations c ON c.num = m.num AND +c.ns = m.ns"
            " WHERE m.ns = ?1 AND m.status NOT IN ('forgotten', 'rejected')"
            " AND (CAST(?2 AS TEXT) IS NULL OR m.project = ?2)"
            " AND (CAST(?3 AS TEXT) IS NULL OR m.num IN (SELECT value FROM NUMBERS(?3)))"
            " ORDER BY m.created, m.id, c.position",
            project, None if nums is None else packed(nums),
        )  # fmt: skip
        cited: dict[int, tuple[str, list[Citation]]] = {}
        for num, id, kind, data in rows:
            cited.setdefault(num, (id, []))[1].extend(readable([(kind, data)], _citation_of))
        return cited

    def artifacts(self, ids: Sequence[str]) -> dict[str, str]:
        return self._here.mapping(
            "SELECT a.id, a.kind FROM TEXTS(?2) j CROSS JOIN artifacts a ON a.id = j.value WHERE +a.ns = ?1",
            packed(ids),
        )

    def checks(self, nums: Sequence[int], worktree: str | None = None) -> dict[int, CitationCheck]:
        """Of each, what was found in the checkout of that name or branch; else what was found last, wherever."""
        checks: dict[int, CitationCheck] = {}
        for num, check in self._every_check(nums):
            known = checks.get(num)
            if known is None or _rank(check, worktree) > _rank(known, worktree):
                checks[num] = check
        return checks

    def all_checks(self, num: int) -> list[CitationCheck]:
        """By checkout, the latest first."""
        return sorted((check for _, check in self._every_check([num])), key=lambda check: -check.at)

    def _every_check(self, nums: Sequence[int]) -> Iterator[tuple[int, CitationCheck]]:
        rows = self._here.all(
            'SELECT k.num, m.id, k.at, k.root, k.branch, k."commit", k.verdicts FROM NUMBERS(?2) j'
            " CROSS JOIN citation_checks k ON k.num = j.value AND +k.ns = ?1 JOIN memories m ON m.num = k.num"
            " AND m.ns = ?1 SORTED BY j.key, k.root, k.branch",
            packed(nums),
        )
        yield from readable(rows, _check)

    def lines(self, nums: Sequence[int]) -> dict[tuple[int, Citation], CitedLines]:
        """What the cited lines of these memories were, by memory and citation."""
        rows = self._here.all(
            "SELECT l.num, l.kind, l.data, l.print FROM NUMBERS(?2) j CROSS JOIN cited_lines l ON l.num = j.value"
            " AND +l.ns = ?1 ORDER BY l.num, l.kind, l.data",
            packed(nums),
        )
        return dict(readable(rows, _lines))

    def files(self, names: Sequence[str]) -> list[tuple[int, str]]:
        """The files that memories cite by a symbol, and those that a kept verdict found what they cite in; at least of
        the memories where one has one of these names. The labels have the files that a text names or cites itself."""
        asked = packed([_UNSURE.sub("%", f"%{name}%") for name in names])
        cited, checked = (
            self._here.all(
                f"SELECT c.num, {columns} FROM {table} c WHERE c.ns = ?1"
                f" AND EXISTS (SELECT 1 FROM TEXTS(?2) j WHERE {columns} LIKE j.value){self._here.seen('c.num')}"
                f" ORDER BY c.num, {order}",
                asked,
            )
            for table, columns, order in (
                ("citations", "c.kind || c.data", "c.position"),
                ("citation_checks", "c.verdicts", "c.root, c.branch"),
            )
        )
        symbols = ((num, text.removeprefix("symbol")) for num, text in cited if text.startswith("symbol"))
        found = readable(checked, lambda num, verdicts: [(num, each.now) for each in _checked(verdicts) if each.now])
        return [
            *readable(symbols, lambda num, data: (num, str(json.loads(data)["file"]))),
            *((num, _LINES.sub("", now)) for moved in found for num, now in moved),
        ]

    def put(self, nums: Sequence[int], memories: Sequence[Memory]) -> None:
        self._here.change_many(
            _CITE,
            [
                (num, position, *citation_columns(citation_to_json(citation)))
                for num, memory in zip(nums, memories, strict=True)
                for position, citation in enumerate(memory.citations)
            ],
        )

    def add(self, num: int, citations: Sequence[Citation]) -> bool:
        """Citations that a memory did not have go behind its own. Tells whether it cites anything now."""
        known = set(self._here.all("SELECT kind, data FROM citations WHERE num = ?2 AND +ns = ?1", num))
        for citation in citations:
            columns = citation_columns(citation_to_json(citation))
            if columns not in known:
                self._here.change(_CITE, num, len(known), *columns)
                known.add(columns)
        return bool(known)

    def put_checks(self, checks: Mapping[int, CitationCheck]) -> None:
        rows = []
        for num, check in checks.items():
            verdicts = [_verdict(each) for each in check.checked]
            place = check.worktree
            rows.append((num, place.root, place.branch, place.commit, check.at, packed(verdicts)))
        self._here.change_many(
            'INSERT INTO citation_checks (ns, num, root, branch, "commit", at, verdicts)'
            " SELECT ?1, num, ?3, ?4, ?5, ?6, ?7 FROM memories WHERE num = ?2 AND ns = ?1"
            ' ON CONFLICT KEY(num, root, branch) DO UPDATE SET "commit" = excluded."commit", at = excluded.at,'
            " verdicts = excluded.verdicts",
            rows,
        )

    def put_lines(self, known: Mapping[tuple[int, Citation], CitedLines]) -> None:
        rows = [
            (num, *citation_columns(citation_to_json(citation)), encode(lines).decode())
            for (num, citation), lines in known.items()
        ]
        if not rows:
            return
        self._here.change_many(
            "INSERT INTO cited_lines (ns, num, kind, data, print) SELECT ?1, num, ?3, ?4, ?5 FROM memories"
            " WHERE num = ?2 AND ns = ?1 ON CONFLICT KEY(num, kind, data) DO UPDATE SET print = excluded.print",
            rows,
        )


def _check(num: int, id: str, at: int, root: str, branch: str, commit: str, verdicts: str) -> tuple[int, CitationCheck]:
    return num, CitationCheck(id, int(at), _checked(verdicts), Worktree(str(root), str(branch), str(commit)))


def _lines(num: int, kind: str, data: str, known: str) -> tuple[tuple[int, Citation], CitedLines]:
    return (num, _citation_of(kind, data)), decode(known, type=CitedLines)


def _rank(check: CitationCheck, worktree: str | None) -> tuple[bool, int]:
    return worktree is not None and check.worktree.is_called(worktree), check.at


def _verdict(each: Checked) -> list[Any]:
    """What was found comes behind, where there is anything to say."""
    found = [each.finding, each.now, each.changed] if each.finding is not None else []
    return [citation_to_json(each.citation), each.standing, each.reason, *found]


def _checked(verdicts: str) -> tuple[Checked, ...]:
    checked = []
    for citation, standing, reason, *found in json.loads(verdicts):
        finding = (Finding(found[0]), *found[1:]) if found else ()
        checked.append(Checked(citation_from_json(citation), Standing(standing), reason, *finding))
    return tuple(checked)


def citation_columns(record: Mapping[str, Any]) -> tuple[str, str]:
    return str(record["kind"]), packed_record({name: value for name, value in record.items() if name != "kind"})


def _citation_of(kind: str, data: str) -> Citation:
    return citation_from_json({"kind": kind, **json.loads(data)})
