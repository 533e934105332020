"""The keyed log: its key and its anchor outside the store, and what the call of a token or an agent leaves in it.

Such a call is watched from its beginning to its answer. Each transaction in which it changes something holds the entry
that says so; what it was given beside that has an entry before the answer leaves. Where an entry cannot be written,
nothing is changed; a token is not answered either, and an agent on the person's machine is told.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import ENOSPC
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from recallens.config import Settings, audit_key, make_private
from recallens.deadline import without
from recallens.errors import AuditFailed, RecallensError
from recallens.ingest.validate import without_secrets
from recallens.model.audit import CUT, ERASED, Act, Anchor, AuditEntry, ChainHead, Key, chained, cut_of
from recallens.model.memory import ID_LENGTH, Clock
from recallens.store.protocols import WITNESS, Reader, Store, StoreWriter, Writer

KEY_BYTES = 32
SALT_BYTES = 16
CHAIN_BYTES = 8
# Of what one transaction changes, so many memories are named; the others are counted.
MOST_CHANGED = 1_000
LONGEST_SESSION = 200


class AuditLog:
    """Signs the entries, and tells the anchor where the chains end."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self.store, self.clock = store, clock
        self._key_file = Path(settings.audit_key).expanduser() if settings.audit_key else audit_key()
        self._anchor_file = Path(settings.audit_anchor).expanduser() if settings.audit_anchor else None
        self._anchored: dict[str, ChainHead] = {}
        self._owed: dict[str, ChainHead] = {}  # what the anchor could not be told of a change that was made
        self._appended = False
        self._waiting: list[_Waiting] = []
        self._turn = threading.Lock()
        if self._anchor_file is not None:
            store.after_commit = self._tell_grown

    @cached_property
    def key(self) -> Key:
        """The key that signs: the last of the file, which is made if there is none."""
        try:
            if not self._key_file.exists():
                _make_key(self._key_file)
            return keys_in(self._key_file)[-1]
        except (OSError, ValueError, IndexError) as error:
            raise AuditFailed(
                f"the key of the audit log cannot be had from {self._key_file} ({error})",
                hint="Set audit_key to a file of your own, outside the store.",
            ) from error

    def keys(self, *others: str) -> dict[str, Key]:
        """Every key that is known here, and those of other files; none is made."""
        files = [self._key_file, *(Path(other).expanduser() for other in others)]
        return {key.id: key for file in files if file.exists() for key in keys_in(file)}

    def append(self, tx: Writer, act: Act, memories: Sequence[int], total: int | None = None) -> AuditEntry:
        """Write an entry into a transaction: all of it is done, or nothing is."""
        marks = tx.trail.marks(memories)
        unmarked = [num for num in memories if num not in marks]
        if unmarked:
            fresh = {num: (salt := secrets.token_bytes(SALT_BYTES), self.key.mark(salt, id))
                     for num, id in tx.memories.ids(unmarked).items()}  # fmt: skip
            tx.trail.put_marks(fresh)
            marks |= {num: mark for num, (_, mark) in fresh.items()}
        named = [marks[num] for num in memories if num in marks]
        head = tx.trail.audit_head() or ChainHead(secrets.token_hex(CHAIN_BYTES))
        entry = chained(self.key, head, act, named, total)
        if self._anchor_file is not None:
            # Before anything is written, so that a place that cannot be written to, or where there is no room for
            # what it is owed, stops it.
            self._tell_anchor(self._owed)
            self._owed, self._appended = {}, True
        tx.trail.append_audit(entry)
        return entry

    def erases(self, tx: Writer, memories: Sequence[int]) -> None:
        """Before memories are deleted for good: that their marks stand for nothing from now on, and since when.

        A mark that goes without such an entry was taken away by somebody.
        """
        marked = sorted(tx.trail.marks(memories))
        witness = WITNESS.get()
        who = witness.who if isinstance(witness, Witness) else None
        for start in range(0, len(marked), MOST_CHANGED):
            self.append(tx, Act(tx.name, ERASED, self.clock(), who), marked[start : start + MOST_CHANGED])

    def gives(self, record: Any) -> None:
        """What the answer of the call that is watched will hold beside what is recorded of it."""
        witness = WITNESS.get()
        if isinstance(witness, Witness):
            witness.given.add_record(record)

    def recalled(
        self, tx: Writer, question: str, memories: Sequence[int], session: str | None, who: str | None
    ) -> AuditEntry:
        """The entry of a recall that is recorded in the same transaction."""
        witness = WITNESS.get()
        if isinstance(witness, Witness):
            witness.asks(question)
            return witness.named(tx, memories)
        act = Act(tx.name, "search", self.clock(), who, session, self.key.question(question))
        return self.append(tx, act, memories)

    def append_alone(self, act: Act, refer: Callable[[Writer], Sequence[int]]) -> None:
        """Write an entry by itself. Those who wait for their turn share one transaction, and one sync of the disk."""
        mine = _Waiting(act, refer)
        self._waiting.append(mine)
        with self._turn:
            if not mine.done:
                batch, self._waiting = self._waiting, []
                try:
                    with self.store.write_all() as whole:
                        for each in batch:
                            tx = whole.at(each.act.namespace)
                            self.append(tx, each.act, each.refer(tx))
                except BaseException as error:
                    for each in batch:
                        each.failure = error
                for each in batch:
                    each.done = True
        if mine.failure is not None:
            raise mine.failure

    def cut(self, tx: Writer, before: int) -> int:
        """Drop what was written before a time; an entry carries the chain on from there."""
        until, count = tx.trail.audit_until(before)
        if count:
            (last,) = tx.trail.audit(until - 1, 1)
            act = Act(tx.name, CUT, self.clock(), outcome=cut_of(until, last.digest))
            self.append(tx, act, ())
            tx.trail.drop_audit(until)
        return count

    # ── the anchor ──

    def _tell_anchor(self, heads: dict[str, ChainHead]) -> None:
        assert self._anchor_file is not None
        try:
            add_lines(self._anchor_file, anchor_lines(self.store.id, heads, self.clock()))
        except OSError as error:
            hint = "Make it writable, or set audit_anchor to another file."
            why = f"the anchor of the audit log cannot be written to {self._anchor_file} ({error.strerror})"
            raise AuditFailed(why, hint=hint) from error

    def _tell_grown(self) -> None:
        """After a transaction with an entry: where the chains end now, if one of them has grown.

        The change is made: that the anchor has no room for it is no failure of the change, but of the next one.
        """
        if self._appended:
            self._appended = False
            with self.store.read_all() as reader:
                heads = reader.audit_heads()
            grown = {name: head for name, head in heads.items() if self._anchored.get(name) != head}
            try:
                self._tell_anchor(grown)
            except AuditFailed:
                self._owed = grown
            self._anchored = heads


class _Waiting(msgspec.Struct):
    act: Act
    refer: Callable[[Writer], Sequence[int]]
    done: bool = False
    failure: BaseException | None = None


def add_lines(file: Path, lines: bytes) -> None:
    """All of it or nothing: what a full disk took of it is taken back, unless another has written behind it."""
    place = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        written = os.write(place, lines)
        if written < len(lines):
            size = os.fstat(place).st_size
            if os.lseek(place, 0, os.SEEK_CUR) == size:
                os.ftruncate(place, size - written)
            raise OSError(ENOSPC, os.strerror(ENOSPC))
    finally:
        os.close(place)


def anchor_lines(store: str, heads: dict[str, ChainHead], at: int) -> bytes:
    anchors = (Anchor(store, name, head, at) for name, head in heads.items())
    return b"".join(msgspec.json.encode(anchor) + b"\n" for anchor in anchors)


def anchors_in(file: Path) -> tuple[list[Anchor], bool]:
    """What a file was told, and whether its last line is whole: one that is not is left out."""
    *lines, rest = file.read_bytes().split(b"\n")
    return [msgspec.json.decode(line, type=Anchor) for line in lines if line.strip()], not rest


def keys_in(file: Path) -> list[Key]:
    """One key a line, in hexadecimal; the last one signs, the others still verify."""
    keys = [Key(bytes.fromhex(line)) for line in file.read_text(encoding="ascii").split()]
    if any(len(key.secret) < KEY_BYTES for key in keys):
        raise ValueError(f"a key has at least {KEY_BYTES} bytes in hexadecimal")
    return keys


def _make_key(file: Path) -> None:
    """The file appears whole: whoever comes at the same time reads the one that was first."""
    make_private(file.parent)
    fresh = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(secrets.token_hex(KEY_BYTES).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
    with suppress(FileExistsError):
        os.link(fresh, file)
    fresh.unlink()


# ── one call of a token ──

_ID = re.compile(rf"\b[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}\b")
_HANDLE = re.compile(r"\bm([0-9]{1,18})\b")
_WHOLE_ID, _WHOLE_HANDLE = (re.compile(rf"(?:{pattern.pattern})\Z") for pattern in (_ID, _HANDLE))


class References(msgspec.Struct):
    """Ids and numbers of memories."""

    ids: set[str] = msgspec.field(default_factory=set)
    nums: set[int] = msgspec.field(default_factory=set)

    def add_text(self, text: str) -> None:
        self.ids.update(_ID.findall(text))
        self.nums.update(map(int, _HANDLE.findall(text)))

    def add_record(self, value: Any) -> None:
        """In a record, an id is a whole string; what a text merely mentions is not counted."""
        if isinstance(value, str):
            if _WHOLE_ID.match(value):
                self.ids.add(value)
            elif handle := _WHOLE_HANDLE.match(value):
                self.nums.add(int(handle[1]))
        elif isinstance(value, dict):
            for name, each in value.items():
                self.add_record(name)
                self.add_record(each)
        elif isinstance(value, list | tuple):
            for each in value:
                self.add_record(each)


class Witness:
    """Sees what one call of a token or an agent changes and is given.

    `missing` is why the log lacks what it was given, where it is answered all the same.
    """

    def __init__(self, log: AuditLog, act: Act) -> None:
        self._log, self._act = log, act
        self._told = False
        self._known: set[int] = set()  # the memories that an entry of this call names
        self.given = References()
        self.missing: str | None = None

    @property
    def who(self) -> str | None:
        return self._act.who

    def asks(self, question: str) -> None:
        self._act = structs.replace(self._act, question=self._log.key.question(question))

    def named(self, tx: Writer, memories: Sequence[int], beyond: int = 0) -> AuditEntry:
        """An entry in a transaction of this call; it names what is known to be given beside them."""
        memories = [*memories, *(num for num in self._untold(tx) if num not in memories)]
        self._told = True
        self._known.update(memories)
        act = structs.replace(self._act, namespace=tx.name, at=self._log.clock())
        return self._log.append(tx, act, memories, len(memories) + beyond)

    def before_commit(self, whole: StoreWriter) -> None:
        """What a call changes stands in the log, or is not changed."""
        for namespace, (count, nums) in whole.changed(MOST_CHANGED).items():
            if count > len(nums) or not self._known.issuperset(nums):
                self.named(whole.at(namespace), nums, count - len(nums))
        if not self._told:
            self.named(whole.at(self._act.namespace), ())

    def undone(self) -> None:
        """A transaction of this call did not happen: what its entry said is to be told again."""
        self._told = False
        self._known.clear()

    def finish(self, outcome: str = "") -> None:
        """Before the answer leaves: what it gives, as far as no entry of this call names it yet."""
        with without():  # a call whose time is up is written down all the same, and nobody's beside it fails for that
            if not outcome and self._told:
                with self._log.store.read(self._act.namespace) as reader:
                    if not self._untold(reader):
                        return
            self._log.append_alone(structs.replace(self._act, outcome=outcome, at=self._log.clock()), self._untold)

    def _untold(self, reader: Reader) -> list[int]:
        given = {*reader.memories.find(list(self.given.ids)).values(), *reader.memories.ids(list(self.given.nums))}
        return sorted(given - self._known)


@contextmanager
def watched(
    log: AuditLog, *, who: str, what: str, namespace: str, session: object = None, question: object = None,
    answered_anyway: bool = False,
) -> Iterator[Witness]:  # fmt: skip
    """A call of a token or an agent, from its beginning to its answer. What is done within another call is a part of
    that. What changes nothing is `answered_anyway` where no entry of it can be written, or fails."""
    outer = WITNESS.get()
    if isinstance(outer, Witness):
        yield outer
        return
    named = session.encode(errors="replace").decode() if isinstance(session, str) else None
    named = named and without_secrets(named)[:LONGEST_SESSION]
    witness = Witness(log, Act(namespace, what, log.clock(), who, named))
    if isinstance(question, str) and question:
        with suppress(*((AuditFailed,) if answered_anyway else ())):  # without a key it has no digest, and no entry
            witness.asks(question)
    before = WITNESS.set(witness)
    try:
        yield witness
    except AuditFailed:
        raise
    except BaseException as error:
        WITNESS.reset(before)
        with suppress(RecallensError):  # it fails as it is
            witness.finish(type(error).__name__)
        raise
    else:
        WITNESS.reset(before)
        try:
            witness.finish()
        except RecallensError as error:
            if not answered_anyway:
                raise
            witness.missing = error.message
    finally:
        if WITNESS.get() is witness:
            WITNESS.reset(before)
