"""What repeated attempts at one task have become, by rule. Nothing is asserted that an attempt did not say itself.

Attempts at one task are ended tasks of one project that did the same: `same_work` compares what they say they did, what
they were to do, and with which files; a title that any task could have is no evidence. From three attempts on:
- a mean reward of 0.7 or more makes a pattern; where a successful attempt wrote its way down as a numbered list of at
  least three steps (in its summary or its log), a skill, whose guide is that list. Both are proposed: somebody looks;
- three rewards of 0.3 or less make a gotcha. It needs no review: it only says that this failed, and cites the logs.
  Its resolution is the summary of the best attempt that succeeded after a failure, and empty until there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from msgspec import Struct

from recallens.ingest.dedupe import same_numbers, same_polarity
from recallens.model.citation import Citation
from recallens.model.craft import TITLE_CHARACTERS, Craft, Gotcha, Pattern, Skill
from recallens.model.memory import Artifact, Kind, Memory
from recallens.model.salience import expected_reward
from recallens.model.task import Task
from recallens.model.trust import Input, InputKind
from recallens.text.annotation import annotate
from recallens.text.content import (
    action_morphemes,
    actions,
    content_words,
    generic_morphemes,
    generic_words,
    morphemes,
    overlap,
)
from recallens.text.sentences import first_sentence

LEAST_ATTEMPTS, LEAST_STEPS = 3, 3
SUCCESS, FAILURE = 0.7, 0.3
# Two aims are one if the shorter has two words of its own, most of which the longer has, which has not many others.
LEAST_AIM = 2
SAME_AIM, SAME_AIM_OF_ALL = 0.75, 0.5
# Two accounts of what was done: some substance, how much of it is enough where the aims are alike and a word differs,
# and how much where the titles say nothing.
LEAST_ACCOUNT = 3
SIMILAR_ACCOUNT, SAME_ACCOUNT = 0.4, 0.6
# Two accounts that are one by themselves: how many words they share, of the shorter one's and of all.
LEAST_TOLD = 3
SAME_TOLD, SAME_TOLD_OF_ALL = 0.75, 0.5
# From so many shared words on, which no two other tasks have by chance, fewer of all are enough.
MUCH_TOLD = 5
MOST_TOLD, MOST_TOLD_OF_ALL = 0.6, 0.35
# A word is another's shorter form from so many letters on: cert, certificate.
SHORT_FORM = 4
MOST_LISTED, MOST_CITED = 5, 8
SENTENCE = 240

_STEPS = re.compile(r"(?:^[ \t]*\d{1,2}[.)][ \t]+\S[^\n]*(?:\n|\Z)){3,}", re.MULTILINE)
_COMPOUND = re.compile(r"\S*\w[._/]\w\S*")  # created_at says what something is called, and not what was done
_PARTICLE = re.compile(r"(\.\w*?[a-zA-Z0-9])[\uac00-\ud7a3]+$")  # a file's name, and what a sentence adds to it
_FIRST_STEP = re.compile(r"[ \t]*1[.)]")


class Work(Struct, frozen=True):
    """What a task was to do and what was done, in words of one form each and without those that any task has."""

    text: str
    aim: frozenset[str]  # what it was to be done to
    actions: frozenset[str]  # what was to be done
    account: frozenset[str]  # what was done, as its summary and its steps say
    done: frozenset[str]  # the actions of the account
    meant: frozenset[str]  # the account by whole words, whatever they end in
    files: frozenset[str]
    failed: bool


def work_of(task: Task, logs: Sequence[Artifact] = ()) -> Work:
    known, words = actions(), content_words(task.text)
    named = {known[word] for word in content_words(_COMPOUND.sub(" ", task.text)) if word in known}
    listed = [steps.group() for log in logs for steps in _STEPS.finditer(log.content)]
    told = "\n".join([task.summary or "", *listed])
    said = content_words(told)
    doing = action_morphemes()
    meant = morphemes(_COMPOUND.sub(" ", told))
    return Work(
        text=task.text,
        aim=frozenset(word for word in words - generic_words() if word not in known),
        actions=frozenset(named or {known[word] for word in said if word in known}),
        account=frozenset(known.get(word, word) for word in said - generic_words()),
        done=frozenset(doing[word] for word in meant if word in doing),
        meant=frozenset(doing.get(word, word) for word in morphemes(told) - generic_morphemes()),
        files=frozenset(_PARTICLE.sub(r"\1", path) for text in (task.text, told) for path in annotate(text).paths),
        failed=_reward(task) <= FAILURE,
    )


def same_work(one: Work, other: Work) -> bool:
    """Whether two tasks did the same thing: no other action, number or negation, one aim, and accounts that agree. Two
    that tell of the very same are one, whatever they were called."""
    if _told_the_same(one, other):
        return True
    if one.actions and other.actions and not one.actions & other.actions:
        return False
    if not same_numbers(one.text, other.text) or not same_polarity(one.text, other.text):
        return False
    told = min(len(one.account), len(other.account)) >= LEAST_ACCOUNT
    agreed = overlap(one.account, other.account) if told else 0.0
    aims = _shared(one.aim, other.aim)
    if min(len(one.aim), len(other.aim)) < LEAST_AIM:
        shared = len(one.account & other.account)
        return told and agreed >= SAME_ACCOUNT and shared >= LEAST_ACCOUNT and not one.failed and not other.failed
    shorter, longer = sorted((one.aim, other.aim), key=len)
    if aims / len(shorter) < SAME_AIM or aims / (len(shorter) + len(longer) - aims) < SAME_AIM_OF_ALL:
        return False
    if aims < len(shorter):  # each has a word that the other has not: another thing, unless they did the same
        return agreed >= SIMILAR_ACCOUNT or bool(one.files & other.files)
    if not told or one.failed or other.failed:  # what went wrong says nothing of what was done
        return True
    return agreed > 0 or bool(one.files & other.files)


def _told_the_same(one: Work, other: Work) -> bool:
    """Whether two accounts have most words in common, in any order: no other action, and no file that is another's."""
    if one.failed != other.failed or (one.done and other.done and not one.done & other.done):
        return False
    if one.files and other.files and not one.files & other.files:
        return False
    shorter, longer = sorted((one.meant, other.meant), key=len)
    shared = _shared(shorter, longer)
    of_one, of_all = (MOST_TOLD, MOST_TOLD_OF_ALL) if shared >= MUCH_TOLD else (SAME_TOLD, SAME_TOLD_OF_ALL)
    if shared < LEAST_TOLD or shared < of_one * len(shorter):
        return False
    return shared >= of_all * (len(shorter) + len(longer) - shared)


def _shared(words: frozenset[str], others: frozenset[str]) -> int:
    """How many of the words both have, a short form counting as its word."""
    shared = words & others
    short = [word for word in words - shared if any(_short_of(word, other) for other in others - shared)]
    return len(shared) + len(short)


def _short_of(word: str, other: str) -> bool:
    return (
        word.isascii()
        and min(len(word), len(other)) >= SHORT_FORM
        and (word.startswith(other) or other.startswith(word))
    )


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

    def inputs(self) -> tuple[Input, ...]:
        """Everything that a craft may be made of, of which it has the restrictions."""
        memories = [Input.of(memory) for memories in self.memories.values() for memory in memories]
        logs = [Input(InputKind.LOG, log.id, log.zone) for logs in self.logs.values() for log in logs]
        return (*memories, *logs, *(Input(InputKind.TASK, task.id, task.zone) for task in self.tasks))


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
    """What the first attempt was to do; where any task could be called that, what was done."""
    first = attempts.tasks[0]
    told = first.text if len(work_of(first).aim) >= LEAST_AIM else first.summary or first.text
    return first_sentence(told, TITLE_CHARACTERS) or first.id


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
