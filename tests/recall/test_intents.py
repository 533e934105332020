"""The kind of answer that is wanted, and the tiers, as scenes among 220 other memories: what comes first, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import recallens
from crowd import fill
from recallens import Draft, Engine
from recallens.model.citation import FileCitation
from recallens.model.memory import Sector, Zone
from recallens.model.plan import Intent
from recallens.model.recall import Recall
from recallens.model.salience import DAY_MS
from recallens.model.trust import Actor
from recallens.recall.intents import wish_of
from standing import START_MS, FixedClock, Open

QUESTIONS = Path(__file__).parents[2] / "bench" / "questions"


class Scene(NamedTuple):
    intent: Intent
    question: str
    plain: str  # the same without a word of what kind of answer is wanted
    right: Draft
    rival: Draft  # nearer to the words


def days_ago(days: int) -> int:
    return START_MS - days * DAY_MS


SCENES = (
    Scene(
        Intent.KNOWN_ISSUES, "what should I watch out for with the voucher importer", "the voucher importer",
        Draft("The voucher importer books a row twice if the connection drops between two pages", kind="gotcha"),
        Draft("The voucher importer is written in Go", kind="fact"),
    ),
    Scene(
        Intent.KNOWN_ISSUES, "바우처 수집기 건드릴 때 조심할 점 있어?", "바우처 수집기",
        Draft("바우처 수집기는 연결이 끊기면 같은 줄을 두 번 기록하므로 번호로 걸러야 한다", kind="gotcha"),
        Draft("바우처 수집기는 고로 만들었다", kind="fact"),
    ),
    Scene(
        Intent.HOW_TO_DO, "how do I rotate the harbour certificate", "rotate the harbour certificate",
        Draft("Harbour certificate: ask the vault for a new one, put it into the secret, rotate it", kind="skill"),
        Draft("Somebody should rotate the harbour certificate", kind="note"),
    ),
    Scene(
        Intent.HOW_TO_DO, "하버 인증서 교체는 어떻게 하나요", "하버 인증서 교체",
        Draft("하버 인증서 교체 순서는 금고에서 새로 받고 시크릿에 넣은 뒤 파드를 다시 띄우는 것이다", kind="skill"),
        Draft("하버 인증서 교체가 필요하다", kind="note"),
    ),
    Scene(
        Intent.WHAT_HAPPENED, "what happened with the lantern migration", "the lantern migration",
        Draft("Half of the carts were empty after the lantern migration, and Mina put them back from a dump by noon",
              kind="episode"),
        Draft("The lantern migration has an owner", kind="fact"),
    ),
    Scene(
        Intent.WHAT_HAPPENED, "랜턴 이전 관련해 무슨 일이 있었지?", "랜턴 이전",
        Draft("랜턴 이전을 마치고 보니 장바구니 절반이 비어 있었고 민아가 점심 전에 덤프로 되살렸다", kind="episode"),
        Draft("랜턴 이전은 책임자가 있다", kind="fact"),
    ),
    Scene(
        Intent.ENVIRONMENT, "which version of the quartz compiler do we use right now", "quartz compiler version",
        Draft("All agents build with quartz compiler version 7 since the winter", created=days_ago(3)),
        Draft("The quartz compiler version is 5", created=days_ago(300)),
    ),
    Scene(
        Intent.ENVIRONMENT, "쿼츠 컴파일러 지금 버전이 뭐야", "쿼츠 컴파일러 버전",
        Draft("빌드 장비의 쿼츠 컴파일러는 겨울부터 버전 7을 쓴다", created=days_ago(3)),
        Draft("쿼츠 컴파일러 버전 5", created=days_ago(300)),
    ),
    Scene(
        Intent.CODE_STRUCTURE, "where in the code are parcel labels rendered", "parcel labels rendered",
        Draft("Parcel labels come out of `LabelPress.render`, in depot/labels/press.py, one for each box"),
        Draft("Parcel labels are rendered in black", kind="fact"),
    ),
    Scene(
        Intent.CODE_STRUCTURE, "송장 라벨 그리는 코드 어느 파일에 있어?", "송장 라벨",
        Draft("송장 라벨은 상자마다 하나씩 depot/labels/press.py 의 `LabelPress.render` 가 그린다"),
        Draft("송장 라벨은 검은색", kind="fact"),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """All scenes in one store: what one adds is the crowd of the others. Nothing that a test does changes it."""
    path = tmp_path_factory.mktemp("intents") / "store.db"
    with recallens.open(path, encoder="hashing", clock=FixedClock()) as engine:
        assert fill(engine) >= 200
        for scene in SCENES:
            engine.remember(scene.right)
            engine.remember(scene.rival)
        yield engine


def ask(engine: Engine, text: str, **options: object) -> Recall:
    return engine.recall(engine.recalls.query(text, **options))  # type: ignore[arg-type]


def first(recall: Recall) -> str:
    return recall.results[0].memory.content


# ── recognised ──


def test_the_intent_of_questions_that_nothing_was_fitted_on() -> None:
    lines = (QUESTIONS / "intents-apart.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    for language in ("en", "ko"):
        own = [(intent, text) for intent, spoken, text in rows if spoken == language]
        right = sum(str(wish_of(text).intent or "none") == intent for intent, text in own)
        assert len(own) == 100
        assert right >= 85


def test_two_words_of_a_search_box_want_nothing_in_particular() -> None:
    assert {wish_of(text).intent for text in ("timeout", "staging", "refund policy", "캐싱 전략")} == {None}


# ── decisive ──


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: f"{scene.intent}: {scene.question}")
def test_an_intent_changes_the_first_result_for_the_better(store: Engine, scene: Scene) -> None:
    without = ask(store, scene.question, weights={"intentMatch": 0.0})
    assert first(without) != scene.right.content
    recall = ask(store, scene.question)
    assert first(recall) == scene.right.content
    assert first(ask(store, scene.plain, intent=scene.intent)) == scene.right.content
    (plan,) = recall.ledger.notes("plan")
    assert (plan["intent"], plan["intentGiven"]) == (scene.intent, False)
    assert plan["intentCues"]
    assert recall.results[0].parts["intentMatch"] > 0.3 * (
        recall.results[0].score - recall.results[0].parts["intentMatch"]
    )


def test_an_intent_promotes_nothing_that_is_beside_the_point(store: Engine) -> None:
    for scene in SCENES:
        answered = {result.memory.content for result in ask(store, "steps for the gotchas of the moon base").results}
        assert scene.right.content not in answered
    recall = ask(store, "known issues with alerts of the pricing service")
    assert first(recall) == "Alerts of the pricing service go to the channel #pricing-oncall"


def test_what_every_row_is_decides_nothing(engine: Engine) -> None:
    """A store of documents: each of them a fact, made on the same day, that names code."""
    pages = [f"The scheduler of zone {at} runs `ZonePlan{at}`." + " It is told at length." * at for at in range(40)]
    list(engine.memories.remember_many([Draft(page, created=days_ago(9)) for page in pages], dedupe=False))
    for question in ("which version of the scheduler runs right now", "which class runs the scheduler of a zone"):
        recall = ask(engine, question, cut=False)
        (plan,) = recall.ledger.notes("plan")
        assert plan["intent"] is not None
        assert not any("intentMatch" in result.parts for result in recall.results)


def test_a_guess_at_the_kind_of_a_long_text_decides_nothing(engine: Engine) -> None:
    fill(engine)
    for at in range(12):
        engine.remember(f"The tide gauge of harbour {at} was painted in the year {1900 + at}" + " by hand" * at)
    tale = " ".join(f"Then the keeper of lamp {at} went home and had tea." for at in range(60))
    guessed = engine.remember(f"How to calibrate the tide gauge: run the steps below. {tale}")
    stated = engine.remember(f"The tide gauge, to calibrate it: ask the harbour. {tale[::-1]}", kind="skill")
    assert [engine.get(each.id).kind for each in (guessed, stated)] == ["skill", "skill"]
    assert [engine.get(each.id).kind_stated for each in (guessed, stated)] == [False, True]
    parts = {r.memory.id: r.parts for r in ask(engine, "how do I calibrate the tide gauge", cut=False).results}
    assert parts[stated.id]["intentMatch"] > 1.0 > 10 * parts[guessed.id].get("intentMatch", 0.0)
    # An edit keeps a kind that was stated, and guesses again what was guessed.
    edited = [engine.get(engine.edit(each.id, "We decided to paint it").id) for each in (stated, guessed)]
    assert [(each.kind, each.kind_stated) for each in edited] == [("skill", True), ("decision", False)]


# ── files, confirmations, relations, kinds ──


@pytest.mark.parametrize("question", ["is this change safe to merge", "이 변경 머지해도 안전해?"])
def test_what_is_known_of_a_changed_file_is_among_the_first_three(engine: Engine, question: str) -> None:
    fill(engine)
    for at in range(12):
        engine.remember(f"A change is safe to merge after review number {at} by its owner. 이 변경 머지해도 안전해")
    cited = FileCitation("depot/oven.py", 3, 9)
    known = engine.remember("The thermostat is read twice on purpose", citations=(cited,)).id
    recall = ask(engine, question, files=("depot/oven.py",))
    assert known in [result.memory.id for result in recall.results[:3]]
    (result,) = (result for result in recall.results if result.memory.id == known)
    assert result.relevance is not None
    assert result.relevance >= 0.5


def test_confirmations_move_a_memory_up_the_same_day(engine: Engine) -> None:
    fill(engine)
    texts = [f"Pallets of the depot are counted by {who} in the morning" for who in ("Ana", "Bea", "Cho", "Dan")]
    ids = [engine.remember(text).id for text in texts]
    before = [result.memory.id for result in ask(engine, "who counts the pallets of the depot").results]
    last = [id for id in before if id in ids][-1]
    for number in range(12):  # of each owner one counts
        with engine.core.acting(Actor(Zone.WORKING, f"token-{number}")):
            engine.confirm(last)
    recall = ask(engine, "who counts the pallets of the depot")
    after = [result.memory.id for result in recall.results]
    assert after.index(last) < before.index(last)
    (result,) = (result for result in recall.results if result.memory.id == last)
    assert result.parts["reinforcementBoost"] > 0.05 * result.score


def test_a_relation_reaches_what_words_cannot(opened: Open) -> None:
    engine = opened("words.db", encoder="none")
    fill(engine)
    answer = engine.remember("The kiln is fired with gas on weekdays", kind="decision").id
    reason = engine.remember("Electricity was dear that spring", kind="observation").id
    hub = engine.remember("Everything that was ever said of fuel", kind="note").id
    engine.relate(answer, reason, "CAUSED")
    question = "why is the kiln fired with gas"
    recall = ask(engine, question)
    assert [result.memory.id for result in recall.results[:2]] == [answer, reason]
    assert next(r for r in engine.xray(question).results if r.memoryId == reason).servedBy == "graph"
    alone = {result.memory.id: result for result in recall.results}[reason].relevance
    for at in range(24):
        engine.relate(answer, engine.remember(f"Fuel note {at} of the year {1900 + at}").id, "RELATED_TO")
    engine.relate(answer, hub, "RELATED_TO")
    crowded = {result.memory.id: result for result in ask(engine, question, cut=False, limit=50).results}[
        reason
    ].relevance
    assert alone is not None
    assert crowded is not None
    assert crowded < alone / 2  # what so much hangs on says little of each


def test_a_stated_kind_decides_the_sector(engine: Engine) -> None:
    text = "Shipped the label printer together with Jun"
    expected = {
        "episode": Sector.EPISODIC,
        "decision": Sector.REFLECTIVE,
        "skill": Sector.PROCEDURAL,
        "fact": Sector.SEMANTIC,
    }
    sectors = {kind: engine.get(engine.remember(f"{text}, as {kind}", kind=kind).id).sector for kind in expected}
    assert sectors == expected
    assert engine.get(engine.remember(text, kind="episode", sector="emotional").id).sector is Sector.EMOTIONAL
