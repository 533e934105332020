"""Eight MCP servers with real clients, a writer at the command line and a vault watcher, all on one store.

RECALLENS_SOAK=600 (`make soak`) runs it for ten minutes; every commit for some seconds, with the same seeds.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from recallens.engine import Engine

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("RECALLENS_SOAK", "1"))
# The encoder of the test knows no meaning, and among thousands of crates what it takes for meaning outranks a word.
WIDE = 50
SERVERS = 8
RECALLENS = [sys.executable, "-m", "recallens"]
WORDS = ("kitchen", "office", "workshop", "attic", "창고", "사무실", "부두")


@dataclass
class Course:
    """What was acknowledged so far, by the word that only it holds; and when to stop."""

    store: Path
    kept: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    working: int = 0
    deadline: float = float("inf")

    def began(self) -> None:
        """The time counts from when all are at work: loading eight engines on two cores is not what is tested."""
        self.working += 1
        if self.working == SERVERS:
            self.deadline = time.monotonic() + SECONDS

    def over(self) -> bool:
        return time.monotonic() >= self.deadline

    def environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith("RECALLENS_")}
        return {**own, "RECALLENS_STORE": str(self.store), "RECALLENS_ENCODER": "hashing:64"}


def test_nothing_is_lost_and_no_error_reaches_anyone(tmp_path: Path) -> None:
    course = Course(tmp_path / "store.db")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "first.md").write_text("# First\n\nThe note n0 was here before.\n", encoding="utf-8")
    with Engine.open(course.store, encoder="hashing:64") as engine:
        engine.vaults.add(notes, "notes")
    written: dict[str, Path] = {}
    with watched(course), beside(write_at_the_command_line, course), beside(write_notes, course, notes, written):
        anyio.run(agents, course)
        assert len(course.kept) > 2 * SERVERS
    print(f"{SECONDS:.0f} s: {course.calls:,} calls of {SERVERS} servers, {len(course.kept):,} memories kept")
    assert {key[0] for key in course.kept} == {"a", "c"}
    assert len({key.split("n")[0] for key in course.kept}) == SERVERS + 1
    assert written
    settled(course, written)


async def agents(course: Course) -> None:
    async with anyio.create_task_group() as group:
        for number in range(SERVERS):
            group.start_soon(agent, course, number)


async def agent(course: Course, number: int) -> None:
    chance = random.Random(number)
    server = StdioServerParameters(
        command=RECALLENS[0], args=[*RECALLENS[1:], "mcp"], env=course.environment(), cwd=course.store.parent
    )
    mode = "legacy" if number % 2 else "auto"
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        count = 0
        while not course.over():
            # Two at once, as an agent calls tools in parallel.
            async with anyio.create_task_group() as pair:
                pair.start_soon(remember, client, course, f"a{number}n{count}", chance.choice(WORDS))
                pair.start_soon(look, client, course, chance)
            count += 1
            if count == 1:
                course.began()


async def remember(client: Client, course: Course, key: str, place: str) -> None:
    kept = await asked(client, course, "remember", content=f"The crate {key} stands in the {place}.", session=key[:2])
    assert kept["outcome"] == "created"
    course.kept[key] = kept["id"]
    found = await asked(client, course, "search_memory", query=key, limit=WIDE)
    assert kept["id"] in [one["id"] for one in found["results"]], f"{key} is not found by its own writer"


async def look(client: Client, course: Course, chance: random.Random) -> None:
    """At something that anyone was told is kept."""
    if not course.kept:
        await client.list_tools()
        return
    key = chance.choice(list(course.kept))
    id = course.kept[key]
    match chance.randrange(5):
        case 0:
            found = await asked(client, course, "search_memory", query=f"the crate {key}", limit=WIDE, session=key[:2])
            assert id in [one["id"] for one in found["results"]], f"{key} is not found by another"
        case 1:
            seen = await asked(client, course, "recall_xray", query=key)
            assert seen["snapshot"]["results"], (key, seen)
        case 2:
            details = await asked(client, course, "get_details", task_id=id)
            assert key in json.dumps(details)
        case 3:
            around = await asked(client, course, "get_timeline", observation_id=id)
            assert around["observation_id"] == id
        case _:
            read = await client.read_resource(f"recallens://memories/{id}")
            assert key in read.contents[0].text


async def asked(client: Client, course: Course, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, {**arguments, "format": "json"})
    assert not result.is_error, (tool, arguments, result.content[0].text)
    course.calls += 1
    return result.structured_content


# ── beside the agents ──


@contextmanager
def beside(work: Any, *given: Any) -> Iterator[None]:
    """In a thread, whose failure is the test's."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work(*given)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        given[0].deadline = min(given[0].deadline, time.monotonic())
        thread.join(60)
    assert failures == []


def write_at_the_command_line(course: Course) -> None:
    count = 0
    while not course.over() or count == 0:
        key = f"cn{count}"
        told = command(course, "remember", f"The crate {key} came with the command.", "--json")
        course.kept[key] = json.loads(told)["id"]
        count += 1
        time.sleep(0.3)


def write_notes(course: Course, notes: Path, written: dict[str, Path]) -> None:
    """New files and edited ones, which only the watcher reads."""
    chance, count = random.Random("notes"), 0
    while not course.over() or count == 0:
        path = notes / f"note{chance.randrange(6)}.md"
        key = f"v{count}note"
        path.write_text(
            f"# Note {path.stem}\n\nThe crate {key} is noted here, {chance.choice(WORDS)}.\n", encoding="utf-8"
        )
        written.update(dict.fromkeys([key], path))
        for old in [old for old, place in written.items() if place == path and old != key]:
            del written[old]
        count += 1
        time.sleep(0.3)


@contextmanager
def watched(course: Course) -> Iterator[None]:
    with subprocess.Popen(
        [*RECALLENS, "vault", "watch", "notes", "--debounce", "100", "--json"],
        env=course.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as watching:  # fmt: skip
        assert watching.stdout is not None
        # What it prints is read all along: a full pipe would hold it up.
        lines: list[str] = [watching.stdout.readline()]
        reader = threading.Thread(target=lambda: lines.extend(watching.stdout or ()))
        reader.start()
        try:
            yield
            time.sleep(1.5)  # the last edits settle
        finally:
            watching.send_signal(signal.SIGINT)
            try:
                assert watching.wait(30) == 0
            finally:
                watching.kill()  # its reader and the block's end would wait for ever for one that did not stop
            reader.join()
            assert watching.stderr is not None
            assert watching.stderr.read() == ""
    assert len(lines) > 1


def command(course: Course, *args: str) -> str:
    ended = subprocess.run(
        [*RECALLENS, *args], env=course.environment(), capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, ""), (args, ended.stderr)
    return ended.stdout


# ── afterwards ──


def settled(course: Course, written: dict[str, Path]) -> None:
    """Everything acknowledged is there by its id and by its words, every file as it was last written; all is well."""
    with Engine.open(course.store, encoder="hashing:64") as engine:
        assert list(engine.maintenance.doctor().problems) == []
        for key, id in course.kept.items():
            assert key in engine.get(id).content
            found = engine.search(key, mode="keyword", limit=3, record=False).results
            assert id in [result.memory.id for result in found], key
        for key in written:
            found = engine.search(key, mode="keyword", limit=3, record=False).results
            assert any(key in result.memory.content for result in found), key
        assert engine.audit.verify().problems == ()
    assert json.loads(command(course, "doctor", "--json"))["problems"] == []
