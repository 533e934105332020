"""What it takes to add a term or a filter: one declaration, and everything that reads it follows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recallens import Draft, Engine
from recallens.model.pool import Pool
from recallens.model.query import Filters, Query
from recallens.model.terms import WORDS, plain
from recallens.model.verdict import Gate, all_true
from recallens.recall import pipeline
from recallens.recall.gates import FilterRule, filter_rules
from recallens.recall.presets import DEFAULT, PRESETS
from recallens.recall.scene import Scene
from recallens.recall.terms import Amounts, ScoreTerm

# A value that asks for each of the caller's filters.
FILTERS: dict[str, Any] = {
    "project": "api",
    "sector": "semantic",
    "tier": "project",
    "kind": "fact",
    "tags": ["cache"],
    "min_salience": 0.1,
    "in_session": "s-1",
    "documents": "exclude",
    "requires_citations": True,
    "scope": "project",
    "affected": ["src/cache.py"],
    "folders": ["notes"],
    "include_raw": False,
    "brain_file_limit": 0,
    "medium_term_limit": 0,
    "since": 1,
    "until": "2030-01-01",
}


def lengths(weight: float, view: str | None = None) -> ScoreTerm:
    def formula(scene: Scene, pool: Pool, query: Query) -> Amounts:
        return weight * scene.columns["chars"][pool.rows].astype(np.float64), all_true(len(pool)), {"weight": weight}

    return ScoreTerm("textLength", formula, view=view, fits=True)


@pytest.fixture
def measured(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A preset with a term that no table knows."""
    for view in (None, "semantic"):
        name = f"lengths-{view}"
        monkeypatch.setitem(PRESETS, name, replace(DEFAULT, name=name, terms=(*DEFAULT.terms, lengths(0.5, view))))
    engine.remember("cache")
    return engine


def test_a_term_is_a_formula_and_an_entry_in_a_preset(measured: Engine) -> None:
    (result,) = measured.search("cache", preset="lengths-None", alpha=1.0, record=False).results
    assert result.parts["textLength"] == 0.5 * len("cache")
    assert list(result.parts)[-1] == "textLength"
    assert sum(result.parts.values()) == pytest.approx(result.score, abs=1e-9)
    assert plain("textLength") == "text length"


def test_a_term_that_measures_fit_is_weighed_by_alpha_and_by_the_caller(measured: Engine) -> None:
    recall = measured.search("cache", preset="lengths-None", alpha=0.5, weights={"textLength": 3.0}, record=False)
    assert recall.results[0].parts["textLength"] == 0.5 * len("cache") * (0.5 * 3.0)
    (term,) = (term for term in recall.ledger.terms() if term.name == "textLength")
    assert dict(term.stats) == {"weight": 0.5, "alpha": 0.5, "factor": 3.0}


def test_a_term_is_left_out_where_its_view_is_not_asked(measured: Engine) -> None:
    (result,) = measured.search("cache", preset="lengths-semantic", mode="keyword", record=False).results
    assert "textLength" not in result.parts


def test_every_term_of_a_preset_has_words() -> None:
    assert {term.name for preset in PRESETS.values() for term in preset.terms} <= WORDS.keys()


def test_each_of_the_callers_filters_is_one_gate(engine: Engine) -> None:
    """Whoever adds a field to `Filters` adds a rule for it; `include_superseded` only loosens two standing rules."""
    assert FILTERS.keys() == set(Filters.__match_args__) - {"include_superseded"}
    engine.remember(Draft("cache", project="api", session="s-1"))
    for name, value in FILTERS.items():
        project = {"project": "api"} if name == "scope" else {}
        without = gates_of(engine, **project)
        added = [gate for gate in gates_of(engine, **project, **{name: value}) if gate not in without]
        assert len(added) == 1, name


def gates_of(engine: Engine, **options: Any) -> list[str]:
    ledger = engine.search("cache", mode="keyword", record=False, **options).ledger
    return [entry.verdict.name for entry in ledger.entries if isinstance(entry.verdict, Gate)]


def test_a_pushed_filter_and_a_judged_one_are_the_same_rule(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(30):
        engine.remember(Draft(f"cache number {at}", kind="decision" if at == 7 else "fact"), dedupe=False)
    asked: list[FilterRule] = []

    def counted(scene: Scene, query: Query) -> tuple[FilterRule, ...]:
        rules = filter_rules(scene, query)
        asked.extend(rule for rule in rules if rule.from_caller)
        return rules

    monkeypatch.setattr(pipeline, "filter_rules", counted)
    ledger = engine.search("cache", kind="decision", mode="keyword", record=False).ledger
    (gate,) = (e.verdict for e in ledger.entries if isinstance(e.verdict, Gate) and e.verdict.name == "kind")
    assert [rule.name for rule in asked] == ["kind"]
    assert gate.pushed == (30, 1)
    assert not gate.fails.any()
