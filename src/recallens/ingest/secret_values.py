"""Whether a value is a secret: what people and generators make, and not a placeholder, a name or a number."""

from __future__ import annotations

import re
from collections import Counter
from math import log2
from typing import Final

from recallens.text.languages import alternatives, each

# Shannon entropy in bits a character. Over 32 characters random base64 has about 4.5, hexadecimal at most 4 and
# words or paths about 3.8, so checksums and file names stay.
ENTROPY_FLOOR: Final = 4.25
SHORTEST_ENTROPIC: Final = 32
# Of a value behind a provider's name: lower is a word or a number.
NAMED_ENTROPY: Final = 3.0

# A shorter value is as likely a word of the sentence.
SHORTEST_SECRET: Final = 6
# What is read of a value before it is judged; one that is longer goes with all the rest of it.
LONGEST_LOOK: Final = 128
SHORTEST_QUOTED_WORD: Final = 6
# Of a password that is made of words; one that is longer is a phrase of a wallet.
MOST_WORDS: Final = 6
LONGEST_PASSWORD: Final = 64
# Of a key that stands behind its name without a sign: shorter ones, and those with fewer digits, may be names in code.
SHORTEST_KEY: Final = 16
MIN_KEY_DIGITS: Final = 2

_PLACEHOLDER: Final = re.compile(
    rf"[<\[{{(%$]|(.)\1*\Z|(?:{alternatives(lambda pack: pack.secrets.placeholder_openings)})[-_ ]", re.IGNORECASE
)
_PLACEHOLDER_WORD: Final = re.compile(
    rf"\.\.\.|…|\*\*\*|xxxx|{alternatives(lambda pack: pack.secrets.placeholders)}", re.IGNORECASE
)
_DESCRIBING_WORDS: Final = frozenset(" ".join(each(lambda pack: pack.secrets.descriptions)).split())
_IDENTIFIER: Final = re.compile(
    r"[A-Za-z_]+(?:\.[A-Za-z_]\w*)*|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+|[\w-]+(?:\.[A-Za-z_]\w*)+"
)
_SPACE: Final = re.compile(r"\s")
_LETTER: Final = re.compile(r"[^\W\d_]")
DIGIT: Final = re.compile(r"\d")
_DIGITS: Final = re.compile(r"\d+")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{24,128}|[0-9A-F]{24,128}")
_KEY_LETTERS: Final = re.compile(r"[A-Za-z0-9_+=~-]+")
_DIGIT_OR_SIGN: Final = re.compile(r"\d|[^\w./:-]")
_DATE_OR_NUMBER: Final = re.compile(r"[\d.,:/+-]+[a-z%]{0,3}", re.IGNORECASE)
STRONG_SIGN: Final = re.compile(r"[!@#$%^&*~](?=.)|[!#$%^&*~]\Z")
ADDRESS: Final = re.compile(r"://|/|@[\w-]+\.|\.\w{2,4}\Z|\A[-$]")


def is_secret_value(value: str, *, quoted: bool) -> bool:
    """Whether a value assigned to a password or key is the secret itself: no placeholder, expression or prose."""
    if len(value) < SHORTEST_SECRET or _SPACE.search(value):
        return False
    # A digit or a sign beside letters, as in what people and generators make; a number or a date is neither.
    is_mixed = _LETTER.search(value) and _DIGIT_OR_SIGN.search(value) and not _DATE_OR_NUMBER.fullmatch(value)
    is_word = value.isalpha() and len(value) >= SHORTEST_QUOTED_WORD and value.lower() not in _DESCRIBING_WORDS
    likely = is_mixed or is_word if quoted else is_mixed and not _IDENTIFIER.fullmatch(value)
    return bool(likely) and not is_placeholder(value)


def is_strong(value: str) -> bool:
    """Whether a word can hardly be anything but a password: letters and digits with a sign, or of both cases."""
    if not (DIGIT.search(value) and _LETTER.search(value)):
        return False
    both_cases = value.lower() != value != value.upper() and ("-" in value or "_" in value)
    other = is_placeholder(value) or ADDRESS.search(value) or _IDENTIFIER.fullmatch(value)
    return bool(both_cases or STRONG_SIGN.search(value)) and not other


def is_key_like(value: str) -> bool:
    """Whether a value looks like what a generator makes: digits all over letters of both cases, or hexadecimal."""
    if len(value) < SHORTEST_KEY or ADDRESS.search(value) or not _KEY_LETTERS.fullmatch(value):
        return False
    runs = _DIGITS.findall(value)
    if _HEXADECIMAL.fullmatch(value):
        return len(runs) > 1
    scattered = len(runs) > 1 and sum(map(len, runs)) > MIN_KEY_DIGITS
    return scattered and value.lower() != value != value.upper() and entropy(value) >= NAMED_ENTROPY


def is_placeholder(value: str) -> bool:
    """Whether a value only says that a secret goes there: <password>, ${PASSWORD}, xxxx, your-api-key."""
    return _PLACEHOLDER.match(value) is not None or _PLACEHOLDER_WORD.search(value) is not None


def is_entropic(value: str) -> bool:
    """Whether a value is random rather than spelled."""
    if len(value) < SHORTEST_ENTROPIC or value.startswith(("sha256-", "sha384-", "sha512-")):
        return False
    has_all = all(any(map(sort, value)) for sort in (str.isdigit, str.isupper, str.islower))
    return has_all and entropy(value) >= ENTROPY_FLOOR


def entropy(value: str) -> float:
    """H = −Σ p·log2(p) over the characters."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values())
