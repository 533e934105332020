"""What speaks against a result: marks in its own text, a memory that contradicts it, another result that disagrees."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Final

import numpy as np
from msgspec import Struct, to_builtins

from recallens.deadline import check
from recallens.model.memory import Memory, Relation
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import IntArray, Note, Term, Verdict
from recallens.recall.scene import Scene
from recallens.recall.select import head_of
from recallens.recall.states import holds, opponents_of, replacements_of
from recallens.recall.views import followed
from recallens.text.amounts import amounts_in
from recallens.text.content import content_words, overlap
from recallens.text.languages import PACKS, alternatives
from recallens.text.remembered import remembered


class Severity(StrEnum):
    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


# The share of its score that a conflict costs: enough to settle a close call, not to hide the row.
PENALTY: Final = {Severity.NONE: 0.0, Severity.LOW: 0.02, Severity.MEDIUM: 0.05, Severity.HIGH: 0.10}
READ_CHARACTERS: Final = 4_000
REMEMBERED: Final = 1_024  # texts whose claims are known, by the text itself
MOST_CLAIMS: Final = 12
# Two claims are about one thing when they share this much of all their words and of the shorter one's, and two words.
SAME_SUBJECT: Final = 0.4
SAME_OF_SHORTER: Final = 0.6
LEAST_WORDS: Final = 2

_RANK: Final = tuple(Severity)
_MERGE: Final = r"(?m:^<{7}(?: .*)?$)[\s\S]*?(?m:^={7}$)[\s\S]*?(?m:^>{7}(?: .*)?$)"
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
# Within a line. Where a pattern begins with one of a few characters, the others are passed over at once.
_CLAUSE: Final = re.compile(r"[.!?。;][.!?。;]*(?=\s|$)")


class Conflict(Struct, frozen=True):
    """`memories` are those that disagree, by id."""

    severity: Severity
    reasons: tuple[str, ...]
    memories: tuple[str, ...]


class Claim(Struct, frozen=True):
    """An amount, and the clause that states it, without its amounts."""

    clause: str
    measure: str
    size: str | float
    of: str

    @property
    def words(self) -> frozenset[str]:
        """What the clause is about: read only where another claim has an amount of the same measure."""
        return _words(self.clause)


@remembered(4 * REMEMBERED)
def _words(clause: str) -> frozenset[str]:
    return frozenset(word for word in content_words(clause) if not word.isdigit())


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


def claims_in(text: str) -> Sequence[Claim]:
    """The clauses that state an amount. Of two amounts of one measure it is not plain which is meant."""
    check()
    return _claims_in(text[:READ_CHARACTERS])


@remembered(REMEMBERED)
def _claims_in(text: str) -> Sequence[Claim]:
    claims: list[Claim] = []
    for line in text.split("\n"):
        for clause in _CLAUSE.split(line):
            amounts = list(amounts_in(clause))
            counts = Counter(amount.measure for amount in amounts)
            lone = [amount for amount in amounts if counts[amount.measure] == 1]
            if not lone:
                continue
            rest = clause
            for amount in reversed(amounts):
                rest = f"{rest[: amount.start]} {rest[amount.end :]}"
            claims += [Claim(rest, amount.measure, amount.size, amount.of) for amount in lone]
        if len(claims) >= MOST_CLAIMS:
            break
    return claims[:MOST_CLAIMS]


def disagree(claim: Claim, other: Claim) -> bool:
    """Another amount of the same measure, said of the same: a bare number must be said of the very same thing."""
    if claim.measure != other.measure or claim.size == other.size or claim.of != other.of:
        return False
    words, others = claim.words, other.words
    if words.isdisjoint(others):
        return False
    shared = len(words & others)
    if shared < LEAST_WORDS or shared / len(words | others) < SAME_SUBJECT:
        return False
    return overlap(words, others) >= SAME_OF_SHORTER


def older(memory: Memory, other: Memory) -> bool:
    """Which of two that disagree is in doubt: the one that has held for longer, never the current one."""
    return since(memory) < since(other)


def since(memory: Memory) -> tuple[int, int]:
    return (memory.created if memory.valid_from is None else memory.valid_from, memory.num)


def _newer_values(memories: Sequence[Memory]) -> list[set[int]]:
    """For each memory the places of those that are newer and state another value of the same."""
    newer: list[set[int]] = [set() for _ in memories]
    comparable = defaultdict(list)
    for place, memory in enumerate(memories):
        for claim in claims_in(memory.content):
            comparable[claim.measure, claim.of].append((place, claim))
    for claims in comparable.values():
        for (place, mine), (there, theirs) in combinations(claims, 2):
            if place != there and mine.size != theirs.size and disagree(mine, theirs):
                first, last = (place, there) if older(memories[place], memories[there]) else (there, place)
                newer[first].add(last)
    return newer


def conflicts_among(
    memories: Sequence[Memory], relations: Mapping[str, Sequence[Relation]], at: int
) -> dict[str, Conflict]:
    """The conflicts of some memories by id; those without any are left out."""
    texts = [memory.content for memory in memories]
    newer, traced = _newer_values(memories), traces_in(texts)
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
        if newer[place]:
            reasons.append((Severity.MEDIUM, "a newer result states another value"))
            opponents += [memories[there].id for there in sorted(newer[place])]
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
    return conflicts_among(memories, relations, scene.at)


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
