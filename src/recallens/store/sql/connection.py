"""A connection that stands in one namespace, whichever engine it is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from recallens.errors import NotFound
from recallens.model.state import EVERYTHING, Sight
from recallens.store.candidates import CandidateReader
from recallens.store.records import META_ENCODER_KEY, LexicalEntry, NamespaceState
from recallens.store.sql.rows import Row, decoded

# No namespace has this key, so that one which does not exist reads as empty.
NOWHERE = -1
_STATE = (
    "SELECT id, name, number, epoch, tasks_ended, reward_total, (SELECT value FROM meta WHERE key = ?1),"
    " second, unread"
    " FROM namespaces WHERE name = ?2"
)

BLOCKED = "m.status IN ('forgotten', 'rejected', 'quarantined', 'pending_review') OR m.zone = 'quarantine'"

Derived = Literal["words", "read off"]
"""What was written anew from texts: the dictionary, or whatever a memory's row and entries hold of its text."""


class Rows(Protocol):
    """What a statement gives."""

    def __iter__(self) -> Iterator[Any]: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Database(Protocol):
    """An engine's connection in a transaction: it runs the shared SQL, and does what has no SQL in common."""

    @property
    def unreadable_errors(self) -> tuple[type[Exception], ...]:
        """What a statement raises whose rows hold what they may not."""

    @property
    def refused_errors(self) -> tuple[type[Exception], ...]:
        """What a row raises that is there already, or refers to what is not."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Rows: ...
    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> object: ...
    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows of a statement that may give very many: they are never in memory all at once."""

    def enter(self, name: str, key: int) -> None:
        """What follows is about this namespace."""

    def lock(self, name: str) -> None:
        """Where this transaction writes, let no other do anything under that name until it ends."""

    def take_numbers(self, table: str, count: int) -> list[int]:
        """Numbers for new rows of a table, which are never given out again."""

    def last_number(self, table: str, column: str) -> int:
        """The highest number that was ever given out in a table."""

    def keep_number(self, table: str, number: int) -> None:
        """Give out no number of a table up to this one."""

    def loaded(self, table: str, highest: int) -> None:
        """Rows were written with numbers of their own, up to this one."""

    def defer_references(self) -> None:
        """Rows may refer to what is not there, until the transaction ends."""

    def mended(self, key: int, nums: Sequence[int]) -> list[dict[str, Any]]:
        """The columns of these memories of a namespace, whatever their rows hold."""

    def unsound_memories(self, key: int) -> list[int]:
        """The memories of a namespace that cannot be read."""

    def made_anew(self, what: Derived, nums: Sequence[int] | None = None) -> None:
        """What was derived has been written again: of all memories, or of these."""

    def settle(self) -> None:
        """Let nothing gather in a transaction that changes very many rows."""

    def taking_words(self, here: NamespaceConnection, entries: Sequence[LexicalEntry]) -> None:
        """Entries are about to be written: an index that the engine itself keeps of the namespace takes them in."""

    def losing_words(self, here: NamespaceConnection, nums: Sequence[int] | None) -> None:
        """The entries of these memories, or all of them, are about to be deleted."""

    def candidates(self, here: NamespaceConnection) -> CandidateReader | None:
        """The index that the engine itself keeps of the namespace, if it does."""


def shown(held: str) -> str:
    """What may be shown: not blocked by its status or zone, and meant for no context but those of the JSON list
    that the parameter `held` is.
    """
    return (
        f"NOT ({BLOCKED}) AND (m.scopes = '[]' OR NOT EXISTS"
        f" (SELECT 1 FROM TEXTS(SCOPES(m.scopes)) s WHERE s.value NOT IN (SELECT h.value FROM TEXTS({held}) h)))"
    )


def _list(texts: Iterable[str]) -> str:
    """Texts as a JSON list that is a literal of SQL."""
    return f"'[{', '.join(map(_escaped, texts))}]'"


def _escaped(text: str) -> str:
    """A text in JSON of which no letter can be taken for SQL, nor for a word of the dialect."""
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return '"' + "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)) + '"'


class NamespaceConnection(Struct):
    """A connection in a transaction, bound to one namespace: each statement gets the namespace's key as ?1.

    `numbers` is shared by everything that one write transaction changes, and holds its number in each namespace.
    `sight` is what who reads may see; who writes sees everything.
    """

    db: Database
    name: str
    numbers: dict[int, int]
    sight: Sight = EVERYTHING
    state: NamespaceState | None = None
    key: int = NOWHERE

    def seen(self, num: str) -> str:
        """Of a statement's rows, those whose memory who reads may see; `num` is the column that has its number.

        A subquery for one value is looked up row by row. PostgreSQL makes a join of an EXISTS, and of that join, after
        a wrong guess at how many rows there are, a reading of all memories."""
        seen = f"SELECT 1 FROM memories m WHERE m.num = {num} AND m.ns = ?1 AND {self.open}"
        return f" AND ({seen}) IS NOT NULL" if self.open else ""

    @property
    def open(self) -> str:
        """The condition under which who reads may see the row `m` of the memories; empty where they see everything."""
        held = self.sight.held
        return "" if held is None else shown(_list(sorted(held)))

    def theirs(self, owner: str) -> str:
        """The condition under which what a token did is of who reads, by the column that names the token; empty where
        they see what everybody did."""
        mine = self.sight.owner
        return "" if mine is None else f"{owner} = (SELECT value FROM TEXTS({_list((mine,))}))"

    def own_session(self, session: str) -> str:
        """The condition under which a session is of who reads, by the column that has its id; empty as above."""
        mine = self.theirs("w.owner")
        own = f"SELECT 1 FROM session_owners w WHERE w.ns = ?1 AND w.session = {session} AND {mine}"
        return f"({own}) IS NOT NULL" if mine else ""

    def linked(self, link: str) -> str:
        """Of the rows `link` of memories in sessions, those that who reads may know of: all of their own sessions, and
        of others' what was made there."""
        own = self.own_session(f"{link}.session")
        return f" AND ({link}.usage = 'created' OR {own})" if own else ""

    def __post_init__(self) -> None:
        self.db.lock(self.name)
        self.look_up()

    def look_up(self) -> None:
        """Read the namespace's state, as the transaction has made it."""
        self.db.enter(self.name, self.key)
        row = self.db.execute(_STATE, (META_ENCODER_KEY, self.name)).fetchone()
        self.state = NamespaceState(*row) if row else None
        self.key = row[0] if row else NOWHERE

    def all(self, sql: str, *values: Any) -> list[Any]:
        """A row with a text that is none counts as absent; `doctor` names it."""
        try:
            return self.every(sql, *values)
        except UnicodeDecodeError:
            return list(decoded(iter(self.run(sql, *values))))

    def every(self, sql: str, *values: Any) -> list[Any]:
        """The same, and an error where a text is none."""
        return self.run(sql, *values).fetchall()

    def run(self, sql: str, *values: Any) -> Rows:
        """The rows as they come."""
        self.db.enter(self.name, self.key)
        return self.db.execute(sql, (self.key, *values))

    def stream(self, sql: str, *values: Any) -> Iterator[Any]:
        """The same, of very many."""
        self.db.enter(self.name, self.key)
        return self.db.stream(sql, (self.key, *values))

    def mapping(self, sql: str, *values: Any) -> dict[Any, Any]:
        """The first column of every row, and the second that belongs to it."""
        return dict(self.all(sql, *values))

    def one(self, sql: str, *values: Any) -> Row | None:
        try:
            row: Row | None = self.run(sql, *values).fetchone()
        except UnicodeDecodeError:
            return None
        return row

    def first(self, sql: str, *values: Any) -> list[Any]:
        """The first column of every row."""
        return [row[0] for row in self.all(sql, *values)]

    def ensure(self, at: int) -> NamespaceState:
        if self.state is None:
            self.db.enter(self.name, self.key)
            self.db.execute(
                "INSERT INTO namespaces (name, created) VALUES (?1, ?2) ON CONFLICT DO NOTHING", (self.name, at)
            )
            self.look_up()
        assert self.state is not None
        return self.state

    def change(self, sql: str, *values: Any) -> list[Row]:
        key = self._written()
        self.db.enter(self.name, key)
        return self.db.execute(sql, (key, *values)).fetchall()

    def change_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        key = self._written()
        self.db.enter(self.name, key)
        self.db.executemany(sql, [(key, *row) for row in rows])

    def _written(self) -> int:
        if self.key == NOWHERE:
            raise NotFound(f"no namespace {self.name!r}", hint="`recallens namespace list` shows those that exist.")
        return self.key

    def number(self) -> int:
        """This transaction's number in the namespace: taken once, shared by everything the transaction changes."""
        key = self._written()
        if key not in self.numbers:
            ((number,),) = self.change("UPDATE namespaces SET number = number + 1 WHERE id = ?1 RETURNING number")
            self.numbers[key] = number
        return self.numbers[key]
