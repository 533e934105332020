"""Whether the product knows when to be silent: off-topic questions and golden questions, asked of the sample.

    python bench/silence.py [--json]

The 100 questions of bench/questions/off-topic.txt (50 of them Korean) are about nothing that the sample holds: silence
is right. The golden questions of the sample's vault all have an answer. Beside them stands what the cut delivers
against the specification's literal count: how much of it is right, and how much of what is right is left.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import recallens
from recallens.engine import Engine
from recallens.evaluate.expectations import expectations
from recallens.evaluate.golden import read_golden
from recallens.evaluate.metrics import delivery
from recallens.evaluate.runs import Delivered

ROOT = Path(__file__).parent.parent
OFF_TOPIC = ROOT / "bench" / "questions" / "off-topic.txt"
GOLDEN = ROOT / "examples" / "vault-golden.yaml"
VAULT = ROOT / "examples" / "vault"


def off_topic() -> list[str]:
    return OFF_TOPIC.read_text(encoding="utf-8").split("\n")[:-1]


def silent(engine: Engine, questions: list[str]) -> float:
    asked = [engine.recall(engine.recalls.query(question)) for question in questions]
    return sum(not recall.results for recall in asked) / len(asked)


def delivered(engine: Engine, *, cut: bool) -> dict[str, float]:
    """By file, as the golden set names them."""
    golden = read_golden(GOLDEN)
    expected = expectations(engine, golden)
    found = []
    for question in golden.questions:
        own = expected[question.id]
        recall = engine.recall(engine.recalls.query(question.query, cut=cut))
        keys = {own.key_of(result.memory) for result in recall.results}
        right = {target.key for target in own.targets}
        found.append(Delivered(len(keys), len(keys & right), len(right)))
    return delivery(found)


def measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, recallens.open(Path(folder) / "store.db") as engine:
        engine.vaults.add(VAULT)
        engine.vaults.sync()
        engine.encoder.drain()
        literal, cut = delivered(engine, cut=False), delivered(engine, cut=True)
        questions = off_topic()
        return {
            "offTopicSilent": silent(engine, questions),
            "koreanSilent": silent(engine, [text for text in questions if not text.isascii()]),
            "goldenAnswered": 1.0 - cut["silent"], "literal": literal, "delivered": cut,
            "precisionRatio": cut["precision"] / literal["precision"],
            "recallLeft": cut["recall"] / literal["recall"],
        }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    figures = measured()
    if parser.parse_args().json:
        return print(json.dumps(figures, indent=2))
    for name, value in figures.items():
        print(f"{name}: {value if isinstance(value, dict) else round(value, 3)}")
    return None


if __name__ == "__main__":
    main()
