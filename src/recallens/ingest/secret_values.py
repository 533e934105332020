"""Whether a value is a secret: what people and generators make, and not a placeholder, a name or a number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
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
# Of a value in prose that is no number: shorter ones are names of rooms and versions.
SHORTEST_MIXED: Final = 5
# Digits in several places are no year or number behind a word.
SHORTEST_RANDOM: Final = 8
MIN_RUNS: Final = 2
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

# SHA-256, ADR-021: a name, and no secret.
NAME_AND_NUMBER: Final = re.compile(r"(?:[A-Z]{1,4}|[A-Z]+[-_.])\d+(?:\.\d+)*|[A-Z][a-z]+-\d|[A-Z]\d+-\d+")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+\S*", re.IGNORECASE)
# What texts about passwords name beside them: ways to hash and encode, systems, protocols.
KNOWN_NAME: Final = re.compile(
    r"(?:(?:hmac|pbkdf2?|ssl|tls)[-_])?(?:sha|md|aes|rsa|des|base|utf|argon|pbkdf|oauth|bcrypt|scrypt|ed|hmac|tls|crc|ip"
    r"|http|windows|win|ubuntu|debian|python|java|node|postgres(?:ql)?|mysql|oracle|iphone|android|rfc|iso)"
    r"[-_v]{0,2}\d+[-_\w.]{0,40}(?::\w+)?|1password\w{0,4}|(?:ecdsa|ed|http|utf)[-_]?\d+|bcrypt|scrypt|argon|saml|oauth"
    r"|vault|bitwarden|lastpass|keepass",
    re.IGNORECASE,
)
SNAKE_AND_NUMBER: Final = re.compile(r"[a-z]+_[a-z]*\d{2,}[a-z]?")
_KNOWN: Final = (NAME_AND_NUMBER, SNAKE_AND_NUMBER, _VERSION, KNOWN_NAME)

# What a value in prose can be made of, and as what it counts beside a name.
GROUPS: Final[Mapping[str, str]] = {
    "key": "made", "random": "made", "strong": "made", "mixed": "made", "signed": "made", "dotted": "made",
    "coined": "made",  # letters of one language with digits or signs
    "numbered": "numbered",  # a word and one or two digits
    "short": "short",
    "digits": "digits", "few digits": "digits", "year": "digits", "long number": "digits",
    "word": "word", "proper": "word", "camel": "word", "compound": "word", "own": "word",
    "odd": "odd",  # letters that make no word
    "words": "words",
}  # fmt: skip
_OWN: Final = "".join(each(lambda pack: pack.letters))
_OWN_LETTER: Final = re.compile(f"[{_OWN}]")
# As a seed of one-time passwords is shown.
# Small letters in groups are words, but where one has no vowel.
SEED: Final = (
    r"(?:(?:[A-Z2-7]{4} ){3,7}[A-Z2-7]{4}"
    r"|(?=(?:\w{4} ){0,3}(?!\d{4})[0-9b-df-hj-np-tvwxz]{4}(?![^ ]))(?:[a-z0-9]{4} ){3,7}[a-z0-9]{4}(?![a-zA-Z0-9]))"
)
_SEED: Final = re.compile(SEED)
_GROUPED_DIGITS: Final = re.compile(r"[#*]?\d(?:[ -]?\d){2,15}[#*]{0,2}|[#*]\d{3,8}[#*]?")
_SHORT_DIGITS: Final = 9
# A dial: `right 31, left 12, right 7`.
_TURN: Final = rf"(?:{alternatives(lambda pack: pack.secrets.turns)})"
_NEXT: Final = r",? (?:\w{2,4} )?"
_TURNED: Final = (rf"{_TURN} \d{{1,2}}(?!\d)", rf"\d{{1,2}} {_TURN}")
DIAL: Final = f"(?i:{'|'.join(f'{turned}(?:{_NEXT}{turned}){{1,4}}' for turned in _TURNED)})"
_DIAL: Final = re.compile(DIAL)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_DATE: Final = re.compile(r"(?:19|20)\d\d-[01]?\d(?:-[0-3]?\d)?")
_SIGNED: Final = re.compile(r"[A-Za-z]+(?:[!@#$%^&*~]+[A-Za-z]+)+[!*#]*|[A-Za-z]{4,}[@#$%^*~]")
_NO_VALUE: Final = re.compile(r"\A0x|[(){}\[\]<>=|\\]")
_COMPOUND: Final = re.compile(r"[A-Za-z]+(?:[-_][A-Za-z]+)+")
# `8f3k-22mq`: as recovery codes are written.
_BLOCKS: Final = re.compile(
    r"(?=[a-z]*\d)(?:[a-zA-Z0-9]{4,5}-)+(?=[a-z]*\d)[a-zA-Z0-9]{4,5}|(?=\D*\d)\w{2,4}(?:-\w{4}){2,}"
)
_NUMBERED: Final = re.compile(r"[A-Za-z]+(?:[-_][A-Za-z]+)*[-_]?\d{1,2}")
_WORD_AND_NUMBER: Final = re.compile(r"[A-Za-z]+\.\d+[!#]?|[A-Z][a-z]+\.[A-Z][a-z]+\d+[!#]?")
_DOTTED: Final = re.compile(r"[\w-]+(?:\.[A-Za-z_]\w*)+")
_CONSONANTS: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{5}")
_CAPITAL_INSIDE: Final = re.compile(r"[a-z][A-Z]")
_CAPITALS: Final = re.compile(r"(?:[A-Z][\w.'’]+ ){1,3}[A-Z][\w'’]+")
_WORDS: Final = re.compile(r"[\w!&'-]+(?: [\w!&'-]+){1,7}")


def is_own(letter: str) -> bool:
    """Whether it is a letter that belongs to one language alone."""
    return _OWN_LETTER.match(letter) is not None


def is_known(value: str) -> bool:
    """Whether a value names something that texts about passwords name: an algorithm, a system, a version, a ticket."""
    return any(pattern.fullmatch(value) for pattern in _KNOWN)


def shape_of(value: str, *, quoted: bool) -> str | None:
    """What a value in prose is made of, a key of GROUPS; None is surely no secret."""
    if _GROUPED_DIGITS.fullmatch(value):
        if _DATE.fullmatch(value):
            return None
        digits = sum(map(str.isdigit, value))
        if digits == 3 or digits >= _SHORT_DIGITS:
            return "few digits" if digits == 3 else "long number"
        return "year" if _YEAR.fullmatch(value) else "digits"
    if _SEED.fullmatch(value):
        return "strong"
    if _DIAL.fullmatch(value):
        return "digits"
    if _NO_VALUE.search(value) or is_placeholder(value) or (value.isupper() and value.replace("_", "").isalpha()):
        return None
    if " " in value and not quoted and _CAPITALS.fullmatch(value):
        return "proper"
    if " " in value:
        return "words" if quoted and _WORDS.fullmatch(value) else None
    if (ADDRESS.search(value) and not _WORD_AND_NUMBER.fullmatch(value)) or (not quoted and is_known(value)):
        return None
    own, digit = _OWN_LETTER.search(value), DIGIT.search(value)
    if own and value.isalpha() and all(map(is_own, value)):
        return "own"
    if own:
        return "coined" if not value[0].isdigit() or _LETTER.search(value) is None else None
    if digit and _LETTER.search(value) and not _DATE_OR_NUMBER.fullmatch(value):
        return _shape_of_mixed(value)
    if digit or not _LETTER.search(value):
        return None
    return _shape_of_letters(value)


def _shape_of_mixed(value: str) -> str | None:
    if len(value) < SHORTEST_MIXED:
        return "short" if len(value) == SHORTEST_MIXED - 1 else None
    is_scattered = len(_DIGITS.findall(value)) >= MIN_RUNS and _KEY_LETTERS.fullmatch(value)
    if len(value) >= SHORTEST_RANDOM and is_scattered:
        return "random"
    if _NUMBERED.fullmatch(value):
        return "numbered"
    if is_key_like(value) or _BLOCKS.fullmatch(value):
        return "key"
    return "dotted" if _DOTTED.fullmatch(value) else "strong" if is_strong(value) else "mixed"


def _shape_of_letters(value: str) -> str | None:
    if _SIGNED.fullmatch(value):
        return "signed" if len(value) >= SHORTEST_SECRET else None
    if _COMPOUND.fullmatch(value):
        return "compound"
    if not value.isascii() or not value.isalpha() or len(value) < SHORTEST_MIXED:
        return None
    if _CONSONANTS.search(value):
        return "odd"
    return "camel" if _CAPITAL_INSIDE.search(value) else "word" if value.islower() else "proper"


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


# What a card of a network begins with, and how many digits it has: Visa, Mastercard, American Express, Diners,
# Discover, JCB, UnionPay and the cards of Korea alone.
_CARD: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}"
    r"|(?:6011|64[4-9]\d|65\d\d|35\d\d)\d{12}|62\d{14,17}|9[4-9]\d{14}"
)
_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def is_card_number(digits: str) -> bool:
    """Whether these are the digits of a payment card: of a network, with the check digit that Luhn's sum asks for."""
    if not digits.isascii() or not _CARD.fullmatch(digits):
        return False
    total = sum(_DOUBLED[int(digit)] if at % 2 else int(digit) for at, digit in enumerate(reversed(digits)))
    return total % 10 == 0
