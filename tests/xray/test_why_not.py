"""Why not this one? Every blocker in a scene of its own, and the law that what is suggested works."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from laws import taking
from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.model.ledger import Ledger
from recallens.model.query import MAX_LIMIT, Filters, Mode, Query
from recallens.model.salience import DAY_MS
from recallens.xray.counterfactual import MAX_RERUNS, QueryChange
from recallens.xray.why_not import KeptOut, Returned, Unknown, WhyNot, why_not
from standing import START_MS, FixedClock
from worlds import World, populate, populated, questions, worlds

few = taking(25)
NOBODY = "0" * 26


def rerun(engine: Engine) -> Callable[[Query], Ledger]:
    return lambda query: engine.recall(query).ledger


def ask(engine: Engine, id: str, text: str, /, **options: Any) -> WhyNot:
    """Without the cut, unless a scene is about it: each of these is about another blocker."""
    more = {name: options.pop(name) for name in ("budget", "tokens", "weights", "scopes") if name in options}
    query = replace(engine.recalls.query(text, **{"cut": False, **options}), **more)
    return why_not(id, query, rerun(engine), memory=engine.get(id))


def kept_out(engine: Engine, id: str, text: str, /, **options: Any) -> KeptOut:
    found = ask(engine, id, text, **options)
    assert isinstance(found, KeptOut), found
    return found


def names(found: KeptOut) -> list[str]:
    return [blocker.name for blocker in found.blockers]


# ── not kept out ──


def test_one_that_is_in_the_results_has_its_rank(engine: Engine) -> None:
    id = engine.remember("cache lookups").id
    found = ask(engine, id, "cache")
    assert found == Returned(id, 1)
    assert found.sentence == f"{id} is in the results already: it is 1st."
    assert found.to_json() == {"outcome": "returned", "memoryId": id, "rank": 1, "sentence": found.sentence}


def test_an_id_that_is_not_in_the_namespace_is_unknown(engine: Engine) -> None:
    engine.remember("cache lookups")
    elsewhere = engine.remember("cache lookups", namespace="other").id
    for id in (NOBODY, elsewhere):
        found = why_not(id, engine.recalls.query("cache"), rerun(engine))
        assert found == Unknown(id, "default")
        assert found.sentence == f"There is no memory {id} in namespace 'default'."
    assert why_not(NOBODY, engine.recalls.query("cache", namespace="empty"), rerun(engine)) == Unknown(NOBODY, "empty")


def test_an_empty_query_is_refused(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        why_not(NOBODY, engine.recalls.query(" "), rerun(engine))


# ── the caller's filters ──


FILTERS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("project", {"project": "q"}, {"project": "p"}, "its project is not p"),
    ("sector", {"sector": "semantic"}, {"sector": "emotional"}, "its sector is not emotional"),
    ("tier", {"tier": "project"}, {"tier": "session"}, "its tier is not session"),
    ("kind", {"kind": "fact"}, {"kind": "gotcha"}, "its kind is not gotcha"),
    ("tags", {"tags": ("ops",)}, {"tags": ("ops", "web")}, "it is not tagged ops, web"),
    ("min-salience", {"salience": 0.1}, {"min_salience": 0.9}, "its salience is below 0.9"),
    ("in-session", {"session": "s1"}, {"in_session": "s2"}, "session s2 has no link to it"),
    ("documents", {}, {"documents": "only"}, "it is from no document, and documents is only"),
]


@pytest.mark.parametrize(("gate", "attributes", "option", "reason"), FILTERS, ids=[row[0] for row in FILTERS])
def test_a_filter_of_the_caller_comes_off(
    engine: Engine, gate: str, attributes: dict[str, Any], option: dict[str, Any], reason: str
) -> None:
    engine.sessions.start("s2")
    id = engine.remember("cache lookups for a minute", **attributes).id
    for at in range(4):
        engine.remember(f"something else {at}")
    found = kept_out(engine, id, "cache lookups", **option)
    assert names(found) == [gate]
    assert found.dropped_by.reason == reason
    ((name, value),) = option.items()
    assert found.change is not None
    assert found.change.setting == f"filters.{name}"
    assert found.change.before == value
    assert found.change.rank == 1
    assert found.reruns == 2
    assert found.sentence.startswith(f"{id} is not in the results: {reason}. The smallest change that brings it in: ")


def test_two_filters_have_no_single_change_and_are_both_named(engine: Engine) -> None:
    id = engine.remember("cache lookups", project="q", kind="fact").id
    found = kept_out(engine, id, "cache", project="p", kind="gotcha")
    assert names(found) == ["project", "kind"]
    assert (found.change, found.advice, found.reruns) == (None, None, 1)
    assert found.sentence.endswith("No single change to the query brings it in; what keeps it out: project, kind.")


# ── status, validity, trust ──


def test_a_superseded_memory_comes_in_with_what_is_superseded(engine: Engine, clock: FixedClock) -> None:
    old, new = engine.remember("cache for a minute").id, engine.remember("cache for an hour").id
    clock.advance(days=2)
    engine.supersede(old, new)
    clock.advance(days=3)
    found = kept_out(engine, old, "cache")
    assert names(found) == ["status-active", "validity"]
    assert found.dropped_by.reason == "its status is superseded"
    assert found.missed.days == pytest.approx(3.0, abs=1e-6)
    assert found.change is not None
    assert (found.change.setting, found.change.after) == ("filters.include_superseded", True)
    assert "include what has been superseded" in found.sentence


@pytest.mark.parametrize(
    ("validity", "days", "reason", "setting"),
    [
        ({"valid_until": START_MS - DAY_MS}, 1.0, "it held only until 2026-05-31", "filters.include_superseded"),
        ({"valid_from": START_MS + 7 * DAY_MS}, 7.0, "it holds only from 2026-06-08", "as_of"),
    ],
    ids=["expired", "to come"],
)
def test_validity_says_how_many_days_and_what_to_ask(
    engine: Engine, validity: dict[str, int], days: float, reason: str, setting: str
) -> None:
    id = engine.remember("cache lookups", created=START_MS - 9 * DAY_MS, **validity).id
    found = kept_out(engine, id, "cache")
    assert names(found) == ["validity"]
    assert found.dropped_by.reason == reason
    assert found.missed.days == pytest.approx(days, abs=1e-6)
    assert found.change is not None
    assert found.change.setting == setting


def test_a_question_about_a_time_before_it_was_known(engine: Engine) -> None:
    id = engine.remember("cache lookups").id
    found = kept_out(engine, id, "cache", as_of=START_MS - DAY_MS)
    assert found.dropped_by.reason == "it was stored on 2026-06-01, after the time asked about"
    assert found.missed.days == 1.0
    assert found.change == QueryChange("as_of", START_MS - DAY_MS, None, 1)
    assert "ask about now" in found.sentence


BLOCKED: list[tuple[str, str | None]] = [
    ("pending_review", "`recallens review approve {id}` would."),
    ("quarantined", "`recallens review approve {id}` would."),
    ("archived", "`recallens restore {id}` would."),
    ("rejected", "It was rejected in review; if it is right after all, remember it again."),
]


@pytest.mark.parametrize(("status", "advice"), BLOCKED, ids=[row[0] for row in BLOCKED])
def test_a_blocked_memory_has_a_command_and_no_change(engine: Engine, status: str, advice: str) -> None:
    engine.remember("something else")
    id = engine.remember("cache lookups", status=status).id
    found = kept_out(engine, id, "cache")
    assert found.dropped_by.name == "status-active"
    assert found.dropped_by.reason == f"its status is {status}"
    assert found.change is None
    assert found.advice == advice.format(id=id)
    assert found.reruns == 1


def test_a_forgotten_memory_is_restored_by_its_command(engine: Engine) -> None:
    id = engine.remember("cache lookups").id
    engine.forget(id)
    found = kept_out(engine, id, "cache")
    assert found.sentence == (
        f"{id} is not in the results: its status is forgotten. "
        f"No change to the query brings it in. `recallens restore {id}` would."
    )
    filtered = kept_out(engine, id, "cache", project="p")
    assert names(filtered) == ["status-active", "project"]
    assert filtered.advice == f"`recallens restore {id}` is the first step."


def test_quarantine_is_left_by_review(engine: Engine) -> None:
    id = engine.remember("cache lookups", zone="quarantine").id
    found = kept_out(engine, id, "cache")
    assert names(found) == ["trust-zone"]
    assert (found.change, found.advice) == (None, f"`recallens review approve {id}` would.")


def test_one_that_is_meant_for_another_context(engine: Engine) -> None:
    scope = "do-not-use-outside-this-context"
    id = engine.remember("cache lookups", scopes=(scope,)).id
    found = kept_out(engine, id, "cache")
    assert names(found) == ["context-scope"]
    assert found.dropped_by.reason == "it is meant for a context that the caller does not hold"
    assert (found.change, found.advice) == (None, "Asking from the context that it is meant for would.")
    assert ask(engine, id, "cache", scopes=(scope,)) == Returned(id, 1)


def test_without_the_memory_itself_the_gates_still_answer(engine: Engine) -> None:
    old, new = engine.remember("cache for a minute").id, engine.remember("cache for an hour").id
    engine.supersede(old, new)
    found = why_not(old, engine.recalls.query("cache"), rerun(engine))
    assert isinstance(found, KeptOut)
    assert found.change is not None
    assert found.change.setting == "filters.include_superseded"
    engine.forget(old)
    found = why_not(old, engine.recalls.query("cache"), rerun(engine))
    assert isinstance(found, KeptOut)
    assert (found.change, found.advice) == (None, None)


# ── rank, budget, likeness, documents ──


def ranked(engine: Engine, count: int) -> list[str]:
    """Memories in the order in which "cache" finds them: the same words, ever less important."""
    created = [START_MS - at * DAY_MS for at in range(count)]
    return [
        engine.remember(f"cache {chr(ord('a') + at) * 6}", created=when, salience=1.0, dedupe=False).id
        for at, when in enumerate(created)
    ]


def test_cut_by_rank_the_limit_is_its_rank(engine: Engine) -> None:
    ranked(engine, 8)
    query = engine.recalls.query("cache", preset="classic", mode="keyword")
    order = [result.memory.id for result in engine.recall(query).results]
    recall = engine.recall(replace(query, limit=3))
    scores = {result.memory.id: result.score for result in engine.recall(query).results}
    found = kept_out(engine, order[4], "cache", preset="classic", mode="keyword", limit=3)
    assert names(found) == ["limit"]
    assert found.dropped_by.reason == "its score puts it 5th, and the limit is 3"
    assert found.missed.rank == 5
    assert found.missed.score == pytest.approx(recall.results[-1].score - scores[order[4]])
    assert found.change == QueryChange("limit", 3, 5, 5)
    assert found.reruns == 3
    assert "limit 5 instead of 3; it is 5th then" in found.sentence


def test_never_proposed_says_the_best_place_and_the_depth(engine: Engine) -> None:
    ids = ranked(engine, 24)
    query = engine.recalls.query("cache", limit=1, mode="keyword", preset="classic")
    ledger = engine.recall(query).ledger
    (plan,) = ledger.notes("plan")
    last = next(id for id in ids if id.encode() not in ledger.replay().ids.tolist())
    found = kept_out(engine, last, "cache", limit=1, mode="keyword", preset="classic")
    assert found.dropped_by.name == "not-proposed"
    assert found.dropped_by.reason.startswith("no view proposed it: its best place is ")
    assert (found.missed.view, found.missed.depth) == ("lexical", plan["depth"])
    assert found.change is not None
    assert found.change.setting == "limit"
    below = replace(query, limit=found.change.after - 1)
    assert last not in [result.memory.id for result in engine.recall(below).results]


def test_another_mode_where_no_words_match(engine: Engine) -> None:
    id = engine.remember("entirely other words").id
    engine.remember("cache lookups")
    found = kept_out(engine, id, "cache", mode="keyword", cut=False)
    assert names(found)[0] == "not-proposed"
    assert found.change == QueryChange("mode", "keyword", "hybrid", 2)


def test_the_budget_that_it_needs_is_the_smallest(engine: Engine) -> None:
    long = engine.remember(f"cache {'lookups and more of them ' * 30}").id
    engine.remember("cache")
    query = engine.recalls.query("cache", cut=False)
    assert len(engine.recall(query).results) == 2
    found = kept_out(engine, long, "cache", budget=600)
    assert names(found) == ["budget-fit"]
    assert found.missed.chars is not None
    assert found.missed.tokens is None
    assert found.change is not None
    assert (found.change.setting, found.change.after) == ("budget", 600 + found.missed.chars)
    less = replace(query, budget=found.change.after - 1)
    assert long not in [result.memory.id for result in engine.recall(less).results]
    assert f"it does not fit the budget, which is {found.missed.chars} characters short" in found.sentence


def test_tokens_are_a_budget_of_their_own(engine: Engine) -> None:
    long = engine.remember(f"cache {'lookups and more of them ' * 30}").id
    engine.remember("cache")
    found = kept_out(engine, long, "cache", tokens=100)
    assert found.missed.chars is None
    assert found.missed.tokens is not None
    assert found.change is not None
    assert (found.change.setting, found.change.after) == ("tokens", 100 + found.missed.tokens)


def test_short_of_both_budgets_no_single_one_helps(engine: Engine) -> None:
    long = engine.remember(f"cache {'lookups and more of them ' * 30}").id
    engine.remember("cache cache")
    found = kept_out(engine, long, "cache", budget=300, tokens=70)
    assert (found.missed.chars or 0) > 0
    assert (found.missed.tokens or 0) > 0
    assert found.change is None or found.change.setting not in ("budget", "tokens")


def test_a_fourth_section_of_one_document(engine: Engine) -> None:
    text = "\n\n".join(f"cache {'lookups ' * at}{'and other things ' * 60}" for at in range(1, 6))
    added = engine.memories.add_document(text, path="cache.md")
    assert len(added.memories) == 5
    shown = {result.memory.id for result in engine.recall(engine.recalls.query("cache")).results}
    hidden = [id for id in added.memories if id not in shown]
    assert len(hidden) == 2
    found = kept_out(engine, hidden[0], "cache")
    assert names(found) == ["per-document-cap"]
    assert found.dropped_by.reason == "per-document-cap cut it: more than 3 of one document"
    assert found.change is None or found.change.setting.split(".")[0] in ("weights", "mode")


def test_one_that_is_not_likely_to_help(engine: Engine) -> None:
    engine.remember("we cache tracking lookups for a minute")
    id = engine.remember("the cache was painted green").id
    found = kept_out(engine, id, "how long do we cache tracking lookups", cut=True)
    assert names(found) == ["relevance-cut"]
    assert re.fullmatch(
        r"its relevance is 0.00\d, below 0.008 \(words held \d+%(, cosine .*)?\)", found.dropped_by.reason
    ), found.dropped_by.reason
    assert found.missed.relevance is not None
    assert 0.0 < found.missed.relevance < 0.008
    assert found.change == QueryChange("cut", True, False, 2)
    assert "take as many as are asked for, however unlikely to help; it is 2nd then" in found.sentence


def test_one_that_is_unlikely_and_far_down_takes_the_cut_off_and_a_higher_limit(engine: Engine) -> None:
    engine.remember("we cache tracking lookups for a minute")
    for at in range(6):
        engine.remember(f"the lookups of shelf {at} were painted green", dedupe=False)
    id = engine.remember("somebody wanted to cache old maps of islands and coasts, and forgot about them").id
    found = kept_out(engine, id, "how long do we cache tracking lookups", cut=True, limit=3)
    assert names(found) == ["relevance-cut", "mmr-diversify"]
    assert found.change is not None
    assert (found.change.setting, found.change.uncut) == ("limit", True)
    assert "and all of them, however unlikely to help" in found.sentence
    query = found.change.applied(engine.recalls.query("how long do we cache tracking lookups", limit=3))
    assert not query.cut
    assert engine.recall(query).results[found.change.rank - 1].memory.id == id


def test_one_that_came_nearest_where_nothing_is_likely_to_help(engine: Engine) -> None:
    id = engine.remember("the cache was painted green").id
    found = kept_out(engine, id, "which airline did we book for the conference cache", cut=True)
    assert names(found) == ["relevance-cut"]
    assert found.change == QueryChange("cut", True, False, 1)


def test_one_that_repeats_another_gives_way_to_something_else(engine: Engine) -> None:
    first, second = (engine.remember("cache lookups minute", dedupe=False).id for _ in range(2))
    other = engine.remember("cache lookups gateway", importance=0.4).id
    for at in range(5):
        engine.remember(f"cache number {at} and so on and on", importance=0.0)
    query = engine.recalls.query("cache lookups", limit=2, mode="keyword", cut=False)
    shown = {result.memory.id for result in engine.recall(query).results}
    assert other in shown
    (hidden,) = {first, second} - shown
    found = kept_out(engine, hidden, "cache lookups", limit=2, mode="keyword", cut=False)
    assert names(found) == ["mmr-diversify"]
    assert found.missed.rank == 2
    assert found.dropped_by.reason == "it repeats what stands above it: 2nd by score alone, it gave way to another"
    assert found.change == QueryChange("limit", 2, 3, 3)


def test_a_weight_where_neither_budget_alone_would_do(engine: Engine) -> None:
    """There is room for one of two: the one that matters more comes first once that counts for more."""
    wordy = engine.remember(f"cache lookups cache lookups {'and so on ' * 40}", importance=0.0, dedupe=False).id
    weighty = engine.remember(f"cache lookups {'and so on ' * 41}", importance=0.8, dedupe=False).id
    for at in range(5):
        engine.remember(f"cache number {at} {'of every month ' * 30}", importance=0.0)
    query = replace(engine.recalls.query("cache lookups", mode="keyword"), budget=600, tokens=200)
    assert [result.memory.id for result in engine.recall(query).results] == [wordy]
    found = kept_out(engine, weighty, "cache lookups", mode="keyword", budget=600, tokens=200)
    assert names(found) == ["budget-fit"]
    assert found.missed.chars is not None
    assert found.missed.tokens is not None
    assert found.change is not None
    assert found.change.setting.startswith("weights.")
    assert found.change.before == 1.0
    assert 0.0 <= found.change.after <= 10.0
    assert [result.memory.id for result in engine.recall(found.change.applied(query)).results] == [weighty]
    assert f"weigh {found.change.setting.removeprefix('weights.')} " in found.sentence


def test_the_real_encoder_answers_too(real: Engine) -> None:
    texts = (
        "we keep tracking lookups in memory for sixty seconds",
        "releases are shipped every tuesday morning",
        "the gateway closes idle connections after a minute",
        "passwords are hashed with argon2",
        "the on-call rota changes on monday",
    )
    ids = [real.remember(text).id for text in texts]
    query = real.recalls.query("when do we ship a release", limit=1, cut=False)
    found = [why_not(id, query, rerun(real), memory=real.get(id)) for id in ids]
    assert found[1] == Returned(ids[1], 1)
    for id, one in zip(ids, found, strict=True):
        if isinstance(one, KeptOut):
            assert one.change is not None
            assert id in [result.memory.id for result in real.recall(one.change.applied(query)).results]


# ── the law ──


@pytest.mark.slow
@given(worlds(), questions, st.booleans(), st.integers(80, 900))
@few
def test_every_change_suggested_works_and_where_none_is_a_blocker_is_named(
    world: World, question: dict[str, Any], told: bool, budget: int
) -> None:
    with populated(World((), (), (), (), ())) as engine:
        ids = populate(engine, world)
        query = replace(engine.recalls.query(**question), budget=budget)
        plain = [result.memory.id for result in engine.recall(query).results]
        others: set[str] | None = None
        for id in ids:
            found = why_not(id, query, rerun(engine), memory=engine.get(id) if told else None)
            assert not isinstance(found, Unknown)
            assert (id in plain) == isinstance(found, Returned)
            if isinstance(found, Returned):
                assert plain[found.rank - 1] == id
                continue
            assert found.blockers
            assert found.dropped_by == found.blockers[0]
            assert found.reruns <= MAX_RERUNS
            assert found.to_json()["sentence"].startswith(id)
            if found.change is not None:
                results = engine.recall(found.change.applied(query)).results
                assert results[found.change.rank - 1].memory.id == id
                if found.change.setting == "limit" and found.reruns < MAX_RERUNS:
                    one_less = engine.recall(replace(query, limit=found.change.after - 1))
                    assert id not in [result.memory.id for result in one_less.results]
            else:
                if others is None:
                    others = {
                        result.memory.id for other in _other_changes(query) for result in engine.recall(other).results
                    }
                assert id not in others


def _other_changes(query: Query) -> list[Query]:
    """Changes that a person would try next; where the answer was that none helps, none of these may."""
    bare = Filters(include_superseded=query.filters.include_superseded)
    each = [name for name in asdict(query.filters) if name != "include_superseded"]
    return [
        *(replace(query, filters=replace(query.filters, **{name: getattr(bare, name)})) for name in each),
        replace(query, filters=replace(query.filters, include_superseded=True)),
        *(replace(query, limit=limit) for limit in (query.limit + 1, 2 * query.limit, MAX_LIMIT)),
        *(replace(query, mode=mode) for mode in Mode),
        replace(query, budget=100_000),
        replace(query, cut=False),
    ]
