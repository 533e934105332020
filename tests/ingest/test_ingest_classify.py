from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.ingest.classification import classify_kind, classify_sector
from recallens.model.memory import Kind, Sector


@pytest.mark.parametrize(
    ("text", "sector", "kind"),
    [
        ("Decided to use React with TypeScript for the frontend", Sector.REFLECTIVE, Kind.DECISION),
        ("To deploy, run npm build then upload to S3", Sector.PROCEDURAL, Kind.SKILL),
        ("The API routes are defined in src/routes/api.ts", Sector.SEMANTIC, Kind.FACT),
        ("Lesson learned: test the backup", Sector.REFLECTIVE, Kind.LESSON),
        ("The piano lessons are with Ms Orr at her home, 35 minutes, paid per term.", Sector.SEMANTIC, Kind.FACT),
        ("Yesterday we fixed the login bug", Sector.EPISODIC, Kind.EPISODE),
        ("I felt really frustrated with the build", Sector.EMOTIONAL, Kind.OBSERVATION),
        ("User prefers dark mode", Sector.SEMANTIC, Kind.PREFERENCE),
        ("Gotcha: the cache must be cleared first", Sector.SEMANTIC, Kind.GOTCHA),
        ("Always pin dependencies", Sector.REFLECTIVE, Kind.PRINCIPLE),
        ("Summary: three bugs are open", Sector.SEMANTIC, Kind.SUMMARY),
        ("How to rotate keys:\n1. Open the console", Sector.PROCEDURAL, Kind.SKILL),
        ("인증은 JWT로 하기로 결정했다", Sector.REFLECTIVE, Kind.DECISION),
        ("배포하려면 npm build를 실행하세요", Sector.PROCEDURAL, Kind.SKILL),
        ("어제 서버 장애가 발생했다", Sector.EPISODIC, Kind.EPISODE),
        ("주의: 캐시를 비워야 한다", Sector.SEMANTIC, Kind.GOTCHA),
        ("사용자는 다크 모드를 선호한다", Sector.SEMANTIC, Kind.PREFERENCE),
        ("빌드가 느려서 너무 답답하다", Sector.EMOTIONAL, Kind.OBSERVATION),
        ("서버는 포트 8080을 쓴다", Sector.SEMANTIC, Kind.FACT),
        ("", Sector.SEMANTIC, Kind.FACT),
    ],
)
def test_sector_and_kind(text: str, sector: Sector, kind: Kind) -> None:
    assert classify_sector(text) is sector
    assert classify_kind(text, sector) is kind


def test_case_does_not_matter() -> None:
    assert classify_sector("WE DECIDED TO WAIT") is Sector.REFLECTIVE


def test_the_sector_decides_the_kind_where_no_word_does() -> None:
    assert [classify_kind("plain words", sector) for sector in Sector] == [
        Kind.EPISODE,
        Kind.FACT,
        Kind.SKILL,
        Kind.OBSERVATION,
        Kind.LESSON,
    ]


def test_a_long_text_is_what_its_first_sentences_say() -> None:
    handbook = "The doors are open from nine to five, and the kettle is behind the glazes. " * 6
    text = f"{handbook}How to wash the brushes: first rinse, then soap. We decided to buy new ones."
    assert (classify_sector(text), classify_kind(text, classify_sector(text))) == (Sector.SEMANTIC, Kind.FACT)


@given(st.text(alphabet=st.characters()))
def test_any_text_has_a_sector_and_a_kind(text: str) -> None:
    assert isinstance(classify_kind(text, classify_sector(text)), Kind)


@pytest.mark.parametrize("unit", ["to a ", "a ", "\n ", "1. ", "i am a ", "다음 "])
def test_a_hostile_text_is_quick(unit: str) -> None:
    began = time.perf_counter()
    text = unit * 1_000_000
    classify_kind(text, classify_sector(text))
    assert time.perf_counter() - began < 2
