"""What frontmatter says of a note that each of its sections has: how much it matters, how sure it is, where it comes
from, since when it holds, and who may see it. Fields are known in every language, however they are spelled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when, without_secrets
from recallens.ingest.vault import frontmatter
from recallens.model.state import ONLY_HERE
from recallens.text.languages import PACKS
from recallens.text.normalize import MAX_TAG, clean, normalize

LONGEST_SOURCE: Final = 512
# Words for a scope or a tag that keep a note to the context that it was written in.
PRIVATE: Final = frozenset((ONLY_HERE, "private", "confidential"))

_SHARES: Final = {word: share for pack in PACKS for word, share in pack.notes.shares.items()}
_KEY: Final = re.compile(r"[\s_-]+")


class NoteFacts(Struct, frozen=True):
    """None where nothing is said; `warnings` tell what could not be read."""

    importance: float | None = None
    confidence: float | None = None
    scopes: tuple[str, ...] = ()
    source: str | None = None
    updated: int | None = None
    valid_from: int | None = None
    warnings: tuple[str, ...] = ()


def spelled(key: str) -> str:
    return _KEY.sub("", normalize(key))


FIELDS: Final = {
    spelled(name): field
    for pack in PACKS
    for field, names in pack.notes.fields.items()
    for name in (field, *names)
} | {name: name for name in ("confidence", "source", "deprecated", "obsolete", "archived", "draft")}  # fmt: skip


def fields(matter: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a note's life by their names here, however they are spelled; its own spelling goes first."""
    known = [(field, name, value) for name, value in matter.items() if (field := FIELDS.get(spelled(name)))]
    other = {field: value for field, name, value in known if spelled(name) != spelled(field)}
    return other | {field: value for field, name, value in known if spelled(name) == spelled(field)}


def texts(value: Any) -> list[str]:
    """A value or a list of values as texts. Without quotes YAML reads [[note]] as a list in a list."""
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    if isinstance(value, bool) or value is None or isinstance(value, dict):
        return []
    return [text] if (text := str(value).strip()) else []


def note_facts(matter: Mapping[str, Any], tags: Sequence[str], *, now: int) -> NoteFacts:
    known, warnings = fields(matter), list[str]()

    def share(name: str) -> float | None:
        value = known.get(name)
        if value is None:
            return None
        word = normalize(str(value)).strip()
        number = _SHARES.get(word)
        if number is None:
            with suppress(ValueError):
                number = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
        if number is None or not 0 <= number <= 1:
            warnings.append(f"{name}: {value!r} is no share from 0 to 1")
            return None
        return number

    starts, ends = when(known, "valid_from", now=now), when(known, "valid_until", now=now)
    for name in ("valid_from", "valid_until", "updated"):
        if known.get(name) not in (None, "", []) and when(known, name, now=now) is None:
            warnings.append(f"{name}: {known[name]!r} is not a time")
    if starts is not None and ends is not None and ends <= starts:
        warnings.append("valid_until comes before valid_from, so both are ignored")
        starts = None
    source = str(frontmatter.safe("source", "; ".join(texts(known.get("source")))[:LONGEST_SOURCE]))
    return NoteFacts(
        share("importance"), share("confidence"), scopes(known, tags), clean(source) or None,
        when(known, "updated", now=now), starts, tuple(warnings),
    )  # fmt: skip


def when(known: Mapping[str, Any], name: str, *, now: int) -> int | None:
    with suppress(InvalidInput):
        value = known.get(name)
        return parse_when(value[0] if isinstance(value, list) and value else value, now_ms=now)
    return None


def scopes(known: Mapping[str, Any], tags: Sequence[str]) -> tuple[str, ...]:
    """The contexts that a note is kept to: all that `scopes` lists, and a `scope` or tag that says so by its name. What
    else a `scope` says may be anything, and keeps nobody out.
    """
    words = re.split(r"[,\s#]+", " ".join((*texts(known.get("scope")), *tags)))
    bound = [name for word in words if (name := normalize(word)) in PRIVATE]
    listed = [name for text in texts(known.get("scopes")) for name in re.split(r"[,\s#]+", text)]
    names = dict.fromkeys(map(without_secrets, (*bound, *listed)))
    return tuple(name for name in names if 0 < len(name) <= MAX_TAG)
