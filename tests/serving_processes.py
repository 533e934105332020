"""`recallens serve --workers N` as people start it, and the processes that it has."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def served(store: str, count: int, *more: str) -> Iterator[tuple[str, str, int]]:
    """Its address, the link for a browser, and the number of the process that watches the others."""
    command = [sys.executable, "-m", "recallens", "serve", "--store", store, "--port", "0", "--json"]
    started = [*command, "--workers", str(count), *more]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            told = json.loads(process.stdout.readline())
            yield told["address"], told["link"], process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=60) == 0


def children(of: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(of), "-f", "spawn_main"], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]
