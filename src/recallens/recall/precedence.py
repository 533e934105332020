"""Who stands above whom, among rows that speak of one thing: what worked above what failed, a warning above the
failures that it explains, a correction above what it corrects, a cited fact above a claim that disputes it, and what
was said above its recap.

A row that must stand above another is raised over it, or the other is lowered under it, by more than a repetition can
cost either of them: so the order survives the choice of different rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from recallens.index.columns import code_of, table_of
from recallens.model.memory import Kind, Memory, Relation, RelationType, Zone
from recallens.model.plan import Intent
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.state import FAILURE, SUCCESS
from recallens.model.verdict import Bond, FloatArray, IntArray, Term
from recallens.recall.scene import Scene
from recallens.recall.select import head_of
from recallens.recall.states import holds, opponents_of, replacements_of
from recallens.recall.terms import deviation_of, measured_against
from recallens.recall.views import followed
from recallens.text.content import content_words, held_share, overlap
from recallens.text.languages import Phrases

# Two attempts are at one thing if they share this much of the words of the one that says less.
SAME_ATTEMPT: Final = 0.7
# A warning is about a failure if this much of its words is in what was said of the failure.
EXPLAINS: Final = 0.35
# A recap tells of a memory if it holds this much of its words.
RECAPPED: Final = 0.5
# What an outcome is worth where the question asks how to do something, and where it asks for no kind of answer.
OUTCOME_ASKED, OUTCOME = 0.6, 0.2

_ZONES: Final = tuple(Zone)
_ASK_FOR_FAILURES: Final = (Intent.KNOWN_ISSUES, Intent.WHAT_HAPPENED)
_WARNINGS: Final = table_of((Kind.GOTCHA, Kind.LESSON))
_ASKS_BACK: Final = Phrases.of(lambda pack: pack.work.history)


class PlacedRow(Struct, frozen=True):
    """A row of the pool that may stand above or below another."""

    at: int
    memory: Memory
    relations: Sequence[Relation]
    takes_part: bool  # a row that is only followed moves, and moves no other

    @property
    def words(self) -> frozenset[str]:
        return content_words(f"{self.memory.title or ''}\n{self.memory.content}")

    @property
    def failed(self) -> bool:
        return self.memory.reward is not None and self.memory.reward <= FAILURE

    @property
    def succeeded(self) -> bool:
        return self.memory.reward is not None and self.memory.reward >= SUCCESS


Pairs = Sequence[tuple[PlacedRow, PlacedRow]]  # of each the first is to stand above the second


def outcome(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term]:
    """What worked goes up and what failed goes down, unless the question asks for what went wrong or what happened."""
    intent = _intent(scene)
    reward = scene.columns["reward"][pool.rows]
    computed = ~np.isnan(reward)
    if intent in _ASK_FOR_FAILURES or not computed.any():
        return
    weight = (OUTCOME_ASKED if intent is Intent.HOW_TO_DO else OUTCOME) * query.weights.get("outcome", 1.0)
    yield Term("outcome", np.where(computed, weight * (2.0 * reward - 1.0), 0.0), computed, {"weight": weight})


def attempts(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term | Bond]:
    """Of attempts at one thing, what explains a failure goes above it, and what worked above both, with the warning
    right behind: whoever is about to try should read those two. Who asks what happened at a time tries nothing.
    """
    if scene.question.only_windows or not (scene.columns["reward"][pool.rows[pool.live]] <= FAILURE).any():
        return
    rows, step, score = _rows(scene, pool), _step(pool, balance), pool.score.copy()
    failures = [row for row in rows if row.failed and row.takes_part]
    explained = {row.at: [each for each in failures if _explains(row, each)] for row in rows}
    warnings = [row for row in rows if explained[row.at]]
    for row in warnings:
        score[row.at] = max(score[row.at], *(score[each.at] + step for each in explained[row.at]))
    successes = [row for row in rows if row.succeeded and _intent(scene) not in _ASK_FOR_FAILURES]
    for row in successes:
        same = {each.at for each in failures if _same_attempt(row.memory, each.memory)}
        told = [other for other in warnings if any(each.at in same for each in explained[other.at])]
        ahead = [*same, *(other.at for other in told if other.takes_part)]
        score[row.at] = max(score[row.at], *(score[at] + step for at in ahead), -np.inf)
        if row.takes_part:
            for other in told:
                score[other.at] = max(score[other.at], score[row.at] - step)
    yield from _bond("warning", [(row, each) for row in warnings for each in explained[row.at]])
    yield from _term("warning", pool, query, score, warnings, step)
    yield from _term("success", pool, query, score, successes, step)


def _intent(scene: Scene) -> Intent | None:
    return scene.question.plan.intent if scene.question.plan is not None else None


def _same_attempt(memory: Memory, other: Memory) -> bool:
    aims = [content_words(each.title or each.content) for each in (memory, other)]
    return overlap(*aims) >= SAME_ATTEMPT


def _explains(row: PlacedRow, failure: PlacedRow) -> bool:
    """A warning that was made of the failure, in its task, or that says in its words what failed there."""
    memory = row.memory
    if memory.reward is not None or memory.id == failure.memory.id:
        return False
    if any(tie.target == failure.memory.id and tie.type is RelationType.BUILDS_ON for tie in row.relations):
        return memory.kind is Kind.GOTCHA
    if memory.task is not None and memory.task == failure.memory.task:
        return True
    return bool(_WARNINGS[code_of(memory.kind)]) and overlap(row.words, failure.words) >= EXPLAINS


def corrections(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term | Bond]:
    """What was proposed in a memory's place above it, where the question asks how it is now. What is less trusted may
    propose, but it moves nothing.
    """
    plan = scene.question.plan
    of_a_time = plan is not None and plan.windows
    if query.as_of is not None or of_a_time or _ASKS_BACK.within(query.text):
        return
    rows = {row.memory.id: row for row in _related(scene, pool, RelationType.MAY_SUPERSEDE)}
    pairs = []
    for row in rows.values():
        for id in replacements_of(row.memory.id, row.relations):
            if id in rows and _trust(rows[id].memory) >= _trust(row.memory):
                pairs.append((rows[id], row))
    yield from _bond("correction", pairs)
    yield from _raised("correction", pool, query, pairs, balance)


def _trust(memory: Memory) -> int:
    return _ZONES.index(memory.zone)


def disputes(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term]:
    """A claim that cites nothing goes below the cited fact that it disputes."""
    rows = {row.memory.id: row for row in _related(scene, pool, RelationType.CONTRADICTS)}
    pairs = []
    for row in rows.values():
        opponents = opponents_of(row.memory.id, row.relations) if row.memory.citations else ()
        pairs += [(row, rows[id]) for id in opponents if id in rows and not rows[id].memory.citations]
    yield from _lowered("dispute", pool, query, pairs, balance)


def recaps(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term]:
    """A summary of a session goes below what it sums up: what of the session it tells, else the best of the session."""
    columns = scene.columns
    kinds, sessions = columns["kind"][pool.rows], columns["session"][pool.rows]
    summaries = (kinds == code_of(Kind.SUMMARY)) & (sessions >= 0)
    if not summaries.any():
        return
    rows = _rows(scene, pool)
    pairs = []
    for recap in rows:
        if not summaries[recap.at]:
            continue
        parts = [row for row in rows if sessions[row.at] == sessions[recap.at] and not summaries[row.at]]
        told = [row for row in parts if held_share(row.words, recap.words) >= RECAPPED]
        pairs += [(row, recap) for row in told or parts[:1]]
    yield from _lowered("recap", pool, query, pairs, balance)


# ── moving rows ──


def _rows(scene: Scene, pool: Pool) -> list[PlacedRow]:
    """The best rows, the best first, and those that are only followed."""
    return _placed(scene, pool, _positions(scene, pool))


def _related(scene: Scene, pool: Pool, type: RelationType) -> list[PlacedRow]:
    """Those of the best rows that have a relation of this type; where none has, no text is read."""
    positions = _positions(scene, pool)
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    relations = scene.bodies.relations_of(scene.columns["num"][pool.rows].tolist())
    has = [any(tie.type is type for tie in relations.get(num, ())) for num in nums]
    return _placed(scene, pool, positions[has]) if any(has) else []


def _positions(scene: Scene, pool: Pool) -> IntArray:
    head, alone = head_of(scene, pool), followed(pool)
    return np.concatenate([head, alone]) if len(alone) else head


def _placed(scene: Scene, pool: Pool, positions: IntArray) -> list[PlacedRow]:
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    bodies, alone = scene.bodies.of(nums), set(followed(pool).tolist())
    rows = []
    for at, num in zip(positions.tolist(), nums, strict=True):
        holding = [tie for tie in bodies.relations.get(num, ()) if holds(tie, scene.at)]
        rows.append(PlacedRow(at, bodies.memories[num], holding, at not in alone))
    return rows


def _bond(name: str, pairs: Pairs) -> Iterator[Bond]:
    """What explains or corrects a row that is delivered is delivered with it."""
    places = [(above.at, below.at) for above, below in pairs if below.takes_part]
    if places:
        above, below = np.array(places, dtype=np.int64).T
        yield Bond(name, above, below)


def _step(pool: Pool, balance: float) -> float:
    """More than the likeness to rows that are chosen already can cost."""
    sample = pool.score[measured_against(pool)]
    return (1.0 - balance) / balance * (deviation_of(sample) if len(sample) > 1 else 0.0) + 1e-6


def _raised(name: str, pool: Pool, query: Query, pairs: Pairs, balance: float) -> Iterator[Term]:
    """Each pair's first above its second, over as many links as a chain of them has."""
    step, score = _step(pool, balance), pool.score.copy()
    moving = [(above.at, below.at) for above, below in pairs if below.takes_part]
    for _ in moving:
        settled = score.copy()
        for above, below in moving:
            score[above] = max(score[above], score[below] + step)
        if np.array_equal(settled, score):
            break
    yield from _term(name, pool, query, score, [above for above, _ in pairs], step)


def _lowered(name: str, pool: Pool, query: Query, pairs: Pairs, balance: float) -> Iterator[Term]:
    """Each pair's second below its first."""
    step, score = _step(pool, balance), pool.score.copy()
    moving = [(above.at, below.at) for above, below in pairs if above.takes_part]
    for _ in moving:
        settled = score.copy()
        for above, below in moving:
            score[below] = min(score[below], score[above] - step)
        if np.array_equal(settled, score):
            break
    yield from _term(name, pool, query, score, [below for _, below in pairs], step)


def _term(
    name: str, pool: Pool, query: Query, score: FloatArray, rows: Sequence[PlacedRow], step: float
) -> Iterator[Term]:
    """The difference that moving makes to these rows; no term where nothing moves."""
    delta, places = np.zeros(len(pool)), [row.at for row in rows]
    delta[places] = query.weights.get(name, 1.0) * (score[places] - pool.score[places])
    if delta.any():
        yield Term(name, delta, delta != 0.0, {"step": step})


# In this order: what lowers comes last, so that nothing which was raised stands above what it must not.
PRECEDENCE: Final = (outcome, attempts, corrections, disputes, recaps)
