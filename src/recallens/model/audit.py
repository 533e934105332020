"""The audit chain and the tokens that open a store: who did what with which memories, and when.

Each entry's digest is keyed and covers the one before it, so that nothing can be altered, dropped, moved or made anew
by whoever lacks the key; what an anchor outside the store knows cannot be cut off or rolled back either. A token's text
is known to whoever it was given to, and nowhere kept.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

GENESIS = "0" * 64
# What an entry says that carries the chain on over those that retention has dropped.
CUT = "cut"
# What an entry says whose memories are deleted for good in the same transaction: their marks stand for nothing then.
ERASED = "erased"
MARK_BYTES = 12
QUESTION_BYTES = 16

REPEAT_QUERY = 5
REPEAT_WINDOW_MS = 10 * 60_000
RAPID_FIRE = 30
RAPID_WINDOW_MS = 60_000
HIGH_CARDINALITY = 200
NAMESPACE_WALK_SHARE = 0.5
NAMESPACE_WALK_LEAST = 50


class Agent(Struct, frozen=True):
    """A program that acts over MCP on the person's machine, without a token: by what way, and what it calls itself."""

    transport: str  # stdio or http
    client: str = ""

    @property
    def who(self) -> str:
        """As an entry names it; no token's id has a colon."""
        return f"{self.transport}:{self.client}"

    @classmethod
    def named(cls, who: str | None) -> Agent | None:
        transport, colon, client = (who or "").partition(":")
        return cls(transport, client) if colon else None


class Act(Struct, frozen=True):
    """Who does what. `who` is the id of a token or names an `Agent`, None is the person at the machine; `at` is the
    machine's own time."""

    namespace: str
    what: str  # an operation, or a page
    at: int
    who: str | None = None
    session: str | None = None
    question: str = ""  # a keyed digest of the question, where one was asked
    outcome: str = ""  # the name of the error that it ended with; of a cut, what was cut


class ChainHead(Struct, frozen=True):
    """Which chain it is, which every entry of it is signed with, and what its last entry must be."""

    chain: str
    number: int = 0
    digest: str = GENESIS


class AuditEntry(Struct, frozen=True):
    """`marks` stand for memories, and mean nothing once the memory's salt is gone; `total` may count more of them."""

    chain: str
    number: int
    act: Act
    marks: tuple[str, ...]
    total: int
    key: str  # which key signed it
    previous: str
    digest: str = ""

    @property
    def id(self) -> str:
        return f"audit-{self.number}"


class Key(Struct, frozen=True):
    """A key of the log: `id` tells which one, and nothing about it."""

    secret: bytes

    @property
    def id(self) -> str:
        return hashlib.sha256(b"recallens audit key\0" + self.secret).hexdigest()[:8]

    def question(self, text: str) -> str:
        """The log holds digests, never text; without the key nobody can try texts against them."""
        return self._sign(b"question", text.encode("utf-8", "surrogatepass"))[: 2 * QUESTION_BYTES]

    def mark(self, salt: bytes, memory: str) -> str:
        """What stands for a memory: made of its salt, so that it stands for nothing once that is destroyed."""
        return self._sign(b"mark", salt + memory.encode())[: 2 * MARK_BYTES]

    def entry(self, entry: AuditEntry, form: bytes = b"entry 2") -> str:
        """Over all of the entry but its digest."""
        act = entry.act
        said = (entry.chain, act.namespace, entry.number, act.at, act.who, act.what, act.outcome, act.session,
                act.question, "".join(entry.marks), entry.total, entry.key, entry.previous)  # fmt: skip
        return self._sign(form, json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode())

    def has_signed(self, entry: AuditEntry) -> bool:
        return self.vouches_for_marks(entry) or hmac.compare_digest(self.entry(entry, b"entry"), entry.digest)

    def vouches_for_marks(self, entry: AuditEntry) -> bool:
        """Whether it was signed since erasures are written down: before that, a mark could go without a word."""
        return hmac.compare_digest(self.entry(entry), entry.digest)

    def _sign(self, kind: bytes, data: bytes) -> str:
        return hmac.new(self.secret, kind + b"\0" + data, hashlib.sha256).hexdigest()


def chained(key: Key, head: ChainHead, act: Act, marks: Sequence[str], total: int | None = None) -> AuditEntry:
    """The next entry of a chain that ends with `head`."""
    count = len(marks) if total is None else total
    entry = AuditEntry(head.chain, head.number + 1, act, tuple(marks), count, key.id, head.digest)
    return replace(entry, digest=key.entry(entry))


def verify_chain(entries: Iterable[AuditEntry], head: ChainHead | None, keys: Mapping[str, Key]) -> list[str]:
    """What is wrong with a chain, in words; nothing if it is whole."""
    problems: list[str] = []
    unknown: dict[str, list[int]] = {}
    number, previous = 0, GENESIS
    begins: tuple[int, str] | None = None  # where the first entry that is left says that it follows from
    cuts: set[str] = set()
    for place, entry in enumerate(entries):
        if place == 0 and entry.number > 1:
            begins = number, previous = entry.number - 1, entry.previous
        if entry.number != number + 1:
            problems.append(f"entries {number + 1} to {entry.number - 1} are missing" if entry.number > number + 1
                            else f"entry {entry.number} is out of order")  # fmt: skip
        key = keys.get(entry.key)
        if key is None:
            unknown.setdefault(entry.key, []).append(entry.number)
        elif not key.has_signed(entry):
            problems.append(f"entry {entry.number} was altered, or made without the key")
        elif entry.previous != previous:
            problems.append(f"entry {entry.number} does not follow from the one before it")
        elif entry.act.what == CUT:
            cuts.add(entry.act.outcome)
        number, previous = entry.number, entry.digest
    if begins is not None and cut_of(*begins) not in cuts:
        problems.insert(0, f"entries 1 to {begins[0]} are missing, and no entry says that they were pruned")
    problems += [
        f"entries {numbers[0]} to {numbers[-1]} ({len(numbers)}) were signed with the key {key}, which is not here"
        for key, numbers in unknown.items()
    ]
    head = head or ChainHead("")
    if (number, previous) != (head.number, head.digest):
        problems.append(f"the chain ends at entry {number}, but {head.number} were written")
    return problems


def unlinked(
    entries: Iterable[AuditEntry], linked: Collection[str], keys: Mapping[str, Key]
) -> tuple[set[str], set[str]]:
    """Of the marks that stand for no memory any more, those that no entry accounts for, and the others."""
    gone: set[str] = set()
    vouched: set[str] = set()
    erased: set[str] = set()
    for entry in entries:
        marks, key = set(entry.marks).difference(linked), keys.get(entry.key)
        gone |= marks
        if marks and key is not None and key.vouches_for_marks(entry):
            (erased if entry.act.what == ERASED else vouched).update(marks)
    lost = vouched - erased
    return lost, gone - lost


def cut_of(number: int, digest: str) -> str:
    """What the entry of a cut says: the last entry that was dropped."""
    return f"{number}:{digest}"


# ── the anchor: heads of chains, kept where whoever changes the store cannot reach ──


class Anchor(Struct, frozen=True):
    store: str
    namespace: str
    head: ChainHead
    at: int


def against_anchors(
    anchors: Sequence[Anchor], store: str, entries: Sequence[AuditEntry], head: ChainHead | None
) -> tuple[list[str], list[str]]:
    """Where a chain does not hold what was anchored, and what cannot be known of it. `anchors` are of its namespace.

    A copy of a store has another id and goes on with the same chain. What was pruned since is beyond comparing.
    """
    problems, notes = [], []
    mine = [anchor.head for anchor in anchors if head is not None and anchor.head.chain == head.chain]
    others = [anchor for anchor in anchors if head is None or anchor.head.chain != head.chain]
    begun_anew = [anchor.head.number for anchor in others if anchor.store == store]
    if begun_anew:
        problems.append(f"the log was begun anew: another one of this store was anchored, up to entry {begun_anew[-1]}")
    elif others and not mine:
        problems.append("the anchor knows a log of such a namespace, and it is not here: it was wiped, or is another's")
    elif others:
        notes.append(f"the anchor knows {len({each.head.chain for each in others})} other logs of such a namespace")
    if head is None or not mine:
        unknown = "a chain that was cut at its end and an older copy of the store cannot be told from a whole one"
        return problems, [f"no anchor knows this log: {unknown}", *notes]
    digests = {entry.number: entry.digest for entry in entries}
    first, last = min(digests, default=head.number + 1), max(each.number for each in mine)
    held = [each for each in mine if first <= each.number <= head.number]
    if entries and first > 1:  # the last one that was pruned is named by the first that is left
        digests[first - 1] = entries[0].previous
        held += [each for each in mine if each.number == first - 1]
    made_anew = min((each.number for each in held if digests.get(each.number) != each.digest), default=None)
    if made_anew is not None:
        problems.append(f"entry {made_anew} is not the one that was anchored: the chain was made anew")
    if last > head.number:
        ends = f"entry {last} was anchored, but the chain ends at {head.number}"
        problems.append(f"{ends}: it was cut off, or this is an older copy of the store")
    elif last < head.number:
        notes.append(f"anchored up to entry {last} of {head.number}")
    return problems, notes


class Anomaly(Struct, frozen=True):
    kind: str
    session: str | None
    count: int
    about: str
    who: str | None = None


def anomalies(entries: Sequence[AuditEntry], memories: int) -> list[Anomaly]:
    """Patterns that an honest agent seldom shows, over the whole of the given entries.

    A token or an agent is one asker, whatever sessions it names; of the person at the machine each session is one.
    """
    found: list[Anomaly] = []
    askers: dict[tuple[str | None, str | None], list[AuditEntry]] = {}
    for entry in entries:
        act = entry.act
        if act.what not in (CUT, ERASED):
            askers.setdefault((act.who, act.session if act.who is None else None), []).append(entry)
    for (who, session), mine in askers.items():
        calls = sorted({(entry.act.at, entry.act.question, entry.act.what if who else "") for entry in mine})
        asked: dict[str, list[int]] = {}
        for at, question, _ in calls:
            asked.setdefault(question, []).append(at)
        asked.pop("", None)
        repeated = max((_most_within(times, REPEAT_WINDOW_MS) for times in asked.values()), default=0)
        rapid = _most_within([at for at, *_ in calls], RAPID_WINDOW_MS)
        distinct = len({mark for entry in mine for mark in entry.marks})
        walked = max(NAMESPACE_WALK_LEAST, NAMESPACE_WALK_SHARE * memories) if memories else math.inf
        for kind, count, least, about in (
            ("repeat-query", repeated, REPEAT_QUERY, "the same question within ten minutes"),
            ("rapid-fire", rapid, RAPID_FIRE, "recalls within a minute" if who is None else "calls within a minute"),
            ("high-cardinality", distinct, HIGH_CARDINALITY, "different memories injected"),
            ("namespace-walk", distinct, walked, f"of the namespace's {memories} memories injected"),
        ):
            if count >= least:
                found.append(Anomaly(kind, session, count, about, who))
    return found


def _most_within(times: Sequence[int], window: int) -> int:
    """The most events in any stretch of this length."""
    most, start = 0, 0
    for end, at in enumerate(times):
        while at - times[start] > window:
            start += 1
        most = max(most, end - start + 1)
    return most


# ── tokens: who may ask from outside ──


class Token(Struct, frozen=True):
    """Times are epoch milliseconds. `digest` is the SHA-256 of the token's text; `scopes` are the contexts held."""

    id: str
    name: str
    digest: str
    namespaces: tuple[str, ...]
    right: str
    created: int
    expires: int | None = None
    revoked: int | None = None
    scopes: tuple[str, ...] = ()

    def live(self, now: int) -> bool:
        return self.revoked is None and (self.expires is None or now < self.expires)


class KeptAnswer(Struct, frozen=True):
    """What a write with an Idempotency-Key was, and what it was answered; `status` is None while it is under way."""

    request: str
    created: int
    status: int | None = None
    body: str = ""
