"""The median time of a whole recall, this tree against another commit, turn by turn.

    python bench/turns.py --base COMMIT [--memories 100000] [--questions 300]

The other commit gets a worktree and an environment of its own, as bench/compare.py makes them, and fills a store once;
its vectors are kept as bench/search.py keeps them. Each side then opens its own copy of that store in a process of its
own, and both answer the same question one after the other, so what the machine does meanwhile falls on both. Which of
them comes first changes with every question. A ratio under 1 means that this tree is faster.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from compare import ROOT, WORKPLACE, environment_of, package_of, reach

HERE = Path(__file__).resolve().parent
MEMORIES = 100_000
QUESTIONS = 300
WARM_UP = 30
LIMIT = 10


# ── in either tree ──


def fill(package: str, store: Path, encoder: str, texts: Path) -> None:
    """By the bench/search.py of the tree that fills, which knows its own engine."""
    sys.path = [path for path in sys.path if Path(path).resolve() != HERE]
    product = importlib.import_module(package)
    assert product.__file__ is not None
    sys.path.append(str(Path(product.__file__).parents[2] / "bench"))
    search = importlib.import_module("search")
    cached = search.Cached(search.open_encoder(encoder), HERE / "cache")
    settings = search.load({"store": str(store), "encoder": encoder})
    with search.Engine.open(settings=settings, encoder=cached) as engine:
        search.ingest(engine, json.loads(texts.read_text(encoding="utf-8")))
        reach(engine, "encoder.drain", "drain")()
        if encoder == "minilm":  # the others are made as fast as they are read
            cached.save()
        reach(engine, "publish", "maintenance.publish", "encoder.publish")()


def serve(package: str, store: Path, encoder: str) -> None:
    """For each question on stdin, a line with the milliseconds of its recall and the ids that it gave."""
    with importlib.import_module(package).open(store, encoder=encoder) as engine:
        print(flush=True)  # it is open
        for line in sys.stdin:
            text = json.loads(line)
            started = time.perf_counter_ns()
            ids = [result.memory.id for result in engine.search(text, limit=LIMIT, record=False).results]
            took = time.perf_counter_ns() - started
            print(json.dumps([took / 1e6, ids]), flush=True)


# ── the driving side ──


class Side:
    """A process that answers from its own copy of the store."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._questions, self._answers = process.stdin, process.stdout

    def answer(self, text: str) -> tuple[float, list[str]]:
        self._questions.write(json.dumps(text) + "\n")
        self._questions.flush()
        return tuple(json.loads(self._line()))

    def wait_until_open(self) -> None:
        self._line()

    def _line(self) -> str:
        line = self._answers.readline()
        if not line:
            raise SystemExit("a side has ended; its error is above")
        return line


def command(tree: Path, python: Path | str, **options: object) -> tuple[list[str], dict[str, str]]:
    """This script in the environment of a tree, without the settings of whoever runs it."""
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    prefixes = ("RECALLENS_", f"{package_of(tree).upper()}_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    environment["PYTHONPATH"] = str(tree / "src")  # not that of the tree which drives
    return [str(python), __file__, "--package", package_of(tree), *words], environment


@contextmanager
def opened(tree: Path, python: Path | str, store: Path, encoder: str) -> Iterator[Side]:
    words, environment = command(tree, python, serve=store, encoder=encoder)
    with subprocess.Popen(
        words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        side = Side(process)
        side.wait_until_open()
        yield side
        assert process.stdin is not None
        process.stdin.close()


def filled(tree: Path, python: Path | str, folder: Path, encoder: str, texts: Sequence[str]) -> Path:
    """The store of these texts, made once. The stamp is written last, so a store that was cut short is made again."""
    store, stamp = folder / "store.db", folder / "filled"
    if not stamp.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        words, environment = command(tree, python, fill=store, encoder=encoder, texts=folder / "texts.json")
        subprocess.run(words, env=environment, check=True)
        stamp.touch()
    return store


def copied(store: Path, folder: Path) -> Path:
    """With its log and the images of its index."""
    folder.mkdir()
    for path in store.parent.glob(f"{store.name}*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)  # type: ignore[operator]
    return folder / store.name


def turns(other: Side, this: Side, questions: Sequence[str]) -> dict[str, Any]:
    times: list[tuple[float, float]] = []
    differing = 0
    for at, text in enumerate(questions):
        if at % 2:
            mine, theirs = this.answer(text), other.answer(text)
        else:
            theirs, mine = other.answer(text), this.answer(text)
        differing += mine[1] != theirs[1]
        times.append((theirs[0], mine[0]))
    before, after = (median(side) for side in zip(*times, strict=True))
    return {
        "otherMs": before,
        "thisMs": after,
        "ratioOfMedians": after / before,
        "medianOfRatios": median(mine / theirs for theirs, mine in times),
        "questions": len(times),
        "otherResults": differing,
    }


def compare(base: str, memories: int, questions: int, encoder: str) -> dict[str, Any]:
    from corpus import questions as chosen_questions
    from corpus import texts as chosen_texts

    revision = ["git", "rev-parse", f"{base}^{{commit}}"]
    commit = subprocess.run(revision, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    tree, python = environment_of(commit)
    kept = WORKPLACE / f"turns-{commit[:12]}-{memories}-{encoder.replace(':', '-')}"
    store = filled(tree, python, kept, encoder, [] if (kept / "filled").exists() else chosen_texts(memories))
    asked = chosen_questions(WARM_UP + questions)
    with tempfile.TemporaryDirectory(dir=WORKPLACE) as folder, ExitStack() as sides:
        other = sides.enter_context(opened(tree, python, copied(store, Path(folder) / "other"), encoder))
        this = sides.enter_context(opened(ROOT, sys.executable, copied(store, Path(folder) / "this"), encoder))
        turns(other, this, asked[:WARM_UP])
        return {"base": commit[:12], "memories": memories, **turns(other, this, asked[WARM_UP:])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD", help="the commit to be measured against")
    parser.add_argument("--memories", type=int, default=MEMORIES)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--json", action="store_true")
    for hidden in ("--package", "--fill", "--texts", "--serve"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fill:
        return fill(options.package, Path(options.fill), options.encoder, Path(options.texts))
    if options.serve:
        return serve(options.package, Path(options.serve), options.encoder)
    WORKPLACE.mkdir(exist_ok=True)
    figures = compare(options.base, options.memories, options.questions, options.encoder)
    if options.json:
        return print(json.dumps(figures, indent=2))
    print(f"{figures['memories']:,} memories, {figures['questions']} questions, p50 of a recall, turn by turn")
    print(f"{figures['base']} {figures['otherMs']:.2f} ms, this tree {figures['thisMs']:.2f} ms")
    print(f"ratio of the medians {figures['ratioOfMedians']:.3f}, median of the ratios {figures['medianOfRatios']:.3f}")
    return print(f"other results than {figures['base']}: {figures['otherResults']} questions")


if __name__ == "__main__":
    main()
