"""FTS5 Search as specified: its test specification and the lines of its acceptance list, as scenes."""

from __future__ import annotations

import math

import pytest

from recallens.engine import Engine
from recallens.text.tokenizer import tokenize

LOGIN = "The authentication module handles user login and JWT tokens"
MIGRATIONS = "Database migrations are run with the migrate command"


@pytest.fixture
def login(real: Engine) -> str:
    found = real.remember(LOGIN, project="proj1").id
    real.remember(MIGRATIONS, project="proj1")
    return found


def keyword(engine: Engine, text: str, **options: object) -> list[tuple[str, tuple[str, ...]]]:
    recall = engine.search(text, mode="keyword", project="proj1", record=False, **options)
    return [(result.memory.id, result.highlights) for result in recall.results]


def test_finds_memories_by_keyword(real: Engine, login: str) -> None:
    marked = "The <mark>authentication</mark> module handles user login and JWT tokens"
    assert keyword(real, "authentication") == [(login, (marked,))]


def test_supports_prefix_matching(real: Engine, login: str) -> None:
    marked = "The <mark>authentication</mark> module handles user login and JWT tokens"
    assert keyword(real, "auth") == [(login, (marked,))]
    assert keyword(real, "auth", preset="classic") == [(login, (marked,))]
    assert keyword(real, "tication") == []  # a prefix, not any part of a word


def test_returns_highlighted_snippets(real: Engine, login: str) -> None:
    ((_, (snippet,)),) = keyword(real, "user tokens")
    assert snippet == "The authentication module handles <mark>user</mark> login and JWT <mark>tokens</mark>"


def test_a_snippet_is_cut_out_of_a_long_text(real: Engine) -> None:
    before, after = " ".join(f"before{i}" for i in range(60)), " ".join(f"after{i}" for i in range(60))
    real.remember(f"{before} the quorum rule {after}", project="proj1")
    ((_, (snippet,)),) = keyword(real, "quorum")
    assert snippet.startswith("...before")
    assert snippet.endswith("...")
    assert "the <mark>quorum</mark> rule after0" in snippet


def test_filters_by_project(real: Engine, login: str) -> None:
    other = real.remember("authentication in another project", project="proj2").id
    assert [id for id, _ in keyword(real, "authentication")] == [login]
    everywhere = real.search("authentication", mode="keyword", record=False)
    assert {result.memory.id for result in everywhere.results} == {login, other}


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\x00"])
def test_handles_an_empty_query(real: Engine, login: str, text: str) -> None:
    recall = real.search(text, mode="keyword", project="proj1")
    assert recall.results == ()
    assert recall.notice == "the query is empty: nothing was searched"
    assert recall.recorded is False


@pytest.mark.parametrize(
    "text", ['"', "AND OR NOT", "NEAR(a b)", "content:auth*", "auth)", "(auth", "a*b^2", "'; DROP"]
)
def test_no_query_is_a_syntax_error(real: Engine, login: str, text: str) -> None:
    real.search(text, mode="keyword", project="proj1")


@pytest.mark.parametrize(
    ("text", "marked"), [("인증", "사용자<mark>인증</mark>을"), ("사용자", "<mark>사용자</mark>인증을")]
)
def test_korean_is_found_without_a_space(real: Engine, login: str, text: str, marked: str) -> None:
    korean = real.remember("게이트웨이가 사용자인증을 처리한다", project="proj1").id
    assert keyword(real, text) == [(korean, (f"게이트웨이가 {marked} 처리한다",))]


def test_title_summary_and_tags_are_searched_too(real: Engine) -> None:
    named = real.remember(
        "It is written down elsewhere", project="proj1", title="Zookeeper", summary="Quorum sizes", tags=("raft",)
    ).id
    for word in ("zookeeper", "quorum", "raft"):
        assert [id for id, _ in keyword(real, word)] == [named]


def test_the_rank_is_bm25_as_fts5_computes_it(real: Engine, login: str) -> None:
    """`classic` scores every prefix as one term with k1 = 1.2, b = 0.75 and FTS5's IDF."""
    texts = [LOGIN, MIGRATIONS, "Tokens expire after an hour", "Backups run at night", "The cache holds user names"]
    for text in texts[2:]:
        real.remember(text, project="proj1")
    recall = real.recall(real.recalls.query("user token", mode="keyword", preset="classic", project="proj1"))

    def bm25(text: str) -> float:
        score = 0.0
        mean = sum(len(tokenize(t)) for t in texts) / len(texts)
        for word in ("user", "token"):
            counts = {t: sum(token.startswith(word) for token in tokenize(t)) for t in texts}
            holding = sum(count > 0 for count in counts.values())
            idf = max(math.log((len(texts) - holding + 0.5) / (holding + 0.5)), 1e-6)
            norm = 1.2 * (1 - 0.75 + 0.75 * len(tokenize(text)) / mean)
            score += idf * counts[text] * 2.2 / (counts[text] + norm)
        return score

    raw = {result.memory.content: result.parts["bm25"] * 10 / 0.25 for result in recall.results}
    assert raw.keys() == {texts[0], texts[2], texts[4]}
    for text, score in raw.items():
        assert score == pytest.approx(bm25(text), abs=1e-9)
