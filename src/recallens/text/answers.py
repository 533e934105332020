"""What a question asks for beside a text (a time, a price, a number, a person, a place, a reason), what answers it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from recallens.text.languages import PACKS, Phrases, alternatives, main_language
from recallens.text.sentences import sentences

KINDS: Final = tuple(PACKS[0].questions.answer_types)
_ASKED_FOR: Final = {
    name: Phrases.of(lambda pack, name=name: pack.questions.answer_types.get(name, ""))  # type: ignore[misc]
    for name in KINDS
}
_ANSWERS: Final = {
    name: re.compile(alternatives(lambda pack, name=name: pack.memories.answers.get(name, "")))  # type: ignore[misc]
    for name in KINDS
}
_RECURRENT: Final = re.compile(alternatives(lambda pack: pack.memories.recurrent))
_GOES_ON: Final = re.compile(alternatives(lambda pack: pack.memories.goes_on))
_CLAUSE_ENDS: Final = re.compile(r"\s*[;\n]\s*")
# Of these the question's own words may be a part: three days, every week.
_COUNTED: Final = ("duration", "frequency")
# So many clauses may go on about one that speaks of what is asked.
_GOING_ON: Final = 2
_WORD: Final = re.compile(r"\w+")
PAST: Final = "date"
_WHY: Final = Phrases.of(lambda pack: pack.questions.reason)
_HOW: Final = Phrases.of(lambda pack: pack.questions.intents.get("how_to_do/how", ""))
_REASON: Final = re.compile(alternatives(lambda pack: pack.memories.reasons))


def answer_types(question: str) -> tuple[str, ...]:
    """A time, a price, a number, a person …, the narrowest first; most questions ask for none of them."""
    return tuple(name for name, phrases in _ASKED_FOR.items() if phrases.within(question))


def asks_how(question: str) -> bool:
    """Whether steps would answer it."""
    return _HOW.within(question)


def answer_name(kind: str, question: str) -> str:
    """What it is called in the question's language."""
    return main_language(question).questions.answer_names.get(kind, kind)


def holds_answer(kind: str, text: str) -> bool:
    """Whether a text holds something that could answer a question for this."""
    return _ANSWERS[kind].search(text) is not None


def answers_about(kind: str, text: str, own: Collection[str], speaks: Callable[[str], bool]) -> bool:
    """Whether some clause of a text could answer: it holds something of the kind that the question itself does not say
    (`own` are its words), and it speaks of what is asked, or goes on about a clause that does.
    """
    clauses = [clause for sentence in sentences(text) for clause in _CLAUSE_ENDS.split(sentence) if clause]
    for at, clause in enumerate(clauses):
        said = clause if kind in _COUNTED else _without(clause, own)
        if not holds_answer(kind, said) or (kind == PAST and _RECURRENT.search(clause)):
            continue
        first = at
        while at - first < _GOING_ON and first > 0 and not speaks(clauses[first]) and _GOES_ON.match(clauses[first]):
            first -= 1
        if speaks(clauses[first]):
            return True
    return False


def _without(clause: str, own: Collection[str]) -> str:
    """The clause without the words that begin as one of these."""
    said = tuple(own)
    return _WORD.sub(lambda word: "" if word[0].casefold().startswith(said) else word[0], clause)


def answer_patterns(question: str) -> tuple[re.Pattern[str], ...]:
    """What a sentence that answers the question is likely to hold, a reason included."""
    asked = [_ANSWERS[kind] for kind in answer_types(question)]
    return (*asked, _REASON) if _WHY.within(question) else tuple(asked)
