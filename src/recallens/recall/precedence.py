"""Who stands above whom, among rows that speak of one thing: what worked above what failed, a warning above the
failures that it explains, a correction above what it corrects, a cited fact above a claim that disputes it, and what
was said above its recap; what holds above a draft, a principle above what is less trusted and speaks of it, and what is
trusted above what only proposes to replace it, or heaps up words to be found.

A row that must stand above another is raised over it, or the other is lowered under it, by more than a repetition can
cost either of them: so the order survives the choice of different rows.
"""

from __future__ import annotations

import re
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
from recallens.model.trust import heaps_words, rank
from recallens.model.verdict import Bond, FloatArray, IntArray, Term
from recallens.recall.coverage import ANSWERS_FROM, HALF_AS_LIKELY
from recallens.recall.facets import Facet, FacetKind
from recallens.recall.scene import Scene
from recallens.recall.select import head_of
from recallens.recall.states import holds, opponents_of, replacements_of
from recallens.recall.terms import deviation_of, measured_against
from recallens.recall.terms.priors import within_zone
from recallens.recall.views import followed
from recallens.recall.views.succession import REPLACEMENT
from recallens.text.content import content_words, held_share, morphemes, overlap
from recallens.text.languages import Phrases, alternatives
from recallens.text.subjects import speak_of_two_things
from recallens.text.times import without_event_phrases
from recallens.text.tokenizer import tokenize
from recallens.text.wordforms import SpokenWords

# Two attempts are at one thing if they share this much of the words of the one that says less.
SAME_ATTEMPT: Final = 0.7
# Where they have no title, their whole texts are compared: how they went is told apart from what was tried.
SAME_TOLD: Final = 0.4
# A warning is about a failure if this much of its words is in what was said of the failure.
EXPLAINS: Final = 0.35
# A text speaks of what a principle lays down if they share this much of the words of the one that says less.
LAID_DOWN: Final = 0.5
# A recap tells of a memory if it holds this much of its words.
RECAPPED: Final = 0.5
# How many rows are read for what they date themselves by.
AFTERMATH_HEAD: Final = 10
# Rows whose statements are compared: two that say the same of one thing are found together.
MOST_COMPARED: Final = 10
# What an outcome is worth where the question asks how to do something, and where it asks for no kind of answer.
OUTCOME_ASKED, OUTCOME = 0.6, 0.2

_ASK_FOR_FAILURES: Final = (Intent.KNOWN_ISSUES, Intent.WHAT_HAPPENED)
_WARNINGS: Final = table_of((Kind.GOTCHA, Kind.LESSON))
_OUTCOME: Final = re.compile(
    f"(?P<failed>{alternatives(lambda pack: pack.work.failed)})"
    f"|(?P<worked>{alternatives(lambda pack: pack.work.worked)})"
)
_ASKS_BACK: Final = Phrases.of(lambda pack: pack.work.history)


class PlacedRow(Struct, frozen=True):
    """A row of the pool that may stand above or below another."""

    at: int
    memory: Memory
    relations: Sequence[Relation]
    takes_part: bool  # a row that is only followed moves, and moves no other

    @property
    def text(self) -> str:
        return f"{self.memory.title or ''}\n{self.memory.content}"

    @property
    def words(self) -> frozenset[str]:
        return content_words(self.text)

    @property
    def failed(self) -> bool:
        reward = self.reward
        return reward is not None and reward <= FAILURE

    @property
    def succeeded(self) -> bool:
        reward = self.reward
        return reward is not None and reward >= SUCCESS

    @property
    def reward(self) -> float | None:
        """As it was given; of an episode without one, as the last words about its outcome tell it."""
        if self.memory.reward is not None or self.memory.kind is not Kind.EPISODE:
            return self.memory.reward
        told = [match.lastgroup for match in _OUTCOME.finditer(self.memory.content.lower())]
        return {"worked": 1.0, "failed": 0.0}[told[-1]] if told and told[-1] else None


Pairs = Sequence[tuple[PlacedRow, PlacedRow]]  # of each the first is to stand above the second


def outcome(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term]:
    """What worked goes up and what failed goes down, unless the question asks for what went wrong or what happened."""
    intent = _intent(scene)
    reward = scene.columns["reward"][pool.rows]
    computed = ~np.isnan(reward)
    if intent in _ASK_FOR_FAILURES or not computed.any():
        return
    weight = (OUTCOME_ASKED if intent is Intent.HOW_TO_DO else OUTCOME) * query.weights.get("outcome", 1.0)
    worth = within_zone(scene, pool, np.where(computed, weight * (2.0 * reward - 1.0), 0.0))
    yield Term("outcome", worth, computed, {"weight": weight})


def attempts(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term | Bond]:
    """Of attempts at one thing, what explains a failure goes above it, and what worked above both, with the warning
    right behind: whoever is about to try should read those two. Who asks what happened at a time tries nothing.
    """
    live = pool.rows[pool.live]
    told = _intent(scene) is Intent.HOW_TO_DO and (scene.columns["kind"][live] == code_of(Kind.EPISODE)).any()
    if scene.question.only_windows or not (told or (scene.columns["reward"][live] <= FAILURE).any()):
        return
    rows, step, score = _rows(scene, pool), _step(pool, balance), pool.score.copy()
    rows = [row for row in rows if told or row.reward is None or row.memory.reward is not None]
    failures = [row for row in rows if row.failed and row.takes_part]
    explained = {row.at: [each for each in failures if _above(row, each) and _explains(row, each)] for row in rows}
    warnings = [row for row in rows if explained[row.at]]
    for row in warnings:
        score[row.at] = max(score[row.at], *(score[each.at] + step for each in explained[row.at]))
    successes = [row for row in rows if row.succeeded and _intent(scene) not in _ASK_FOR_FAILURES]
    for row in successes:
        same = {each.at for each in failures if _above(row, each) and _same_attempt(row.memory, each.memory)}
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
    if memory.title and other.title:
        return overlap(content_words(memory.title), content_words(other.title)) >= SAME_ATTEMPT
    aims = [morphemes(_OUTCOME.sub(" ", (each.title or each.content).lower())) for each in (memory, other)]
    return overlap(*aims) >= SAME_TOLD


def _explains(row: PlacedRow, failure: PlacedRow) -> bool:
    """A warning that was made of the failure, in its task, or that says in its words what failed there."""
    memory = row.memory
    if row.reward is not None or memory.id == failure.memory.id:
        return False
    if any(tie.target == failure.memory.id and tie.type is RelationType.BUILDS_ON for tie in row.relations):
        return memory.kind is Kind.GOTCHA
    if memory.task is not None and memory.task == failure.memory.task:
        return True
    return bool(_WARNINGS[code_of(memory.kind)]) and overlap(row.words, failure.words) >= EXPLAINS


def corrections(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term | Bond]:
    """What was proposed in a memory's place above it, where the question asks how it is now, or by the time it asks
    about. What is less trusted may propose, but it moves nothing.
    """
    then = scene.question.then
    if query.as_of is not None or (then is None and not _asks_of_now(scene, query)):
        return
    rows = {row.memory.id: row for row in _related(scene, pool, RelationType.MAY_SUPERSEDE)}
    pairs = []
    for row in rows.values():
        for id in replacements_of(row.memory.id, row.relations):
            by_then = id in rows and (then is None or rows[id].memory.held_from < then)
            told = by_then and not speak_of_two_things(rows[id].memory.content, row.memory.content)
            if told and _above(rows[id], row):
                pairs.append((rows[id], row))
    yield from _bond("correction", pairs)
    yield from _raised("correction", pool, query, pairs, balance)


def statements(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term | Bond]:
    """Of two that cannot both hold, the newer above the older, where the question asks how it is now."""
    if not _asks_of_now(scene, query):
        return
    rows = _placed(scene, pool, _positions(scene, pool, MOST_COMPARED))
    found = scene.bodies.disagreements([row.memory.num for row in rows])
    pairs = [(rows[ahead], rows[behind]) for behind, others in found.items() for ahead in others]
    yield from _bond("statement", pairs)
    yield from _raised("statement", pool, query, pairs, balance)


def _asks_of_now(scene: Scene, query: Query) -> bool:
    plan = scene.question.plan
    of_a_time = plan is not None and plan.windows
    return query.as_of is None and not of_a_time and not _ASKS_BACK.within(query.text)


def _above(row: PlacedRow, other: PlacedRow) -> bool:
    """Whether it may stand above the other because of what it says: nothing does above what is more trusted."""
    return rank(row.memory.zone) >= rank(other.memory.zone)


def aftermath(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term]:
    """Where something that happened is asked about, the report of it above what only dates itself by it."""
    asked = [facet for facet in scene.question.facets if facet.kind in (FacetKind.TERM, FacetKind.ENTITY)]
    if _intent(scene) is not Intent.WHAT_HAPPENED or scene.question.only_windows or not asked:
        return
    first = _positions(scene, pool)[:AFTERMATH_HEAD]
    kinds = scene.columns["kind"][pool.rows]
    if not (kinds[first] == code_of(Kind.EPISODE)).any():
        return
    rows = _placed(scene, pool, first)
    undated = {row.at: without_event_phrases(row.text) for row in rows}
    dated = [row for row in rows if undated[row.at] != row.text]
    if not dated:
        return
    reports = [row for row in rows if kinds[row.at] == code_of(Kind.EPISODE)]
    whole = {row.at: _held(asked, row.text) for row in dated}
    told = {at: _held(asked, undated[at]) for at in {row.at for row in (*dated, *reports)}}
    pairs = [
        (report, row)
        for row in dated
        for report in reports
        if told[row.at] < told[report.at] and whole[row.at] <= told[report.at] + 1
        and whole[row.at] > 2 * told[row.at] and report.memory.project == row.memory.project
    ]  # fmt: skip
    yield from _lowered("aftermath", pool, query, pairs, balance)


def _held(asked: Sequence[Facet], text: str) -> int:
    tokens, spoken = frozenset(tokenize(text)), SpokenWords(text)
    return sum(facet.words <= tokens or spoken.holds(facet.text) for facet in asked)


def disputes(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term]:
    """A claim that cites nothing goes below the cited fact that it disputes."""
    rows = {row.memory.id: row for row in _related(scene, pool, RelationType.CONTRADICTS)}
    pairs = []
    for row in rows.values():
        opponents = opponents_of(row.memory.id, row.relations) if row.memory.citations else ()
        claims = [rows[id] for id in opponents if id in rows and not rows[id].memory.citations]
        pairs += [(row, claim) for claim in claims if _above(row, claim)]
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


def unsettled(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term]:
    """A draft or a rejected note goes below whatever holds and answers as well, and is no less trusted."""
    review = scene.columns["review"][pool.rows] >= 0
    if not review.any() or pool.relevance is None:
        return
    rows = _rows(scene, pool)
    holding = [row for row in rows if not review[row.at] and pool.relevance[row.at] >= ANSWERS_FROM]
    pairs = [(above, draft) for draft in rows if review[draft.at] for above in holding if _above(above, draft)]
    yield from _lowered("unsettled", pool, query, pairs, balance)


def proposals(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term | Bond]:
    """What only proposes to take the place of something more trusted goes below it, and comes with it."""
    positions = _positions(scene, pool)
    lower = scene.columns["zone"][pool.rows[positions]] != code_of(Zone.TRUSTED)
    if not lower.any():
        return
    nums = scene.columns["num"][pool.rows[positions[lower]]].tolist()
    waiting = [each for each in scene.reader.proposals.replacements(nums) if each.at <= scene.at]
    ends = [end for each in waiting for end in (each.num, each.other_num) if end is not None]
    if not ends:
        return
    known = pool.live.copy()
    known[followed(pool)] = True
    places = np.flatnonzero(known & np.isin(scene.columns["num"][pool.rows], ends))
    rows = {row.memory.num: row for row in _placed(scene, pool, places)}
    pairs = [
        (rows[each.num], rows[each.other_num])
        for each in waiting
        if each.num in rows and each.other_num in rows and not _above(rows[each.other_num], rows[each.num])
    ]
    yield from _bond("proposal", pairs)
    yield from _lowered("proposal", pool, query, pairs, balance)


def heaps(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term]:
    """A text that heaps up words for searches to find goes below what is more trusted and may answer as well: its words
    are there for their score.
    """
    positions = _positions(scene, pool)
    lower = scene.columns["zone"][pool.rows[positions]] != code_of(Zone.TRUSTED)
    if pool.relevance is None or not lower.any() or lower.all():
        return
    heaped = [row for row in _placed(scene, pool, positions[lower]) if heaps_words(row.memory)]
    others, relevance = _placed(scene, pool, positions) if heaped else [], pool.relevance
    pairs = [
        (above, heap)
        for heap in heaped
        for above in others
        if not _above(heap, above) and relevance[above.at] >= min(ANSWERS_FROM, HALF_AS_LIKELY * relevance[heap.at])
    ]
    yield from _lowered("heap", pool, query, pairs, balance)


def principles(scene: Scene, balance: float, pool: Pool, query: Query) -> Iterator[Term | Bond]:
    """A principle of the person above what is less trusted and speaks of what it lays down, whatever that says of it,
    where the question asks how it is now. Both come together, and nothing is lowered for it."""
    positions = _positions(scene, pool, MOST_COMPARED)
    columns, found = scene.columns, pool.rows[positions]
    lower = columns["zone"][found] != code_of(Zone.TRUSTED)
    laid_down = (columns["kind"][found] == code_of(Kind.PRINCIPLE)) & ~lower & (columns["review"][found] < 0)
    if not (lower.any() and laid_down.any() and _asks_of_now(scene, query)):
        return
    rules, others = (_placed(scene, pool, positions[chosen]) for chosen in (laid_down, lower))
    pairs = [(rule, row) for rule in rules for row in others if overlap(rule.words, row.words) >= LAID_DOWN]
    yield from _bond("principle", pairs)
    yield from _raised("principle", pool, query, pairs, balance)


# ── moving rows ──


def _rows(scene: Scene, pool: Pool) -> list[PlacedRow]:
    """The best rows, the best first, and those that are only followed."""
    return _placed(scene, pool, _positions(scene, pool))


def _related(scene: Scene, pool: Pool, type: RelationType) -> list[PlacedRow]:
    """Those of the best rows that have a relation of this type; where none has, no text is read."""
    positions = _positions(scene, pool)
    if REPLACEMENT in pool.found:
        positions = np.concatenate([positions, np.setdiff1d(pool.found[REPLACEMENT].positions, positions)])
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    relations = scene.bodies.relations_of(scene.columns["num"][pool.rows].tolist())
    has = [any(tie.type is type for tie in relations.get(num, ())) for num in nums]
    return _placed(scene, pool, positions[has]) if any(has) else []


def _positions(scene: Scene, pool: Pool, most: int | None = None) -> IntArray:
    head, alone = head_of(scene, pool)[:most], followed(pool)
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
    if not pairs:
        return
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
    if not pairs:
        return
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
PRECEDENCE: Final = (
    outcome, attempts, statements, corrections, principles, aftermath, disputes, recaps, unsettled, heaps, proposals
)  # fmt: skip
