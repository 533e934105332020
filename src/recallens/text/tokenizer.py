"""The one tokenizer: indexing, queries, overlap and dedupe all read text through it.

A text is cut into chunks; a chunk is analysed on its own, so its tokens can be remembered.

- English words are stemmed: `Users'` and `user` are one token.
- A compound (camelCase, snake_case, kebab-case, dotted.path, slash/path.ts) gives its parts, stemmed, and
  then itself whole: `getUserName` gives get, user, name, getusername.
- Runs of Hangul, Han, kana and of scripts without spaces give character bigrams: 인증 finds 사용자인증을.
- Any other word is kept as it is, casefolded.

Runs are matched possessively and loops are bounded: no input makes the scan more than linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final
from unicodedata import category

from recallens.text.compounds import Span, compound_spans
from recallens.text.normalize import nfc
from recallens.text.scripts import HAN, HANGUL, KANA, MARKS, UNSPACED

# An index that holds other tokens than these must be rebuilt, so the number rises with every change of rule.
TOKENIZER_VERSION: Final = 1

# Longer tokens are blobs that nobody types; truncating keeps them matchable by an equal blob.
MAX_TOKEN: Final = 64

# Distinct chunks remembered; about 25 MB when full, then it starts anew.
CACHE_LIMIT: Final = 131_072

_BIGRAM_SCRIPTS: Final = HANGUL + HAN + KANA + UNSPACED


# Joints of one compound. Bounded, since the regex engine remembers every round of a loop it may unwind.
_MOST_JOINTS: Final = 63


def _chunk_pattern(letter: str, word: str) -> str:
    joints = "|".join(
        (
            rf"_++(?={letter})",  # snake_case
            rf"_{{0,2}}+[-./\\]_{{0,2}}+(?={letter})",  # kebab-case, dotted.path, src/__init__.py
            rf"['’](?={letter})",  # user's
            r"(?<=\d),(?=\d{3}(?!\d))",  # 1,000
        )
    )
    return (
        r"(?:(?<![\w.])\.(?=[A-Za-z]))?"  # .net, .env
        rf"(?:(?<!_)__?(?={letter}))?"  # _private, __init__
        rf"{word}(?:(?:{joints}){word}){{0,{_MOST_JOINTS}}}"
        r"(?:__(?!\w)|\+\+\d*+(?!\w)|(?<=[A-Za-z])(?<![^\W_][^\W_])\#(?!\w))?"  # __init__, c++17, c#
    )


_ASCII_CHUNK: Final = re.compile(_chunk_pattern("[A-Za-z0-9]", "[A-Za-z0-9]++"))

_LETTER: Final = rf"[^\W_{_BIGRAM_SCRIPTS}]"


@cache
def _any_chunk() -> re.Pattern[str]:
    """Compiled by the first text that is not ASCII: it takes 20 ms."""
    return re.compile(
        f"[{HANGUL}]++|[{HAN}{KANA}]++|[{UNSPACED}]++|"
        + _chunk_pattern(_LETTER, rf"{_LETTER}++(?:[{MARKS}]++{_LETTER}*+){{0,{_MOST_JOINTS}}}")
    )


@cache
def _bigram_start() -> re.Pattern[str]:
    return re.compile(f"[{_BIGRAM_SCRIPTS}]")


_tokens_of_chunk: dict[str, tuple[str, ...]] = {}


def tokenize(text: str) -> list[str]:
    """The tokens of any text, in text order."""
    known = _tokens_of_chunk
    tokens: list[str] = []
    extend = tokens.extend
    for chunk in _chunk_regex(text).findall(nfc(text)):
        found = known.get(chunk)
        extend(_learn(chunk) if found is None else found)
    return tokens


def token_spans(text: str) -> list[tuple[str, int, int]]:
    """The same tokens, each with the start and end of what it came from in the text as given."""
    composed = nfc(text)
    spans = [
        (token, chunk.start() + start, chunk.start() + end)
        for chunk in _chunk_regex(text).finditer(composed)
        for token, start, end in _analyse(chunk.group())
    ]
    if composed == text:
        return spans
    starts, ends = _offsets(text, len(composed))
    return [(token, starts[start], ends[end - 1]) for token, start, end in spans]


def tokens_of(word: str) -> Sequence[str]:
    """The tokens of one word, quickly where it has been met before."""
    found = _tokens_of_chunk.get(word)
    return tokenize(word) if found is None else found


def _chunk_regex(text: str) -> re.Pattern[str]:
    # The ASCII pattern finds the same chunks in ASCII text, three times as fast.
    return _ASCII_CHUNK if text.isascii() else _any_chunk()


def _learn(chunk: str) -> tuple[str, ...]:
    # Bigrams need no spans here, and a long run has millions of them.
    is_run = _is_bigram_run(chunk)
    tokens = tuple(_bigrams(chunk) if is_run else [token for token, _, _ in _analyse(chunk)])
    if len(chunk) <= MAX_TOKEN:
        if len(_tokens_of_chunk) >= CACHE_LIMIT:
            _tokens_of_chunk.clear()
        _tokens_of_chunk[chunk] = tokens
    return tokens


def _analyse(chunk: str) -> list[Span]:
    if _is_bigram_run(chunk):
        return [(token, at, min(at + 2, len(chunk))) for at, token in enumerate(_bigrams(chunk))]
    return _truncated(compound_spans(chunk.replace("’", "'")))


def _is_bigram_run(chunk: str) -> bool:
    return not chunk.isascii() and _bigram_start().match(chunk) is not None


def _bigrams(run: str) -> list[str]:
    """No script cut this way has case, so nothing is folded."""
    return [run] if len(run) == 1 else list(map(str.__add__, run, run[1:]))


def _truncated(spans: list[Span]) -> list[Span]:
    return [(token[:MAX_TOKEN], start, end) for token, start, end in spans]


def _offsets(text: str, composed_length: int) -> tuple[list[int], list[int]]:
    """For each character of the composed text, where in the given text it starts and ends."""
    starts: list[int] = []
    ends: list[int] = []
    begin = 0
    for at in range(1, len(text) + 1):
        if at < len(text) and _joins_previous(text[at]):
            continue
        size = len(nfc(text[begin:at]))
        starts += [begin] * size
        ends += [at] * size
        begin = at
    # A later Unicode version may compose across what looks like a boundary here; clamping keeps spans inside.
    missing = composed_length - len(starts)
    return starts + [begin] * missing, ends + [len(text)] * missing


def _joins_previous(character: str) -> bool:
    """Whether composition can merge it into what stands before: a mark, or a Hangul vowel or final."""
    return "\u1161" <= character <= "\u11c2" or category(character)[0] == "M"
