"""Fit the weights of `ingest/prose_secrets.py` on sentences that tell a secret and on ones that only speak of secrets.

    python bench/secrets_fit.py                 # the weights, and what the sentences built on say of them
    python bench/secrets_fit.py --apart [NAME]  # what the weights in the package are worth on sentences kept apart

Logistic regression over the cues of each value near a name. Where RECALLENS_EVAL_DATA names the evaluation data, its
texts count as ones that hold no secret; all of them together weigh three times as much as the honest sentences.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from recallens.ingest.prose_secrets import candidates
from recallens.ingest.redact import redact, redact_by_rules

QUESTIONS = Path(__file__).parent / "questions"
PULL = 0.25  # towards nothing: a cue that occurs once must not be worth what chance made of it
LEAST = 2  # a cue that occurs less often has no weight
SECRET = re.compile(r"{(.+?)}")
MARK = re.compile(r"\[REDACTED:[a-z0-9-]+\]")
MISSED = 3.0  # a secret that is stored is worse than a word that is taken
STEPS = 40
REAL = 3  # so much do all real texts weigh beside the honest sentences


def sentences(name: str) -> Iterator[tuple[str, str, list[tuple[int, int]], str]]:
    """Sort, text, where its secrets stand, language."""
    for line in (QUESTIONS / f"secrets-{name}.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            sort, language, marked = line.split("\t")
            is_secret = sort == "secret"
            # Each brace before a secret is two letters less.
            spans = [(m.start() - 2 * at, m.end() - 2 - 2 * at) for at, m in enumerate(SECRET.finditer(marked))]
            text = SECRET.sub(r"\1", marked) if is_secret else marked
            yield sort, text, spans if is_secret else [], language


def real_cues(folder: Path) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for units in sorted(folder.glob("*/units.jsonl.gz")):
        with gzip.open(units, "rt", encoding="utf-8") as lines:
            for line in islice(lines, 0, None, 2):
                text = MARK.sub("\ue000", redact_by_rules(json.loads(line)["text"].replace("İ", "I"), {}))
                found += [candidate.cues for candidate in candidates(text, text.lower())]
    return found


def fitted(rows: list[tuple[tuple[str, ...], bool, float]]) -> tuple[float, dict[str, float]]:
    """Bias and weights of weighted rows of cues, by Newton's method."""
    occurs = Counter(cue for cues, _, _ in rows for cue in cues)
    names = sorted(cue for cue, count in occurs.items() if count >= LEAST)
    place = {cue: at for at, cue in enumerate(names)}
    grouped = Counter[tuple[tuple[str, ...], bool]]()
    for cues, is_secret, weight in rows:
        grouped[cues, is_secret] += weight  # type: ignore[assignment]
    table = np.zeros((len(grouped), len(names) + 1))
    table[:, -1] = 1
    for row, (cues, _) in enumerate(grouped):
        table[row, [place[cue] for cue in cues if cue in place]] = 1
    truth = np.array([is_secret for _, is_secret in grouped], dtype=float)
    counts = np.array(list(grouped.values()))
    pull = np.full(len(names) + 1, PULL)
    weights = np.zeros(len(names) + 1)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-table @ weights))
        gradient = table.T @ (counts * (chance - truth)) + pull * weights
        curvature = (table.T * (counts * chance * (1 - chance))) @ table + np.diag(pull)
        weights -= np.linalg.solve(curvature, gradient)
    return float(weights[-1]), dict(zip(names, map(float, weights[:-1]), strict=True))


def fit() -> None:
    rows: list[tuple[tuple[str, ...], bool, float]] = []
    for _, text, spans, _ in sentences("build"):
        for candidate in candidates(text, text.lower()):
            inside = any(start <= candidate.start and candidate.end <= end for start, end in spans)
            if inside and (candidate.start, candidate.end) not in spans:
                continue  # a part of a secret says nothing
            rows.append((candidate.cues, inside, MISSED if inside else 1.0))
    honest = sum(not is_secret for _, is_secret, _ in rows)
    if folder := os.environ.get("RECALLENS_EVAL_DATA"):
        real = real_cues(Path(folder))
        rows += [(cues, False, REAL * honest / len(real)) for cues in real]
    bias, weights = fitted(rows)
    print(f"BIAS: Final = {bias:.1f}")
    for cue, weight in weights.items():
        if abs(weight) >= 0.1:
            print(f'    "{cue}": {weight:.1f},')


def apart(name: str) -> None:
    total, right = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for sort, text, spans, language in sentences(name):
        redacted = redact(text)[0]
        fine = not any(text[start:end] in redacted for start, end in spans) if spans else redacted == text
        total[sort, language] += 1
        right[sort, language] += fine
    for (sort, language), count in total.items():
        print(f"{sort} {language}: {right[sort, language]} of {count}")


if __name__ == "__main__":
    if "--apart" in sys.argv[1:]:
        apart(sys.argv[2] if len(sys.argv) > 2 else "apart")
    else:
        fit()
