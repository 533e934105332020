"""What reading other languages, sentences, documents and talks adds to a question at 100,000 memories, stage by stage.

    RECALLENS_EVAL_DATA=… python bench/added.py [--size 100000] [--parts 6000]
    OPENBLAS_NUM_THREADS=1 … python bench/added.py --processor      where others use the machine too

Two stores of the same texts, put together as `growing.py` does, with vectors of both packaged encoders: one with a
vector for each memory, one with a vector for each of its sentences too. The times are those that the ledger of each
recall has of its own decisions; what a vector takes in the store is said as well.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from time import process_time_ns

import numpy as np

from corpus import questions
from growing import BLOCK, Parts, _encoded, grow
from recallens import Engine
from recallens.index.encoders.protocol import unit_rows
from recallens.index.vectors import to_blob
from recallens.recall import runner
from recallens.text.languages import grammar_of

ASKED, WARM = 280, 20
# What a decision belongs to, by the name of its view, its term or its stage.
PARTS_OF = {
    "second encoder": ("gather:multilingual",),
    "words in translation": ("gather:translation", "translation"),
    "documents": ("sections", "path", "fileName", "identifiers", "length"),
    "mentioned titles": ("mentioned",),
    "talks and chats": ("talk", "chat", "wordsHeld", "turnBefore", "timeTold", "ownStory"),
    "statements": ("statement",),
    "a second look": ("rerank",),
}


def fill(store: Path, size: int, parts: Parts, *, sentences: bool) -> None:
    grow(store, size, parts)
    second = _encoded([row.memory.content for row in parts.rows], "multilingual")
    with Engine.open(store, encoder=parts.encoder) as engine:
        core = engine.core
        first_key, second_key = core.encoding.key, core.second_key
        assert first_key is not None
        assert second_key is not None
        for number in range(size // BLOCK):
            picked = parts._picked(number)
            nums = range(number * BLOCK + 1, (number + 1) * BLOCK + 1)
            whole = unit_rows(np.stack([second[own].mean(axis=0) for own in picked]))
            with core.changing("default") as tx:
                tx.vectors.mark_unread()
                tx.vectors.put(second_key, [(num, 0, to_blob(vector)) for num, vector in zip(nums, whole, strict=True)])
                if sentences:
                    tx.vectors.put(first_key, [
                        (num, part, to_blob(parts.vectors[each]))
                        for num, own in zip(nums, picked, strict=True) for part, each in enumerate(own, start=1)
                    ])  # fmt: skip
        with core.changing("default") as tx:
            tx.vectors.begin_second(second_key)
        engine.maintenance.publish()


def spent(engine: Engine, asked: Sequence[str]) -> dict[str, list[float]]:
    """Milliseconds of each question, by what they were spent on."""
    owner = {name: part for part, names in PARTS_OF.items() for name in names}
    told: dict[str, list[float]] = defaultdict(list)
    for text in asked:
        recall = engine.search(text, limit=10, record=False)
        own: dict[str, float] = defaultdict(float)
        for entry in recall.ledger.entries:
            name = getattr(entry.verdict, "name", "")
            part = owner.get(entry.stage) or owner.get(name) or ("vectors" if entry.stage == "gather:semantic" else "")
            own[part or "the rest"] += entry.nanos / 1e6
        for name, nanos in recall.ledger.silent.items():
            own[owner.get(name, "the rest")] += nanos / 1e6
        for part in (*PARTS_OF, "vectors", "the rest"):
            told[part].append(own[part])
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--parts", type=int, default=6_000)
    parser.add_argument("--processor", action="store_true", help="time of the processor instead of the clock's")
    given = parser.parse_args()
    if given.processor:
        vars(runner)["perf_counter_ns"] = process_time_ns
    asked, parts = questions(ASKED), Parts(given.parts, "minilm")
    korean = [text for text in asked if grammar_of(text)]
    english = [text for text in asked if not grammar_of(text)][: 3 * len(korean)]
    with tempfile.TemporaryDirectory() as folder:
        for sentences in (False, True):
            store = Path(folder) / f"{'sentences' if sentences else 'whole'}.db"
            fill(store, given.size, parts, sentences=sentences)
            print(f"\n{'A vector for each sentence too' if sentences else 'A vector for each memory'}: "
                  f"{store.stat().st_size / given.size:,.0f} bytes a memory")  # fmt: skip
            with Engine.open(store, encoder="minilm") as engine:
                spent(engine, asked[:WARM])
                for language, own in (("English", english), ("Korean", korean)):
                    told = spent(engine, own)
                    print(f"{language}, {len(own)} questions, ms: mean, p95")
                    for part, values in told.items():
                        print(f"  {part:22}{np.mean(values):8.2f}{np.percentile(values, 95):8.2f}")
                    added = np.sum([told[part] for part in PARTS_OF], axis=0)
                    print(f"  {'added':22}{np.mean(added):8.2f}{np.percentile(added, 95):8.2f}", flush=True)


if __name__ == "__main__":
    main()
