"""The table of nouns holds everything that a store keeps: what it leaves out is derived, or of the moment."""

from __future__ import annotations

from pathlib import Path

from recallens.store.nouns import NOUNS
from recallens.store.sqlite.store import SqliteStore

# What `reindex` makes, what an index follows changes by, and what outlives no process or day.
DERIVED = {"terms", "lexical", "labels", "backlog", "tombstones", "digests"}
OF_THE_MOMENT = {"leases", "answers", "migrations", "sqlite_sequence"}
# Whose a row is, and what an index follows changes by. The namespace's counters begin anew; its sums are counted anew,
# and its languages are read off its texts.
BESIDE = {"ns", "seq", "namespace"}
COUNTED = {"id", "number", "next_term", "epoch", "dropped_terms", "tasks_ended", "reward_total"}
OF_A_NAMESPACE = COUNTED | {"second", "unread"}


def test_every_table_and_column_is_in_the_table_of_nouns_or_named_here(tmp_path: Path) -> None:
    """A migration that adds one says in store/nouns.py how it is carried, or here why it is not."""
    store = SqliteStore(tmp_path / "s.db", create=True)
    held = {noun.table: {field.column for field in noun.fields} for noun in NOUNS.values()}
    tables = {str(row[0]) for row in store.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert tables - held.keys() == DERIVED | OF_THE_MOMENT
    for table, columns in held.items():
        there = {str(row[1]) for row in store.connection.execute(f"PRAGMA table_info({table})")}
        beside = OF_A_NAMESPACE if table == "namespaces" else BESIDE
        assert columns <= there, table
        assert there - columns <= beside, table
    store.close()


def test_a_name_of_a_field_is_given_once(tmp_path: Path) -> None:
    for noun in NOUNS.values():
        names = [field.name for field in noun.carried]
        assert len(names) == len(set(names))
        assert "type" not in names
