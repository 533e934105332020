"""How long a client waits for `recallens mcp`, from its start to the answers of initialize and tools/list.

    python bench/mcp_start.py [--runs 7] [--list-only]

The yardstick is a Python that only imports the SDK, started in turn with the server. The aim is at most 0.7 s more.
Also what the list of tools costs in tokens, and how long the first search and the second take.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from recallens.mcp.tools import TOOLS
from recallens.text.token_count import count_tokens

AIM_SECONDS = 0.7
OPENING: tuple[Mapping[str, Any], ...] = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def importing(folder: str) -> float:
    """To its first word after the import; what it takes to end is nobody's wait."""
    began = time.perf_counter()
    command = [sys.executable, "-c", "import mcp; print(flush=True)"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        return time.perf_counter() - began


def starting(folder: str, searches: int) -> list[float]:
    """Seconds to the answer of tools/list, then for each search."""
    environment = {**os.environ, "RECALLENS_STORE": str(Path(folder) / "store.db")}
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "recallens", "mcp"],
        cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(message: Mapping[str, Any]) -> None:
            server.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
            server.stdin.flush()  # type: ignore[union-attr]
            if "id" in message:
                assert json.loads(server.stdout.readline())["id"] == message["id"]  # type: ignore[union-attr]

        for message in OPENING:
            ask(message)
        times = [time.perf_counter()]
        search = {"name": "search_memory", "arguments": {"query": "how do we roll back the gateway"}}
        for number in range(3, 3 + searches):
            ask({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": search})
            times.append(time.perf_counter())
        server.stdin.close()
    return [after - before for before, after in pairwise([began, *times])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--list-only", action="store_true", help="without the searches")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [(importing(folder), *starting(folder, 0 if given.list_only else 2)) for _ in range(given.runs)]
    sdk, listed, *searches = (list(column) for column in zip(*rows, strict=True))
    listing = json.dumps({"tools": [tool.listed(recorded=True) for tool in TOOLS]}, separators=(",", ":"))
    found: dict[str, float] = {
        "runs": given.runs,
        "sdkSeconds": statistics.median(sdk),
        "listedSeconds": statistics.median(listed),
        # The least of each: what the machine was busy with besides only adds.
        "overSeconds": min(listed) - min(sdk),
        "aimSeconds": AIM_SECONDS,
        "ratio": min(listed) / min(sdk),
        **{
            name: statistics.median(times)
            for name, times in zip(("firstSearchSeconds", "secondSearchSeconds"), searches, strict=False)
        },
        "toolsTokens": count_tokens(listing),
    }
    print(json.dumps({name: round(value, 3) for name, value in found.items()}, indent=2))


if __name__ == "__main__":
    main()
