"""A sieve lets through whatever its patterns match, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies

from recallens.ingest.classification import _CUES
from recallens.ingest.corrections import _REASON, _SIGNS, LONGEST_STATEMENT, correction_in, tells_change
from recallens.text.days_told import _TOLD
from recallens.text.languages import PACKS, alternatives, between_bars
from recallens.text.sieve import Sieve, required, sets_met
from recallens.text.times import _rules

RULES = {
    "commands": "|".join(each for pack in PACKS for own in pack.commands.patterns.values() for each in own),
    "instead": alternatives(lambda pack: pack.commands.instead),
    "corrections": _SIGNS.pattern,
    "reasons": _REASON.pattern,
    **{name: alternatives(lambda pack, name=name: getattr(pack.memories, name)) for name in _CUES},  # type: ignore[misc]
}
ROOT = Path(__file__).parents[2]
PROSE = [
    line
    for folder in ("examples", "docs", "bench/questions")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".md", ".jsonl", ".yaml", ".json")
    for line in path.read_text(encoding="utf-8").splitlines()
]
PATTERNS = [pattern for rule in RULES.values() for pattern in between_bars(rule)]


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_the_same_with_and_without_its_sieve(name: str) -> None:
    pattern, sieve = re.compile(RULES[name], re.MULTILINE), Sieve.of(RULES[name], re.MULTILINE)
    for text in PROSE:
        assert sieve.holds(text.lower()) == (pattern.search(text.lower()) is not None), text


@given(strategies.sampled_from(PATTERNS).flatmap(lambda each: strategies.tuples(
    strategies.just(each), strategies.from_regex(re.compile(each, re.MULTILINE)))))  # fmt: skip
def test_whatever_a_pattern_matches_is_held(example: tuple[str, str]) -> None:
    pattern, text = example
    assert Sieve([pattern], re.MULTILINE).holds(text)


@pytest.mark.parametrize("code", [pack.code for pack in PACKS])
def test_no_rule_of_times_is_held_back_where_it_reads_something(code: str) -> None:
    rules = [
        (guard, re.compile(words.around[0] + rule.pattern + words.around[1]))
        for rule, words, guard in _rules((code,), _TOLD)
    ]
    for text in (written for line in PROSE for written in (line, line.upper())):
        lowered = text.casefold()
        met = sets_met(lowered)
        for guard, pattern in rules:
            assert guard.may_match(lowered, met) or pattern.search(text) is None, (pattern, text)


def test_whatever_corrects_tells_of_a_change() -> None:
    correcting = [text for text in PROSE if len(text) <= LONGEST_STATEMENT and correction_in(text) is not None]
    assert correcting
    assert all(map(tells_change, correcting))


def test_most_patterns_are_only_tried_where_their_letters_are() -> None:
    assert len([pattern for pattern in PATTERNS if not required(pattern, re.MULTILINE)]) <= 4


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a|b", ["a", "b"]),
        ("(?:a|b)|c", ["(?:a|b)", "c"]),
        (r"[|(]|\(|\|", ["[|(]", r"\(", r"\|"]),
        (r"[^])|]x|y", ["[^])|]x", "y"]),
    ],
)
def test_bars_in_brackets_part_nothing(pattern: str, parts: list[str]) -> None:
    assert between_bars(pattern) == parts


@pytest.mark.parametrize(
    ("pattern", "sets"),
    [
        (r"\bignore\b", [{"ignore"}]),
        (r"(?:ignore|forget) all", [{"ignore all", "forget all"}]),
        (r"colou?r", [{"color", "colour"}]),
        (r"(?:ab)+\d", []),
        (r"(?:abc)+\d", [{"abc"}]),
        (r"(?:abc)*\d", []),
        (r"first\W+second", [{"second"}, {"first"}]),
        (r"대체", [{"대체"}]),
        (r"(?i:ignore)", []),
    ],
)
def test_what_every_match_holds(pattern: str, sets: list[set[str]]) -> None:
    assert [set(strings) for strings in required(pattern)] == sets
