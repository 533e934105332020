"""Erasing for good: what was made of a memory goes with it, and then every byte is looked for where it lay.

It costs by what is erased: its rows, its words, the pages that they lay in and its places in the stored index. What
somebody still reads cannot be overwritten; a note without any text is kept, and whoever opens the store next goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode, encode
from msgspec.structs import replace

from recallens.engine.core import Core
from recallens.engine.sessions import Sessions
from recallens.errors import ErasurePending
from recallens.index.resident import MOST_ERASED_IN_PLACE, Resident, Version
from recallens.ingest.draft import recap_id
from recallens.ingest.prepare import indexed
from recallens.model.erasure import Erased, PendingErasure, Proof, Receipt, Trace, Traces, forms, occurrences
from recallens.model.memory import Memory, RelationType, handle_of
from recallens.model.trust import InputKind
from recallens.model.verdict import BoolArray
from recallens.store.protocols import Reader, Writer
from recallens.text.stopwords import token_weight
from recallens.text.tokenizer import tokenize

META_ERASURE = "erasure"
# How long a reader is waited for, and how long where the store is merely opened.
WAIT_MS, OPENING_WAIT_MS = 2_000, 50
# Rows of a word that are looked at before all of them are.
FIRST_ROWS = 64
# A number that hardly any other memory has tells that a text which is linked to it speaks of it.
FEW_OTHERS = 8
# Memories that are compared with what goes, to name in the receipt those that say part of it by themselves.
MOST_LOOKED_AT = 50
LOG_READ = 1_000_000
OLDER = "an older version of "
APPLICATION_ID = b"RCLT"
_STILL_READ = "another process still reads an older state of the store, so that it cannot be overwritten in the file"


class Going(Struct):
    """What an erasure takes along, as it is found out."""

    memories: dict[int, Memory]
    why: dict[int, str]
    words: dict[int, frozenset[str]]  # of each memory, as the dictionary has them
    traces: Traces = Traces.of(())
    kept: dict[int, str] = {}


class Erasure:
    """Erases memories, finishes what was left undone, and proves that nothing is left."""

    def __init__(self, core: Core, sessions: Sessions) -> None:
        self._core = core
        self._sessions = sessions
        self.resumed: str | None = None  # a word on what was left undone, once it was tried again

    # ── one transaction ──

    def erase(self, ids: Sequence[str], *, namespace: str | None = None) -> Receipt:
        """Erase memories with their older versions and whatever quotes them."""
        with self._core.changing(namespace) as tx:
            receipt, recaps = self.take_out(tx, [self._core.num(tx, id) for id in ids])
        return self.prove(receipt, recaps, namespace)

    def take_out(self, tx: Writer, nums: Sequence[int]) -> tuple[Receipt, list[str]]:
        """In a transaction, everything that says part of these memories; gives the sessions whose recap went too."""
        return self._taken_out(tx, self._going(tx, dict.fromkeys(nums, "named")))

    def prove(self, receipt: Receipt, recaps: Sequence[str], namespace: str | None) -> Receipt:
        """After it, the recaps of what is left, and a look at every byte."""
        remade = tuple(f"the recap of session {id}" for id in recaps if self._remade(id, namespace))
        pages = self.finish()
        still = _STILL_READ if pages is None else None
        return replace(receipt, remade=remade, pages=pages or 0, pending=still)

    def delete(self, tx: Writer, nums: Sequence[int]) -> None:
        """Delete memories alone, as a removed vault does; `finish` looks after their bytes.

        Of very many, a look at everything that stays tells sooner which words go.
        """
        if len(nums) > MOST_ERASED_IN_PLACE:
            state = self._core.state(tx)
            tx.memories.delete(nums)
            self.note(tx, {str(state.key): None}, state.number + 1)
            return
        memories = tx.memories.get(nums)
        words = {num: _words(memory) for num, memory in memories.items()}
        ids = [memory.id.encode() for memory in memories.values()]
        tx.erasure.drop_recalls(lambda data: any(id in data for id in ids))
        self._drop(tx, nums, self._unused(tx, words, words))

    def note(self, tx: Writer, rows: dict[str, list[int] | None], number: int) -> None:
        """Remember, in the transaction that deletes, what is still to be taken out of files."""
        before = self._pending()
        pending = PendingErasure(rows, dict.fromkeys(rows, number))
        tx.whole.set_meta(META_ERASURE, encode(pending if before is None else before.joined(pending)).decode())

    def _going(self, tx: Writer, named: dict[int, str]) -> Going:
        going = Going(tx.memories.get(list(named)), dict(named), {})
        fresh, spared = list(named), dict[int, str]()
        while fresh:
            for num in fresh:
                going.words[num] = _words(going.memories[num])
            told = [text for num in fresh for text in _texts(going.memories[num])]
            candidates = self._candidates(tx, going, fresh)
            linked = {*going.memories, *candidates}
            rare = [word for word in self._unused(tx, going.words, linked) if token_weight(word) > 0]
            numbers = [
                word for word in self._unused(tx, going.words, linked, FEW_OTHERS) if any(map(str.isdigit, word))
            ]
            going.traces = going.traces.joined(Traces.of(told, {*rare, *numbers}))
            memories = tx.memories.get([num for num in candidates if num not in going.memories])
            fresh = []
            for num, memory in memories.items():
                if _says(going.traces, memory) or _resembles(memory, going, candidates[num]):
                    going.memories[num], going.why[num] = memory, candidates[num]
                    fresh.append(num)
                elif candidates[num].startswith(OLDER):
                    spared[num] = "was replaced by it and is another text"
        going.kept = {num: why for num, why in spared.items() if num not in going.memories} | self._beside(tx, going)
        return going

    def _candidates(self, tx: Writer, going: Going, nums: Sequence[int]) -> dict[int, str]:
        """What may quote these, or was an earlier version of them, each with why it would go."""
        found: dict[int, str] = {}
        memories = [going.memories[num] for num in nums]
        handles = {memory.id: memory.handle for memory in memories}
        for num, inputs in tx.lineage.of(nums).items():
            older = [each.num for each in inputs if each.kind is InputKind.MEMORY and each.replaced and each.num]
            found |= {old: f"{OLDER}{handle_of(num)}" for old in older}
        for relations in tx.relations.find(nums).values():
            replaced = {tie.target: tie.source for tie in relations if tie.type is RelationType.SUPERSEDES}
            for id, num in tx.memories.find([id for id, by in replaced.items() if by in handles]).items():
                found[num] = f"{OLDER}{handles[replaced[id]]}"
        for num in tx.lineage.derived_from(InputKind.MEMORY, list(handles), quoting=True):
            found.setdefault(num, f"made of {', '.join(handles.values())}")
        sessions, tasks = tx.erasure.sessions(nums), tx.erasure.tasks(nums)
        for num in tx.erasure.made_in(sessions):
            found.setdefault(num, f"made of a session that {', '.join(handles.values())} was part of")
        for kind, ids in ((InputKind.SESSION, sessions), (InputKind.TASK, tasks)):
            for num in tx.lineage.derived_from(kind, ids):
                found.setdefault(num, f"made of a {kind} that {', '.join(handles.values())} was part of")
        for task in filter(None, map(tx.tasks.get, tasks)):
            for num in tx.memories.find([task.episode] if task.episode else []).values():
                found.setdefault(num, f"the episode of task {task.id}")
        return found

    def _beside(self, tx: Writer, going: Going) -> dict[int, str]:
        """What says part of it, but is a text of its own: it is named in the receipt and stays."""
        found: dict[int, str] = {}
        nums, ids = list(going.memories), {memory.id: memory.handle for memory in going.memories.values()}
        for relations in tx.relations.find(nums).values():
            after = {tie.source: tie.target for tie in relations if tie.type is RelationType.SUPERSEDES}
            newer = tx.memories.find([id for id, old in after.items() if old in ids])
            memories = tx.memories.get(list(newer.values()))
            for id, num in newer.items():
                if _says(going.traces, memories[num]):
                    found[num] = f"took the place of {ids[after[id]]} and says part of it"
        others = tx.memories.get([num for num in self._sharing(tx, going) if num not in found])
        found |= {num: "says part of it, by itself" for num, other in others.items() if _says(going.traces, other)}
        return {num: why for num, why in found.items() if num not in going.memories}

    def _sharing(self, tx: Writer, going: Going) -> list[int]:
        """Some memories that hold a word which hardly any other has."""
        version = self._version(tx)
        alive, hashes = version.columns["alive"], [memory.content_hash for memory in going.memories.values()]
        found = dict.fromkeys(tx.memories.by_hash(hashes).values())
        for number in tx.terms.numbers(sorted(frozenset[str]().union(*going.words.values()))).values():
            rows = [row for postings in version.lexical.postings(number) for row in postings.rows[:FIRST_ROWS].tolist()]
            if len(rows) < FIRST_ROWS:
                found |= dict.fromkeys(version.columns["num"][[row for row in rows if alive[row]]].tolist())
        return [num for num in found if num not in going.memories][:MOST_LOOKED_AT]

    def _version(self, tx: Writer) -> Version:
        state = self._core.state(tx)
        version = self._core.resident(state.key).at(tx, self._core.store.id, state)
        assert version is not None  # nobody writes beside this transaction, so nobody is past it
        return version

    def _taken_out(self, tx: Writer, going: Going) -> tuple[Receipt, list[str]]:
        nums, traces = list(going.memories), going.traces
        gone = [Erased("memory", handle_of(num), why) for num, why in going.why.items()]
        recaps: list[str] = []
        for session in filter(None, map(tx.sessions.get, tx.erasure.sessions(nums))):
            title, summary = (traces.in_text(text, tokenize(text or "")) for text in (session.title, session.summary))
            if title or summary:
                tx.erasure.blank_session(session.id, title=title, summary=summary)
                parts = " and ".join(name for name, held in (("title", title), ("summary", summary)) if held)
                gone.append(Erased("session", session.id, f"its {parts} said part of it"))
            if session.ended is not None:
                recaps.append(session.id)
        for task in filter(None, map(tx.tasks.get, tx.erasure.tasks(nums))):
            if any(traces.in_text(text, tokenize(text or "")) for text in (task.text, task.summary)):
                tx.erasure.blank_task(task.id)
                gone.append(Erased("task", task.id, "its words said part of it"))
            logs = tx.tasks.artifacts([task.id], chars=LOG_READ, limit=-1)
            held = [log.id for log in logs if traces.in_text(log.content, tokenize(log.content))]
            tx.erasure.drop_logs(held)
            gone += [Erased("log", id, f"a log of task {task.id} that said part of it") for id in held]
        outside = _outside(tx, going, Path(self._core.store.location))
        ids = [memory.id.encode() for memory in going.memories.values()]
        recalls, answers = tx.erasure.drop_recalls(lambda data: any(id in data for id in ids) or traces.in_bytes(data))
        gone += [Erased(kind, f"{count}", "they named it or its words")
                 for kind, count in (("recorded recalls", recalls), ("kept answers", answers)) if count]  # fmt: skip
        unused = self._unused(tx, going.words, going.words)
        documents = sorted({memory.document for memory in going.memories.values() if memory.document})
        self._drop(tx, nums, unused)
        titles = sorted({memory.title for memory in going.memories.values() if memory.title})
        tx.erasure.blank_documents(documents, titles)
        kept = tuple(f"{handle_of(num)} {why}" for num, why in going.kept.items())
        sources = {memory.source_id for memory in going.memories.values()}
        lost = [session for session in recaps if recap_id(session) in sources]
        return Receipt(tuple(gone), (), kept, tuple(outside), len(unused)), lost

    def _drop(self, tx: Writer, nums: Sequence[int], words: Sequence[str]) -> None:
        state = self._core.state(tx)
        tx.memories.delete(nums, words)
        self.note(tx, {str(state.key): list(nums)}, state.number + 1)

    def _unused(
        self, tx: Writer, words: Mapping[int, frozenset[str]], nums: Iterable[int], others: int = 0
    ) -> list[str]:
        """Which of these words only the memories with these numbers hold, and at most so many others."""
        version = self._version(tx)
        numbers = tx.terms.numbers(sorted(frozenset[str]().union(*words.values())))
        alive = version.columns["alive"].copy()
        places = version.columns.locate(list(nums))
        alive[places[places >= 0]] = False
        return [word for word, number in numbers.items() if not _held(version, number, alive, others)]

    def _remade(self, session: str, namespace: str | None) -> bool:
        """Whether what is left of a session gives another recap."""
        with self._core.reading(namespace) as reader:
            known = reader.sessions.get(session)
            left = known is not None and (known.summary or known.title or reader.sessions.numbers(session))
        if left and known is not None:
            self._sessions.end(session, ended=known.ended, namespace=namespace)
        return bool(left)

    # ── every byte of it ──

    def _pending(self) -> PendingErasure | None:
        text = self._core.store.meta(META_ERASURE)
        return None if text is None else decode(text, type=PendingErasure)

    def finish(self, *, wait_ms: int = WAIT_MS, everywhere: bool = False, again: bool = False) -> int | None:
        """Take what is deleted out of the index files, the log and the pages, and look that it is gone.

        Gives how many pages were looked at; None where somebody still reads an older state: the note of it stays.
        """
        store = self._core.store
        note = store.meta(META_ERASURE)
        if note is None and not everywhere:
            return 0
        pending = PendingErasure() if note is None else decode(note, type=PendingErasure)
        folder = self._core.index_folder()
        assert folder is not None
        for key, nums in pending.rows.items():
            derived = Resident(folder / key, None, 0)
            if nums is None:
                derived.discard()
            elif not derived.erase(nums, pending.numbers[key], again=again):
                return None
        pages = None if everywhere else sorted({*pending.pages, *store.file.touched()})
        cleaned = store.file.clean(pages, wait_ms=wait_ms)
        if cleaned is None:
            if pages is not None and pending.unknown:
                noted = PendingErasure(pending.rows, pending.numbers, pages, unknown=False)
                with store.write_all() as whole:
                    whole.set_meta(META_ERASURE, encode(noted).decode())
            return None
        store.file.settle(META_ERASURE, note or "")
        return cleaned.pages

    def resume(self) -> None:
        """Do what another left undone, where it can be done."""
        pending = None if self._core.store.read_only else self._pending()
        if pending is not None:
            pages = self.finish(wait_ms=OPENING_WAIT_MS, everywhere=pending.unknown, again=True)
            left = f"what was deleted for good still lies in the file: {_STILL_READ}"
            self.resumed = left if pages is None else "finished an earlier deletion: no byte of it is left"

    def verify(self, texts: Sequence[str] = ()) -> Proof:
        """Finish what is pending, clean every page of the store, and look for texts in each of its files."""
        pages = self.finish(everywhere=True, again=True)
        needles, store = forms(texts), Path(self._core.store.location)
        found, size = self._core.store.file.find(needles)
        traces = [Trace(store.name, found)] if found else []
        folder, files = self._core.index_folder(), 1
        for path in sorted(folder.rglob("*")) if folder is not None else ():
            if folder is not None and path.is_file():
                data = path.read_bytes()
                files, size = files + 1, size + len(data)
                if count := occurrences(data, needles):
                    traces.append(Trace(f"{folder.name}/{path.relative_to(folder)}", count))
        holders = self._core.store.file.holders(texts) if texts else ()
        outside = [path.name for path in _copies(store) if _holds(path, needles)] if texts else []
        return Proof(files, size, pages or 0, pages is not None, tuple(traces), tuple(holders), tuple(outside))


def _held(version: Version, number: int, alive: BoolArray, others: int) -> bool:
    """Whether more than so many rows that stay have the word."""
    seen = 0
    for postings in version.lexical.postings(number):
        for rows in (postings.rows[:FIRST_ROWS], postings.rows[FIRST_ROWS:]):
            seen += int(alive[rows].sum())
            if seen > others:
                return True
    return False


def _words(memory: Memory) -> frozenset[str]:
    row = indexed(memory, None)
    return frozenset((*row.head, *row.body))


def _texts(memory: Memory) -> Iterator[str]:
    return (text for text in (memory.content, memory.title, memory.summary) if text)


def _says(traces: Traces, memory: Memory) -> bool:
    words = _words(memory)
    return any(traces.in_text(text, words) for text in _texts(memory))


def _resembles(memory: Memory, going: Going, why: str) -> bool:
    """Whether an older version is one: it has the same title, or half of the words."""
    if not why.startswith(OLDER):
        return False
    words = _words(memory)
    return any(
        (other.title is not None and other.title == memory.title)
        or 2 * len(words & going.words[num]) >= len(words | going.words[num])
        for num, other in going.memories.items()
        if num in going.words
    )


def _outside(tx: Reader, going: Going, store: Path) -> list[str]:
    """Files that are not the store's, and may still hold it."""
    documents = sorted({memory.document for memory in going.memories.values() if memory.document})
    paths = sorted(tx.documents.paths(documents).values())
    return [
        *(f"{path}, the file that it was read from: it is read again once that changes" for path in paths),
        *(f"{path.name}, a copy beside the store" for path in _copies(store)),
        "backups and exports that were made elsewhere",
    ]


def _copies(store: Path) -> list[Path]:
    """Other stores in the folder: backups, what a restore has kept, what a dead process left half made."""
    own = {store.name, *(f"{store.name}{suffix}" for suffix in ("-wal", "-shm", "-journal"))}
    found = []
    for path in sorted(store.parent.iterdir()):
        if path.name not in own and path.is_file() and not path.samefile(store):
            with path.open("rb") as file:
                head = file.read(100)
            if head.startswith(b"SQLite format 3") and head[68:72] == APPLICATION_ID:
                found.append(path)
    return found


def _holds(path: Path, needles: Sequence[bytes]) -> bool:
    return occurrences(path.read_bytes(), needles) > 0


def refusal(receipt: Receipt) -> ErasurePending | None:
    """The error of an erasure that could not be finished."""
    if receipt.pending is None:
        return None
    return pending(", ".join(each.name for each in receipt.erased if each.kind == "memory"))


def leftover(proof: Proof) -> ErasurePending | None:
    """The error of a look at every byte that found some."""
    if not proof.finished:
        return pending("what was erased is")
    if not proof.traces and not proof.holders:
        return None
    where = ", ".join((*proof.holders, *(f"{trace.file} ({trace.count} times)" for trace in proof.traces)))
    return ErasurePending(f"the store holds it: {where}", hint="Forget what holds it for good, and look again.")


def pending(name: str) -> ErasurePending:
    return ErasurePending(
        f"{name} deleted, but bytes of it are left: {_STILL_READ}",
        hint="Whoever opens the store next finishes it; `recallens forget --verify` tells whether it is done.",
    )
