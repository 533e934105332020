"""What was learned from outcomes, and what corrects or disputes what: scenes in a store of 220 other memories."""

from __future__ import annotations

import pytest

from crowd import fill
from recallens.engine import Engine
from recallens.model.citation import FileCitation
from recallens.model.memory import Kind, Memory, RelationType, Status, Zone
from recallens.model.recall import Recall
from recallens.model.task import TaskOutcome
from standing import FixedClock


@pytest.fixture
def crowded(engine: Engine, clock: FixedClock) -> Engine:
    assert fill(engine) >= 200
    engine.encoder.drain()
    clock.advance(days=1)
    return engine


def attempt(engine: Engine, clock: FixedClock, text: str, reward: float, summary: str | None = None) -> TaskOutcome:
    task = engine.tasks.start(text)
    engine.search(text, task=task.id)
    clock.advance(ms=3_600_000)
    return engine.tasks.end(task.id, reward=reward, summary=summary)


def ids(recall: Recall) -> list[str]:
    return [result.memory.id for result in recall.results]


def proposed(engine: Engine, id: str) -> list[str]:
    """What a memory may replace, by its text."""
    ties = [tie for tie in engine.memories.relations(id) if tie.type is RelationType.MAY_SUPERSEDE and tie.source == id]
    return [engine.get(tie.target).content for tie in ties if tie.valid_until is None]


# ── outcomes ──

STORIES = {
    "English": (
        "Deploy the billing service to staging",
        ("The rollout hung at readiness and was rolled back.", "Pods were OOMKilled after ten minutes.", "Gave up."),
        "Billing pods on staging are OOMKilled because the memory limit of 256Mi is too small for the invoice cache",
        "1. Raise the memory limit to 512Mi\n2. Apply the manifest\n3. Wait for readiness\n4. Open the invoice page",
        ("how do I deploy the billing service to staging", "deploy billing to staging"),
    ),
    "Korean": (
        "결제 서비스 인증서 갱신하기",
        (
            "certbot이 80 포트에 접속하지 못해 실패했다.",
            "방화벽 때문에 검증이 끝나지 않았다.",
            "갱신 검증에 또 실패했다.",
        ),
        "결제 서버의 방화벽이 80 포트를 막고 있어서 인증서 갱신 검증이 실패한다",
        "1. 방화벽에서 80 포트를 연다\n2. certbot renew를 실행한다\n3. nginx를 다시 읽힌다",
        ("결제 서비스 인증서는 어떻게 갱신하나요?", "인증서 갱신 방법"),
    ),
}


@pytest.mark.parametrize("language", STORIES)
def test_after_failures_the_success_comes_first_and_what_explains_them_next(
    crowded: Engine, clock: FixedClock, language: str
) -> None:
    said, failures, warning, steps, questions = STORIES[language]
    failed = [attempt(crowded, clock, said, 0.0, failure).episode for failure in failures]
    gotcha = crowded.remember(warning, kind="gotcha").id
    marked = crowded.tasks.start(said)
    crowded.tasks.used([gotcha], task=marked.id)
    crowded.tasks.end(marked.id, reward=0.1, summary=failures[0])
    success = attempt(crowded, clock, said, 1.0, steps).episode
    assert crowded.tasks.uplift_of([gotcha])[gotcha].value < 0
    for question in questions:
        recall = crowded.search(question)
        first, *rest = ids(recall)
        assert first == success, question
        assert gotcha in rest[:2], question
        parts = {result.memory.id: result.parts for result in recall.results}
        assert parts[success]["success"] > 0
        assert parts[gotcha]["uplift"] > 0  # it is needed, and not to blame
        assert all(ids(recall).index(success) < ids(recall).index(id) for id in failed if id in parts)
        replayed = recall.ledger.replay()
        assert [replayed.ids[at].decode() for at in replayed.ranked()] == ids(recall)


def test_a_question_about_what_went_wrong_is_answered_by_what_did(crowded: Engine, clock: FixedClock) -> None:
    said, failures, warning, steps, _ = STORIES["English"]
    for failure in failures:
        attempt(crowded, clock, said, 0.0, failure)
    gotcha = crowded.remember(warning, kind="gotcha").id
    attempt(crowded, clock, said, 1.0, steps)
    recall = crowded.search("known issues when deploying billing to staging", intent="known_issues")
    assert gotcha in ids(recall)[:3]
    assert not {"success", "outcome"} & {name for result in recall.results for name in result.parts}


def test_a_recap_stands_below_what_it_sums_up(crowded: Engine, clock: FixedClock) -> None:
    facts = [
        crowded.remember(text, session="s-9").id
        for text in ("Parcels over 30 kg go by freight", "Freight parcels need a phone number of the receiver")
    ]
    crowded.sessions.end("s-9", summary="Freight: parcels over 30 kg go by freight and need a phone number.")
    for question in ("which parcels go by freight", "freight parcels phone number"):
        recall = crowded.search(question)
        (recap,) = [result for result in recall.results if result.memory.kind is Kind.SUMMARY]
        assert all(ids(recall).index(fact) < recap.rank - 1 for fact in facts if fact in ids(recall))


# ── promotion ──


def promoted(engine: Engine, clock: FixedClock, *attempts: tuple[str, str | None] | str) -> list[Memory]:
    outcomes = [
        attempt(engine, clock, *((each, 1.0) if isinstance(each, str) else (each[0], 1.0, each[1])))
        for each in attempts
    ]
    return [engine.get(one.id) for outcome in outcomes for one in outcome.promoted]


@pytest.mark.parametrize(
    "attempts",
    [
        (
            ("Fix failing tests", "Regenerated the snapshots of the invoice page"),
            ("Fix failing tests", "Mocked the clock in the scheduler tests"),
            ("Fix failing tests", "Raised the timeout of the courier contract test"),
        ),
        ("Fix failing tests", "Fix failing tests", "Fix failing tests"),
        (
            ("Add an index", "Added an index on orders.created_at"),
            ("Drop an index", "Dropped the unused index of users.email"),
            ("Add an index", "Added an index for parcels.tracking_id"),
        ),
        ("Add an index to the orders table", "Drop the index of the orders table", "Add an index to the users table"),
        (
            ("버그 수정", "로그인 화면의 버튼이 눌리지 않던 문제"),
            ("버그 수정", "정산 배치의 반올림 오류"),
            ("버그 수정", "쿠폰이 두 번 적용되던 문제"),
        ),
        (
            ("Speed up the orders page", "Added an index on created_at"),
            ("Speed up the orders page", "Cached the template fragments in Redis"),
            ("Speed up the orders page", "Moved images to the content network"),
        ),
    ],
)
def test_different_work_promotes_nothing(
    engine: Engine, clock: FixedClock, attempts: tuple[tuple[str, str | None] | str, ...]
) -> None:
    assert promoted(engine, clock, *attempts) == []


@pytest.mark.parametrize(
    "attempts",
    [
        ("결제 서버 인증서 갱신", "결제 서버의 인증서를 갱신하기", "결제서버 인증서 갱신 작업"),
        ("스테이징에 주문 API 배포하기", "주문 API를 스테이징 환경에 배포했다", "스테이징 주문 API 배포"),
        ("Rotate the API signing keys", "Rotating signing keys of the API", "API signing key rotation"),
        (
            ("Renew the TLS certificate of the mail gateway", "Ran certbot and reloaded postfix"),
            ("TLS cert renewal for the mail gateway", "certbot renew, then reload postfix"),
            ("Renewing the mail gateway's TLS certificate", "Renewed with certbot; postfix reloaded"),
        ),
        (
            ("Fix failing tests", "Regenerated the invoice page snapshots after the locale change"),
            ("Fix CI", "Invoice page snapshots regenerated after the locale changed"),
            ("Repair the build", "After a locale change the snapshots of the invoice page were regenerated"),
        ),
    ],
)
def test_one_piece_of_work_in_other_words_promotes_one_pattern(
    engine: Engine, clock: FixedClock, attempts: tuple[tuple[str, str | None] | str, ...]
) -> None:
    (pattern,) = promoted(engine, clock, *attempts)
    assert pattern.kind is Kind.PATTERN
    assert pattern.attributes["success_count"] == 3
    assert "Fix failing tests" not in (pattern.title or "")


# ── corrections ──

CORRECTIONS = [
    ("We deploy with Jenkins", "We now deploy with Argo CD instead of Jenkins", "how do we deploy"),
    ("Our design files are in Sketch", "We switched to Figma for design files", "where are our design files"),
    ("The team standup is at 9:30 every morning", "The standup has moved to 10:00", "when is the standup"),
    ("Invoices are sent as PDF by mail", "Invoices no longer go by mail but by the portal", "how are invoices sent"),
    ("배포는 젠킨스로 한다", "이제 배포는 Argo CD로 한다", "배포는 무엇으로 하나요"),
    ("주간 회의는 월요일 오전에 한다", "주간 회의를 월요일 대신 수요일에 하기로 했다", "주간 회의는 언제 하나요"),
    ("문서는 컨플루언스에 작성한다", "더 이상 컨플루언스에 문서를 쓰지 않고 노션을 쓴다", "문서는 어디에 작성하나요"),
]  # fmt: skip


def test_a_correction_is_proposed_and_stands_above_what_it_corrects(crowded: Engine, clock: FixedClock) -> None:
    old = [crowded.remember(text, kind="fact").id for text, _, _ in CORRECTIONS]
    clock.advance(days=30)
    for (text, correction, question), older in zip(CORRECTIONS, old, strict=True):
        newer = crowded.remember(correction).id
        assert proposed(crowded, newer) == [text]
        assert crowded.get(older).status is Status.ACTIVE
        recall = crowded.search(question)
        assert ids(recall).index(newer) < ids(recall).index(older), question
        states = {result.memory.id: result.state for result in recall.results}
        assert states[older].maybe_replaced_by == (crowded.get(newer).handle,)
        assert states[newer].may_replace == (crowded.get(older).handle,)
        past = crowded.recall(crowded.recalls.query(question, as_of=clock.now - 86_400_000))
        assert older in ids(past)
        assert "correction" not in {name for result in past.results for name in result.parts}
    for text in (
        "We no longer support Internet Explorer",
        "Use pnpm instead of npm in the mobile app",
        "이제 회식은 없다",
    ):
        assert proposed(crowded, crowded.remember(text).id) == []


def test_a_proposal_is_told_on_every_layer_and_accepted_or_rejected(engine: Engine, clock: FixedClock) -> None:
    old, other = engine.remember("We deploy with Jenkins"), engine.remember("Our design files are in Sketch")
    clock.advance(days=1)
    new = engine.remember("We now deploy with Argo CD instead of Jenkins")
    another = engine.remember("We switched to Figma for design files")
    names = {each.id: engine.get(each.id).handle for each in (old, new)}
    told = f"maybe replaced by {names[new.id]}"
    assert told in engine.layers.search("how do we deploy").to_text()
    assert told in engine.layers.around(new.id).to_text()
    assert told in engine.layers.details(old.id).to_text()
    assert list(engine.layers.timeline(old.id).states[old.id].doubts()) == [told]
    snapshot = engine.xray("how do we deploy")
    conflicts = {result.memoryId: result.conflicts for result in snapshot.results}
    assert "a newer memory may replace it" in conflicts[old.id].reasons
    assert [memory.id for memory in engine.memories.awaiting_review()] == [new.id, another.id]
    engine.memories.review(new.id, approve=True)
    engine.memories.review(another.id, approve=False)
    assert engine.get(old.id).status is Status.SUPERSEDED
    assert engine.get(other.id).status is engine.get(another.id).status is Status.ACTIVE
    assert engine.memories.awaiting_review() == []
    assert proposed(engine, new.id) == proposed(engine, another.id) == []
    assert told not in engine.layers.details(old.id).to_text()


def test_what_is_less_trusted_proposes_but_does_not_stand_above(engine: Engine, clock: FixedClock) -> None:
    old = engine.remember("We deploy with Jenkins").id
    clock.advance(days=1)
    quarantined = engine.remember("We now deploy with Spinnaker instead of Jenkins", zone="quarantine").id
    assert proposed(engine, quarantined) == []
    new = engine.remember("We now deploy with Argo CD instead of Jenkins", zone="working").id
    assert engine.get(new).zone is Zone.WORKING
    assert proposed(engine, new) == ["We deploy with Jenkins"]
    recall = engine.search("how do we deploy")
    assert "correction" not in {name for result in recall.results for name in result.parts}
    assert {result.memory.id: result.state for result in recall.results}[old].maybe_replaced_by


# ── disputes ──


def test_a_dispute_is_told_and_costs_the_uncited_claim_its_place(crowded: Engine, clock: FixedClock) -> None:
    claim = crowded.remember("Uploads through the gateway have no size limit at all").id
    clock.advance(days=1)
    fact = crowded.remember("The gateway cuts big uploads at 25 MB", citations=[FileCitation("conf/gateway.yml")]).id
    question = "is there a size limit for uploads through the gateway"
    assert ids(crowded.search(question)).index(claim) < ids(crowded.search(question)).index(fact)
    crowded.relate(claim, fact, "CONTRADICTS")
    recall = crowded.search(question)
    assert ids(recall).index(fact) < ids(recall).index(claim)
    lost = next(result for result in recall.results if result.memory.id == claim)
    assert lost.parts["dispute"] < 0
    told = f"disputed by {crowded.get(fact).handle}"
    assert told in crowded.layers.search(question).to_text()
    assert told in crowded.layers.around(claim, window=2).to_text()
    assert told in crowded.layers.details(claim).to_text()
    assert list(lost.state.doubts()) == [told]
