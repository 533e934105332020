"""Whether the certificate tells the truth: questions with an answer, with look-alikes of one, and without any.

    python bench/answers.py [--half develop|apart|both] [--store answers|stranger-one|stranger-two] [--show] [--json]

The store holds the memories of bench/questions/answers.tsv, half of them Korean. A question with an answer (A) counts
as denied where its memory is delivered and the certificate calls something missing; a look-alike (U), whose words the
store holds and whose answer it does not, counts as believed where the certificate calls nothing missing; an off-topic
question (O) should be met with silence. Each kind was split in two before any was asked: rules are made on one half,
and held to account on the other. The other two stores were written by somebody who had not seen the product; of the
second, only counts were looked at.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import recallens
from recallens import Draft
from recallens.engine import Engine

QUESTIONS = Path(__file__).parent / "questions"
STORES = ("answers", "stranger-one", "stranger-two")
HALVES = ("develop", "apart")
NOW = 1_794_787_200_000


class Line(NamedTuple):
    kind: str
    question: str
    memory: str = ""
    half: str = ""


def lines(store: str = STORES[0]) -> list[Line]:
    read = [Line(*row.split("\t")) for row in (QUESTIONS / f"{store}.tsv").read_text(encoding="utf-8").splitlines()]
    split = []
    for kind in dict.fromkeys(line.kind for line in read):
        of_kind = [line for line in read if line.kind == kind]
        random.Random(15).shuffle(of_kind)
        split += [line._replace(half=HALVES[at % 2]) for at, line in enumerate(of_kind)]
    return split


def filled(engine: Engine, store: str = STORES[0]) -> None:
    for line in lines(store):
        if line.memory:
            engine.remember(Draft(line.memory, created=NOW))
    engine.encoder.drain()


def asked(engine: Engine, line: Line) -> dict[str, Any]:
    answer = engine.layers.search(line.question, record=False, now=NOW)
    results, certificate = answer.recall.results, answer.certificate or {}
    return {
        "delivered": any(result.memory.content == line.memory for result in results),
        "firstIsRight": bool(results) and results[0].memory.content == line.memory,
        "silent": not results, "results": len(results), "missing": certificate.get("missing", []),
        "complete": certificate.get("completenessScore"), "suggests": "suggestion" in certificate,
        "relevance": results[0].relevance if results else getattr(answer.recall.silence, "relevance", 0.0),
        "first": results[0].memory.content if results else "",
    }  # fmt: skip


def figures(engine: Engine, asking: list[Line], *, show: bool) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for line in asking:
        got = asked(engine, line)
        told = {
            "A": {"delivered": got["delivered"], "first": got["firstIsRight"],
                  "denied": got["delivered"] and bool(got["missing"]),
                  "refused": got["delivered"] and got["suggests"], "results": got["results"]},
            "U": {"silent": got["silent"], "believed": not got["silent"] and not got["missing"]},
            "O": {"silent": got["silent"]},
        }[line.kind]  # fmt: skip
        wrong = not told["delivered"] or told["denied"] if line.kind == "A" else not told["silent"]
        if show and wrong:
            print(line.kind, line.question, {name: got[name] for name in got if name != "silent"}, sep=" | ")
        for name, value in {"asked": 1, **told}.items():
            counts[f"{line.kind}.{name}"] = counts.get(f"{line.kind}.{name}", 0) + int(value)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--store", choices=STORES, default=STORES[0])
    parser.add_argument("--show", action="store_true", help="each that is wrong")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    asking = [line for line in lines(options.store) if line.question and options.half in (line.half, "both")]
    with tempfile.TemporaryDirectory() as folder, recallens.open(Path(folder) / "store.db") as engine:
        filled(engine, options.store)
        counts = figures(engine, asking, show=options.show)
    print(json.dumps(counts, indent=2) if options.json else "\n".join(f"{name}: {n}" for name, n in counts.items()))


if __name__ == "__main__":
    main()
