"""The filter ladder. Each rung judges a row by the row alone, so the rungs commute and can be pushed into a view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np
from msgspec import Struct

from recallens.index.columns import Columns, code_of
from recallens.model.memory import Status, Zone
from recallens.model.plan import Scope
from recallens.model.pool import Pool
from recallens.model.query import Documents, Filters, Query
from recallens.model.verdict import BoolArray, Gate, IntArray, anywhere, everywhere
from recallens.recall.runner import Decide
from recallens.recall.scene import EVERY, Rows, Scene
from recallens.recall.sessions import recaps

Fails = Callable[[Rows], BoolArray]


class Rung(Struct, frozen=True):
    """`fails` says which of the given rows it rejects, `why` sums up a rejection in words; `asked` = by the caller.

    One that `spares_plain` rejects no plain row: where all are, it need not look.
    """

    name: str
    fails: Fails
    why: Callable[[IntArray], str]
    asked: bool = False
    spares_plain: bool = False

    def rejects(self, scene: Scene, rows: Rows) -> BoolArray:
        return scene.none_of(rows) if self.spares_plain and scene.all_plain(rows) else self.fails(rows)


def ladder(scene: Scene, query: Query) -> tuple[Rung, ...]:
    """The rungs of this recall, in the order in which the X-ray lists them."""
    columns, filters = scene.columns, query.filters
    rungs = [
        Rung("namespace-scope", scene.none_of, lambda _: "", spares_plain=True),
        Rung(
            "status-active",
            lambda rows: _not_active(scene, query, rows),
            lambda rows: _statuses(columns, rows),
            spares_plain=True,
        ),
        Rung(
            "validity",
            lambda rows: _not_valid(scene, query, rows),
            lambda _: "outside its validity",
            spares_plain=query.as_of is None,
        ),
        Rung(
            "trust-zone",
            lambda rows: columns["zone"][rows] == code_of(Zone.QUARANTINE),
            lambda _: "rejected quarantine",
            spares_plain=True,
        ),
    ]
    if scene.held is not None:
        held = scene.held
        rungs.append(Rung("context-scope", lambda rows: ~held[rows], lambda _: "meant for another context only"))
    if filters.project is not None:
        rungs.append(_equals(columns, "project", columns.names["project"].find(filters.project), filters.project))
    for name, option in (("sector", filters.sector), ("tier", filters.tier), ("kind", filters.kind)):
        if option is not None:
            rungs.append(_equals(columns, name, code_of(option), option))
    if filters.requires_citations:
        rungs.append(Rung("requires-citations", lambda rows: ~columns["cited"][rows], lambda _: "uncited", asked=True))
    if filters.scope is not Scope.ORG:
        rungs.append(_in_scope(columns, query))
    if scene.tagged is not None:
        rungs.append(_within("tags", scene.tagged, f"not tagged {', '.join(filters.tags)}"))
    if scene.affected is not None:
        rungs.append(_within("affected-files", scene.affected, f"about none of {', '.join(filters.affected)}"))
    rungs += _of_files(scene, filters)
    if filters.min_salience > 0:
        floor = filters.min_salience
        rungs.append(
            Rung(
                "min-salience",
                lambda rows: scene.salience(rows) < floor,
                lambda _: f"salience below {floor:g}",
                asked=True,
            )
        )
    if scene.linked is not None:
        rungs.append(_within("in-session", scene.linked, f"not in session {filters.in_session}"))
    match filters.documents:
        case Documents.EXCLUDE:
            rungs.append(
                Rung(
                    "documents",
                    lambda rows: columns["document"][rows] >= 0,
                    lambda _: "from a document",
                    asked=True,
                )
            )
        case Documents.ONLY:
            rungs.append(
                Rung(
                    "documents",
                    lambda rows: columns["document"][rows] < 0,
                    lambda _: "not from a document",
                    asked=True,
                )
            )
        case Documents.INCLUDE:
            pass
    return tuple(rungs)


def judge(
    scene: Scene, rungs: Sequence[Rung], *, batch: int, pushed: Sequence[tuple[int, int]] | None = None
) -> Decide:
    """Every rung as a Gate over the rows of one batch."""

    def decide(pool: Pool, query: Query) -> Iterable[Gate]:
        applies = pool.batch == batch
        if batch and not anywhere(applies):
            return
        nobody = scene.none_of(pool.rows)
        plain = scene.all_plain(pool.rows)
        live = pool.live
        for at, rung in enumerate(rungs):
            fails, reason = nobody if plain and rung.spares_plain else rung.fails(pool.rows), ""
            if fails is not nobody and anywhere(fails):
                rejected = live & applies & fails
                reason = rung.why(pool.rows[rejected]) if anywhere(rejected) else ""
                live = live & ~rejected
            yield Gate(rung.name, applies, fails, nobody, reason, pushed[at] if pushed else None)

    return decide


def passing(scene: Scene, rungs: Iterable[Rung]) -> tuple[BoolArray, list[tuple[int, int]]]:
    """The rows of the namespace that every rung admits, and what each rung considered and admitted on the way."""
    mask = scene.columns["alive"].copy()
    counts = []
    for rung in rungs:
        considered = int(mask.sum())
        mask &= ~rung.rejects(scene, EVERY)
        counts.append((considered, int(mask.sum())))
    return mask, counts


def may_lead_on(scene: Scene, query: Query) -> Callable[[Sequence[int]], list[int]]:
    """Of some memories, those that a path may lead through: what is blocked must not show in one.

    What was superseded still leads to its successor, and the caller's filters are about results, not about the way.
    """
    rungs: list[Rung] = []

    def among(nums: Sequence[int]) -> list[int]:
        if not rungs:  # part of the walk, and timed with it
            asked = replace(query, filters=Filters(include_superseded=True))
            rungs.extend(rung for rung in ladder(scene, asked) if not rung.asked)
        rows = scene.columns.locate(nums)
        known = rows >= 0
        places = rows[known]
        passes = scene.columns["alive"][places]
        for rung in rungs:
            passes = passes & ~rung.rejects(scene, places)
        allowed: list[int] = np.asarray(nums, dtype=np.int64)[known][passes].tolist()
        return allowed

    return among


def _not_active(scene: Scene, query: Query, rows: Rows) -> BoolArray:
    status = scene.columns["status"][rows]
    active: BoolArray = status == code_of(Status.ACTIVE)
    if everywhere(active):
        return ~active
    replaced = status == code_of(Status.SUPERSEDED)
    active |= replaced if query.filters.include_superseded else replaced & ~scene.superseded(rows)
    return ~active


def _not_valid(scene: Scene, query: Query, rows: Rows) -> BoolArray:
    columns, at = scene.columns, scene.at
    fails: BoolArray = columns["valid_from"][rows] > at
    if not query.filters.include_superseded:
        fails = fails | (columns["valid_until"][rows] <= at)
    if query.as_of is not None:
        fails = fails | (columns["created"][rows] > at)
    return fails


def _of_files(scene: Scene, filters: Filters) -> list[Rung]:
    """Limits on what was cut from files, and on summaries of sessions: other memories pass them all."""
    columns = scene.columns
    rungs = []
    if filters.brain_file_limit == 0:
        rungs.append(
            Rung("knowledge-mix", lambda rows: columns["document"][rows] >= 0, lambda _: "from a file", asked=True)
        )
    if scene.in_folders is not None:
        rungs.append(_within("folders", scene.in_folders, f"in none of {', '.join(filters.folders)}"))
    if scene.not_raw is not None:
        rungs.append(_within("raw-conversations", scene.not_raw, "a raw conversation"))
    if filters.medium_term_limit == 0:
        rungs.append(
            Rung("medium-term", lambda rows: recaps(columns)[rows], lambda _: "a summary of a session", asked=True)
        )
    return rungs


def _statuses(columns: Columns, rows: IntArray) -> str:
    options = tuple(Status)
    return "rejected " + ", ".join(sorted({str(options[code]) for code in columns["status"][rows]}))


def _equals(columns: Columns, name: str, code: int, option: str | StrEnum) -> Rung:
    return Rung(name, lambda rows: columns[name][rows] != code, lambda _: f"{name} is not {option}", asked=True)


def _in_scope(columns: Columns, query: Query) -> Rung:
    """Of the asker's own task, worktree or project; the engine sees to it that the query names one."""
    scope = query.filters.scope
    own = {Scope.TASK: query.task, Scope.WORKTREE: query.worktree, Scope.PROJECT: query.filters.project}[scope]
    code = columns.names[scope].find(own or "")
    return Rung("scope", lambda rows: columns[scope][rows] != code, lambda _: f"not of {scope} {own}", asked=True)


def _within(name: str, admitted: BoolArray, reason: str) -> Rung:
    return Rung(name, lambda rows: ~admitted[rows], lambda _: reason, asked=True)
