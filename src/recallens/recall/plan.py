"""The plan of a recall: a pure function of the query."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from recallens.ingest.annotate import annotate
from recallens.model.memory import Annotations
from recallens.model.plan import Complexity, Plan, Strategy, Window
from recallens.model.query import Query
from recallens.recall.complexity import complexity_of, mentions, strategy_of
from recallens.recall.intents import intent_of, level_of
from recallens.text.calendar import day_of, milliseconds
from recallens.text.synonyms import expansions
from recallens.text.times import time_references
from recallens.text.tokenizer import tokenize

# A longer text is a document; its first pages say what it asks, and reading them all would take longer than searching.
PLANNED_CHARACTERS: Final = 4_000
REMEMBERED: Final = 256


def make_plan(query: Query) -> Plan:
    text = query.text[:PLANNED_CHARACTERS]
    windows = windows_of(text, query.at)
    complexity = measure(text, dated=bool(windows))
    strategy = strategy_of(complexity.score)
    expanding = strategy is not Strategy.SIMPLE
    return Plan(
        complexity=complexity,
        strategy=strategy,
        intent=query.intent or intent_of(text),
        intent_given=query.intent is not None,
        level=level_of(text),
        windows=windows,
        expansions=expansions(text, dict.fromkeys(tokenize(text))) if expanding else {},
    )


def widened(plan: Plan, query: Query) -> Plan:
    """The plan of a second round: it looks with every means there is."""
    text = query.text[:PLANNED_CHARACTERS]
    return replace(plan, strategy=Strategy.COMPLEX, expansions=expansions(text, dict.fromkeys(tokenize(text))))


# How many results a question calls for is asked before its plan is made: what was read then is read once.
@lru_cache(maxsize=REMEMBERED)
def noticed_in(text: str) -> Annotations:
    return annotate(text)


@lru_cache(maxsize=REMEMBERED)
def measure(text: str, *, dated: bool) -> Complexity:
    return complexity_of(text, len(mentions(text, noticed_in(text))), dated=dated)


def windows_of(text: str, now: int) -> tuple[Window, ...]:
    return _windows(text, day_of(now))


@lru_cache(maxsize=REMEMBERED)
def _windows(text: str, today: date) -> tuple[Window, ...]:
    return tuple(
        Window(said, milliseconds(start), milliseconds(end)) for said, start, end in time_references(text, today)
    )
