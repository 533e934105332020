"""Times in a question, understood against the asking time at day granularity."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.text.times import time_references

TODAY = date(2024, 5, 15)  # a Wednesday


def understood(text: str) -> list[tuple[str, str]]:
    return [(one.start.isoformat(), one.end.isoformat()) for one in time_references(text, TODAY)]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what did I do yesterday?", "2024-05-14", "2024-05-15"),
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
    ],
)
def test_a_reference_is_the_days_that_it_means(text: str, start: str, end: str) -> None:
    assert understood(text) == [(start, end)]


@pytest.mark.parametrize(
    "text",
    ["How many weeks ago did I buy it?", "may I ask", "march with 5 people", "the first of may", "3일 동안",
     "월요일 회의", "2024-02-30", "version 2.0.1", ""],
)  # fmt: skip
def test_what_names_no_time_gives_none(text: str) -> None:
    assert understood(text) == []


def test_several_references_stand_in_text_order() -> None:
    found = time_references("JWT 지난주, and in May", TODAY)
    assert [one.text for one in found] == ["지난주", "in May"]


@given(st.text(max_size=60) | st.from_regex(r"(last|최근|지난) ?\d{1,4} ?(years|월|년|개월)( ago|전)?", fullmatch=True))
def test_any_text_is_understood_or_left_alone(text: str) -> None:
    for one in time_references(text, TODAY):
        assert one.start < one.end
