"""Recallens beside what people would pick instead, on the same texts, vectors and questions, in one run.

    python bench/peers.py --folder /tmp/peers                     10,000 memories and two judged sets
    python bench/peers.py --folder /tmp/peers --sizes 10000 100000 1000000
    python bench/peers.py --folder /tmp/peers --sizes 1000000 --sets --peers recallens lancedb tantivy
    python bench/peers.py --folder /tmp/peers --sizes 1000000 --sets --peers recallens-composed      to search alone

The data, the packages and the figures stay in the folder: a run goes on where another stopped, and the tables are of
all that is there. `--again` measures anew what is asked for. Every peer has its own packages (put there by pip where
they are not yet), a process that fills its store and another that searches it, which holds the questions and nothing
else of the benchmark. None encodes anything: all are given one set of vectors (`peer_data.py`), and no network. What
could not be installed, failed or took too long is said in its row.

The process that searches 10,000 memories and more has the packaged encoder loaded where it is Recallens': its memory
is that of a process which could answer a question of a user's. The others' is without any.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from peer_data import LIMIT, SETS, WARM_UP, Asked, Data, made, yardstick
from peer_engines import PEERS, Searches
from peer_report import COMPOSED, OWN, plot, quality_table, size_table

SIZES = (10_000,)
# A peer that has not taken the texts and answered by then is shown as such.
LONGEST_SECONDS = 2_400
HERE = Path(__file__).resolve()


# ── one process each ──


def processor_seconds() -> float:
    """Of this process and of those that it started and saw end."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def memory_mib(field: str) -> float:
    """VmHWM is the most that this process held; getrusage would also tell of the one that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def filled(name: str, data: Data, place: Path) -> dict[str, Any]:
    _import(name)
    wall, processor = time.perf_counter(), processor_seconds()
    PEERS[name].fill(data, place)
    took, spent = time.perf_counter() - wall, processor_seconds() - processor
    count = len(data.texts)
    return {
        "ingest": count / took, "ingestProcessor": count / spent, "fillMiB": memory_mib("VmHWM"),
        "load": os.getloadavg()[0],
    }  # fmt: skip


def searched(name: str, asked: Asked, place: Path) -> dict[str, Any]:
    _import(name)
    if name in OWN and not asked.judged:
        from recallens.index.encoders.registry import open_encoder

        encoder = open_encoder("minilm")
        assert encoder is not None
        encoder.encode_query(asked.texts[0])
    before = memory_mib("VmHWM")
    wall, processor = time.perf_counter(), processor_seconds()
    searches = PEERS[name].search(place, asked)
    next(iter(searches.values()))(asked.texts[0], asked.vectors[0])
    opened = {"openSeconds": time.perf_counter() - wall, "openProcessor": processor_seconds() - processor}
    figures = {**opened, "searches": judged(searches, asked) if asked.judged else timed(searches, asked)}
    memory = {"memoryMiB": memory_mib("VmHWM"), "anonymousMiB": memory_mib("RssAnon"), "beforeMiB": before}
    return {**figures, **memory, "searchLoad": os.getloadavg()[0]}


def _import(name: str) -> None:
    paths = list(sys.path)
    for module in PEERS[name].modules:
        importlib.import_module(module)
        sys.path[:] = paths  # mempalace takes everything away that PYTHONPATH added


def timed(searches: Searches, asked: Asked) -> dict[str, dict[str, float]]:
    """Turn by turn, so that a busy minute falls on all; which comes first changes with every question."""
    waits, spent, hits = ({kind: list[float]() for kind in searches} for _ in range(3))
    kinds = list(searches)
    for at, (question, vector) in enumerate(zip(asked.texts, asked.vectors, strict=True)):
        for kind in (*kinds[at % len(kinds) :], *kinds[: at % len(kinds)]):
            wall, processor = time.perf_counter(), time.process_time()
            found = searches[kind](question, vector)
            if at >= WARM_UP:
                waits[kind].append(1e3 * (time.perf_counter() - wall))
                spent[kind].append(1e3 * (time.process_time() - processor))
                hits[kind].append(len(asked.gold[at].keys() & set(map(str, found))) / LIMIT)
    return {
        kind: {
            "p50": float(np.median(waits[kind])),
            "p95": float(np.percentile(waits[kind], 95)),
            "processor": float(np.median(spent[kind])),
            **({"recall": float(np.mean(hits[kind]))} if kind == "vector" else {}),
        }
        for kind in kinds
    }


def judged(searches: Searches, asked: Asked) -> dict[str, dict[str, float]]:
    from recallens.evaluate.metrics import measured

    metrics = ("ndcg@10", "recall@10")
    scores = {
        kind: [
            measured(metrics, list(map(str, search(question, vector))), gold)
            for question, vector, gold in zip(asked.texts, asked.vectors, asked.gold, strict=True)
        ]
        for kind, search in searches.items()
    }
    return {
        kind: {metric: float(np.mean([score[metric] for score in own])) for metric in metrics}
        for kind, own in scores.items()
    }


# ── all of them ──


class Run:
    """One folder: `data`, `packages`, `stores` while they are needed, and a file of figures for each task and peer."""

    def __init__(self, folder: Path, packages: Path | None) -> None:
        self.folder, self.packages = folder, packages or folder / "packages"

    def figures(self, task: str, name: str) -> Path:
        return self.folder / "figures" / task / f"{name}.json"

    def known(self, task: str) -> dict[str, Any]:
        paths = {name: self.figures(task, name) for name in PEERS}
        return {name: json.loads(path.read_text()) for name, path in paths.items() if path.exists()}

    def measure(self, task: str, name: str) -> None:
        """What is not there yet: the store is kept until it was searched. A failure is tried again by the next run."""
        figures = self.figures(task, name)
        row = json.loads(figures.read_text()) if figures.exists() else {}
        if "searches" in row or row.get("final"):
            return
        data, store = made(self.folder, task), self.folder / "stores" / f"{task}-{name}"
        if not (self._installed(name) and store.exists() and "ingest" in row):
            shutil.rmtree(store, ignore_errors=True)
            row = {}
        try:
            if not self._installed(name):
                raise Failure("could not be installed", final=False)
            if not row:
                store.mkdir(parents=True)
                row = {"commit": commit(), "size": None if task in SETS else int(task)}
                row |= self._apart("fill", task, name, LONGEST_SECONDS)
                row["diskMiB"] = sum(path.stat().st_size for path in store.rglob("*") if path.is_file()) / 2**20
                row["yardstickMiB"] = yardstick(data) / 2**20
                _write(figures, row)
            left = LONGEST_SECONDS - (row["size"] or 0) / row["ingest"]
            row |= self._apart("search", task, name, left)
        except Failure as failure:
            row = {"commit": commit(), "failure": str(failure), "final": failure.final}
        _write(figures, row)
        print(task, name, json.dumps(row), file=sys.stderr, flush=True)
        shutil.rmtree(store, ignore_errors=True)

    def _installed(self, name: str) -> bool:
        place, wanted = self._packages(name), PEERS[name].packages
        if wanted and not place.exists():
            partial = place.with_name(f".{place.name}")
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(partial), *wanted]
            if subprocess.run(command, check=False).returncode:
                return False
            partial.rename(place)
        return True

    def _packages(self, name: str) -> Path:
        return self.packages / (PEERS[name].packages_of or name)

    def _apart(self, step: str, task: str, name: str, seconds: float) -> dict[str, Any]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        paths = [str(self._packages(name))] if PEERS[name].packages else []
        nowhere = "http://127.0.0.1:9"
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(HERE.parent.parent / "src")]), "HOME": str(home),
            "HF_HUB_OFFLINE": "1", "MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False",
            "HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere, "ALL_PROXY": nowhere,
        }  # fmt: skip
        command = [sys.executable, str(HERE), "--step", step, "--peers", name, "--task", task]
        command += ["--folder", str(self.folder)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, start_new_session=True) as process:
            try:
                told, _ = process.communicate(timeout=max(seconds, 1))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                taken = f"{int(self.progress(task, name).read_text()):,} texts taken" if step == "fill" else "filled"
                raise Failure(f"not done after {LONGEST_SECONDS // 60} minutes ({taken})", final=True) from None
        if process.returncode:
            raise Failure(f"failed to {step}", final=False)
        return dict(json.loads(told.splitlines()[-1]))

    def progress(self, task: str, name: str) -> Path:
        return self.folder / "stores" / f"{task}-{name}.taken"

    def step(self, step: str, task: str, name: str) -> dict[str, Any]:
        data, store = self.folder / "data" / task, self.folder / "stores" / f"{task}-{name}"
        if step == "fill":
            return filled(name, Data.read(data, self.progress(task, name)), store)
        return searched(name, Asked.read(data), store)


class Failure(Exception):
    def __init__(self, reason: str, *, final: bool) -> None:
        super().__init__(reason)
        self.final = final


def _write(path: Path, row: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(row, indent=1) + "\n")


def commit() -> str:
    command = ["git", "-C", str(HERE.parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    usual = [name for name in PEERS if name != COMPOSED]
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=usual)
    parser.add_argument("--folder", type=Path, help="where everything is kept (a temporary folder)")
    parser.add_argument("--install", type=Path, help="where the packages are kept, if not in that folder")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured")
    parser.add_argument("--json", type=Path, help="write all figures here too")
    parser.add_argument("--plot", type=Path, help="write a plot of the searches' times by size here, as SVG")
    parser.add_argument("--step", choices=("fill", "search"), help=argparse.SUPPRESS)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        run = Run((chosen.folder or Path(temporary)).resolve(), chosen.install and chosen.install.resolve())
        if chosen.step is not None:
            print("\n" + json.dumps(run.step(chosen.step, chosen.task, chosen.peers[0])))
            return
        for task in (*chosen.sets, *map(str, chosen.sizes)):
            for name in chosen.peers:
                if chosen.again:
                    run.figures(task, name).unlink(missing_ok=True)
                run.measure(task, name)
        report(run, chosen.json, chosen.plot)


def report(run: Run, json_path: Path | None, plot_path: Path | None) -> None:
    """Of everything that the folder holds figures of."""
    tasks = {path.name: run.known(path.name) for path in (run.folder / "figures").iterdir()}
    sets = {task: tasks[task] for task in SETS if task in tasks}
    sizes = {int(task): tasks[task] for task in sorted(tasks.keys() - sets.keys(), key=int)}
    for size, rows in sizes.items():
        print(f"{size:,} memories\n\n{size_table(rows)}\n")
    if sets:
        print(f"nDCG@10\n\n{quality_table(sets)}")
    if json_path is not None:
        json_path.write_text(json.dumps(tasks, indent=1) + "\n")
    if plot_path is not None:
        plot_path.write_text(plot(sizes))


if __name__ == "__main__":
    main()
