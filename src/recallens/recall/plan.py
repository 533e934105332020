"""The plan of a recall: a pure function of the query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from msgspec import structs

from recallens.model.plan import Complexity, Plan, Strategy, Window
from recallens.model.query import WIDE_ALPHA, WIDE_BETA, WIDE_LIMIT, Query
from recallens.model.salience import DAY_MS
from recallens.model.times import day
from recallens.recall.intents import wish_of
from recallens.recall.question import complexity_of, level_of, mentions, strategy_of
from recallens.text.annotation import annotate
from recallens.text.languages import alternatives
from recallens.text.remembered import remembered
from recallens.text.stopwords import expansions
from recallens.text.times import day_of, milliseconds, time_references
from recallens.text.tokenizer import tokenize

# A longer text is a document; its first pages say what it asks, and reading them all would take longer than searching.
PLANNED_CHARACTERS: Final = 4_000
# How many results a question calls for is asked before its plan is made: what was read then is read once.
REMEMBERED: Final = 256
_STATES: Final = re.compile(alternatives(lambda pack: pack.times.states), re.IGNORECASE)


def make_plan(query: Query, *, widened: bool = False) -> Plan:
    """The plan of a first round; that of a second one, `widened`, looks with every means there is."""
    text = query.text[:PLANNED_CHARACTERS]
    windows = held_then(text, (*windows_of(text, query.at), *given_windows(query)), query.at)
    complexity = measure(text, dated=bool(windows))
    strategy = Strategy.COMPLEX if widened else strategy_of(complexity.score)
    wish = wish_of(text, query.intent)
    expanded = query.expand or strategy is not Strategy.SIMPLE
    return Plan(
        complexity=complexity,
        strategy=strategy,
        intent=wish.intent,
        intent_given=query.intent is not None,
        intent_confidence=wish.confidence,
        intent_cues=wish.cues,
        level=level_of(text),
        windows=windows,
        expansions=expansions(text, dict.fromkeys(tokenize(text))) if expanded else {},
    )


def widened_query(query: Query) -> Query:
    limit = max(WIDE_LIMIT, query.limit)
    most = limit if query.max_results is None else min(limit, query.max_results)
    return structs.replace(query, alpha=WIDE_ALPHA, beta=WIDE_BETA, limit=most)


annotations_of = remembered(REMEMBERED)(annotate)


@remembered(REMEMBERED)
def measure(text: str, *, dated: bool) -> Complexity:
    return complexity_of(text, len(mentions(text, annotations_of(text))), dated=dated)


def windows_of(text: str, now: int) -> tuple[Window, ...]:
    return _windows(text, day_of(now))


def held_then(text: str, windows: Sequence[Window], now: int) -> tuple[Window, ...]:
    """The windows, as times by which it is judged what held, where the question asks how something was then."""
    if not windows or _STATES.search(text) is None:
        return tuple(windows)
    over = milliseconds(day_of(now))
    return tuple(
        window if window.given or window.vague or window.end > over else structs.replace(window, as_of=True)
        for window in windows
    )


def given_windows(query: Query) -> Iterator[Window]:
    """The time that the caller set. What only has a beginning ends now, unless the question speaks of a later time."""
    since, until = query.filters.since, query.filters.until
    if since is not None or until is not None:
        start, end = 0 if since is None else since, until
        if end is None:
            read = (window.end for window in windows_of(query.text[:PLANNED_CHARACTERS], query.at))
            end = max(milliseconds(day_of(query.at)) + DAY_MS, start + DAY_MS, *read)
        words = [f"since {day(start)}"] * (since is not None) + [f"until {day(end - 1)}"] * (until is not None)
        yield Window(" ".join(words), start, end, given=True)


@remembered(REMEMBERED)
def _windows(text: str, today: date) -> tuple[Window, ...]:
    return tuple(
        Window(one.text, milliseconds(one.start), milliseconds(one.end), one.vague)
        for one in time_references(text, today)
    )
