"""A folder of notes for a test, whose files look as if they had been written a while ago."""

from __future__ import annotations

import os
from pathlib import Path

from recallens.engine import Engine
from recallens.model.memory import Memory
from recallens.model.vault import VaultSync

# Files that changed just now are read once more by design; these are old enough.
AGO_NS = 1_780_000_000_000_000_000


class Notes:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self._age = AGO_NS

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.age(path)
        return file

    def age(self, path: str) -> None:
        self._age += 1_000_000_000
        os.utime(self.root / path, ns=(self._age, self._age))

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()


def synced(engine: Engine, name: str = "notes") -> VaultSync:
    (one,) = engine.vaults.sync(name).vaults
    return one


def sections(engine: Engine, path: str | None = None) -> list[Memory]:
    """The sections of a file, or of all, in order."""
    with engine.core.store.read("default") as reader:
        state = reader.state
        assert state is not None
        found = reader.memories.get(reader.memories.numbers()).values()
    chosen = [memory for memory in found if path is None or memory.attributes.get("path") == path]
    return sorted(chosen, key=lambda memory: (memory.attributes.get("path", ""), memory.position or 0))
