"""How abstract a text is: a principle, a concept or an implementation, by what it is made of."""

from __future__ import annotations

import re
from typing import Final

from recallens.model.memory import Kind, Memory
from recallens.model.plan import Level

# The beginning of a section says what it is.
READ_CHARACTERS: Final = 2_000
# Signs of code in a hundred words, from which a text shows how rather than says what.
CODE_DENSITY: Final = 4.0
PRINCIPLE_DENSITY: Final = 1.5

_FENCE: Final = re.compile(r"^\s*(?:```|~~~)|^\s*\$ \S|^(?:\+\+\+|---) \S|^Traceback ", re.MULTILINE)
_CODE: Final = re.compile(
    r"`[^`\n]+`|\w\(\)|\b\w+(?:/\w[\w.-]*){1,}\.\w{1,4}\b|(?<=\s)--?[a-z][\w-]+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+|[{};]|\w=\w|->|=>"
)
_PRINCIPLE: Final = re.compile(
    r"\b(?:why|principles?|philosophy|rationale|trade-?offs?|values?|strategy|guidelines?|polic(?:y|ies)|always|never|prefer|"
    r"must|should|reasons?|goals?|believe)\b|원칙|철학|이유|전략|정책|기준|목표|가치|항상|절대|해야|우선",
    re.IGNORECASE,
)
_KINDS: Final = {Kind.PRINCIPLE: Level.PRINCIPLE, Kind.PREFERENCE: Level.PRINCIPLE}
_ENDS: Final = frozenset((Level.PRINCIPLE, Level.IMPLEMENTATION))


def level_of_memory(memory: Memory) -> Level:
    """What it was stored as, where that says it; else what its text is made of. Code outweighs a reason."""
    if memory.kind in _KINDS:
        return _KINDS[memory.kind]
    text = f"{memory.title or ''}\n{memory.content[:READ_CHARACTERS]}"
    hundreds = max(len(text.split()), 20) / 100
    if _FENCE.search(text) or len(_CODE.findall(text)) / hundreds >= CODE_DENSITY:
        return Level.IMPLEMENTATION
    return Level.PRINCIPLE if len(_PRINCIPLE.findall(text)) / hundreds >= PRINCIPLE_DENSITY else Level.CONCEPT


def far_apart(one: Level, other: Level) -> bool:
    """The two ends: a principle where code is asked for, or code where a principle is."""
    return one is not other and {one, other} == _ENDS
