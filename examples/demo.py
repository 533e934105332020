"""What `make demo` runs: the real command, on the sample, with each step shown as you would type it."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SAMPLE = HERE / "memories.jsonl"
TASKS = HERE / "tasks.jsonl"
VAULT = HERE / "vault"

Step = tuple[str, tuple[str, ...]]

STEPS: tuple[Step, ...] = (
    (
        "Five months of a team's memories: decisions, incidents, runbooks, gotchas, in English and Korean.",
        ("remember", "--jsonl", str(SAMPLE)),
    ),
    (
        "What was tried, how it went, and what was learned from it: tasks with rewards, a skill, gotchas.",
        ("remember", "--jsonl", str(TASKS)),
    ),
    (
        "A folder of markdown becomes memory too: 76 notes, cut at their headings, with their links.",
        ("vault", "add", str(VAULT), "--name", "harbor"),
    ),
    (
        "A question in other words than the answer. Two older answers were superseded, so they stay out.",
        ("search", "How long do we cache tracking lookups now?", "-k", "3"),
    ),
    (
        "The same question about the past: what did the team believe on 1 May?",
        ("search", "How long do we cache tracking lookups now?", "-k", "1", "--as-of", "2026-05-01"),
    ),
    (
        "Korean, without a space and without the particle that the memory has.",
        ("search", "나루물류요청한도", "-k", "2"),
    ),
    (
        "An exact error code beats everything that merely resembles it.",
        ("search", "E-AUTH-4012", "-k", "2"),
    ),
    (
        "In other words: the memory speaks of vans at the gate of a depot.",
        ("search", "When do trucks wait longest to enter the warehouse?", "-k", "1"),
    ),
    (
        "Nothing is better than something that merely resembles it.",
        ("search", "Who waters the plants in the office?"),
    ),
    (
        "As an agent asks: a line a result, and a certificate that names the half of the question nothing answers.",
        (
            "search",
            "How do we flush the tracking cache and who orders the office plants?",
            "--brief",
            "--max-tokens",
            "180",
        ),
    ),
    (
        "The block an agent gets for a task, within a budget, and what more tokens would bring.",
        ("context", "flush the tracking cache for one customer", "--tokens", "500"),
    ),
    (
        "How an agent gets to it: this is what would be written into the client's configuration, and nothing is.",
        ("install", "--client", "claude-code", "--dry-run"),
    ),
    (
        "The X-ray of a recall: why each result came, what the filters took away, the near misses.",
        ("xray", "How long do we cache tracking lookups now?", "-k", "2"),
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True)
    store: Path = parser.parse_args().store
    shutil.rmtree(store.parent, ignore_errors=True)
    for about, words in STEPS:
        print(f"\n\033[1m# {about}\033[0m" if sys.stdout.isatty() else f"\n# {about}", flush=True)
        print("$ recallens", *(f'"{word}"' if " " in word else _short(word) for word in words), flush=True)
        command = [sys.executable, "-m", "recallens", "--store", str(store), *words]
        finished = subprocess.run(command, check=False)
        if finished.returncode:
            return finished.returncode
    ours = f".venv/bin/recallens --store {store}"
    print(f"""
The store is {store}. Try your own:
  {ours} search "…"
  {ours} serve --open    # the same to look at, in a browser""")
    return 0


def _short(word: str) -> str:
    return str(Path(word).relative_to(HERE.parent)) if word in (str(SAMPLE), str(TASKS), str(VAULT)) else word


if __name__ == "__main__":
    sys.exit(main())
