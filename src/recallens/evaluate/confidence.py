"""How sure a recall may be of its answer: each confidence is a function of the recall alone, the higher the surer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from recallens.model.recall import Recall
from recallens.model.verdict import Found
from recallens.text.stopwords import query_weights
from recallens.text.tokenizer import tokenize

# None where this recall has nothing of the kind to say: the view was not asked, or the field is not there.
Confidence = Callable[[Recall], float | None]

CERTIFICATE, ABSTENTION = "certificate", "abstention"


def top_raw(view: str) -> Confidence:
    """The raw score of the view's best row."""

    def confidence(recall: Recall) -> float | None:
        found = [e.verdict for e in recall.ledger.entries if isinstance(e.verdict, Found) and e.verdict.view == view]
        if not found:
            return None
        return max((float(one.raw.max()) for one in found if len(one.raw)), default=0.0)

    return confidence


def top_score(recall: Recall) -> float | None:
    return recall.results[0].score if recall.results else 0.0


def gap(recall: Recall) -> float | None:
    """How far the first result stands above the second."""
    scores = [result.score for result in recall.results[:2]]
    return scores[0] - scores[1] if len(scores) == 2 else 0.0


def words_covered(recall: Recall) -> float | None:
    """The share of the question's words, by weight, that the first result holds."""
    if not recall.results:
        return 0.0
    memory = recall.results[0].memory
    held = set(tokenize(" \n".join(filter(None, (memory.title, memory.author, memory.content)))))
    weights = query_weights(tokenize(recall.query.text))
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in held) / total if total else 0.0


def not_abstaining(recall: Recall) -> float | None:
    """1 − the abstention score of the product's own certificate."""
    notes = recall.ledger.notes(CERTIFICATE)
    return 1.0 - float(notes[-1][ABSTENTION]["score"]) if notes else None


CONFIDENCES: Mapping[str, Confidence] = {
    "top cosine": top_raw("semantic"),
    "top BM25": top_raw("lexical"),
    "top score": top_score,
    "words covered": words_covered,
    "gap": gap,
    "certificate": not_abstaining,
}


def confidences(recall: Recall) -> dict[str, float]:
    told = {name: confidence(recall) for name, confidence in CONFIDENCES.items()}
    return {name: value for name, value in told.items() if value is not None}
