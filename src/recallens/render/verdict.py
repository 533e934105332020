"""The answer of a recall in a sentence: what answers, where it stands and how sure that is; or that nothing does."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from recallens.model.memory import Memory, Zone
from recallens.model.recall import Recall
from recallens.model.terms import as_share
from recallens.render.brief import NOTHING, PARTLY, UNFIT, lacks, only_unsettled, standing_of
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
    """`source` is the memory that answers, with its `sentence`; or, where nothing does or not in full, the nearest.

    `headline` is said where there is no sentence, and `lacking` tells what is missing.
    `warnings` is what speaks against the source.
    """

    answered: bool
    source: Memory | None = None
    relevance: float | None = None
    sentence: str = ""
    lacking: str = ""
    headline: str = ""
    warnings: tuple[str, ...] = ()
    whole: bool = True  # whether the sentence is all of the source's excerpt


def verdict_of(recall: Recall) -> Verdict:
    """As the certificate decided it."""
    certificate, silence = certificate_of(recall.ledger) or {}, recall.silence
    standing, asked = standing_of(certificate, found=bool(recall.results)), recall.query.text
    if silence is not None:
        said, lacking = leading(silence.nearest, asked), lacks(certificate, silence.missing)
        lacking = lacking if recall.ended is None else ""  # what has ended speaks of it
        return Verdict(False, silence.nearest, silence.relevance, said, lacking, headline=NOTHING)
    best, lacking = next(iter(recall.results), None), lacks(certificate)
    if best is None:
        return Verdict(False, lacking=lacking, headline=UNFIT if standing == "unfit" else NOTHING)
    said, warnings = leading(best.memory, asked), tuple(best.state.warnings())
    if best.state.zone is not Zone.TRUSTED and not best.state.made_of:
        warnings += (f"{best.state.zone} zone, not reviewed",)
    if best.memory.review is not None:  # never the answer by itself
        unsettled = {"unsettled": [{"review": best.memory.review}]}
        certificate, standing = {**unsettled, **certificate}, "partly"
    if standing in ("answered", "doubtful"):  # how sure that is, its relevance says
        whole = said == excerpt(best.memory, asked)
        return Verdict(True, best.memory, best.relevance, said, lacking, warnings=warnings, whole=whole)
    headline = NOTHING
    if standing == "partly" and certificate.get("unsettled"):
        headline = f"Not answered: {only_unsettled(certificate)}."
    elif standing == "partly" and lacking:
        headline, lacking = f"{PARTLY} {lacking}.", ""
    return Verdict(False, best.memory, best.relevance, said, lacking, headline=headline, warnings=warnings)


def excerpt(memory: Memory, question: str) -> str:
    """The sentences that answer, without the marks of markdown, on one line; all of a short memory."""
    text = plain_text(memory.content, memory.title) or memory.content
    return " ".join(answering(text, question, tokens=EXCERPT_TOKENS).split())


def leading(memory: Memory, question: str) -> str:
    """The same from the sentence on that says most."""
    text = plain_text(memory.content, memory.title) or memory.content
    return " ".join(answering(text, question, tokens=EXCERPT_TOKENS, leading=True).split())


def marked_excerpt(memory: Memory, question: str) -> str:
    """The same, with the words that were asked for marked."""
    return highlighted(excerpt(memory, question), question)


def highlighted(text: str, question: str) -> str:
    return Snippets(counting(tokenize(question))).marked(text)


def how_sure(relevance: float | None, answers: bool = True) -> str:
    """In a word, where it answers, and the number; nothing where a ranking has no such thing."""
    if relevance is None:
        return ""
    word = f"{next(word for floor, word in _SURE if relevance >= floor)}, " if answers else ""
    return f"{word}relevance {as_share(relevance)}"
