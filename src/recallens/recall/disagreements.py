"""Which of some memories cannot hold together, by what they state, and which of two is the one in doubt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from recallens.model.memory import RULE, TASK, Kind, Memory
from recallens.model.trust import rank
from recallens.text.content import morphemes
from recallens.text.statements import Claim, Disagreement, disagreement, statements_in


def older(memory: Memory, other: Memory) -> bool:
    """Which of two that disagree is in doubt: the one that has held for longer, never the current one."""
    return since(memory) < since(other)


def since(memory: Memory) -> tuple[int, int]:
    return (memory.created if memory.valid_from is None else memory.valid_from, memory.num)


def disagreements(memories: Sequence[Memory]) -> dict[int, dict[int, Disagreement]]:
    """For each place of a memory in doubt, the places of those that state otherwise of the same: they are newer, or
    more trusted. Who says what of themselves disputes nobody else; a summary disputes nothing, nor does what an attempt
    came to, or what a rule made of several."""
    doubts: dict[int, dict[int, Disagreement]] = defaultdict(dict)
    by_word: dict[str, list[tuple[int, Claim]]] = defaultdict(list)
    titles = [morphemes(memory.title or "") for memory in memories]
    stating = [place for place, memory in enumerate(memories) if _states(memory)]
    comparable: dict[int, set[int]] = {place: set() for place in stating}
    for place, there in combinations(stating, 2):
        if _comparable(memories[place], memories[there]):
            comparable[place].add(there)
            comparable[there].add(place)
    for place in stating:
        if not comparable[place]:  # no text is read for nothing
            continue
        memory = memories[place]
        # What may speak of the same; once two are known to disagree, no more of what they say is compared.
        others = comparable[place]
        stated = statements_in(memory.content)
        for statement in stated:
            seen: set[int] = set()
            for word in statement.words:
                for there, other in by_word[word]:
                    if there not in others or id(other) in seen:
                        continue
                    seen.add(id(other))
                    how = _disagree(titles[place], statement, titles[there], other)
                    if how is not None:
                        others.discard(there)
                        behind, ahead = (place, there) if in_doubt(memory, memories[there]) else (there, place)
                        doubts[behind][ahead] = how
        for statement in stated:
            for word in statement.words:
                by_word[word].append((place, statement))
    return dict(doubts)


def _states(memory: Memory) -> bool:
    return memory.kind is not Kind.SUMMARY and memory.source not in (TASK, RULE)


def _comparable(memory: Memory, other: Memory) -> bool:
    spoken = memory.is_turn or other.is_turn  # each speaks for themselves
    if (spoken and memory.author != other.author) or not _of_one_project(memory, other):
        return False
    return memory.document is None or memory.document != other.document


def _disagree(title: frozenset[str], statement: Claim, another: frozenset[str], opposed: Claim) -> Disagreement | None:
    mine, theirs = title - another - statement.words, another - title - opposed.words
    if mine and theirs:  # the rent of two offices, each in a note of its own
        return None
    return disagreement(statement, opposed, same_subject=bool(title) and title == another)


def _of_one_project(memory: Memory, other: Memory) -> bool:
    return memory.project is None or other.project is None or memory.project == other.project


def in_doubt(memory: Memory, other: Memory) -> bool:
    """Of two that disagree, whether it is the first: the less trusted, what was never settled, or the one that has held
    for longer."""
    mine, theirs = ((rank(each.zone), each.review is None) for each in (memory, other))
    return mine < theirs if mine != theirs else older(memory, other)
