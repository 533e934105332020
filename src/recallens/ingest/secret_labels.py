"""The name of a secret where a layout sets it apart, and the values that such a name can have."""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from recallens.ingest.secret_values import (
    ADDRESS,
    DIGIT,
    GROUPS,
    MOST_WORDS,
    SHORTEST_RANDOM,
    SHORTEST_SECRET,
    SNAKE_AND_NUMBER,
    is_known,
    is_placeholder,
    is_secret_value,
    shape_of,
)
from recallens.text.languages import PACKS, alternatives, each
from recallens.text.stopwords import query_stopwords

Span = tuple[int, int]


class Sort(Enum):
    """What a name calls, which says what its value can be."""

    PASSWORD = "password"  # nosec B105: the name of a sort
    PIN = "pin"
    KEY = "key"


class Trust(Enum):
    """How surely a layout says that a value belongs to a name."""

    ASSIGNED = "assigned"  # one value for one name, by a sign that says so
    LISTED = "listed"  # a cell of a table
    FOLLOWS = "follows"  # what comes next and may be anything


class Cell(NamedTuple):
    start: int
    end: int


LONGEST_LABEL: Final = 48
# Of a key: as many digits in one place, or digits in two, are no number behind a word.
MANY_DIGITS: Final = 4
SHORTEST_WORD: Final = 6
# A syllable of a script that writes them as one letter says as much as two or three letters.
SHORTEST_COINED: Final = 4

_PASSWORDS: Final = alternatives(lambda pack: pack.secrets.passwords)
_PINS: Final = alternatives(lambda pack: pack.secrets.pins)
_KEYS: Final = alternatives(lambda pack: pack.secrets.keys)
# What every name holds one of: looking for these costs less than looking for the names.
SIGNS: Final = tuple(dict.fromkeys(" ".join(each(lambda pack: pack.secrets.label_signs)).split()))
_OWN: Final = "".join(pack.letters for pack in PACKS)
_LABEL: Final = re.compile(
    rf"(?:[^\s|,]{{1,24}}+ ){{0,4}}?[{_OWN}]{{0,8}}?"
    rf"(?:(?P<password>{_PASSWORDS})|(?P<pin>{_PINS})|(?P<key>{_KEYS}))(?: ?\([^()]{{0,24}}\))?"
)
STATE: Final = re.compile(alternatives(lambda pack: pack.secrets.states))
_GENERAL: Final = re.compile(alternatives(lambda pack: pack.secrets.general))
_DESCRIPTION: Final = frozenset(" ".join(pack.secrets.descriptions for pack in PACKS).split())
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # dbPassword, DBPassword
_BETWEEN: Final = re.compile(r"[\s._:/\\-]+")
# A line may end in two letters, of which the first is then the last of its cells.
_MARKUP: Final = "`*\"'“”‘’ \t\r"
_DIGITS: Final = re.compile(r"\d+")
_LONG_CODE: Final = re.compile(r"\d{4,12}[#*]?")
_ENTITLED: Final = re.compile(r"[A-Z][a-z]+\d{1,2}")  # Page12
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:[01]\d[0-3]\d)?")


def sort_of(label: str, *, assigned: bool = False) -> Sort | None:
    """What a text names that is nothing but the name of a secret: `DB password`, `AccessToken`, `**비밀번호**:`."""
    label = label.strip(_MARKUP + "#>:：=-")
    lowered = label.lower()
    if len(label) > LONGEST_LABEL or not any(map(lowered.__contains__, SIGNS)):
        return None
    if '":' in label:  # a field of JSON that a comma ends, with its own name
        return None
    plain = _BETWEEN.sub(" ", _CAMEL.sub(" ", label)).lower().replace("_", " ")
    match = _LABEL.fullmatch(plain) or _LABEL.fullmatch(lowered)
    if match is None or (lowered == "pin" and label != "PIN" and not assigned):  # a chip has pins, in tables too
        return None
    return Sort.PASSWORD if match["password"] else Sort.PIN if match["pin"] else Sort.KEY


def is_secret(value: str, sort: Sort, trust: Trust, *, plain: bool = False) -> bool:
    """Whether a value is what such a name calls. A `plain` word is one only where everything else says so."""
    lowered = value.lower()
    if sort is Sort.PASSWORD and SNAKE_AND_NUMBER.fullmatch(value):
        return not is_placeholder(value)  # a name in code, and a password in a note
    if is_placeholder(value) or is_known(value) or (sort_of(value) is not None and not DIGIT.search(value)):
        return False
    if STATE.fullmatch(lowered) or lowered in _DESCRIPTION or lowered in query_stopwords():
        return False
    if sort is Sort.PIN or (_LONG_CODE.fullmatch(value) and sort is Sort.PASSWORD):
        return bool(_LONG_CODE.fullmatch(value)) and (sort is Sort.PIN or not _DATE.fullmatch(value))
    if " " in value:
        told = DIGIT.search(value) is not None and not value[0].isdigit() and not _GENERAL.search(lowered)
        return sort is Sort.PASSWORD and trust is not Trust.FOLLOWS and told and value.count(" ") < MOST_WORDS
    if sort is Sort.KEY:
        runs = _DIGITS.findall(value)
        many = len(runs) > 1 or any(len(run) >= MANY_DIGITS for run in runs)
        return len(value) >= SHORTEST_RANDOM and many and is_secret_value(value, quoted=False)
    shape = shape_of(value, quoted=False)
    if shape == "coined" and len(value) >= SHORTEST_COINED:
        return True
    if len(value) < SHORTEST_SECRET or (ADDRESS.search(value) and trust is not Trust.ASSIGNED):
        return False
    group = GROUPS.get(shape or "")
    if group == "word" and plain:
        return shape != "camel" and len(value) >= SHORTEST_WORD
    if trust is Trust.FOLLOWS and _ENTITLED.fullmatch(value):
        return False
    made = shape != "dotted" and group in ("made", "numbered", "odd")
    return made or (trust is Trust.ASSIGNED and is_secret_value(value, quoted=False))


def trimmed(text: str, start: int, end: int) -> Cell:
    """A cell without the blanks and the marks around its words."""
    cell = text[start:end]
    start += len(cell) - len(cell.lstrip(_MARKUP))
    return Cell(start, max(start, start + len(cell.strip(_MARKUP))))


def is_assigned(value: str, sort: Sort) -> bool:
    """What an assignment in quotation marks takes, and no words beside it."""
    if STATE.fullmatch(value.lower()):
        return False
    return (sort is not Sort.PIN and is_secret_value(value, quoted=True)) or is_secret(value, sort, Trust.ASSIGNED)
