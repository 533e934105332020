"""Values as given, turned into values that can be kept, or an error that says what can."""

from __future__ import annotations

import math
import re
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from recallens.errors import InvalidInput, UnknownOption
from recallens.model.times import EARLIEST_MS, LATEST_MS, to_ms
from recallens.text.normalize import MAX_TAG, MAX_TAGS, clean, tag_name
from recallens.text.scripts import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum

Option = TypeVar("Option", bound="StrEnum")

# A memory is a passage, not a file: past this size its tokens and vector say little about any part of it.
MAX_CONTENT_BYTES: Final = 4 * 1024 * 1024

MAX_NAMESPACE: Final = 128
# An epoch number above this is milliseconds: as seconds it would be after the year 5100.
_MILLISECONDS_FROM: Final = 100_000_000_000
_UNIT_MS: Final = {"s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}

_NAMESPACE: Final = re.compile(rf"[\w.\-/:@{MARKS}]+")
_RELATIVE: Final = re.compile(r"(\d{1,9})\s*(min|[smhdw])(?:\s+ago)?", re.IGNORECASE)
_EPOCH: Final = re.compile(r"-?\d{9,16}")
_YEAR_OR_MONTH: Final = re.compile(r"(\d{4})(?:-(\d{2}))?")

WHEN_FORMS: Final = (
    "an ISO 8601 date or time (2024-03-05, 2024-03, 2024-03-05T10:00:00+09:00; without a zone it is UTC), "
    "epoch seconds or milliseconds, 'now', or a time ago (30min, 12h, 3d, 2w)"
)

# Every secret has a digit, a sign that words have not, or is longer than a word.
_SECRET_SIGN: Final = re.compile(r"[0-9=:!@#$%^&*]|[!-~]{20}")


def option(enum_type: type[Option], value: object, what: str) -> Option:
    """The member that the value names, in any case."""
    if isinstance(value, enum_type):
        return value
    members = {member.value.casefold(): member for member in enum_type}
    if isinstance(value, str) and (member := members.get(value.strip().casefold())) is not None:
        return member
    raise UnknownOption(what, value, [member.value for member in enum_type])


def unit_interval(name: str, value: Any) -> float:
    """A finite number from 0 to 1."""
    try:
        number = math.nan if isinstance(value, (bool, str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number <= 1.0:
        raise InvalidInput(f"{name} is {value!r}; it must be a number from 0 to 1")
    return number


def text_content(value: object) -> str:
    """Storable text: clean, without blank lines before it or blanks after it."""
    if not isinstance(value, str):
        raise InvalidInput(f"content must be text, not {type(value).__name__}")
    content = clean(value).lstrip("\r\n").rstrip()
    if not content.strip():
        raise InvalidInput("content is empty; give at least one visible character")
    size = len(content.encode("utf-8"))
    if size > MAX_CONTENT_BYTES:
        raise InvalidInput(
            f"content is {size:,} bytes; the limit is {MAX_CONTENT_BYTES:,}",
            hint="Split it into several memories, add it as a document, or attach it as an artifact.",
        )
    return content


def namespace_name(value: object) -> str:
    name = clean(value) if isinstance(value, str) else ""
    if name != value or not 1 <= len(name) <= MAX_NAMESPACE or not _NAMESPACE.fullmatch(name):
        raise InvalidInput(f"{value!r} is no namespace; use 1 to {MAX_NAMESPACE} letters, digits and . _ - / : @")
    return name


def label(what: str, value: object) -> str | None:
    """A name that can be kept: a project, a session, an author; None where there is none."""
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {value!r}")
    return None if value is None else without_secrets(clean(value))


def without_secrets(text: str) -> str:
    """A name or a question as it may be kept. Most have no sign of a secret, and cost no rules."""
    return _redacted_name(text) if _SECRET_SIGN.search(text) else text


@lru_cache(maxsize=4096)  # a file of turns names one session thousands of times, and each name is looked at thrice
def _redacted_name(text: str) -> str:
    from recallens.ingest.redact import redact

    return redact(text)[0]


def reference(what: str, value: str) -> str:
    """An id or a path that others name: without its secret it would name nothing, so it is refused. People put a letter
    before an id, as in `s-` for a session."""
    name = clean(value)
    if any(without_secrets(part) != part for part in (name, re.sub(r"\A[A-Za-z][-_]?", "", name))):
        raise InvalidInput(f"the {what} holds what looks like a secret", hint="Give another name; nothing was stored.")
    return name


def epoch_ms(what: str, value: object) -> int | None:
    """A time as it is kept, of any year that a calendar can name; None where there is none."""
    if isinstance(value, datetime):
        return to_ms(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and EARLIEST_MS <= value <= LATEST_MS):
        return value
    raise InvalidInput(f"{what} must be a datetime or epoch milliseconds, not {value!r}")


def tags(values: Iterable[str]) -> tuple[str, ...]:
    """Distinct tags in the order given; empty ones are dropped."""
    if isinstance(values, str):
        raise InvalidInput(f"tags must be a list of texts, not the text {values!r}")
    names: dict[str, None] = {}
    for value in values:
        if not isinstance(value, str):
            raise InvalidInput(f"a tag must be text, not {type(value).__name__}")
        name = tag_name(without_secrets(value))
        if len(name) > MAX_TAG:
            raise InvalidInput(f"the tag {name[:40]!r}… has {len(name)} characters; the limit is {MAX_TAG}")
        if name:
            names[name] = None
    if len(names) > MAX_TAGS:
        raise InvalidInput(f"{len(names)} tags were given; the limit is {MAX_TAGS}")
    return tuple(names)


def parse_when(value: object, *, now_ms: int) -> int:
    """Epoch milliseconds, UTC, of any of WHEN_FORMS."""
    moment: int | None = None
    if isinstance(value, datetime):
        moment = to_ms(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        moment = _from_number(value)
    elif isinstance(value, str):
        moment = _from_text(value.strip(), now_ms)
    if moment is None or not EARLIEST_MS <= moment <= LATEST_MS:
        raise InvalidInput(f"{value!r} is not a time; use {WHEN_FORMS}")
    return moment


def later(value: object, *, now_ms: int) -> int:
    """A time to come: 30d is thirty days ago everywhere else, and ahead here."""
    try:
        when = parse_when(value, now_ms=now_ms)
    except InvalidInput as error:
        raise InvalidInput(error.message.replace("a time ago", "a time from now")) from error
    moves_with_now = parse_when(value, now_ms=now_ms + 1) != when
    return 2 * now_ms - when if moves_with_now else when


def _from_number(value: float) -> int | None:
    if not math.isfinite(value):
        return None
    return int(value) if abs(value) >= _MILLISECONDS_FROM else round(value * 1000)


def _from_text(text: str, now_ms: int) -> int | None:
    if text.casefold() == "now":
        return now_ms
    relative = _RELATIVE.fullmatch(text)
    if relative:
        return now_ms - int(relative[1]) * _UNIT_MS[relative[2].lower()]
    if _EPOCH.fullmatch(text):
        return _from_number(int(text))
    try:
        coarse = _YEAR_OR_MONTH.fullmatch(text)
        if coarse:
            return to_ms(datetime(int(coarse[1]), int(coarse[2] or 1), 1))
        return to_ms(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None
