"""What repeated attempts at one task have become, by rule. Nothing is asserted that an attempt did not say itself.

Attempts are the ended tasks of one project that are worded alike. From three attempts on:
- a mean reward of 0.7 or more makes a pattern; where a successful attempt wrote its way down as a numbered list of at
  least three steps (in its summary or its log), a skill, whose guide is that list;
- three rewards of 0.3 or less make a gotcha. It is active at once: it only says that this failed, and cites the logs.
  Its resolution is the summary of the best attempt that succeeded after a failure, and empty until there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from msgspec import Struct

from recallens.ingest.dedupe import jaccard, same_numbers, same_polarity
from recallens.model.citation import Citation
from recallens.model.craft import TITLE_CHARACTERS, Craft, Gotcha, Pattern, Skill
from recallens.model.memory import Artifact, Kind, Memory, Zone
from recallens.model.salience import expected_reward
from recallens.model.task import Task
from recallens.text.annotation import annotate
from recallens.text.sentences import first_sentence
from recallens.text.stopwords import token_weight
from recallens.text.tokenizer import tokenize

LEAST_ATTEMPTS, LEAST_STEPS = 3, 3
SUCCESS, FAILURE = 0.7, 0.3
# Three words and a fourth are alike; of seven words one may be another. Numbers and negation must agree as well.
WORDING_FLOOR = 0.75
MOST_LISTED, MOST_CITED = 5, 8
SENTENCE = 240

_STEPS = re.compile(r"(?:^[ \t]*\d{1,2}[.)][ \t]+\S[^\n]*(?:\n|\Z)){3,}", re.MULTILINE)
_FIRST_STEP = re.compile(r"[ \t]*1[.)]")


def worded_alike(text_a: str, text_b: str) -> bool:
    words_a, words_b = ({token for token in tokenize(text) if token_weight(token) > 0} for text in (text_a, text_b))
    if jaccard(words_a or tokenize(text_a), words_b or tokenize(text_b)) < WORDING_FLOOR:
        return False
    return same_numbers(text_a, text_b) and same_polarity(text_a, text_b)


class Attempts(Struct, frozen=True):
    """The ended tasks of one wording, in order; what they logged and remembered, by task id."""

    tasks: Sequence[Task]
    logs: Mapping[str, Sequence[Artifact]]
    memories: Mapping[str, Sequence[Memory]]

    @property
    def successes(self) -> list[Task]:
        return [task for task in self.tasks if _reward(task) >= SUCCESS]

    @property
    def failures(self) -> list[Task]:
        return [task for task in self.tasks if _reward(task) <= FAILURE]

    @property
    def mean(self) -> float:
        return fsum(map(_reward, self.tasks)) / len(self.tasks)

    def episodes(self) -> list[Memory]:
        ids = {task.episode for task in self.tasks}
        return [memory for memories in self.memories.values() for memory in memories if memory.id in ids]

    def zone(self) -> Zone:
        """No more trusted than the least trusted of the episodes that it is made of."""
        return min((memory.zone for memory in self.episodes()), key=tuple(Zone).index, default=Zone.WORKING)


def _reward(task: Task) -> float:
    return task.reward or 0.0


def promotions(attempts: Attempts) -> list[Craft]:
    if len(attempts.tasks) < LEAST_ATTEMPTS:
        return []
    crafts: list[Craft] = []
    if attempts.mean >= SUCCESS:
        crafts.append(_skill_or_pattern(attempts))
    if len(attempts.failures) >= LEAST_ATTEMPTS:
        crafts.append(_gotcha(attempts))
    return crafts


def _best(tasks: Sequence[Task]) -> Task:
    """The highest reward; of equals the first, so that a repetition changes nothing."""
    return max(tasks, key=_reward)


def _skill_or_pattern(attempts: Attempts) -> Craft:
    successes = attempts.successes
    best, title, citations = _best(successes), _title(attempts), _cited(attempts, successes)
    steps = _steps(attempts)
    if steps is None:
        return Pattern(title, best.summary or best.text, success_count=len(successes), citations=citations)
    remembered = [memory for memories in attempts.memories.values() for memory in memories]
    principles = [memory for memory in remembered if memory.kind in (Kind.PRINCIPLE, Kind.LESSON)]
    warned = [first_sentence(memory.content, SENTENCE) for memory in remembered if memory.kind is Kind.GOTCHA]
    return Skill(
        topic=title,
        context=best.text,
        core_principles=_few(first_sentence(memory.content, SENTENCE) for memory in principles),
        pitfalls=_few([*warned, *(first_sentence(task.summary or "", SENTENCE) for task in attempts.failures)]),
        implementation_guide=steps,
        confidence=round(expected_reward(len(attempts.tasks), fsum(map(_reward, attempts.tasks))), 4),
        citations=citations,
    )


def _gotcha(attempts: Attempts) -> Gotcha:
    failures, first = attempts.failures, attempts.failures[0]
    mended = [task for task in attempts.successes if (task.ended or 0) >= (first.ended or 0)]
    summaries = [task.summary for task in failures if task.summary]
    logs = [log.content for task in failures for log in attempts.logs.get(task.id, ())]
    noticed = [annotate(text) for text in [*summaries, *logs]]
    return Gotcha(
        title=_title(attempts),
        description=summaries[0] if summaries else f"Attempts at this have failed: {first.text}",
        resolution=(_best(mended).summary or "") if mended else "",
        occurrence_count=len(failures),
        trigger_conditions=_few([*(first_sentence(text, SENTENCE) for text in summaries),
                                 *(error for each in noticed for error in each.errors)]),
        files=_few(path for each in noticed for path in each.paths),
        citations=_cited(attempts, failures),
    )  # fmt: skip


def _title(attempts: Attempts) -> str:
    return first_sentence(attempts.tasks[0].text, TITLE_CHARACTERS) or attempts.tasks[0].id


def _steps(attempts: Attempts) -> str | None:
    """The longest numbered list of a successful attempt, the earliest of equals."""
    texts = [task.summary or "" for task in attempts.successes]
    texts += [log.content for task in attempts.successes for log in attempts.logs.get(task.id, ())]
    lists = [steps.group().strip() for text in texts for steps in _STEPS.finditer(text)]
    lists = [steps for steps in lists if _FIRST_STEP.match(steps) and steps.count("\n") + 1 >= LEAST_STEPS]
    return max(lists, key=lambda steps: steps.count("\n"), default=None)


def _few(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))[:MOST_LISTED]


def _cited(attempts: Attempts, tasks: Sequence[Task]) -> tuple[Citation, ...]:
    wanted = {task.id for task in tasks}
    cited = [c for memory in attempts.episodes() if memory.task in wanted for c in memory.citations]
    return tuple(dict.fromkeys(cited))[:MOST_CITED]
