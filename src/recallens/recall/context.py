"""What of the constitution and of the memories for a task enters a context, and how much is told of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recallens.model.citation import FileCitation, SymbolCitation
from recallens.model.context import (
    GOTCHAS_FROM,
    MOST_OF_TOTAL,
    ContextSection,
    Item,
    LeftOut,
    SectionName,
    allocation,
)
from recallens.model.memory import Kind, Memory, Zone
from recallens.model.trust import BudgetClaim, claim_of, room_beside
from recallens.recall.coverage import ANSWERS_FROM
from recallens.text.normalize import normalize
from recallens.text.stopwords import frame_words, query_stopwords
from recallens.text.tokenizer import tokenize

# What a memory takes at first with its header, and the first of them: as much as a line or two of a search.
BRIEF, FIRST = 100, 160
# Of a name's own words, as many as this must be among the task's for the name to be what the task is about.
SHARED_WORDS = 0.5

# An item within so many tokens: whole where it fits, else shortened; None where nothing of it fits.
Shorten = Callable[[Item, int], Item | None]


@dataclass(frozen=True, slots=True)
class Selection:
    """`used` counts headings and items; the frame around them is the caller's."""

    sections: tuple[ContextSection, ...]
    left_out: tuple[LeftOut, ...]
    used: int


def select(
    constitution: Sequence[Item],
    memories: Sequence[tuple[SectionName, Item]],
    *,
    total: int,
    frame: int,
    headings: Mapping[SectionName, int],
    cut: Shorten,
    excerpt: Shorten,
) -> Selection:
    """The constitution within its share; every memory in brief, the likeliest first; then what is likely to answer at
    length, within the share of its section. Of both, what is less trusted takes half at most, and beyond that only what
    the trusted leave.
    """
    shares, left = allocation(total), total - frame
    chosen: dict[SectionName, dict[str, Item]] = {name: {} for name in SectionName}
    left_out: dict[str, LeftOut] = {}

    def enter(section: SectionName, item: Item, most: int, shorten: Shorten) -> int:
        """What it takes; nothing where it does not fit."""
        heading = 0 if chosen[section] else headings[section]
        fitting = shorten(item, min(most, left) - heading)
        if fitting is None:
            reason = f"does not fit the {max(0, min(most, left)):,} tokens left of {total:,}"
            handle = item.memory.handle if item.memory is not None else None
            left_out[item.name] = LeftOut(item.name, section, item.tokens, reason, handle)
            return 0
        chosen[section][item.name] = fitting
        return heading + fitting.tokens

    room = shares[SectionName.CONSTITUTION]
    for item in constitution:
        taken = enter(SectionName.CONSTITUTION, item, room, cut)
        room, left = room - taken, left - taken
    memories = [(section, item) for section, item in memories if item.name not in chosen[SectionName.CONSTITUTION]]
    brief = {item.name: headings[section] + (BRIEF if at else FIRST) for at, (section, item) in enumerate(memories)}
    first = [(section, item) for section, item in memories if _claim(item) is BudgetClaim.FIRST]
    wanted = [min(headings[section] + item.tokens, brief[item.name], left / 2) for section, item in first]
    beside = room_beside(wanted, left)
    for section, item in memories:
        lower = _claim(item) is BudgetClaim.LOWER
        taken = enter(section, item, min(brief[item.name], int(beside)) if lower else brief[item.name], excerpt)
        left, beside = left - taken, beside - taken if lower else beside
    for section, item in memories if first else ():  # what had no room beside the trusted has what these leave
        if item.name not in chosen[section] and _claim(item) is BudgetClaim.LOWER:
            left -= enter(section, item, brief[item.name], excerpt)

    shares[SectionName.GOTCHAS] = left // 2 if left > GOTCHAS_FROM else 0
    longest = total // MOST_OF_TOTAL
    growing = [
        (section, item, short)
        for section, item in memories
        if (short := chosen[section].get(item.name)) is not None and short.truncated and _may_answer(item)
    ]
    wanted = [
        min(item.tokens, longest) - short.tokens for _, item, short in growing if _claim(item) is BudgetClaim.FIRST
    ]
    beside = room_beside([min(tokens, left / 2) for tokens in wanted if tokens > 0], left)
    for section, item, short in growing:
        lower = _claim(item) is BudgetClaim.LOWER
        room = min(left, shares[section] - _used(chosen[section], headings[section]), int(beside) if lower else left)
        longer = excerpt(item, min(short.tokens + room, longest))
        if longer is not None and longer.tokens > short.tokens:
            chosen[section][item.name] = longer
            left -= longer.tokens - short.tokens
            beside -= longer.tokens - short.tokens if lower else 0

    sections, order = [], {item.name: at for at, (_, item) in enumerate(memories)}
    for name, items in chosen.items():
        used, ranked = _used(items, headings[name]), sorted(items.values(), key=lambda item: order.get(item.name, -1))
        sections.append(ContextSection(name, max(shares[name], used), used, tuple(ranked)))
        left_out = {id: left for id, left in left_out.items() if id not in items}
    return Selection(tuple(sections), tuple(left_out.values()), sum(section.used for section in sections))


def _used(items: Mapping[str, Item], heading: int) -> int:
    return heading + sum(item.tokens for item in items.values()) if items else 0


def _claim(item: Item) -> BudgetClaim:
    return claim_of(Zone.TRUSTED if item.memory is None else item.memory.zone, item.relevance)


def _may_answer(item: Item) -> bool:
    return item.relevance is None or item.relevance >= ANSWERS_FROM


def section_of(memory: Memory, wanted: CodeNames) -> SectionName:
    """Where a memory stands: by its kind, else by whether it is about the code that the task names."""
    if memory.kind is Kind.GOTCHA:
        return SectionName.GOTCHAS
    if memory.kind in (Kind.SKILL, Kind.PATTERN):
        return SectionName.SKILLS
    return SectionName.CODE_SYMBOLS if named_by(memory, wanted) else SectionName.CONTEXT


@dataclass(frozen=True, slots=True)
class CodeNames:
    """What a task says of code: names as they are, and its words."""

    exact: frozenset[str]
    words: frozenset[str]


def code_names(names: Iterable[str], text: str) -> CodeNames:
    exact = frozenset(form for name in names for form in _forms(name))
    return CodeNames(exact, _words(text))


def named_by(memory: Memory, wanted: CodeNames) -> bool:
    """Whether the task names one of its symbols or files, or has the words that the name of one is made of."""
    symbols, paths = list(memory.annotations.symbols), list(memory.annotations.paths)
    for citation in memory.citations:
        if isinstance(citation, SymbolCitation):
            symbols.append(citation.name)
            paths.append(citation.file)
        elif isinstance(citation, FileCitation):
            paths.append(citation.path)
    if any(form in wanted.exact for name in (*symbols, *paths) for form in _forms(name)):
        return True
    stems = (path.rsplit("/", 1)[-1].partition(".")[0] for path in paths)
    return any(_shares(name, wanted.words) for name in (*symbols, *stems))


def _forms(name: str) -> set[str]:
    """A name, and a file's name without its folders."""
    whole = normalize(name)
    return {whole, whole.rsplit("/", 1)[-1]}


def _words(text: str) -> frozenset[str]:
    """Single words; of a compound its parts."""
    plain = (word for word in tokenize(text) if word.isalnum())
    return frozenset(plain) - query_stopwords() - frame_words()


def _shares(name: str, words: frozenset[str]) -> bool:
    # A compound's last token is itself in one word, which no sentence has.
    own = _words(name) - ({normalize(name)} if len(_words(name)) > 1 else set())
    return bool(own) and len(own & words) >= SHARED_WORDS * len(own)
