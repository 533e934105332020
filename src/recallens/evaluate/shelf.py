"""Golden sets and their runs that lie beside a store, by namespace, so that a surface can name them without a path.

`STORE.golden/ns-NAME/SET.yaml` (or .jsonl) are sets, `STORE.golden/ns-NAME/runs/ID.json` what they measured.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from recallens.errors import NotFound
from recallens.evaluate.golden import LINES_SUFFIXES, YAML_SUFFIXES, GoldenSet, read_golden
from recallens.evaluate.records import SUFFIX, Record, read_records, write_records

MOST_RUNS = 100
_NAME = re.compile(r"\w[\w. -]{0,199}")


def folder_of(store: str, namespace: str) -> Path:
    return Path(f"{store}.golden") / f"ns-{quote(namespace, safe='')}"


def set_names(folder: Path) -> list[str]:
    suffixes = YAML_SUFFIXES + LINES_SUFFIXES
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted({path.stem for path in found if path.suffix in suffixes and _NAME.fullmatch(path.stem)})


def golden_set(folder: Path, name: str) -> GoldenSet:
    for suffix in YAML_SUFFIXES + LINES_SUFFIXES:
        path = folder / f"{name}{suffix}"
        if _NAME.fullmatch(name) and path.is_file():
            return read_golden(path)
    known = ", ".join(set_names(folder)) or "none"
    raise NotFound(f"no golden set {name!r}; those beside the store are: {known}")


def within(golden: GoldenSet, namespace: str) -> GoldenSet:
    return replace(golden, questions=tuple(replace(one, namespace=namespace) for one in golden.questions))


def keep(folder: Path, record: Record, id: str) -> dict[str, Any]:
    name = f"{record.set}-{id}"
    write_records(folder / "runs" / f"{name}{SUFFIX}", [record])
    return run(folder, name)


def run_summaries(folder: Path) -> list[dict[str, Any]]:
    """The latest first."""
    paths = sorted((folder / "runs").glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
    found = [run(folder, path.stem) for path in paths[:MOST_RUNS] if _NAME.fullmatch(path.stem)]
    return [one | {"questions": len(one["questions"])} for one in found]


def run(folder: Path, id: str) -> dict[str, Any]:
    path = folder / "runs" / f"{id}{SUFFIX}"
    if not _NAME.fullmatch(id) or not path.is_file():
        raise NotFound(f"no recorded run {id!r}")
    (record, *_) = read_records(path)
    return {"id": id, "at": int(path.stat().st_mtime * 1000), **record.to_json()}
