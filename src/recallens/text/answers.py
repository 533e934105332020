"""What a question asks for beside a text (a time, a price, a number, a person, a place, a reason), what answers it."""

from __future__ import annotations

import re
from typing import Final

from recallens.text.languages import PACKS, Phrases, alternatives, main_language

_TYPES: Final = tuple(PACKS[0].questions.answer_types)
_ASKED_FOR: Final = {
    name: Phrases.of(lambda pack, name=name: pack.questions.answer_types.get(name, ""))  # type: ignore[misc]
    for name in _TYPES
}
_ANSWERS: Final = {
    name: re.compile(alternatives(lambda pack, name=name: pack.memories.answers.get(name, "")))  # type: ignore[misc]
    for name in _TYPES
}
_WHY: Final = Phrases.of(lambda pack: pack.questions.reason)
_REASON: Final = re.compile(alternatives(lambda pack: pack.memories.reasons))


def answer_types(question: str) -> tuple[str, ...]:
    """A time, a price, a value, a number, a person, a place; most questions ask for none of them."""
    return tuple(name for name, phrases in _ASKED_FOR.items() if phrases.within(question))


def answer_name(kind: str, question: str) -> str:
    """What it is called in the question's language."""
    return main_language(question).questions.answer_names.get(kind, kind)


def holds_answer(kind: str, text: str) -> bool:
    """Whether a text holds something that could answer a question for this."""
    return _ANSWERS[kind].search(text) is not None


def answer_patterns(question: str) -> tuple[re.Pattern[str], ...]:
    """What a sentence that answers the question is likely to hold, a reason included."""
    asked = [_ANSWERS[kind] for kind in answer_types(question)]
    return (*asked, _REASON) if _WHY.within(question) else tuple(asked)
