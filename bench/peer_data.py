"""What every peer is given: texts, their vectors, questions with theirs, and what is right.

A task is a size ("100000") or a judged set of the evaluation data ("scifact").

Texts of a size are two or three real sentences (`corpus.texts`) put together anew, so that any number can be made of
some thousand. A text's vector is the mean of its sentences' vectors by the test encoder, moved by noise of a tenth of
its length: near each other as real ones are, and no two the same. Questions are those of the sets, with the test
encoder's own vectors; right is what an exact product finds nearest.

Texts of a set are its units, each after its title, and their vectors are those of the packaged encoder that reads the
language of the set. Right is what was judged.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SENTENCES = 20_000
DIMENSIONS = 384
NOISE = 0.1
QUESTIONS, WARM_UP = 100, 20
LIMIT = 10
BATCH = 1_000
# The encoder of each set; of a set with more questions than these the first are asked.
SETS = {"scifact": "minilm", "korquad-dev": "multilingual"}
SET_QUESTIONS = 1_000


class Asked(NamedTuple):
    """All that a process which searches is given."""

    task: str
    texts: list[str]
    vectors: Floats
    gold: list[dict[str, float]]  # the grade of each text that is right, by its number

    @classmethod
    def read(cls, folder: Path) -> Asked:
        gold = json.loads((folder / "gold.json").read_text())
        return cls(
            folder.name, json.loads((folder / "questions.json").read_text()), np.load(folder / "asked.npy"), gold
        )

    @property
    def judged(self) -> bool:
        return self.task in SETS


class Data(NamedTuple):
    task: str
    texts: list[str]
    vectors: Floats
    progress: Path

    @classmethod
    def read(cls, folder: Path, progress: Path) -> Data:
        texts = json.loads((folder / "texts.json").read_text())
        return cls(folder.name, texts, np.load(folder / "vectors.npy", mmap_mode="r"), progress)

    def batches(self) -> Iterator[tuple[range, list[str], Floats]]:
        """Writes down how many texts were taken: it is told of a peer that did not come to an end."""
        for start in range(0, len(self.texts), BATCH):
            self.progress.write_text(str(start))
            numbers = range(start, min(start + BATCH, len(self.texts)))
            yield numbers, self.texts[start : numbers.stop], np.array(self.vectors[start : numbers.stop])


def made(folder: Path, task: str) -> Path:
    """The folder of a task's data, which is made where it is not there yet: always the same for the same task."""
    place = folder / "data" / task
    if not place.exists():
        partial = place.with_name(f".{task}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        if task in SETS:
            _make_set(partial, task, folder)
        else:
            _make_size(partial, int(task))
        partial.rename(place)
    return place


def yardstick(place: Path) -> int:
    """Bytes of the texts and of their vectors in half precision."""
    return int(json.loads((place / "bytes.json").read_text()))


def _write(place: Path, texts: list[str], vectors: Floats, questions: list[str], asked: Floats, gold: Any) -> None:
    for name, value in {"texts": texts, "questions": questions, "gold": gold}.items():
        (place / f"{name}.json").write_text(json.dumps(value))
    np.save(place / "vectors.npy", vectors)
    np.save(place / "asked.npy", asked)
    (place / "bytes.json").write_text(str(sum(len(text.encode()) for text in texts) + 2 * vectors.size))


def composition(size: int) -> tuple[list[str], Iterator[list[int]]]:
    """The sentences of which the texts of a size are made, and which of them each text is."""
    import corpus

    sentences, chance = corpus.texts(min(SENTENCES, size)), Random(f"peers {size}")
    return sentences, (chance.sample(range(len(sentences)), chance.choice((2, 2, 3))) for _ in range(size))


def _make_size(place: Path, size: int) -> None:
    import corpus
    from recallens.index.encoders.registry import open_encoder

    encoder = open_encoder(f"hashing:{DIMENSIONS}")
    assert encoder is not None
    sentences, picked = composition(size)
    known, noise = encoder.encode_documents(sentences), np.random.default_rng(size)
    texts, vectors = [], np.empty((size, DIMENSIONS), dtype=np.float32)
    for at, own in enumerate(picked):
        texts.append(" ".join(sentences[part] for part in own))
        mean = known[own].mean(axis=0)
        moved = mean + NOISE * np.linalg.norm(mean) * noise.standard_normal(DIMENSIONS) / np.sqrt(DIMENSIONS)
        vectors[at] = moved / np.linalg.norm(moved)
    questions = corpus.questions(QUESTIONS + WARM_UP)
    asked = np.stack([encoder.encode_query(question) for question in questions])
    nearest = (np.argpartition(-(vectors @ vector), LIMIT)[:LIMIT].tolist() for vector in asked)
    _write(place, texts, vectors, questions, asked, [dict.fromkeys(map(str, own), 1.0) for own in nearest])


def _make_set(place: Path, name: str, folder: Path) -> None:
    import corpus
    from recallens.evaluate.dataset import read_dataset
    from recallens.evaluate.encoder_cache import CachedEncoder
    from recallens.evaluate.harness import asked as questions_of
    from recallens.index.encoders.registry import open_encoder

    sets = corpus.data_folder()
    if sets is None:
        raise SystemExit(f"{name} is one of the evaluation sets: name their folder in RECALLENS_EVAL_DATA")
    dataset = read_dataset(sets / name)
    units = dataset.seen_in(dataset.haystacks[0])
    texts = [f"{unit.title}\n{unit.text}" if unit.title else unit.text for unit in units]
    questions = questions_of(dataset, unanswerable=False, most=SET_QUESTIONS)
    numbers = {unit.id: str(number) for number, unit in enumerate(units)}
    gold = [
        {numbers[id]: grade for id, grade in dataset.gold[question.id].units.items() if id in numbers}
        for question in questions
    ]
    opened = open_encoder(SETS[name])
    assert opened is not None
    encoder = CachedEncoder(opened, folder / "encoded")  # a run that is stopped goes on where it was
    vectors = encoder.encode_documents(texts)
    asked = np.stack([encoder.encode_query(question.text) for question in questions])
    encoder.close()
    _write(place, texts, vectors, [question.text for question in questions], asked, gold)
