"""What says part of a memory that is erased: what was made of it goes with it, what stays is named in the receipt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from time import monotonic

import numpy as np
from msgspec import Struct

from recallens.engine.lines import FORMAT
from recallens.index.version import Version
from recallens.ingest import prepare
from recallens.model.erasure import LEAST_WORD, RUN, Traces, forms, occurrences
from recallens.model.memory import Memory, RelationType
from recallens.store.protocols import Reader, Store, Writer
from recallens.text.stopwords import token_weight
from recallens.text.tokenizer import tokenize

# Words that more memories have tell nothing of one, and cost by the size of the store.
MOST_ROWS = 5_000
# Memories that are compared with what goes, those that share most of its words first.
MOST_LOOKED_AT = 500
# What at most so many others have, and no more than one in so many of all.
SELDOM, SELDOM_SHARE = 8, 20
# By how many of its words logs and tasks are looked for, the rarest first.
MOST_NEEDLES = 24
APPLICATION_ID = b"RCLT"
# How long files beside the store are read for a receipt, which is made in the transaction, and for a proof; and of what
# size they may be.
RECEIPT_SECONDS, PROOF_SECONDS = 1.5, 60.0
MOST_BYTES, READ_BYTES = 1 << 30, 1 << 22
# By how many pieces of its text a memory is looked for.
MOST_PIECES = 6
_WORD = re.compile(r"\w+")


class Going(Struct):
    """What an erasure takes along, as it is found out."""

    memories: dict[int, Memory]
    why: dict[int, str]
    words: dict[int, frozenset[str]]  # of each memory, as the dictionary has them
    traces: Traces = Traces.of(())
    kept: dict[int, str] = {}
    linked: set[int] = set()  # what may be of it, whether or not it goes
    seldom: frozenset[str] = frozenset()  # words of it that hardly anything else has


def words_of(memory: Memory) -> frozenset[str]:
    head, body = prepare.words_of(memory)
    return frozenset((*head, *body))


def texts(memory: Memory) -> Iterator[str]:
    return (text for text in (memory.content, memory.title, memory.summary) if text)


def says(traces: Traces, memory: Memory, words: frozenset[str] | None = None) -> bool:
    """`words` are the memory's own, where they are known."""
    known = words_of(memory) if words is None else words
    return any(traces.in_text(text, known) for text in texts(memory))


def names(going: Going, told: Iterable[str]) -> bool:
    """Whether a text that is linked to it calls it by its handle or id."""
    called = "|".join(re.escape(name) for each in going.memories.values() for name in (each.handle, each.id))
    return any(re.search(rf"\b(?:{called})\b", text, re.ASCII) for text in told)


def has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def beside(tx: Writer, version: Version, going: Going) -> dict[int, str]:
    """Memories that say part of it and are texts of their own, with why they stay."""
    found: dict[int, str] = {}
    nums, ids = list(going.memories), {memory.id: memory.handle for memory in going.memories.values()}
    for relations in tx.relations.find(nums).values():
        after = {tie.source: tie.target for tie in relations if tie.type is RelationType.SUPERSEDES}
        newer = tx.memories.find([id for id, old in after.items() if old in ids])
        memories = tx.memories.get(list(newer.values()))
        for id, num in newer.items():
            if says(going.traces, memories[num]):
                found[num] = f"took the place of {ids[after[id]]} and says part of it"
    shared = _sharing(tx, version, going)
    for num, other in tx.memories.get([num for num in shared if num not in found]).items():
        words = words_of(other)
        if says(going.traces, other, words):
            found[num] = "says part of it, by itself"
        elif tells(going.seldom, words):
            found[num] = "has words of it that hardly anything else has"
    return {num: why for num, why in found.items() if num not in going.memories}


def _sharing(tx: Writer, version: Version, going: Going) -> list[int]:
    """The memories that share most of its words; it is learned on the way which of them are seldom."""
    alive, nums = version.columns["alive"], version.columns["num"]
    own = version.columns.locate(list(going.memories))
    others = alive.copy()
    others[own[own >= 0]] = False
    linked = np.zeros(len(others), np.bool_)
    places = version.columns.locate(list(going.linked))
    linked[places[places >= 0]] = True
    few = min(SELDOM, int(others.sum()) // SELDOM_SHARE)
    shared, seldom = np.zeros(len(others), np.int32), set[str]()
    for word, number in tx.terms.numbers(sorted(frozenset[str]().union(*going.words.values()))).items():
        pieces = [postings.rows for postings in version.lexical.postings(number)]
        if sum(map(len, pieces)) > MOST_ROWS:
            continue
        rows = np.concatenate([piece[others[piece]] for piece in pieces]) if pieces else np.empty(0, dtype=np.int64)
        if np.count_nonzero(~linked[rows]) <= few and token_weight(word) > 0:
            seldom.add(word)
        weight = 2 if len(rows) <= SELDOM and has_digit(word) else 1
        shared[rows] += weight
    going.seldom |= frozenset(seldom)
    nearest = np.flatnonzero(shared >= 2)
    nearest = nearest[np.argsort(-shared[nearest], kind="stable")][:MOST_LOOKED_AT]
    return [int(num) for num in nums[nearest]]


def tells(seldom: frozenset[str], words: Iterable[str]) -> bool:
    """One number that hardly anything else has, or two words, are of it."""
    shared = seldom.intersection(words)
    return len(shared) > 1 or any(map(has_digit, shared))


def left_in_work(tx: Writer, going: Going) -> list[str]:
    """Tasks, logs and sessions that say part of it, of those that were not made with it."""
    words = sorted(going.seldom | going.traces.words, key=lambda word: (not has_digit(word), -len(word)))
    rarest = words or sorted(frozenset[str]().union(*going.words.values()), key=lambda word: -len(word))
    found = []
    for name, text in tx.erasure.holding(rarest[:MOST_NEEDLES]):
        held = tokenize(text)
        if going.traces.in_text(text, held) or tells(going.seldom, held):
            found.append(f"{name} says part of it, by itself")
    return found


def places_outside(tx: Reader, going: Going, store: Store) -> list[str]:
    """Files that are not the store's, and hold it or may do so."""
    documents = sorted({memory.document for memory in going.memories.values() if memory.document})
    paths = sorted(tx.documents.paths(documents).values())
    needles = forms([piece for memory in going.memories.values() for piece in _pieces(memory)])
    held, unread = [], 0
    for path, kind, verdict in looked_at(store.path, needles, RECEIPT_SECONDS) if store.path is not None else ():
        if verdict or (verdict is None and kind is not Beside.FILE):
            held.append(f"{path.name}, {kind} beside the store{'' if verdict else ', was not read and may hold it'}")
        elif verdict is None:
            unread += 1
    return [
        *(f"{path}, the file that it was read from: it is read again once that changes" for path in paths),
        *held,
        *([f"{unread} other files beside the store, which were not read and may hold it"] if unread else ()),
        *(f"{path.relative_to(store.beside.parent)}, a golden set or its run beside the store"
          for path in golden_files(store.beside)
          if says_part(going, path.read_text(encoding="utf-8", errors="replace"))),
        "backups, exports and notes elsewhere: where `remember --file` and `--jsonl` read from is not kept",
    ]  # fmt: skip


def _pieces(memory: Memory) -> list[str]:
    """So many words in a row, as they stand in its text, from all over it: by these a file is known to hold it."""
    found = [
        line[words[at].start() : words[at + RUN - 1].end()]
        for line in memory.content.splitlines()
        if (words := list(_WORD.finditer(line)))
        for at in range(0, len(words) - RUN + 1, RUN)
    ]
    whole = memory.content.strip()
    return found[:: max(1, len(found) // MOST_PIECES)] or [whole] * (len(whole) >= LEAST_WORD)


def golden_files(store: Path) -> list[Path]:
    """Golden sets and their runs, where the person keeps them beside the store."""
    return sorted(path for path in Path(f"{store}.golden").rglob("*") if path.is_file())


def says_part(going: Going, text: str) -> bool:
    held = tokenize(text)
    return going.traces.in_text(text, held) or tells(going.seldom, held) or names(going, [text])


class Beside(StrEnum):
    """What lies beside a store."""

    COPY = "a copy"
    EXPORT = "an export"
    FILE = "a file"


def looked_at(store: Path, needles: Sequence[bytes], seconds: float) -> Iterator[tuple[Path, Beside, bool | None]]:
    """Every other file of the folder, what it is, and whether it holds a needle; None where the time was up before that
    was known, or it is too large or cannot be read. Copies and exports come first."""
    until = monotonic() + seconds
    order = list(Beside)
    for path, kind in sorted(_files(store), key=lambda each: (order.index(each[1]), each[0])):
        yield path, kind, _holds(path, needles, until)


def _files(store: Path) -> Iterator[tuple[Path, Beside]]:
    """Other stores in the folder (backups, what a restore has kept, what a dead process left half made), exports, and
    whatever else lies there."""
    own = {store.name, *(f"{store.name}{suffix}" for suffix in ("-wal", "-shm", "-journal"))}
    for path in store.parent.iterdir():
        try:
            if path.name in own or not path.is_file() or path.samefile(store):
                continue
            with path.open("rb") as file:
                head = file.read(100)
        except OSError:
            head = b""
        if head.startswith(b"SQLite format 3") and head[68:72] == APPLICATION_ID:
            yield path, Beside.COPY
        else:
            yield path, Beside.EXPORT if FORMAT.encode() in head and head.startswith(b"{") else Beside.FILE


def _holds(path: Path, needles: Sequence[bytes], until: float) -> bool | None:
    longest = max(map(len, needles), default=0)
    before = b""
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        with path.open("rb") as file:
            while monotonic() < until:
                data = file.read(READ_BYTES)
                if not data:
                    return False
                if occurrences(before + data, needles):
                    return True
                before = data[-longest:]
    except OSError:
        pass
    return None
