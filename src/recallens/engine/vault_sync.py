"""One sync of one vault: look, read what changed, write it in small transactions, link, tidy up.

It holds a lease, which every one of its transactions renews, so that two syncs never write at once. It can be stopped
at any time: what is written is whole, and the next sync goes on from there.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from recallens.engine.core import Core
from recallens.errors import InvalidInput, NotFound, StoreBusy
from recallens.ingest.curation import restate
from recallens.ingest.preparation import Unprepared
from recallens.ingest.validate import without_secrets
from recallens.ingest.vault.changes import Read, VaultChanges, add_changes, renames
from recallens.ingest.vault.choice import SyncPlan, choose, make_plan, relative
from recallens.ingest.vault.files import SECRET_NAME, Root, settled
from recallens.ingest.vault.links import VaultSections
from recallens.ingest.vault.notes import read_note
from recallens.ingest.vault.succession import succession
from recallens.model.memory import Document, RelationType
from recallens.model.vault import Problem, Seen, Vault, VaultFile, VaultSync
from recallens.store.protocols import Writer
from recallens.store.records import NewSection, Prepared, ReplacedSection

LEASE_SECONDS = 120
# A transaction takes files until one of these is reached: large enough that its commit is a small part of the work,
# small enough that a stop loses little.
BATCH_FILES = 64
BATCH_SECTIONS = 256
# Another process may write between the look for unused words and their removal; after this many looks they stay.
TIDY_LOOKS = 3

SyncProgress = Callable[[int, int], None]
"""Told how many files are done, and of how many."""


class Sync:
    def __init__(self, core: Core, vault: Vault, progress: SyncProgress) -> None:
        self._core, self._store, self._vault, self._progress = core, core.store, vault, progress
        self._holder, self._lease = f"{os.getpid()}-{uuid.uuid4().hex}", f"vault:{vault.id}"
        self._added: list[str] = []
        self._changed: list[str] = []
        self._renamed: list[tuple[str, str]] = []
        self._removed: list[str] = []
        self._errors: list[Problem] = []
        self._warnings: list[Problem] = []
        self._counts = {"indexed": 0, "kept": 0, "removed": 0}
        self._unchanged = self._done = self._total = 0
        self._suspects: set[int] = set()

    def run(self, paths: Sequence[str] | None) -> VaultSync:
        vault = self._vault
        if not self._store.lease(self._lease, self._holder, LEASE_SECONDS):
            raise _busy(vault)
        try:
            with Root(vault.root) as root:
                choice = choose(vault.root, vault.options)
                with self._core.reading(vault.namespace) as reader:
                    known = {file.path: file for file in reader.vaults.files(vault.id)}
                plan = make_plan(root, choice, known, None if paths is None else self._relative(paths))
                self._follow(root, plan, known)
        finally:
            self._store.release(self._lease, self._holder)
        return VaultSync(
            vault.name, vault.root, tuple(sorted(self._added)), tuple(sorted(self._changed)),
            tuple(sorted(self._renamed)), tuple(sorted(self._removed)), plan.unchanged + self._unchanged,
            (*plan.errors, *self._errors), (*plan.warnings, *self._warnings), plan.skipped, plan.left_out,
            choice.dropped,
            self._counts["indexed"], self._counts["kept"], self._counts["removed"],
        )  # fmt: skip

    def _relative(self, paths: Sequence[str]) -> list[str]:
        inside: list[str] = []
        for path in paths:
            try:
                inside.append(relative(self._vault.root, path))
            except (InvalidInput, ValueError, OSError):
                self._errors.append(Problem(path, "it is not in the vault"))
        return inside

    def _follow(self, root: Root, plan: SyncPlan, known: dict[str, VaultFile]) -> None:
        self._total = len(plan.to_read)
        moved = self._moves(root, plan, known)
        read: deque[tuple[Sequence[Read | VaultFile], VaultChanges]] = deque()

        def works() -> Iterator[list[Unprepared]]:
            for batch in self._batches(root, plan, known, moved):
                read.append((batch, self._changes(batch)))
                yield [section.work for section in read[-1][1].fresh]

        for _, rows in self._core.preparation.stream(works()):
            self._write(*read.popleft(), rows, known)
        self._remove([file for path, file in plan.gone.items() if path not in moved.values()])
        self._link()  # also where nothing changed: a sync before this one may have been stopped
        if self._added or self._changed or self._renamed or self._removed:
            self._tidy()
        with self._writing() as tx:
            tx.vaults.mark_synced(self._vault.id, self._core.clock())

    # ── reading ──

    def _moves(self, root: Root, plan: SyncPlan, known: dict[str, VaultFile]) -> dict[str, str]:
        """New path → old path. Only where files are gone and others are new is there anything to find."""
        gone = {path: file.hash for path, file in plan.gone.items() if file.document}
        fresh = [path for path in plan.to_read if path not in known or not known[path].document]
        if not gone or not fresh:
            return {}
        hashes: dict[str, str] = {}
        texts: dict[str, str] = {}
        for path in fresh:
            try:
                data, _ = root.read(path)
                sections = read_note(path, data, now=self._core.clock(), chunk=self._vault.options.chunk).sections
            except (InvalidInput, NotFound):
                continue  # told when its turn comes
            hashes[path] = _hash(data)
            if hashes[path] not in gone.values():
                texts[path] = "\n".join(section.text for section in sections)

        def old_text(paths: Sequence[str]) -> dict[str, str]:
            documents = {known[path].document: path for path in paths}
            with self._store.read(self._vault.namespace) as reader:
                texts = reader.vaults.texts(list(documents))
            return {documents[document]: "\n".join(parts) for document, parts in texts.items()}

        return renames(gone, hashes, old_text=old_text, new_text=lambda path: texts.get(path, ""))

    def _batches(
        self, root: Root, plan: SyncPlan, known: dict[str, VaultFile], moved: dict[str, str]
    ) -> Iterator[list[Read | VaultFile]]:
        """Files that were read, and records of those that need no more than one: touched, or not to be taken in."""
        batch: list[Read | VaultFile] = []
        sections = 0
        for path, seen in plan.to_read.items():
            file = self._read(root, path, seen, known.get(path), known.get(moved.get(path, "")))
            if file is not None:
                batch.append(file)
                sections += len(file.note.sections) if isinstance(file, Read) else 0
            if len(batch) >= BATCH_FILES or sections >= BATCH_SECTIONS:
                yield batch
                batch, sections = [], 0
        if batch:
            yield batch

    def _read(
        self, root: Root, path: str, seen: Seen, before: VaultFile | None, source: VaultFile | None
    ) -> Read | VaultFile | None:
        known = before if before is not None and before.document else None
        try:
            data, seen = root.read(path)
            seen, digest = settled(seen, time.time_ns()), _hash(data)
            if known is not None and known.hash == digest and known.error is None:
                self._unchanged += 1
                if known.warning is not None:
                    self._warnings.append(Problem(path, known.warning))
                return VaultFile(path, known.document, digest, seen, warning=known.warning)
            note = read_note(path, data, now=self._core.clock(), chunk=self._vault.options.chunk)
            if note.warning is not None:
                self._warnings.append(Problem(path, note.warning))
        except NotFound:
            return None  # gone since the look; the next one will see it
        except InvalidInput as error:
            self._errors.append(Problem(without_secrets(path), error.message))
            if error.message == SECRET_NAME:
                return None  # not even its name is kept
            # What was good before stays until the file is good again.
            return VaultFile(path, known.document if known else "", known.hash if known else "", seen, error.message)
        origin = source or known
        document = origin.document if origin is not None else self._core.new_id()
        return Read(path, document, digest, seen, note, source.path if source is not None else None)

    # ── writing ──

    def _changes(self, batch: Sequence[Read | VaultFile]) -> VaultChanges:
        vault, now = self._vault, self._core.clock()
        reads = [file for file in batch if isinstance(file, Read)]
        with self._store.read(vault.namespace) as reader:
            old = reader.vaults.sections(vault.id, [read.document for read in reads])
        changes = VaultChanges()
        for read in reads:
            add_changes(changes, vault, read, old.get(read.document, ()), new_id=self._core.new_id, now=now)
        return changes

    def _write(
        self, batch: Sequence[Read | VaultFile], changes: VaultChanges, rows: Sequence[Prepared],
        known: dict[str, VaultFile],
    ) -> None:  # fmt: skip
        vault, reads = self._vault, [file for file in batch if isinstance(file, Read)]
        with self._writing() as tx:
            self._core.settle_encoding(tx)
            tx.vaults.drop_files(vault.id, [read.moved_from for read in reads if read.moved_from is not None])
            tx.vaults.put_files(vault.id, list(map(_record, batch)))
            for read in reads:
                path, project = f"{vault.name}:{read.path}", vault.options.project
                tx.documents.put(
                    Document(read.document, tx.name, path, read.note.title, read.hash, read.changed_at, project)
                )
            self._apply(tx, changes, *changes.prepared(rows))
        for read in reads:
            before = known.get(read.path)
            if read.moved_from is not None:
                self._renamed.append((read.moved_from, read.path))
            elif before is not None and before.document == read.document:
                self._changed.append(read.path)
            else:
                self._added.append(read.path)
        self._done += len(batch)
        self._progress(self._done, self._total)

    def _apply(
        self, tx: Writer, changes: VaultChanges, new: Sequence[NewSection], replaced: Sequence[ReplacedSection]
    ) -> None:
        gone = [*(section.num for section in replaced), *changes.dropped]
        self._suspects |= tx.terms.held(gone) if gone else set()
        nums = tx.vaults.insert_sections(self._vault.id, new) if new else []
        again = tx.vaults.replace_sections(replaced)
        tx.vaults.move_sections(changes.moved)
        self._core.log.erases(tx, changes.dropped)
        tx.vaults.drop_sections(changes.dropped)
        texts = [row.memory.content for row in (*(s.row for s in new), *(s.row for s in replaced))]
        self._core.await_vectors(tx, [*nums, *again], texts)
        self._counts["indexed"] += len(nums) + len(again)
        self._counts["kept"] += len(changes.moved)
        self._counts["removed"] += len(changes.dropped)

    def _remove(self, files: Sequence[VaultFile]) -> None:
        for start in range(0, len(files), BATCH_FILES):
            part = files[start : start + BATCH_FILES]
            documents = [file.document for file in part if file.document]
            with self._writing() as tx:
                sections = tx.vaults.sections(self._vault.id, documents)
                nums = [section.num for own in sections.values() for section in own]
                self._suspects |= tx.terms.held(nums)
                self._core.log.erases(tx, nums)
                tx.vaults.drop_sections(nums)
                tx.documents.drop(documents)
                tx.vaults.drop_files(self._vault.id, [file.path for file in part])
            self._counts["removed"] += len(nums)
            self._removed += [file.path for file in part if file.document]

    def _link(self) -> None:
        """Every link of the vault anew, and what of it holds: a file that came or went can change either."""
        vault, now = self._vault.id, self._core.clock()
        with self._writing() as tx:
            lives, states = tx.vaults.lives(vault), tx.vaults.states(vault)
            sections = VaultSections(tx.vaults.links(vault), {path: life.names for path, life in lives.items()})
            wanted = succession(lives, sections, states, now=now)
            known = {num: (state.status, state.valid_until) for num, state in states.items() if not state.settled}
            tx.vaults.settle({num: end for num, end in wanted.ends.items() if num in known and known[num] != end})
            present = tx.vaults.ties(vault)
            # Since when one supersedes the other can change; the others hold since they were first seen.
            ties = {
                tie: at if tie[2] == RelationType.SUPERSEDES else present.get(tie, at)
                for tie, at in wanted.ties.items()
            }
            tx.vaults.retie(
                [tie for tie in sorted(present) if ties.get(tie) != present[tie]],
                {tie: ties[tie] for tie in sorted(ties) if present.get(tie) != ties[tie]},
            )
            counted = wanted.reinforcements
            restated = [num for num in sorted(states) if counted.get(num) != states[num].stated]
            if restated:
                restate(tx, {num: counted.get(num) for num in restated})
        self._warnings += wanted.warnings

    def _tidy(self) -> None:
        """Words that only the old text held leave the dictionary, so that a search treats them as never written."""
        for _ in range(TIDY_LOOKS):
            if not self._suspects:
                return
            with self._core.snapshot(self._vault.namespace) as snapshot:
                if snapshot is None:
                    return
                _, state, version = snapshot
                alive, postings = version.columns["alive"], version.lexical.postings
                unused = [
                    number
                    for number in sorted(self._suspects)
                    if not any(np.any(alive[posting.rows]) for posting in postings(number))
                ]
            with self._writing() as tx:
                if tx.state is not None and tx.state.number == state.number:
                    tx.terms.drop(unused)
                    return

    @contextmanager
    def _writing(self) -> Iterator[Writer]:
        with self._store.write(self._vault.namespace) as tx:
            now = int(time.time())
            if not tx.whole.hold_lease(self._lease, self._holder, now, now + LEASE_SECONDS):
                raise _busy(self._vault)
            yield tx


def _record(file: Read | VaultFile) -> VaultFile:
    if isinstance(file, VaultFile):
        return file
    return VaultFile(file.path, file.document, file.hash, file.seen, None, file.note.warning, file.note.life)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _busy(vault: Vault) -> StoreBusy:
    return StoreBusy(
        f"another process is syncing the vault {vault.name}",
        hint="Nothing was lost; run it again when that one is done.",
    )
