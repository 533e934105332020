"""Whether the answer is enough, said in the facets of the question, with real memories and the real encoder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from recallens import Draft, Engine
from recallens.model.query import WIDE_LIMIT
from recallens.model.recall import Recall, verified
from recallens.model.verdict import Judgement, Round
from recallens.recall.certificate import LIKELY, WIDEN_BELOW, likelihood
from recallens.render import render
from recallens.render.brief import lacks
from recallens.render.verdict import verdict_of
from recallens.xray.replay import replay

TEXTS = (
    "The billing service uses PostgreSQL 15 as its database.",
    "Deploys go out on Tuesdays from the release branch.",
    "The cache keeps lookups for five minutes.",
    "인증은 JWT 토큰 방식으로 처리한다.",
    "배포 절차는 화요일에 릴리스 브랜치에서 시작한다.",
)


@pytest.fixture
def filled(real: Engine) -> Engine:
    for text in TEXTS:
        real.remember(text)
    return real


def certificate(recall: Recall) -> Mapping[str, Any]:
    return recall.ledger.notes("certificate")[-1]


def covered(recall: Recall) -> dict[str, bool]:
    return {one["text"]: bool(one["coveredBy"]) for one in certificate(recall)["requirements"]}


def test_it_names_the_missing_half_of_a_two_part_question(filled: Engine) -> None:
    recall = filled.search(
        "Which database does the billing service use and who approves production hotfixes?", certify=True
    )
    said = certificate(recall)
    assert said["missing"] == ["who approves production hotfixes"]
    assert covered(recall)["Which database does the billing service use"]
    best = recall.results[0]
    assert best.memory.content == TEXTS[0]
    assert best.memory.id in said["minimalSet"]


def test_it_names_the_missing_half_in_korean(filled: Engine) -> None:
    recall = filled.search("인증 방식과 장애 담당자를 알려줘", certify=True, cut=False)
    assert certificate(recall)["missing"] == ["장애 담당자를 알려줘"]
    assert covered(recall)["인증 방식과"]
    assert {one["text"] for one in certificate(recall)["requirements"] if one["kind"] == "term"} == {
        "인증", "방식", "장애", "담당자",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answered"),
    [("배포절차", True), ("배포 절차", True), ("배포절차릴리스", True), ("배포일정", False), ("배포절", False)],
)
def test_a_korean_compound_is_covered_with_and_without_its_spaces(
    filled: Engine, question: str, answered: bool
) -> None:
    told = certificate(filled.search(question, certify=True))
    assert (told["completenessScore"] == 1.0) is answered
    assert bool(told["missing"]) is not answered


def test_a_question_that_is_answered_misses_nothing(filled: Engine) -> None:
    said = certificate(filled.search("which database does the billing service use", certify=True))
    assert said["completenessScore"] == 1.0
    assert said["missing"] == []
    assert "suggestion" not in said


def test_completeness_is_the_covered_share_by_weight(filled: Engine) -> None:
    said = certificate(filled.search("billing service and zebra", certify=True))
    weights = [(one["weight"], bool(one["coveredBy"])) for one in said["requirements"]]
    expected = sum(weight for weight, by in weights if by) / sum(weight for weight, _ in weights)
    assert said["completenessScore"] == pytest.approx(expected)
    assert said["missing"] == ["zebra"]


def test_where_nothing_can_be_required_it_is_unknown(filled: Engine) -> None:
    said = certificate(filled.search("what is it?", certify=True))
    assert said["requirements"] == []
    assert "completenessScore" not in said


def test_a_time_is_a_facet_that_the_date_of_a_memory_covers(real: Engine) -> None:
    day = 86_400_000
    real.remember(Draft("We moved the queue to Redis in a hurry.", created=real.core.clock() - 40 * day))
    assert covered(real.search("what moved to Redis in the last two months", certify=True))["in the last two months"]
    assert not covered(real.search("what moved to Redis yesterday", certify=True))["yesterday"]


def test_the_minimal_set_covers_all_that_is_covered(filled: Engine) -> None:
    recall = filled.search("billing database and release branch deploys", certify=True)
    said = certificate(recall)
    inside = set(said["minimalSet"])
    assert all(not one["coveredBy"] or inside & set(one["coveredBy"]) for one in said["requirements"])
    assert 0 <= said["redundancyRatio"] < 1


# ── widening ──


def test_an_incomplete_answer_widens_once_and_says_so(filled: Engine) -> None:
    question = "who approves production hotfixes after the security audit of the billing database?"
    narrow = filled.search(question, certify=True, record=False, cut=False)
    wide = filled.search(question, widen=True, record=False, cut=False)
    assert [note["limit"] for note in wide.ledger.notes("plan")] == [narrow.query.limit, WIDE_LIMIT]
    assert len(wide.ledger.replay()) >= len(narrow.ledger.replay())
    rounds = [entry.verdict for entry in wide.ledger.entries if isinstance(entry.verdict, Round)]
    assert [one.number for one in rounds] == [2]
    assert "below 0.6" in rounds[0].reason
    assert [note["round"] for note in wide.ledger.notes("certificate")] == [1, 2]
    assert [note["alpha"] for note in wide.ledger.notes("plan")] == [0.7, 0.5]
    assert [note["beta"] for note in wide.ledger.notes("plan")] == [0.2, 0.5]
    assert certificate(wide)["suggestion"] == "Check timeline context or request human input"
    assert filled.recalls.snapshot_of(wide).widening == rounds[0].reason


def test_only_the_last_rounds_terms_count(filled: Engine) -> None:
    wide = filled.search("who approves production hotfixes of the billing database?", widen=True, record=False)
    assert len(wide.ledger.notes("certificate")) == 2
    for result in wide.results:
        assert sum(result.parts.values()) == pytest.approx(result.score, abs=1e-9)
    assert replay(wide.ledger).ids == tuple(result.memory.id for result in wide.results)


def test_a_complete_answer_does_not_widen(filled: Engine) -> None:
    recall = filled.search("which database does the billing service use", widen=True, record=False)
    assert len(recall.ledger.notes("certificate")) == 1


def test_it_does_not_look_again_for_what_no_row_holds(filled: Engine) -> None:
    """Widening finds rows that hold a missing word; where none does there is nothing to find."""
    held = filled.search("the billing database, the release branch and zebras", limit=1, widen=True, record=False)
    assert certificate(held)["round"] == 2
    nowhere = filled.search("zebras grazing in the savanna", widen=True, record=False, cut=False)
    assert nowhere.results
    assert certificate(nowhere)["completenessScore"] < WIDEN_BELOW
    assert certificate(nowhere)["round"] == 1
    assert "suggestion" in certificate(nowhere)


@pytest.mark.parametrize("most", ["max_results", "limit"])
@pytest.mark.parametrize("cut", [True, False])
def test_a_callers_limit_holds_in_both_rounds(filled: Engine, most: str, cut: bool) -> None:
    question = "who approves production deploys of the billing database on the release branch, and in which cache?"
    for count in (1, 2):
        recall = filled.search(question, widen=True, record=False, cut=cut, **{most: count})
        assert certificate(recall)["round"] == 2
        assert len(recall.results) == count


# ── verifying ──


def test_a_certificate_goes_stale_when_a_memory_is_edited(filled: Engine) -> None:
    said = certificate(filled.search("which database does the billing service use", certify=True))
    assert filled.recalls.verify_certificate(said).valid
    first = said["evidence"][0]["id"]
    filled.edit(first, "The billing service uses PostgreSQL 16 as its database.")
    found = filled.recalls.verify_certificate(said)
    assert not found.valid
    assert found.stale == {first: "now superseded"}


def test_an_altered_certificate_shows(filled: Engine) -> None:
    said = dict(certificate(filled.search("which database does the billing service use", certify=True)))
    found = verified({**said, "query": "something else"}, {})
    assert found.altered


# ── it agrees with what was delivered ──

NOTES = (
    "The billing service was slow on 14 July because an index was missing.",
    "Restoring the ledger from the Lyon bucket takes 55 minutes.",
    "The load test reached 3,400 bids per second before latency went over 80 ms.",
    "Lena asks that no deploys happen on Friday after noon.",
    "The hall has 38 seats with bid buttons and 6 without.",
    "A gate camera costs 240 euros.",
    "At the depot the queue of vans at the gate is longest between 06:30 and 07:15.",
    "8월 13일에 검색이 느렸던 것은 색인이 잠겨 있었기 때문이다.",
    "예약 알림이 두 번 간 것은 재시도할 때 발송 번호를 보내지 않았기 때문이다.",
    "대출 기간은 기본 14일이다.",
    "오류 코드 DRM-31은 게이트가 응답하지 않는다는 뜻이다.",
    "연체료는 하루에 100원이다.",
)


@pytest.fixture
def noted(real: Engine) -> Engine:
    for text in NOTES:
        real.remember(text)
    return real


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("why was the billing service slow on 14 July", 0),
        ("can I deploy on friday afternoon?", 3),
        ("8월 13일 검색이 느렸던 원인", 7),
        ("예약 알림이 왜 두번 와요", 8),
        ("대출 기간이 며칠이야?", 9),
        ("DRM-31 오류가 뭐야", 10),
        ("연체료는 얼마야", 11),
    ],
)
def test_an_answer_that_is_delivered_is_not_denied(noted: Engine, question: str, answer: int) -> None:
    recall = noted.search(question, certify=True)
    assert recall.results[0].memory.content == NOTES[answer]
    told = certificate(recall)
    assert (told["missing"], told["verdict"]) in (([], "answered"), ([], "doubtful"))
    assert "suggestion" not in told


def test_both_answers_of_a_korean_question_of_two_parts_are_seen(noted: Engine) -> None:
    recall = noted.search("예약 알림은 왜 두 번 가고 연체료는 얼마야?", certify=True, cut=False)
    assert certificate(recall)["missing"] == []


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("how long does restoring from the Madrid bucket take", "Madrid"),
        ("DRM-99 오류가 뭐야", "DRM-99"),
        ("how much does a seat with a bid button cost", "cost"),
    ],
)
def test_what_only_looks_alike_is_not_the_answer(noted: Engine, question: str, lacking: str) -> None:
    recall = noted.search(question, certify=True, cut=False)
    told, verdict = certificate(recall), verdict_of(recall)
    assert told["verdict"] == ("partly" if not told["abstention"]["abstain"] else "nothing")
    assert lacking in told["missing"] or "a price" in told["missing"]
    assert not verdict.answered
    assert told["missing"][0] in (verdict.headline + verdict.lacking)


def test_a_type_of_answer_is_named_in_the_language_of_the_question(noted: Engine) -> None:
    def types(question: str) -> list[str]:
        return [one["text"] for one in certificate(noted.search(question, certify=True))["requirements"][-1:]]

    assert types("where is the Lyon bucket") == ["a place"]
    assert types("대출 기간이 며칠이야?") == ["언제인지"]
    assert types("how much does a gate camera cost") == ["a price"]


def test_what_another_memory_speaks_of_is_only_not_among_the_results(noted: Engine) -> None:
    recall = noted.search(
        "why was the billing service slow and how long does restoring the ledger take and who feeds the zebra herd?",
        certify=True, limit=1,
    )  # fmt: skip
    told = certificate(recall)
    assert told["missing"] == ["how long does restoring the ledger take", "who feeds the zebra herd"]
    assert told["elsewhere"] == ["how long does restoring the ledger take"]
    assert lacks(told) == (
        "nothing here speaks of “who feeds the zebra herd”;"
        " not among these results: “how long does restoring the ledger take”"
    )


@pytest.mark.parametrize("cut", [True, False])
def test_no_recall_is_answered_and_sent_to_a_human(noted: Engine, cut: bool) -> None:
    questions = ["when do trucks wait longest to enter the warehouse", "게이트 인증서", "who feeds the zebras", *NOTES]
    for question in questions:
        recall = noted.search(question, certify=True, cut=cut, record=False)
        told, snapshot = certificate(recall), noted.recalls.snapshot_of(recall)
        answered = told["verdict"] in ("answered", "doubtful")
        assert answered is verdict_of(recall).answered is ("suggestion" not in told)
        assert re.search("\n(Answered|Perhaps answered) by", render(snapshot, "brief")) or "suggestion" in told


def test_an_answer_that_is_not_likely_is_doubtful_and_says_which_words_nobody_says(noted: Engine) -> None:
    """The seats of the hall are a number of something else."""
    told = noted.layers.search("how many people work in the hall", record=False)
    certified = told.certificate or {}
    assert (certified["verdict"], certified["reworded"]) == ("doubtful", ["people", "work"])
    assert certified["likelihood"] < LIKELY
    assert "Doubtful: " in told.to_text()
    assert "no result says: people, work" in told.to_text()
    assert "Covers" not in told.to_text()
    sure = noted.layers.search("연체료는 얼마야", record=False).certificate or {}
    assert (sure["verdict"], sure["likelihood"] >= LIKELY) == ("answered", True)


# ── what is asked for, and what only looks like it ──

STATEMENTS = (
    "We deploy on Tuesdays only.",
    "The emergency generator is tested on the first Monday of each month.",
    "The label printer contract with Zebra lies in the safe; the vendor was slow to answer in 2023.",
    "The crash cart checklist hangs on its handle.",
    "Sharps that touched blood go into the yellow bins.",
    "추적 조회는 60초 동안 캐시한다.",
    "휴가는 최소 2주 전에 올려야 한다.",
    "비밀번호는 다섯 번 틀리면 계정이 잠긴다.",
    "막차를 놓친 승객에게는 심야 택시 쿠폰을 준다.",
    "경비실 아저씨는 고양이 두 마리를 돌본다.",
)


@pytest.fixture
def stated(real: Engine) -> Engine:
    for text in STATEMENTS:
        real.remember(text)
    return real


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("when do we deploy", 0),
        ("how often is the emergency generator tested", 1),
        ("where should contaminated sharps go", 4),
        ("추적 조회 캐시는 얼마나 유지하나요?", 5),
        ("휴가는 얼마나 미리 신청해야 하나", 6),
        ("비밀번호를 몇 번 틀리면 잠겨?", 7),
    ],
)
def test_an_answer_in_its_own_words_lacks_nothing(stated: Engine, question: str, answer: int) -> None:
    recall = stated.search(question, certify=True)
    assert recall.results[0].memory.content == STATEMENTS[answer]
    assert certificate(recall)["missing"] == []
    assert certificate(recall)["verdict"] in ("answered", "doubtful")


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("when was the emergency generator bought", "a time"),
        ("when does the label printer contract end", "a time"),
        ("who restocks the crash cart", "a person"),
        ("심야 택시 쿠폰은 얼마짜리야", "금액"),
        ("경비실 고양이 이름이 뭐야", "이름"),
    ],
)
def test_a_look_alike_lacks_what_is_asked_for(stated: Engine, question: str, missing: str) -> None:
    assert missing in certificate(stated.search(question, certify=True))["missing"]


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [("anything to watch out for with the crash cart", "watch"), ("known problems with the label printer", "problems")],
)
def test_the_words_that_ask_for_a_kind_of_answer_are_required_of_nobody(
    stated: Engine, question: str, unsaid: str
) -> None:
    recall = stated.search(question, certify=True, cut=False)
    assert unsaid not in covered(recall)


def test_an_answer_that_nobody_has_reviewed_says_so(real: Engine) -> None:
    real.remember("The heron backup key is stored in drawer seven", zone="working")
    verdict = verdict_of(real.search("where is the heron backup key stored", record=False))
    assert verdict.answered
    assert "working zone, not reviewed" in verdict.warnings


BOOKINGS = (
    "예약 취소 마감을 진료 하루 전 오후 6시로 바꿨다.",
    "보험 접수 번호는 2025-31877이다.",
    "용인창고 출고마감은 오후 4시 반이다.",
    "키오스크는 로비에 세 대, 응급실에 한 대가 있다.",
    "The Klarna redirect opens in another tab on iOS, which drops the session cookie, so the customer is signed out.",
    "One call with the courier costs us 12 cents.",
    "전세 보증금은 3만 원이 모자랐다.",
)


@pytest.fixture
def bookings(real: Engine) -> Engine:
    for text in BOOKINGS:
        real.remember(text, kind="fact")
    return real


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("예약취소언제까지", 0),
        ("보험 접수번호", 1),
        ("보험접수번호", 1),
        ("용인 창고 출고 마감", 2),
        ("키오스크몇대야", 3),
    ],
)
def test_an_answer_is_one_however_its_words_are_spaced(bookings: Engine, question: str, answer: int) -> None:
    recall = bookings.search(question, certify=True)
    assert recall.results[0].memory.content == BOOKINGS[answer]
    assert certificate(recall)["verdict"] == "answered"


def test_a_likely_answer_in_other_words_is_one_and_what_it_does_not_say_is_told(bookings: Engine) -> None:
    said = certificate(bookings.search("klarna redirect logs people out on iphone", certify=True))
    assert said["verdict"] == "answered"
    assert {"logs", "people"} <= set(said["reworded"])


def test_a_syllable_is_no_word_that_sounds_like_it(bookings: Engine) -> None:
    assert not bookings.search("how far is the moon").results


def test_what_is_told_as_the_answer_is_likely_itself() -> None:
    assert likelihood(np.array([0.02, 0.71])) == pytest.approx(0.02)
    assert likelihood(np.array([0.4, 0.91])) == pytest.approx(0.91)
    assert likelihood(np.zeros(0)) == 0.0


def test_what_a_store_says_in_the_other_language_is_heard_of(bookings: Engine) -> None:
    bookings.encoder.begin("default")
    bookings.encoder.drain()

    def unheard(question: str) -> float:
        recall = bookings.search(question, cut=False)
        judged = [entry.verdict for entry in recall.ledger.entries if isinstance(entry.verdict, Judgement)]
        return float(judged[-1].signals["unknown"][0])

    assert unheard("courier reservation insurance") == 0.0
    assert unheard("courier saxophone glacier") > 0.6
