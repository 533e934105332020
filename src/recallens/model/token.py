"""A token: what it opens, and since when. Its text is known to whoever it was given to, and nowhere kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """Times are epoch milliseconds. `digest` is the SHA-256 of the token's text."""

    id: str
    name: str
    digest: str
    namespaces: tuple[str, ...]
    right: str
    created: int
    expires: int | None = None
    revoked: int | None = None

    def live(self, now: int) -> bool:
        return self.revoked is None and (self.expires is None or now < self.expires)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What a write with an Idempotency-Key was, and what it was answered; `status` is None while it is under way."""

    request: str
    created: int
    status: int | None = None
    body: str = ""
