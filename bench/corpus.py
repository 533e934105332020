"""Texts and questions to measure with: from the sets that RECALLENS_EVAL_DATA names, or the sample's words."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

SETS = ("locomo-dev", "longmemeval-dev-pooled", "beam-100k", "scifact", "hotpotqa", "git-k8s-docs", "korquad-dev")
SAMPLE = Path(__file__).parent.parent / "examples" / "memories.jsonl"
_SENTENCE = re.compile(r"[^.!?\n]{30,400}[.!?]?")


def data_folder() -> Path | None:
    named = os.environ.get("RECALLENS_EVAL_DATA")
    return Path(named) if named and Path(named).is_dir() else None


def texts(count: int) -> list[str]:
    """Distinct short texts, one to three sentences each, the same for the same count."""
    folder = data_folder()
    return _real(folder, count) if folder else _made_up(count)


def questions(count: int) -> list[str]:
    folder = data_folder()
    if folder is None:
        return [" ".join(text.split()[:9]) for text in _made_up(count * 7)[::7]]
    chosen = random.Random(7)
    share = -(-count // len(SETS))
    found = [
        text
        for name in SETS
        for text in chosen.sample([row["text"] for row in _lines(folder / name / "queries.jsonl.gz")], share)
    ]
    chosen.shuffle(found)
    return found[:count]


def _real(folder: Path, count: int) -> list[str]:
    chosen = random.Random(11)
    found: dict[str, None] = {}
    units = [row["text"] for name in SETS for row in _lines(folder / name / "units.jsonl.gz")]
    chosen.shuffle(units)
    for text in units:
        sentences = [match.group().strip() for match in _SENTENCE.finditer(text)]
        while sentences:
            take = chosen.choice((1, 1, 2, 3))
            found[" ".join(sentences[:take])] = None
            sentences = sentences[take:]
        if len(found) >= count:
            break
    return list(found)[:count]


def _made_up(count: int) -> list[str]:
    chosen = random.Random(5)
    words = [
        w
        for line in SAMPLE.read_text(encoding="utf-8").splitlines()
        for w in json.loads(line).get("content", "").split()
    ]
    return [f"{i:x} " + " ".join(chosen.choices(words, k=chosen.randint(8, 40))) for i in range(count)]


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
