"""Names in prose: people, organisations and products, by their spelling.

Conservative: a missed name costs one link, a wrong one links what has nothing in common.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from recallens.text.stopwords import query_stopwords
from recallens.text.tokenizer import tokenize

MOST_ENTITIES: Final = 32

# A name of more words is a heading in title case.
_MOST_WORDS: Final = 5

_WORD: Final = r"[A-Z][A-Za-z0-9À-ɏ]*+(?:['’&-][A-Za-zÀ-ɏ0-9]++){0,2}"
_NAME: Final = re.compile(rf"(?<![\w.@#/'’-]){_WORD}(?:[ ](?:(?:of|de|van|von|da|del|la|y)[ ])?{_WORD})+")
_CAMEL: Final = re.compile(r"(?<![\w./\\@#-])(?:[A-Z][a-z0-9]++|[a-z])(?:[A-Z]+[a-z0-9]*+)+(?![\w(/\\]|\.\w)")
# No name in camel case is without one.
HUMP: Final = re.compile(r"[a-z0-9][A-Z]")
_HANDLE: Final = re.compile(r"(?<![\w.@/])@[A-Za-z0-9_][\w-]{1,38}(?![\w/.-])")
_QUOTED: Final = re.compile(r"[\"“「『]([^\"“”「」『』\n]{2,48})[\"”」』]")
_KOREAN_NAME: Final = re.compile(r"[가-힣A-Za-z0-9]+(?: [가-힣A-Za-z0-9]+){0,3}")
_KOREAN_SENTENCE: Final = re.compile(r"(?:다|요|까|죠|자|라|네)$")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;…。]['\"”’)]*\s+|\n\s*|[-*•>]\s+|[\"“(\[])$")

# Capitalised because they open a sentence, not because they are part of a name.
_OPENING_WORDS: Final = """
yesterday today tomorrow tonight however therefore meanwhile finally later sometimes maybe perhaps
usually recently currently now last many decided fixed added moved removed updated changed deployed using
use switched chose created implemented set run ask call check note see met meet visited dear hey hi hello
thanks ok okay yes well install configure migrated upgraded never always during unlike remember remind
tell try get make show give find need monday tuesday wednesday thursday friday saturday sunday january
february march april june july august september october november december
"""
_ARTICLES: Final = frozenset(("The", "A", "An", "I", "I'm", "I've", "My", "Our", "Your"))

# Enough before a match to see whether a sentence starts there.
_LOOK_BACK: Final = 8


def entities(prose: str) -> tuple[str, ...]:
    """The distinct names in text order."""
    found = [(match.start(), match.group()) for match in _CAMEL.finditer(prose)] if HUMP.search(prose) else []
    found += [named for match in _NAME.finditer(prose) if (named := _name(prose, match))]
    if "@" in prose:
        found += [(match.start(), match.group()) for match in _HANDLE.finditer(prose)]
    found += [
        (match.start(1), match[1].strip()) for match in _QUOTED.finditer(prose) if _is_quoted_name(match[1].strip())
    ]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))[:MOST_ENTITIES]


def _name(prose: str, match: re.Match[str]) -> tuple[int, str] | None:
    """Two words or more, less a first word that is only capitalised because it opens the sentence."""
    words = match.group().split(" ")
    at = match.start()
    opens = at == 0 or _SENTENCE_START.search(prose[max(0, at - _LOOK_BACK) : at]) is not None
    first = 1 if opens and _is_opener(words[0]) else 0
    while first < len(words) and words[first] in _ARTICLES:
        first += 1
    at += sum(len(word) + 1 for word in words[:first])
    words = words[first:]
    is_shouted = all(word.isupper() for word in words)
    if not 2 <= len(words) <= _MOST_WORDS or is_shouted:
        return None
    return at, _without_possessive(" ".join(words))


@cache
def _openers() -> frozenset[str]:
    return query_stopwords() | frozenset(tokenize(_OPENING_WORDS))


def _is_opener(word: str) -> bool:
    return all(token in _openers() for token in tokenize(word))


def _without_possessive(name: str) -> str:
    return name[:-2] if name.endswith(("'s", "’s")) else name


def _is_quoted_name(text: str) -> bool:
    """Every word capitalised, or a short Korean phrase that is no sentence."""
    words = text.split()
    if not 1 <= len(words) <= _MOST_WORDS:
        return False
    if all(word[0].isupper() for word in words):
        return text[-1].isalnum() and not _is_opener(words[0])
    return (
        any("가" <= character <= "힣" for character in text)
        and _KOREAN_NAME.fullmatch(text) is not None
        and _KOREAN_SENTENCE.search(text) is None
    )
