"""Several processes of one server behind one address. Each opens the store for itself and listens at the same port, and
the system gives each connection to one of them; one that dies is started again.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from recallens.config import Settings
from recallens.errors import StoreError

# A process that ends sooner than this after its start is not started again at once.
SHORT_LIFE_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 1.0
# What a process that is told to end may take beyond what its requests may.
LAST_SECONDS: Final = 15.0
START_SECONDS: Final = 120.0
_spawned = multiprocessing.get_context("spawn")
log = logging.getLogger(__name__)


class Workers(Struct, frozen=True):
    """What each process is told: where to listen, of which store, and with which limits."""

    settings: Settings
    host: str
    port: int
    count: int
    shared: Path
    allow_hosts: tuple[str, ...] = ()
    limits: dict[str, Any] = {}
    spans: bool = False
    access_log: bool = False


class _Worker:
    def __init__(self, told: Workers, number: int) -> None:
        self.ready, theirs = _spawned.Pipe(duplex=False)
        self.started = time.monotonic()
        self.process: BaseProcess = _spawned.Process(
            target=answer, args=(told, theirs), name=f"recallens-serve-{number}", daemon=False
        )
        self.process.start()
        theirs.close()


def run(told: Workers, *, started: Callable[[], None] = lambda: None) -> None:
    """Until Ctrl-C or SIGTERM. `started` is called once every process would answer."""
    ending = threading.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: ending.set())
    workers = {number: _Worker(told, number) for number in range(told.count)}
    try:
        _await_all(workers, ending)
        started()
        while not ending.is_set():
            wait([worker.process.sentinel for worker in workers.values()], timeout=0.2)
            for number, worker in workers.items():
                if not worker.process.is_alive() and not ending.is_set():
                    log.warning("a process of the server ended (exit %s); it is started again", worker.process.exitcode)
                    if time.monotonic() - worker.started < SHORT_LIFE_SECONDS:
                        ending.wait(PAUSE_SECONDS)
                    workers[number] = _Worker(told, number)
    finally:
        for worker in workers.values():
            worker.process.terminate()
        until = time.monotonic() + LAST_SECONDS
        for worker in workers.values():
            worker.process.join(max(0.1, until - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()


def _await_all(workers: dict[int, _Worker], ending: threading.Event) -> None:
    until = time.monotonic() + START_SECONDS
    for worker in workers.values():
        while not ending.is_set() and not worker.ready.poll(0.1):
            if time.monotonic() > until:
                raise _not_started()
        if not ending.is_set():
            try:
                worker.ready.recv()
            except EOFError:  # it ended before it said that it answers
                raise _not_started() from None


def _not_started() -> StoreError:
    return StoreError("a process of the server did not start", hint="Its own message stands above.")


def shared_folder() -> Path:
    """Where the processes keep what they share: nobody else can open it, and it goes with them."""
    return Path(tempfile.mkdtemp(prefix="recallens-serve-"))


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def answer(told: Workers, ready: Connection) -> None:
    """One process: it ends when it is told to, and when the one that started it is gone."""
    from recallens.engine import Engine
    from recallens.http.limits import Limits
    from recallens.server import listening, serving, whole

    level = logging.INFO if told.access_log else logging.WARNING
    logging.basicConfig(level=level, format="%(levelname)s %(message)s")
    limits = Limits(**told.limits)
    # What one caller may be answered in a minute is divided among the processes, and so never exceeded.
    limits = Limits(**{**told.limits, "bytes_a_minute": max(limits.bytes_a_minute // told.count, limits.answer_bytes)})
    with (
        Engine.open(settings=told.settings) as engine,
        listening(told.host, told.port, shared=True) as listener,
    ):
        engine.core.folder = None
        app = whole(
            engine, host=told.host, allow_hosts=told.allow_hosts, limits=limits, spans=told.spans,
            access_log=told.access_log, shared=told.shared,
        )  # fmt: skip
        server = serving(app, lambda: ready.send(os.getpid()))
        parent = multiprocessing.parent_process()
        if parent is not None:
            alone = threading.Thread(target=_leave_with, args=(parent.sentinel, server), daemon=True)
            alone.start()
        server.run(sockets=[listener])


def _leave_with(parent: int, server: Any) -> None:
    wait([parent])
    server.should_exit = True
