"""What was called otherwise before: the product was Recollect, and a preset was named after a document.

Stores, ledgers and index files of then are read as they are. What a person set under an old name is refused by an
error that says the new one, so that no setting is silently ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from recallens.errors import InvalidInput

PREFIX: Final = "RECOLLECT_"
PROJECT_FILE: Final = ".recollect.toml"
FOLDER: Final = "recollect"
PRESETS: Final = {"classic-001": "adaptive"}
NAMES: Final = {**PRESETS, "recollect": "recallens", "Recollect": "Recallens", "RECOLLECT": "RECALLENS"}
"""Every old name and the new one, for whoever compares records of then with records of now."""


def refuse_old_variables(names: Iterable[str], prefix: str) -> None:
    """An error for the first variable that is set under the old prefix."""
    for name in sorted(names):
        if name.startswith(PREFIX):
            new = prefix + name.removeprefix(PREFIX)
            raise InvalidInput(f"{name} is set, and is called {new} now", hint=f"Set {new} instead and unset {name}.")


def refuse_old_file(old: Path, new: Path) -> None:
    """An error where a file of settings has only its old name."""
    if old.is_file() and not new.exists():
        raise InvalidInput(f"{old} is not read any more: it is called {new} now", hint=f"mv {old} {new}")


def old_default_store(data_home: Path) -> Path | None:
    """The store that the product made under its old name, where there is one."""
    store = data_home / FOLDER / "store.db"
    return store if store.is_file() else None


def preset_of_record(name: str) -> str:
    """The preset that a ledger names, under its present name."""
    return PRESETS.get(name, name)
