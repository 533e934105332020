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
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, Final
from unicodedata import category

from recallens.deadline import check
from recallens.text.languages import PACKS, alternatives
from recallens.text.normalize import fold, nfc
from recallens.text.scripts import HAN, HANGUL, HANGUL_JOINING, KANA, MARKS, UNSPACED

Span = tuple[str, int, int]

# An index that holds other tokens than these must be rebuilt, so the number rises with every change of rule.
TOKENIZER_VERSION: Final = 1

# Longer tokens are blobs that nobody types; truncating keeps them matchable by an equal blob.
MAX_TOKEN: Final = 64
# Distinct chunks that are remembered: about 25 MB when full, then it starts anew.
CACHE_LIMIT: Final = 131_072
# Looking a stem up takes a twentieth of the time of finding it. 65,536 take about 10 MB and cover the vocabulary of a
# large store; past that the memory starts anew, which costs less than ordering every hit.
STEM_CACHE_LIMIT: Final = 65_536

_stems: dict[str, str] = {}
_tokens_of_chunk: dict[str, tuple[str, ...]] = {}
_lock = threading.Lock()
_stemmer: Any = None

# Without separators and longer than this, it is a blob (base64, a minified line), whose humps mean nothing.
LONGEST_IDENTIFIER: Final = 64
_PLAIN: Final = re.compile(r"[A-Za-z]?[a-z]+|[A-Z]+s?")
_PART: Final = re.compile(r"v?\d++(?:\.\d++)++(?![A-Za-z])|[^-./\\_+#,]++")
_HUMP: Final = re.compile(r"[A-Z]{2,}s(?![a-z\d])|[A-Z\d]+(?![a-z\d])|[A-Z]?[a-z\d]+")
# `python3` is looked for as `python`, but `e11000`, `s3` and `ts2345` are names as they stand.
_NUMBERED: Final = re.compile(r"([a-z]{3,})\d+")
_GROUPED_NUMBER: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER: Final = re.compile(r"[vV]?\d++(?:\.\d++)*")
_TIMESTAMP: Final = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d)")
_BETWEEN_APOSTROPHES: Final = re.compile(r"[^']+")
_NEGATED: Final = re.compile(alternatives(lambda pack: pack.negated_contraction), re.IGNORECASE)
_CLITICS: Final = frozenset[str]().union(*(pack.clitics for pack in PACKS))

_BIGRAM_SCRIPTS: Final = HANGUL + HAN + KANA + UNSPACED
_LETTER: Final = rf"[^\W_{_BIGRAM_SCRIPTS}]"
# Joints of one compound. Bounded, since the regex engine remembers every round of a loop it may unwind.
_MOST_JOINTS: Final = 63


def _chunk_pattern(letter: str, word: str) -> str:
    joints = (
        rf"_++(?={letter})"  # snake_case
        rf"|_{{0,2}}+[-./\\]_{{0,2}}+(?={letter})"  # kebab-case, dotted.path, src/__init__.py
        rf"|['’](?={letter})"  # user's
        r"|(?<=\d),(?=\d{3}(?!\d))"  # 1,000
    )
    return (
        r"(?:(?<![\w.])\.(?=[A-Za-z]))?"  # .net, .env
        rf"(?:(?<!_)__?(?={letter}))?"  # _private, __init__
        rf"{word}(?:(?:{joints}){word}){{0,{_MOST_JOINTS}}}"
        r"(?:__(?!\w)|\+\+\d*+(?!\w)|(?<=[A-Za-z])(?<![^\W_][^\W_])\#(?!\w))?"  # __init__, c++17, c#
    )


_ASCII_CHUNK: Final = re.compile(_chunk_pattern("[A-Za-z0-9]", "[A-Za-z0-9]++"))


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


def tokenize(text: str) -> list[str]:
    """The tokens of any text, in text order."""
    check()
    known = _tokens_of_chunk
    tokens: list[str] = []
    extend = tokens.extend
    for chunk in _chunk_regex(text).findall(nfc(text)):
        remembered = known.get(chunk)
        extend(_learn(chunk) if remembered is None else remembered)
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
    remembered = _tokens_of_chunk.get(word)
    return tokenize(word) if remembered is None else remembered


def _chunk_regex(text: str) -> re.Pattern[str]:
    # The ASCII pattern finds the same chunks in ASCII text, three times as fast.
    return _ASCII_CHUNK if text.isascii() else _any_chunk()


def _learn(chunk: str) -> tuple[str, ...]:
    # Bigrams need no spans here, and a long run has millions of them.
    tokens = tuple(_bigrams(chunk) if _is_bigram_run(chunk) else [token for token, _, _ in _analyse(chunk)])
    if len(chunk) <= MAX_TOKEN:
        if len(_tokens_of_chunk) >= CACHE_LIMIT:
            _tokens_of_chunk.clear()
        _tokens_of_chunk[chunk] = tokens
    return tokens


def _analyse(chunk: str) -> list[Span]:
    if _is_bigram_run(chunk):
        return [(token, at, min(at + 2, len(chunk))) for at, token in enumerate(_bigrams(chunk))]
    return [(token[:MAX_TOKEN], start, end) for token, start, end in _compound_spans(chunk.replace("’", "'"))]


def _is_bigram_run(chunk: str) -> bool:
    return not chunk.isascii() and _bigram_start().match(chunk) is not None


def _bigrams(run: str) -> list[str]:
    """No script cut this way has case, so nothing is folded."""
    return [run] if len(run) == 1 else list(map(str.__add__, run, run[1:]))


def is_bigram(token: str) -> bool:
    """Whether it is a pair of syllables of a script whose words are cut so."""
    return len(token) == 2 and _is_bigram_run(token)


def is_across(before: str, token: str, after: str) -> bool:
    """Whether it is the pair of syllables between two others of one run: 수번 in 접수번호."""
    return (
        is_bigram(token) and before[-1] == token[0] and token[-1] == after[0] and is_bigram(before) and is_bigram(after)
    )


def _offsets(text: str, composed_length: int) -> tuple[list[int], list[int]]:
    """For each character of the composed text, where in the given text it starts and ends."""
    starts: list[int] = []
    ends: list[int] = []
    begin = 0
    for at in range(1, len(text) + 1):
        # A mark, or a Hangul vowel or final, may be merged into what stands before it.
        if at < len(text) and (HANGUL_JOINING[0] <= text[at] <= HANGUL_JOINING[1] or category(text[at])[0] == "M"):
            continue
        size = len(nfc(text[begin:at]))
        starts += [begin] * size
        ends += [at] * size
        begin = at
    # A later Unicode version may compose across what looks like a boundary here; clamping keeps spans inside.
    missing = composed_length - len(starts)
    return starts + [begin] * missing, ends + [len(text)] * missing


def _compound_spans(chunk: str) -> list[Span]:
    """The tokens of one chunk with their offsets in it: its parts in order, then itself whole."""
    if len(chunk) <= LONGEST_IDENTIFIER and _PLAIN.fullmatch(chunk):
        return [(stem(chunk.lower()), 0, len(chunk))]
    if "'" in chunk:
        return _apostrophe_spans(chunk)
    return _number_spans(chunk) or _joined_spans(chunk)


def _joined_spans(chunk: str) -> list[Span]:
    parts = [(part.group(), part.start()) for part in _PART.finditer(chunk)]
    spans = [span for word, at in parts for span in _word_spans(word, at)]
    # Underscores around the whole stay only where they make a dunder name.
    is_dunder = chunk.startswith("__") and chunk.endswith("__")
    whole = fold(chunk if is_dunder else chunk.strip("_")).replace("\\", "/")
    if len(parts) == 1 and whole == fold(parts[0][0]):
        return spans
    return [*spans, (whole, 0, len(chunk))]


def _apostrophe_spans(chunk: str) -> list[Span]:
    """`user's` is user; `don't` stays, since it turns a meaning around; `O'Brien` is a compound."""
    if _NEGATED.fullmatch(chunk):
        return [(chunk.lower(), 0, len(chunk))]
    base, _, clitic = chunk.rpartition("'")
    name = base if clitic.lower() in _CLITICS else chunk
    pieces = [(piece.start(), piece.group()) for piece in _BETWEEN_APOSTROPHES.finditer(name)]
    spans = [(token, at + start, at + end) for at, piece in pieces for token, start, end in _compound_spans(piece)]
    if len(pieces) == 1:
        return spans
    return [*spans, (fold(name.strip("_")), 0, len(name))]


def _number_spans(chunk: str) -> list[Span]:
    """Numbers and versions stay whole: the 3 of 3.14 finds nothing that anyone looks for."""
    if _NUMBER.fullmatch(chunk):
        whole = chunk.lower()
        if whole[0] == "v" and "." in whole:
            return [(whole[1:], 1, len(chunk)), (whole, 0, len(chunk))]
        return [(whole, 0, len(chunk))]
    if "," in chunk and _GROUPED_NUMBER.fullmatch(chunk):
        return [(chunk.replace(",", ""), 0, len(chunk))]
    timestamp = _TIMESTAMP.fullmatch(chunk)
    if timestamp:
        return [*_joined_spans(timestamp[1]), (timestamp[2], timestamp.start(2), timestamp.end(2))]
    return []


def _word_spans(word: str, at: int) -> list[Span]:
    """One part: a plain word, a version, or humps and then the whole."""
    end = at + len(word)
    if not word.isascii() or len(word) > LONGEST_IDENTIFIER or "." in word:
        return [(fold(word), at, end)]
    if _PLAIN.fullmatch(word):
        return [(stem(word.lower()), at, end)]
    humps = list(_HUMP.finditer(word))
    if len(humps) < 2:
        return _numbered_spans(word, at)
    spans = [span for hump in humps for span in _numbered_spans(hump.group(), at + hump.start())]
    whole = word.lower()
    spans.append((whole, at, end))
    # Typed in lower case the same name is a plain word, which is stemmed: both must meet.
    if whole.isalpha() and (stemmed := stem(whole)) != whole:
        spans.append((stemmed, at, end))
    return spans


def _numbered_spans(word: str, at: int) -> list[Span]:
    lower = word.lower()
    if lower.isalpha():
        return [(stem(lower), at, at + len(word))]
    numbered = _NUMBERED.fullmatch(lower)
    if numbered is None:
        return [(lower, at, at + len(word))]
    name = numbered.group(1)
    return [(stem(name), at, at + len(name)), (lower, at, at + len(word))]


def stem(word: str) -> str:
    """The English stem (Porter 2) of a casefolded word of ASCII letters."""
    global _stemmer
    if len(word) < 3:  # Porter 2 leaves these alone
        return word
    known = _stems.get(word)
    if known is not None:
        return known
    # The stemmer keeps its working word in itself, so that two threads would mix theirs.
    with _lock:
        if _stemmer is None:
            from Stemmer import Stemmer

            _stemmer = Stemmer("english", 0)  # it would keep words of its own: none are needed beside ours
        stemmed: str = _stemmer.stemWord(word)
    if len(_stems) >= STEM_CACHE_LIMIT:
        _stems.clear()
    _stems[word] = stemmed
    return stemmed
