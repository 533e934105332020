"""What speaks against a result: marks in its own text, a memory that contradicts it, another result that disagrees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

import numpy as np
from msgspec import Struct, to_builtins

from recallens.model.memory import Memory, Relation
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import IntArray, Note, Term, Verdict
from recallens.recall.scene import Scene
from recallens.recall.select import head_of
from recallens.recall.states import holds, opponents_of, replacements_of
from recallens.recall.views import followed
from recallens.text.languages import PACKS, alternatives
from recallens.text.statements import Disagreement


class Severity(StrEnum):
    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


# The share of its score that a conflict costs: enough to settle a close call, not to hide the row.
PENALTY: Final = {Severity.NONE: 0.0, Severity.LOW: 0.02, Severity.MEDIUM: 0.05, Severity.HIGH: 0.10}
READ_CHARACTERS: Final = 4_000

# Of each memory in doubt, by its place, those that state otherwise, by theirs.
Doubts = Mapping[int, Mapping[int, Disagreement]]

_RANK: Final = tuple(Severity)
# If the first opening, what follows it and the end are not all there, no later one has them: nothing is tried twice.
_MERGE: Final = r"\A(?>[\s\S]*?(?m:^<{7}(?: .*)?$))(?>[\s\S]*?(?m:^={7}$))[\s\S]*?(?m:^>{7}(?: .*)?$)"
_MARKS: Final = tuple(
    (severity, reason, re.compile(pattern, re.IGNORECASE))
    for severity, reason, pattern in (
        (Severity.HIGH, "conflict markers", _MERGE),
        (Severity.MEDIUM, "says that something contradicts", alternatives(lambda pack: pack.memories.contradicts)),
        (Severity.LOW, "deprecated", alternatives(lambda pack: pack.memories.deprecated)),
        (Severity.LOW, "outdated", alternatives(lambda pack: pack.memories.outdated)),
    )
)
# No mark is without one of these.
_TRACES: Final = ("<<<<<<<", *(trace for pack in PACKS for trace in pack.memories.traces))
_OTHERS_END: Final = re.compile(alternatives(lambda pack: pack.memories.others_end), re.IGNORECASE)


class Conflict(Struct, frozen=True):
    """`memories` are those that disagree, by id."""

    severity: Severity
    reasons: tuple[str, ...]
    memories: tuple[str, ...]


def traces_in(texts: Iterable[str]) -> bool:
    """Whether any of the texts may be marked: one look at all of them, since hardly any is."""
    lowered = "\n".join([text[:READ_CHARACTERS] for text in texts]).lower()
    return any(map(lowered.__contains__, _TRACES))


def marked(text: str) -> list[tuple[Severity, str]]:
    """What the text itself says is wrong with it. Two light marks weigh as a middling one."""
    text = _OTHERS_END.sub(" ", text[:READ_CHARACTERS])
    marks = [(severity, reason) for severity, reason, pattern in _MARKS if pattern.search(text)]
    if sum(severity is Severity.LOW for severity, _ in marks) > 1:
        return [(max(severity, Severity.MEDIUM, key=_RANK.index), reason) for severity, reason in marks]
    return marks


def conflicts_among(
    memories: Sequence[Memory], relations: Mapping[str, Sequence[Relation]], doubts: Doubts, at: int
) -> dict[str, Conflict]:
    """The conflicts of some memories by id; those without any are left out."""
    traced = traces_in([memory.content for memory in memories])
    conflicts: dict[str, Conflict] = {}
    for place, memory in enumerate(memories):
        reasons = marked(memory.content) if traced else []
        holding = [relation for relation in relations.get(memory.id, ()) if holds(relation, at)]
        opponents = opponents_of(memory.id, holding)
        if opponents:
            reasons.append((Severity.HIGH, "a memory contradicts it"))
        replacements = replacements_of(memory.id, holding)
        if replacements:
            reasons.append((Severity.MEDIUM, "a newer memory may replace it"))
            opponents += replacements
        if place in doubts:
            kinds = dict.fromkeys(doubts[place].values())
            reasons += [(Severity.MEDIUM, f"a newer result states {how}") for how in kinds]
            opponents += [memories[there].id for there in sorted(doubts[place])]
        if reasons:
            severities, words = zip(*reasons, strict=True)
            worst = max(severities, key=_RANK.index)
            conflicts[memory.id] = Conflict(worst, words, tuple(dict.fromkeys(opponents)))
    return conflicts


def find_conflicts(scene: Scene, pool: Pool, positions: IntArray) -> dict[str, Conflict]:
    if not len(positions):
        return {}
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    bodies = scene.bodies.of(nums)
    memories, relations = [], {}
    for num in nums:
        memories.append(bodies.memories[num])
        relations[memories[-1].id] = bodies.relations.get(num, ())
    return conflicts_among(memories, relations, bodies.disagreements(nums), scene.at)


def note_conflicts(scene: Scene, pool: Pool, query: Query) -> Iterator[Note]:
    """The conflicts of the rows that were chosen; no note where nothing speaks against any."""
    conflicts = find_conflicts(scene, pool, pool.ranked())
    if conflicts:
        yield Note("conflicts", {"rows": to_builtins(conflicts)})


def conflict_penalty(scene: Scene, pool: Pool, query: Query) -> Iterator[Verdict]:
    """A small share off the score of what something speaks against, among the best rows."""
    head, alone = head_of(scene, pool), followed(pool)
    conflicts = find_conflicts(scene, pool, head)
    if len(alone):  # judged against the others, who know nothing of it
        ids = {pool.ids[at].decode() for at in alone.tolist()}
        with_them = find_conflicts(scene, pool, np.concatenate([head, alone]))
        conflicts |= {id: conflict for id, conflict in with_them.items() if id in ids}
    factor = query.weights.get("conflictPenalty", 1.0)
    share = np.zeros(len(pool))
    places = {id.decode(): at for at, id in enumerate(pool.ids.tolist())} if conflicts else {}
    for id, conflict in conflicts.items():
        share[places[id]] = PENALTY[conflict.severity]
    yield Term("conflictPenalty", -factor * share * pool.score, share > 0, {"factor": factor})
