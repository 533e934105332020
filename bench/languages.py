"""Whether a question in one language finds the memory in the other: 60 pairs, each asked both ways, of a mixed store.

    python bench/languages.py [--encoder-second none] [--half develop|apart|both] [--show] [--json]

A line of bench/questions/languages.tsv is a memory in English and in Korean, and a question for it in both. Of the
two stores, one holds the English memory of every other line and the Korean one of the rest, the other the opposite;
both hold the memories of bench/answers.py besides, half of them Korean. So each pair is asked in English for the Korean
memory and in Korean for the English one. What was tuned was tuned on every other pair (develop).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import recallens
from answers import NOW, lines
from recallens import Draft
from recallens.engine import Engine

PAIRS = Path(__file__).parent / "questions" / "languages.tsv"
HALVES = ("develop", "apart")
ENGLISH, KOREAN = range(2)


class Pair(NamedTuple):
    memories: tuple[str, str]  # in English, in Korean
    questions: tuple[str, str]
    half: str


def pairs() -> list[Pair]:
    rows = [row.split("\t") for row in PAIRS.read_text(encoding="utf-8").splitlines()]
    return [Pair((row[0], row[1]), (row[2], row[3]), HALVES[at // 2 % 2]) for at, row in enumerate(rows)]


def filled(engine: Engine, texts: list[str]) -> None:
    for text in [*texts, *(line.memory for line in lines() if line.memory)]:
        engine.remember(Draft(text, created=NOW), dedupe=False)
    engine.encoder.begin("default")
    engine.encoder.drain()


def asked(engine: Engine, question: str, memory: str) -> dict[str, Any]:
    ranked = engine.recall(engine.recalls.query(question, limit=10, now=NOW, cut=False)).results
    delivered = engine.recall(engine.recalls.query(question, now=NOW)).results
    places = [at for at, result in enumerate(ranked, start=1) if result.memory.content == memory]
    return {
        "question": question, "memory": memory, "place": places[0] if places else None,
        "delivered": any(result.memory.content == memory for result in delivered), "results": len(delivered),
        "first": ranked[0].memory.content if ranked else None,
    }  # fmt: skip


def measured(second: str = "multilingual") -> list[dict[str, Any]]:
    found = []
    for swapped in (False, True):
        held = [(at % 2 == 0) is swapped for at in range(len(pairs()))]  # whether the memory is Korean
        with (
            tempfile.TemporaryDirectory() as folder,
            recallens.open(Path(folder) / "store.db", encoder_second=second) as engine,
        ):
            filled(engine, [pair.memories[korean] for pair, korean in zip(pairs(), held, strict=True)])
            for pair, korean in zip(pairs(), held, strict=True):
                for language in (ENGLISH, KOREAN):
                    told = asked(engine, pair.questions[language], pair.memories[korean])
                    way = f"{('en', 'ko')[language]} → {('en', 'ko')[korean]}"
                    found.append({"way": way, "half": pair.half, **told})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder-second", default="multilingual")
    parser.add_argument("--half", choices=(*HALVES, "both"), default="both")
    parser.add_argument("--show", action="store_true", help="the pairs whose memory is not first")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = [each for each in measured(given.encoder_second) if given.half in (each["half"], "both")]
    summary = {}
    for way in sorted({each["way"] for each in found}):
        own = [each for each in found if each["way"] == way]
        summary[way] = {
            "questions": len(own), "first": sum(each["place"] == 1 for each in own) / len(own),
            "in ten": sum(each["place"] is not None for each in own) / len(own),
            "delivered": sum(each["delivered"] for each in own) / len(own),
            "results": sum(each["results"] for each in own) / len(own),
        }  # fmt: skip
    if given.json:
        print(json.dumps(summary, ensure_ascii=False))
        return
    for way, figures in summary.items():
        print(way, "  ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    for each in found if given.show else ():
        if each["place"] != 1:
            print(f"{each['way']} [{each['place']}] {each['question']} | {each['memory']} | {each['first']}")


if __name__ == "__main__":
    main()
