"""What a result costs at each of the three layers, in tokens as delivered, over the sample and real conversations.

    RECALLENS_EVAL_DATA=… python bench/layers.py       the folder of the sets, or of one conversation set

The sizes are about 50, 150 and 500 tokens a result; the median must lie within a fifth of them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corpus import _lines, data_folder
from recallens import Draft, Engine
from recallens.cli import jsonl
from recallens.cli.given import Given
from recallens.model.context import INDEX_TOKENS, TIMELINE_TOKENS
from recallens.render.layers import index_entry
from recallens.render.records import detail_record
from recallens.text.token_count import count_tokens

SAMPLE = Path(__file__).parent.parent / "examples" / "memories.jsonl"
SET = "locomo-dev"
QUESTIONS = 150
ANCHORS = 60
DETAIL_TOKENS = 500
ENCODER = "hashing:384"  # what a result costs does not depend on what found it


def conversations() -> Path | None:
    folder = data_folder()
    if folder is None:
        return None
    for candidate in (folder / SET, folder):
        if (candidate / "units.jsonl.gz").is_file():
            return candidate
    return None


def load_sample(engine: Engine) -> list[str]:
    found = jsonl.read(str(SAMPLE), {})
    jsonl.load(engine, found, jsonl.LineNames(engine, found), given=Given(json=True), dedupe=None)
    return [line.draft.title or " ".join(line.draft.content.split()[:8]) for line in found.memories]


def load_conversations(engine: Engine, folder: Path) -> list[str]:
    drafts = [
        Draft(
            unit["text"], session=unit["group"], position=int(unit["position"]), author=unit["speaker"],
            created=int(datetime.fromisoformat(unit["at"]).replace(tzinfo=UTC).timestamp() * 1000),
        )
        for unit in sorted(_lines(folder / "units.jsonl.gz"), key=lambda unit: (unit["at"], unit["position"]))
    ]  # fmt: skip
    for _ in engine.memories.remember_many(drafts, dedupe=False):
        pass
    return [row["text"] for row in _lines(folder / "queries.jsonl.gz")]


def measure(engine: Engine, questions: list[str]) -> dict[str, dict[str, float]]:
    engine.encoder.drain()
    asked = questions[:: max(1, len(questions) // QUESTIONS)][:QUESTIONS]
    first, second, anchors = [], [], []
    for question in asked:
        results = engine.search(question, record=False).results
        first += [index_entry(result) for result in results]
        anchors += [result.memory.id for result in results[:1]]
    third: list[int] = []
    for anchor in list(dict.fromkeys(anchors))[:ANCHORS]:
        second += engine.layers.around(anchor)
        entries = [detail_record(entry) for entry in engine.layers.details(anchor).entries]
        third += [count_tokens(json.dumps(entry, ensure_ascii=False)) for entry in entries]
    return {
        "index": _figures((entry.tokens for entry in first), INDEX_TOKENS),
        "timeline": _figures((entry.tokens for entry in second), TIMELINE_TOKENS),
        "details": _figures(third, DETAIL_TOKENS),
    }


def _figures(tokens: Iterable[int], size: int) -> dict[str, float]:
    values = np.array(list(tokens))
    low, middle, high = np.percentile(values, (10, 50, 90))
    return {
        "results": len(values), "size": size, "p10": float(low), "median": float(middle), "p90": float(high),
        "mean": round(float(values.mean()), 1), "most": int(values.max()), "ofSize": round(float(middle / size), 2),
    }  # fmt: skip


def main() -> None:
    figures = {}
    folder = conversations()
    with tempfile.TemporaryDirectory() as place:
        with Engine.open(Path(place) / "sample.db", encoder=ENCODER) as engine:
            figures["sample"] = measure(engine, load_sample(engine))
        if folder is not None:
            with Engine.open(Path(place) / "conversations.db", encoder=ENCODER) as engine:
                figures[folder.name] = measure(engine, load_conversations(engine, folder))
    print(json.dumps(figures, indent=2))
    if os.environ.get("RECALLENS_EVAL_DATA") is None:
        print("RECALLENS_EVAL_DATA is not set: only the sample was measured")


if __name__ == "__main__":
    main()
