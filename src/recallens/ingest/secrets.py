"""What a secret looks like: the providers' own formats, and whether a value given to a password is one."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import log2
from typing import Final


@dataclass(frozen=True, slots=True)
class Format:
    """A provider's token: the pattern is only tried where one of the signs occurs."""

    kind: str
    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _token(kind: str, signs: tuple[str, ...], pattern: str) -> Format:
    # A token stands alone; inside a longer run of its own letters it is a part of something else. The run that
    # ends it is possessive, so that a long one is read once.
    return Format(kind, signs, re.compile(rf"(?<![A-Za-z0-9_-])(?:{pattern})(?![A-Za-z0-9_-])"))


_REST: Final = "[A-Za-z0-9_-]"

FORMATS: Final = (
    _token("aws-access-key", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    _token("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,}+"),
    _token("github-token", ("github_pat_",), rf"github_pat_{_REST}{{22,}}+"),
    _token("gitlab-token", ("glpat-", "gldt-", "glrt-", "glcbt-"), rf"gl(?:pat|dt|rt|cbt)-{_REST}{{20,}}+"),
    _token("slack-token", ("xox", "xapp-"), rf"(?:xox[abeoprs]|xapp)-{_REST}{{10,}}+"),
    _token("stripe-key", ("_live_", "_test_"), r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}+"),
    _token("stripe-key", ("whsec_",), r"whsec_[A-Za-z0-9]{24,}+"),
    _token("anthropic-key", ("sk-ant-",), rf"sk-ant-{_REST}{{20,}}+"),
    _token("openai-key", ("sk-",), rf"sk-(?!ant-)(?=[A-Za-z_-]*+[0-9]){_REST}{{20,}}+"),
    _token("google-key", ("AIza",), rf"AIza{_REST}{{35}}"),
    _token("google-key", ("ya29.",), rf"ya29\.{_REST}{{20,}}+"),
    _token("google-key", ("GOCSPX-",), rf"GOCSPX-{_REST}{{20,}}+"),
    _token("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36,}+"),
    _token("pypi-token", ("pypi-",), rf"pypi-{_REST}{{50,}}+"),
    _token("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{30,}+"),
    _token("jwt", ("eyJ",), rf"eyJ{_REST}{{5,}}+\.{_REST}{{5,}}+\.{_REST}*+"),
)

# Shannon entropy in bits a character. Over 32 characters random base64 has about 4.5, hexadecimal at most 4 and
# words or paths about 3.8, so checksums and file names stay.
ENTROPY_FLOOR: Final = 4.25
SHORTEST_ENTROPIC: Final = 32

# A shorter value is as likely a word of the sentence.
SHORTEST_SECRET: Final = 6
SHORTEST_QUOTED_WORD: Final = 8

_PLACEHOLDER: Final = re.compile(r"[<\[{(%$]|(.)\1*\Z|(?:your|my|the|some|an?|insert|enter)[-_ ]", re.IGNORECASE)
_PLACEHOLDER_WORD: Final = re.compile(
    r"\.\.\.|…|\*\*\*|xxxx|example|placeholder|redacted|change[-_]?me|dummy|sample|todo", re.IGNORECASE
)
_DESCRIBING: Final = """
string text required optional boolean number integer varchar hashed encrypted password username undefined secret
disabled enabled missing invalid expired unknown nothing anything something credentials
"""
_DESCRIBING_WORDS: Final = frozenset(_DESCRIBING.split())
_IDENTIFIER: Final = re.compile(
    r"[A-Za-z_]+(?:\.[A-Za-z_]\w*)*|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+|[\w-]+(?:\.[A-Za-z_]\w*)+"
)
_SPACE: Final = re.compile(r"\s")
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT_OR_SIGN: Final = re.compile(r"\d|[^\w./:-]")
_DATE_OR_NUMBER: Final = re.compile(r"[\d.,:/+-]+[a-z%]{0,3}", re.IGNORECASE)


def is_secret_value(value: str, *, quoted: bool) -> bool:
    """Whether a value assigned to a password or key is the secret itself: no placeholder, expression or prose."""
    if len(value) < SHORTEST_SECRET or _SPACE.search(value):
        return False
    if not quoted:
        return _is_mixed(value) and _IDENTIFIER.fullmatch(value) is None and not is_placeholder(value)
    is_word = value.isalpha() and len(value) >= SHORTEST_QUOTED_WORD and value.lower() not in _DESCRIBING_WORDS
    return (is_word or _is_mixed(value)) and not is_placeholder(value)


def is_placeholder(value: str) -> bool:
    """Whether a value only says that a secret goes there: <password>, ${PASSWORD}, xxxx, your-api-key."""
    return _PLACEHOLDER.match(value) is not None or _PLACEHOLDER_WORD.search(value) is not None


def is_entropic(value: str) -> bool:
    """Whether a value is random rather than spelled."""
    if len(value) < SHORTEST_ENTROPIC or value.startswith(("sha256-", "sha384-", "sha512-")):
        return False
    has_all = any(c.isdigit() for c in value) and any(c.isupper() for c in value) and any(c.islower() for c in value)
    return has_all and entropy(value) >= ENTROPY_FLOOR


def entropy(value: str) -> float:
    """H = −Σ p·log2(p) over the characters."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values())


def _is_mixed(value: str) -> bool:
    """A digit or a sign beside letters, as in what people and generators make; a number or a date is neither."""
    has_both = _LETTER.search(value) is not None and _DIGIT_OR_SIGN.search(value) is not None
    return has_both and _DATE_OR_NUMBER.fullmatch(value) is None
