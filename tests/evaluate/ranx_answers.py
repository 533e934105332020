"""What ranx answers for 200 random rankings, so that the tests need not wait for numba to compile it.

ranx-answers.json was made by ranx 0.3.21. To make it anew, after a change of the rankings below:

    python -m venv /tmp/ranx && /tmp/ranx/bin/pip install ranx
    /tmp/ranx/bin/python tests/evaluate/ranx_answers.py
"""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("ranx-answers.json")
METRICS = ("ndcg@10", "recall@10", "mrr@10", "hit_rate@10")


def random_questions() -> tuple[dict[str, dict[str, int]], dict[str, list[str]]]:
    """The grades of what is right, and the ranking, of each question."""
    chance = random.Random(7)
    ids = [f"d{at}" for at in range(30)]
    gold = {
        f"q{at}": {id: chance.randint(1, 3) for id in chance.sample(ids, chance.randint(1, 14))} for at in range(200)
    }
    ranked = {query: chance.sample(ids, chance.randint(1, 30)) for query in gold}
    return gold, ranked


def digest() -> str:
    """Answers belong to these rankings and to no others."""
    return hashlib.sha256(json.dumps(random_questions()).encode()).hexdigest()


def answers() -> dict[str, dict[str, float]]:
    """By metric, the answer to each question."""
    kept = json.loads(PATH.read_text(encoding="utf-8"))
    assert kept["rankings"] == digest(), "the rankings have changed: run tests/evaluate/ranx_answers.py"
    return {
        metric: {query: values[at] for query, values in kept["answers"].items()} for at, metric in enumerate(METRICS)
    }


def main() -> None:
    from ranx import Qrels, Run, evaluate

    gold, ranked = random_questions()
    qrels = Qrels(gold)
    run = Run({query: {id: 1.0 / (rank + 1) for rank, id in enumerate(ids)} for query, ids in ranked.items()})
    found: dict[str, Any] = evaluate(qrels, run, list(METRICS), return_mean=False)
    rows = [
        f"{json.dumps(query)}: {json.dumps([float(found[metric][at]) for metric in METRICS])}"
        for at, query in enumerate(qrels.qrels)
    ]
    head = f'{{"rankings": "{digest()}",\n"metrics": {json.dumps(METRICS)},\n"answers": {{\n'
    PATH.write_text(head + ",\n".join(rows) + "\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
