from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.errors import InvalidInput, UnknownOption
from recallens.ingest.validate import (
    MAX_CONTENT_BYTES,
    namespace_name,
    option,
    parse_when,
    tags,
    text_content,
    unit_interval,
)
from recallens.model.memory import RelationType, Sector

NOW = 1_700_000_000_000
DAY = 86_400_000


def test_an_option_is_read_in_any_case() -> None:
    assert option(Sector, Sector.SEMANTIC, "sector") is Sector.SEMANTIC
    assert option(Sector, " Semantic ", "sector") is Sector.SEMANTIC
    assert option(RelationType, "supersedes", "relation") is RelationType.SUPERSEDES


@pytest.mark.parametrize("value", ["sematic", "", None, 3])
def test_an_unknown_option_lists_the_set(value: object) -> None:
    with pytest.raises(UnknownOption) as refused:
        option(Sector, value, "sector")
    assert refused.value.options == ("episodic", "semantic", "procedural", "emotional", "reflective")


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.25)])
def test_numbers_in_the_unit_interval(value: float) -> None:
    assert unit_interval("importance", value) == float(value)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, True, "0.5", None, [], 10**400])
def test_anything_else_is_refused_by_name(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"importance is .*; it must be a number from 0 to 1"):
        unit_interval("importance", value)


def test_content_is_cleaned() -> None:
    assert text_content("\n\n  Cafe\u0301\x00\nB \n") == "  Café\nB"


@pytest.mark.parametrize("value", ["", " \n", "\x00", "\ud800", None, b"x"])
def test_empty_content_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        text_content(value)


def test_content_too_long_says_size_limit_and_next_step() -> None:
    assert len(text_content("a" * MAX_CONTENT_BYTES)) == MAX_CONTENT_BYTES
    with pytest.raises(InvalidInput, match=r"4,194,306 bytes; the limit is 4,194,304.*Split it.*artifact"):
        text_content("가" * (MAX_CONTENT_BYTES // 3 + 1))


@pytest.mark.parametrize("name", ["default", "팀/프로젝트", "a.b_c-d:e@f", "x" * 128, "हिन्दी"])
def test_namespace_names(name: str) -> None:
    assert namespace_name(name) == name


@pytest.mark.parametrize("name", ["", " a", "a ", "a b", "a\nb", "a\x00", "x" * 129, "a*", "a\n", None, 3])
def test_names_that_are_none(name: object) -> None:
    with pytest.raises(InvalidInput, match="namespace"):
        namespace_name(name)


def test_tags_lose_their_sign_and_repeats() -> None:
    assert tags(["#api", " api ", "##보안", "", "Cafe\u0301"]) == ("api", "보안", "Café")


@pytest.mark.parametrize("values", [["x" * 129], [str(number) for number in range(65)], "api", [3]])
def test_tags_that_are_refused(values: list[str]) -> None:
    with pytest.raises(InvalidInput):
        tags(values)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("now", NOW),
        ("3d", NOW - 3 * DAY),
        ("2w ago", NOW - 14 * DAY),
        ("12h", NOW - DAY // 2),
        ("30min", NOW - 1_800_000),
        ("1970-01-02", DAY),
        ("1970-01", 0),
        ("1971", 365 * DAY),
        ("1970-01-01T09:00:00+09:00", 0),
        ("1970-01-01T00:00:00.123Z", 123),
        (" 1970-01-01 00:00 ", 0),
        ("1969-12-31", -DAY),
        (1_700_000_000, NOW),
        (NOW, NOW),
        (1_700_000_000.5, NOW + 500),
        ("1700000000", NOW),
        (str(NOW), NOW),
        (datetime(1970, 1, 1), 0),
        (datetime(1970, 1, 1, 9, tzinfo=timezone(timedelta(hours=9))), 0),
    ],
)
def test_times(value: object, expected: int) -> None:
    assert parse_when(value, now_ms=NOW) == expected


@pytest.mark.parametrize("value", ["", "soon", "2024-13-01", "3 fortnights", None, True, math.nan, 10**30, "9" * 16])
def test_a_time_that_cannot_be_read_lists_the_forms(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"is not a time; use an ISO 8601 date"):
        parse_when(value, now_ms=NOW)


@given(st.datetimes(timezones=st.just(UTC)))
def test_iso_times_round_trip(moment: datetime) -> None:
    milliseconds = parse_when(moment.isoformat(), now_ms=NOW)
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds) == moment.replace(
        microsecond=moment.microsecond // 1000 * 1000
    )


@given(st.text(alphabet=st.characters()))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    try:
        parse_when(text, now_ms=NOW)
    except InvalidInput:
        return
