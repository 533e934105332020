"""The load of bench/http.py: clients that wait for each other, and arrivals that do not."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from corpus import questions, texts
from recallens import Draft, Engine
from recallens.config import is_address

ROWS, SECONDS, CLIENTS = 100_000, 30.0, 16
WARM_UP = 40
SPREAD, OPEN_SPREAD = 3.0, 5.0
# Each client asks its own questions in its own order; a seed makes them the same ones in every run.
SEED = 7


@dataclass
class Measured:
    """Times in seconds, from when a request was due to the end of its answer."""

    name: str
    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0  # seconds of the server's processor a request

    @property
    def throughput(self) -> float:
        return len(self.times) / self.seconds if self.seconds else 0.0

    def at(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


class Client:
    """One connection that is kept. HTTP by hand: on two cores a whole client library would be half of the load."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._head = f"Host: {self._host}\r\nAuthorization: Bearer {parts.username}\r\n\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def get(self, path: str) -> int:
        if self._reader is None or self._writer is None or self._reader.at_eof():  # one that lay idle may be closed
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port, limit=1 << 22)
        self._writer.write(f"GET {path} HTTP/1.1\r\n{self._head}".encode())
        head = await self._reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:]) if name}
        await self._reader.readexactly(int(headers.get("content-length", 0)))
        return int(lines[0].split(" ")[1])

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


async def ask(client: Client, question: str, due: float, told: Measured) -> None:
    try:
        status = await client.get(f"/v1/search?q={quote(question)}&limit=10")
    except (OSError, asyncio.IncompleteReadError) as error:
        told.errors.append(repr(error))
        return
    if status != 200:
        told.errors.append(f"status {status}")
    told.times.append(time.perf_counter() - due)


async def closed_loop(address: str, asked: Sequence[str], *, clients: int, seconds: float, name: str) -> Measured:
    """Each client asks again as soon as it is answered."""
    told = Measured(name)
    until = time.perf_counter() + seconds

    async def one(number: int) -> None:
        client, chance = Client(address), random.Random(SEED + number)
        while time.perf_counter() < until:
            await ask(client, chance.choice(asked), time.perf_counter(), told)
        client.close()

    started = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(clients)))
    told.seconds = time.perf_counter() - started
    return told


async def open_loop(address: str, asked: Sequence[str], *, rate: float, seconds: float, name: str) -> Measured:
    """Requests come at random times (Poisson), however long the answers take; waiting counts."""
    told, chance = Measured(name), random.Random(SEED)
    free: list[Client] = []

    async def one(due: float) -> None:
        client = free.pop() if free else Client(address)
        await ask(client, chance.choice(asked), due, told)
        free.append(client)

    started = due = time.perf_counter()
    running = set[asyncio.Task[None]]()
    while (due := due + chance.expovariate(rate)) < started + seconds:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        running.add(task := asyncio.create_task(one(due)))
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)
    told.seconds = time.perf_counter() - started
    for client in free:
        client.close()
    return told


async def measured(address: str, asked: Sequence[str], *, seconds: float, clients: int) -> list[Measured]:
    warm = Client(address)
    for question in asked[:WARM_UP]:
        await warm.get(f"/v1/search?q={quote(question)}&limit=10")
    warm.close()
    alone = await closed_loop(address, asked, clients=1, seconds=max(seconds / 3, 1), name="1 client")
    spent = cpu_seconds(_SERVING[0])
    together = await closed_loop(address, asked, clients=clients, seconds=seconds, name=f"{clients} clients")
    together.cpu = (cpu_seconds(_SERVING[0]) - spent) / max(len(together.times), 1)
    rate = together.throughput / 2
    arriving = await open_loop(address, asked, rate=rate, seconds=seconds, name=f"arrivals, {rate:.0f} a second")
    return [alone, together, arriving]


def judged(alone: Measured, together: Measured, arriving: Measured) -> list[tuple[str, float, float, bool]]:
    """Each aim with its value, its bound and whether it holds."""
    errors = sum(len(one.errors) for one in (alone, together, arriving))
    gain = together.throughput / alone.throughput
    spread = together.at(0.95) / together.at(0.5)
    open_spread = arriving.at(0.95) / alone.at(0.5)
    return [
        ("errors", errors, 0, errors == 0),
        ("throughput against one client", gain, 1.0, gain >= 1.0),
        ("p95 / p50 of the clients at once", spread, SPREAD, spread < SPREAD),
        ("p95 of arrivals / p50 of one client", open_spread, OPEN_SPREAD, open_spread < OPEN_SPREAD),
    ]


def cpu_seconds(pid: int) -> float:
    """What a process and those that it started have spent of the processor, by Linux."""
    ticks, parents = dict[int, int](), dict[int, int]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
        ticks[int(stat.parent.name)] = int(fields[11]) + int(fields[12])
    own = {pid}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(ticks.get(each, 0) for each in own) / os.sysconf("SC_CLK_TCK")


_SERVING: list[int] = []


@contextmanager
def served(store: Path | str, *options: str) -> Iterator[str]:
    """Its address, with a token for who asks there."""
    with Engine.open(store) as engine:
        token = engine.tokens.create(["default"], right="write", name="bench")[1]
    command = [sys.executable, "-m", "recallens", "serve", "--port", "0", "--json", "--store", str(store), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        _SERVING[:] = [process.pid]
        yield str(json.loads(line)["address"]).replace("://", f"://{token}@")
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def made(folder: Path, rows: int) -> Path:
    path = folder / "store.db"
    with Engine.open(path, encoder="hashing:384") as engine:
        drafts = (Draft(text, project=f"p{at % 5}") for at, text in enumerate(texts(rows)))
        for _ in engine.memories.remember_many(drafts, dedupe=False):
            pass
        engine.encoder.drain()
        engine.maintenance.publish()
    return path


def copied(folder: Path, store: Path) -> Path:
    """Searches are recorded: what is measured is a copy."""
    path = folder / store.name
    shutil.copy(store, path)
    if (index := Path(f"{store}.index")).is_dir():
        shutil.copytree(index, f"{path}.index")
    return path


def run(
    store: Path | str | None, *, rows: int, seconds: float, clients: int, options: Sequence[str] = ()
) -> list[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(store, str):  # on a server, which is measured as it is
            with served(store, *options) as address:
                return asyncio.run(measured(address, questions(400), seconds=seconds, clients=clients))
        path = copied(Path(folder), store) if store is not None else made(Path(folder), rows)
        with served(path, *options) as address:
            return asyncio.run(measured(address, questions(400), seconds=seconds, clients=clients))


def main() -> int:
    parser = argparse.ArgumentParser(description="See bench/http.py.")
    parser.add_argument("--store", help="a store that is there; a copy of a file is served, a server's as it is")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"memories of a store that is made ({ROWS:,})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of each measurement ({SECONDS:g})")
    parser.add_argument("--clients", type=int, default=CLIENTS, help=f"at once ({CLIENTS})")
    parser.add_argument("--threads", help="of each process of the server")
    parser.add_argument("--workers", help="processes of the server")
    given = parser.parse_args()
    options = ["--threads", given.threads] if given.threads else []
    options += ["--workers", given.workers] if given.workers else []
    store = given.store if given.store is None or is_address(given.store) else Path(given.store)
    found = run(store, rows=given.rows, seconds=given.seconds, clients=given.clients, options=options)
    print(f"{'':28} {'requests':>9} {'a second':>9} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'errors':>7}")
    for one in found:
        times = " ".join(f"{one.at(share) * 1000:8.1f}" for share in (0.5, 0.95, 0.99))
        print(f"{one.name:28} {len(one.times):9,} {one.throughput:9.1f} {times} {len(one.errors):7}")
    print(f"\n{found[1].cpu * 1000:.1f} ms of the server's processor a request, {found[1].name}")
    verdicts = judged(*found)
    for name, value, bound, holds in verdicts:
        print(f"{'holds ' if holds else 'MISSED'}  {name}: {value:.2f} (aim {bound:g})")
    for error in [error for one in found for error in one.errors][:5]:
        print(f"error: {error}", file=sys.stderr)
    return 0 if all(holds for *_, holds in verdicts) else 1
