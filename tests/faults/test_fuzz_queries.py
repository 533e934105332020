"""Any string is a query and any string is a filter: nothing raises, and nothing crosses a namespace.

RECALLENS_FUZZ=100000 (`make fuzz`) asks as often as the release does; a thousand are enough for every commit.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import pytest

from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound
from recallens.model.memory import Kind, Sector, Tier
from recallens.model.query import MAX_QUERY_CHARACTERS

pytestmark = pytest.mark.slow

QUERIES = int(os.environ.get("RECALLENS_FUZZ", "1000"))
SEED = 20_260_601

WORDS = [
    "authentication",
    "auth",
    "token",
    "인증",
    "사용자인증을",
    "배포",
    "東京",
    "cache_size",
    "getUserName",
    "src/app.py",
]
OPERATORS = [
    "AND", "OR", "NOT", "NEAR(", ")", "(", '"', '""', "'", "*", "^", ":", "+", "-", "content:", "{a b}:", "\\", "--",
    ";", "%", "_", "[", "]", "/*", "?1", ":x", "#", "@", "$", "`", "|", "<mark>", "\n", "\t", "\r", "\x0b",
]  # fmt: skip
STRANGE = [
    "\x00", "\ud800", "\udfff", "\ufeff", "\u200d", "\u202e", "\u0301", "\U0010ffff", "\ufffe", "ﬃ", "İ", "ß", "ᄀ",
    "ᅡ", "\u1100\u1161\u11a8", "🧑‍🚀", "नमस्ते", "ไทย", "ערב", "\x7f", "\x85", "\u2028", "½", "Ⅷ", "ﷺ",
]  # fmt: skip


# What a text is cleaned of before it is kept.
NOTHING = dict.fromkeys([0, *range(0xD800, 0xE000)])


def any_text(chance: random.Random) -> str:
    pieces = []
    for _ in range(chance.randint(0, 8)):
        form = chance.random()
        if form < 0.35:
            pieces.append(chance.choice(WORDS))
        elif form < 0.6:
            pieces.append(chance.choice(OPERATORS))
        elif form < 0.75:
            pieces.append(chance.choice(STRANGE))
        elif form < 0.95:
            pieces.append("".join(chr(chance.randrange(0x110000)) for _ in range(chance.randint(1, 6))))
        elif form < 0.99:
            pieces.append(chance.choice("aé가漢🙂_-./") * chance.randint(1, 300))
        else:
            pieces.append(chance.choice(("x", "가", "a-", "a_b.", "'", "\u0301")) * chance.randint(1_000, 6_000))
    return chance.choice(("", " ", " ")).join(pieces)[:MAX_QUERY_CHARACTERS]


def any_options(chance: random.Random) -> dict[str, Any]:
    """Now and then a filter of each kind: a right value, an arbitrary text, or a thing of another type."""
    right: dict[str, list[Any]] = {
        "project": ["p", "q"],
        "tags": [["ops"], ["OPS", "web"], []],
        "in_session": ["s1"],
        "session": ["asker"],
        "sector": list(Sector),
        "tier": list(Tier),
        "kind": list(Kind),
        "mode": ["hybrid", "keyword", "semantic"],
        "preset": ["default", "classic"],
        "documents": ["include", "exclude", "only"],
        "min_salience": [0.0, 0.5, 1.0],
        "include_superseded": [True, False],
        "limit": [1, 3, 50],
        "as_of": [1_700_000_000_000, 1_900_000_000_000],
        "now": [1_780_272_000_000],
    }
    wrong: list[Callable[[], Any]] = [
        lambda: any_text(chance),
        lambda: [any_text(chance)],
        lambda: chance.choice([-1, 0, 2**70, float("nan"), float("inf"), b"x", object(), {}, [None], True]),
    ]
    options: dict[str, Any] = {}
    for name, values in right.items():
        form = chance.random()
        if form < 0.06:
            options[name] = chance.choice(values)
        elif form < 0.09:
            options[name] = chance.choice(wrong)()
    return options


@pytest.fixture
def two(engine: Engine) -> Engine:
    """Two namespaces that hold nearly the same."""
    for namespace in ("mine", "theirs"):
        engine.sessions.start("s1", namespace=namespace)
        for number, word in enumerate(WORDS):
            engine.remember(
                f"{word} of {namespace} is explained in note {number} {' '.join(STRANGE[number : number + 3])}",
                namespace=namespace,
                project=("p", "q", None)[number % 3],
                tags=(("ops",), ("ops", "web"), ())[number % 3],
                session="s1" if number % 2 else None,
                dedupe=False,
            )
        engine.memories.add_document(f"The token handbook of {namespace}", path="handbook.md", namespace=namespace)
    return engine


def test_any_text_is_a_query_and_stays_in_its_namespace(two: Engine) -> None:
    chance = random.Random(SEED)
    found = 0
    for number in range(QUERIES):
        text, namespace = any_text(chance), chance.choice(("mine", "theirs"))
        mode, preset = chance.choice(("hybrid", "keyword", "semantic")), chance.choice(("default", "classic"))
        options = {"project": chance.choice((None, None, "p", any_text(chance))), "mode": mode, "preset": preset}
        recall = two.search(text, namespace=namespace, record=number % 50 == 0, **options)
        assert {result.memory.namespace for result in recall.results} <= {namespace}
        assert not recall.degraded
        found += bool(recall.results)
        if number % 20 == 0:
            recall.ledger.canonical()
    assert found > QUERIES / 3  # the generator is not so wild that it never matches


def test_any_value_of_an_option_is_taken_or_refused_with_reason(two: Engine) -> None:
    chance = random.Random(SEED + 1)
    taken = 0
    for number in range(QUERIES):
        text, namespace = any_text(chance), chance.choice(("mine", "theirs"))
        options = any_options(chance)
        try:
            recall = two.search(text, namespace=namespace, **{"record": number % 50 == 0, **options})
        except (InvalidInput, NotFound):
            continue
        taken += 1
        assert {result.memory.namespace for result in recall.results} <= {namespace}
        recall.ledger.canonical()
    assert taken > QUERIES / 3


def test_any_text_names_no_namespace_session_or_memory_by_accident(two: Engine) -> None:
    chance = random.Random(SEED + 2)
    for _ in range(max(QUERIES // 10, 100)):
        text = any_text(chance)
        with pytest.raises((InvalidInput, NotFound)):
            two.get(text, namespace="mine")
        with pytest.raises((InvalidInput, NotFound)):
            two.layers.timeline(text, namespace="mine")
        try:
            recall = two.search("token", namespace=text, record=False)
        except InvalidInput:
            continue
        assert recall.results == ()


def test_any_text_can_be_remembered_and_is_found_again(two: Engine) -> None:
    """What a store keeps, it finds by its own words; what holds no word is kept all the same."""
    chance = random.Random(SEED + 3)
    for _ in range(max(QUERIES // 20, 100)):
        text = any_text(chance)
        try:
            id = two.remember(text, namespace="mine", dedupe=False).id
        except InvalidInput:  # nothing visible in it
            assert not text.translate(NOTHING).strip()
            continue
        assert two.get(id, namespace="mine").content
    assert list(two.maintenance.doctor().problems) == []


def test_a_query_too_long_to_be_one_is_refused(two: Engine) -> None:
    with pytest.raises(InvalidInput, match="the query has 32,769 characters; at most 32,768 are allowed"):
        two.search("x" * 32_769)
    assert two.search("token " * 5_000, namespace="mine", record=False, cut=False).results
