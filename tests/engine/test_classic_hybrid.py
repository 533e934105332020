"""Hybrid Search as specified: its test specification and its acceptance list, with the packaged encoder."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound
from recallens.index.encoders.minilm import MiniLMEncoder
from recallens.model.memory import Memory, Sector, Usage
from recallens.model.recall import MatchType, SearchResult
from recallens.model.salience import DAY_MS, DECAY_PER_DAY
from recallens.model.verdict import Found
from recallens.text.tokenizer import tokenize

REACT = "Decided to use React with TypeScript for the frontend"
DEPLOY = "To deploy, run npm build then upload to S3"
ROUTES = "The API routes are defined in src/routes/api.ts"


@pytest.fixture
def ids(real: Engine) -> dict[str, str]:
    real.sessions.start("sess1", project="proj1")
    return {
        text: real.remember(text, sector=sector, project="proj1", session="sess1").id
        for text, sector in ((REACT, "reflective"), (DEPLOY, "procedural"), (ROUTES, "semantic"))
    }


def by_id(engine: Engine, text: str, **options: object) -> dict[str, SearchResult]:
    """What the search finds and how it ranks; what of it is likely to help is not specified there."""
    options = {"project": "proj1", "record": False, "cut": False, **options}
    return {result.memory.id: result for result in engine.search(text, **options).results}


def contents(engine: Engine, text: str, **options: object) -> list[str]:
    return [result.memory.content for result in by_id(engine, text, **options).values()]


# ── the test specification ──


def test_returns_results_from_both_fts_and_vector(real: Engine, ids: dict[str, str]) -> None:
    found = by_id(real, "React TypeScript")
    assert next(iter(found)) == ids[REACT]
    assert {id: result.match_type for id, result in found.items()} == {
        ids[REACT]: MatchType.BOTH,
        ids[DEPLOY]: MatchType.SEMANTIC,
        ids[ROUTES]: MatchType.SEMANTIC,
    }


def test_results_include_session_context(real: Engine, ids: dict[str, str], clock) -> None:
    real.sessions.end("sess1", summary="Chose the stack")
    session = by_id(real, "React")[ids[REACT]].source_session
    assert session is not None
    assert (session.id, session.started, session.summary, session.project) == (
        "sess1", clock.now, "Chose the stack", "proj1",
    )  # fmt: skip


def test_results_include_superseded_status(real: Engine, ids: dict[str, str], clock) -> None:
    old = real.remember("Old API endpoint is /v1", project="proj1").id
    clock.advance(ms=1)
    new = real.remember("New API endpoint is /v2", project="proj1").id
    real.supersede(old, new)
    found = by_id(real, "API endpoint", include_superseded=True)
    assert found[old].is_superseded is True
    successor = found[old].superseded_by
    assert successor is not None
    assert (successor.id, successor.content, successor.created) == (new, "New API endpoint is /v2", clock.now)
    assert (found[new].is_superseded, found[new].superseded_by) == (False, None)


def test_the_successor_is_told_by_its_first_200_characters(real: Engine) -> None:
    old = real.remember("The limit is low", project="proj1").id
    real.edit(old, "The limit is high " + "가" * 300)
    successor = by_id(real, "limit", include_superseded=True)[old].superseded_by
    assert successor is not None
    assert successor.content == "The limit is high " + "가" * 182


def test_excludes_superseded_by_default(real: Engine, ids: dict[str, str]) -> None:
    old = real.remember("Old fact", project="proj1").id
    new = real.remember("New fact", project="proj1").id
    real.supersede(old, new)
    found = by_id(real, "fact")
    assert old not in found
    assert next(iter(found)) == new


def test_filters_by_sector(real: Engine, ids: dict[str, str]) -> None:
    assert list(by_id(real, "build deploy", sector="procedural")) == [ids[DEPLOY]]
    assert list(by_id(real, "build deploy", sector="emotional")) == []


def test_filters_by_session(real: Engine, ids: dict[str, str]) -> None:
    real.sessions.start("sess2", project="proj1")
    only = real.remember("Only in session 2", project="proj1", session="sess2").id
    assert list(by_id(real, "session", in_session="sess2")) == [only]
    assert set(by_id(real, "session", in_session="sess1")) == set(ids.values())


def test_an_unknown_session_is_an_error_and_not_an_empty_result(real: Engine, ids: dict[str, str]) -> None:
    with pytest.raises(NotFound, match="no session 'sess9'"):
        real.search("session", in_session="sess9")


def test_timeline_includes_session_info(real: Engine, ids: dict[str, str], clock) -> None:
    started = clock.now
    clock.advance(ms=10)
    first = real.remember("First", project="proj1", session="sess1").id
    clock.advance(ms=10)
    second = real.remember("Second", project="proj1", session="sess1").id
    timeline = real.layers.timeline(second, 2, 2)
    assert timeline.anchor.id == second
    assert [memory.id for memory in timeline.before] == [ids[ROUTES], first]
    assert timeline.after == ()
    assert {id: (s.id, s.started, s.summary) for id, s in timeline.sessions.items()} == {
        "sess1": ("sess1", started, None)
    }


def test_session_context_returns_memory_context(real: Engine, ids: dict[str, str]) -> None:
    memory = real.remember("Test memory", project="proj1", session="sess1").id
    context = real.sessions.context(memory)
    assert context is not None
    assert (context.session.id, context.usage, context.memories_in_session) == ("sess1", Usage.CREATED, 4)


def test_includes_related_memory_count(real: Engine, ids: dict[str, str]) -> None:
    first = real.remember("Memory 1", project="proj1").id
    second = real.remember("Memory 2", project="proj1").id
    real.relate(first, second, "RELATED_TO")
    found = by_id(real, "Memory 1")
    assert (found[first].related_count, found[second].related_count, found[ids[REACT]].related_count) == (1, 1, 0)


def test_tracks_recalled_memories_in_session(real: Engine, ids: dict[str, str], clock) -> None:
    memory = real.remember("To be recalled", project="proj1", session="sess1").id
    clock.advance(ms=5)
    recall = real.search("recalled", project="proj1", session="sess2", limit=1)
    assert recall.recorded is True
    context = real.sessions.context(memory)
    assert context is not None
    assert (context.session.id, context.usage, context.memories_in_session) == ("sess2", Usage.RECALLED, 1)
    assert context.session.started == clock.now  # a session that asks without having been started is started


# ── FTS5 and vectors together: modes ──


def test_modes_ask_their_own_views(real: Engine, ids: dict[str, str]) -> None:
    keyword = by_id(real, "deploy", mode="keyword")
    semantic = by_id(real, "deploy", mode="semantic")
    hybrid = by_id(real, "deploy", mode="hybrid")
    assert {id: result.views for id, result in keyword.items()} == {ids[DEPLOY]: ("lexical",)}
    assert set(semantic) == set(hybrid) == set(ids.values())
    assert {result.views for result in semantic.values()} == {("semantic",)}
    assert hybrid[ids[DEPLOY]].views == ("lexical", "semantic")
    assert hybrid[ids[DEPLOY]].match_type is MatchType.BOTH
    assert "bm25" not in semantic[ids[DEPLOY]].parts
    assert "vector" not in keyword[ids[DEPLOY]].parts


@pytest.mark.parametrize("mode", ["fuzzy", "", "hybrid "])
def test_an_unknown_mode_lists_the_modes(real: Engine, mode: str) -> None:
    if mode.strip() in ("hybrid", ""):
        assert real.recalls.query("x", mode=mode).mode == "hybrid"
    else:
        with pytest.raises(InvalidInput, match="use one of: hybrid, semantic, keyword"):
            real.search("x", mode=mode)


# ── the ranking formula ──

BOOST = {"reflective": 1.2, "semantic": 1.1, "procedural": 1.0, "emotional": 0.9, "episodic": 0.8}
CORPUS = [
    ("We chose the token bucket over the leaky bucket for rate limits", "reflective", 40.0, 1.0, 0.5),
    ("The rate limit is 60 requests a minute for every API key", "semantic", 0.0, 0.4, 0.9),
    ("To raise a rate limit, edit limits.toml and restart the gateway", "procedural", 3.0, 0.9, 0.2),
    ("Everybody was relieved when the rate limit outage ended", "emotional", 90.0, 0.6, 0.5),
    ("On Tuesday the gateway answered 429 to our own crawler", "episodic", 12.5, 0.7, 0.1),
    ("The gateway writes its access log to stdout", "semantic", 200.0, 0.3, 0.5),
    ("The old rate limit was 30 requests a minute", "semantic", 60.0, 0.8, 0.5),
    ("Invoices are sent on the first day of the month", "semantic", 1.0, 0.5, 0.5),
]
QUERY = "gateway rate limits"


def fts5_rank(text: str, active: list[str]) -> float:
    mean = sum(len(tokenize(t)) for t in active) / len(active)
    score = 0.0
    for word in dict.fromkeys(tokenize(QUERY)):

        def count(t: str, word: str = word) -> int:
            return sum(token.startswith(word) for token in tokenize(t))

        holding = sum(count(t) > 0 for t in active)
        idf = max(math.log((len(active) - holding + 0.5) / (holding + 0.5)), 1e-6)
        tf = count(text)
        score += idf * tf * 2.2 / (tf + 1.2 * (1 - 0.75 + 0.75 * len(tokenize(text)) / mean))
    return score


def specified_score(
    *, similarity: float, rank: float, salience: float, days: float, sector: str, superseded: bool
) -> float:
    """computeScore of the specification, line by line."""
    normalized = min(1.0, abs(rank) / 10) if rank else 0.0
    score = 0.4 * similarity + 0.25 * normalized + 0.2 * salience + 0.15 * math.exp(-0.05 * days)
    score *= BOOST[sector]
    if superseded:
        score *= 0.5
    return min(1.0, max(0.0, score))


def decayed(base: float, sector: str, importance: float, days: float) -> float:
    return max(0.05, base * math.exp(-DECAY_PER_DAY[Sector(sector)] / (importance + 0.1) * days))


def test_classic_is_the_specified_formula_to_the_letter(real: Engine, minilm: MiniLMEncoder, clock) -> None:
    ids = {}
    for text, sector, days, base, importance in CORPUS:
        ids[text] = real.remember(
            text, sector=sector, created=clock.now - round(days * DAY_MS), salience=base, importance=importance
        ).id
    old = CORPUS[6][0]
    real.supersede(ids[old], ids[CORPUS[1][0]])
    recall = real.recall(real.recalls.query(QUERY, preset="classic", include_superseded=True))
    scores = {result.memory.content: result.score for result in recall.results}

    active = [text for text, *_ in CORPUS if text != old]
    query = minilm.encode_query(QUERY).astype(np.float64)
    expected = {}
    for text, sector, days, base, importance in CORPUS:
        vector = minilm.encode_documents([text])[0].astype(np.float16).astype(np.float64)
        rank = fts5_rank(text, active)
        expected[text] = specified_score(
            similarity=float(vector @ query),
            rank=rank,
            salience=decayed(base, sector, importance, days),
            days=days,
            sector=sector,
            superseded=text == old,
        )
    assert scores.keys() == expected.keys()
    for text, score in scores.items():
        assert score == pytest.approx(expected[text], abs=1e-9), text
    assert list(scores) == sorted(expected, key=expected.__getitem__, reverse=True)
    for result in recall.results:
        assert sum(result.parts.values()) == pytest.approx(result.score, abs=1e-9)
        assert ("superseded" in result.parts) == (result.memory.content == old)


def test_sector_boosts_are_applied_exactly(real: Engine) -> None:
    """Five memories that differ in nothing but their sector, so that only the boost sets them apart."""
    text = "The cache is warmed at start"
    for sector in BOOST:
        real.remember(text, sector=sector, dedupe=False)
    recall = real.search("cache warmed", preset="classic", record=False)
    assert [result.memory.sector for result in recall.results] == list(BOOST)
    for result in recall.results:
        before = sum(result.parts[name] for name in ("vector", "bm25", "salience", "recency"))
        assert result.parts["sectorBoost"] == pytest.approx(before * (BOOST[result.memory.sector] - 1), abs=1e-12)
        assert result.score == pytest.approx(min(1.0, before * BOOST[result.memory.sector]), abs=1e-12)


def test_a_classic_score_is_clamped_to_one_and_says_by_how_much(real: Engine) -> None:
    text = "alpha beta gamma"
    real.remember(text, sector="reflective")
    for number in range(40):
        real.remember(f"entry {number} speaks of something else")
    (first, *_) = real.search(text, preset="classic", record=False).results
    assert first.memory.content == text
    assert first.score == 1.0
    assert first.parts["clamp"] < 0
    assert sum(first.parts.values()) == pytest.approx(1.0, abs=1e-9)


def test_superseded_costs_half_in_both_presets(real: Engine) -> None:
    old = real.remember("The deadline is in May").id
    new = real.remember("The deadline has moved").id
    real.supersede(old, new)
    for preset in ("default", "classic"):
        result = by_id(real, "deadline", project=None, preset=preset, include_superseded=True)[old]
        after = sum(result.parts.get(name, 0.0) for name in ("superseded", "clamp", "mmrPenalty"))
        before = result.score - after
        assert result.parts["superseded"] == pytest.approx(-0.5 * before, abs=1e-12)
        assert result.score == pytest.approx(0.5 * before + result.parts.get("mmrPenalty", 0.0), abs=1e-12)


def test_salience_and_recency_move_the_default_ranking(real: Engine, clock) -> None:
    stale = real.remember("Retries back off by half", created=clock.now - 300 * DAY_MS, dedupe=False).id
    fresh = real.remember("Retries back off by half", dedupe=False).id
    assert list(by_id(real, "retries", project=None)) == [fresh, stale]


# ── filters ──


def test_filters_by_tier(real: Engine) -> None:
    short = real.remember("The build is red today", tier="session").id
    long = real.remember("The build runs on two cores", tier="project").id
    assert list(by_id(real, "build", project=None, tier="session")) == [short]
    assert list(by_id(real, "build", project=None, tier="project")) == [long]
    with pytest.raises(InvalidInput, match="use one of: session, project"):
        real.search("build", tier="org")


def test_filters_by_min_salience_at_the_boundary(real: Engine) -> None:
    real.remember("The lamp is dim", salience=0.25)
    bright = real.remember("The lamp is bright", salience=0.75).id
    assert list(by_id(real, "lamp", project=None, min_salience=0.5)) == [bright]
    assert list(by_id(real, "lamp", project=None, min_salience=0.75)) == [bright]
    assert list(by_id(real, "lamp", project=None, min_salience=0.7500001)) == []
    assert len(by_id(real, "lamp", project=None, min_salience=0)) == 2
    with pytest.raises(InvalidInput, match="a number from 0 to 1"):
        real.search("lamp", min_salience=1.5)


def test_min_salience_reads_the_decayed_value(real: Engine, clock) -> None:
    event = real.remember("The demo went well", sector="episodic", importance=0.0).id
    assert list(by_id(real, "demo", project=None, min_salience=0.5)) == [event]
    clock.advance(days=10)  # exp(−0.02/0.1·10) = 0.135
    assert list(by_id(real, "demo", project=None, min_salience=0.5)) == []
    assert by_id(real, "demo", project=None)[event].salience == pytest.approx(math.exp(-2), abs=1e-12)


def test_filters_by_kind_and_tags(real: Engine) -> None:
    gotcha = real.remember("Redis drops keys under pressure", kind="gotcha", tags=("redis", "ops")).id
    real.remember("Redis holds the sessions", kind="fact", tags=("redis",))
    assert list(by_id(real, "redis", project=None, kind="gotcha")) == [gotcha]
    assert list(by_id(real, "redis", project=None, tags=("ops",))) == [gotcha]
    assert list(by_id(real, "redis", project=None, tags=("OPS", "redis"))) == [gotcha]
    assert list(by_id(real, "redis", project=None, tags=("redis", "none"))) == []


def test_a_narrow_filter_does_not_starve_the_results(real: Engine) -> None:
    """One row in a hundred passes; limit·2 rows of each view would hold none of them."""
    for number in range(99):
        real.remember(f"The queue has a consumer called worker {number}", project="proj1", dedupe=False)
    rare = real.remember("There is also a queue nobody consumes", project="proj2").id
    assert list(by_id(real, "queue consumer worker", project="proj2", limit=3)) == [rare]
    assert list(by_id(real, "queue consumer worker", project="proj2", limit=3, preset="classic")) == [rare]


@pytest.mark.parametrize("preset", ["default", "classic"])
def test_a_filter_that_rejects_the_head_is_refilled(real: Engine, preset: str) -> None:
    """One row in five passes and all of them match worse: the views are asked again among those that pass."""
    for number in range(40):
        real.remember(f"queue consumer worker {number}", project="proj1", dedupe=False)
    for number in range(10):
        real.remember(f"item {number} tells how the queue came to be what it is", project="proj2", dedupe=False)
    recall = real.recall(real.recalls.query("queue consumer worker", project="proj2", limit=3, preset=preset))
    assert [result.memory.project for result in recall.results] == ["proj2"] * 3
    asked_again = [e.verdict.view for e in recall.ledger.entries if isinstance(e.verdict, Found) and e.verdict.refill]
    assert asked_again == ["lexical", "semantic"]
    assert not any(e.verdict.pushed for e in recall.ledger.entries if isinstance(e.verdict, Found))


# ── documents ──

HANDBOOK = "# Handbook\n\nOn call lasts one week.\n\nThe pager is handed over on Monday."


def test_documents_take_part_are_left_out_or_stand_alone(real: Engine) -> None:
    memory = real.remember("The pager rings at night", project="proj1").id
    added = real.memories.add_document(HANDBOOK, path="handbook.md", title="Handbook", project="proj1")
    sections = set(added.memories)
    assert set(by_id(real, "pager")) == {memory} | sections
    assert set(by_id(real, "pager", documents="exclude")) == {memory}
    assert set(by_id(real, "pager", documents="only")) == sections
    found = real.recalls.search_documents("pager", project="proj1", record=False)
    assert {result.memory.id for result in found.results} == sections
    assert found.query.limit == 10
    assert real.recalls.search_documents("pager", project="proj2").results == ()


def test_a_document_added_again_replaces_its_sections(real: Engine) -> None:
    real.memories.add_document(HANDBOOK, path="handbook.md")
    real.memories.add_document("The pager is gone; alerts come by mail.", path="handbook.md")
    found = real.recalls.search_documents("pager on Monday", record=False)
    assert [result.memory.content for result in found.results] == ["The pager is gone; alerts come by mail."]


# ── what a search records ──


def salience_of(engine: Engine, id: str) -> float:
    return engine.memories.salience([engine.get(id)])[id]


def test_search_boosts_the_salience_of_returned_results(real: Engine, clock) -> None:
    ids = [real.remember(f"Kafka keeps the log for {n} days", salience=0.5, importance=0.9).id for n in (1, 2, 3)]
    clock.advance(days=2)
    before = [salience_of(real, id) for id in ids]
    recall = real.search("kafka", limit=2)
    returned = [result.memory.id for result in recall.results]
    for id, old in zip(ids, before, strict=True):
        expected = old + 0.02 * (1 - old) if id in returned else old
        assert salience_of(real, id) == pytest.approx(expected, abs=1e-12)


def test_the_boost_comes_at_most_once_a_day(real: Engine, clock) -> None:
    id = real.remember("Kafka keeps the log for 7 days", salience=0.5).id
    real.search("kafka")
    once = real.get(id)
    clock.advance(ms=DAY_MS - 1)
    real.search("kafka")
    assert (real.get(id).reinforcement, real.get(id).reinforced_at) == (once.reinforcement, once.reinforced_at)
    clock.advance(ms=1)
    before = salience_of(real, id)
    real.search("kafka")
    assert salience_of(real, id) == pytest.approx(before + 0.02 * (1 - before), abs=1e-12)
    amounts = real.core.store.connection.execute("SELECT kind, amount FROM events ORDER BY id").fetchall()
    assert amounts == [("recalled", 0.02), ("recalled", None), ("recalled", 0.02)]


def test_recall_and_unrecorded_searches_leave_no_trace(real: Engine) -> None:
    real.remember("Kafka keeps the log", salience=0.5)
    before = real.core.store.connection.total_changes()
    assert real.search("kafka", record=False).recorded is False
    assert len(real.recall(real.recalls.query("kafka")).results) == 1
    assert real.search("kafka", as_of=real.core.clock()).recorded is False
    assert real.core.store.connection.total_changes() == before


def test_asking_in_a_session_is_not_a_filter(real: Engine, ids: dict[str, str]) -> None:
    found = by_id(real, "deploy the API", session="sess9")
    assert set(found) == set(ids.values())


# ── time ──


def test_a_future_end_is_not_yet_an_end(real: Engine, clock) -> None:
    soon = real.remember("The promotion runs until Friday", valid_until=clock.now + DAY_MS).id
    assert by_id(real, "promotion", project=None)[soon].is_superseded is False
    clock.advance(ms=DAY_MS - 1)
    assert soon in by_id(real, "promotion", project=None)
    clock.advance(ms=1)  # half-open: at its end it is over
    assert soon not in by_id(real, "promotion", project=None)
    assert by_id(real, "promotion", project=None, include_superseded=True)[soon].is_superseded is True


def test_a_memory_is_valid_from_its_first_moment(real: Engine, clock) -> None:
    later = real.remember("The new office opens", valid_from=clock.now + 1000).id
    assert later not in by_id(real, "office", project=None)
    clock.advance(ms=999)
    assert later not in by_id(real, "office", project=None)
    clock.advance(ms=1)
    assert later in by_id(real, "office", project=None)


def test_a_supersession_that_is_yet_to_come_has_not_happened(real: Engine, clock) -> None:
    old = real.remember("The office is in Busan").id
    new = real.remember("The office is in Seoul").id
    real.supersede(old, new, at=clock.now + DAY_MS)
    now = by_id(real, "office", project=None)
    assert set(now) == {old, new}
    assert (now[old].is_superseded, now[old].superseded_by) == (False, None)
    clock.advance(days=1)
    assert set(by_id(real, "office", project=None)) == {new}


def test_as_of_sees_what_was_known_then(real: Engine, clock) -> None:
    start = clock.now
    old = real.remember("The deploy day is Friday").id
    clock.advance(days=10)
    new = real.edit(old, "The deploy day is Tuesday").id
    clock.advance(days=10)
    assert list(by_id(real, "deploy day", project=None)) == [new]
    then = by_id(real, "deploy day", project=None, as_of=start + 5 * DAY_MS)
    assert list(then) == [old]
    assert (then[old].is_superseded, then[old].superseded_by) == (False, None)
    assert list(by_id(real, "deploy day", project=None, as_of=start + 10 * DAY_MS)) == [new]
    assert by_id(real, "deploy day", project=None, as_of=start - 1) == {}


def test_as_of_judges_salience_by_the_events_until_then(real: Engine, clock) -> None:
    id = real.remember("The kettle is in the kitchen", salience=0.5, importance=0.4).id
    clock.advance(days=3)
    real.confirm(id)
    at, expected = clock.now, salience_of(real, id)
    clock.advance(days=30)
    real.confirm(id)
    real.search("kettle")
    assert by_id(real, "kettle", project=None, as_of=at)[id].salience == pytest.approx(expected, abs=1e-12)
    before = by_id(real, "kettle", project=None, as_of=at - 1)[id].salience
    assert before == pytest.approx(0.5 * math.exp(-0.005 / 0.5 * (3 - 1 / DAY_MS)), abs=1e-12)


def test_forgotten_stays_hidden_at_every_time(real: Engine, clock) -> None:
    id = real.remember("A secret plan").id
    then = clock.advance(days=1)
    clock.advance(days=1)
    real.forget(id)
    assert by_id(real, "secret plan", project=None, as_of=then, include_superseded=True) == {}


# ── the timeline ──


def test_a_timeline_is_chronological_and_stays_in_its_project(real: Engine, clock) -> None:
    ids = []
    for number in range(7):
        ids.append(real.remember(f"Step {number} of the launch plan", project="proj1", dedupe=False).id)
        real.remember(f"Noise {number} from elsewhere", project="proj2", dedupe=False)
        clock.advance(ms=1)
    timeline = real.layers.timeline(ids[3], 2, 2)
    assert [m.id for m in timeline.before] == ids[1:3]
    assert [m.id for m in timeline.after] == ids[4:6]
    assert [m.id for m in real.layers.timeline(ids[0]).before] == []
    assert [m.id for m in real.layers.timeline(ids[0]).after] == ids[1:6]  # five by default
    assert real.layers.timeline(ids[3], 0, 0).before == ()


def test_equal_timestamps_are_ordered_by_id(real: Engine) -> None:
    ids = [real.remember(f"Entry {number} of one moment", dedupe=False).id for number in range(5)]
    assert ids == sorted(ids)
    timeline = real.layers.timeline(ids[2])
    assert [m.id for m in timeline.before] == ids[:2]
    assert [m.id for m in timeline.after] == ids[3:]


def test_a_timeline_leaves_out_the_forgotten_and_knows_every_session(real: Engine, clock) -> None:
    real.sessions.start("a")
    real.sessions.start("b")
    memories: list[str] = []
    for number, session in enumerate(["a", "a", "b", None]):
        memories.append(real.remember(f"Move {number} of the game", session=session, dedupe=False).id)
        clock.advance(ms=1)
    real.forget(memories[1])
    timeline = real.layers.timeline(memories[2])
    assert [m.id for m in timeline.before] == [memories[0]]
    assert [m.id for m in timeline.after] == [memories[3]]
    assert set(timeline.sessions) == {"a", "b"}


def test_a_timeline_shows_nothing_from_quarantine(real: Engine) -> None:
    anchor = real.remember("A trusted note").id
    real.remember("An untrusted import", zone="quarantine")
    real.remember("A quarantined claim", status="quarantined")
    assert real.layers.timeline(anchor).after == ()


def test_a_missing_anchor_is_an_error(real: Engine, ids: dict[str, str]) -> None:
    with pytest.raises(NotFound, match="no memory 'nothing'"):
        real.layers.timeline("nothing")


# ── session context ──


@pytest.mark.parametrize("usage", list(Usage))
def test_session_context_tells_each_usage(real: Engine, ids: dict[str, str], usage: Usage, clock) -> None:
    memory: Memory = real.get(ids[REACT])
    real.sessions.start("later")
    clock.advance(ms=1)
    real.sessions.link("later", memory.id, usage)
    context = real.sessions.context(memory.id)
    assert context is not None
    assert (context.session.id, context.usage, context.memories_in_session) == ("later", usage, 1)


def test_a_memory_of_no_session_has_no_context(real: Engine) -> None:
    assert real.sessions.context(real.remember("Alone").id) is None


def test_a_link_to_a_session_that_was_not_started_starts_it(real: Engine) -> None:
    id = real.remember("Linked later").id
    real.sessions.link("fresh", id, "updated")
    context = real.sessions.context(id)
    assert context is not None
    assert context.session.id == "fresh"
    assert list(by_id(real, "linked", project=None, in_session="fresh")) == [id]


def test_confirming_and_superseding_link_the_session(real: Engine, opened, minilm: MiniLMEncoder) -> None:
    engine = opened("real.db", encoder=minilm, session="agent")
    old = engine.remember("The port is 8080", dedupe=False).id
    engine.confirm(old)
    assert engine.sessions.context(old).usage is Usage.REINFORCED
    new = real.remember("The port is 9090", dedupe=False).id
    other = opened("real.db", encoder=minilm, session="second")
    other.supersede(old, new)
    report = other.sessions.report("second")
    assert [(memory.id, usage) for memory, usage, _ in report.links] == [(old, Usage.UPDATED)]


# ── the whole of it is explained ──


def test_why_a_memory_surfaced_is_in_its_parts(real: Engine, ids: dict[str, str]) -> None:
    recall = real.recall(real.recalls.query("how do we deploy", project="proj1"))
    for result in recall.results:
        assert sum(result.parts.values()) == pytest.approx(result.score, abs=1e-9)
    gates = [entry.verdict.name for entry in recall.ledger.entries if entry.stage == "gates"]
    assert gates[:5] == ["namespace-scope", "status-active", "validity", "trust-zone", "project"]


def test_an_unknown_option_lists_the_options(real: Engine) -> None:
    with pytest.raises(
        InvalidInput, match="unknown search option 'projectId'; the options are: actionability_weights, affected"
    ):
        real.search("x", projectId="proj1")
