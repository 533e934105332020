"""Which items enter a context: section by section, whole, each once, within the allocation and the total."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recallens.model.citation import FileCitation, SymbolCitation
from recallens.model.context import GOTCHAS_FROM, ContextSection, Item, LeftOut, SectionName, allocation
from recallens.model.memory import Kind, Memory
from recallens.text.normalize import normalize
from recallens.text.stopwords import frame_words, query_stopwords
from recallens.text.tokenizer import tokenize

# Who chooses first. What names the code of the task goes there and not to the general part.
CHOOSING = (
    SectionName.CONSTITUTION,
    SectionName.SKILLS,
    SectionName.CODE_SYMBOLS,
    SectionName.CONTEXT,
    SectionName.GOTCHAS,
)
# Of a name's own words, as many as this must be among the task's for the name to be what the task is about.
SHARED_WORDS = 0.5

Shorten = Callable[[Item, int], Item | None]


@dataclass(frozen=True, slots=True)
class Selection:
    """`used` counts headings and items; the frame around them is the caller's."""

    sections: tuple[ContextSection, ...]
    left_out: tuple[LeftOut, ...]
    used: int


def select(
    candidates: Mapping[SectionName, Sequence[Item]],
    *,
    total: int,
    frame: int,
    headings: Mapping[SectionName, int],
    shorten: Shorten,
) -> Selection:
    """The best first, skipping what does not fit. Only the constitution is ever cut: it is always there."""
    shares, left = allocation(total), total - frame
    taken: dict[str, SectionName] = {}
    passed: dict[str, LeftOut] = {}
    sections = {}
    for name in CHOOSING:
        allowed = shares[name] if name in shares else left // 2 if left > GOTCHAS_FROM else 0
        room = max(0, min(allowed, left))
        chosen: list[Item] = []
        used = 0
        for item in candidates.get(name, ()):
            if item.name in taken:
                continue
            heading = 0 if chosen else headings[name]
            fitting: Item | None = item
            if heading + item.tokens > room - used:
                fitting = shorten(item, room - used - heading) if name is SectionName.CONSTITUTION else None
            if fitting is None:
                passed.setdefault(item.name, LeftOut(item.name, name, item.tokens, _reason(name, room - used, room)))
                continue
            chosen.append(fitting)
            taken[item.name] = name
            used += heading + fitting.tokens
        left -= used
        sections[name] = ContextSection(name, allowed, used, tuple(chosen))
    sections = _filed(sections, headings)
    return Selection(
        tuple(sections[name] for name in SectionName),
        tuple(missed for name, missed in passed.items() if name not in taken),
        sum(section.used for section in sections.values()),
    )


def _filed(
    sections: Mapping[SectionName, ContextSection], headings: Mapping[SectionName, int]
) -> dict[SectionName, ContextSection]:
    """A known issue stands among the gotchas, whichever share it was paid from."""
    items = {name: [*section.items] for name, section in sections.items()}
    for name in (SectionName.CONTEXT, SectionName.CODE_SYMBOLS):
        issues = [item for item in items[name] if item.memory is not None and item.memory.kind is Kind.GOTCHA]
        items[name] = [item for item in items[name] if item not in issues]
        items[SectionName.GOTCHAS] = issues + items[SectionName.GOTCHAS]
    filed = {}
    for name, section in sections.items():
        used = headings[name] + sum(item.tokens for item in items[name]) if items[name] else 0
        filed[name] = ContextSection(name, max(section.allocated, used), used, tuple(items[name]))
    return filed


def _reason(name: SectionName, left: int, room: int) -> str:
    if name is SectionName.GOTCHAS and room == 0:
        return f"gotchas get room only where over {GOTCHAS_FROM:,} tokens remain"
    return f"does not fit the {left:,} tokens left of the {room:,} for {name}"


def merged(lists: Iterable[Sequence[Item]]) -> list[Item]:
    """Several recalls as one list, each memory where it scored best, the best first."""
    best: dict[str, Item] = {}
    for item in (item for items in lists for item in items):
        if item.name not in best or (item.score or 0.0) > (best[item.name].score or 0.0):
            best[item.name] = item
    return sorted(best.values(), key=lambda item: -(item.score or 0.0))


@dataclass(frozen=True, slots=True)
class CodeNames:
    """What a task says of code: names as they are, and its words."""

    exact: frozenset[str]
    words: frozenset[str]


def code_names(names: Iterable[str], text: str) -> CodeNames:
    exact = frozenset(form for name in names for form in _forms(name))
    return CodeNames(exact, _words(text))


def named_by(memory: Memory, wanted: CodeNames) -> int:
    """How its symbols and files meet the task: 2 by a name itself, 1 by the words that a name is made of, else 0."""
    symbols, paths = list(memory.annotations.symbols), list(memory.annotations.paths)
    for citation in memory.citations:
        if isinstance(citation, SymbolCitation):
            symbols.append(citation.name)
            paths.append(citation.file)
        elif isinstance(citation, FileCitation):
            paths.append(citation.path)
    if any(form in wanted.exact for name in (*symbols, *paths) for form in _forms(name)):
        return 2
    stems = (path.rsplit("/", 1)[-1].partition(".")[0] for path in paths)
    return int(any(_shares(name, wanted.words) for name in (*symbols, *stems)))


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
