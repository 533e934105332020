"""A store over the workers of a Citus cluster: what is distributed follows from the tables, and doing it again does
nothing. Where `make citus PG=…` names a real cluster, it is tried on that too."""

from __future__ import annotations

import os
import threading
import time

import psycopg
import pytest
from psycopg import RawCursor

import postgres
from recallens import Engine
from recallens.errors import StoreBusy, StoreError
from recallens.store.postgres import connection
from recallens.store.postgres.distribution import _REFERENCES, _TABLES, StoredTable, distribute, statements, undivided
from recallens.store.postgres.migrations import MIGRATIONS, PARTITIONS

IN_A_CLUSTER = os.environ.get("RECALLENS_CITUS") is not None
# What stays on the coordinator.
OF_THE_STORE = {"meta", "tokens", "answers", "leases", "namespaces", "migrations"}


def stored() -> tuple[list[StoredTable], set[tuple[str, str]]]:
    with connection.connect(postgres.fresh_store()) as owner:
        owner.execute("SET search_path TO recallens")
        tables = [StoredTable(*row) for row in owner.execute(_TABLES).fetchall()]
        references = {(str(a).split(".")[-1], str(b).split(".")[-1]) for a, b in owner.execute(_REFERENCES).fetchall()}
    return tables, references


def test_every_table_of_a_namespace_is_distributed_by_it() -> None:
    tables, references = stored()
    made = statements(tables, references, set())
    named = [statement.split("'")[1].removeprefix("recallens.") for statement in made]
    assert len(named) == len(set(named))
    assert set(named) == {table.name for table in tables} - OF_THE_STORE
    place = {name: at for at, name in enumerate(named)}
    for source, target in references:
        assert place[target] <= place[source], f"{source} refers to {target}"
    by_key = [statement for statement in made if "'ns'" in statement]
    assert len(by_key) == len(made) - 2
    assert all("colocate_with => 'recallens." in statement for statement in by_key[1:])


def test_what_is_distributed_already_stays_as_it_is() -> None:
    tables, references = stored()
    names = {table.name for table in tables}
    assert statements(tables, references, names) == []
    rest = statements(tables, references, names - {"labels", "audit_heads"})
    assert [statement.split("'")[1] for statement in rest] == ["recallens.labels", "recallens.audit_heads"]
    assert all("colocate_with => 'recallens." in statement for statement in rest)


def test_a_store_on_a_cluster_has_no_partitions() -> None:
    for _, script in MIGRATIONS:
        assert "PARTITION BY" not in undivided(script)
        assert "SET NULL" not in undivided(script)
    assert PARTITIONS > 1


def test_a_server_that_is_no_cluster_is_told_of() -> None:
    with (
        connection.connect(postgres.fresh_store()) as owner,
        pytest.raises(StoreError, match="no Citus"),
    ):
        distribute(owner, dry_run=True)


# ── on a real cluster ──


def test_a_statement_is_one_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement of a recall and of a write is planned again by the coordinator: it goes to one worker."""
    seen: dict[str, tuple[object, ...]] = {}

    class Recorded(connection.PostgresDatabase):
        def execute(self, sql: str, values: object = ()) -> object:  # type: ignore[override]
            if self._place is not None and self._place[1]:
                seen.setdefault(sql, (values, self._place))
            return super().execute(sql, values)  # type: ignore[arg-type]

    monkeypatch.setattr(connection, "PostgresDatabase", Recorded)
    address = postgres.fresh_store()
    with Engine.open(address, encoder="hashing") as engine:
        for number in range(30):
            engine.remember(f"Crate {number} stands on quay {number % 3} of Harbor Office", dedupe=False)
        seen.clear()
        engine.search("which crate stands on quay 2", session="s")
    tasks = 0
    with psycopg.connect(address) as planner:
        planner.execute("SET search_path TO recallens")
        for sql, (values, place) in seen.items():
            if not sql.startswith("SELECT") or "FROM namespaces" in sql or "FROM meta" in sql:
                continue
            planner.execute(f"SET LOCAL recallens.namespace TO '{place[0]}'; SET LOCAL recallens.ns TO '{place[1]}'")
            cursor = RawCursor(planner)
            cursor.execute(f"EXPLAIN {_rendered(sql)}", values)
            plan = "\n".join(str(line) for (line,) in cursor.fetchall())
            assert "Task Count: 1" in plan or "Custom Scan" not in plan, f"{sql}\n{plan}"
            tasks += "Task Count: 1" in plan
            planner.rollback()
            planner.execute("SET search_path TO recallens")
    print(f"{tasks} statements of one task each")
    assert tasks >= 12


def _rendered(sql: str) -> str:
    from recallens.store.postgres.database import DIALECT

    return DIALECT.render(sql)


def test_a_shard_moves_under_load() -> None:
    given = postgres.cluster()
    assert given is not None
    address, kept, wrong, ending = postgres.fresh_store(), list[tuple[str, str]](), list[str](), threading.Event()
    with Engine.open(address, encoder="hashing") as engine:
        names = [f"team-{number}" for number in range(8)]

        def write(own: int) -> None:
            number = 0
            while not ending.is_set():
                number += 1
                name, text = names[(own + number) % len(names)], f"Crate {own}-{number} stands on the quay"
                try:
                    kept.append((name, engine.remember(text, namespace=name, dedupe=False).id))
                    engine.search("crate on the quay", namespace=name, record=False)
                except StoreBusy:
                    time.sleep(0.2)
                except StoreError as error:
                    wrong.append(str(error))
                    time.sleep(0.2)

        writers = [threading.Thread(target=write, args=(own,)) for own in range(3)]
        for each in writers:
            each.start()
        time.sleep(5)
        with psycopg.connect(given[0], autocommit=True) as admin:
            shard, host, port = admin.execute(
                "SELECT s.shardid, n.nodename, n.nodeport FROM pg_dist_shard s JOIN pg_dist_placement p USING"
                " (shardid) JOIN pg_dist_node n ON n.groupid = p.groupid"
                " WHERE s.logicalrelid = 'recallens.memories'::regclass AND n.nodeport <> %s LIMIT 1",
                (psycopg.conninfo.conninfo_to_dict(given[0])["port"],),
            ).fetchone() or (0, "", 0)
            other = admin.execute(
                "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 AND nodeport <> %s", (port,)
            ).fetchone()
            assert other is not None
            admin.execute(
                "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, 'block_writes')",
                (shard, host, port, *other),
            )
        time.sleep(3)
        ending.set()
        for each in writers:
            each.join()
        assert wrong == []
        assert len(kept) > 20
        for name, id in kept:
            assert engine.get(id, namespace=name).id == id
        print(f"{len(kept)} writes while a shard moved")


# None is skipped: what the server at hand cannot show is no test of this run.
if IN_A_CLUSTER:
    del test_a_server_that_is_no_cluster_is_told_of
else:
    del test_a_statement_is_one_task, test_a_shard_moves_under_load
