"""Each relevance term in a scene of its own, by the numbers; and the same through a whole recall."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recallens.engine import Engine
from recallens.index.bm25 import Bm25
from recallens.index.pairs import (
    CODE_WORDS,
    MOSTLY,
    READ_TERMS,
    WordReading,
    code_rows,
    code_share,
    pair_scores,
    read,
)
from recallens.index.segments import Segment, build
from recallens.ingest.draft import Draft
from recallens.model.query import ALPHA
from recallens.model.recall import Recall
from recallens.text.stopwords import names_in, without_names
from recallens.text.tokenizer import tokenize


def keep(engine: Engine, *drafts: Draft) -> None:
    for _ in engine.memories.remember_many(drafts, dedupe=False):
        pass
    engine.encoder.drain()


def ask(engine: Engine, text: str, **options: Any) -> Recall:
    """Every candidate in its order: what is likely to help is another matter."""
    return engine.recall(engine.recalls.query(text, cut=False, **options))


def parts(recall: Recall, name: str) -> dict[str, float]:
    return {result.memory.content: result.parts[name] for result in recall.results if name in result.parts}


def terms(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint32)


def reading(*rows: np.ndarray) -> WordReading:
    """The rows read from two segments, in another order than they lie there."""
    half = len(rows) // 2
    segments = [segment(0, rows[:half]), segment(half, rows[half:])]
    order = np.arange(len(rows))[::-1]
    found = read(segments, order)
    return WordReading(found.terms, found.ends, order[found.places], found.size)


def segment(first: int, rows: Sequence[np.ndarray]) -> Segment:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return build(first, offsets, np.concatenate([terms(), *rows]))


def test_a_long_row_is_read_by_its_beginning() -> None:
    found = read([segment(5, [terms(1), terms(*range(2 * READ_TERMS))])], np.array([6, 5]))
    assert len(found.terms) == READ_TERMS + 1
    assert found.terms[:3].tolist() == [0, 1, 2]
    assert (found.ends.tolist(), found.places.tolist()) == ([READ_TERMS, READ_TERMS + 1], [0, 1])


def test_a_pair_counts_side_by_side_and_in_order_only() -> None:
    rows = [terms(7, 1, 2, 9, 1, 2), terms(2, 1), terms(1, 9, 2), terms(1), terms(2), terms()]
    scores = pair_scores(reading(*rows), {(1, 2): 3.0}, np.ones(6), Bm25(k1=1.5))
    # Twice in the first row: 3 · 2·2.5 / (2 + 1). The end of one row and the beginning of the next are no neighbours.
    assert scores == pytest.approx([5.0, 0, 0, 0, 0, 0])


def test_words_side_by_side_are_worth_more_than_words_apart(engine: Engine) -> None:
    together, apart = "the rate limit of the gateway is low", "the limit of the gateway has a low rate"
    keep(engine, Draft(apart), Draft(together), Draft("nothing of the kind"))
    recall = ask(engine, "rate limit")
    assert recall.results[0].memory.content == together
    assert set(parts(recall, "pairs")) == {together}


def test_korean_words_side_by_side(engine: Engine) -> None:
    together, apart = "사용자 인증 서버를 옮겼다", "인증 방식과 무관한 사용 제한, 용자 설정"
    keep(engine, Draft(apart), Draft(together))
    assert set(parts(ask(engine, "사용자 인증"), "pairs")) == {together}


CODE = (
    "def total(self, items):\n    if items is None:\n        return 0\n    return sum(len(str(item)) for item in items)"
)


def test_the_words_of_code_are_spelled_as_the_tokenizer_leaves_them() -> None:
    written = (
        "def self return elif none str int len isinstance lambda import kwargs args raise except const var null"
        " undefined function func struct void bool boolean static public private async await param params println"
        " printf console fn impl nil elseif endif typeof instanceof"
    )
    assert tuple(dict.fromkeys(tokenize(written))) == CODE_WORDS


def test_what_is_code_is_known_by_its_words() -> None:
    numbers = {word: at for at, word in enumerate(CODE_WORDS)}
    code, prose = list(numbers.values()), len(numbers)
    program = terms(*([prose] * 30), numbers["def"], numbers["return"], numbers["return"])
    one_word_often = terms(prose, *([numbers["return"]] * 5))
    rarely = terms(*([prose] * 100), numbers["def"], numbers["return"])
    four = segment(7, [program, one_word_often, rarely, terms()])
    assert code_rows(four, code).tolist() == [True, False, False, False]
    assert code_rows(segment(0, [program]), []).tolist() == [False]


def test_a_long_row_is_code_if_its_beginning_is() -> None:
    prose, program = [len(CODE_WORDS)] * READ_TERMS, [*([0, 1] * (READ_TERMS // 2))]
    rows = segment(0, [terms(*program, *prose), terms(*prose, *program)])
    assert code_rows(rows, range(len(CODE_WORDS))).tolist() == [True, False]


def test_a_list_that_is_mostly_code_is_all_code() -> None:
    code = np.array([True, False, False, False])
    assert code_share(code, np.ones(4, dtype=np.bool_)) == pytest.approx(0.25 / MOSTLY)
    assert code_share(code, code) == 1.0
    assert code_share(code, ~code) == 0.0
    assert code_share(np.array([True, True, True, False]), np.ones(4, dtype=np.bool_)) == 1.0
    assert code_share(code, np.zeros(4, dtype=np.bool_)) == 0.0


def test_meaning_weighs_more_among_code(engine: Engine) -> None:
    others = [Draft(f"def f{n}(self):\n    return None if self.x{n} else str(self.y)") for n in range(5)]
    keep(engine, Draft(CODE), *others)
    recall = ask(engine, "total of items")
    told = next(term for term in recall.ledger.terms() if term.name == "code")
    assert told.stats["share"] == 1.0
    vector, words = (next(t for t in recall.ledger.terms() if t.name == name) for name in ("vector", "bm25"))
    # Both have the weight 0.7, and all of it is moved from words to meaning.
    assert told.delta == pytest.approx(vector.delta - words.delta)


def test_prose_alone_has_no_code_term(engine: Engine) -> None:
    keep(engine, *(Draft(f"Plain prose number {n} about the weather") for n in range(3)))
    assert parts(ask(engine, "weather prose"), "code") == {}


def test_the_users_own_words_come_first_where_an_assistant_spoke_too(engine: Engine) -> None:
    text = "the bicycle is green"
    keep(engine, Draft(text, author="assistant"), Draft(text, author="user"))
    recall = ask(engine, "what colour is the bicycle")
    assert [result.memory.author for result in recall.results] == ["user", "assistant"]
    assert recall.results[0].parts["userTurn"] == pytest.approx(1.8 * ALPHA)
    assert "userTurn" not in recall.results[1].parts


def test_in_chats_with_an_assistant_words_weigh_less_and_a_session_speaks_for_nothing(engine: Engine) -> None:
    turns = ["the bicycle is green", "a bicycle shop", "the shop was closed", "green paint"]
    chat = [Draft(text, author=who, session="s") for text in turns for who in ("user", "assistant")]
    keep(engine, *chat)
    told = [parts(ask(engine, "green bicycle"), name) for name in ("chat", "bm25", "session")]
    assert told[2] == {}
    for text, delta in told[0].items():
        assert delta == pytest.approx(-0.2 * told[1][text])
    keep(engine, *(Draft(f"{text} indeed", author="Mina", session="t") for text in turns))
    mixed = ask(engine, "green bicycle")
    assert parts(mixed, "session")
    (shift,) = (term.stats for term in mixed.ledger.terms() if term.name == "chat")
    assert 0.0 < shift["share"] < 1.0


def test_without_an_assistant_a_role_says_nothing(engine: Engine) -> None:
    keep(engine, Draft("my bicycle is green", author="user"), Draft("the bicycle shop", author="Mina"))
    assert parts(ask(engine, "bicycle"), "userTurn") == {}


def test_who_is_named_is_known_by_who_spoke(engine: Engine) -> None:
    keep(engine, Draft("I sold the piano", author="Mina"), Draft("I sold the piano last", author="Jon"),
         Draft("피아노를 팔았어", author="민아"))  # fmt: skip
    recall = ask(engine, "when did Mina's piano go")
    assert parts(recall, "namedSpeaker") == pytest.approx({"I sold the piano": 1.4 * ALPHA})
    assert recall.results[0].memory.author == "Mina"
    assert parts(ask(engine, "민아가 판 피아노"), "namedSpeaker") == pytest.approx({"피아노를 팔았어": 1.4 * ALPHA})


@pytest.mark.parametrize(
    ("text", "codes", "left"),
    [
        ("What did Mina say to Jon Park?", [0, 1], "What did say to ?"),
        ("What did mina say", [], "What did mina say"),
        ("Mina's piano", [0], "piano"),
        ("Mina’s piano", [0], "piano"),
        ("Who is Mina", [0], "Who is Mina"),
        ("민아가 판 피아노", [2], "가 판 피아노"),
        ("민아에게 보낸 편지", [2], "에게 보낸 편지"),
        ("Jon", [], "Jon"),
        ("", [], ""),
    ],
)
def test_names_in_a_text(text: str, codes: list[int], left: str) -> None:
    names = names_in(text, {"Mina": 0, "Jon Park": 1, "민아": 2, "user": 3}, {"user"})
    assert [name.code for name in names] == codes
    assert without_names(text, names) == left


def test_a_role_is_no_name(engine: Engine) -> None:
    keep(engine, Draft("the user asked for dark mode", author="user"), Draft("done", author="assistant"))
    assert parts(ask(engine, "what did the user ask"), "namedSpeaker") == {}


def test_only_the_encoder_is_spared_the_name(engine: Engine) -> None:
    """The words still look for it, and a preset that is a baseline asks as it was asked."""
    keep(engine, Draft("the piano is sold", author="Mina"), Draft("the drum is sold", author="Jon"))
    named, plain = (ask(engine, text, limit=2) for text in ("Mina piano", "piano"))
    raw = [{result.memory.content: result.parts["vector"] for result in recall.results} for recall in (named, plain)]
    assert raw[0] == pytest.approx(raw[1])
    words = [np.nanmax(recall.ledger.replay().raw("lexical")) for recall in (named, plain)]
    assert words[0] > words[1]
    scores = [ask(engine, text, preset="dense").results[0].score for text in ("Mina piano", "piano")]
    assert scores[0] != scores[1]


def test_a_session_speaks_for_its_rows_by_the_mean_of_its_best_three(engine: Engine) -> None:
    texts = ["rust on the boat", "the boat again", "boat and harbour", "boat boat boat", "an anchor"]
    keep(engine, *(Draft(text, session="trip") for text in texts), Draft("a boat in a song", session="songs"),
         Draft("a boat of no session"))  # fmt: skip
    recall = ask(engine, "boat")
    before: dict[str, float] = {}
    pool = recall.ledger.replay()
    names = {result.memory.id: result.memory.content for result in recall.results}
    for term in recall.ledger.terms():
        if term.name == "session":
            break
        for id, delta in zip(pool.ids.tolist(), term.delta.tolist(), strict=True):
            before[names[id.decode()]] = before.get(names[id.decode()], 0.0) + delta
    best = sorted((before[text] for text in texts if text in before), reverse=True)[:3]
    told = parts(recall, "session")
    assert told["rust on the boat"] == pytest.approx(0.3 * sum(best) / 3)
    assert told["a boat in a song"] == pytest.approx(0.3 * before["a boat in a song"] / 3)
    assert "a boat of no session" not in told


def test_scores_are_still_the_sum_of_their_parts(engine: Engine) -> None:
    keep(engine, *(Draft(f"turn {n} about the boat trip", author=author, session=f"s{n % 3}")
                   for n, author in enumerate(["user", "assistant", "Mina"] * 6)))  # fmt: skip
    recall = ask(engine, "Mina boat trip")
    assert recall.results
    for result in recall.results:
        assert result.score == pytest.approx(sum(result.parts.values()), abs=1e-9)
    assert all(one.score >= other.score for one, other in pairwise(recall.results))


def test_pairs_of_a_whole_document_take_no_table_of_all_pairs_and_rows() -> None:
    document = terms(*range(1, 18_001))
    pairs = {(at, at + 1): 1.0 for at in range(1, 18_000)}
    found = read([segment(0, [document[at : at + 6] for at in range(0, 18_000, 6)])], np.arange(3_000))
    tracemalloc.start()
    scores = pair_scores(found, pairs, np.ones(3_000), Bm25(k1=1.5))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert scores == pytest.approx(np.full(3_000, 5 * 2.5 / 2))
    assert peak < len(pairs) * 3_000  # a byte for each pair and row


@given(
    rows=st.lists(st.lists(st.integers(1, 4), max_size=8), min_size=1, max_size=6),
    asked=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=6, unique=True),
)
def test_a_long_query_is_read_another_way_to_the_same_end(rows: list[list[int]], asked: list[tuple[int, int]]) -> None:
    found, worth = reading(*(terms(*row) for row in rows)), {pair: 1.0 + at for at, pair in enumerate(asked)}
    by_comparing = pair_scores(found, worth, np.ones(len(rows)), Bm25(k1=1.5))
    with patch("recallens.index.pairs.FEW_PAIRS", 0):
        by_looking_up = pair_scores(found, worth, np.ones(len(rows)), Bm25(k1=1.5))
    assert by_comparing.tolist() == by_looking_up.tolist()
    held = [any(pair in worth for pair in pairwise(row)) for row in rows]
    assert (by_comparing > 0).tolist() == held


@pytest.mark.parametrize(
    "asked", ["rate limit of the gateway", "사용자 인증 오류와 rate limit", "게이트웨이의 인증", "limit"]
)
def test_rows_that_are_not_read_hold_no_pair(engine: Engine, asked: str) -> None:
    """Rows are left out that hold too little of the question to hold two neighbours of it."""
    texts = (
        "rate limit",
        "the gateway has a limit",
        "인증 오류",
        "사용자인증 오류와 limit",
        "게이트웨이의 인증",
        "rate",
        "인증",
    )
    keep(engine, *map(Draft, texts))
    recall = ask(engine, asked, now=1)
    with patch("recallens.index.lexical.EPSILON", 2.0):  # now every row is read
        thorough = ask(engine, asked, now=1)
    assert recall.ledger.digest() == thorough.ledger.digest()


TALK = (
    ("Mina", "Did you ever finish painting the boat?"),
    ("Jon", "I finished it on 3 May, finally."),
    ("Mina", "My sister keeps bees on the roof."),
    ("Jon", "The boat race was cancelled."),
)


def test_what_answers_follows_on_a_turn_that_names_the_matter(engine: Engine) -> None:
    keep(engine, *(Draft(text, author=who, session="s", position=at) for at, (who, text) in enumerate(TALK)))
    recall = ask(engine, "when was painting the boat done")
    assert parts(recall, "turnBefore").keys() == {TALK[1][1]}
    assert parts(recall, "timeTold").keys() == {TALK[1][1]}
    assert parts(recall, "ownStory")[TALK[0][1]] < 0.0 < parts(recall, "ownStory")[TALK[1][1]]
    assert recall.results[0].memory.content == TALK[1][1]


def test_notes_have_none_of_the_terms_of_a_talk(engine: Engine) -> None:
    keep(engine, *(Draft(text) for _, text in TALK))
    told = {term.name for term in ask(engine, "when was painting the boat done").ledger.terms()}
    assert told.isdisjoint({"talk", "wordsHeld", "turnBefore", "timeTold", "ownStory"})
