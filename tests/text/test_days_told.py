"""The days, weeks and months that a memory's text speaks of, understood against the day on which it was made."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest

from recallens.model.plan import Window
from recallens.recall.views import told_within
from recallens.text.days_told import DAY_BITS, DAYS_TOLD, MONTHS_FROM, WEEKS_FROM, days_told
from recallens.text.times import EPOCH, milliseconds

MADE = date(2026, 7, 14)  # a Tuesday


def told(text: str, made: date = MADE) -> list[str]:
    packed = days_told(text, milliseconds(made))
    numbers = [packed >> (DAY_BITS * place) & ((1 << DAY_BITS) - 1) for place in range(DAYS_TOLD)]
    return [written(number) for number in numbers if number]


def written(number: int) -> str:
    if number >= WEEKS_FROM:
        return f"week of {EPOCH + timedelta(days=(number - WEEKS_FROM) * 7 - EPOCH.weekday())}"
    if number >= MONTHS_FROM:
        return f"{1970 + (number - MONTHS_FROM) // 12}-{(number - MONTHS_FROM) % 12 + 1:02d}"
    return (EPOCH + timedelta(days=number)).isoformat()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The sweep comes in September.", ["2026-09"]),
        ("굴뚝 청소부가 9월에 온다.", ["2026-09"]),
        ("The sweep comes in the second week of September.", ["2026-09-08", "2026-09-14"]),
        ("굴뚝 청소부가 9월 둘째 주에 온다.", ["2026-09-08", "2026-09-14"]),
        ("The sweep came in September.", ["2025-09"]),
        ("굴뚝 청소부가 9월에 왔다.", ["2025-09"]),
        ("In September, we changed the locks.", ["2025-09"]),
        ("The lease will end in March.", ["2027-03"]),
        ("계약은 3월에 끝날 예정이다.", ["2027-03"]),
        ("We moved the exam to September.", ["2026-09"]),
        ("시험을 9월로 옮겼다.", ["2026-09"]),
        ("The oven has been loud since March.", ["2026-03"]),
        ("The inspection was on 3 December.", ["2025-12-03"]),
        ("The inspection is on 3 December.", ["2026-12-03"]),
        ("점검은 12월 3일이었다.", ["2025-12-03"]),
        ("점검은 12월 3일이다.", ["2026-12-03"]),
        ("The house is ours, we signed, and the keys come in late December.", ["2026-12-21", "2026-12-31"]),
        ("We signed the lease and the keys come on 3 December.", ["2026-12-03"]),
        ("School was out this year from 11 December.", ["2026-12-11"]),
        ("올해 생신은 12월 25일이었다.", ["2026-12-25"]),
        ("집은 계약했고 열쇠는 12월 말에 받는다.", ["2026-12-21", "2026-12-31"]),
    ],
)
def test_a_day_without_a_year_is_the_nearest_unless_the_clause_says_otherwise(text: str, days: list[str]) -> None:
    assert told(text) == days


@pytest.mark.parametrize(
    "text",
    [
        "The insurance is paid every year in April and October.",
        "Tax: paid in April and October.",
        "We usually close in March.",
        "The course runs on Tuesday evenings.",
        "The kettle furs up in a week.",
        "보험료는 매년 4월에 낸다.",
        "재산세는 4월과 10월에 낸다.",
    ],
)
def test_what_comes_every_year_dates_nothing(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The fair is on 28 and 29 November.", ["2026-11-28", "2026-11-29"]),
        ("The fair is 28–29 November.", ["2026-11-28", "2026-11-29"]),
        ("장터는 11월 28일과 29일이다.", ["2026-11-28", "2026-11-29"]),
        ("장터는 11월 28~29일이다.", ["2026-11-28", "2026-11-29"]),
        ("Open from 10 to 20 November.", ["2026-11-10", "2026-11-20"]),
        ("The ferry is away in the week of 23 November.", ["week of 2026-11-23"]),
        ("11월 23일 주에 배가 없다.", ["week of 2026-11-23"]),
        ("The plumber comes tomorrow, the painter next week.", ["2026-07-15", "week of 2026-07-20"]),
        ("배관공은 내일, 도배는 다음 주에 온다.", ["2026-07-15", "week of 2026-07-20"]),
        ("The kiln comes back in two weeks.", ["2026-07-28"]),
        ("가마는 2주 뒤에 돌아온다.", ["2026-07-28"]),
        ("The sale is this weekend and next month.", ["2026-07-18", "2026-07-19", "2026-08"]),
        ("이번 주말과 다음 달에 판다.", ["2026-07-18", "2026-07-19", "2026-08"]),
        ("She will come on Friday.", ["2026-07-17"]),
        ("She came on Friday.", ["2026-07-10"]),
        ("This week we painted the fence.", []),
    ],
)
def test_what_is_to_come_and_what_lasts_is_told(text: str, days: list[str]) -> None:
    assert told(text) == days


@pytest.mark.parametrize(
    ("first", "last", "inside"),
    [
        (date(2026, 7, 20), date(2026, 7, 26), True),  # that week
        (date(2026, 7, 1), date(2026, 7, 31), True),
        (date(2026, 7, 22), date(2026, 7, 22), False),  # one of its days may be another than the one meant
        (date(2026, 7, 13), date(2026, 7, 19), False),
    ],
)
def test_a_week_lies_in_a_time_that_holds_all_of_it(first: date, last: date, inside: bool) -> None:
    told = np.array([days_told("We fly next week.", milliseconds(MADE))])
    window = Window("then", milliseconds(first), milliseconds(last + timedelta(days=1)))
    assert told_within(told, [window]).tolist() == [inside]
