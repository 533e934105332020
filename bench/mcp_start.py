"""How long a client waits for `recallens mcp`: from its start to the list of tools, and to its first search's answer.

    python bench/mcp_start.py [--runs 7]

The store holds the sample's memories, with the packaged encoder. The search is asked for as soon as the list has come,
so that nothing had time to load meanwhile. The aim is 2 s from the start. `cpuSeconds` is what the server took of a
processor until it ended: on a busy machine the one figure that means something.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recallens import Draft, Engine
from recallens.mcp.tools import TOOLS
from recallens.text.token_count import count_tokens

AIM_SECONDS = 2.0
SAMPLE = Path(__file__).parent.parent / "examples" / "memories.jsonl"
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
OPENING: tuple[Mapping[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
SEARCH = {"name": "search_memory", "arguments": {"query": "how long are tracking lookups cached"}}


def fill(store: Path) -> None:
    rows = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines() if line.strip()]
    with Engine.open(store, encoder="minilm") as engine:
        engine.memories.remember_many([Draft(row["content"]) for row in rows if row.get("content")])
        engine.encoder.drain()
        engine.search("a first search leaves its index", record=False)


def starting(store: Path) -> dict[str, float]:
    """Seconds from the start to the list, to the first search and to the second, and of the processor in all."""
    environment = {**os.environ, "RECALLENS_STORE": str(store)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "recallens", "mcp"],
        cwd=store.parent, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(message: Mapping[str, Any]) -> float:
            server.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
            server.stdin.flush()  # type: ignore[union-attr]
            if "id" in message:
                answer = json.loads(server.stdout.readline())  # type: ignore[union-attr]
                assert (answer["id"], "result" in answer) == (message["id"], True), answer
            return time.perf_counter() - began

        *_, listed = map(ask, OPENING)
        first, second = (
            ask({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": SEARCH}) for number in (3, 4)
        )
        server.stdin.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "listedSeconds": listed, "firstSearchSeconds": first, "secondSearchTook": second - first, "cpuSeconds": spent,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        fill(store)
        rows = [starting(store) for _ in range(given.runs)]
    listing = json.dumps({"tools": [tool.listed() for tool in TOOLS]}, separators=(",", ":"))
    found: dict[str, float] = {
        "runs": given.runs,
        "aimSeconds": AIM_SECONDS,
        **{name: statistics.median(row[name] for row in rows) for name in rows[0]},
        # The least: what the machine was busy with besides only adds.
        "leastFirstSearchSeconds": min(row["firstSearchSeconds"] for row in rows),
        "toolsTokens": count_tokens(listing),
    }
    print(json.dumps({name: round(value, 3) for name, value in found.items()}, indent=2))


if __name__ == "__main__":
    main()
