"""Whether the prompt hook points to the right memory, is silent where nothing helps, and how long a hook takes.

    python bench/hooks.py [--runs 20] [--json]

The golden questions and the off-topic questions of bench/silence.py are prompts, asked of the sample's vault. A
pointer is right where one of the three is of the file that the golden set names. The times are of the command as a
client runs it, a new process each: on the clock, and of its processor, which what else the machine does hardly touches.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recallens
from recallens.engine import Engine, hooks
from recallens.evaluate.expectations import expectations
from recallens.evaluate.golden import read_golden
from recallens.model.hook import HookEvent, HookInput
from silence import GOLDEN, VAULT, off_topic

RUNS = 20


def asked(engines: Mapping[bool, Engine], prompt: str) -> tuple[str, ...]:
    """As the command asks: without the encoder for other languages where the prompt is plain English."""
    told = HookInput("claude-code", session=None, folder="/home/ada/harbor", prompt=prompt)
    return hooks.given(engines[prompt.isascii()], HookEvent.PROMPT, told).memories


def pointed(engines: Mapping[bool, Engine]) -> float:
    golden = read_golden(GOLDEN)
    expected = expectations(engines[False], golden)
    right = 0
    for question in golden.questions:
        own = expected[question.id]
        memories = engines[False].memories.many(asked(engines, question.query))
        right += bool({own.key_of(memory) for memory in memories.values()} & {target.key for target in own.targets})
    return right / len(golden.questions)


def silent(engines: Mapping[bool, Engine]) -> float:
    prompts = off_topic()
    return sum(not asked(engines, prompt) for prompt in prompts) / len(prompts)


def timed(store: Path, prompts: list[str], name: str) -> dict[str, float]:
    taken, spent = [], []
    for prompt in prompts:
        told = json.dumps({"session_id": "bench", "cwd": "/home/ada/harbor", "prompt": prompt})
        command = [sys.executable, "-m", "recallens", "--store", str(store), "hook", "prompt"]
        begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, input=told, check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(time.perf_counter() - begun)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {f"{name}{of}P{share}": round(sorted(times)[min(int(len(times) * share / 100), len(times) - 1)], 3)
            for of, times in (("Clock", taken), ("Processor", spent)) for share in (50, 95)}  # fmt: skip


@contextmanager
def served(store: Path) -> Iterator[None]:
    """A server where the hook looks for one, which has answered once."""
    place = Path(f"{store}.sock")
    command = [sys.executable, "-m", "recallens", "--store", str(store), "serve", "--socket", str(place)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        while not place.exists():
            time.sleep(0.1)
        time.sleep(1.0)
        try:
            timed(store, ["how long are lookups cached"] * 2, "")
            yield
        finally:
            server.terminate()


@contextmanager
def sample() -> Iterator[tuple[Path, Mapping[bool, Engine]]]:
    """The sample's vault in a store, opened as the hook opens it: for plain English, and for other prompts."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        with recallens.open(store) as engine, recallens.open(store, encoder_second="none") as plain:
            engine.vaults.add(VAULT)
            engine.vaults.sync()
            engine.encoder.drain()
            yield store, {False: engine, True: plain}


def measured(runs: int) -> dict[str, Any]:
    prompts = [question.query for question in read_golden(GOLDEN).questions][:runs]
    with sample() as (store, engines):
        os.environ["XDG_DATA_HOME"] = str(store.parent)  # the log of the hooks
        figures = {"rightPointer": pointed(engines), "offTopicSilent": silent(engines)}
        figures |= timed(store, prompts, "cold")
        with served(store):
            return figures | timed(store, prompts, "served")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures = measured(given.runs)
    lines = "\n".join(f"{name}: {value}" for name, value in figures.items())
    print(json.dumps(figures, indent=2) if given.json else lines)


if __name__ == "__main__":
    main()
