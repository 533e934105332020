"""The answer of a recall in a sentence: what answers, where it stands and how sure that is; or that nothing does."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from recallens.model.memory import Memory
from recallens.model.recall import Recall
from recallens.model.terms import as_share
from recallens.render.brief import parts_missing
from recallens.render.markup import plain_text
from recallens.render.records import certificate_of
from recallens.text.excerpt import answering
from recallens.text.snippet import Snippets, counting
from recallens.text.tokenizer import tokenize

# A memory of up to this many tokens is shown whole.
EXCERPT_TOKENS: Final = 60
# From which relevance on a result is called so.
_SURE: Final = ((0.8, "very likely"), (0.5, "likely"), (0.15, "possibly"), (0.0, "doubtful"))


class Verdict(Struct, frozen=True):
    """`source` is the memory that answers, with its `sentence`; or, where nothing does, the nearest, if there is one.

    `missing` names the parts of the question of which nothing speaks.
    """

    answered: bool
    source: Memory | None = None
    relevance: float | None = None
    sentence: str = ""
    missing: tuple[str, ...] = ()


def verdict_of(recall: Recall) -> Verdict:
    certificate = certificate_of(recall.ledger) or {}
    missing = parts_missing(certificate)
    if recall.silence is not None:
        return Verdict(False, recall.silence.nearest, recall.silence.relevance, missing=recall.silence.missing)
    best = next(iter(recall.results), None)
    if best is None:
        return Verdict(False, missing=missing)
    if certificate.get("abstention", {}).get("abstain"):
        return Verdict(False, best.memory, best.relevance, missing=missing)
    return Verdict(True, best.memory, best.relevance, excerpt(best.memory, recall.query.text), missing)


def excerpt(memory: Memory, question: str) -> str:
    """The sentences that answer, without the marks of markdown, on one line; all of a short memory."""
    text = plain_text(memory.content, memory.title) or memory.content
    return " ".join(answering(text, question, tokens=EXCERPT_TOKENS).split())


def marked_excerpt(memory: Memory, question: str) -> str:
    """The same, with the words that were asked for marked."""
    return Snippets(counting(tokenize(question))).marked(excerpt(memory, question))


def how_sure(relevance: float | None, answers: bool = True) -> str:
    """In a word, where it answers, and the number; nothing where a ranking has no such thing."""
    if relevance is None:
        return ""
    word = f"{next(word for floor, word in _SURE if relevance >= floor)}, " if answers else ""
    return f"{word}relevance {as_share(relevance)}"
