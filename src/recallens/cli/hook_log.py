"""The decisions of hooks, a line each, in a private file of this machine: it holds ids and counts, and no text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from recallens.config import data_home, make_private
from recallens.model.hook import HookDecision

# Past this, the older half goes.
MOST_BYTES: Final = 2_000_000


class HookLog:
    """The log of one store, which is known by its place: a hook that asks a server has not opened it."""

    def __init__(self, store: str) -> None:
        name = blake2b(os.path.abspath(store).encode("utf-8", "replace"), digest_size=8).hexdigest()
        self.path = data_home() / "recallens" / "hooks" / f"{name}.jsonl"

    def add(self, decision: HookDecision) -> None:
        make_private(self.path.parent)
        self._shorten()
        line = msgspec.json.encode(decision) + b"\n"
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, line)  # one call, so that hooks of two sessions do not mix their lines
        finally:
            os.close(file)

    def read(self) -> Iterator[HookDecision]:
        """Every decision that can be read, the oldest first."""
        decoder = msgspec.json.Decoder(HookDecision)
        try:
            lines = self.path.read_bytes().splitlines()
        except OSError:
            return
        for line in lines:
            try:
                yield decoder.decode(line)
            except msgspec.MsgspecError:
                continue

    def _shorten(self) -> None:
        if not self.path.exists() or self.path.stat().st_size < MOST_BYTES:
            return
        lines = self.path.read_bytes().splitlines(keepends=True)
        shorter = Path(f"{self.path}.new")
        shorter.touch(mode=0o600)
        shorter.write_bytes(b"".join(lines[len(lines) // 2 :]))
        shorter.replace(self.path)
