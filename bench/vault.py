"""How long a folder of notes takes: from nothing, again with nothing changed, and with one file edited.

    python bench/vault.py FOLDER                        words alone
    python bench/vault.py FOLDER --encoder minilm       with vectors (slow on a small machine)

The second sync must open no file, and one edit must index no more than its own file.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recallens import Engine
from recallens.ingest.vault.files import Root

EDIT = "\n\nThe tide was high when this line was added.\n"


@contextmanager
def reads() -> Iterator[list[str]]:
    """The files that are read meanwhile."""
    read, opened = Root.read, list[str]()

    def noting(self: Root, path: str) -> Any:
        opened.append(path)
        return read(self, path)

    Root.read = noting  # type: ignore[method-assign]
    try:
        yield opened
    finally:
        Root.read = read  # type: ignore[method-assign]


def timed(engine: Engine) -> dict[str, Any]:
    with reads() as opened:
        started = time.perf_counter()
        (one,) = engine.vaults.sync("bench").vaults
        took = time.perf_counter() - started
    return {
        "seconds": round(took, 3), "filesRead": len(opened), "added": len(one.added), "changed": len(one.changed),
        "unchanged": one.unchanged, "sectionsIndexed": one.sections_indexed, "errors": len(one.errors),
    }  # fmt: skip


def measure(folder: Path, encoder: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        vault = Path(scratch) / "vault"
        shutil.copytree(folder, vault, symlinks=True)
        with Engine.open(Path(scratch) / "store.db", encoder=encoder) as engine:
            engine.vaults.add(vault, "bench")
            report: dict[str, Any] = {"first": timed(engine)}
            started = time.perf_counter()
            report["encoded"] = engine.encoder.drain()
            report["encodeSeconds"] = round(time.perf_counter() - started, 3)
            engine.maintenance.publish()
            report["unchanged"] = timed(engine)
            edited = max(vault.rglob("*.md"), key=lambda path: path.stat().st_size)
            with edited.open("a", encoding="utf-8") as stream:
                stream.write(EDIT)
            report["oneEdit"] = timed(engine)
            report["files"], report["sections"] = engine.vaults.counts()["bench"]
        report["storeBytes"] = os.path.getsize(Path(scratch) / "store.db")
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--encoder", default="none")
    arguments = parser.parse_args()
    report = measure(arguments.folder, arguments.encoder)
    print(json.dumps(report, indent=2))
    assert report["unchanged"]["filesRead"] == 0
    assert report["oneEdit"]["filesRead"] == 1


if __name__ == "__main__":
    main()
