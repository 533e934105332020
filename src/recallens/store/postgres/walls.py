"""The second wall: a role that may not pass row-level security, and what each transaction of it may see.

The first wall is that every statement names its namespace. Should one of ours not, the server shows it the rows of the
namespace that its transaction has set, and none to a transaction that has set none.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from psycopg import Connection, sql
from psycopg.rows import TupleRow

from recallens.model.times import EARLIEST_MS, LATEST_MS
from recallens.store.nouns import NOUNS, FieldKind, Noun, NounField
from recallens.store.postgres.distribution import is_cluster
from recallens.store.postgres.migrations import PARTITIONS, SCHEMA

ROLE: Final = "recallens_application"
# What a transaction sets, each until it ends: the key and the name of its namespace, or that it is about the store.
KEY_SETTING, NAME_SETTING, WHOLE_SETTING = "recallens.ns", "recallens.namespace", "recallens.whole"

_KEY: Final = f"(SELECT nullif(current_setting('{KEY_SETTING}', true), '')::bigint)"
_NAME: Final = f"(SELECT nullif(current_setting('{NAME_SETTING}', true), ''))"
_WHOLE: Final = f"(SELECT current_setting('{WHOLE_SETTING}', true) = 'on')"
_SEEN: Final = {
    **dict.fromkeys(("meta", "tokens", "answers", "leases"), f"{_WHOLE} OR {_NAME} IS NOT NULL"),
    "namespaces": f"{_WHOLE} OR name = {_NAME}",
    "audit": f"namespace = {_NAME}",
    "audit_heads": f"{_WHOLE} OR namespace = {_NAME}",
    "backlog": f"{_WHOLE} OR ns = {_KEY}",  # numbers without any text
}
_OWN: Final = f"ns = {_KEY}"


def raise_walls(connection: Connection[TupleRow]) -> None:
    """Every table is divided, shows only what may be seen, and is open to the role."""
    divided: dict[str, bool] = dict(connection.execute(_TABLES).fetchall())
    for table, is_divided in divided.items():
        if is_divided:
            for part in range(PARTITIONS):
                name = f"{table}_{part}"
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF {table}"
                    f" FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {part})"
                )
                _close(connection, name, _SEEN.get(table, _OWN))
        _close(connection, table, _SEEN.get(table, _OWN))
    _guard(connection, set(divided))
    _make_role(connection)


def fingerprint() -> str:
    """What differs once the walls are to be raised anew."""
    rules = [(noun.table, _rules(noun)) for noun in NOUNS.values()]
    return sha256(repr((PARTITIONS, sorted(_SEEN.items()), _OWN, rules)).encode()).hexdigest()


_TABLES: Final = (
    "SELECT c.relname, c.relkind = 'p' FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace"
    " AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'migrations' ORDER BY 1"
)


def _close(connection: Connection[TupleRow], table: str, seen: str) -> None:
    if is_cluster(connection):
        seen = seen.replace("(SELECT ", "(")  # by which it is worked out once, and which no cluster takes
    connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    connection.execute(f"DROP POLICY IF EXISTS one_namespace ON {table}")
    connection.execute(f"CREATE POLICY one_namespace ON {table} USING ({seen})")


def passes_walls(connection: Connection[TupleRow]) -> bool:
    """Whether who connects could pass row-level security, and so must take the role. Anybody else may work as
    themselves, since it is forced on the tables' owner too."""
    row = connection.execute(
        "SELECT rolsuper OR rolbypassrls, EXISTS (SELECT 1 FROM pg_roles WHERE rolname = %s) FROM pg_roles"
        " WHERE rolname = current_user",
        (ROLE,),
    ).fetchone()
    passes, is_there = row or (False, False)
    if passes and not is_there:  # tables that were restored on another server
        _make_role(connection)
    return bool(passes)


def _make_role(connection: Connection[TupleRow]) -> None:
    """The role that whoever can pass row-level security takes, open to the tables of the schema."""
    row = connection.execute("SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user").fetchone()
    if row != (True,):
        return
    connection.execute(_MAKE_ROLE)
    connection.execute(f"GRANT {ROLE} TO CURRENT_USER")
    connection.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {ROLE}")
    connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {ROLE}")
    connection.execute(f"REVOKE INSERT, UPDATE, DELETE ON migrations FROM {ROLE}")
    connection.execute(f"GRANT ALL ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {ROLE}")


# Another process, of another database, may make it at the same moment.
_MAKE_ROLE: Final = f"""DO $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}') THEN
        CREATE ROLE {ROLE} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$"""


# ── rows hold only what they may ──

_RULES: Final = {
    FieldKind.NUMBER: "{0} > '-Infinity' AND {0} < 'Infinity'",
    FieldKind.SHARE: "{0} BETWEEN 0 AND 1",
    FieldKind.TIME: f"{{0}} BETWEEN {EARLIEST_MS} AND {LATEST_MS}",
    FieldKind.FLAG: "{0} IN (0, 1)",
    FieldKind.LIST: "{0} IS JSON ARRAY",
    FieldKind.RECORD: "{0} IS JSON OBJECT",
}


def _rule(field: NounField) -> str | None:
    """What the type of the column does not say."""
    if field.options:
        options = ", ".join(sql.quote(option) for option in field.options)
        return f'"{field.column}" IN ({options})'
    rule = _RULES.get(field.kind)
    return rule and rule.format(f'"{field.column}"')


def _rules(noun: Noun) -> str:
    return " AND ".join(f"({rule})" for field in noun.fields if (rule := _rule(field)))


def _guard(connection: Connection[TupleRow], tables: set[str]) -> None:
    """Give every table its rule anew: a newer version may know more options than the one that made it."""
    for noun in NOUNS.values():
        condition = _rules(noun)
        if condition and noun.table in tables:
            connection.execute(f"ALTER TABLE {noun.table} DROP CONSTRAINT IF EXISTS {noun.table}_sound")
            connection.execute(f"ALTER TABLE {noun.table} ADD CONSTRAINT {noun.table}_sound CHECK ({condition})")
