"""Memories one by one and page by page: looking at them, and every change that a person or an agent makes to one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import assert_never

import numpy as np
from msgspec import structs

from recallens.engine.core import Core
from recallens.engine.erasure import Erasure, refusal
from recallens.engine.ingest import Ingest
from recallens.engine.reversals import Reversals
from recallens.errors import AwaitsReview, EditConflict, InvalidInput, NotAllowed, NotFound
from recallens.ingest import curation
from recallens.ingest.batch import Remembered
from recallens.ingest.draft import Draft
from recallens.ingest.validate import later, option, unit_interval
from recallens.model.memory import PROPOSED, Memory, Origin, Relation, RelationType, Status, Zone, handle_of
from recallens.model.reversal import ReversalStep, StepKind
from recallens.model.salience import SECTOR_ORDER, salience
from recallens.model.times import When
from recallens.model.trust import (
    NO_DETAILS,
    Change,
    Delivery,
    Details,
    Influence,
    Input,
    InputKind,
    ProposedChange,
    proposal_number,
)
from recallens.store.protocols import Writer
from recallens.store.records import Listing, MemoryPage

LARGEST_PAGE = 1_000
# How far back a chain of supersessions is followed.
LONGEST_LINEAGE = 50
KEPT_BY_AN_EDIT = (
    "title", "project", "sector", "kind", "tier", "tags", "importance", "confidence", "task", "worktree", "attributes",
)  # fmt: skip
# Where it came from and what it rests on, which nobody can say in another's name.
PROVENANCE = ("citations", "source", "author")


class Memories:
    """Reads and curates the memories of a namespace."""

    def __init__(self, core: Core, ingest: Ingest, erasure: Erasure) -> None:
        self._core = core
        self._erasure = erasure
        self._ingest = ingest
        self.reversals = Reversals(core)
        self.remember_many = ingest.remember_many
        self.add_document = ingest.add_document

    # ── looking at them ──

    def get(self, id: str, *, namespace: str | None = None) -> Memory:
        with self._core.reading(namespace) as reader:
            return self._core.memory(reader, id)[1]

    def seen(self, id: str, *, namespace: str | None = None) -> Memory:
        """One that who acts may see; what is withheld from them is not there."""
        with self._core.reading(namespace) as reader:
            return self._core.seen_memory(reader, id)[1]

    def many(self, ids: Iterable[str], *, namespace: str | None = None) -> dict[str, Memory]:
        """Many at once, by id; what is not there is left out."""
        with self._core.read(namespace) as reader:
            numbers = reader.memories.find(list(dict.fromkeys(ids)))
            memories = reader.memories.get(list(numbers.values()))
        return {id: memories[num] for id, num in numbers.items() if num in memories}

    def handles(self, ids: Iterable[str], *, namespace: str | None = None) -> dict[str, str]:
        """The short names that people read, by id; what is not there is left out."""
        with self._core.read(namespace) as reader:
            return {id: handle_of(num) for id, num in reader.memories.find(list(dict.fromkeys(ids))).items()}

    def resolve(self, names: Iterable[str], *, namespace: str | None = None) -> dict[str, str]:
        """Memory ids by id, by the beginning of one, or by `source_id`; what fits nothing is left out."""
        wanted = list(dict.fromkeys(names))
        with self._core.read(namespace) as reader:
            numbers = reader.memories.by_source_id(wanted)
            for name in wanted:
                with suppress(NotFound, InvalidInput):
                    numbers[name] = self._core.num(reader, name)
            ids = reader.memories.ids(list(numbers.values()))
        return {name: ids[num] for name, num in numbers.items()}

    def browse(self, listing: Listing, *, namespace: str | None = None) -> MemoryPage:
        if not 1 <= listing.limit <= LARGEST_PAGE or listing.offset < 0:
            raise InvalidInput(f"a page has 1 to {LARGEST_PAGE:,} memories and starts at 0 or later")
        with self._core.read(namespace) as reader:
            return reader.memories.page(listing)

    def awaiting_review(self, *, namespace: str | None = None) -> list[Memory]:
        with self._core.read(namespace) as reader:
            nums = reader.memories.awaiting_review()
            memories = reader.memories.get(nums)
        return [memories[num] for num in nums]

    def repeating(self, memories: Iterable[Memory], *, namespace: str | None = None) -> dict[str, Memory]:
        """Of what agents say by themselves, by id: the memory that says the same and is withheld from them."""
        said = {memory.content_hash: memory.id for memory in memories if memory.zone is Zone.WORKING}
        with self._core.read(namespace) as reader:
            known = reader.memories.get(list(reader.memories.by_hash(list(said), restricted=True).values()))
        return {said[each.content_hash]: each for each in known.values() if said[each.content_hash] != each.id}

    def relations(self, id: str, *, namespace: str | None = None) -> list[Relation]:
        with self._core.reading(namespace) as reader:
            return reader.relations.of(self._core.num(reader, id))

    def salience(self, memories: Iterable[Memory]) -> dict[str, float]:
        """Each memory's salience now."""
        rows = list(memories)
        if not rows:
            return {}
        values = salience(
            base=np.array([m.base_salience for m in rows]),
            sector=np.array([SECTOR_ORDER.index(m.sector) for m in rows], dtype=np.int8),
            importance=np.array([m.importance for m in rows]),
            last_used=np.array([m.created if m.last_used is None else m.last_used for m in rows], dtype=np.int64),
            uses=np.array([m.uses for m in rows], dtype=np.int64),
            reinforcement=np.array([m.reinforcement for m in rows]),
            reinforced_at=np.array([m.reinforced_at or 0 for m in rows], dtype=np.int64),
            at=self._core.clock(),
        )
        return {memory.id: value for memory, value in zip(rows, values.tolist(), strict=True)}

    def lineage(self, id: str, *, namespace: str | None = None) -> tuple[Memory, ...]:
        """What a memory replaced, itself, and what replaced it, the oldest first."""
        with self._core.reading(namespace) as reader:
            known = {self._core.num(reader, id)}
            edge = list(known)
            while edge and len(known) < LONGEST_LINEAGE:
                ties = [tie for ties in reader.relations.find(edge).values() for tie in ties]
                now = self._core.clock()
                chain = [tie for tie in ties if tie.type is RelationType.SUPERSEDES and tie.holds(now)]
                ends = {end for tie in chain for end in (tie.source, tie.target)}
                edge = [num for num in reader.memories.find(sorted(ends)).values() if num not in known]
                known |= set(edge)
            memories = reader.memories.get(sorted(known))
        return tuple(sorted(memories.values(), key=lambda memory: (memory.created, memory.id)))

    def influence(self, id: str, *, namespace: str | None = None) -> Influence:
        """Whom a memory has reached: the recalls that returned it, the latest first, and what was made of it."""
        with self._core.reading(namespace) as reader:
            num, memory = self._core.memory(reader, id)
            made_of = reader.lineage.of([num]).get(num, [])
            recalls = [Delivery(*row) for row in reader.lineage.recalls_of(num)]
            reached = reader.memories.get(reader.lineage.derived_from(InputKind.MEMORY, [memory.id]))
        return Influence(memory, tuple(made_of), tuple(recalls), tuple(reached.values()))

    # ── changing them ──

    def edit(self, id: str, content: str, *, namespace: str | None = None) -> Remembered:
        """A new memory with the new text that supersedes the old, keeps its attributes and is restricted as it is. An
        agent's edit is from that agent; of what is more trusted, it only proposes to take the place."""
        by = self._core.actor
        with self._core.reading(namespace) as reader:
            old = self._core.seen_memory(reader, id)[1]
        kept = {name: getattr(old, name) for name in KEPT_BY_AN_EDIT if name != "kind" or old.kind_stated}
        kept |= {name: getattr(old, name) for name in PROVENANCE} if by.decides else {"source": by.source}
        made_of = Input.of(old, replaced=True)
        if by.decides:  # who takes up what was rejected has decided on it
            made_of = structs.replace(made_of, zone=old.zone)
        draft = Draft(content, **kept, supersedes=old.id, inputs=(made_of,))
        edited = self._ingest.remember(draft, namespace=namespace, dedupe=False)
        if edited.proposes is None:
            with self._core.changing(namespace) as tx:
                self.reversals.note(tx, f"edited {old.handle}, which is {edited.handle} now", *_back_again(old))
        return edited

    def supersede(self, old: str, new: str, *, namespace: str | None = None, at: When | None = None) -> None:
        asking = self._core.settings.session
        with self._core.changing(namespace) as tx:
            self._core.ensure_session(tx, asking)
            ended = self._core.moment("at", at)
            if not self._core.actor.dates:  # what took its place was not known before
                ended = max(ended, self._core.clock())
            (before, replaced), (after, successor) = self._core.seen_memory(tx, old), self._core.seen_memory(tx, new)
            done = curation.supersede(tx, before, after, ended, asking, by=self._core.actor)
            if done and successor.status in curation.ENDED:  # neither would be found; histories alone may hold that
                raise InvalidInput(
                    f"{successor.handle} is {successor.status} and can replace nothing",
                    hint=f"Nothing was changed. `recallens restore {successor.handle}` brings it back.",
                )
            if done:
                words = f"replaced {handle_of(before)} by {handle_of(after)}"
                self.reversals.note(tx, words, *_back_again(replaced))
        if not done:
            above = handle_of(after if self._core.actor.may_change(replaced) else before)
            raise AwaitsReview(f"{above} is more trusted than who asks: this is a proposal",
                               proposal=handle_of(after), memory=handle_of(before))  # fmt: skip

    def relate(
        self, source: str, target: str, type: str = RelationType.RELATED_TO, *, confidence: float = 1.0,
        origin: str = Origin.USER, namespace: str | None = None,
    ) -> Relation:  # fmt: skip
        kind = option(RelationType, type, "relation")
        if kind is RelationType.SUPERSEDES:
            self.supersede(target, source, namespace=namespace)
            return Relation(source, target, kind, created=self._core.clock())
        sure, by = unit_interval("confidence", confidence), option(Origin, origin, "origin")
        relation = Relation(source, target, kind, sure, by, self._core.clock())
        waits = None
        with self._core.changing(namespace) as tx:
            ends = self._core.seen_memory(tx, source)[0], self._core.seen_memory(tx, target)[0]
            details: dict[str, str | float | None] = {"relation": kind, "confidence": sure}
            waits = self._waits(tx, Change.RELATE, *ends, details=details)
            if waits is None:
                curation.relate(tx, *ends, relation=relation)
                words = f"related {handle_of(ends[0])} to {handle_of(ends[1])}"
                self.reversals.note(tx, words, _tie(StepKind.UNRELATE, tx.memories.ids(ends), ends, relation))
        if waits is not None:
            raise waits
        return relation

    def unrelate(self, source: str, target: str, type: str, *, namespace: str | None = None) -> Relation:
        """End a relation of a memory to another. What superseded something is restored instead."""
        kind = option(RelationType, type, "relation")
        if kind is RelationType.SUPERSEDES:
            raise InvalidInput("what was replaced is restored", hint="Use `recallens restore` with it.")
        self._person_only("removing a relation")
        with self._core.changing(namespace) as tx:
            ends = self._core.seen_memory(tx, source)[0], self._core.seen_memory(tx, target)[0]
            ended = curation.unrelate(tx, *ends, kind, at=self._core.clock())
            words = f"removed a relation of {handle_of(ends[0])} to {handle_of(ends[1])}"
            self.reversals.note(tx, words, _tie(StepKind.RELATE, tx.memories.ids(ends), ends, ended))
        return ended

    def pin(self, id: str, *, pinned: bool = True, namespace: str | None = None) -> Memory:
        """What is pinned is told first at the start of every session of its project."""
        self._person_only("pinning")
        with self._core.changing(namespace) as tx:
            num, memory = self._core.seen_memory(tx, id)
            if pinned:
                curation.refuse_ended(memory)
            if curation.pin(tx, memory, num, pinned=pinned, at=self._core.clock()):
                back = ReversalStep(StepKind.UNPIN if pinned else StepKind.PIN, memory.id)
                self.reversals.note(tx, f"{'pinned' if pinned else 'unpinned'} {memory.handle}", back)
            return tx.memories.get([num])[num]

    def hold_until(self, id: str, until: When | str | None, *, namespace: str | None = None) -> Memory:
        """Say until when it holds; None is without an end. Afterwards a search brings it only as of an earlier day."""
        self._person_only("setting an end")
        end = None if until is None else later(until, now_ms=self._core.clock())
        with self._core.changing(namespace) as tx:
            num, memory = self._core.seen_memory(tx, id)
            curation.refuse_ended(memory)
            if end is not None and end <= (memory.valid_from or 0):
                raise InvalidInput(f"{memory.handle} would end before it began")
            tx.memories.update(num, {"valid_until": end, "updated": self._core.clock()})
            words = f"set the end of {memory.handle}" if end is not None else f"took the end off {memory.handle}"
            self.reversals.note(tx, words, _set(memory, "valid_until"))
            return tx.memories.get([num])[num]

    def _person_only(self, what: str) -> None:
        if not self._core.actor.decides:
            raise NotAllowed(f"{what} is for the person at the machine", hint="Use the command there.")

    def _waits(
        self, tx: Writer, change: Change, num: int, other: int | None = None, *, details: Details = NO_DETAILS
    ) -> AwaitsReview | None:
        """What tells that somebody less trusted than a memory only proposes to change it; None for who may."""
        by, nums = self._core.actor, [num] if other is None else [num, other]
        above = [memory for memory in tx.memories.get(nums).values() if not by.may_change(memory)]
        if not above:
            return None
        at, owner = self._core.clock(), by.called
        proposed = ProposedChange(change, num=num, other_num=other, zone=by.zone, owner=owner, at=at, details=details)
        return curation.wait(tx, proposed, above[0].handle)

    def forget(self, id: str, *, hard: bool = False, namespace: str | None = None) -> Memory:
        """Hide it; or, `hard`, erase it with its older versions and what quotes it: an error where bytes are left."""
        waits = None
        with self._core.changing(namespace) as tx:
            num, memory = self._core.seen_memory(tx, id)
            waits = self._waits(tx, Change.FORGET, num)
            if waits is None and not hard:
                curation.forget(tx, memory, num, at=self._core.clock(), by=self._core.actor)
                if memory.status is not Status.FORGOTTEN:
                    self.reversals.note(tx, f"forgot {memory.handle}", ReversalStep(StepKind.RESTORE, memory.id))
        if waits is not None:
            raise waits
        if hard and (left := refusal(self._erasure.erase([memory.id], namespace=namespace))) is not None:
            raise left
        return memory

    def restore(self, id: str, *, namespace: str | None = None) -> Status:
        """What the person took away comes back by the person alone."""
        with self._core.changing(namespace) as tx:
            num, memory = self._core.memory(tx, id)
            by, waits = self._core.actor, self._waits(tx, Change.RESTORE, num)
            own = memory.attributes.get(curation.FORGOTTEN_BY) == by.called
            if waits is None and not by.decides and not own:
                proposed = ProposedChange(Change.RESTORE, num=num, zone=by.zone, owner=by.called, at=self._core.clock())
                waits = curation.wait(tx, proposed, memory.handle)
            if waits is None:
                status = curation.restore(tx, memory, num, at=self._core.clock())
                if memory.status is Status.FORGOTTEN:
                    self.reversals.note(tx, f"restored {memory.handle}", ReversalStep(StepKind.FORGET, memory.id))
                return status
        raise waits

    def confirm(self, id: str, *, session: str | None = None, namespace: str | None = None) -> None:
        with self._core.changing(namespace) as tx:
            num, memory = self._core.seen_memory(tx, id)
            asking = session or self._core.settings.session
            self._core.ensure_session(tx, asking)
            if curation.confirm(tx, num, at=self._core.clock(), session=asking, by=self._core.actor):
                self.reversals.note(tx, f"confirmed {memory.handle}", ReversalStep(StepKind.UNCONFIRM, memory.id))

    def deemphasise(self, id: str, *, namespace: str | None = None) -> float:
        with self._core.changing(namespace) as tx:
            num, memory = self._core.seen_memory(tx, id)
            waits = self._waits(tx, Change.DEEMPHASISE, num)
            if waits is None:
                weight = curation.deemphasise(tx, memory, num, at=self._core.clock())
                self.reversals.note(tx, f"halved the weight of {memory.handle}", _set(memory, "base_salience"))
                return weight
        raise waits

    # ── deciding ──

    def proposals(self, *, namespace: str | None = None) -> list[ProposedChange]:
        """What agents want done to what is more trusted than they are, the oldest first."""
        with self._core.read(namespace) as reader:
            return reader.proposals.open()

    def review(self, id: str, *, approve: bool, namespace: str | None = None) -> None:
        """Decide on a memory that waits, on whether it supersedes the one that it was proposed to replace, or on a
        change that was proposed."""
        if not self._core.actor.decides:
            raise NotAllowed("deciding is for the person at the machine", hint="Use `recallens review` there.")
        if (number := proposal_number(id)) is not None:
            self._decide(number, approve, namespace)
            return
        with self._core.changing(namespace) as tx:
            num, memory = self._core.memory(tx, id)
            at = self._core.clock()
            decided = curation.decide(tx, memory, num, accept=approve, at=at)
            waiting = memory.status is Status.PENDING_REVIEW or memory.review == PROPOSED
            of_an_agent = memory.zone is Zone.WORKING and (approve or memory.status is Status.ACTIVE)
            if not decided or waiting or of_an_agent:
                (curation.approve if approve else curation.reject)(tx, memory, num, at=at)
            word = "approved" if approve else "rejected"
            if not decided:  # what was decided in the place of another is taken back by restoring that
                self.reversals.note(tx, f"{word} {memory.handle}", _set(memory, "status", "zone", "review"))

    def _decide(self, number: int, accept: bool, namespace: str | None) -> None:
        """What is accepted is done now, as if the person had asked for it."""
        with self._core.changing(namespace) as tx:
            proposed = tx.proposals.get(number)
            if proposed is None:
                raise NotFound(f"no open proposal p{number}", hint="`recallens review list` shows those that wait.")
            if proposed.change is not Change.SUPERSEDE:
                tx.proposals.decide(number, accepted=accept, at=self._core.clock())
        memory = proposed.memory or ""
        if proposed.change is Change.SUPERSEDE:  # with the text that would take the place
            self.review(proposed.other or "", approve=accept, namespace=namespace)
        if not accept:
            return
        match proposed.change:
            case Change.SUPERSEDE:
                pass
            case Change.FORGET:
                self.forget(memory, namespace=namespace)
            case Change.RESTORE:
                self.restore(memory, namespace=namespace)
            case Change.DEEMPHASISE:
                self.deemphasise(memory, namespace=namespace)
            case Change.RELATE:
                relation, sure = str(proposed.details["relation"]), float(proposed.details["confidence"] or 0)
                self.relate(memory, proposed.other or "", relation, confidence=sure, namespace=namespace)
            case Change.DOCUMENT:
                said = {name: proposed.details.get(name) for name in ("path", "title", "project", "text")}
                self._ingest.add_document(**said, namespace=namespace)  # type: ignore[arg-type]
            case _:
                assert_never(proposed.change)

    # ── taking back ──

    def undo(self, group: str | None = None, *, namespace: str | None = None) -> str:
        """Take the person's last change back, and say in words which it was. With the group of a change it is that one
        or none: another may have been made meanwhile."""
        self._person_only("taking back")
        name = self._core.namespace(namespace)
        last = self.reversals.last(name)
        if last is None:
            raise NotFound("nothing was changed that could be taken back")
        if group is not None and last.group != group:
            raise EditConflict("something else was changed since", hint=f"The last change: {last.words}.")
        with self._core.changing(name) as tx:
            self.reversals.drop_last(tx, last.group)
        about = {id for step in last.steps for id in (step.memory, step.other) if id}
        if not last.steps or about - self.many(about, namespace=name).keys():  # erased since, where there are steps
            raise InvalidInput(f"{last.words}: that cannot be taken back", hint="Undo again for the change before it.")
        with self.reversals.unnoted():
            for step in last.steps:
                self._take_step(step, name)
        return last.words

    def _take_step(self, step: ReversalStep, namespace: str) -> None:
        match step.kind:
            case StepKind.RESTORE:
                self.restore(step.memory, namespace=namespace)
            case StepKind.FORGET:
                self.forget(step.memory, namespace=namespace)
            case StepKind.PIN | StepKind.UNPIN:
                self.pin(step.memory, pinned=step.kind is StepKind.PIN, namespace=namespace)
            case StepKind.RELATE:
                self.relate(step.memory, step.other or "", **step.values, namespace=namespace)
            case StepKind.UNRELATE:
                self.unrelate(step.memory, step.other or "", step.values["type"], namespace=namespace)
            case StepKind.UNCONFIRM:
                with self._core.changing(namespace) as tx:
                    num, memory = self._core.memory(tx, step.memory)
                    curation.take_back_confirmation(tx, memory, num, by=self._core.actor)
            case StepKind.SET:
                with self._core.changing(namespace) as tx:
                    num, _ = self._core.memory(tx, step.memory)
                    tx.memories.update(num, {**step.values, "updated": self._core.clock()})
            case _:
                assert_never(step.kind)


def _set(memory: Memory, *columns: str) -> ReversalStep:
    """To what they are now, before the change."""
    return ReversalStep(StepKind.SET, memory.id, values={column: getattr(memory, column) for column in columns})


def _back_again(memory: Memory) -> tuple[ReversalStep, ...]:
    """A memory that is replaced: it holds again, as it was."""
    return ReversalStep(StepKind.RESTORE, memory.id), _set(memory, "status", "valid_until")


def _tie(kind: StepKind, ids: Mapping[int, str], ends: tuple[int, int], relation: Relation) -> ReversalStep:
    values = {"type": relation.type} | ({"confidence": relation.confidence} if kind is StepKind.RELATE else {})
    return ReversalStep(kind, ids[ends[0]], ids[ends[1]], values)
