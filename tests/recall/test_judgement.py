"""How likely each candidate is to help: the formula, the cut that reads it, and the silence where nothing is left."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from laws import taking
from recallens import Draft, Engine
from recallens.model.ledger import Ledger
from recallens.model.recall import Recall
from recallens.model.salience import DAY_MS
from recallens.model.verdict import Judgement, Pick
from recallens.recall.coverage import ANSWERS_FROM
from recallens.recall.select import DOUBTFUL_FEW
from recallens.xray.replay import replay
from standing import FixedClock, Open
from worlds import World, populated, questions, worlds

CUT = ("default", "fusion")
TEXTS = (
    "The billing service uses PostgreSQL 15 as its database.",
    "Deploys go out on Tuesdays from the release branch.",
    "The cache keeps lookups for five minutes.",
    "Passwords are hashed with argon2.",
    "인증은 JWT 토큰 방식으로 처리한다.",
    "배포 절차는 화요일에 릴리스 브랜치에서 시작한다.",
)
OFF_TOPIC = ("which airline do we fly to the conference in Lisbon", "회의실 예약은 누가 하나")


@pytest.fixture
def filled(real: Engine) -> Engine:
    for text in TEXTS:
        real.remember(text)
    return real


def judgement_of(recall: Recall) -> Judgement:
    return [entry.verdict for entry in recall.ledger.entries if isinstance(entry.verdict, Judgement)][-1]


def certificate_of(recall: Recall) -> dict[str, Any]:
    return dict(recall.ledger.notes("certificate")[-1])


# ── the formula ──


@given(worlds(), questions)
@taking(40)
def test_a_probability_is_the_logistic_of_its_weighted_signals(world: World, question: dict[str, Any]) -> None:
    with populated(world) as engine:
        recall = engine.recall(engine.recalls.query(**question | {"cut": False}))
        judged = [entry.verdict for entry in recall.ledger.entries if isinstance(entry.verdict, Judgement)]
        assert bool(judged) is (question["preset"] in CUT and len(recall.ledger.replay()) > 0)
        for judgement in judged:
            for row, probability in enumerate(judgement.probability.tolist()):
                signals = {name: float(judgement.signals[name][row]) for name in judgement.weights}
                parts = {
                    name: judgement.weights[name] * value for name, value in signals.items() if not math.isnan(value)
                }
                assert judgement.parts_of(row) == pytest.approx(parts)
                odds = judgement.bias + sum(parts.values())
                assert probability == pytest.approx(1.0 / (1.0 + math.exp(-odds)), abs=1e-12)


@pytest.mark.parametrize("preset", CUT)
def test_results_and_snapshot_say_the_relevance_that_was_judged(filled: Engine, preset: str) -> None:
    recall = filled.search("which database does the billing service use", preset=preset, cut=False)
    judgement, pool = judgement_of(recall), recall.ledger.replay()
    rows = {id.decode(): at for at, id in enumerate(pool.ids.tolist())}
    snapshot = filled.recalls.snapshot_of(recall)
    assert recall.results
    for result, shown in zip(recall.results, snapshot.results, strict=True):
        row = rows[result.memory.id]
        assert result.relevance == shown.relevance == judgement.probability[row]
        assert shown.relevanceParts == pytest.approx(judgement.parts_of(row))


@pytest.mark.parametrize("preset", ["classic", "bm25", "dense", "rrf"])
def test_a_preset_that_judges_nothing_has_no_relevance_and_cuts_nothing(filled: Engine, preset: str) -> None:
    recall = filled.search(OFF_TOPIC[0], preset=preset, limit=3)
    assert {result.relevance for result in recall.results} <= {None}
    assert not any(isinstance(entry.verdict, Judgement) for entry in recall.ledger.entries)
    assert recall.silence is None


def test_an_encoder_that_was_not_fitted_is_judged_by_words_alone(engine: Engine, filled: Engine) -> None:
    for text in TEXTS:
        engine.remember(text)
    by_words, by_meaning = (judgement_of(store.search("billing database")) for store in (engine, filled))
    assert "standsOut" in by_meaning.weights
    assert "standsOut" not in by_words.weights


def test_rows_in_other_company_are_judged_by_weights_of_their_own(real: Engine) -> None:
    text = "The billing service moved to PostgreSQL in March."
    drafts = {
        "": Draft(text), "talk": Draft(f"{text} Honest.", author="Mina", session="s", position=1),
        "chat": Draft(f"{text} Really.", author="user", session="c", position=1),
    }  # fmt: skip
    ids = {company: real.remember(draft, dedupe=False).id for company, draft in drafts.items()}
    recall = real.search("when did the billing service move to PostgreSQL", cut=False)
    judgement, pool = judgement_of(recall), recall.ledger.replay()
    for company, id in ids.items():
        parts = judgement.parts_of(pool.places[id.encode()])
        prefixes = {name.partition(".")[0] if "." in name else "" for name in parts if name not in ("talk", "chat")}
        assert prefixes == {company}
        assert (company in parts) is bool(company)
    alone = judgement_of(real.search("when did the billing service move", cut=False, limit=1))
    assert alone.least > 0.0 < alone.share < 1.0


# ── the cut ──


@pytest.mark.parametrize("preset", CUT)
@pytest.mark.parametrize("question", ["which database does the billing service use", "when do deploys go out"])
def test_the_order_is_the_scores_and_the_cut_only_leaves_out(filled: Engine, preset: str, question: str) -> None:
    every = filled.search(question, preset=preset, limit=50, cut=False, record=False)
    kept = filled.search(question, preset=preset, limit=50, record=False)
    scores = [result.score for result in every.results]
    assert scores == sorted(scores, reverse=True)
    assert 0 < len(kept.results) < len(every.results)
    inside = {result.memory.id for result in kept.results}
    assert [result.memory.id for result in kept.results] == [
        result.memory.id for result in every.results if result.memory.id in inside
    ]
    least_kept = min(result.relevance or 0.0 for result in kept.results)
    left_out = [result.relevance or 0.0 for result in every.results if result.memory.id not in inside]
    assert max(left_out) < least_kept


@pytest.mark.parametrize("preset", CUT)
@pytest.mark.parametrize("limit", [1, 3, 6])
def test_without_the_cut_the_count_is_literal(filled: Engine, preset: str, limit: int) -> None:
    """For fusion as far as there is anything to a row: what scores nothing stays out, as ever."""
    recall = filled.search(OFF_TOPIC[0], preset=preset, limit=limit, cut=False)
    assert recall.silence is None
    if preset == "default":
        assert len(recall.results) == limit
    else:
        assert 1 <= len(recall.results) <= limit


# ── silence ──


@pytest.mark.parametrize("preset", CUT)
@pytest.mark.parametrize("question", OFF_TOPIC)
def test_an_off_topic_question_is_met_with_silence_that_names_what_came_nearest(
    filled: Engine, preset: str, question: str
) -> None:
    recall = filled.search(question, preset=preset, certify=True)
    assert recall.results == ()
    told = certificate_of(recall)
    assert told["abstention"]["abstain"] is True
    assert told["completenessScore"] == 0.0
    silence = recall.silence
    if silence is None:  # nothing was found at all: no row shares a word, and the encoder cannot read the question
        assert len(recall.ledger.replay()) == 0
        return
    assert silence.nearest.content in TEXTS
    judged = judgement_of(recall).probability
    assert silence.relevance == judged.max() < silence.least
    assert silence.missing
    assert all(name.casefold() not in silence.nearest.content.casefold() for name in silence.missing)


def test_silence_costs_an_agent_a_line(filled: Engine) -> None:
    filled.encoder.begin("default")  # the question is Korean: without its vectors the answer would tell of that first
    filled.encoder.drain()
    found = filled.layers.search(OFF_TOPIC[0])
    assert found.entries == ()
    assert found.recall.silence is not None
    text = found.to_text()
    assert (
        f"Nearest ({found.recall.silence.relevance:.0%} likely to help): {found.recall.silence.nearest.handle}" in text
    )
    assert "Missing: " in text
    assert found.tokens <= 60


LEARNED = {
    "reinforcement": "SELECT id, reinforcement, reinforced_at FROM memories ORDER BY id",
    "event": "SELECT * FROM events",
    "link": "SELECT * FROM session_memories",
}


def learned(engine: Engine) -> dict[str, list[Any]]:
    return {name: engine.core.store.connection.execute(rows).fetchall() for name, rows in LEARNED.items()}


def test_silence_is_recorded_as_a_ledger_and_teaches_nothing(filled: Engine, clock: FixedClock) -> None:
    task = filled.tasks.start("Book the flight", id="t-1", session="asker").id
    clock.advance(days=2)  # so that whatever is returned would be reinforced
    before = learned(filled)
    silent = filled.search(OFF_TOPIC[0], session="asker", task=task)
    assert silent.silence is not None
    assert silent.recorded
    assert silent.audit == {}
    assert learned(filled) == before
    (kept,) = filled.recalls.recent()
    assert kept.query == OFF_TOPIC[0]
    stored = filled.recalls.snapshot(kept.id)
    assert stored.results == ()
    assert stored.silence is not None
    assert stored.silence["nearest"] == silent.silence.nearest.id
    answered = filled.search("which database does the billing service use", session="asker", task=task)
    assert answered.results
    after = learned(filled)
    assert all(after[name] != before[name] for name in LEARNED)  # what an answer teaches


def test_an_empty_answer_of_an_empty_store_is_no_silence(real: Engine) -> None:
    assert real.search(OFF_TOPIC[0]).silence is None


# ── limits ──


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("options", [{}, {"cut": False}, {"preset": "fusion"}])
def test_a_callers_limit_holds_after_widening(filled: Engine, limit: int, options: dict[str, Any]) -> None:
    question = "who approves production deploys of the billing database on the release branch, and in which cache?"
    found = filled.layers.search(question, limit=limit, **options)
    assert found.metadata()["widened"]
    assert len(found.entries) == len(found.recall.results) == len(found.recall.audit) == limit


def test_of_notes_that_hardly_answer_the_likeliest_few_are_delivered(real: Engine) -> None:
    rooms = ("kitchen", "hall", "cellar", "attic", "office", "garage", "porch", "studio", "pantry", "stairs")
    for at, room in enumerate(rooms):
        real.remember(f"The lamp of the {room} takes a bulb of {at} watts.")
    question = "where do we buy a bulb for the lamp"
    assert len(real.search(question, cut=False, record=False).results) == len(rooms)
    doubtful = real.search(question, record=False)
    likeliest = max(result.relevance or 0.0 for result in doubtful.results)
    assert likeliest < ANSWERS_FROM
    assert len(doubtful.results) == DOUBTFUL_FEW


SUBJECTS = ("gateway", "cache", "billing", "router", "parcel", "pager", "queue", "login", "report", "ledger")
VERBS = ("restarts", "warms up", "is rotated", "drops idle clients", "was moved", "needs approval", "logs errors")


@pytest.mark.parametrize(("preset", "cut"), [("default", True), ("default", False), ("fusion", False)])
def test_a_memory_scores_the_same_however_many_are_asked_for(real: Engine, preset: str, cut: bool) -> None:
    drafts = [
        Draft(f"The {subject} {verb} on day {day}", importance=day / 10)
        for day in (1, 4)
        for subject in SUBJECTS
        for verb in VERBS
    ]
    for _ in real.memories.remember_many(drafts, dedupe=False):
        pass
    real.encoder.drain()
    for question in ("when is the gateway restarted", "who approves the billing report", "pager"):
        by_limit = {}
        for limit in (1, 10, 18, 50):
            recall = real.search(question, limit=limit, cut=cut, preset=preset, record=False)
            by_limit[limit] = {result.memory.id: (result.score, result.relevance) for result in recall.results}
        assert by_limit[1]
        for fewer, more in pairwise((1, 10, 18, 50)):
            assert list(by_limit[more])[: len(by_limit[fewer])] == list(by_limit[fewer])
            for id, told in by_limit[fewer].items():
                assert by_limit[more][id] == pytest.approx(told, abs=1e-5)


# ── what repeats ──

PARAPHRASES = (
    "Deploys go out on Tuesdays.",
    "We deploy on Tuesdays.",
    "Deployments go out every Tuesday.",
    "Our deploys happen on Tuesdays.",
    "On Tuesdays the deploys go out.",
    "Each Tuesday we send out deploys.",
)
FACTS = (
    "Deploys go out on Tuesdays.",
    "A deploy needs two approvals from the platform team.",
    "The deploy bot is called Heron.",
    "Deploys pause during the last week of December.",
    "A failed deploy is rolled back with the release job.",
    "Deploy logs are kept for thirty days in cold storage.",
)


def test_redundancy_tells_paraphrases_from_facts(opened: Open, minilm: Any) -> None:
    ratios = []
    for name, texts in (("same.db", PARAPHRASES), ("other.db", FACTS)):
        engine = opened(name, encoder=minilm)
        for text in texts:
            engine.remember(text, dedupe=False)
        recall = engine.search("deploys", limit=6, certify=True, cut=False, record=False)
        assert len(recall.results) == 6
        ratios.append(certificate_of(recall)["redundancyRatio"])
    assert ratios[0] >= 4 / 6
    assert ratios[1] <= 1 / 6


# ── replay ──


@pytest.mark.parametrize("change", ["probability", "weight", "signal", "bias"])
def test_replay_refuses_a_judgement_that_was_altered(filled: Engine, change: str) -> None:
    ledger = filled.search("which database does the billing service use").ledger
    assert replay(Ledger.from_json(json.loads(json.dumps(ledger.to_json())))).ids
    at = next(at for at, entry in enumerate(ledger.entries) if isinstance(entry.verdict, Judgement))
    entry = ledger.entries[at]
    judged = entry.verdict
    assert isinstance(judged, Judgement)
    altered = {
        "probability": lambda: replace(judged, probability=np.roll(judged.probability, 1)),
        "weight": lambda: replace(judged, weights={**judged.weights, "words": 0.0}),
        "signal": lambda: replace(judged, signals={**judged.signals, "words": judged.signals["words"] + 0.1}),
        "bias": lambda: replace(judged, bias=judged.bias + 1.0),
    }[change]()
    entries = (*ledger.entries[:at], replace(entry, verdict=altered), *ledger.entries[at + 1 :])
    with pytest.raises(ValueError, match=r"the ledger was altered: .*another probability than its signals do"):
        replay(Ledger(ledger.query, entries))


@pytest.mark.parametrize("change", ["least", "share", "pick"])
def test_replay_refuses_a_cut_that_the_relevance_does_not_make(filled: Engine, change: str) -> None:
    ledger = filled.search("which database does the billing service use, and when do deploys go out").ledger
    entries = list(ledger.entries)
    for at, entry in enumerate(entries):
        match entry.verdict:
            case Judgement() as judged if change != "pick":
                entries[at] = replace(entry, verdict=replace(judged, **{change: 0.999}))
            case Pick(name="relevance-cut", chosen=chosen) as pick if change == "pick":
                fewer = replace(pick, chosen=chosen[:-1], cost=pick.cost[:-1])
                entries[at] = replace(entry, verdict=fewer, admitted=len(chosen) - 1)
    with pytest.raises(ValueError, match=r"the ledger was altered: .*does not cut where the relevance says"):
        replay(Ledger(ledger.query, tuple(entries)))


# ── what is enough, and what is not ──


def test_who_is_named_is_not_enough_to_be_delivered(real: Engine) -> None:
    turns = ("I painted the old boathouse green.", "My sister is moving to Busan in the spring.",
             "The bakery on the corner has closed for good.", "We went to the lake with the dogs.")  # fmt: skip
    for at, text in enumerate(turns):
        real.remember(Draft(text, author="Mina" if at % 2 == 0 else "Jisoo", session="s", position=at))
    assert real.search("What is Mina's blood type?").results == ()
    assert [result.memory.author for result in real.search("What did Mina paint?").results][:1] == ["Mina"]


@pytest.mark.parametrize("encoder", ["none", "minilm"])
def test_in_a_tiny_korean_store_a_right_answer_is_likely(opened: Open, minilm: Any, encoder: str) -> None:
    engine = opened(encoder=minilm if encoder == "minilm" else "none")
    engine.remember("배포 절차는 화요일에 릴리스 브랜치에서 시작한다.")
    engine.remember("인증은 JWT 토큰 방식으로 처리한다.")
    first, *_ = engine.search("배포 절차는 언제").results
    assert "화요일" in first.memory.content
    assert (first.relevance or 0.0) >= 0.5


# ── nothing contradicts ──

ASKED = st.fixed_dictionaries(
    {
        "text": st.sampled_from(
            ("cache", "login token gateway", "src/app.py", "인증 배포", "zebra crossings", "E1100 zebra",
             "which deploy", "what happened last week", "어제 뭐 했지", "what is it?")
        ),
        "preset": st.sampled_from(CUT),
        "mode": st.sampled_from(("hybrid", "hybrid", "keyword", "semantic")),
        "widen": st.booleans(),
    },
    optional={"limit": st.integers(1, 4), "project": st.sampled_from(("p", "nowhere")), "budget": st.just(120)},
)  # fmt: skip


@given(worlds(), st.lists(ASKED, min_size=1, max_size=3))
@taking(40)
def test_completeness_abstention_and_the_cut_never_contradict(world: World, asked: list[dict[str, Any]]) -> None:
    with populated(world) as engine:
        for question in asked:
            recall = engine.recall(engine.recalls.query(**{**question, "certify": True}))
            told = certificate_of(recall)
            abstains, complete = told["abstention"]["abstain"], told.get("completenessScore")
            if abstains:
                assert recall.results == ()
            if recall.results:
                assert not abstains
                assert recall.silence is None
            else:
                assert complete in (None, 0.0)
                assert told["redundancyRatio"] == 0.0
                assert told["minimalSet"] == []
            if recall.silence is not None:
                assert abstains
            cuts = [entry for entry in recall.ledger.entries if getattr(entry.verdict, "name", "") == "relevance-cut"]
            picks = [entry for entry in cuts if isinstance(entry.verdict, Pick)]
            # Abstained exactly where the cut left nothing, or had nothing to look at.
            assert abstains is (not picks or picks[-1].admitted == 0)
            literal = engine.recall(engine.recalls.query(**{**question, "certify": True, "cut": False}))
            assert literal.silence is None
            assert len(literal.results) >= len(recall.results) or question["widen"]


def test_what_happened_in_an_empty_window_is_abstained_from(real: Engine, clock: FixedClock) -> None:
    real.remember(Draft("the gateway hums", created=clock() - 30 * DAY_MS))
    for question in ("what happened yesterday", "어제 뭐 했지"):
        recall = real.search(question, certify=True)
        assert recall.results == ()
        assert certificate_of(recall)["abstention"]["abstain"] is True
        assert certificate_of(recall)["missing"]


@pytest.mark.parametrize("encoder", ["hashing", "real"])
@pytest.mark.parametrize("question", ["wiki/caching.md", "what does wiki/caching.md say"])
def test_a_document_that_is_asked_for_by_its_path_is_delivered(
    engine: Engine, real: Engine, encoder: str, question: str
) -> None:
    store = real if encoder == "real" else engine
    (section,) = store.memories.add_document("# Caching\n\nA key names the carrier.", path="wiki/caching.md").memories
    store.remember("The pager rotates weekly.")
    assert [result.memory.id for result in store.search(question).results] == [section]


@pytest.mark.parametrize("encoder", ["none", "hashing"])
def test_what_is_known_of_a_file_under_review_is_delivered_and_not_abstained_from(opened: Open, encoder: str) -> None:
    engine = opened(encoder=encoder)
    known = engine.remember("`src/app.py` holds the router").id
    engine.remember("the pager rotates weekly")
    recall = engine.search("zebra crossings", files=["src/app.py"], certify=True)
    assert [result.memory.id for result in recall.results] == [known]
    assert recall.silence is None
    assert certificate_of(recall)["abstention"]["abstain"] is False
    assert engine.search("zebra crossings").results == ()


@pytest.mark.parametrize("encoder", ["none", "hashing:64", "minilm"])
def test_a_bare_number_code_or_path_finds_what_holds_it_and_nothing_like_it(
    opened: Open, minilm: Any, encoder: str
) -> None:
    engine = opened(encoder=minilm if encoder == "minilm" else encoder)
    places = ("kitchen", "office", "workshop", "attic", "창고", "사무실", "부두")
    drafts = [Draft(f"The crate a{n % 4}n{n} stands in the {places[n % 7]}.") for n in range(400)]
    drafts += [Draft(f"Ticket ERR-40{n} was closed, see src/quay{n}.py") for n in range(10, 30)]
    for _ in engine.memories.remember_many(drafts, dedupe=False):
        pass
    engine.encoder.drain()
    asked = {f"a{n % 4}n{n}": drafts[n].content for n in range(0, 400, 9)}
    asked |= {f"ERR-40{n}": drafts[390 + n].content for n in range(10, 30, 3)}
    asked |= {"src/quay11.py": drafts[401].content, "ERR-4012 src/quay12.py": drafts[402].content}
    found = {text: [each.memory.content for each in engine.search(text, record=False)] for text in asked}
    assert {text: texts[:1] for text, texts in found.items()} == {text: [held] for text, held in asked.items()}
    assert sum(map(len, found.values())) <= len(asked) + 2
    assert not engine.search("a1n401", record=False)
