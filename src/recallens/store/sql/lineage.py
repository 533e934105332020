"""What texts were made of, and which changes wait for somebody's decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.json import decode, encode

from recallens.model.memory import Zone
from recallens.model.trust import Change, Input, InputKind, ProposedChange
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.rows import packed, readable

_PROPOSAL = "p.id, p.change, m.id, p.num, o.id, p.other, p.zone, p.owner, p.at, p.details"


class SqlLineage(Struct, frozen=True):
    _here: NamespaceConnection

    def put(self, num: int, inputs: Sequence[Input]) -> None:
        rows = [(num, each.kind, each.id, each.zone, int(each.replaced)) for each in inputs]
        self._here.change_many(
            "INSERT INTO lineage (ns, num, kind, input, zone, replaced) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
            " ON CONFLICT KEY(num, kind, input) DO UPDATE SET zone = excluded.zone, replaced = excluded.replaced",
            rows,
        )

    def of(self, nums: Sequence[int]) -> dict[int, list[Input]]:
        """What each of these memories was made of."""
        rows = self._here.all(
            "SELECT l.num, l.kind, l.input, l.zone, l.replaced, coalesce(m.num, 0) FROM NUMBERS(?2) j"
            " CROSS JOIN lineage l ON l.num = j.value AND l.ns = ?1"
            " LEFT JOIN memories m ON l.kind = 'memory' AND m.id = l.input AND +m.ns = ?1 ORDER BY l.num, l.kind, 6, 3",
            packed(nums),
        )
        made: dict[int, list[Input]] = {}
        for num, known in readable(rows, _input):
            made.setdefault(num, []).append(known)
        return made

    def derived_from(self, kind: InputKind, ids: Sequence[str], *, quoting: bool = False) -> list[int]:
        """The memories that were made of these, over any number of steps; `quoting` leaves out those that took the
        place of what they were made of."""
        only = " AND l.replaced = 0" if quoting else ""
        return self._here.first(
            "WITH RECURSIVE reached(num) AS ("
            " SELECT l.num FROM TEXTS(?3) j CROSS JOIN lineage l ON l.ns = ?1 AND l.kind = ?2"
            f" AND l.input = j.value{only} UNION SELECT l.num FROM reached r JOIN memories m ON m.num = r.num"
            " AND m.ns = ?1"
            f" JOIN lineage l ON l.ns = ?1 AND l.kind = 'memory' AND l.input = m.id{only})"
            " SELECT num FROM reached ORDER BY num",
            kind, packed(ids),
        )  # fmt: skip

    def confirmers(self, num: int) -> set[str]:
        """Whose confirmations of a memory there are; of those from before owners were told apart, nobody's."""
        sql = (
            "SELECT DISTINCT owner FROM events WHERE ns = ?1 AND num = ?2 AND kind = 'confirmed' AND owner IS NOT NULL"
        )
        return set(self._here.first(sql, num))

    def recalls_of(self, num: int) -> list[tuple[int, str | None, str | None, str | None, str | None]]:
        """When a memory was returned, in which session, for which task, to which token's caller, and the recall's own
        record where that is still kept; the latest first."""
        return self._here.all(
            "SELECT e.at, e.session, e.task, e.owner, (SELECT s.id FROM snapshots s WHERE s.ns = ?1 AND s.at = e.at"
            " AND s.session = coalesce(e.session, '') AND instr(s.audit, (SELECT '\"' || m.id || '\":' FROM memories m"
            " WHERE m.num = ?2 AND m.ns = ?1)) > 0"
            " ORDER BY s.number LIMIT 1) FROM events e"
            " WHERE e.ns = ?1 AND e.num = ?2 AND e.kind = 'recalled' ORDER BY e.at DESC, e.id DESC",
            num,
        )


def _input(num: int, kind: str, input: str, zone: str, replaced: int, number: int) -> tuple[int, Input]:
    """One whose zone cannot be read is of the least trusted."""
    known = Zone(zone) if zone in tuple(Zone) else Zone.QUARANTINE
    return num, Input(InputKind(kind), input, known, replaced=bool(replaced), num=number)


class SqlProposals(Struct, frozen=True):
    _here: NamespaceConnection

    def put(self, proposal: ProposedChange) -> int:
        """Its number; one that says the same and is still open stands for both. Another text in the place of a
        document is another proposal, and withdraws the one before: who has read one does not approve the other.
        """
        details, about = encode(proposal.details).decode(), _about(proposal.details)
        same = self._here.all(
            "SELECT id, details FROM proposals WHERE ns = ?1 AND change = ?2 AND num IS NOT DISTINCT FROM ?3"
            " AND other IS NOT DISTINCT FROM ?4 AND owner = ?5 AND decided IS NULL ORDER BY id",
            proposal.change, proposal.num, proposal.other_num, proposal.owner,
        )  # fmt: skip
        for number, known in same:
            if _about(decode(known, type=dict[str, Any])) == about:
                if proposal.change is Change.DOCUMENT and known != details:
                    self.decide(int(number), accepted=False, at=proposal.at)
                    continue
                self._here.change("UPDATE proposals SET details = ?3 WHERE ns = ?1 AND id = ?2", number, details)
                return int(number)
        rows = self._here.change(
            "INSERT INTO proposals (ns, num, change, other, zone, owner, at, details)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id",
            proposal.num, proposal.change, proposal.other_num, proposal.zone, proposal.owner, proposal.at, details,
        )  # fmt: skip
        return int(rows[0][0])

    def open(self) -> list[ProposedChange]:
        """Those that nobody has decided on, the oldest first."""
        return self._select("p.decided IS NULL ORDER BY p.id")

    def replacing(self, num: int) -> list[ProposedChange]:
        """Those that nobody has decided on, by which a memory would take the place of others."""
        return self._select("p.decided IS NULL AND p.change = 'supersede' AND p.other = ?2 ORDER BY p.id", num)

    def replacements(self, nums: Sequence[int]) -> list[ProposedChange]:
        """The same, of all in which one of these memories is either end."""
        either = "SELECT value FROM NUMBERS(?2)"
        return self._select(
            f"p.decided IS NULL AND p.change = 'supersede' AND (p.num IN ({either}) OR p.other IN ({either}))"
            " ORDER BY p.id",
            packed(nums),
        )

    def get(self, number: int) -> ProposedChange | None:
        return next(iter(self._select("p.decided IS NULL AND p.id = ?2", number)), None)

    def _select(self, where: str, *values: int | str) -> list[ProposedChange]:
        rows = self._here.all(
            f"SELECT {_PROPOSAL} FROM proposals p LEFT JOIN memories m ON m.num = p.num AND m.ns = ?1"
            f" LEFT JOIN memories o ON o.num = p.other AND o.ns = ?1 WHERE p.ns = ?1 AND {where}",
            *values,
        )
        return [
            ProposedChange(Change(change), memory, num, other, other_num, Zone(zone), owner, at,
                     decode(details, type=dict[str, str | float | None]), number)
            for number, change, memory, num, other, other_num, zone, owner, at, details in rows
        ]  # fmt: skip

    def decide(self, number: int, *, accepted: bool, at: int) -> None:
        """The text of a document that was proposed is not kept any longer."""
        self._here.change(
            "UPDATE proposals SET decided = ?2, accepted = ?3, details = '{}' WHERE ns = ?1 AND id = ?4",
            at, int(accepted), number,
        )  # fmt: skip


def _about(details: Mapping[str, Any]) -> str:
    """What a proposal is about beside its memories: the path of a document, or the sort of a relation."""
    path, relation = details.get("path"), details.get("relation")
    return str(path if path is not None else relation if relation is not None else "")
