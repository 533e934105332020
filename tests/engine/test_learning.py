"""What was learned from outcomes, and what corrects or disputes what: scenes in a store of 220 other memories."""

from __future__ import annotations

import pytest

from crowd import fill
from recallens.engine import Engine
from recallens.model.citation import FileCitation
from recallens.model.memory import Kind, Memory, RelationType, Status, Zone
from recallens.model.recall import Recall
from recallens.model.task import TaskOutcome
from recallens.render import render
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
    waiting = [each.memory for each in engine.memories.proposals() if each.other == id]
    return [engine.get(end).content for end in (*(tie.target for tie in ties if tie.valid_until is None), *waiting)]


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


def test_attempts_and_what_a_rule_makes_of_them_dispute_nothing_and_the_cure_is_told(
    engine: Engine, clock: FixedClock
) -> None:
    said = "unjam the crate washer"
    for failure in (
        "Ran the crate washer empty with hot water; it jammed at the second crate.",
        "Oiled the chain of the crate washer, it jammed again within ten minutes.",
        "Took out the left brush of the crate washer; crates came out dirty and it jammed.",
    ):
        attempt(engine, clock, said, 0.0, failure)
    steps = (
        "1. Lock the main switch.\n2. Slacken the chain by two links.\n3. Turn the guide rail's plastic strip around."
    )
    cure = attempt(engine, clock, said, 1.0, f"The crate washer runs.\n{steps}\n4. Run ten crates.").episode
    told = engine.layers.search("how do we unjam the crate washer", record=False)
    assert told.recall.results[0].memory.id == cure
    assert "3. Turn the guide rail's plastic strip around." in told.entries[0].summary
    assert not any(result.state.stated_otherwise_by for result in told.recall.results)
    assert all(len(entry.summary) > len(said) + 5 for entry in told.entries)  # more than its title


def test_a_question_about_what_went_wrong_is_answered_by_what_did(crowded: Engine, clock: FixedClock) -> None:
    said, failures, warning, steps, _ = STORIES["English"]
    for failure in failures:
        attempt(crowded, clock, said, 0.0, failure)
    gotcha = crowded.remember(warning, kind="gotcha").id
    attempt(crowded, clock, said, 1.0, steps)
    recall = crowded.search("known issues when deploying billing to staging", intent="known_issues")
    assert gotcha in ids(recall)[:3]
    assert not {"success", "outcome"} & {name for result in recall.results for name in result.parts}


@pytest.mark.parametrize(
    ("failure", "success", "question"),
    [
        (
            "Tried to import the old practice's patients with the CSV tool; it failed because of two-digit years.",
            "Imported the old practice's patients: turned dates to ISO first, then ran the CSV tool. It worked.",
            "how should I import a practice's patients",
        ),
        (
            "도록을 PDF로 인쇄소에 보냈는데 글꼴이 빠져서 실패했다.",
            "글꼴을 넣은 도록 PDF를 인쇄소에 보냈다. 이번에는 잘 됐다.",
            "도록을 인쇄소에 어떻게 보내나요?",
        ),
    ],
)
def test_what_is_told_to_have_worked_stands_above_what_is_told_to_have_failed(
    crowded: Engine, clock: FixedClock, failure: str, success: str, question: str
) -> None:
    failed = crowded.remember(failure, kind="episode").id
    clock.advance(days=1)
    worked = crowded.remember(success, kind="episode").id
    found = ids(crowded.search(question))
    assert found.index(worked) < found.index(failed)


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
            ("화면 수정", "프로필 화면의 여백을 줄이고 시험을 돌렸다."),
            ("화면 수정", "결제 화면의 글꼴을 바꾸고 시험을 돌렸다."),
            ("화면 수정", "검색 화면의 색을 고치고 시험을 돌렸다."),
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
        (
            ("캐시 비우기", "CDN 캐시를 purge로 비우고 새 가사가 보이는지 확인했다."),
            ("CDN 캐시를 비웠다", "purge를 호출해 CDN 캐시를 비운 다음 새 가사를 확인함."),
            ("가사 캐시 정리", "새 가사가 보이도록 CDN 캐시를 purge로 비웠습니다."),
        ),
        (
            ("하우스 측창 모터 교체", "측창 모터를 24볼트로 갈고 리밋 스위치를 다시 맞췄다."),
            ("측창 개폐 모터 갈기", "하우스 측창 모터를 24볼트짜리로 바꾼 뒤 리밋 스위치를 조정했다."),
            ("측창이 안 열려서 모터 바꿈", "리밋 스위치를 맞추고 측창 모터를 24볼트로 교체함."),
        ),
        (
            (
                "독감 백신 재고 맞추기",
                "독감 백신 재고를 장부와 냉장고에서 따로 세고 차이 두 개를 적었다. 로트 번호별로 나눠 셌다.",
            ),
            ("독감 주사 재고 확인", "냉장고에서 독감 백신을 로트 번호별로 세어 장부와 맞췄다. 차이는 없었다."),
            ("독감백신 수량 점검", "독감 백신 수량을 로트 번호별로 세고 장부와 비교했다. 한 개 차이를 찾아 적었다."),
        ),
        (
            ("작품 사진 정리", "작품 사진을 scripts/resize.py로 줄여 웹에 올렸다."),
            ("웹 사진 올리기", "scripts/resize.py를 돌려 작품 사진을 줄이고 웹에 올림."),
            ("사진 크기 줄임", "웹에 올릴 작품 사진을 scripts/resize.py로 줄였다."),
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


def test_one_failure_in_other_words_makes_one_gotcha(engine: Engine, clock: FixedClock) -> None:
    told = (
        ("푸시 발송", "푸시를 한꺼번에 보내다가 FCM 한도에 걸려 실패했다."),
        ("푸시 알림을 보냄", "FCM 한도에 걸려서 푸시를 한꺼번에 보내지 못했다."),
        ("전체 푸시", "푸시를 전체에 한꺼번에 보냈더니 FCM 한도에 걸림."),
    )
    made = [one for text, summary in told for one in attempt(engine, clock, text, 0.1, summary).promoted]
    assert [engine.get(one.id).kind for one in made] == [Kind.GOTCHA]


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        ("tag the commit; run make ship; watch the canary for ten minutes; run make promote", True),
        ("$ make ship\nshipped\n$ make promote\npromoted", True),
        ("$ make test\n$ make lint\nthe canary was quiet", False),
    ],
)
def test_the_steps_of_a_skill_in_the_log_show_that_it_was_used(engine: Engine, log: str, shown: bool) -> None:
    way = "1. tag the commit, 2. run make ship, 3. watch the canary for ten minutes, 4. run make promote."
    skill = engine.remember(f"How to deploy Orchard: {way}", kind="skill").id
    task = engine.tasks.start("Bring the new booking page to the clinics")
    engine.search("how do I deploy Orchard", task=task.id)
    engine.tasks.log(task.id, log)
    engine.tasks.end(task.id, reward=1.0, summary="The booking page is out.")
    assert (skill in engine.tasks.uplift_of([skill])) is shown


# ── corrections ──

CORRECTIONS = [
    ("We deploy with Jenkins", "We now deploy with Argo CD instead of Jenkins", "how do we deploy"),
    ("Our design files are in Sketch", "We switched to Figma for design files", "where are our design files"),
    ("The team standup is at 9:30 every morning", "The standup has moved to 10:00", "when is the standup"),
    ("Invoices are sent as PDF by mail", "Invoices no longer go by mail but by the portal", "how are invoices sent"),
    ("배포는 젠킨스로 한다", "이제 배포는 Argo CD로 한다", "배포는 무엇으로 하나요"),
    ("주간 회의는 월요일 오전에 한다", "주간 회의를 월요일 대신 수요일에 하기로 했다", "주간 회의는 언제 하나요"),
    ("문서는 컨플루언스에 작성한다", "더 이상 컨플루언스에 문서를 쓰지 않고 노션을 쓴다", "문서는 어디에 작성하나요"),
    ("회원은 한 달에 두 번까지 예약을 바꿀 수 있다", "예약 변경은 더 이상 한 달 두 번이 아니다. 네 번까지 된다",
     "예약 변경은 몇 번까지 되나요"),
    ("기말 시험은 6월 20일에 본다", "기말 시험이 6월 27일로 미뤄졌다", "기말 시험은 언제 보나요"),
    ("점심값은 만 원까지 지원한다", "점심값 지원이 만 이천 원으로 올랐다", "점심값은 얼마까지 지원하나요"),
    ("Doctors log in with a chip card", "As of October doctors log in with a fingerprint", "how do doctors log in"),
    ("직원은 사원증으로 출입한다", "10월부터 직원은 지문으로 출입한다", "직원은 어떻게 출입하나요"),
    ("단팥빵 소는 당도 52브릭스로 맞춘다", "단팥빵 소를 52브릭스에서 46브릭스로 낮췄다", "단팥빵 소 당도"),
    ("The round of the night watch takes forty minutes", "The night watch makes its round in 25 minutes, no longer at "
     "its former pace", "how long is the round of the night watch"),
    ("배포는 매주 화요일 오후 2시에 한다", "배포는 이제 목요일 오전 10시에 한다. 주말 전에 하루 남겨 두려고.",
     "배포는 무슨 요일에 하나요"),
    ("문화센터 화면은 90초 동안 손대지 않으면 처음으로 돌아간다",
     "이제 문화센터 안내기는 45초만 손대지 않아도 첫 화면으로 간다", "문화센터 화면은 몇 초 뒤에 처음으로 돌아가나요"),
    ("Visitors get their money back for a timed ticket up to 48 hours before the slot",
     "We now give refunds on timed tickets until 24 hours before the slot", "refunds of timed tickets, hours before"),
    ("택배는 빠른택배에 맡긴다", "택배 회사를 빠른택배에서 온누리로 바꿨다", "택배는 어디에 맡기나요"),
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
        "Deploys with Argo CD are now faster",
        "이제 주간 회의를 더 빨리 끝낼 수 있다",
        "Doctors can now also book rooms",
    ):
        assert proposed(crowded, crowded.remember(text).id) == []


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("The Bergen branch closes at 17:00.", "The Oslo branch now closes at 19:00.", "when does Bergen close"),
        ("Adult tickets are sold at the gate.", "Child tickets are no longer sold at the gate.", "adult tickets sold"),
        ("The kitchen in Ghent opens at seven.", "The kitchen in Bruges now opens at six.", "when does Ghent open"),
        ("We ship ceramic vases in straw.", "We now ship the glass vases in foam.", "how do we ship ceramic vases"),
        ("Line 3 runs to Mill Street.", "Line 5 no longer runs to Mill Street.", "where does line 3 run to"),
        ("The north ferry takes 40 minutes.", "The south ferry takes 30 minutes now, no longer the old age.",
         "how long does the north ferry take"),
        ("1공장은 두부를 만든다.", "2공장은 이제 묵을 만든다.", "1공장은 무엇을 만드나요"),
        ("본관 와이파이 이름은 달빛이다.", "별관 와이파이 이름은 이제 햇살이다.", "본관 와이파이 이름"),
        ("서울 지점은 9시에 연다.", "이제 부산 지점은 10시에 연다.", "서울 지점은 몇 시에 여나요"),
    ],
)  # fmt: skip
def test_what_has_changed_of_another_thing_replaces_nothing(
    crowded: Engine, clock: FixedClock, older: str, newer: str, question: str
) -> None:
    old = crowded.remember(older, kind="fact").id
    clock.advance(days=30)
    new = crowded.remember(newer, kind="fact").id
    assert proposed(crowded, new) == []
    first, *_ = ids(crowded.search(question))
    assert first == old


def test_a_weekday_in_common_corrects_nothing(engine: Engine, clock: FixedClock) -> None:
    engine.remember("Ian has piano on Wednesdays at 16:30 with Mrs. Kwon.")
    rye = engine.remember("Rye is baked on Wednesdays and Saturdays.").id
    clock.advance(days=1)
    newer = engine.remember("We no longer bake rye on Wednesdays, only on Saturdays.").id
    assert proposed(engine, newer) == [engine.get(rye).content]


def test_a_correction_names_what_says_so_and_not_what_it_costs(crowded: Engine, clock: FixedClock) -> None:
    through = crowded.remember("Reminder texts go out 24 hours ahead through Twirl, the SMS provider.").id
    price = crowded.remember("A reminder text costs 4 cents through Twirl.").id
    clock.advance(days=30)
    moved = crowded.remember("We moved reminder texts from Twirl to Pigeonry because Twirl dropped some numbers.").id
    assert proposed(crowded, moved) == [crowded.get(through).content]
    assert ids(crowded.search("which SMS provider do we use"))[:2] == [moved, through]
    assert ids(crowded.search("how much does a reminder text cost"))[0] == price


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
    assert not any(result.state.maybe_replaced_by or result.state.may_replace for result in recall.results)
    assert engine.memories.relations(old) == []
    engine.memories.review(new, approve=True)
    assert engine.get(old).status is Status.SUPERSEDED


# ── disputes ──


def test_a_dispute_is_told_and_costs_the_uncited_claim_its_place(crowded: Engine, clock: FixedClock) -> None:
    claim = crowded.remember("Uploads through the gateway have no size limit at all").id
    clock.advance(days=1)
    fact = crowded.remember("The gateway cuts big uploads at 25 MB", citations=[FileCitation("conf/gateway.yml")]).id
    question = "is there a size limit for uploads through the gateway"
    before = ids(crowded.search(question, cut=False))
    assert before.index(claim) < before.index(fact)
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


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("The nightly report times out after 90 seconds", "The nightly report times out after 5 minutes",
         "when does the nightly report time out"),
        ("Faxes are encrypted at rest", "Faxes are not encrypted at rest", "are faxes encrypted at rest"),
        ("The kiosk server stands in Braga", "The kiosk server stands in Faro", "where does the kiosk server stand"),
        ("면회 예약은 세 명까지 된다", "면회 예약은 5명까지 된다", "면회 예약은 몇 명까지 되나요"),
        ("회원 정보는 암호화해서 둔다", "회원 정보는 암호화해서 두지 않는다", "회원 정보를 암호화해서 두나요"),
    ],
)  # fmt: skip
def test_two_that_cannot_both_hold_are_told_on_every_layer_and_the_newer_comes_first(
    crowded: Engine, clock: FixedClock, older: str, newer: str, question: str
) -> None:
    old = crowded.remember(older, kind="fact").id
    clock.advance(days=30)
    new = crowded.remember(newer, kind="fact").id
    recall = crowded.search(question)
    assert ids(recall).index(new) < ids(recall).index(old)
    told = f"stated otherwise by {crowded.get(new).handle}"
    states = {result.memory.id: result.state for result in recall.results}
    assert list(states[old].doubts()) == [told]
    assert list(states[new].doubts()) == []
    assert told in crowded.layers.search(question).to_text()
    assert told in render(crowded.xray(question), "text")
    assert told in str(crowded.context(question))
    assert told in crowded.layers.details(old).to_text()
    assert told not in crowded.layers.details(new).to_text()
    assert told in crowded.layers.around(old).to_text()
    assert list(crowded.layers.timeline(old).states[old].doubts()) == [told]
    (chunk,) = [each for each in crowded.retrieve(question).selectedChunks if each.id == old]
    assert told in chunk.block.splitlines()[0]
    assert chunk.metadata["remarks"] == [told]
    replayed = recall.ledger.replay()
    assert [replayed.ids[at].decode() for at in replayed.ranked()] == ids(recall)


def test_what_is_less_trusted_puts_nothing_in_doubt(engine: Engine, clock: FixedClock) -> None:
    old = engine.remember("The refund limit of the shop is 300 euros").id
    clock.advance(days=1)
    new = engine.remember("The refund limit of the shop is 900 euros", zone="working").id
    recall = engine.search("what is the refund limit of the shop")
    states = {result.memory.id: result.state for result in recall.results}
    assert ids(recall) == [old, new]
    assert list(states[old].doubts()) == []
    assert list(states[new].doubts()) == [f"stated otherwise by {engine.get(old).handle}"]
