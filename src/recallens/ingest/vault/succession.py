"""Which sections of a vault hold and until when, which take the place of which, and how they are related otherwise:
worked out anew at every sync from what all notes say, so that the order in which they came does not matter, and what a
note no longer says is undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from recallens.ingest.vault.links import VaultSections
from recallens.model.memory import RelationType, Status
from recallens.model.salience import CONFIRM_REINFORCEMENT
from recallens.model.vault import Link, NoteLife, Problem
from recallens.store.records import SectionState

Tie = tuple[int, int, str]
"""The numbers of two sections, and the type of the relation between them."""

_SUPERSEDES: Final = str(RelationType.SUPERSEDES)


class Succession(Struct, frozen=True):
    """`ends` has the status of every section and until when it holds, `ties` since when each relation does."""

    ends: Mapping[int, tuple[str, int | None]]
    ties: Mapping[Tie, int]
    reinforcements: Mapping[int, tuple[float, int]]
    warnings: tuple[Problem, ...]


class _Step(Struct, frozen=True):
    """One note, or a section of it, that has ended; `by` are the sections that take its place."""

    nums: tuple[int, ...]
    by: tuple[tuple[str, int], ...]  # path and section
    at: int | None  # when, where somebody says so


def succession(
    lives: Mapping[str, NoteLife], sections: VaultSections, states: Mapping[int, SectionState], *, now: int
) -> Succession:
    warnings: list[Problem] = []
    steps = _without_circles(list(_steps(lives, sections, warnings)), sections, warnings)
    ends: dict[int, tuple[str, int | None]] = {}
    ties: dict[Tie, int] = {}
    for path, life in lives.items():
        for num, *_ in sections.by_path.get(path, ()):
            ends[num] = Status.ACTIVE, life.valid_until
    for step in sorted(steps, key=lambda step: step.at is not None):  # a stated date is the last word
        for num in step.nums:
            at, before = _end(step, states[num], lives, states, now), ends[num][1]
            if step.at is None and before is not None and (before <= now or before < at):
                at = before
            ends[num] = Status.SUPERSEDED, at
    for step in steps:
        for num in step.nums:
            at = ends[num][1] or now
            ties.update({(successor, num, _SUPERSEDES): at for _, successor in step.by if successor != num})
    ties.update({(*pair, str(RelationType.MENTIONS)): now for pair in sections.mentions()})
    for path, life in lives.items():
        own = [num for num, *_ in sections.by_path.get(path, ())]
        for stated, turned in ((life.relations, False), (life.inverse, True)):
            for place, type, link in stated:
                target = sections.target(link, path)
                if target is not None and place < len(own) and own[place] != target:
                    ties[(target, own[place], str(type)) if turned else (own[place], target, str(type))] = now
    reinforcements = {
        num: (1.0 - (1.0 - CONFIRM_REINFORCEMENT) ** life.reinforcements, states[num].updated)
        for path, life in lives.items()
        if life.reinforcements
        for num, *_ in sections.by_path.get(path, ())
    }
    return Succession(ends, ties, reinforcements, tuple(dict.fromkeys(warnings)))


def _steps(lives: Mapping[str, NoteLife], sections: VaultSections, warnings: list[Problem]) -> Iterator[_Step]:
    """What has ended by its own word, and what another note says that it replaces."""

    def resolved(path: str, links: tuple[Link, ...], *, told: bool = True) -> tuple[tuple[str, int], ...]:
        found = []
        for link in links:
            file, num = sections.file(link, path), sections.target(link, path)
            if not told and (file is None or num is None):
                continue
            if file is None or num is None:
                named = link.target or link.fragment
                warnings.append(Problem(path, f"it names {named!r}, and there is no such note"))
            else:
                found.append((file, num))
        return tuple(found)

    for path, life in lives.items():
        own = tuple(num for num, *_ in sections.by_path.get(path, ()))
        if not own:
            continue
        if life.ending is not None:
            found = resolved(path, life.ending.by, told=not life.ending.if_named)
            others = tuple((file, num) for file, num in found if file != path)
            if others or not life.ending.if_named:
                yield _Step(own, others, life.ending.at)
        for place, ending in life.section_endings.items():
            if place < len(own):
                yield _Step(own[place : place + 1], resolved(path, ending.by), ending.at)
        # What is only proposed replaces nothing yet.
        if life.review is None:
            for file, num in resolved(path, life.supersedes):
                if file == path:
                    continue
                link = next(link for link in life.supersedes if sections.file(link, path) == file)
                ended = (num,) if link.fragment else tuple(each for each, *_ in sections.by_path[file])
                yield _Step(ended, ((path, own[0]),), None)


def _without_circles(steps: list[_Step], sections: VaultSections, warnings: list[Problem]) -> list[_Step]:
    """Of notes that replace each other, the first step that closes the circle is left out and told."""
    paths = {num: path for path, own in sections.by_path.items() for num, *_ in own}
    after: dict[int, set[int]] = {}

    def leads_to(start: int, goal: int) -> bool:
        seen, front = {start}, [start]
        while front:
            front = [later for num in front for later in after.get(num, ()) if later not in seen]
            seen.update(front)
        return goal in seen

    kept = []
    for step in steps:
        if any(leads_to(successor, num) for _, successor in step.by for num in step.nums):
            file = next(iter(step.by))[0]
            warnings.append(Problem(paths[step.nums[0]], f"it and {file} replace each other; this end is ignored"))
            continue
        for num in step.nums:
            after.setdefault(num, set()).update(successor for _, successor in step.by)
        kept.append(step)
    return kept


def _end(
    step: _Step, state: SectionState, lives: Mapping[str, NoteLife], states: Mapping[int, SectionState], now: int
) -> int:
    """When a section ended: as somebody says; else when its successor began to hold; else when its note was changed,
    as far as that is known. What nobody dated has ended by now, and not before it was there."""
    if step.at is not None:
        return step.at
    dated = ((lives[path].starts, states[successor].created) for path, successor in step.by)
    began = (min(created, now) if stated is None else stated for stated, created in dated)
    if later := [at for at in began if at > state.created]:
        return min(later)
    known = state.valid_until if state.status == Status.SUPERSEDED else None
    return known if known is not None else max(min(state.updated, now), min(state.created + 1, now))
