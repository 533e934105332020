"""What each part of the score and each tier changes: one left out at a time, over 260 questions to a store of 230.

    python bench/ablation.py [--only intentMatch,graph] [--weight intentMatch=0.5] [--misses]

The store is bench/questions/workplace.tsv, half of it Korean: of each topic a fact, a decision, a gotcha, a skill, an
episode, an old and a new statement of the environment, and a memory that names code; a decision has a reason that
shares no word with it and is tied to it by a relation. The questions ask for each of them, in words that fit all.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import recallens
from recallens import Draft
from recallens.engine import Engine
from recallens.model.citation import FileCitation
from recallens.model.salience import DAY_MS
from recallens.recall.presets import DEFAULT

STORE = Path(__file__).parent / "questions" / "workplace.tsv"
NOW = 1_790_000_000_000
# What people say instead of the subject alone, in English and in Korean.
ASKED = {
    "skill": (("how do I work with {}", "steps for {}?"), ("{} 어떻게 해?", "{} 하는 방법 알려줘")),
    "episode": (("what happened with {}", "did anything go down with {} recently, what was it"),
                ("{} 관련해서 무슨 일이 있었지?", "{} 그때 어떻게 됐었나요")),
    "gotcha": (("any gotchas with {}?", "what should I watch out for with {}"),
               ("{} 주의할 점", "{} 건드릴 때 조심할 거 있나요?")),
    "new": (("what is {} set to currently", "which version, host or limit does {} have right now"),
            ("{} 현재 설정 알려줘", "지금 {} 설정값이 뭐야")),
    "code": (("which file implements {}", "where in the code is {}"),
             ("{} 코드 어디에 있어?", "{} 어느 파일에서 처리하나요")),
    "decision": (("what did we agree on for {}",), ("{} 어떻게 하기로 했어?",)),
    "linked": (("why did we decide that about {}",), ("{} 왜 그렇게 결정했어?",)),
    "review": (("is this change safe to merge", "anything I need to know before I merge this"),
               ("이 변경 머지해도 안전해?", "이거 머지하기 전에 알아야 할 거 있어?")),
}  # fmt: skip
KINDS = {"old": "fact", "new": "fact", "code": "fact", "linked": "observation"}
TERMS = sorted({term.name for term in DEFAULT.terms})
STAGES = ("procedural", "recent_sessions", "review_context", "walk", "propose_answers")


class Question(NamedTuple):
    wanted: str  # what the row is, in its topic
    topic: str
    text: str
    files: tuple[str, ...] = ()
    begins: str = ""  # how the text begins that is wanted, where it is not one of a topic


def rows() -> Iterator[tuple[str, str, int, str]]:
    for line in STORE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            topic, what, days, text = line.split("\t")
            yield topic, what, int(days), text


def path_in(text: str) -> str:
    return next(word.rstrip(",.의") for word in text.replace(",", " ").replace("의 ", " ").split() if "/" in word)


def fill(engine: Engine) -> dict[str, tuple[str, str]]:
    """The store, and what each memory is by its id."""
    named, files, written = {}, {}, list(rows())
    for topic, what, _, text in written:
        if what == "code":
            files[topic] = path_in(text)
    for topic, what, days, text in written:
        if what == "subject" or what.startswith("ask"):
            continue
        cited = (FileCitation(files[topic]),) if what == "gotcha" else ()
        draft = Draft(text, kind=KINDS.get(what, what), citations=cited, created=NOW - days * DAY_MS)
        named[engine.remember(draft).id] = (topic, what)
    of = {names: id for id, names in named.items()}
    for topic in files:
        engine.relate(of[topic, "decision"], of[topic, "linked"], "CAUSED")
        for _ in range(len(topic) % 4 * 3):
            engine.confirm(of[topic, "gotcha"])
    return named


def questions() -> list[Question]:
    subject = {topic: text for topic, what, _, text in rows() if what == "subject"}
    code = {topic: path_in(text) for topic, what, _, text in rows() if what == "code"}
    asked = [Question("fact", topic, text) for topic, what, _, text in rows() if what == "ask-fact"]
    for _, what, _, text in rows():
        if what == "ask-row":
            text, _, begins = text.partition(" => ")
            asked.append(Question("other", "shop", text, begins=begins))
    for topic, words in subject.items():
        for wanted, (english, korean) in ASKED.items():
            for phrase in korean if topic.startswith("ko-") else english:
                files = (code[topic],) if wanted == "review" else ()
                asked.append(Question(wanted, topic, phrase.format(words), files))
    return asked


class Answer(NamedTuple):
    first: str | None
    delivered: frozenset[str]
    rank: int | None  # of the one that is wanted


def ask(engine: Engine, named: dict[str, tuple[str, str]], question: Question, weights: dict[str, float]) -> Answer:
    wanted = {"review": "gotcha"}.get(question.wanted, question.wanted)
    found = engine.recall(engine.recalls.query(question.text, files=question.files, weights=weights)).results
    ids = [result.memory.id for result in found]
    right = [
        result.memory.content.startswith(question.begins) if question.begins else named[id] == (question.topic, wanted)
        for id, result in zip(ids, found, strict=True)
    ]
    rank = right.index(True) + 1 if True in right else None
    return Answer(ids[0] if ids else None, frozenset(ids), rank)


@contextmanager
def without(stage: str) -> Iterator[None]:
    with patch(f"recallens.recall.pipeline.{stage}", lambda *_: ()):
        yield


def line(name: str, answers: list[Answer], whole: list[Answer]) -> str:
    pairs = list(zip(answers, whole, strict=True))
    first = sum(a.first != b.first for a, b in pairs)
    delivered = sum(a.delivered != b.delivered for a, b in pairs)
    right, three = (sum(a.rank is not None and a.rank <= most for a in answers) / len(answers) for most in (1, 3))
    mrr = sum(1 / a.rank for a in answers if a.rank) / len(answers)
    return f"{name:20}{first:8d}{delivered:11d}{100 * right:9.1f}{100 * three:9.1f}{100 * mrr:9.1f}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--weight", action="append", default=[])
    arguments.add_argument("--misses", action="store_true")
    given = arguments.parse_args()
    weights = {name: float(factor) for name, _, factor in (text.partition("=") for text in given.weight)}
    with tempfile.TemporaryDirectory() as folder, recallens.open(Path(folder) / "s.db", clock=lambda: NOW) as engine:
        named, asked = fill(engine), questions()
        engine.encoder.drain()
        whole = [ask(engine, named, question, weights) for question in asked]
        print(f"{len(named)} memories, {len(asked)} questions")
        print(f"{'left out':20}{'first ≠':>8}{'answer ≠':>11}{'first':>9}{'in 3':>9}{'mrr':>9}")
        print(line("nothing", whole, whole))
        for wanted in dict.fromkeys(question.wanted for question in asked):
            of = [answer for answer, question in zip(whole, asked, strict=True) if question.wanted == wanted]
            print(line(f"  asked for: {wanted}", of, of))
        if given.misses:
            for answer, question in zip(whole, asked, strict=True):
                if answer.rank != 1:
                    first = named.get(answer.first or "", ("", "nothing"))
                    print(f"{question.wanted:9}{answer.rank!s:5}{'/'.join(first):28}{question.text}")
        only = given.only.split(",") if given.only else [*TERMS, *STAGES]
        for name in only if given.only != "none" else ():
            if name in STAGES:
                with without(name):
                    print(line(name, [ask(engine, named, question, weights) for question in asked], whole))
            else:
                print(line(name, [ask(engine, named, question, {**weights, name: 0.0}) for question in asked], whole))


if __name__ == "__main__":
    main()
