"""The tokens that let callers in and whose session is whose, and the audit log of what was done by whom."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from msgspec import MsgspecError, Struct

from recallens.engine.core import Core
from recallens.engine.witness import add_lines, anchor_lines, anchors_in, watched
from recallens.errors import InvalidInput, NotFound, UnknownOption
from recallens.ingest.validate import epoch_ms, label, namespace_name, reference
from recallens.model.audit import Anchor, Anomaly, AuditEntry, Token, against_anchors, anomalies, unlinked, verify_chain
from recallens.model.times import When

PREFIX = "rcl_"
# 32 random bytes: nobody finds one by trying, so that a fast digest is as good as a slow one.
TOKEN_BYTES = 32
RIGHTS = ("read", "write")
MOST_NAME = 200
MIN_ID = 4


class Tokens:
    """Makes and checks the tokens that let callers in from outside."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def create(
        self, namespaces: Iterable[str], *, right: str = "read", name: str | None = None, expires: When | None = None,
        scopes: Iterable[str] = (),
    ) -> tuple[Token, str]:  # fmt: skip
        """The token and its text, which nobody can tell again. `scopes` are the contexts that its caller holds."""
        granted = tuple(dict.fromkeys(reference("namespace", namespace_name(name)) for name in namespaces))
        if not granted:
            raise InvalidInput("a token opens at least one namespace", hint="Name it: --namespace NAME.")
        if right not in RIGHTS:
            raise UnknownOption("right", right, RIGHTS)
        now = self._core.clock()
        ends = epoch_ms("expires", expires)
        if ends is not None and ends <= now:
            raise InvalidInput("a token must expire later than now", hint="Give a time to come, or none.")
        text = PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
        called = (label("name", name) or "").strip()[:MOST_NAME] or f"{right} {', '.join(granted)}"[:MOST_NAME]
        held = tuple(dict.fromkeys(label("scope", scope) or "" for scope in scopes))
        if not all(held):
            raise InvalidInput("a scope is a word", hint="Name a context: --scope hr.")
        token = Token(secrets.token_hex(6), called, digest(text), granted, right, now, ends, scopes=held)
        with self._core.store.write_all() as tx:
            tx.tokens.put(token)
        return token, text

    def all(self) -> list[Token]:
        with self._core.store.read_all() as reader:
            return reader.tokens.all()

    def revoke(self, name: str) -> Token:
        """By its id, a beginning of it that fits only one, or its name."""
        with self._core.store.write_all() as tx:
            known = tx.tokens.all()
            like = [token for token in known if token.id == name] or [
                token for token in known if token.name == name or (len(name) >= MIN_ID and token.id.startswith(name))
            ]
            if len(like) > 1:
                raise InvalidInput(f"{name!r} fits several tokens", hint="Give the id: `recallens token list`.")
            if not like:
                raise NotFound(f"no token {name!r}", hint="`recallens token list` shows those that exist.")
            tx.tokens.revoke(like[0].id, self._core.clock())
            return next(token for token in tx.tokens.all() if token.id == like[0].id)

    def find(self, text: str) -> Token | None:
        """The live token with this text. Every token's digest is compared, so that the time tells nothing."""
        wanted, match = digest(text), None
        for token in self.all():
            if hmac.compare_digest(token.digest, wanted) and token.live(self._core.clock()):
                match = token
        return match

    def live(self, id: str) -> Token | None:
        """The token with this id, while it is in force."""
        return next((token for token in self.all() if token.id == id and token.live(self._core.clock())), None)

    def guarded(self) -> bool:
        """Whether callers need a token: as long as there is one that nobody took back, even if it has expired."""
        return any(token.revoked is None for token in self.all())

    # ── whose is whose ──

    def owns_session(self, session: str, owner: str, *, namespace: str | None = None, claim: bool = False) -> bool:
        """Whether a token's caller may act in a session: theirs, or one that nobody has used. `claim` makes it theirs.

        A session of the local person is no token's, and theirs is each in which they act.
        """
        name = self._core.namespace(namespace)
        with self._core.store.read(name) as reader:
            used, held = reader.sessions.owner(session)
        if used or not claim or self._core.store.read_only:
            return not used or held == owner
        with self._core.making(name) as tx:
            if not tx.sessions.owner(session)[0]:
                tx.sessions.own(session, owner)
            return tx.sessions.owner(session)[1] == owner

    def owns_recall(self, snapshot: str, owner: str, *, namespace: str | None = None) -> bool:
        """Whether a token's caller may look at a recorded recall: one that they made themselves.

        One without an owner is the local person's, and no token's.
        """
        with self._core.read(namespace) as reader:
            return reader.trail.ledger_owner(snapshot) == owner


class ChainVerdict(Struct, frozen=True):
    """`problems` are what is wrong with a chain, `notes` what cannot be known of it."""

    entries: int
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


class Audit:
    """The log of what was done by whom: whether its chain holds, its entries, and what looks odd in it."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.watched = partial(watched, core.log)

    def verify(
        self, *, anchor: str | None = None, key: str | None = None, namespace: str | None = None
    ) -> ChainVerdict:
        """Whether the chain is whole. `anchor` is a file that was told where it ended, `key` one with further keys."""
        log, told = self._core.log, anchor or self._core.settings.audit_anchor
        try:
            keys = log.keys(*(key,) if key else ())
            place = Path(told).expanduser() if told else None
            is_told = place is not None and (anchor is not None or place.exists())
            anchors, is_whole = anchors_in(place) if place is not None and is_told else ([], True)
        except (OSError, ValueError, MsgspecError) as error:
            raise InvalidInput(f"the key or the anchor of the log cannot be read ({error})") from error
        with self._core.read(namespace) as reader:
            head = reader.trail.audit_head()
            try:
                entries = reader.trail.audit()
                problems = verify_chain(entries, head, keys)
                marked = reader.trail.marked()
            except (ValueError, TypeError, AttributeError) as error:
                return ChainVerdict(head.number if head else 0, (f"an entry cannot be read any more ({error})",))
        of_namespace = [anchor for anchor in anchors if anchor.namespace == reader.name]
        if is_told and head is not None and not of_namespace:
            problems.append(f"the anchor {told} says nothing of this log: it was emptied or cut, or is another log's")
        if not is_whole:
            problems.append(f"the last line of the anchor {told} is not whole: it was cut")
        against, notes = against_anchors(of_namespace, self._core.store.id, entries, head)
        moved = [id for id, salt, mark in marked if not any(key.mark(salt, id) == mark for key in keys.values())]
        if moved and keys:
            problems.append(f"{len(moved)} memories are not those that the log names: {', '.join(moved[:5])}")
        lost, gone = unlinked(entries, {mark for _, _, mark in marked}, keys)
        if lost:
            problems.append(
                f"{len(lost)} of the memories that it names are no longer linked to it, and none was erased"
            )
        if gone:
            notes.append(f"{len(gone)} of the memories that it names are deleted for good")
        return ChainVerdict(len(entries), (*problems, *against), tuple(notes))

    def anchor(self, file: str, *, namespace: str | None = None) -> Anchor:
        """Tell a file outside the store where the log of a namespace ends now."""
        with self._core.read(namespace) as reader:
            head = reader.trail.audit_head()
        if head is None:
            raise NotFound("nothing was written down yet", hint="There is nothing to anchor.")
        try:
            add_lines(
                Path(file).expanduser(), anchor_lines(self._core.store.id, {reader.name: head}, self._core.clock())
            )
        except OSError as error:
            raise InvalidInput(f"{file} cannot be written to ({error.strerror})") from error
        return Anchor(self._core.store.id, reader.name, head, self._core.clock())

    def entries(self, *, limit: int, page: int = 1, namespace: str | None = None) -> tuple[int, list[AuditEntry]]:
        """The number of the last entry, and one page of them, the latest first."""
        with self._core.read(namespace) as reader:
            head = reader.trail.audit_head()
            written = head.number if head else 0
            after = written - page * limit
            entries = reader.trail.audit(max(after, 0), limit + min(after, 0)) if after > -limit else []
            return written, entries[::-1]

    def memories(self, *, namespace: str | None = None) -> dict[str, str]:
        """The id of each memory that the log names, by what stands for it there."""
        with self._core.read(namespace) as reader:
            return {mark: id for id, _, mark in reader.trail.marked()}

    def anomalies(self, *, namespace: str | None = None) -> list[Anomaly]:
        with self._core.read(namespace) as reader:
            return anomalies(reader.trail.audit(), len(reader.memories.numbers()))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
