"""A write that is sent again with the same Idempotency-Key is answered again, and done once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.http.problems import RETRY_SECONDS, Refused
from recallens.model.audit import KeptAnswer

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
KEPT_MS = 24 * 3_600_000
# One that was begun and never ended belongs to a process that died; after this it may be tried again.
ABANDONED_MS = 120_000
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def request_digest(method: str, target: str, body: bytes) -> str:
    return hashlib.sha256(b"\n".join((method.encode(), target.encode(), body))).hexdigest()


def checked_key(key: str | None) -> str | None:
    """What stands for the key in the store: its digest, since a client may send a secret as its key."""
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        raise InvalidInput(f"{HEADER} must be 1 to 255 visible ASCII characters")
    return hashlib.sha256(key.encode()).hexdigest()


def once(
    engine: Engine, *, owner: str, key: str, request: str, namespace: str, work: Callable[[], tuple[int, str]]
) -> tuple[int, str, bool]:
    """Status and body, and whether they are those of an earlier request."""
    now = engine.core.clock()
    with engine.core.store.write_all() as tx:
        tx.tokens.drop_answers_before(now - KEPT_MS)
        before = tx.tokens.answer(owner, key)
        if before is not None and before.request != request:
            raise Refused(
                409, "IdempotencyKeyReused", f"this {HEADER} was sent with another request",
                hint="Use a new key for a new request.",
            )  # fmt: skip
        if before is not None and before.status is not None:
            return before.status, before.body, True
        if before is not None and now - before.created < ABANDONED_MS:
            raise Refused(
                409, "UnderWay", "the first request with this key is still being worked on",
                hint="Ask again in a moment, with the same key.", Retry_After=str(RETRY_SECONDS),
            )  # fmt: skip
        tx.tokens.put_answer(owner, key, namespace, KeptAnswer(request, now))
    try:
        status, body = work()
    except BaseException:
        with engine.core.store.write_all() as tx:
            tx.tokens.drop_answer(owner, key)
        raise
    with engine.core.store.write_all() as tx:
        tx.tokens.put_answer(owner, key, namespace, KeptAnswer(request, now, status, body))
    return status, body, False
