"""Times in a question, understood against the asking time at day granularity."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.text.times import event_phrase, time_references

TODAY = date(2024, 5, 15)  # a Wednesday


def understood(text: str) -> list[tuple[str, str]]:
    return [(one.start.isoformat(), one.end.isoformat()) for one in time_references(text, TODAY)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what did I do yesterday?", "2024-05-14", "2024-05-15"),
        ("what is on the weekend of 25 May", "2024-05-20", "2024-05-27"),
        ("the day before yesterday", "2024-05-13", "2024-05-14"),
        ("who approved it last March", "2024-03-01", "2024-04-01"),
        ("who approved it last June", "2023-06-01", "2023-07-01"),
        ("last Friday", "2024-05-10", "2024-05-11"),
        ("last Wednesday", "2024-05-08", "2024-05-09"),
        ("last week", "2024-05-06", "2024-05-13"),
        ("this month", "2024-05-01", "2024-06-01"),
        ("in the last two weeks", "2024-05-01", "2024-05-16"),
        ("3 weeks ago", "2024-04-21", "2024-04-28"),
        ("two days ago", "2024-05-13", "2024-05-14"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("on 5 March 2023", "2023-03-05", "2023-03-06"),
        ("on 2023-03-05", "2023-03-05", "2023-03-06"),
        ("Q3 2023", "2023-07-01", "2023-10-01"),
        ("last summer", "2023-06-01", "2023-09-01"),
        ("will the pool open this summer", "2024-06-01", "2024-09-01"),
        ("the heating this winter", "2023-12-01", "2024-03-01"),
        ("what did we repair this autumn", "2023-09-01", "2023-12-01"),
        ("who leads the camp this summer", "2024-06-01", "2024-09-01"),
        ("plans for next spring", "2025-03-01", "2025-06-01"),
        ("올봄 행사", "2024-03-01", "2024-06-01"),
        ("이번 여름 캠프", "2024-06-01", "2024-09-01"),
        ("이번 가을에 뭐 고쳤어", "2023-09-01", "2023-12-01"),
        ("다음 봄 공연", "2025-03-01", "2025-06-01"),
        ("내년 봄 공연", "2025-03-01", "2025-06-01"),
        ("since last March", "2024-03-01", "2024-05-16"),
        ("before 2024-02-01", "1970-01-01", "2024-02-01"),
        ("지난주에 배포한 것", "2024-05-06", "2024-05-13"),
        ("최근 3개월간 변경 이력", "2024-02-15", "2024-05-16"),
        ("어제 회의", "2024-05-14", "2024-05-15"),
        ("그저께", "2024-05-13", "2024-05-14"),
        ("두 달 전", "2024-02-29", "2024-03-31"),
        ("지난 3월", "2024-03-01", "2024-04-01"),
        ("작년 3월 이후", "2023-03-01", "2024-05-16"),
        ("2024년 3월 5일 회의", "2024-03-05", "2024-03-06"),
        ("지난 월요일", "2024-05-13", "2024-05-14"),
        ("작년에", "2023-01-01", "2024-01-01"),
        ("2023년 하반기", "2023-07-01", "2024-01-01"),
        ("1월부터", "2024-01-01", "2024-05-16"),
        ("between March 1 and March 10", "2024-03-01", "2024-03-11"),
        ("from 2024-03-01 to 2024-03-10", "2024-03-01", "2024-03-11"),
        ("3월 1일부터 3월 10일까지", "2024-03-01", "2024-03-11"),
        ("3월 1~10일", "2024-03-01", "2024-03-11"),
        ("what happened between 1 and 10 March", "2024-03-01", "2024-03-11"),
        ("from the 1st to the 10th of March", "2024-03-01", "2024-03-11"),
        ("what was the limit before April", "1970-01-01", "2024-04-01"),
        ("between February and April", "2024-02-01", "2024-05-01"),
        ("decisions of April", "2024-04-01", "2024-05-01"),
        ("Friday of last week", "2024-05-10", "2024-05-11"),
        ("지난주 금요일에", "2024-05-10", "2024-05-11"),
        ("what did we do Friday", "2024-05-10", "2024-05-11"),
        ("월요일에 뭐 했지", "2024-05-13", "2024-05-14"),
        ("over the weekend", "2024-05-11", "2024-05-13"),
        ("early March", "2024-03-01", "2024-03-11"),
        ("지난달 말에", "2024-04-21", "2024-05-01"),
        ("이틀 전", "2024-05-13", "2024-05-14"),
        ("최근 일주일", "2024-05-08", "2024-05-16"),
        ("3월 1일 전에", "1970-01-01", "2024-03-01"),
        ("on July 1", "2024-07-01", "2024-07-02"),
        ("last quarter", "2024-01-01", "2024-04-01"),
        ("what changed in the first quarter", "2024-01-01", "2024-04-01"),
        ("decisions of the third quarter of 2023", "2023-07-01", "2023-10-01"),
        ("what is on next Monday?", "2024-05-20", "2024-05-21"),
        ("다음 주 월요일에 뭐 있어?", "2024-05-20", "2024-05-21"),
        ("다음 금요일", "2024-05-24", "2024-05-25"),
        ("who comes this coming Friday", "2024-05-17", "2024-05-18"),
        ("오는 금요일에 누가 와?", "2024-05-17", "2024-05-18"),
        ("what is happening tomorrow", "2024-05-16", "2024-05-17"),
        ("the day after tomorrow", "2024-05-17", "2024-05-18"),
        ("내일 뭐 해?", "2024-05-16", "2024-05-17"),
        ("모레 일정", "2024-05-17", "2024-05-18"),
        ("what is on next week?", "2024-05-20", "2024-05-27"),
        ("다음 주에 뭐 있어?", "2024-05-20", "2024-05-27"),
        ("what do we have next month?", "2024-06-01", "2024-07-01"),
        ("다음 달에 뭐 해", "2024-06-01", "2024-07-01"),
        ("what is planned this weekend", "2024-05-18", "2024-05-20"),
        ("이번 주말에 뭐 해?", "2024-05-18", "2024-05-20"),
        ("what is due in two weeks?", "2024-05-26", "2024-06-02"),
        ("2주 뒤에 뭐 있어?", "2024-05-26", "2024-06-02"),
        ("who comes in 3 days", "2024-05-18", "2024-05-19"),
        ("사흘 뒤에 누가 와?", "2024-05-18", "2024-05-19"),
        ("what is due in the next two weeks", "2024-05-15", "2024-05-30"),
        ("앞으로 2주 동안 할 일", "2024-05-15", "2024-05-30"),
        ("the week of 22 May", "2024-05-20", "2024-05-27"),
        ("what is on in the week of May 22", "2024-05-20", "2024-05-27"),
        ("5월 22일 주에 뭐 있어?", "2024-05-20", "2024-05-27"),
        ("what is on 28 and 29 May?", "2024-05-28", "2024-05-30"),
        ("on May 28 and 29", "2024-05-28", "2024-05-30"),
        ("28–29 May", "2024-05-28", "2024-05-30"),
        ("5월 28일과 29일에 뭐 있어?", "2024-05-28", "2024-05-30"),
        ("28~29일에 뭐 있어?", "2024-05-28", "2024-05-30"),
        ("what is on the 28th?", "2024-05-28", "2024-05-29"),
        ("28일에 뭐 있어?", "2024-05-28", "2024-05-29"),
        ("the second week of March", "2024-03-08", "2024-03-15"),
        ("the last week of March", "2024-03-24", "2024-04-01"),
        ("3월 둘째 주에", "2024-03-08", "2024-03-15"),
        ("what will we do in March?", "2025-03-01", "2025-04-01"),
        ("3월에 뭐 할 계획이야?", "2025-03-01", "2025-04-01"),
        ("what did we do in March?", "2024-03-01", "2024-04-01"),
        ("on 3 March next year", "2025-03-03", "2025-03-04"),
        ("작년 3월 3일", "2023-03-03", "2023-03-04"),
        ("내년 3월에", "2025-03-01", "2025-04-01"),
    ],
)
def test_a_reference_is_the_days_that_it_means(text: str, start: str, end: str) -> None:
    assert understood(text) == [(start, end)]


@pytest.mark.parametrize(
    "text",
    ["How many weeks ago did I buy it?", "may I ask", "march with 5 people", "the first of may", "3일 동안",
     "월요일 회의", "how much did we sell in two weeks", "it was done in two days", "다음 주문", "3~4일에 한 번",
     "이틀 뒤에 나았다", "2024-02-30", "version 2.0.1", ""],
)  # fmt: skip
def test_what_names_no_time_gives_none(text: str) -> None:
    assert understood(text) == []


@pytest.mark.parametrize("text", ["아킬레스 다음 진료 언제", "제품팀 다음 회의 언제야", "고객사 다음 배포 일정"])
def test_the_next_of_what_comes_again_is_no_time_after_an_event(text: str) -> None:
    assert event_phrase(text, TODAY) is None


def test_what_was_done_next_is_after_the_event() -> None:
    told = event_phrase("이사 다음에 뭐 했어", TODAY)
    assert told is not None


def test_two_days_that_are_not_neighbours_are_two_times() -> None:
    assert understood("on 3 and 17 March") == [("2024-03-03", "2024-03-04"), ("2024-03-17", "2024-03-18")]
    assert understood("3월 3일과 17일에") == [("2024-03-03", "2024-03-04"), ("2024-03-17", "2024-03-18")]


def test_several_references_stand_in_text_order() -> None:
    found = time_references("JWT 지난주, and in May", TODAY)
    assert [one.text for one in found] == ["지난주", "in May"]


@given(st.text(max_size=60) | st.from_regex(r"(last|최근|지난) ?\d{1,4} ?(years|월|년|개월)( ago|전)?", fullmatch=True))
def test_any_text_is_understood_or_left_alone(text: str) -> None:
    for one in time_references(text, TODAY):
        assert one.start < one.end


def test_the_day_before_something_is_not_yesterday() -> None:
    assert understood("전날 뭐 했지") == [("2024-05-14", "2024-05-15")]
    assert understood("건강검진 전날 뭐 조심해야 해") == []


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("what happened before the release", "the release"),
        ("what must I take before the trip to Lisbon", None),
        ("what do we need to do before the audit", None),
        ("출시 전에 무슨 일이 있었어", "출시"),
        ("한국 가기 전에 챙길 물건이 뭐야", None),
        ("설에 한국 가기 전에 의사한테 받아 둘 서류가 뭐야", None),
        ("preparations before the audit", None),
        ("고양이 중성화하러 가기 전 준비", None),
        ("which colour before the walls are painted", None),
        ("who came before the walls were painted", "the walls were painted"),
    ],
)
def test_what_is_to_be_done_before_something_is_not_dated_by_it(question: str, event: str | None) -> None:
    phrase = event_phrase(question, TODAY)
    assert (phrase.event if phrase is not None else None) == event
