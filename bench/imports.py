"""What an import costs: transcripts of Claude Code of a realistic mix, taken in twice, without encoding.

    python bench/imports.py                        100,000 lines in 100 sessions; minutes
    python bench/imports.py --lines 10000

Each run is the command in a process of its own: seconds on the clock and of its processor, and its largest memory.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus import texts

LINES, SESSION_LINES = 100_000, 1_000
START_MS = 1_770_000_000_000
# Of ten lines of a working session: a question, three answers, three calls of tools and what they gave.
TURN = ("user", "assistant", "call", "result", "assistant", "call", "result", "snapshot", "call", "result")


def transcript(session: str, said: Iterator[str], lines: int, seed: int) -> Iterator[dict[str, Any]]:
    chance, parent = random.Random(seed), None
    for number in range(lines):
        kind = TURN[number % len(TURN)]
        id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(START_MS / 1000 + seed * 90_000 + number * 7))
        if kind == "snapshot":
            yield {"type": "file-history-snapshot", "messageId": id, "snapshot": {}, "isSnapshotUpdate": False}
            continue
        content: Any
        match kind:
            case "user":
                content = next(said)
            case "assistant":
                content = [{"type": "text", "text": next(said)}]
            case "call":
                command = f"pytest tests/test_{chance.randrange(400)}.py"
                content = [
                    {"type": "tool_use", "id": f"toolu_{seed}_{number}", "name": "Bash", "input": {"command": command}}
                ]
            case _:
                given = "\n".join(next(said) for _ in range(3))
                content = [{"type": "tool_result", "tool_use_id": f"toolu_{seed}_{number - 1}", "content": given}]
        role = "assistant" if kind in ("assistant", "call") else "user"
        yield {
            "parentUuid": parent, "isSidechain": False, "cwd": "/home/ada/harbor", "sessionId": session, "type": role,
            "message": {"role": role, "content": content}, "uuid": id, "timestamp": at,
        }  # fmt: skip
        parent = id


def written(folder: Path, lines: int) -> None:
    said = iter(texts(lines * 2))
    for number in range(max(1, lines // SESSION_LINES)):
        session = str(uuid.UUID(int=number + 1, version=4))
        with (folder / f"{session}.jsonl").open("w", encoding="utf-8") as file:
            for record in transcript(session, said, min(lines, SESSION_LINES), number):
                file.write(json.dumps(record) + "\n")


def measured(store: Path, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "recallens", "--store", str(store), "import", "--from", "claude-code", str(folder),
               "--no-embed", "--json"]  # fmt: skip
    environment = os.environ | {"RECALLENS_ENCODER": "hashing"}
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    record = json.loads(done.stdout)
    counts = {name: record[name] for name in ("read", "imported", "alreadyThere")} | {"skipped": len(record["skipped"])}
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(time.perf_counter() - begun, 1), "processor": round(spent, 1),
            "mib": round(after.ru_maxrss / 1024), **counts}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=LINES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "projects")
        folder.mkdir()
        written(folder, given.lines)
        for run in ("first", "second"):
            print(
                json.dumps({"run": run, "lines": given.lines} | measured(Path(place, "store.db"), folder)), flush=True
            )


if __name__ == "__main__":
    main()
