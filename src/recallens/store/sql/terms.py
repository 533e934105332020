"""What is derived from texts: the dictionary of words, each memory's entry, labels and changed columns; and
vectors, with the backlog of memories that have none yet."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from msgspec import Struct

from recallens.store.records import COLUMN_TEXTS, COLUMN_VALUES, Changes, ColumnRow, LexicalEntry, Prepared
from recallens.store.sql.connection import NamespaceConnection
from recallens.store.sql.rows import packed, packed_record

# The highest code point: no term that starts with a prefix sorts above prefix + this.
AFTER_EVERY_TERM = "\U0010ffff"
# A name that very many memories share ties none of them to another.
MOST_SHARED = 64

_COLUMN_ROW = (
    f"{', '.join(f't.{name}' for name in COLUMN_VALUES)},"
    f" CAST(json_array({', '.join(f't.{name}' for name in COLUMN_TEXTS)}) AS TEXT)"
)

TermCache = dict[int, tuple[int, dict[str, int]]]
"""By namespace, the words whose numbers a writer knows, and the epoch in which they hold."""


class SqlTerms(Struct, frozen=True):
    _here: NamespaceConnection
    _cache: TermCache

    def changes(self, since: int) -> Changes:
        changed = self._here.first("SELECT num FROM memories WHERE ns = ?1 AND seq > ?2", since)
        # A reader that starts from nothing has nothing to bury.
        removed = (
            self._here.first("SELECT num FROM tombstones WHERE ns = ?1 AND seq > ?2 ORDER BY seq, num", since)
            if since
            else []
        )
        return Changes(sorted(changed), removed)

    def columns(self, nums: Sequence[int], *, repaired: bool = False) -> list[ColumnRow]:
        """`repaired` is asked for where a row holds what it may not."""
        try:
            if not repaired:
                return _rows_of(self._here, _COLUMN_ROW, "memories", nums, "+t.ns = ?1")
        except self._here.db.unreadable_errors:
            pass
        rows = self._here.db.mended(self._here.key, nums)
        return [
            (*(row[name] for name in COLUMN_VALUES), packed_record([row[name] for name in COLUMN_TEXTS]))
            for row in rows
        ]

    def entries(self, nums: Sequence[int]) -> list[LexicalEntry]:
        """One that is no list of numbers is missing; `doctor` names it."""
        whole = "SOUND(bytes, t.terms) AND length(t.terms) % 4 = 0 AND +t.ns = ?1"
        return _rows_of(self._here, "t.num, t.terms", "lexical", nums, whole)

    def numbers(self, words: Sequence[str]) -> dict[str, int]:
        return self._here.mapping(
            "SELECT t.term, t.number FROM TEXTS(?2) j CROSS JOIN terms t ON t.ns = ?1"
            " AND t.term = j.value SORTED BY j.key",
            packed(words),
        )

    def with_prefix(self, prefixes: Sequence[str], cap: int) -> dict[str, list[int]]:
        rows = self._here.all(
            "SELECT (j.value ->> 0), t.number FROM RECORDS(?2) j CROSS JOIN terms t ON t.ns = ?1"
            " AND t.term >= (j.value ->> 0) AND t.term < (j.value ->> 1) ORDER BY j.key, length(t.term), t.term",
            packed([[prefix, prefix + AFTER_EVERY_TERM] for prefix in prefixes]),
        )
        numbers: dict[str, list[int]] = {}
        for prefix, number in rows:
            begun = numbers.setdefault(prefix, [])
            if len(begun) < cap:
                begun.append(number)
        return numbers

    def held(self, nums: Sequence[int]) -> set[int]:
        blobs = self._here.first(
            "SELECT l.terms FROM NUMBERS(?2) j CROSS JOIN lexical l ON l.num = j.value AND +l.ns = ?1",
            packed(nums),
        )
        return {number for blob in blobs for number in array("I", blob)}

    def labelled(self, labels: Sequence[tuple[str, str]]) -> list[tuple[str, str, int]]:
        """Memories that carry any of these (value, kind) labels; an empty kind means any kind."""
        return self._here.all(
            "SELECT l.value, l.kind, l.num FROM RECORDS(?2) j CROSS JOIN labels l"
            " ON l.ns = ?1 AND l.value = (j.value ->> 0) AND ((j.value ->> 1) = '' OR l.kind = (j.value ->> 1))"
            f"{self._here.seen('l.num')} ORDER BY l.num, j.key, l.kind",
            packed([list(label) for label in labels]),
        )

    def sharing_names(self, nums: Sequence[int], cap: int) -> list[tuple[int, int]]:
        """Pairs of memories that name the same entity, one of these first; names that everybody has are left out."""
        return self._here.all(
            "WITH own AS MATERIALIZED (SELECT l.num, l.value FROM NUMBERS(?2) j CROSS JOIN labels l ON l.num = j.value"
            " AND l.ns = ?1 AND l.kind = 'entity'), rare AS MATERIALIZED (SELECT o.num, o.value FROM own o WHERE"
            " (SELECT count(*) FROM (SELECT 1 FROM labels c WHERE c.ns = ?1 AND c.value = o.value"
            f" AND c.kind = 'entity'{self._here.seen('c.num')} LIMIT ?3 + 1) x) <= ?3)"
            " SELECT DISTINCT r.num, b.num FROM rare r CROSS JOIN labels b ON b.ns = ?1 AND b.value = r.value"
            f" AND b.kind = 'entity' AND b.num <> r.num WHERE true{self._here.seen('b.num')}"
            " ORDER BY r.num, b.num LIMIT ?4",
            packed(nums), MOST_SHARED, cap,
        )  # fmt: skip

    def paths(self, nums: Sequence[int]) -> list[tuple[int, str]]:
        return self._here.all(
            "SELECT l.num, l.value FROM NUMBERS(?2) j CROSS JOIN labels l ON l.num = j.value"
            " WHERE l.ns = ?1 AND l.kind = 'path' ORDER BY l.num, l.value",
            packed(nums),
        )

    def put(self, nums: Sequence[int], rows: Sequence[Prepared]) -> None:
        numbers = self._known_numbers(rows)
        entries = []
        for num, row in zip(nums, rows, strict=True):
            sequence = array("I", [numbers[term] for term in (*row.head, *row.body)])
            entries.append((num, len(row.head), sequence.tobytes()))
        self._here.db.taking_words(self._here, [(num, words) for num, _, words in entries])
        self._here.change_many(
            "INSERT INTO lexical (ns, num, head, terms) VALUES (?1, ?2, ?3, ?4)"
            " ON CONFLICT KEY(num) DO UPDATE SET head = excluded.head, terms = excluded.terms",
            entries,
        )
        self.label((*label, num) for num, row in zip(nums, rows, strict=True) for label in row.labels)

    def label(self, labels: Iterable[tuple[str, str, int]]) -> None:
        self._here.change_many(
            "INSERT INTO labels (ns, value, kind, num) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING", labels
        )

    def _known_numbers(self, rows: Sequence[Prepared]) -> dict[str, int]:
        """The number of every word of these rows; new words are given theirs."""
        here = self._here
        ((following, epoch),) = here.change("SELECT next_term, epoch + dropped_terms FROM namespaces WHERE id = ?1")
        cached_epoch, cached = self._cache.get(here.key, (epoch, {}))
        known: dict[str, int] = cached if cached_epoch == epoch else {}
        wanted = {term for prepared in rows for term in (*prepared.head, *prepared.body)}
        missing = sorted(wanted - known.keys())
        if missing:
            known |= self.numbers(missing)
        fresh = [term for term in missing if term not in known]
        if fresh:
            added = {term: following + i for i, term in enumerate(fresh)}
            here.change_many("INSERT INTO terms (ns, term, number) VALUES (?1, ?2, ?3)", added.items())
            here.change("UPDATE namespaces SET next_term = ?2 WHERE id = ?1", following + len(fresh))
            known |= added
        self._cache[here.key] = (epoch, known)
        return known

    def drop(self, numbers: Sequence[int]) -> None:
        """Words that nothing holds any more leave the dictionary."""
        self._forget(numbers)
        self._here.change("UPDATE namespaces SET dropped_terms = dropped_terms + 1 WHERE id = ?1")

    def drop_words(self, words: Sequence[str]) -> None:
        """The same, by what they are: the dictionary is ordered so."""
        sql = "DELETE FROM terms WHERE ns = ?1 AND term IN (SELECT value FROM TEXTS(?2))"
        self._here.change(sql, packed(words))
        self._here.change("UPDATE namespaces SET dropped_terms = dropped_terms + 1 WHERE id = ?1")
        self._cache.pop(self._here.key, None)

    def unused(self) -> list[int]:
        """The numbers of the words that no memory holds."""
        used: set[int] = set()
        for (blob,) in self._here.run(
            "SELECT l.terms FROM memories m JOIN lexical l ON l.num = m.num AND +l.ns = m.ns WHERE m.ns = ?1"
        ):
            used.update(array("I", blob))
        return [
            number
            for number in self._here.first("SELECT number FROM terms WHERE ns = ?1 ORDER BY term")
            if number not in used
        ]

    def drop_unused(self) -> None:
        """A word that only a deleted memory held must not stay behind in the dictionary."""
        self._forget(self.unused())
        self.begin_epoch()

    def begin_epoch(self) -> None:
        """Entries were written anew: who holds any in memory or in a file reads them again."""
        self._here.change("UPDATE namespaces SET epoch = epoch + 1 WHERE id = ?1")
        self._here.db.made_anew("words")
        self._cache.pop(self._here.key, None)

    def _forget(self, numbers: Sequence[int]) -> None:
        self._here.change(
            "DELETE FROM terms WHERE ns = ?1 AND number IN (SELECT value FROM NUMBERS(?2))", packed(numbers)
        )

    def mend(self) -> None:
        """Where two words share a number, or one is beyond the counter, every entry is dropped, to be written anew.
        Whatever numbers a writer remembers are void."""
        here = self._here
        self.drop(())
        counts = "SELECT count(*), count(DISTINCT number), max(number) FROM terms WHERE ns = ?1"
        ((words, numbers, last),) = here.all(counts)
        ((following,),) = here.all("SELECT next_term FROM namespaces WHERE id = ?1")
        if words == numbers and (not words or last < following):
            return
        here.db.losing_words(here, None)
        here.change("DELETE FROM lexical WHERE ns = ?1")
        here.change("DELETE FROM labels WHERE ns = ?1")
        here.change("DELETE FROM terms WHERE ns = ?1")
        here.change("UPDATE namespaces SET epoch = epoch + 1, next_term = 0 WHERE id = ?1")
        here.change("UPDATE memories SET seq = ?2 WHERE ns = ?1", here.number())
        self._cache.pop(here.key, None)


def _rows_of(
    here: NamespaceConnection, fields: str, table: str, nums: Sequence[int], where: str, *values: Any
) -> list[Any]:
    """The rows with these numbers, which rise, in their order; the number is the first field. `where` may use ?4 for
    the value, and must not lead SQLite to an index by anything but the number.

    Numbers that lie close together are read as one stretch of the table, in half the time.
    """
    if not nums:
        return []
    if nums[-1] - nums[0] >= 2 * len(nums):
        # SQLite gives them in the order of the list, and what is in order is sorted in no time.
        sql = f"SELECT {fields} FROM NUMBERS(?2) j CROSS JOIN {table} t ON t.num = j.value AND {where}"
        return sorted(here.every(sql.replace("?4", "?3"), packed(nums), *values), key=itemgetter(0))
    sql = f"SELECT {fields} FROM {table} t WHERE t.num BETWEEN ?2 AND ?3 AND {where} ORDER BY t.num"
    rows = here.every(sql, nums[0], nums[-1], *values)
    if len(rows) <= len(nums) == nums[-1] - nums[0] + 1:
        return rows
    wanted = set(nums)
    return [row for row in rows if row[0] in wanted]


# What stands between two sentences.
_SENTENCE_ENDS = tuple(f"%{end}%" for end in ("\n", ". ", "! ", "? ", "。"))
_ENQUEUE = (
    "INSERT INTO backlog (ns, encoder, num) SELECT ?1, ?2, j.value FROM NUMBERS(?3) j"
    " WHERE {only} ON CONFLICT DO NOTHING"
)


class SqlVectors(Struct, frozen=True):
    _here: NamespaceConnection

    def changes(self, encoder: str, since: int) -> Iterable[tuple[int, int, bytes]]:
        """Number, part and vector of what was written after a number."""
        return self._here.stream(
            "SELECT num, part, vector FROM vectors WHERE ns = ?1 AND encoder = ?2 AND seq > ?3 ORDER BY num, part",
            encoder, since,
        )  # fmt: skip

    def of(self, encoder: str, nums: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors of each memory that has any, its parts one after the other."""
        where = "t.encoder = ?4 AND +t.ns = ?1"
        rows = _rows_of(self._here, "t.num, t.part, t.vector", "vectors", nums, where, encoder)
        return [(num, vector) for num, _, vector in sorted(rows, key=itemgetter(0, 1))]

    def count(self, encoder: str) -> int:
        ((count,),) = self._here.all("SELECT count(*) FROM vectors WHERE ns = ?1 AND encoder = ?2", encoder)
        return int(count)

    def put(self, encoder: str, vectors: Sequence[tuple[int, int, bytes]]) -> None:
        seq = self._here.number()
        # A memory may have been deleted while its text was being encoded: then there is nothing to keep.
        self._here.change_many(
            "INSERT INTO vectors (ns, num, encoder, part, seq, vector)"
            " SELECT ?1, num, ?2, ?3, ?4, ?5 FROM memories WHERE num = ?6 AND ns = ?1"
            " ON CONFLICT KEY(encoder, num, part) DO UPDATE SET seq = excluded.seq, vector = excluded.vector",
            [(encoder, part, seq, vector, num) for num, part, vector in vectors],
        )
        self._here.change(
            "DELETE FROM backlog WHERE +ns = ?1 AND encoder = ?2 AND num IN (SELECT value FROM NUMBERS(?3))",
            encoder, packed([num for num, _, _ in vectors]),
        )  # fmt: skip

    def enqueue_missing(self, encoder: str, nums: Sequence[int]) -> None:
        """One that was still waiting when its number changed waits under the new one."""
        missing = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder = ?2 AND v.num = j.value AND +v.ns = ?1)"
        self._here.change(_ENQUEUE.format(only=missing), encoder, packed(nums))

    def await_parts(self, encoder: str, users: Sequence[str], short: int, roles: Sequence[str], long: int) -> None:
        """What has one vector where its parts should have some: what users said in at most `short` characters and may
        have several sentences, and what is of none of the roles and over `long` characters.
        """
        self._here.change(
            "INSERT INTO backlog (ns, encoder, num) SELECT ?1, ?2, m.num FROM memories m WHERE m.ns = ?1"
            " AND (lower(m.author) IN (SELECT value FROM TEXTS(?3)) AND length(m.content) <= ?4"
            " AND EXISTS (SELECT 1 FROM TEXTS(?5) j WHERE m.content LIKE j.value)"
            " OR length(m.content) > ?7 AND (m.author IS NULL OR lower(m.author) NOT IN (SELECT value FROM TEXTS(?6))))"
            " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder = ?2 AND v.num = m.num AND v.part = 1"
            " AND +v.ns = ?1) ON CONFLICT DO NOTHING",
            encoder, packed(users), short, packed(_SENTENCE_ENDS), packed(roles), long,
        )  # fmt: skip

    def mark_unread(self) -> None:
        """The namespace holds a text that the store's encoder cannot read."""
        self._here.change("UPDATE namespaces SET unread = 1 WHERE id = ?1")
        self._here.look_up()

    def begin_second(self, encoder: str) -> None:
        """From now on its texts have vectors of a second encoder as well; those that are there wait for theirs."""
        missing = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder = ?2 AND v.num = m.num AND +v.ns = ?1)"
        self._here.change(
            "INSERT INTO backlog (ns, encoder, num) SELECT ?1, ?2, m.num FROM memories m"
            f" WHERE m.ns = ?1 AND {missing} ON CONFLICT DO NOTHING",
            encoder,
        )
        self._here.change("UPDATE namespaces SET second = ?2 WHERE id = ?1", encoder)
        self._here.look_up()
