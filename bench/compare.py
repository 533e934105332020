"""Hold the recalls of this tree to those of another commit: 250 questions under three presets, to the last bit.

    python bench/compare.py --base COMMIT [--data FOLDER]

The other commit is checked out into a worktree and installed into an environment of its own. Each side then runs this
script with `--record`, which fills its own stores and writes what every recall gave: ids, order, scores and the
snapshot. Left out of the comparison are names that changed on purpose, snapshot ids, digests and measured times.

What is asked stands in compare-questions.json. Questions from evaluation sets stand there by id and hash alone.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import importlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

with contextlib.suppress(ImportError):  # the other side, which only records, may not have them
    from recallens import config, renamed

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = Path(__file__).resolve().parent / "compare-questions.json"
WORKPLACE = ROOT / ".compare"
PRESETS = ("default", "fusion", "classic")
NOW = 1_789_000_000_000  # September 2026, after everything in the sample
CLOCK = 1_788_900_000_000
SHOWN = 160  # characters of a value that differs
# A snapshot differs in these whenever it is made: what was measured, and what is derived from it or from names.
UNCOMPARED = frozenset(("snapshotId", "digest", "latencyMs", "ms"))
# Each question takes the next of these, so that filters, times, budgets and situations are compared too.
VARIANTS: tuple[Mapping[str, Any], ...] = (
    {},
    {"limit": 3},
    {"limit": 30, "widen": True},
    {"as_of": 1_780_272_000_000},
    {"include_superseded": True, "certify": True},
    {"project": "harbor-api", "budget": 1200},
    {"kind": "decision"},
    {"hierarchical": True, "open_file": "src/harbor/cache.py", "commands": ["pytest tests/test_cache.py"]},
    {"files": ["src/harbor/cache.py"], "tokens": 400},
    {"mode": "keyword", "limit": 8},
    {"sector": "procedural", "min_salience": 0.1},
    {"intent": "known_issues", "alpha": 0.5, "beta": 0.5},
)


# ── the recording side: runs in either tree ──


class Ids:
    """Memory ids that repeat: the same on both sides, in the order in which they are asked for."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def __call__(self) -> str:
        return f"01M7C{next(self._numbers):021d}"


def reach(start: Any, *paths: str) -> Any:
    """The first of these attributes that there is: the two sides may call it by different names."""
    for path in paths:
        found = start
        for name in path.split("."):
            found = getattr(found, name, None)
        if found is not None:
            return found
    raise SystemExit(f"{start!r} has none of {', '.join(paths)}")


def opened(product: Any, store: Path, **options: Any) -> Any:
    return product.open(store, encoder="minilm", clock=lambda: CLOCK, ids=Ids(), **options)


def units_of(folder: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(folder / "units.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from sorted((json.loads(line) for line in lines), key=lambda unit: unit["id"])


def questions_of(folder: Path) -> dict[str, str]:
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {one["id"]: one["text"] for one in map(json.loads, lines)}


def fill_set(product: Any, store: Path, folder: Path) -> Any:
    engine = opened(product, store)
    drafts = (
        product.Draft(
            unit["text"], title=unit["title"], source_id=unit["id"], session=unit["group"], position=unit["position"],
            author=unit["speaker"], created=CLOCK - 86_400_000 * (at % 200),
        )
        for at, unit in enumerate(units_of(folder))
    )  # fmt: skip
    for _ in reach(engine, "memories.remember_many", "remember_many")(drafts, dedupe=False):
        pass
    reach(engine, "encoder.drain", "drain")()
    return engine


def fill_vault(product: Any, store: Path) -> Any:
    engine = opened(product, store)
    reach(engine, "vaults.add", "vault_add")(ROOT / "examples" / "vault", "harbor")
    reach(engine, "vaults.sync", "vault_sync")("harbor")
    reach(engine, "encoder.drain", "drain")()
    return engine


def record(package: str, target: Path, sample: Path, data: Path) -> None:
    """What every recall of this tree gives, as JSON lines."""
    product = importlib.import_module(package)
    render = importlib.import_module(f"{package}.render").render
    wanted = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as place, target.open("w", encoding="utf-8") as lines:
        for part, held in wanted.items():
            started = time.perf_counter()
            store = Path(place) / f"{part}.db"
            if part == "sample":
                shutil.copy(sample, store)  # made by the other commit, so this also opens an old store
                engine, texts = opened(product, store), held
            elif part == "vault":
                engine, texts = fill_vault(product, store), held
            else:
                engine = fill_set(product, store, data / part)
                known = questions_of(data / part)
                texts = [_unchanged(known[id], digest) for id, digest in held.items()]
            for at, text in enumerate(texts):
                options = VARIANTS[at % len(VARIANTS)] if part in ("sample", "vault") else VARIANTS[at % 3]
                for preset in PRESETS:
                    recall = engine.search(text, preset=preset, now=NOW, record=False, **options)
                    snapshot = reach(engine, "recalls.snapshot_of", "snapshot_of")(recall)
                    line = {
                        "set": part,
                        "question": at,
                        "preset": preset,
                        "ids": [result.memory.id for result in recall.results],
                        "scores": [result.score.hex() for result in recall.results],
                        "parts": [
                            {name: value.hex() for name, value in result.parts.items()} for result in recall.results
                        ],
                        "snapshot": json.loads(render(snapshot, "json")),
                    }
                    lines.write(json.dumps(line, ensure_ascii=False) + "\n")
            engine.close()
            print(f"{package}: {part} in {time.perf_counter() - started:.0f} s", flush=True)


def _unchanged(text: str, digest: str) -> str:
    if digest_of(text) != digest:
        raise SystemExit("the evaluation data is not what the questions were taken from")
    return text


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ── the driving side ──


def environment_of(commit: str) -> tuple[Path, Path]:
    """A worktree of the commit and the Python of an environment that has it installed, made once a commit."""
    tree = WORKPLACE / commit[:12]
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(tree), commit], cwd=ROOT, check=True)
    subprocess.run(["make", "--silent", ".venv/.ready"], cwd=tree, check=True)
    return tree, tree / ".venv" / "bin" / "python"


def package_of(tree: Path) -> str:
    return next(folder.name for folder in (tree / "src").iterdir() if (folder / "__init__.py").is_file())


def make_sample(python: Path, tree: Path, store: Path) -> None:
    """The sample as the other commit's command stores it."""
    for lines in ("memories.jsonl", "tasks.jsonl"):
        command = [python, "-m", package_of(tree), "--store", store, "remember", "--jsonl", ROOT / "examples" / lines]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, env=_clean())


def _clean() -> dict[str, str]:
    """No settings of whoever runs this, under either name."""
    prefixes = (config.PREFIX, renamed.PREFIX)
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


def run_side(tree: Path, python: Path | str, target: Path, sample: Path, data: Path) -> subprocess.Popen[bytes]:
    options = {"package": package_of(tree), "record": target, "sample": sample, "data": data}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return subprocess.Popen([str(python), __file__, *words], env=_clean())


def differences(before: Path, after: Path) -> Iterator[str]:
    with before.open(encoding="utf-8") as old, after.open(encoding="utf-8") as new:
        for was, now in itertools.zip_longest(old, new):
            if was == now:
                continue
            if was is None or now is None:
                yield "one side has more recalls than the other"
                return
            a, b = comparable(json.loads(was)), comparable(json.loads(now))
            where = f"{a['set']} question {a['question']} under {a['preset']}"
            for path, left, right in itertools.islice(leaves_that_differ(a, b), 3):
                yield f"{where}: {path}: {shortened(left)} is now {shortened(right)}"


def shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def comparable(value: Any) -> Any:
    """A record without what may differ, in the names of today."""
    if isinstance(value, dict):
        return {_renamed(name): comparable(held) for name, held in value.items() if name not in UNCOMPARED}
    if isinstance(value, list):
        return [comparable(held) for held in value]
    return _renamed(value) if isinstance(value, str) else value


def _renamed(text: str) -> str:
    for before, after in renamed.NAMES.items():
        text = text.replace(before, after)
    return text


def leaves_that_differ(a: Any, b: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for name in [*a, *(name for name in b if name not in a)]:
            yield from leaves_that_differ(a.get(name), b.get(name), f"{path}.{name}" if path else name)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for at, (left, right) in enumerate(zip(a, b, strict=True)):
            yield from leaves_that_differ(left, right, f"{path}[{at}]")
    elif a != b:
        yield path, a, b


def compare(base: str, data: Path) -> int:
    commit = subprocess.run(
        ["git", "rev-parse", f"{base}^{{commit}}"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    tree, python = environment_of(commit)
    sample, before, after = (WORKPLACE / f"{commit[:12]}{end}" for end in (".db", ".jsonl", "-now.jsonl"))
    if not sample.exists():
        make_sample(python, tree, sample)
    sides = []
    stamp = WORKPLACE / f"{commit[:12]}.stamp"
    signature = hashlib.sha256(Path(__file__).read_bytes() + QUESTIONS.read_bytes()).hexdigest()
    if not before.exists() or not stamp.exists() or stamp.read_text() != signature:
        sides.append(run_side(tree, python, before, sample, data))
    sides.append(run_side(ROOT, sys.executable, after, sample, data))
    if any(side.wait() for side in sides):
        return 1
    stamp.write_text(signature)
    total = sum(1 for _ in before.open(encoding="utf-8"))
    found = list(differences(before, after))
    for line in found[:40]:
        print(line)
    print(f"{total} recalls compared with {commit[:12]}: {'all equal' if not found else f'{len(found)} differences'}")
    return 1 if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD", help="the commit to be held to")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("RECALLENS_EVAL_DATA", ROOT.parent / "shared" / "data"))
    )
    parser.add_argument("--package", help=argparse.SUPPRESS)
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--sample", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.record is not None:
        record(given.package, given.record, given.sample, given.data)
        return 0
    if given.data is None:
        parser.error("name the folder of the evaluation sets with --data or RECALLENS_EVAL_DATA")
    WORKPLACE.mkdir(exist_ok=True)
    return compare(given.base, given.data)


if __name__ == "__main__":
    sys.exit(main())
