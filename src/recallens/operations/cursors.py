"""Where a page ended, as a text that only fits the same listing. It grants nothing: what may be seen is asked anew."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from recallens.errors import InvalidInput

PAGE = 20
Cursor = Annotated[
    Annotated[str, StringConstraints(min_length=1, max_length=500)] | None,
    Field(description="`next` of the page before."),
]


def cursor_of(listing: Sequence[Any], at: Sequence[Any]) -> str:
    packed = json.dumps([_print(listing), *at], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def place_of(cursor: str | None, listing: Sequence[Any], kinds: tuple[type, ...]) -> tuple[Any, ...] | None:
    """What `cursor_of` packed; one of another listing, or of nobody's making, is refused."""
    if cursor is None:
        return None
    try:
        packed = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        fingerprint, *at = json.loads(packed)
        fits = fingerprint == _print(listing) and [type(one) for one in at] == list(kinds)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        fits = False
    if not fits:
        raise InvalidInput(
            "this cursor is of no page of this listing",
            hint="Give `next` of the page before, with the same filters, or none.",
        )
    return tuple(at)


def offset_of(cursor: str | None, listing: Sequence[Any]) -> int:
    place = place_of(cursor, listing, (int,))
    if place is None:
        return 0
    if not 0 <= place[0] < 1 << 53:
        raise InvalidInput("this cursor is of no page of this listing", hint="Give `next` of the page before, or none.")
    return int(place[0])


def _print(listing: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(listing, default=str).encode()).hexdigest()[:12]
