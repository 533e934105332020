"""What an installation weighs, and how long a command takes from nothing: our wheel in a new environment.

    python bench/install.py [--extras fast,mcp,serve] [--runs 5] [--json]

Without extras it is the core: words, exact names, and both encoders in numpy. The size is that of the environment's
packages without pip, the bytecode of a first run included. A cold start is a command as a process of its own.
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
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MB = 1 << 20  # as `du` counts
QUESTION = "how long are tracking lookups cached"


def environment(folder: Path, extras: str) -> Path:
    """The Python of a new environment that has the wheel and what it needs."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(folder / "wheel"), str(ROOT)], check=True)
    (wheel,) = (folder / "wheel").glob("*.whl")
    subprocess.run([*pip, "install", f"{wheel}[{extras}]" if extras else str(wheel)], check=True)
    return python


def packages(python: Path) -> Path:
    (site,) = (python.parents[1] / "lib").glob("python*/site-packages")
    return site


def size_of(path: Path) -> int:
    return (
        sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size
    )


def sizes(site: Path) -> dict[str, float]:
    """In megabytes, the heaviest first; pip is how it came and no part of it."""
    own = [path for path in site.iterdir() if not path.name.startswith(("pip", "setuptools"))]
    return {path.name: round(size_of(path) / MB, 1) for path in sorted(own, key=size_of, reverse=True)}


def timed(python: Path, home: Path, *words: str, runs: int) -> float:
    """The median of the seconds on the clock."""
    told = {"HOME": str(home), "PATH": os.environ["PATH"], "XDG_DATA_HOME": str(home)}
    command, taken = [str(python), "-m", "recallens", *words], []
    for _ in range(runs):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env=told)
        taken.append(time.perf_counter() - begun)
    return round(statistics.median(taken), 2)


def measured(extras: str, runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        python, home = environment(Path(folder) / "env", extras), Path(folder) / "home"
        home.mkdir()
        timed(python, home, "remember", "Tracking lookups are cached for 60 seconds.", runs=1)
        timed(python, home, "search", QUESTION, runs=1)  # with its bytecode written
        parts = sizes(packages(python))
        listed = subprocess.run([str(python), "-m", "pip", "list", "--format=json"], capture_output=True, check=True)
        return {
            "extras": extras, "megabytes": round(sum(parts.values()), 1),
            "packages": len(json.loads(listed.stdout)) - 1,
            "heaviest": dict(list(parts.items())[:12]),
            "secondsHelp": timed(python, home, "--help", runs=runs),
            "secondsSearch": timed(python, home, "search", QUESTION, runs=runs),
            "secondsRemember": timed(python, home, "remember", "The gateway listens on port 8443.", runs=1),
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extras", default="")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures = measured(given.extras, given.runs)
    lines = "\n".join(f"{name}: {value}" for name, value in figures.items())
    print(json.dumps(figures, indent=2) if given.json else lines)


if __name__ == "__main__":
    sys.exit(main())
