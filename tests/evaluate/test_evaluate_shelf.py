"""Rating results into a golden set: what is kept, what it measures, and that `eval` reads the same."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.evaluate.expectations import expectations
from recallens.evaluate.golden import read_golden
from recallens.evaluate.harness import Variant, run_golden
from recallens.evaluate.shelf import rate, rated_path, rated_questions, rated_score, rated_sets


@pytest.fixture
def store(engine: Engine) -> Engine:
    for text in ("The cache keeps lookups for 60 seconds.", "The cache is on Redis.", "배포는 화요일과 목요일에 한다."):
        engine.remember(text)
    return engine


def ids(engine: Engine, query: str) -> list[str]:
    return [result.memory.id for result in engine.recall(engine.recalls.query(query)).results]


def test_a_rating_is_kept_as_a_golden_question_with_grades(store: Engine) -> None:
    first, second, *_ = ids(store, "cache lookups")
    rate(store, "mine", "cache lookups", {first: 1, second: 3}, namespace="default")
    kept = read_golden(rated_path(store, "mine", namespace="default")).questions
    assert [(one.query, one.expect, dict(one.grades)) for one in kept] == [
        ("cache lookups", (first, second), {first: 1, second: 3})
    ]
    assert rated_sets(store, namespace="default") == ["mine"]


def test_ndcg_is_the_formula_over_the_grades(store: Engine) -> None:
    first, second, *_ = ids(store, "cache lookups")
    rate(store, "mine", "cache lookups", {first: 1, second: 3}, namespace="default")
    found = rated_score(store, "mine", namespace="default", now=store.core.clock())
    best = 3 + 1 / math.log2(3)
    assert found.ndcg == {"cache lookups": pytest.approx((1 + 3 / math.log2(3)) / best)}
    assert found.mean == pytest.approx(found.ndcg["cache lookups"])


def test_only_the_latest_questions_of_a_long_set_are_asked(store: Engine) -> None:
    for query in ("cache lookups", "배포 요일", "Redis"):
        rate(store, "mine", query, {ids(store, query)[0]: 2}, namespace="default")
    found = rated_score(store, "mine", namespace="default", now=store.core.clock(), latest=2)
    assert (list(found.ndcg), found.total) == (["배포 요일", "Redis"], 3)


def test_eval_measures_the_same_set_alike(store: Engine) -> None:
    for query in ("cache lookups", "배포 요일"):
        rate(store, "mine", query, {ids(store, query)[0]: 2}, namespace="default")
    golden = read_golden(rated_path(store, "mine", namespace="default"))
    run = run_golden(store, golden, expectations(store, golden), Variant("default"), now=store.core.clock())
    found = rated_score(store, "mine", namespace="default", now=store.core.clock())
    assert found.ndcg == {one.id: one.metrics["ndcg@10"] for one in run.questions}


def test_rating_again_changes_what_is_said_and_keeps_the_rest(store: Engine) -> None:
    first, second, *_ = ids(store, "cache lookups")
    rate(store, "mine", "cache lookups", {first: 3}, namespace="default")
    rate(store, "mine", "cache lookups", {second: 2}, namespace="default")
    kept = rate(store, "mine", "cache lookups", {first: 0}, namespace="default")
    assert (kept.expect, dict(kept.grades)) == ((second,), {first: 0, second: 2})
    assert len(rated_questions(store, "mine", namespace="default")) == 1


def test_namespaces_do_not_see_each_others_questions(store: Engine) -> None:
    here = ids(store, "cache lookups")[0]
    there = store.remember("Another cache.", namespace="team").id
    rate(store, "mine", "cache lookups", {here: 3}, namespace="default")
    rate(store, "mine", "cache lookups", {there: 3}, namespace="team")
    assert [one.expect for one in rated_questions(store, "mine", namespace="team")] == [(there,)]
    assert [one.expect for one in rated_questions(store, "mine", namespace="default")] == [(here,)]
    assert rated_questions(store, "mine", namespace="third") == ()


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x" * 65, "a.b"])
def test_a_name_that_leads_elsewhere_is_refused(store: Engine, name: str) -> None:
    with pytest.raises(InvalidInput, match="no name for a set"):
        rate(store, name, "cache", {}, namespace="default")


def test_what_cannot_be_kept_is_refused_and_nothing_is_written(store: Engine) -> None:
    first = ids(store, "cache lookups")[0]
    for query, grades, words in (
        ("cache", {first: 0}, "nothing is rated above 0"),
        ("cache", {first: 4}, "one of 0, 1, 2, 3"),
        (" ", {first: 1}, "empty"),
    ):
        with pytest.raises(InvalidInput, match=words):
            rate(store, "mine", query, grades, namespace="default")
    assert rated_sets(store, namespace="default") == []


def test_grades_by_hand_and_wrong_ones(tmp_path: Path) -> None:
    path = tmp_path / "set.yaml"
    path.write_text("- query: q\n  expect: [a]\n  grades: {b: 3, c: 0}\n", encoding="utf-8")
    (question,) = read_golden(path).questions
    assert (question.expect, dict(question.grades)) == (("a", "b"), {"b": 3, "c": 0})
    path.write_text("- query: q\n  grades: {b: 7}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="must be one of 0, 1, 2, 3"):
        read_golden(path)
