"""The plan of a recall: a pure function of the query."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import Final

from msgspec import structs

from recallens.model.plan import Complexity, Plan, Strategy, Window
from recallens.model.query import WIDE_ALPHA, WIDE_BETA, WIDE_LIMIT, Query
from recallens.recall.question import complexity_of, intent_of, level_of, mentions, strategy_of
from recallens.text.annotation import annotate
from recallens.text.stopwords import expansions
from recallens.text.times import day_of, milliseconds, time_references
from recallens.text.tokenizer import tokenize

# A longer text is a document; its first pages say what it asks, and reading them all would take longer than searching.
PLANNED_CHARACTERS: Final = 4_000
# How many results a question calls for is asked before its plan is made: what was read then is read once.
REMEMBERED: Final = 256


def make_plan(query: Query, *, widened: bool = False) -> Plan:
    """The plan of a first round; that of a second one, `widened`, looks with every means there is."""
    text = query.text[:PLANNED_CHARACTERS]
    windows = windows_of(text, query.at)
    complexity = measure(text, dated=bool(windows))
    strategy = Strategy.COMPLEX if widened else strategy_of(complexity.score)
    return Plan(
        complexity=complexity,
        strategy=strategy,
        intent=query.intent or intent_of(text),
        intent_given=query.intent is not None,
        level=level_of(text),
        windows=windows,
        expansions={} if strategy is Strategy.SIMPLE else expansions(text, dict.fromkeys(tokenize(text))),
    )


def widened_query(query: Query) -> Query:
    limit = max(WIDE_LIMIT, query.limit)
    most = limit if query.max_results is None else min(limit, query.max_results)
    return structs.replace(query, alpha=WIDE_ALPHA, beta=WIDE_BETA, limit=most)


annotations_of = lru_cache(maxsize=REMEMBERED)(annotate)


@lru_cache(maxsize=REMEMBERED)
def measure(text: str, *, dated: bool) -> Complexity:
    return complexity_of(text, len(mentions(text, annotations_of(text))), dated=dated)


def windows_of(text: str, now: int) -> tuple[Window, ...]:
    return _windows(text, day_of(now))


@lru_cache(maxsize=REMEMBERED)
def _windows(text: str, today: date) -> tuple[Window, ...]:
    return tuple(
        Window(phrase, milliseconds(start), milliseconds(end)) for phrase, start, end in time_references(text, today)
    )
