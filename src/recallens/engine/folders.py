"""Limits on files: folders that a search is held to, and conversations that were kept raw."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recallens.index.columns import Columns
from recallens.ingest.vault.categories import is_raw_conversation
from recallens.model.verdict import BoolArray
from recallens.recall.sources import inner_path
from recallens.store.protocols import Reader
from recallens.text.normalize import nfc


def all_paths(reader: Reader, columns: Columns) -> Mapping[str, str]:
    """The path of every document of the namespace: one statement, and only where a limit on files is asked for."""
    return reader.documents.paths(columns.names["document"].texts)


def not_raw(columns: Columns, paths: Mapping[str, str]) -> BoolArray:
    return _admitted(columns, paths, lambda path: not is_raw_conversation(inner_path(path)))


def within_folders(
    columns: Columns, paths: Mapping[str, str], folders: Sequence[str]
) -> tuple[BoolArray | None, dict[str, Any]]:
    """The rows that the folders admit, and what the plan says of them. What is no file passes: this is about files.

    A folder that leads out of the vault, or holds no file of it, is dropped and told. If none is left no file passes:
    to search everything instead would show what the caller meant to leave out.
    """
    if not folders:
        return None, {}
    kept, dropped = [], []
    known = list(paths.values())
    for folder in folders:
        place = _place(folder)
        if place is None:
            dropped.append({"path": folder, "reason": "it leads out of the vault"})
        elif not any(is_inside(place, path) for path in known):
            dropped.append({"path": folder, "reason": "no file of the store lies in it"})
        else:
            kept.append(place)
    mask = _admitted(columns, paths, lambda path: any(is_inside(place, path) for place in kept))
    return mask, {"folders": kept, **({"droppedFolders": dropped} if dropped else {})}


def _place(folder: str) -> str | None:
    prefix, colon, rest = nfc(folder).replace("\\", "/").rpartition(":")
    place = posixpath.normpath(rest or ".").removeprefix("./")
    if place == ".." or place.startswith("../"):
        return None
    return f"{prefix}{colon}{'' if place == '.' else place}"


def is_inside(folder: str, path: str) -> bool:
    """By whole names, `docs` is not `docs-old`; a folder without a vault's name is looked for in each of them."""
    vault, colon, place = folder.rpartition(":")
    inner = inner_path(path) if not path.startswith("/") else path
    if colon and not path.startswith(f"{vault}:"):
        return False
    return not place or inner == place or inner.startswith(f"{place.rstrip('/')}/")


def _admitted(columns: Columns, paths: Mapping[str, str], passes: Any) -> BoolArray:
    names = columns.names["document"].texts
    by_document = np.array([passes(paths.get(name, "")) for name in names] + [True], dtype=np.bool_)
    admitted: BoolArray = by_document[columns["document"]]  # −1, no document, is the last: it passes
    return admitted
