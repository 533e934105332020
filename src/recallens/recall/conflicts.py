"""What speaks against a result: marks in its own text, a memory that contradicts it, another result that disagrees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
from msgspec import Struct

from recallens.model.memory import Memory, Relation, RelationType
from recallens.model.pool import Pool
from recallens.model.query import Query
from recallens.model.verdict import IntArray, Note, Term, Verdict
from recallens.recall.fusion import followed, head_of
from recallens.recall.runner import Decide
from recallens.recall.scene import Scene
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
_CONTRADICTS: Final = r"\bcontradict(?:s|ed|ing|ory|ion)\b|모순|상충"
_DEPRECATED: Final = r"\bdeprecated\b|더 이상 (?:사용|쓰|지원)(?:하)?지|사용 중단|지원 중단|폐기"
_OUTDATED: Final = r"\b(?:outdated|obsolete|out of date|no longer (?:valid|true|used|correct))\b|구버전|오래된 정보"
_MERGE: Final = r"(?m:^<{7}(?: .*)?$)[\s\S]*?(?m:^={7}$)[\s\S]*?(?m:^>{7}(?: .*)?$)"
_MARKS: Final = tuple(
    (severity, told, re.compile(pattern, re.IGNORECASE))
    for severity, told, pattern in (
        (Severity.HIGH, "conflict markers", _MERGE),
        (Severity.MEDIUM, "says that something contradicts", _CONTRADICTS),
        (Severity.LOW, "deprecated", _DEPRECATED),
        (Severity.LOW, "outdated", _OUTDATED),
    )
)
# No mark is without one of these; none holds a letter that has a third form (i, k, s), so lower case finds them all.
_TRACES: Final = (
    "<<<<<<<", "contrad", "deprecated", "outdated", "olete", "out of date", "no longer",
    "모순", "상충", "더 이상", "사용 중단", "지원 중단", "폐기", "구버전", "오래된 정보",
)  # fmt: skip
_DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = re.compile(r"\d\d*(?:\.\d+)*")
_VALUE: Final = re.compile(
    r"(?P<number>v?\d+(?:\.\d+)*)\s*(?P<unit>%|ms|s|sec(?:onds?)?|min(?:utes?)?|h(?:ours?)?|days?|weeks?|months?|years?|kb|mb|gb"
    r"|tb|개|초|분|시간|일|주|달|개월|년|명|번|회|원)?(?![A-Za-z0-9_]|\.\d)",
    re.IGNORECASE,
)
# Within a line. Where a pattern begins with one of a few characters, the others are passed over at once.
_CLAUSE: Final = re.compile(r"[.!?。;][.!?。;]*(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Conflict:
    """`memories` are those that disagree, by id."""

    severity: Severity = Severity.NONE
    reasons: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"severity": str(self.severity), "reasons": list(self.reasons), "memories": list(self.memories)}


class Value(Struct, frozen=True):
    """A number with its unit, and the rest of the clause that states it."""

    rest: str
    number: str
    unit: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A value, and the words of the clause that states it."""

    words: frozenset[str]
    value: str
    unit: str


def traces_in(texts: Iterable[str]) -> bool:
    """Whether any of the texts may be marked: one look at all of them, since hardly any is."""
    lowered = "\n".join(text[:READ_CHARACTERS] for text in texts).lower()
    return any(trace in lowered for trace in _TRACES)


def marked(text: str) -> list[tuple[Severity, str]]:
    """What the text itself says is wrong with it. Two light marks weigh as a middling one."""
    text = text[:READ_CHARACTERS]
    found = [(severity, told) for severity, told, pattern in _MARKS if pattern.search(text)]
    light = [one for one in found if one[0] is Severity.LOW]
    return [(Severity.MEDIUM, told) if severity is Severity.LOW and len(light) > 1 else (severity, told)
            for severity, told in found]  # fmt: skip


def values_in(text: str) -> list[Value]:
    """The clauses that state one value."""
    text = text[:READ_CHARACTERS]
    if _DIGIT.search(text) is None:
        return []
    stated = []
    lines = [line for line in text.split("\n") if _DIGIT.search(line) is not None] if "\n" in text else [text]
    for line in lines:
        for clause in _CLAUSE.split(line):
            values = _values(clause)
            if len(values) == 1:  # of several numbers it is not plain which is meant
                number, unit = values[0]["number"].lower().removeprefix("v"), (values[0]["unit"] or "").lower()
                stated.append(Value(f"{clause[: values[0].start()]} {clause[values[0].end() :]}", number, unit[:3]))
    return stated


def _values(clause: str) -> list[re.Match[str]]:
    """As the pattern finds them, but looked for by their digits, which is quicker than by what may be a letter."""
    found = []
    for number in _NUMBER.finditer(clause):
        start = number.start()
        value = _VALUE.match(clause, start - 1 if start and clause[start - 1] in "vV" else start)
        if value is not None:
            found.append(value)
    return found


def claims_of(text: str) -> list[Claim]:
    return _claims(values_in(text))


def _claims(values: Iterable[Value]) -> list[Claim]:
    claims: list[Claim] = []
    for stated in values:
        words = frozenset(word for word, weight in query_weights(tokenize(stated.rest)).items() if weight > 0)
        if len(words) >= LEAST_WORDS:
            claims.append(Claim(words, stated.number, stated.unit))
        if len(claims) == MOST_CLAIMS:
            break
    return claims


def contested_claims(texts: Sequence[str]) -> list[list[Claim]]:
    """The claims of each text, of those units of which another has another number: no other can be disagreed with."""
    stated = [values_in(text) for text in texts]
    numbers: dict[str, list[tuple[int, str]]] = {}
    for place, values in enumerate(stated):
        for value in values:
            numbers.setdefault(value.unit, []).append((place, value.number))
    return [
        # Of more values than are read as claims, the first are: leaving some out would let others in.
        _claims(
            value
            for value in values
            if len(values) > MOST_CLAIMS
            or any(there != place and number != value.number for there, number in numbers[value.unit])
        )
        for place, values in enumerate(stated)
    ]


def disagree(one: Claim, other: Claim) -> bool:
    if one.value == other.value or one.unit != other.unit:
        return False
    shared = len(one.words & other.words)
    return shared >= LEAST_WORDS and shared / len(one.words | other.words) >= SAME_SUBJECT


def conflicts_among(
    memories: Sequence[Memory], relations: Mapping[str, Sequence[Relation]], at: int
) -> dict[str, Conflict]:
    """The conflicts of some memories by id; those without any are left out."""
    texts = [memory.content for memory in memories]
    claims, traced = contested_claims(texts), traces_in(texts)
    if not (traced or relations or any(claims)):
        return {}
    found: dict[str, Conflict] = {}
    for place, memory in enumerate(memories):
        reasons = [
            *(marked(memory.content) if traced else ()),
            *_contradicted(relations.get(memory.id, ()), at),
        ]
        others = [
            other.id
            for there, other in enumerate(memories if claims[place] else ())
            if there != place and any(disagree(mine, theirs) for mine in claims[place] for theirs in claims[there])
        ]
        if others:
            reasons.append((Severity.MEDIUM, "another result states another value"))
        if reasons:
            against = [*_opponents(memory, relations.get(memory.id, ()), at), *others]
            worst = max((severity for severity, _ in reasons), key=_RANK.index)
            found[memory.id] = Conflict(worst, tuple(told for _, told in reasons), tuple(dict.fromkeys(against)))
    return found


def _current(relations: Iterable[Relation], at: int) -> list[Relation]:
    return [
        one
        for one in relations
        if one.type is RelationType.CONTRADICTS
        and one.created <= at
        and (one.valid_until is None or one.valid_until > at)
    ]


def _contradicted(relations: Iterable[Relation], at: int) -> list[tuple[Severity, str]]:
    return [(Severity.HIGH, "a memory contradicts it")] if _current(relations, at) else []


def _opponents(memory: Memory, relations: Iterable[Relation], at: int) -> list[str]:
    return [one.target if one.source == memory.id else one.source for one in _current(relations, at)]


def find_conflicts(scene: Scene, pool: Pool, positions: IntArray) -> dict[str, Conflict]:
    if scene.known is None or not len(positions):
        return {}
    nums = scene.columns["num"][pool.rows[positions]].tolist()
    known = scene.known(nums)
    memories = [known.memories[num] for num in nums]
    relations = {known.memories[num].id: known.relations[num] for num in nums if num in known.relations}
    return conflicts_among(memories, relations, scene.at)


def tell_conflicts(scene: Scene) -> Decide:
    """Of the rows that were chosen; nothing is said where nothing speaks against any."""

    def decide(pool: Pool, query: Query) -> Iterable[Note]:
        found = find_conflicts(scene, pool, pool.ranked())
        if found:
            yield Note("conflicts", {"rows": {id: conflict.to_json() for id, conflict in found.items()}})

    return decide


def conflict_penalty(scene: Scene) -> Decide:
    """A small share off the score of what something speaks against, among the best rows."""

    def decide(pool: Pool, query: Query) -> Iterable[Verdict]:
        head, alone = head_of(scene, pool), followed(pool)
        found = find_conflicts(scene, pool, head)
        if len(alone):  # judged against the others, who know nothing of it
            ids = {pool.ids[at].decode() for at in alone.tolist()}
            told = find_conflicts(scene, pool, np.concatenate([head, alone]))
            found |= {id: conflict for id, conflict in told.items() if id in ids}
        factor = query.weights.get("conflictPenalty", 1.0)
        share = np.zeros(len(pool))
        places = {id.decode(): at for at, id in enumerate(pool.ids.tolist())} if found else {}
        for id, conflict in found.items():
            share[places[id]] = PENALTY[conflict.severity]
        yield Term("conflictPenalty", -factor * share * pool.score, share > 0, {"factor": factor})

    return decide
