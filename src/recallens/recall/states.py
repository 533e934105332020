"""How memories stand at a time: superseded, disputed or stale, with what outcome, and whether they are withheld."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from recallens.model.citation import CitationCheck, Standing
from recallens.model.memory import Memory, Relation, RelationType, Status, Zone
from recallens.model.state import MemoryState, Verified, withheld
from recallens.model.trust import rank
from recallens.store.protocols import Reader

# Of what made a text less trusted, so many are named.
MOST_INPUTS = 3
# Successors that are followed from one memory: a chain has few links.
LONGEST_CHAIN = 20


def states(
    reader: Reader,
    memories: Mapping[int, Memory],
    at: int,
    *,
    scopes: Collection[str] = (),
    relations: Mapping[int, Sequence[Relation]] | None = None,
    checks: Mapping[int, CitationCheck] | None = None,
    worktree: str | None = None,
    undecided: bool = False,
) -> dict[int, MemoryState]:
    """By number. `relations` and `checks` are read where the caller has not read them already. `undecided` tells also
    of what is proposed in a memory's place by somebody less trusted: that is for who decides on it. What proposes to
    replace something more trusted says so to everybody.

    What is withheld disputes nothing, and a relation that has ended says nothing any longer.
    """
    nums = list(memories)
    if relations is None:
        relations = reader.relations.find(nums)
    if checks is None:
        cited = [num for num, memory in memories.items() if memory.citations]
        checks = reader.citations.checks(cited, worktree) if cited else {}
    tasks = {memory.task for memory in memories.values() if memory.task is not None and memory.reward is None}
    outcomes = reader.tasks.outcomes(sorted(tasks)) if tasks else {}
    lower = [num for num, memory in memories.items() if memory.zone is not Zone.TRUSTED]
    lineage = reader.lineage.of(lower) if lower else {}
    holding = {num: [each for each in relations.get(num, ()) if holds(each, at)] for num in nums}
    after = {memories[num].id: _ends(memories[num].id, holding[num], after=True) for num in nums}
    others = _ancestry(reader, after, at)
    before = {num: _ends(memories[num].id, holding[num], after=False) for num in nums}
    disputes = {num: opponents_of(memories[num].id, holding[num]) for num in nums}
    proposed = {num: replacements_of(memories[num].id, holding[num]) for num in nums}
    proposes = {num: replacements_of(memories[num].id, holding[num], replaced=True) for num in nums}
    asks: dict[int, list[str]] = {num: [] for num in nums}
    waiting = nums if undecided else lower
    for each in reader.proposals.replacements(waiting) if waiting else ():
        ends = ((each.num, proposed, each.other if undecided else None), (each.other_num, asks, each.memory))
        for num, known_ends, other in ends if each.at <= at else ():
            if num in known_ends and other is not None:
                known_ends[num].append(other)
    named = {end for each in (before, disputes, proposed, proposes, asks) for ends in each.values() for end in ends}
    known = {memory.id: memory for memory in memories.values()} | others
    if missing := sorted(named - known.keys()):
        found = reader.memories.find(missing)
        known |= {memory.id: memory for memory in reader.memories.get(list(found.values())).values()}

    def shown(ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(known[id].handle for id in ids if id in known and withheld(known[id], scopes) is None)

    found_states = {}
    for num, memory in memories.items():
        above = [id for id in asks[num] if id in known and rank(known[id].zone) > rank(memory.zone)]
        beside = [id for id in asks[num] if id not in above] if undecided else []
        found_states[num] = MemoryState(
            project=memory.project,
            status=_status(memory, at),
            zone=memory.zone,
            superseded_by=tuple(known[id].handle for id in _chain(memory.id, after) if id in known),
            supersedes=tuple(known[id].handle for id in before[num] if id in known),
            disputed_by=shown(disputes[num]),
            maybe_replaced_by=shown(proposed[num]),
            may_replace=shown([*proposes[num], *beside]),
            proposes_to_replace=shown(above),
            stale=_stale(memory, checks.get(num), at),
            cites=check.told_at(worktree) if (check := checks.get(num)) is not None and check.at <= at else None,
            review=memory.review,
            outcome=memory.reward if memory.reward is not None else outcomes.get(memory.task or ""),
            withheld=withheld(memory, scopes),
            verified=_verified(checks.get(num), at),
            made_of=tuple(each.name for each in lineage.get(num, ()) if rank(each.zone) <= rank(memory.zone))[
                :MOST_INPUTS
            ],
        )
    return found_states


def _verified(check: CitationCheck | None, at: int) -> Verified:
    standing = check.standing if check is not None and check.at <= at else Standing.UNKNOWN
    return {Standing.VERIFIED: Verified.YES, Standing.STALE: Verified.NO}.get(standing, Verified.UNCHECKED)


def _status(memory: Memory, at: int) -> Status:
    """What was superseded later was in use then."""
    ended = memory.valid_until is None or memory.valid_until <= at
    return Status.ACTIVE if memory.status is Status.SUPERSEDED and not ended else memory.status


def holds(relation: Relation, at: int) -> bool:
    return relation.created <= at and (relation.valid_until is None or relation.valid_until > at)


def _ends(id: str, relations: Sequence[Relation], *, after: bool) -> list[str]:
    """What superseded a memory, or what it superseded."""
    own = [each for each in relations if each.type is RelationType.SUPERSEDES and each.source != each.target]
    return [each.source for each in own if each.target == id] if after else [e.target for e in own if e.source == id]


def opponents_of(id: str, relations: Sequence[Relation]) -> list[str]:
    """Who contradicts a memory, or is contradicted by it."""
    ties = (each for each in relations if each.type is RelationType.CONTRADICTS)
    ends = (each.source if each.target == id else each.target for each in ties)
    return list(dict.fromkeys(end for end in ends if end != id))


def replacements_of(id: str, relations: Sequence[Relation], *, replaced: bool = False) -> list[str]:
    """What was proposed in a memory's place and not decided on; or in whose place it was proposed."""
    ties = [each for each in relations if each.type is RelationType.MAY_SUPERSEDE and each.source != each.target]
    return (
        [each.target for each in ties if each.source == id] if replaced else [e.source for e in ties if e.target == id]
    )


def _ancestry(reader: Reader, after: dict[str, list[str]], at: int) -> dict[str, Memory]:
    """The successors, and theirs in turn, by id; `after` learns what superseded each of them."""
    known: dict[str, Memory] = {}
    edge = {id for ends in after.values() for id in ends} - after.keys()
    for _ in range(LONGEST_CHAIN):
        if not edge:
            break
        memories = reader.memories.get(list(reader.memories.find(sorted(edge)).values()))
        relations = reader.relations.find(list(memories))
        for num, memory in memories.items():
            known[memory.id] = memory
            holding = [each for each in relations.get(num, ()) if holds(each, at)]
            after[memory.id] = _ends(memory.id, holding, after=True)
        edge = {id for memory in memories.values() for id in after[memory.id]} - after.keys()
    return known


def _chain(id: str, after: Mapping[str, Sequence[str]]) -> list[str]:
    chain: list[str] = []
    while (ends := after.get(id)) and ends[-1] not in chain:
        id = ends[-1]
        chain.append(id)
    return chain


def _stale(memory: Memory, check: CitationCheck | None, at: int) -> str | None:
    """Its validity has ended without a successor, or what it cites is no longer there."""
    if check is not None and check.at <= at and check.stale:
        return check.stale[0].reason or "a citation is stale"
    if memory.valid_until is not None and memory.valid_until <= at and memory.status != "superseded":
        return "its validity has ended"
    return None
