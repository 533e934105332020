"""Ranking by what the asker is at, and what speaks against a result."""

from __future__ import annotations

from typing import Any

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, RecallensError
from recallens.model.memory import Memory
from recallens.model.plan import Level
from recallens.model.recall import SearchResult
from recallens.model.snapshot import Snapshot
from recallens.recall.conflicts import PENALTY, Severity, conflicts_among, marked
from recallens.recall.disagreements import disagreements
from recallens.recall.question import far_apart, level_of_memory
from recallens.render import render
from recallens.text.statements import Disagreement

PRESETS = ("default", "fusion")


def found(engine: Engine, text: str, **options: Any) -> dict[str, SearchResult]:
    return {result.memory.id: result for result in engine.search(text, limit=20, **options).results}


def before(result: SearchResult, *after: str) -> float:
    late = {*after, "superseded", "mmrPenalty", "conflictPenalty"}
    return sum(value for name, value in result.parts.items() if name not in late)


def work_share(result: SearchResult) -> float:
    return result.parts.get("actionability", 0.0) / before(result, "actionability", "levelMatch")


def a_memory(content: str, **attributes: Any) -> Memory:
    return Memory("01", "default", content, 0, 0, **attributes)


# ── actionability ──


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_about_the_open_file_goes_up_by_a_share_of_its_score(engine: Engine, preset: str) -> None:
    about = engine.remember("The timeout of src/net/client.py is retried twice").id
    namesake = engine.remember("A timeout in lib/client.py is fatal").id
    other = engine.remember("The timeout of the gateway is fatal").id
    results = found(engine, "timeout", preset=preset, open_file="src/net/client.py")
    file = {id: work_share(results[id]) for id in (about, namesake)}
    assert file[about] == pytest.approx(0.3)
    assert file[namesake] == pytest.approx(0.15)
    assert "actionability" not in results[other].parts
    assert not any("actionability" in one.parts for one in found(engine, "timeout", preset=preset).values())


def test_a_section_of_the_open_file_and_its_neighbours(engine: Engine) -> None:
    (own,) = engine.memories.add_document("The timeout is fatal here.", path="net/retry.md").memories
    (beside,) = engine.memories.add_document("The timeout is fatal there.", path="net/other.md").memories
    (far,) = engine.memories.add_document("The timeout is fatal anywhere.", path="web/page.md").memories
    results = found(engine, "timeout", preset="fusion", open_file="/home/me/notes/net/retry.md")
    shares = [
        results[id].parts.get("actionability", 0.0) / before(results[id], "actionability") for id in (own, beside)
    ]
    assert shares == [pytest.approx(0.3), pytest.approx(0.3 * 0.3)]
    assert "actionability" not in results[far].parts


@pytest.mark.parametrize("preset", PRESETS)
def test_what_shares_the_words_of_a_recent_command_goes_up(engine: Engine, preset: str) -> None:
    both = engine.remember("Before a deploy to staging the timeout is raised").id
    half = engine.remember("A deploy resets the timeout").id
    none = engine.remember("The timeout of the gateway is fatal").id
    results = found(engine, "timeout", preset=preset, commands=["/deploy staging", "/unrelated"])
    shares = {
        id: results[id].parts.get("actionability", 0.0) / before(results[id], "actionability") for id in (both, half)
    }
    assert shares[both] == pytest.approx(0.2)
    assert shares[half] == pytest.approx(0.1)
    assert "actionability" not in results[none].parts


def test_korean_commands_count_too(engine: Engine) -> None:
    wanted = engine.remember("배포 전에 타임아웃을 늘린다").id
    other = engine.remember("타임아웃은 치명적이다").id
    results = found(engine, "타임아웃", preset="fusion", commands=["/배포"])
    assert results[wanted].parts["actionability"] > 0
    assert "actionability" not in results[other].parts


def test_the_weights_of_a_situation_can_be_given(engine: Engine) -> None:
    id = engine.remember("The timeout of src/net/client.py").id
    weighed = found(engine, "timeout", open_file="src/net/client.py", actionability_weights={"fileMatch": 0.0})
    assert "actionability" not in weighed[id].parts
    with pytest.raises(RecallensError, match="fileMatch, commandMatch"):
        engine.recalls.query("x", actionability_weights={"files": 1})
    with pytest.raises(InvalidInput, match="list of texts"):
        engine.recalls.query("x", commands="/deploy")


# ── levels ──

PRINCIPLE = "We should always prefer simple caches: the principle is that a cache must never be the only copy."
CODE = "```python\ncache.get(key)\ncache.set(key, value, ttl=60)\n```"
CONCEPT = "The cache sits between the gateway and the carriers and answers repeated lookups."


@pytest.mark.parametrize(
    ("memory", "level"),
    [
        (a_memory(PRINCIPLE), Level.PRINCIPLE),
        (a_memory("캐시는 항상 단순해야 한다는 원칙을 우선한다"), Level.PRINCIPLE),
        (a_memory(CODE), Level.IMPLEMENTATION),
        (a_memory("run `make cache` then `cache_warm()` in src/warm.py"), Level.IMPLEMENTATION),
        (a_memory(CONCEPT), Level.CONCEPT),
        (a_memory("게이트웨이와 운송사 사이에 캐시가 있다"), Level.CONCEPT),
        (a_memory("plain", kind="principle"), Level.PRINCIPLE),
    ],
)
def test_the_level_of_a_text(memory: Memory, level: Level) -> None:
    assert level_of_memory(memory) is level


def test_only_the_two_ends_are_far_apart() -> None:
    assert far_apart(Level.PRINCIPLE, Level.IMPLEMENTATION)
    assert not far_apart(Level.CONCEPT, Level.IMPLEMENTATION)
    assert not far_apart(Level.PRINCIPLE, Level.PRINCIPLE)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_level_is_a_bonus_and_the_other_end_a_penalty_only_where_asked(engine: Engine, preset: str) -> None:
    ids = {name: engine.remember(text).id for name, text in (("p", PRINCIPLE), ("i", CODE), ("c", CONCEPT))}
    question = "why do we cache: what is the principle"
    results = found(engine, question, preset=preset, hierarchical=True)
    shares = {
        name: results[id].parts.get("levelMatch", 0.0) / before(results[id], "levelMatch")
        for name, id in ids.items()
        if id in results and before(results[id], "levelMatch") > 0
    }
    assert shares["p"] == pytest.approx(0.15)
    assert shares.get("i", -0.15) == pytest.approx(-0.15)
    assert shares.get("c", 0.0) == 0.0
    assert not any("levelMatch" in one.parts for one in found(engine, question, preset=preset).values())
    mild = found(engine, question, preset=preset, hierarchical=True, hierarchical_weights={"sameLevel": 0.05})
    assert mild[ids["p"]].parts["levelMatch"] == pytest.approx(results[ids["p"]].parts["levelMatch"] / 3)


# ── conflicts ──

MERGE = "ttl\n<<<<<<< HEAD\n60\n=======\n90\n>>>>>>> theirs\n"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (MERGE, Severity.HIGH),
        ("This contradicts the decision of May", Severity.MEDIUM),
        ("앞의 결정과 모순된다", Severity.MEDIUM),
        ("The flag is deprecated", Severity.LOW),
        ("이 플래그는 더 이상 사용하지 않는다", Severity.LOW),
        ("These figures are outdated", Severity.LOW),
        ("deprecated and outdated", Severity.MEDIUM),
        ("CONTRADICTORY", Severity.MEDIUM),
        ("obſolete", Severity.LOW),
        ("out of date", Severity.LOW),
        ("It is no longer used", Severity.LOW),
        ("둘은 상충한다", Severity.MEDIUM),
        ("사용 중단", Severity.LOW),
        ("지원 중단", Severity.LOW),
        ("폐기되었다", Severity.LOW),
        ("구버전 문서", Severity.LOW),
        ("오래된 정보다", Severity.LOW),
        ("> Status: deprecated", Severity.LOW),
    ],
)
def test_what_a_text_says_against_itself(text: str, severity: Severity) -> None:
    assert {found for found, _ in marked(text)} == {severity}


def test_a_line_of_signs_is_no_conflict() -> None:
    assert marked("a heading\n=======\ntext with <<<<<<< inside") == []


@pytest.mark.parametrize(
    "text",
    [
        "We shard by region. ADR-021 is deprecated.",
        "This replaces the deprecated endpoint",
        "[[Sharding by tenant]] is no longer valid",
        "리전으로 나눈다. 이전 문서는 폐기되었다.",
    ],
)
def test_what_a_text_says_of_another_is_no_mark_of_its_own(text: str) -> None:
    assert marked(text) == []


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("The cache TTL is 60 seconds", "The cache TTL is 90 seconds", True),
        ("The cache TTL is 60 seconds", "The cache TTL is 60 seconds.", False),
        ("The cache TTL is 60 seconds", "The session TTL of the web login page is 90 seconds", False),
        ("Postgres runs version 15.2", "Postgres runs version 16.1", True),
        ("캐시 만료는 60초다", "캐시 만료는 90초다", True),
        ("The cache TTL is 60 seconds", "The cache TTL is 60 minutes", True),
        ("The cache TTL is 60 seconds", "The cache TTL is one minute", False),
        ("Session tokens live 15 minutes", "Session tokens expire after 5 minutes", True),
        ("세션 토큰은 15분 동안 유효하다", "세션 토큰의 유효 시간은 5분이다", True),
        ("세션 토큰은 15분 동안 유효하다", "세션 토큰의 유효 시간은 열다섯 분이다", False),
        ("세션 토큰은 십오 분 동안 유효하다", "세션 토큰은 열다섯 분 동안 유효하다", False),
        ("Logs are kept for two weeks", "Logs are kept for 14 days", False),
        ("Logs are kept for two weeks", "Logs are kept for 30 days", True),
        ("백업은 이 주 보관한다", "백업은 14일 보관한다", False),
        ("백업은 이 주 보관한다", "백업 보관 기간은 30일이다", True),
        ("재시도는 세 번까지 한다", "재시도는 5번까지 한다", True),
        ("The gateway listens on port 8080", "The gateway listens on port 9090", True),
        ("Uploads are limited to 25 MB", "The upload limit is 50 MB", True),
        # Names are no values, and neither are the versions of different things.
        ("ADR-021 decided on sharding by tenant", "ADR-022 decided on sharding by region", False),
        ("Release 3.1 shipped the dark mode", "Release 3.2 shipped the dark mode", False),
        ("The dev4 host runs the nightly build", "The dev5 host runs the nightly build", False),
        ("The exporter writes report2.csv daily", "The exporter writes report3.csv daily", False),
        ("We run Python 3.11 in production", "We run Node 18 in production", False),
        ("We run Python 3.11 in production", "We run Python 3.12 in production", True),
        ("Sprint 14 had too many meetings", "Sprint 15 had too many meetings", False),
        ("Room 3 has 4 chairs", "Room 5 has 6 chairs", False),
        ("Room 3 has 4 chairs", "Room 3 has six chairs", True),
        ("주차 할인은 3천 원이다", "주차 할인은 3,000원이다", False),
        ("The deposit is 10 percent of the fee", "The deposit is 0.15 of the fee", True),
        ("The shop closes at 18:00", "The shop closes at 7 pm", True),
        ("The shop closes at 18:00", "The shop closes at 6 pm", False),
        ("The lease ends on 3 March 2027", "The lease ends on 30 June 2027", True),
        ("휴관일은 월요일이다", "휴관일은 화요일이다", True),
        # What happened twice happened twice, and another subject or attribute is another thing.
        ("The lift was checked on 3 May", "The lift was checked on 9 June", False),
        ("The lift is checked every 6 months", "The lift is painted every 24 months", False),
        ("Adult tickets cost 12 euros", "Child tickets cost 6 euros", False),
        ("Tests for the rota page are done; 26 cases pass", "Tests for the kiosk are done; 14 cases pass", False),
        ("The Monday tour starts at 11:00", "The Saturday tour starts at 14:00", False),
        # Each page has fields of its own.
        ("---\nstage: beta\nenabled: true\n---\nStairs", "---\nstage: beta\nenabled: false\n---\nA roof", False),
        ("---\nlift: 3\n---\nThe key costs 4 euros", "---\nlift: 3\n---\nThe key costs 5 euros", True),
    ],
)
def test_values_that_disagree(one: str, other: str, differ: bool) -> None:
    twins = [Memory(id, "default", text, at, at, num=at) for at, (id, text) in enumerate((("A", one), ("B", other)), 1)]
    assert disagreements(twins) == ({0: {1: Disagreement.VALUE}} if differ else {})


def test_the_older_of_two_is_in_doubt_and_severity_is_the_worst_of_what_was_found() -> None:
    twins = (
        Memory("A", "default", "The cache TTL is 60 seconds; deprecated", 1, 1, num=1),
        Memory("B", "default", "The cache TTL is 90 seconds; deprecated", 2, 2, num=2),
        Memory("C", "default", "Lunch is at noon", 0, 0, num=3),
    )
    found = conflicts_among(twins, {}, disagreements(twins), 0)
    assert set(found) == {"A", "B"}
    assert (found["A"].severity, found["A"].memories) == (Severity.MEDIUM, ("B",))
    assert set(found["A"].reasons) == {"deprecated", "a newer result states another value"}
    assert (found["B"].severity, found["B"].memories) == (Severity.LOW, ())


@pytest.fixture
def disputed(engine: Engine) -> tuple[Engine, str, str]:
    one = engine.remember("The cache TTL is 60 seconds", dedupe=False).id
    other = engine.remember("The cache must not hold prices", dedupe=False).id
    engine.remember("Prices are read from the ledger and the cache is skipped", dedupe=False)
    engine.relate(one, other, "CONTRADICTS")
    return engine, one, other


def conflicts(snapshot: Snapshot) -> dict[str, Any]:
    return {result.memoryId: result.conflicts for result in snapshot.results if result.conflicts is not None}


@pytest.mark.parametrize("preset", PRESETS)
def test_conflicts_are_in_the_xray_of_every_preset_that_has_any(disputed: tuple[Engine, str, str], preset: str) -> None:
    engine, one, other = disputed
    snapshot = engine.xray("cache ttl prices", preset=preset)
    told = conflicts(snapshot)
    assert set(told) == {one, other}
    assert told[one].severity == "high"
    assert told[one].memories == (other,)
    assert 'conflicts: high ("a memory contradicts it")' in render(snapshot, "text")


def test_a_conflict_costs_a_small_share_in_fusion_alone(disputed: tuple[Engine, str, str]) -> None:
    engine, one, _ = disputed
    result = found(engine, "cache ttl prices", preset="fusion")[one]
    assert result.parts["conflictPenalty"] == pytest.approx(-PENALTY[Severity.HIGH] * before(result))
    assert "conflictPenalty" not in found(engine, "cache ttl prices")[one].parts
    spared = found(engine, "cache ttl prices", preset="fusion", weights={"conflictPenalty": 0})[one]
    assert spared.parts.get("conflictPenalty", 0.0) == 0.0


def test_a_contradiction_that_is_still_to_come_does_not_count(engine: Engine) -> None:
    from recallens.model.memory import Relation, RelationType

    memory = Memory("A", "default", "The cache is small", 0, 0)
    later = Relation("B", "A", RelationType.CONTRADICTS, created=10)
    assert conflicts_among([memory], {"A": [later]}, {}, at=5) == {}
    assert conflicts_among([memory], {"A": [later]}, {}, at=10)["A"].severity is Severity.HIGH


def test_query_coverage_is_the_share_of_the_questions_words(engine: Engine) -> None:
    all_of_it = engine.remember("cache lookups").id
    half = engine.remember("cache of invoices").id
    snapshot = engine.xray("cache lookups", preset="fusion", cut=False)
    coverage = {one.memoryId: one.queryCoverage for one in snapshot.results}
    assert coverage[all_of_it] == pytest.approx(1.0)
    assert coverage[half] == pytest.approx(0.5)
