"""Sources told apart: their layer by rule, what each is worth, what is left out, and the slots that lessons have."""

from __future__ import annotations

from typing import Any

import pytest

from recallens.engine import Engine
from recallens.model.ledger import Ledger
from recallens.model.recall import Recall, SearchResult
from recallens.model.salience import DAY_MS
from recallens.model.snapshot import Snapshot
from recallens.recall.sources import LESSON_BOOST, SOURCE_FLOOR, SOURCE_PRIOR, is_manifest, prior_of
from standing import FixedClock, Open

SPECIFIED_PRIORS = {
    "brain-trace": 1.0,
    "brain-memory": 0.9,
    "project-memory": 0.85,
    "long-term-memory": 0.8,
    "procedural-memory": 0.95,
    "medium-term-memory": 0.78,
    "episodic-memory": 0.7,
    "project-scan": 0.6,
    "recent-knowledge": 0.75,
}


def fused(engine: Engine, text: str, **options: Any) -> Snapshot:
    """Every row of every source, whether or not it is likely to help."""
    options = {"limit": 20, "budget": 100_000, "tokens": 100_000, "cut": False, **options}
    return engine.xray(text, preset="fusion", **options)


def layer_of(snapshot: Snapshot, id: str) -> str | None:
    return next(result.layer for result in snapshot.results if result.memoryId == id)


def ids(snapshot: Snapshot) -> list[str]:
    return [result.memoryId for result in snapshot.results]


def test_the_priors_are_the_specified_and_an_unknown_source_has_half() -> None:
    assert dict(SOURCE_PRIOR) == SPECIFIED_PRIORS
    assert prior_of("elsewhere") == 0.5
    assert LESSON_BOOST == 1.4


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("README.md", True), ("readme", True), ("package.json", True), ("pyproject.toml", True), ("Cargo.toml", True),
        ("go.mod", True), ("notes:README.md", True), ("docs/README.md", False), ("readme-first/x.md", False),
        ("notes:sub/package.json", False), ("packages.json", False),
    ],
)  # fmt: skip
def test_a_readme_or_manifest_at_the_root_is_project_scan(path: str, root: bool) -> None:
    assert is_manifest(path) is root


def test_the_layer_of_each_source_by_rule(engine: Engine, clock: FixedClock) -> None:
    expected = {
        engine.memories.add_document("The cache keeps lookups.", path="wiki/cache.md").memories[0]: "brain-memory",
        engine.memories.add_document("The cache demo keeps lookups.", path="README.md").memories[0]: "project-scan",
        engine.remember("cache lookups are kept in p", project="p", sector="semantic").id: "project-memory",
        engine.remember("a cache keeps lookups for good", sector="semantic").id: "long-term-memory",
        engine.remember("run the cache lookups first", sector="procedural", project="p").id: "procedural-memory",
        engine.remember("yesterday the cache lookups broke", sector="episodic").id: "episodic-memory",
    }
    engine.sessions.start("s1", title="Cache lookups")
    engine.sessions.end("s1", summary="We settled the cache lookups")
    snapshot = fused(engine, "cache lookups")
    assert {id: layer_of(snapshot, id) for id in expected} == expected
    assert [result.layer for result in snapshot.results if result.memoryId not in expected] == ["medium-term-memory"]


def test_a_file_that_a_hit_links_to_is_brain_trace(opened: Open) -> None:
    engine = opened(encoder="none")
    (hit,) = engine.memories.add_document("The cache keeps lookups.", path="wiki/cache.md").memories
    (linked,) = engine.memories.add_document("Entries leave by age.", path="wiki/eviction.md").memories
    engine.relate(hit, linked, "RELATED_TO")
    snapshot = fused(engine, "cache lookups")
    assert layer_of(snapshot, linked) == "brain-trace"
    assert layer_of(snapshot, hit) == "brain-memory"


def test_a_file_that_is_only_recent_is_recent_knowledge_and_stays_out(opened: Open, clock: FixedClock) -> None:
    engine = opened(encoder="none")
    old = engine.memories.add_document("Invoices are due on friday.", path="wiki/invoices.md").memories[0]
    clock.advance(days=30)
    new = engine.memories.add_document("Printers jam.", path="wiki/printers.md").memories[0]
    recall = engine.recall(engine.recalls.query("zebra", preset="fusion", cut=False))
    assert recall.results == ()
    assert recall.ledger.notes("sources")[-1]["candidates"] == {"brain-memory": 1, "recent-knowledge": 1}
    assert {miss.keptOutBy for miss in fused(engine, "zebra").nearMisses} == {"relevance"}
    scanned = engine.search("zebra", cut=False).results  # the default preset's scan
    assert {result.memory.id for result in scanned} == {old, new}


def test_the_prior_is_a_multiplier_written_as_what_it_adds(engine: Engine) -> None:
    engine.remember("cache lookups in p", project="p", sector="semantic")
    (result,) = engine.search("cache lookups", preset="fusion").results
    parts = result.parts
    before = sum(value for name, value in parts.items() if name in ("bm25", "vector", "graph", "sourceScale"))
    assert parts["sourcePrior"] == pytest.approx(before * (SPECIFIED_PRIORS["project-memory"] - 1.0))
    assert sum(parts.values()) == pytest.approx(result.score, abs=1e-9)


def test_a_lone_poor_hit_of_a_source_does_not_become_the_best(engine: Engine) -> None:
    """The specification divides by the best of each source: its poor hit counts 1.0. Here the floor stands in."""
    good = engine.remember("cache lookups cache lookups", sector="semantic", dedupe=False).id
    poor = engine.memories.add_document(
        "The quarterly report of the sales team mentions a cache once, among many other things.", path="wiki/sales.md"
    ).memories[0]
    snapshot = fused(engine, "cache lookups", weights={"vector": 0})
    parts = {result.memoryId: result.scoreDecomposition for result in snapshot.results}
    assert ids(snapshot)[0] == good
    own = parts[poor]["bm25"]
    assert own < SOURCE_FLOOR / 2
    assert own + parts[poor]["sourceScale"] == pytest.approx(own / SOURCE_FLOOR)
    assert own / max(own, 0.001) * SPECIFIED_PRIORS["brain-memory"] > parts[good]["final"]  # as specified it would win


def test_a_lesson_is_worth_four_tenths_more_in_both_presets(engine: Engine) -> None:
    engine.remember("Warm the cache before lookups", kind="lesson", document="card")
    engine.remember("The cache serves lookups", kind="fact")
    for preset in ("fusion", "default"):
        results = engine.search("cache lookups", preset=preset).results
        (lesson,) = (result for result in results if result.memory.kind == "lesson")
        (fact,) = (result for result in results if result.memory.kind == "fact")
        assert "lessonBoost" not in fact.parts
        after = ("lessonBoost", "conflictPenalty", "superseded", "reinforcementBoost", "mmrPenalty")
        before = sum(value for name, value in lesson.parts.items() if name not in after)
        assert lesson.parts["lessonBoost"] == pytest.approx(before * 0.4)


def test_outside_fusion_only_lesson_cards_are_boosted_for_other_kinds_may_be_guessed(engine: Engine) -> None:
    engine.remember("Lesson learned: warm the cache before lookups", kind="lesson")
    assert "lessonBoost" in engine.search("cache lookups", preset="fusion").results[0].parts
    assert "lessonBoost" not in engine.search("cache lookups").results[0].parts


def test_what_two_sources_say_alike_comes_once_the_better_scored(engine: Engine) -> None:
    text = "We cache tracking lookups for sixty seconds in the gateway"
    noted = engine.remember(text, project="p", sector="semantic", dedupe=False).id
    (filed,) = engine.memories.add_document(text, path="wiki/cache.md").memories
    (near,) = engine.memories.add_document(f"{text}.", path="wiki/copy.md").memories
    differs = engine.remember("We cache tracking lookups for ninety seconds in the gateway", dedupe=False).id
    snapshot = fused(engine, "cache tracking lookups")
    kept = {noted, filed, near} & set(ids(snapshot))
    assert len(kept) == 1
    assert differs in ids(snapshot)  # another number is another statement
    (rung,) = (rung for rung in snapshot.filters if rung.name == "duplicate-source")
    assert (rung.considered - rung.admitted, rung.reason) == (2, "says the same as a better one")
    missed = {miss.memoryId: miss for miss in snapshot.nearMisses if miss.keptOutBy == "duplicate-source"}
    finals = {result.memoryId: result.scoreDecomposition["final"] for result in snapshot.results}
    assert len(missed) == 2
    assert all(miss.score <= finals[next(iter(kept))] for miss in missed.values())
    default = {result.memory.id for result in engine.search("cache tracking lookups", limit=20).results}
    assert {noted, filed, near} <= default


# ── lessons ──


@pytest.fixture
def taught(engine: Engine) -> Engine:
    for at in range(16):
        engine.remember(f"cache lookups cache lookups, part {at}", kind="fact", dedupe=False)
    for at in range(5):
        engine.remember(f"the cache of lookups failed us, lesson {at}", kind="lesson", importance=0.1, dedupe=False)
    return engine


# Facts that repeat the question stand before the lessons, which get no boost here.
BARE: dict[str, Any] = {"preset": "fusion", "weights": {"lessonBoost": 0}}


def split(recall: Recall) -> tuple[list[SearchResult], list[SearchResult]]:
    """What the question called for, and what came after that many."""
    return list(recall.results[: recall.query.limit]), list(recall.results[recall.query.limit :])


def test_up_to_three_lessons_come_beside_the_k_results(taught: Engine) -> None:
    recall = taught.search("cache lookups", **BARE)
    results, lessons = split(recall)
    assert {result.memory.kind for result in results} == {"fact"}
    assert [result.memory.kind for result in lessons] == ["lesson"] * 3
    assert [result.rank for result in recall.results] == list(range(1, recall.query.limit + 4))
    scores = [result.score for result in recall.results]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("preset", ["default", "fusion"])
@pytest.mark.parametrize("limit", [1, 4])
def test_nothing_comes_beside_a_callers_limit(taught: Engine, preset: str, limit: int) -> None:
    recall = taught.search("cache lookups", **BARE | {"preset": preset, "limit": limit})
    assert len(recall.results) == limit
    assert len(recall.audit) == limit


def test_outside_fusion_lessons_take_their_place_by_score(taught: Engine) -> None:
    recall = taught.search("cache lookups", **BARE | {"preset": "default"})
    assert len(recall.results) == recall.query.limit


def test_a_lesson_about_something_else_takes_no_slot(engine: Engine) -> None:
    for at in range(16):
        engine.remember(f"cache lookups cache lookups, part {at}", kind="fact", dedupe=False)
    other = engine.remember("invoices must be sent on friday", kind="lesson", importance=0.0).id
    recall = engine.search("cache lookups", preset="fusion")
    results, lessons = split(recall)
    assert len(results) == recall.query.limit
    assert lessons == []
    assert other not in recall.audit


def test_lessons_beside_the_results_are_recorded_and_replay(taught: Engine) -> None:
    recall = taught.search("cache lookups", **BARE)
    assert split(recall)[1]
    assert set(recall.audit) == {result.memory.id for result in recall.results}
    again = Ledger.unpacked(recall.ledger.packed()).replay()
    assert [again.ids[at].decode() for at in again.ranked().tolist()] == [r.memory.id for r in recall.results]


# ── medium-term: sessions ──


def recent(engine: Engine, text: str, **options: Any) -> Snapshot:
    return engine.xray(text, preset="fusion", **{"medium_term_limit": 3, "limit": 10, **options})


def medium(snapshot: Snapshot) -> list[str]:
    return [result.title for result in snapshot.results if result.layer == "medium-term-memory"]


def end(engine: Engine, id: str, title: str, summary: str | None = None, *, ended: int | None = None) -> None:
    engine.sessions.start(id, title=title)
    engine.sessions.end(id, summary=summary, ended=ended)


def test_a_session_leaves_a_summary_that_later_ones_find(engine: Engine) -> None:
    end(engine, "s1", "Cache work", "We settled on a TTL of 60 seconds for lookups")
    snapshot = recent(engine, "what ttl did we settle for lookups")
    (result,) = (each for each in snapshot.results if each.layer == "medium-term-memory")
    memory = engine.get(result.memoryId)
    assert (memory.kind, memory.source, memory.source_id) == ("summary", "session", "session:s1")
    assert memory.content == "Cache work\nWe settled on a TTL of 60 seconds for lookups"
    assert "sessions" in result.views


def test_without_a_summary_title_first_message_and_last_excerpt_stand_in(engine: Engine, clock: FixedClock) -> None:
    engine.sessions.start("s1", title="캐시 작업")
    for author, text in (
        ("user", "캐시 만료를 어떻게 정할까?"),
        ("assistant", "먼저 측정하자"),
        ("assistant", "60초로 정했다"),
    ):
        clock.advance(ms=1)
        engine.remember(text, session="s1", author=author, dedupe=False)
    engine.sessions.end("s1")
    found = engine.memories.resolve(["session:s1"])["session:s1"]
    lines = engine.get(found).content.splitlines()
    assert lines == ["캐시 작업", "사용자 요청: 캐시 만료를 어떻게 정할까?", "이전 답변 마지막 부분: 60초로 정했다"]
    assert medium(recent(engine, "캐시 만료")) == ["캐시 작업"]


def test_a_changed_summary_replaces_the_one_before_and_the_same_one_changes_nothing(engine: Engine) -> None:
    end(engine, "s1", "Cache work", "a TTL of 60 seconds")
    first = engine.memories.resolve(["session:s1"])["session:s1"]
    engine.sessions.end("s1", summary="a TTL of 60 seconds")
    assert engine.memories.resolve(["session:s1"])["session:s1"] == first
    engine.sessions.end("s1", summary="a TTL of 90 seconds")
    second = engine.memories.resolve(["session:s1"])["session:s1"]
    assert engine.get(first).status == "superseded"
    found = {result.memory.id for result in engine.search("cache ttl seconds").results}
    assert second in found
    assert first not in found


def test_a_summary_that_was_forgotten_is_not_written_again(engine: Engine) -> None:
    end(engine, "s1", "Cache work", "a TTL of 60 seconds")
    engine.forget(engine.memories.resolve(["session:s1"])["session:s1"])
    engine.sessions.end("s1", summary="a TTL of 90 seconds")
    assert engine.search("cache ttl seconds").results == ()


def test_a_session_of_which_nothing_is_known_leaves_nothing(engine: Engine) -> None:
    engine.sessions.start("s1")
    engine.sessions.end("s1")
    assert engine.memories.resolve(["session:s1"]) == {}


def test_the_newer_session_comes_first_only_among_equals(engine: Engine, clock: FixedClock) -> None:
    now = clock()
    end(engine, "more", "Cache", "cache lookups and the gateway", ended=now - 6 * DAY_MS)
    end(engine, "old", "Cache", "cache of the printer room", ended=now - 30 * DAY_MS)
    end(engine, "new", "Cache", "cache of the lunch room", ended=now - DAY_MS)
    ledger = engine.recall(engine.recalls.query("cache lookups", preset="fusion", medium_term_limit=3)).ledger
    (found,) = (entry.verdict for entry in ledger.entries if entry.stage == "sessions")
    order = [engine.get(id.decode()).source_id for id in found.ids.tolist()]  # type: ignore[union-attr]
    assert order == ["session:more", "session:new", "session:old"]
    raw = dict(zip(order, found.raw.tolist(), strict=True))  # type: ignore[union-attr]
    assert raw["session:new"] - raw["session:old"] == pytest.approx((7 - 1) / 70)


def test_a_session_enters_on_its_words_and_never_on_being_recent(engine: Engine) -> None:
    end(engine, "s1", "Printer", "the printer jams")
    ledger = engine.recall(engine.recalls.query("cache lookups", preset="fusion", medium_term_limit=3)).ledger
    found = [entry.verdict for entry in ledger.entries if entry.stage == "sessions"]
    assert [len(verdict.ids) for verdict in found] == [0]  # type: ignore[union-attr]


def test_the_limit_holds_zero_means_none_and_the_asking_session_is_left_out(engine: Engine) -> None:
    for at in range(4):
        end(engine, f"s{at}", f"Cache {at}", f"cache lookups, day {at} of many")
    assert len(medium(recent(engine, "cache lookups"))) == 3
    assert medium(recent(engine, "cache lookups", medium_term_limit=0)) == []
    ledger = engine.recall(
        engine.recalls.query("cache lookups", preset="fusion", medium_term_limit=9, session="s1")
    ).ledger
    (found,) = (entry.verdict for entry in ledger.entries if entry.stage == "sessions")
    sources = {engine.get(id.decode()).source_id for id in found.ids.tolist()}  # type: ignore[union-attr]
    assert sources == {"session:s0", "session:s2", "session:s3"}


def test_what_only_the_sessions_view_found_is_served_by_recent_scan() -> None:
    from recallens.recall.results import served_by

    assert served_by(("sessions",), 0.2) == "recent-scan"


def test_a_file_is_one_result_judged_by_all_of_its_sections(engine: Engine) -> None:
    filler = "Some words that say nothing of it. " * 40
    spread = f"# Ferry\n\nThe ferry sails at noon. {filler}\n\n# Fares\n\nA ticket costs nine euros. {filler}"
    engine.memories.add_document(spread, path="wiki/ferry.md")
    engine.memories.add_document(f"# Ticket\n\nA ticket machine stands here. {filler}", path="wiki/ticket.md")
    sections, files = (
        engine.search("ferry ticket euros", preset="fusion", cut=False, chunk_level=level, blend=0.0).results
        for level in (True, False)
    )
    assert len({result.memory.document for result in sections}) < len(sections)
    assert len({result.memory.document for result in files}) == len(files) == 2
    assert files[0].parts["wholeFile"] > 0
    assert "wholeFile" not in sections[0].parts
