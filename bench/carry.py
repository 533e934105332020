"""Whether an export loses anything: export, import, export again, and the same questions asked of both stores.

    python bench/carry.py                     the sample, a vault, and 100,000 memories; exit 1 where anything differs
    python bench/carry.py --sizes 2000        a smaller store instead of the last
    python bench/carry.py --server postgresql://…/EMPTY --only      100,000 memories moved to a server and back

The bytes of the two exports must be equal, the audit chain must verify, and each of 200 questions must have the same
results in the same order with the same scores, to the last bit. Vectors are encoded anew by the import. Of a store
that is moved, `migrate` itself compares every row; the questions are asked of all three.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from corpus import questions, texts
from recallens import Draft, Engine
from recallens.config import load

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
QUESTIONS = 200
LIMIT = 10


def command(store: Path, *words: str) -> None:
    subprocess.run([sys.executable, "-m", "recallens", *words, "--store", str(store)], check=True, capture_output=True)


def sample(store: Path) -> None:
    for name in ("memories.jsonl", "tasks.jsonl"):
        command(store, "remember", "--jsonl", str(EXAMPLES / name))
    for question in ("How long do we cache tracking lookups now?", "나루물류요청한도", "E-AUTH-4012"):
        command(store, "search", question, "--session", "s-1")
    command(store, "relate", "m1", "m2", "CAUSED")
    command(store, "edit", "m130", "What m130 said, in other words")
    command(store, "forget", "m5", "--hard", "--yes")
    command(store, "token", "create", "--namespace", "default")
    command(store, "remember", "Of another namespace", "--namespace", "other")


def vault(store: Path) -> None:
    command(store, "vault", "add", str(EXAMPLES / "vault"), "--name", "harbor")
    command(store, "search", "How long do we cache tracking lookups now?")


def bulk(count: int, encoder: str) -> Callable[[Path], None]:
    def fill(store: Path) -> None:
        with opened(store, encoder) as engine:
            drafts = [
                Draft(text, session=f"s{at % 997}", tags=(f"t{at % 13}",)) for at, text in enumerate(texts(count))
            ]
            for _ in engine.memories.remember_many(drafts, dedupe=False):
                pass
            engine.encoder.drain()
            for question in questions(20):
                engine.search(question)

    return fill


def opened(store: Path | str, encoder: str | None = None) -> Engine:
    return Engine.open(settings=load({"store": str(store)} | ({"encoder": encoder} if encoder else {})))


def recalled(store: Path | str, asked: Sequence[str], now: int) -> list[list[tuple[str, float, float | None]]]:
    """Id, score and relevance of each result of each question, asked whole."""
    with opened(store) as engine:
        recalls = [engine.recall(engine.recalls.query(text, now=now, limit=LIMIT, cut=False)) for text in asked]
        return [[(row.memory.id, row.score, row.relevance) for row in recall.results] for recall in recalls]


def measure(name: str, fill: Callable[[Path], None], folder: Path) -> dict[str, Any]:
    first, second = folder / f"{name}.db", folder / f"{name}-again.db"
    out, again = folder / f"{name}.jsonl", folder / f"{name}-again.jsonl"
    fill(first)
    seconds = {}
    for what, store, words in (
        ("export", first, ("export", str(out), "--tokens")),
        ("import", second, ("import", str(out), "--tokens")),
        ("exportAgain", second, ("export", str(again), "--tokens")),
    ):
        began = time.perf_counter()
        command(store, *words)
        seconds[what] = round(time.perf_counter() - began, 1)
    now = int(time.time() * 1000)
    asked = questions(QUESTIONS)
    before, after = recalled(first, asked, now), recalled(second, asked, now)
    with opened(second) as engine:
        broken = [name for name, _ in engine.maintenance.namespaces() if engine.audit.verify(namespace=name).problems]
        problems = list(engine.maintenance.doctor().problems)
    return {
        "store": name,
        "lines": sum(1 for _ in out.open("rb")),
        "bytes": out.stat().st_size,
        "bytesEqual": _digest(out) == _digest(again),
        "recallsEqual": sum(mine == theirs for mine, theirs in zip(before, after, strict=True)),
        "recalls": len(asked),
        "rows": sum(map(len, before)),
        "chainsBroken": broken,
        "problems": problems,
        "seconds": seconds,
        "peakMegabytesOfACommand": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }


def moved(name: str, fill: Callable[[Path], None], folder: Path, server: str) -> dict[str, Any]:
    first, back = folder / f"{name}.db", folder / f"{name}-back.db"
    fill(first)
    seconds = {}
    for what, source, target in (("to the server", str(first), server), ("and back", server, str(back))):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "recallens", "migrate", "--from", source, "--to", target], check=True)
        seconds[what] = round(time.perf_counter() - began, 1)
    now, asked = int(time.time() * 1000), questions(QUESTIONS)
    own, *others = (recalled(store, asked, now) for store in (first, server, back))
    equal = [sum(mine == theirs for mine, theirs in zip(own, other, strict=True)) for other in others]
    return {
        "store": name, "recalls": len(asked), "rows": sum(map(len, own)), "equal": equal == [len(asked)] * 2,
        "recallsEqual": dict(zip(seconds, equal, strict=True)), "seconds": seconds,
    }  # fmt: skip


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000])
    parser.add_argument("--encoder", default="hashing:384", help="of the stores of these sizes")
    parser.add_argument("--only", action="store_true", help="leave out the sample and the vault")
    parser.add_argument("--folder", type=Path, help="where the stores are made; a temporary folder otherwise")
    parser.add_argument("--server", help="the address of an empty database: the stores are moved there and back")
    given = parser.parse_args()
    kinds: dict[str, Callable[[Path], None]] = {} if given.only else {"sample": sample, "vault": vault}
    kinds |= {f"{size}-memories": bulk(size, given.encoder) for size in given.sizes}
    sound = True
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for name, fill in kinds.items():
            if given.server is not None:
                figures = moved(name, fill, Path(folder), given.server)
                print(json.dumps(figures), flush=True)
                sound = sound and figures["equal"]
                continue
            figures = measure(name, fill, Path(folder))
            print(json.dumps(figures), flush=True)
            equal = figures["bytesEqual"] and figures["recallsEqual"] == figures["recalls"]
            sound = sound and equal and not figures["chainsBroken"] and not figures["problems"]
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
