"""What speaks against a result: marks in its own text, a memory that contradicts it, another result that disagrees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct, to_builtins

from recallens.model.memory import Memory, Relation, RelationType
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import IntArray, Note, Term, Verdict
from recallens.recall.scene import Scene
from recallens.recall.select import head_of
from recallens.recall.views import followed
from recallens.text.languages import PACKS, alternatives
from recallens.text.stopwords import query_weights
from recallens.text.tokenizer import tokenize


class Severity(StrEnum):
    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


# The share of its score that a conflict costs: enough to settle a close call, not to hide the row.
PENALTY: Final = {Severity.NONE: 0.0, Severity.LOW: 0.02, Severity.MEDIUM: 0.05, Severity.HIGH: 0.10}
READ_CHARACTERS: Final = 4_000
MOST_CLAIMS: Final = 12
# Two claims are about one thing when they share this much of their words, and two words at least.
SAME_SUBJECT: Final = 0.6
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
_DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = re.compile(r"\d\d*(?:\.\d+)*")
_VALUE: Final = re.compile(
    r"(?P<number>v?\d+(?:\.\d+)*)\s*"
    rf"(?P<unit>%|ms|kb|mb|gb|tb|{alternatives(lambda pack: pack.memories.units)})?(?![A-Za-z0-9_]|\.\d)",
    re.IGNORECASE,
)
# Within a line. Where a pattern begins with one of a few characters, the others are passed over at once.
_CLAUSE: Final = re.compile(r"[.!?。;][.!?。;]*(?=\s|$)")


class Conflict(Struct, frozen=True):
    """`memories` are those that disagree, by id."""

    severity: Severity
    reasons: tuple[str, ...]
    memories: tuple[str, ...]


class StatedValue(Struct, frozen=True):
    """A number with its unit, and the rest of the clause that states it."""

    rest: str
    number: str
    unit: str


class Claim(Struct, frozen=True):
    """A value, and the words of the clause that states it."""

    words: frozenset[str]
    value: str
    unit: str


def traces_in(texts: Iterable[str]) -> bool:
    """Whether any of the texts may be marked: one look at all of them, since hardly any is."""
    lowered = "\n".join([text[:READ_CHARACTERS] for text in texts]).lower()
    return any(map(lowered.__contains__, _TRACES))


def marked(text: str) -> list[tuple[Severity, str]]:
    """What the text itself says is wrong with it. Two light marks weigh as a middling one."""
    text = text[:READ_CHARACTERS]
    marks = [(severity, reason) for severity, reason, pattern in _MARKS if pattern.search(text)]
    if sum(severity is Severity.LOW for severity, _ in marks) > 1:
        return [(max(severity, Severity.MEDIUM, key=_RANK.index), reason) for severity, reason in marks]
    return marks


def values_in(text: str) -> list[StatedValue]:
    """The clauses that state one value."""
    stated: list[StatedValue] = []
    for line in text[:READ_CHARACTERS].split("\n"):
        if _DIGIT.search(line) is None:
            continue
        for clause in _CLAUSE.split(line):
            values = []
            # As the pattern finds them, but looked for by their digits, which is quicker than by what may be a letter.
            for digits in _NUMBER.finditer(clause):
                start = digits.start()
                value = _VALUE.match(clause, start - 1 if start and clause[start - 1] in "vV" else start)
                if value is not None:
                    values.append(value)
            if len(values) == 1:  # of several numbers it is not plain which is meant
                (value,) = values
                rest = f"{clause[: value.start()]} {clause[value.end() :]}"
                number, unit = value["number"].lower().removeprefix("v"), (value["unit"] or "").lower()[:3]
                stated.append(StatedValue(rest, number, unit))
    return stated


def claims_of(values: Iterable[StatedValue]) -> list[Claim]:
    claims: list[Claim] = []
    for stated in values:
        weights = query_weights(tokenize(stated.rest))
        words = frozenset([word for word, weight in weights.items() if weight > 0])
        if len(words) >= LEAST_WORDS:
            claims.append(Claim(words, stated.number, stated.unit))
        if len(claims) == MOST_CLAIMS:
            break
    return claims


def contested_claims(texts: Iterable[str]) -> list[list[Claim]]:
    """The claims of each text that another could disagree with: one of the same unit with another number."""
    stated = list(map(values_in, texts))
    numbers: dict[str, list[tuple[int, str]]] = {}
    for place, values in enumerate(stated):
        for value in values:
            numbers.setdefault(value.unit, []).append((place, value.number))
    claims = []
    for place, values in enumerate(stated):
        contested = values
        # Of more values than are read as claims, the first are: leaving some out would let others in.
        if len(values) <= MOST_CLAIMS:
            contested = []
            for value in values:
                if any(there != place and number != value.number for there, number in numbers[value.unit]):
                    contested.append(value)
        claims.append(claims_of(contested))
    return claims


def disagree(claim: Claim, other: Claim) -> bool:
    if claim.value == other.value or claim.unit != other.unit:
        return False
    shared = len(claim.words & other.words)
    return shared >= LEAST_WORDS and shared / len(claim.words | other.words) >= SAME_SUBJECT


def conflicts_among(
    memories: Sequence[Memory], relations: Mapping[str, Sequence[Relation]], at: int
) -> dict[str, Conflict]:
    """The conflicts of some memories by id; those without any are left out."""
    texts = [memory.content for memory in memories]
    claims, traced = contested_claims(texts), traces_in(texts)
    conflicts: dict[str, Conflict] = {}
    for place, memory in enumerate(memories):
        reasons = marked(memory.content) if traced else []
        opponents = []
        for relation in relations.get(memory.id, ()):
            held = relation.created <= at and (relation.valid_until is None or relation.valid_until > at)
            if held and relation.type is RelationType.CONTRADICTS:
                opponents.append(relation.target if relation.source == memory.id else relation.source)
        if opponents:
            reasons.append((Severity.HIGH, "a memory contradicts it"))
        others = {}
        for mine in claims[place]:
            for there, theirs in enumerate(claims):
                if there != place and any(map(partial(disagree, mine), theirs)):
                    others[there] = memories[there].id
        if others:
            reasons.append((Severity.MEDIUM, "another result states another value"))
            opponents += [others[there] for there in sorted(others)]
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
