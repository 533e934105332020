from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recallens.model.memory import Annotations
from recallens.text.annotation import ANNOTATED_CHARACTERS, MOST_ENTITIES, annotate, iso_dates


def test_a_memory_of_a_bug_is_annotated_whole() -> None:
    text = (
        "On 2024-03-05 @alice fixed E11000 in src/db/users.ts: `insertUser` and retry_write() raced. "
        "See commit a1b2c3d4. #database"
    )
    assert annotate(text, tags=["#urgent"]) == Annotations(
        entities=("@alice",),
        paths=("src/db/users.ts",),
        symbols=("insertUser", "retry_write"),
        commits=("a1b2c3d4",),
        errors=("E11000",),
        dates=("2024-03-05",),
        tags=("urgent", "database"),
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Yesterday John Smith met Mary-Jane O'Neil.", ("John Smith", "Mary-Jane O'Neil")),
        ("The New York office of the Bank of America", ("New York", "Bank of America")),
        ("We moved to GitHub and TypeScript", ("GitHub", "TypeScript")),
        ("the code name is “Project Phoenix”", ("Project Phoenix",)),
        ("이름은 “새 프로젝트” 입니다", ("새 프로젝트",)),
        ('he said "this is fine."', ()),
        ("THIS IS IMPORTANT STUFF", ()),
        ("Hello there. Everything works.", ()),
        ("mail bob@example.com or use @scope/pkg", ()),
    ],
)
def test_entities(text: str, names: tuple[str, ...]) -> None:
    assert annotate(text).entities == names


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("The routes are in src/routes/api.ts.", ("src/routes/api.ts",)),
        ("run ./deploy.sh then ~/bin/check and ../x", ("./deploy.sh", "~/bin/check", "../x")),
        ("open C:\\Users\\me\\notes.txt now", ("C:\\Users\\me\\notes.txt",)),
        ("edit /etc/hosts, README.md and src/api", ("/etc/hosts", "README.md", "src/api")),
        ("and/or, 24/7, yes/no/maybe, km/h, 2024/03/05", ()),
        ("Node.js and example.com/index.html", ()),
        ("https://example.com/a/b.html", ()),
    ],
)
def test_paths(text: str, paths: tuple[str, ...]) -> None:
    assert annotate(text).paths == paths


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("getUser() and user_name", ("getUser", "user_name")),
        ("os.path.join and Engine.recall", ("os.path.join", "Engine.recall")),
        ("the `Memory` class, `npm run build`", ("Memory",)),
        ("it works.The end. See example.com, Node.js, APIs", ()),
    ],
)
def test_symbols(text: str, symbols: tuple[str, ...]) -> None:
    assert annotate(text).symbols == symbols


@pytest.mark.parametrize(
    ("text", "commits"),
    [
        ("fixed in a1b2c3d", ("a1b2c3d",)),
        ("commit deadbeef did it", ("deadbeef",)),
        ("deadbeef 1234567 #a1b2c3d4 550e8400-e29b-41d4-a716-446655440000", ()),
    ],
)
def test_commits(text: str, commits: tuple[str, ...]) -> None:
    assert annotate(text).commits == commits


def test_error_codes_are_spelled_one_way() -> None:
    text = (
        "E11000, ERR_CONNECTION_REFUSED, HTTP 404, status code 503, TS2345, SQLSTATE[23505], CVE-2024-1234, "
        "ECONNREFUSED and a TypeError, but not SHA256, RFC2616 or PROJ-1234"
    )
    assert annotate(text).errors == (
        "E11000",
        "ERR_CONNECTION_REFUSED",
        "HTTP 404",
        "HTTP 503",
        "TS2345",
        "SQLSTATE 23505",
        "CVE-2024-1234",
        "ECONNREFUSED",
        "TypeError",
    )


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("2024-03-05 and 2024-03", ["2024-03-05", "2024-03"]),
        ("March 3, 2024; 4 Mar 2024; 5th of March 2024", ["2024-03-03", "2024-03-04", "2024-03-05"]),
        ("Sept. 2023", ["2023-09"]),
        ("2024년 3월 5일에, 2023년 12월", ["2024-03-05", "2023-12"]),
        ("2024-03-05T10:00:00Z, 2024/3/6", ["2024-03-05", "2024-03-06"]),
        ("2024-02-30, v2024.1, 12345-67-89, in 2024", []),
    ],
)
def test_dates(text: str, dates: list[str]) -> None:
    assert iso_dates(text) == dates


def test_hashtags_are_not_read_in_code_urls_or_colours() -> None:
    text = "#todo #한글태그 https://x.com/#frag `#code` #fff #a1b2c3 #include #123 a#b"
    assert annotate(text).tags == ("todo", "한글태그")


def test_only_the_head_of_a_long_text_is_read() -> None:
    text = "x " * (ANNOTATED_CHARACTERS // 2) + " #late"
    assert annotate(text).tags == ()


def test_a_listing_keeps_a_bounded_number_of_names() -> None:
    text = " and ".join(f"met John Smith{letter}x" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" * 2)
    assert len(annotate(text).entities) <= MOST_ENTITIES


@settings(deadline=None)
@given(st.text(alphabet=st.characters()), st.lists(st.text(alphabet=st.characters()), max_size=4))
def test_any_text_can_be_annotated(text: str, tags: list[str]) -> None:
    annotate(text, tags=tags)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a.",
        "a_",
        "aB",
        "A ",
        "Aa ",
        "/",
        "a/",
        "`",
        '"A',
        "@a",
        "#a",
        "0",
        "2024-",
        "://",
        "a@",
        "ERR_",
        "\\",
        "Aa-",
    ],
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    began = time.perf_counter()
    annotate(unit * (ANNOTATED_CHARACTERS // len(unit)))
    assert time.perf_counter() - began < 5
