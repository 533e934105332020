"""What in a text speaks to the agent that will read it, or bends recall towards itself. A text from below the trusted
zone that does either waits for a person before anything is answered from it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from msgspec import Struct

from recallens.model.trust import STUFFED, SWAPPED
from recallens.text.languages import PACKS, alternatives
from recallens.text.normalize import normalize
from recallens.text.sieve import Sieve, sets_met
from recallens.text.stopwords import query_stopwords

# A text with so many questions, of which most sentences are, asks what others will ask.
QUESTIONS, QUESTION_SHARE = 4, 0.6
# One word that takes so large a part of the words that say something, or words that are said again and again.
REPEATED, REPEATED_SHARE, DISTINCT_SHARE = 6, 0.3, 0.35
# So many words of which hardly any joins the others.
LISTED, JOINING_SHARE = 18, 0.05
MOST_WORDS: Final = 400  # longer texts repeat themselves anyway

_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_SENTENCE: Final = re.compile(r"[^.!?\n]{4,}([.!?\n]|$)")
_CODE: Final = re.compile(r"[{}=;<>|`\\]|\w\(|\w_\w|^ {4}|\w/\w", re.MULTILINE)


# Honest texts say how to answer, too, and repeat themselves: these alone hold nothing back.
MILD: Final = frozenset(("it tells how to answer", "it gives its reader orders", SWAPPED, STUFFED))


def holds(found: Collection[str]) -> bool:
    """Whether a text of an agent waits for a person: what is only mild is served, marked as not reviewed."""
    return not MILD.issuperset(found)


# Stands before a title, a summary or a task's words that speak to who reads them: those wait for nobody, and are told.
MARK: Final = "[suspected] "


def marked(text: str) -> str:
    return text if text.startswith(MARK) or not holds(suspicions(text)) else MARK + text


def screened(text: str, beside: Iterable[object]) -> tuple[str, ...]:
    """What speaks against a memory: its words, and every other string that is stored with it, however deep."""
    others = suspicions("\n".join(strings_in(beside)))
    return tuple(dict.fromkeys((*suspicions(text), *(reason for reason in others if reason not in MILD))))


def strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Struct):
        yield from strings_in([getattr(value, name) for name in value.__struct_fields__])
    elif isinstance(value, Mapping):
        yield from strings_in([*value, *value.values()])
    elif isinstance(value, Iterable):
        for each in value:
            yield from strings_in(each)


def suspicions(text: str) -> tuple[str, ...]:
    """What speaks against the text, in words for whoever reviews it; nothing for nearly every honest one."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).lower()
    rules, (pair, instead, may_swap) = _commands(), _swap()
    met = sets_met(plain)
    found = [reason for reason, commands in rules if commands.holds(plain, met)]
    if may_swap.holds(plain, met) and _swaps(plain, pair, instead):
        found.append(SWAPPED)
    if _stuffed(plain):
        found.append(STUFFED)
    return tuple(dict.fromkeys(found))


@cache
def _commands() -> tuple[tuple[str, Sieve], ...]:
    spoken = [said for pack in PACKS for said in pack.commands.patterns.items()]
    return tuple((reason, Sieve.of("|".join(patterns), re.MULTILINE)) for reason, patterns in spoken)


@cache
def _swap() -> tuple[re.Pattern[str], re.Pattern[str], Sieve]:
    """One thing's number and another's, close together: patient 30789 … patient 4269; and what makes that a swap."""
    between = rf"(?:[ _-]?(?:{alternatives(lambda pack: pack.commands.numbered)}))?[ _#:-]{{0,3}}"
    pair = rf"\b([^\W\d_]{{2,20}}){between}(\d{{2,12}})(?!\d)[^\n]{{0,160}}?\b\1{between}(?!\2(?!\d))\d{{2,12}}(?!\d)"
    instead = alternatives(lambda pack: pack.commands.instead)
    return re.compile(pair), re.compile(instead), Sieve.of(instead)


def _swaps(text: str, pair: re.Pattern[str], instead: re.Pattern[str]) -> bool:
    return any(instead.search(text, max(0, each.start() - 60), each.end() + 60) for each in pair.finditer(text))


def _stuffed(text: str) -> bool:
    ends = [each.group(1) for each in _SENTENCE.finditer(text)]
    asked = ends.count("?")
    if asked >= QUESTIONS and asked >= QUESTION_SHARE * len(ends):
        return True
    words = _WORD.findall(text)
    if not LISTED <= len(words) <= MOST_WORDS or _CODE.search(text):
        return False
    counts = Counter(word for word in map(normalize, words) if word not in query_stopwords())
    telling = sum(counts.values())
    if not telling:
        return False
    most = max(counts.values())
    if most >= REPEATED and most >= REPEATED_SHARE * telling:
        return True
    if telling >= 2 * LISTED and len(counts) <= DISTINCT_SHARE * telling:
        return True
    return text.isascii() and len(words) - telling <= JOINING_SHARE * len(words) and not any(map(str.isdigit, text))
