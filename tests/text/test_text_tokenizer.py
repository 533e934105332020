"""The tokenizer: what each kind of writing becomes, and the laws that hold for any string."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from unicodedata import normalize as unicode_form

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snowballstemmer.english_stemmer import EnglishStemmer

from laws import taking
from recallens.text.tokenizer import _ASCII_CHUNK, MAX_TOKEN, _any_chunk, stem, token_spans, tokenize

ANY_TEXT = st.text(alphabet=st.characters())
IDENTIFIERS = st.text(alphabet="abXY01_-./\\'’#+, vs", max_size=40)
HANGUL_RUN = st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=2)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Deploying the users' services", ["deploy", "the", "user", "servic"]),
        ("The user's caches", ["the", "user", "cach"]),
        ("the user’s", ["the", "user"]),
        ("don't can’t we'll", ["don't", "can't", "we"]),
        ("O'Brien", ["o", "brien", "o'brien"]),
        ("getUserName", ["get", "user", "name", "getusername", "getusernam"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("APIs and userIDs", ["api", "and", "user", "id", "userids", "userid"]),
        ("user_name", ["user", "name", "user_name"]),
        ("__init__ _private", ["init", "__init__", "privat"]),
        ("kebab-case --dry-run", ["kebab", "case", "kebab-case", "dri", "run", "dry-run"]),
        ("os.path.join", ["os", "path", "join", "os.path.join"]),
        ("src/routes/api.ts", ["src", "rout", "api", "ts", "src/routes/api.ts"]),
        ("src\\routes\\api.ts", ["src", "rout", "api", "ts", "src/routes/api.ts"]),
        ("src/__init__.py", ["src", "init", "py", "src/__init__.py"]),
        ("v1.2.3", ["1.2.3", "v1.2.3"]),
        ("E11000 k8s s3 TS2345", ["e11000", "k8s", "s3", "ts2345"]),
        ("python3 sha256", ["python", "python3", "sha", "sha256"]),
        ("gpt-4.1-mini", ["gpt", "4.1", "mini", "gpt-4.1-mini"]),
        ("C++ c# .NET C++17", ["c", "c++", "c", "c#", "net", ".net", "c", "17", "c++17"]),
        ("3.14 1,234 192.168.0.1", ["3.14", "1234", "192.168.0.1"]),
        ("2024-03-05T10:00", ["2024", "03", "05", "2024-03-05", "10", "00"]),
        ("사용자인증을", ["사용", "용자", "자인", "인증", "증을"]),
        ("집 API를", ["집", "api", "를"]),
        ("東京タワー 中", ["東京", "京タ", "タワ", "ワー", "中"]),
        ("ไทย", ["ไท", "ทย"]),
        ("हिन्दी العربية", ["हिन्दी", "العربية"]),
        ("Привет Ελλάδα Über", ["привет", "ελλάδα", "über"]),
        ("😀 ★ ___ ... -- \x00 \ud800", []),
        ("", []),
    ],
)
def test_what_each_kind_of_writing_becomes(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize("query", ["인증", "사용자", "인증을"])
def test_korean_is_found_inside_a_compound(query: str) -> None:
    assert set(tokenize(query)) <= set(tokenize("사용자인증을"))


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("getusername", "call getUserName()"),
        ("username", "UserName"),
        ("typescript", "TypeScript"),
        ("github", "GitHub"),
        ("1.2.3", "v1.2.3"),
        ("1234", "1,234"),
        ("c++", "in C++."),
        ("src/a.ts", "SRC\\A.ts"),
        ("python", "python3"),
    ],
)
def test_a_name_is_found_however_it_is_typed(query: str, document: str) -> None:
    assert set(tokenize(query)) <= set(tokenize(document))


def test_spans_point_into_the_text_as_given() -> None:
    text = "Fix getUserName, 사용자!"
    assert [(token, text[start:end]) for token, start, end in token_spans(text)] == [
        ("fix", "Fix"),
        ("get", "get"),
        ("user", "User"),
        ("name", "Name"),
        ("getusername", "getUserName"),
        ("getusernam", "getUserName"),
        ("사용", "사용"),
        ("용자", "용자"),
    ]


def test_spans_of_decomposed_text_cover_its_marks() -> None:
    text = unicode_form("NFD", "le résumé 인증을 x")
    spans = [(token, unicode_form("NFC", text[start:end])) for token, start, end in token_spans(text)]
    assert spans == [
        ("le", "le"),
        ("résumé", "résumé"),
        ("인증", "인증"),
        ("증을", "증을"),
        ("x", "x"),
    ]


@settings(deadline=None)
@given(ANY_TEXT | IDENTIFIERS)
def test_spans_and_tokens_never_disagree(text: str) -> None:
    spans = token_spans(text)
    assert [token for token, _, _ in spans] == tokenize(text)
    assert all(0 <= start < end <= len(text) for _, start, end in spans)
    assert all(0 < len(token) <= MAX_TOKEN for token, _, _ in spans)


@settings(deadline=None)
@given(ANY_TEXT)
def test_tokens_can_be_stored_and_do_not_depend_on_composition(text: str) -> None:
    for token in tokenize(text):
        token.encode("utf-8")
    assert tokenize(unicode_form("NFD", text)) == tokenize(unicode_form("NFC", text))


@settings(deadline=None)
@given(HANGUL_RUN, st.data())
def test_a_part_of_a_hangul_run_finds_the_run(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 2))
    end = data.draw(st.integers(start + 2, len(run)))
    assert set(tokenize(run[start:end])) <= set(tokenize(run))


@settings(deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=0x7F)) | IDENTIFIERS.filter(str.isascii))
def test_both_patterns_cut_ascii_alike(text: str) -> None:
    assert _ASCII_CHUNK.findall(text) == _any_chunk().findall(text)


@pytest.mark.parametrize("unit", ["a", "_", "가", "aB1", "é", "\u0301", "."])
def test_a_huge_run_takes_linear_time(unit: str) -> None:
    text = unit * (3_000_000 // len(unit))
    began = time.perf_counter()
    tokenize(text)
    # Quadratic time would be hours; the bound is wide for busy machines.
    assert time.perf_counter() - began < 15


def test_a_long_token_is_truncated_and_found_by_itself() -> None:
    blob = "x" * 10_000
    assert tokenize(blob) == ["x" * MAX_TOKEN]
    assert token_spans(blob) == [("x" * MAX_TOKEN, 0, 10_000)]


def test_threads_do_not_mix_their_stems() -> None:
    # Words that no other test has seen, so that each is stemmed here and not remembered.
    names = ["".join(letters) for letters in product("bdgkz", repeat=4)]
    words = [f"q{name}{ending}" for name in names for ending in ("ations", "ingly", "edness")]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(tokenize, words))
    finally:
        sys.setswitchinterval(interval)
    alone = EnglishStemmer()
    assert together == [[alone.stemWord(word)] for word in words]


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=24))
@taking(500)
def test_the_stemmer_is_porter_2_as_its_authors_wrote_it(word: str) -> None:
    assert stem(word) == EnglishStemmer().stemWord(word)
