"""Erasing for good: what was made of a memory goes with it, and then every byte is looked for where it lay.

It costs by what is erased: its rows, its words, the pages that they lay in and its places in the stored index. What
somebody still reads cannot be overwritten; a note without any text is kept, and whoever opens the store next goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np
from msgspec.json import decode, encode
from msgspec.structs import replace

from recallens.engine.core import Core
from recallens.engine.erased import note_erased
from recallens.engine.leftovers import (
    PROOF_SECONDS,
    SELDOM_SHARE,
    Going,
    beside,
    golden_files,
    has_digit,
    left_in_work,
    looked_at,
    names,
    places_outside,
    says,
    says_part,
    tells,
    texts,
    words_of,
)
from recallens.engine.reversals import Reversals
from recallens.engine.sessions import Sessions
from recallens.errors import ErasurePending, StoreError
from recallens.index.columns import code_of
from recallens.index.resident import MOST_ERASED_IN_PLACE, Resident
from recallens.index.version import Version
from recallens.ingest.draft import recap_id
from recallens.model.erasure import Erased, PendingErasure, Proof, Receipt, Trace, Traces, forms, occurrences
from recallens.model.memory import Memory, RelationType, Session, Zone, handle_of
from recallens.model.trust import InputKind, rank
from recallens.model.verdict import BoolArray
from recallens.store.protocols import Writer
from recallens.text.stopwords import token_weight

META_ERASURE = "erasure"
# How long a reader is waited for, and how long where the store is merely opened.
WAIT_MS, OPENING_WAIT_MS = 2_000, 50
# Rows of a word that are looked at before all of them are.
FIRST_ROWS = 64
# A number that hardly any other memory has tells that a text which is linked to it speaks of it.
FEW_OTHERS = 8
MOST_NAMED = 5  # of what was erased, in the journal of changes
LOG_READ = 1_000_000
OLDER, PROPOSED = "an older version of ", "a proposed edit of "
WRITTEN = "written in a task with it, and names "
_STILL_READ = "another process still reads an older state of the store, so that it cannot be overwritten in the file"


class _RolledBack(Exception):
    """Nothing went wrong."""


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
            nums = [self._core.num(tx, id) for id in ids]
            receipt, recaps = self.take_out(tx, nums)
        try:
            return self.prove(receipt, recaps, namespace)
        except (
            StoreError
        ) as error:  # the memories are gone; what is left of their bytes is finished by the next command
            return replace(receipt, pending=f"{error.message}; the next command goes on with it")

    def foresee(self, ids: Sequence[str], *, namespace: str | None = None) -> Receipt:
        """What erasing them would take with it: it is done as ever, and rolled back."""
        with suppress(_RolledBack), self._core.changing(namespace) as tx:
            receipt, _ = self.take_out(tx, [self._core.num(tx, id) for id in ids])
            raise _RolledBack
        return receipt

    def take_out(self, tx: Writer, nums: Sequence[int]) -> tuple[Receipt, list[str]]:
        """In a transaction, everything that says part of these memories; gives the sessions whose recap went too."""
        told = ", ".join(map(handle_of, nums)) if len(nums) <= MOST_NAMED else f"{len(nums):,} memories"
        Reversals(self._core).note(tx, f"deleted {told} for good")
        return self._taken_out(tx, self._going(tx, dict.fromkeys(nums, "named")))

    def prove(self, receipt: Receipt, recaps: Sequence[str], namespace: str | None) -> Receipt:
        """After it, the recaps of what is left, and a look at every byte."""
        remade = tuple(f"the recap of session {id}" for id in recaps if self._remade(id, namespace))
        pages = self.finish()
        still = _STILL_READ if pages is None else None
        beyond = self._core.store.file.beyond
        return replace(receipt, remade=remade, pages=pages or 0, pending=still, beyond=beyond)

    def delete(self, tx: Writer, nums: Sequence[int]) -> None:
        """Delete memories alone, as a removed vault does; `finish` looks after their bytes.

        Of very many, a look at everything that stays tells sooner which words go.
        """
        if len(nums) > MOST_ERASED_IN_PLACE:
            state = self._core.state(tx)
            self._core.log.erases(tx, nums)
            tx.memories.delete(nums)
            self.note(tx, {str(state.key): None}, state.number + 1)
            return
        memories = tx.memories.get(nums)
        words = {num: words_of(memory) for num, memory in memories.items()}
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
                going.words[num] = words_of(going.memories[num])
            told = [text for num in fresh for text in texts(going.memories[num])]
            candidates = self._candidates(tx, going, fresh)
            going.linked |= {*going.memories, *candidates}
            numbers = filter(has_digit, self._rare(tx, going, FEW_OTHERS))
            going.traces = going.traces.joined(Traces.of(told, {*self._rare(tx, going, 0), *numbers}))
            alive = int(self._version(tx).columns["alive"].sum())
            going.seldom |= frozenset(self._rare(tx, going, min(FEW_OTHERS, max(1, alive // SELDOM_SHARE))))
            memories = tx.memories.get([num for num in candidates if num not in going.memories])
            fresh = []
            for num, memory in memories.items():
                if _goes_with(memory, going, candidates[num]):
                    going.memories[num], going.why[num] = memory, candidates[num]
                    fresh.append(num)
                elif candidates[num].startswith(OLDER):
                    spared[num] = "was replaced by it and is another text"
        going.kept = {num: why for num, why in spared.items() if num not in going.memories} | beside(
            tx, self._version(tx), going
        )
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
        edits = [num for num in tx.lineage.derived_from(InputKind.MEMORY, list(handles)) if num not in found]
        proposed = {going.memories[num].id for num in nums if going.why[num].startswith(PROPOSED)}
        ties, own_ids = tx.relations.find(edits), tx.memories.ids(edits)
        for num, inputs in tx.lineage.of(edits).items():
            of = [handles[each.id] for each in inputs if each.replaced and each.id in handles]
            taken = any(t.type is RelationType.SUPERSEDES and t.source == own_ids[num] for t in ties.get(num, ()))
            if of and (not taken or any(each.id in proposed for each in inputs)):
                found[num] = f"{PROPOSED}{', '.join(of)}"
        sessions, tasks = tx.erasure.sessions(nums), tx.erasure.tasks(nums)
        for num in tx.erasure.made_in(sessions):
            found.setdefault(num, f"made of a session that {', '.join(handles.values())} was part of")
        for kind, ids in ((InputKind.SESSION, sessions), (InputKind.TASK, tasks)):
            for num in tx.lineage.derived_from(kind, ids):
                found.setdefault(num, f"made of a {kind} that {', '.join(handles.values())} was part of")
        for num in tx.tasks.memories(tasks):
            found.setdefault(num, f"{WRITTEN}{', '.join(handles.values())}")
        for task in filter(None, map(tx.tasks.get, tasks)):
            for num in tx.memories.find([task.episode] if task.episode else []).values():
                found.setdefault(num, f"the episode of task {task.id}")
        return found

    def _version(self, tx: Writer) -> Version:
        version = self._core.version(tx)
        assert version is not None  # nobody writes beside this transaction, so nobody is past it
        return version

    def _taken_out(self, tx: Writer, going: Going) -> tuple[Receipt, list[str]]:
        nums, traces = list(going.memories), going.traces
        gone = [Erased("memory", handle_of(num), why) for num, why in going.why.items()]
        recaps: list[str] = []
        bare: list[str] = []
        named = tx.erasure.sessions(nums)
        summaries = tx.erasure.summaries(named)
        for session in filter(None, map(tx.sessions.get, named)):
            own = summaries.get(session.id, "")
            # One that is withheld says what goes, or what is meant for few: nothing would keep it back any longer.
            withheld = bool(own) and session.summary is None
            title, summary = says_part(going, session.title or ""), withheld or says_part(going, own)
            project = self._gave_project(tx, going, session)
            if title or summary or project:
                tx.erasure.blank_session(session.id, title=title, summary=summary, project=project)
            if title or summary:
                parts = " and ".join(name for name, held in (("title", title), ("summary", summary)) if held)
                why = "was withheld with it" if withheld else "said part of it"
                gone.append(Erased("session", session.id, f"its {parts} {why}"))
            if project:
                gone.append(Erased("session", session.id, "its project was that of it, and of nothing else there"))
            is_bare = (title or not session.title) and (summary or not own)
            if is_bare:
                bare.append(session.id)
            if session.ended is not None:
                recaps.append(session.id)
        for task in filter(None, map(tx.tasks.get, tx.erasure.tasks(nums))):
            if any(says_part(going, text or "") for text in (task.text, task.summary)):
                tx.erasure.blank_task(task.id)
                gone.append(Erased("task", task.id, "its words said part of it"))
            logs = tx.tasks.artifacts([task.id], chars=LOG_READ, limit=-1)
            held = [log.id for log in logs if says_part(going, log.content)]
            tx.erasure.drop_logs(held)
            gone += [Erased("log", id, f"a log of task {task.id} that said part of it") for id in held]
        outside = places_outside(tx, going, self._core.store)
        ids = [memory.id.encode() for memory in going.memories.values()]
        recalls, answers = tx.erasure.drop_recalls(lambda data: any(id in data for id in ids) or traces.in_bytes(data))
        gone += [Erased(kind, f"{count}", "they named it or its words")
                 for kind, count in (("recorded recalls", recalls), ("kept answers", answers)) if count]  # fmt: skip
        unused = self._unused(tx, going.words, going.words)
        documents = sorted({memory.document for memory in going.memories.values() if memory.document})
        self._drop(tx, nums, unused)
        dropped = tx.erasure.drop_sessions(bare)
        gone += [Erased("session", id, "nothing else is of it") for id in dropped]
        titles = sorted({memory.title for memory in going.memories.values() if memory.title})
        tx.erasure.blank_documents(documents, titles)
        logged = [f"the audit log names session {id}" for id in tx.erasure.logged(dropped)]
        kept = *(f"{handle_of(num)} {why}" for num, why in going.kept.items()), *left_in_work(tx, going), *logged
        sources = {memory.source_id for memory in going.memories.values()}
        recapped = {recap_id(session) for session in recaps}
        note_erased(self._core, tx, filter(None, sources - recapped))
        lost = [session for session in recaps if recap_id(session) in sources]
        return Receipt(tuple(gone), (), kept, tuple(outside), len(unused)), lost

    def _gave_project(self, tx: Writer, going: Going, session: Session) -> bool:
        """Whether a session has its project of what goes alone: no memory or task of it that stays has that, nor is it
        the one of this machine's settings, in which every session is."""
        if session.project is None or session.project == self._core.settings.project:
            return False
        given = any(memory.project == session.project for memory in going.memories.values())
        return given and session.project not in tx.erasure.projects(session.id, list(going.memories))

    def _drop(self, tx: Writer, nums: Sequence[int], words: Sequence[str]) -> None:
        state = self._core.state(tx)
        self._core.log.erases(tx, nums)
        tx.memories.delete(nums, words)
        self.note(tx, {str(state.key): list(nums)}, state.number + 1)

    def _rare(self, tx: Writer, going: Going, others: int) -> list[str]:
        """Which words of what goes at most so many others hold, of those that nothing links to it. The less trusted do
        not count, or an agent could keep what was made of it by naming it."""
        columns = self._version(tx).columns
        zones = {memory.zone for memory in going.memories.values()}
        equals = [code_of(zone) for zone in Zone if rank(zone) >= min(map(rank, zones))]
        counted = columns["alive"] & np.isin(columns["zone"], equals)
        unused = self._unused(tx, going.words, going.linked, others, counted)
        return [word for word in unused if token_weight(word) > 0]

    def _unused(
        self, tx: Writer, words: Mapping[int, frozenset[str]], nums: Iterable[int], others: int = 0,
        counted: BoolArray | None = None,
    ) -> list[str]:  # fmt: skip
        """Which of these words only the memories with these numbers hold, and at most so many of the counted others."""
        version = self._version(tx)
        numbers = tx.terms.numbers(sorted(frozenset[str]().union(*words.values())))
        alive = (version.columns["alive"] if counted is None else counted).copy()
        places = version.columns.locate(list(nums))
        alive[places[places >= 0]] = False
        return [word for word, number in numbers.items() if not _held(version, number, alive, others)]

    def _remade(self, session: str, namespace: str | None) -> bool:
        """Whether what is left of a session gives another recap."""
        with self._core.reading(namespace) as reader:
            known = reader.sessions.get(session)
            left = known is not None and (known.summary or known.title or reader.sessions.numbers(session))
        if left and known is not None:
            # It stays as trusted as it was, whoever erases something of it.
            with self._core.acting(replace(self._core.actor, zone=known.zone)):
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
        for key, nums in pending.rows.items() if folder is not None else ():
            assert folder is not None
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
        needles, store = forms(texts), self._core.store.beside
        found, size = self._core.store.file.find(needles)
        traces = [Trace(store.name, found)] if found else []
        folder, files = self._core.index_folder(), 0 if self._core.store.path is None else 1
        for path in sorted(folder.rglob("*")) if folder is not None else ():
            if folder is not None and path.is_file():
                data = path.read_bytes()
                files, size = files + 1, size + len(data)
                if count := occurrences(data, needles):
                    traces.append(Trace(f"{folder.name}/{path.relative_to(folder)}", count))
        holders = self._core.store.file.holders(texts) if texts else ()
        beside_it = looked_at(store, needles, PROOF_SECONDS) if texts and self._core.store.path is not None else ()
        outside = [path.name for path, _, verdict in beside_it if verdict]
        golden = golden_files(store) if texts else ()
        outside += [str(path.relative_to(store.parent)) for path in golden if occurrences(path.read_bytes(), needles)]
        return Proof(files, size, pages or 0, pages is not None, tuple(traces), tuple(holders), tuple(outside),
                     self._core.store.file.beyond)  # fmt: skip


def _held(version: Version, number: int, alive: BoolArray, others: int) -> bool:
    """Whether more than so many rows that stay have the word."""
    seen = 0
    for postings in version.lexical.postings(number):
        for rows in (postings.rows[:FIRST_ROWS], postings.rows[FIRST_ROWS:]):
            seen += int(alive[rows].sum())
            if seen > others:
                return True
    return False


def _goes_with(memory: Memory, going: Going, why: str) -> bool:
    """Whether a memory that is linked so to what goes is of it."""
    if why.startswith(PROPOSED) or names(going, texts(memory)):
        return True
    if why.startswith(WRITTEN):
        return False
    told = says(going.traces, memory) or tells(going.seldom, words_of(memory))
    return told or _resembles(memory, going, why)


def _resembles(memory: Memory, going: Going, why: str) -> bool:
    """Whether an older version is one: it has the same title, or half of the words."""
    if not why.startswith(OLDER):
        return False
    words = words_of(memory)
    return any(
        (other.title is not None and other.title == memory.title)
        or 2 * len(words & going.words[num]) >= len(words | going.words[num])
        for num, other in going.memories.items()
        if num in going.words
    )


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
