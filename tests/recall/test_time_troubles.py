"""What went wrong in a time, what happened in it, what is dated by it: a bakery, and a library that writes in Korean.

What is right was written down before anything was asked; the second half of each list was looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from moments import at
from recallens import Draft, Engine
from recallens.engine.layers import MemorySearch
from recallens.index.encoders.minilm import MiniLMEncoder
from recallens.model.memory import IdSource
from recallens.render.times import time_of
from standing import FixedClock

NOW = "2026-11-17"
ROWS = """
b1|2026-05-04|bakery|fact|lease|The bakery's lease runs until the end of March 2029.
b1|2026-05-05|bakery|fact|flour1|A sack of rye flour costs 21 euros.
b2|2026-06-02|bakery|episode|oven|The door of the deck oven snapped off during the night shift.
b2|2026-06-03|bakery|episode|oven_fix|We welded the hinge of the oven after the accident and baked from noon.
b2|2026-06-08|bakery|lesson|oven_les|Lesson of the oven accident: grease the hinges every month.
b2|2026-06-09|bakery|episode|aprons|Washed the aprons.
b2|2026-06-20|bakery|observation|paper|Ordered paper bags.
b3|2026-07-06|bakery|episode|van|The delivery van was stolen from the yard.
b3|2026-07-07|bakery|episode|van_a|We reported the van to the police and rented another one.
b3|2026-07-09|bakery|decision|van_b|After the theft the yard is locked at night.
b3|2026-07-27|bakery|episode|trays|Counted the trays.
b4|2026-08-03|bakery|episode|cafe|The second shop at the station opened with a free breakfast.
b4|2026-08-04|bakery|observation|cafe_a|On the first Tuesday 140 coffees were sold at the station.
b4|2026-08-30|bakery|episode|cups|Sorted the cups.
b5|2026-09-15|bakery|decision|flour2|A sack of rye flour now costs 24 euros instead of 21.
l1|2026-05-11|library|fact|기간1|도서 대출 기간은 2주이다.
l2|2026-06-10|library|episode|누수|서고 천장에서 물이 새어 책 서른 권이 젖었고 누수를 막지 못했다.
l2|2026-06-11|library|episode|누수처리|누수로 젖은 책을 냉동고에 넣었다.
l2|2026-06-15|library|lesson|누수교훈|서고 누수는 배관이 낡아서 났다. 해마다 점검한다.
l2|2026-06-25|library|episode|책갈피|책갈피를 정리했다.
l3|2026-08-12|library|episode|서버|대출 서버가 멈춰 종일 손으로 적었다.
l3|2026-08-13|library|episode|서버처리|대출 서버 사고로 밀린 기록을 입력했다.
l3|2026-08-14|library|decision|서버결정|대출 서버 사고 이후 매일 백업하기로 했다.
l3|2026-08-28|library|episode|화분|화분에 물을 주었다.
l4|2026-09-07|library|episode|자료실|어린이 자료실을 열었다.
l4|2026-09-08|library|observation|자료실첫날|자료실 개장 다음 날 아이 60명이 왔다.
l4|2026-09-25|library|episode|걸레|창틀을 닦았다.
l5|2026-10-01|library|decision|기간2|도서 대출 기간을 2주에서 3주로 바꾼다.
l5|2026-10-02|library|decision|휴관|도서관은 월요일에 쉰다. 청소를 하기 때문이다.
l5|2026-11-02|library|fact|총회|독서회 모임은 12월 9일에 연다.
"""
# The question, and what is among the first three.
TROUBLE = [
    ("accidents in June", "oven"), ("what went wrong in July", "van"), ("6월에 있었던 사고", "누수"),
    ("bakery incidents in June", "oven"), ("8월에 고장 난 거 있어?", "서버"), ("problems in August", "서버"),
    ("what happened in July", "van"), ("what happened in August", "cafe"), ("9월에 무슨 일 있었어", "자료실"),
]  # fmt: skip
# The question, the event that dates it, and what is among the first three.
EVENTS = [
    ("what happened before the theft", "van", "cafe,oven,oven_fix,oven_les,paper,aprons"),
    ("what did we do after the oven accident", "oven", "oven_fix"),
    ("대출 서버 사고 이후 뭐 했어", "서버", "서버처리,서버결정"), ("서고 누수 다음에 어떻게 했어", "누수", "누수처리"),
    ("what followed the theft of the van", "van", "van_a,van_b"),
    ("what happened after the launch of the station shop", "cafe", "cafe_a"),
    ("자료실 개장 이후 무슨 일이 있었어", "자료실", "자료실첫날"),
    ("대출 서버 사고 전에 뭐 했어", "서버", "누수처리,누수,책갈피,누수교훈"),
]  # fmt: skip


class Town:
    def __init__(self, engine: Engine) -> None:
        self.engine, self.keys = engine, dict[str, str]()
        for place, line in enumerate(ROWS.split("\n")[1:-1]):
            session, day, project, kind, key, text = line.split("|")
            draft = Draft(text, kind=kind, project=project, session=session, created=at(day, 9, place))
            self.keys[engine.remember(draft).id] = key

    def ask(self, question: str) -> MemorySearch:
        return self.engine.layers.search(question, record=False)

    def found(self, question: str) -> list[str]:
        return [self.keys[entry.id] for entry in self.ask(question).entries]

    def event(self, question: str) -> str:
        windows = (time_of(self.ask(question).recall.ledger) or {"windows": ()})["windows"]
        return next((self.keys[window["event"]["id"]] for window in windows if "event" in window), "-")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, minilm: MiniLMEncoder) -> Iterator[Town]:
    clock = FixedClock(at(NOW))
    path: Path = tmp_path_factory.mktemp("town") / "store.db"
    with Engine.open(path, encoder=minilm, clock=clock, ids=IdSource(clock, lambda bits: 0)) as engine:
        yield Town(engine)


@pytest.mark.parametrize(("question", "wanted"), TROUBLE)
def test_what_went_wrong_or_matters_stands_before_lessons_and_chores(town: Town, question: str, wanted: str) -> None:
    assert wanted in town.found(question)[:3]


@pytest.mark.parametrize(("question", "event", "wanted"), EVENTS)
def test_the_event_itself_dates_a_question_and_not_its_aftermath(
    town: Town, question: str, event: str, wanted: str
) -> None:
    assert town.event(question) == event
    assert set(town.found(question)[:3]) & set(wanted.split(","))


ELSEWHERE = [
    "The smoke door of the workshop was moved and the flood insurers visited on Monday.",
    "When the printer is fed with thick paper, open the rear flap or it jams.",
    "이사할 때 짐차 두 대를 불렀다. 다음 회의는 9월에 연다.",
    "The broker of the message queue was replaced with a newer one.",
]


@pytest.mark.parametrize(
    "question",
    [
        "what happened since the flood",
        "since the broken pipe, what changed?",
        "what went wrong after the printer was fed with thick paper",
        "자동차 사고 이후 뭐가 바뀌었어",
    ],
)
def test_what_only_holds_a_word_of_an_event_dates_nothing(real: Engine, question: str) -> None:
    for text in ELSEWHERE:
        real.remember(Draft(text, kind="gotcha" if "jams" in text else "episode"))
    windows = real.recall(real.recalls.query(question)).ledger.notes("plan")[-1].get("windows", [])
    assert not [window for window in windows if "event" in window]


def test_what_was_made_before_an_event_and_names_a_later_month_is_not_since_it(real: Engine) -> None:
    drafts = {
        "before": Draft("Rehearsal dates: we meet again in September.", created=at("2026-03-02"), kind="episode"),
        "event": Draft("The bus of the orchestra burnt out.", created=at("2026-03-20"), kind="episode"),
        "after": Draft("A van was rented for the tour.", created=at("2026-04-02"), kind="episode"),
    }
    ids = {name: real.remember(draft).id for name, draft in drafts.items()}
    recall = real.recall(real.recalls.query("what happened since the orchestra's bus burnt out", now=at(NOW)))
    assert ids["before"] not in [result.memory.id for result in recall.results]
    assert ids["after"] == recall.results[0].memory.id


@pytest.mark.parametrize(
    ("question", "wanted"),
    [("until when is the bakery's lease", "lease"), ("since when does rye flour cost 24 euros", "flour2")],
)
def test_since_when_and_until_when_ask_and_date_nothing(town: Town, question: str, wanted: str) -> None:
    assert time_of(town.ask(question).recall.ledger) is None
    assert town.found(question)[0] == wanted


@pytest.mark.parametrize(
    ("question", "wanted"),
    [("how much was a sack of rye flour in June", "flour1"), ("7월에 도서 대출 기간이 얼마였어", "기간1")],
)
def test_what_held_then_is_of_that_time(town: Town, question: str, wanted: str) -> None:
    assert town.found(question)[0] == wanted
    assert "missing" not in town.ask(question).to_text()


@pytest.mark.parametrize(
    ("question", "said"),
    [("do we have a reading club in December", "2026-12-01 to 2026-12-31"), ("12월에 독서회 모임 있어?", "2026-12-01"),
     ("what happened in December", "2025-12-01"), ("엊그제 뭐 했어", "2026-11-15 to 2026-11-17")],
)  # fmt: skip
def test_a_month_is_the_coming_one_where_the_question_is_of_what_is(town: Town, question: str, said: str) -> None:
    assert said in town.ask(question).to_text()


def test_a_weekday_of_a_habit_is_no_date(town: Town) -> None:
    assert time_of(town.ask("도서관은 왜 월요일에 쉬어").recall.ledger) is None
    assert time_of(town.ask("why is the library closed on Monday").recall.ledger) is None
    assert time_of(town.ask("월요일에 뭐 했어").recall.ledger) is not None
