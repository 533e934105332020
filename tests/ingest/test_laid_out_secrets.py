"""Secrets that a layout names, in both languages, and honest texts of the same layouts.

The first 60 of each list were written before the rules, and every second one of them was looked at only when these were
done; the 30 after them were written then, and the rules were mended once more by what they showed. The last are forms
after what a stranger found, most of them written with the rules.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from recallens.ingest.redact import redact
from recallens.ingest.secret_labels import Sort, sort_of

HERE = Path(__file__).parent
MARK = re.compile(r"\[REDACTED:[a-z-]+\]")


def texts(name: str) -> list[str]:
    held = (HERE / name).read_text(encoding="utf-8")
    return [text.rstrip("\n") for text in re.split(r"^----\n", held, flags=re.MULTILINE)]


SECRETS, HONEST = texts("secrets-in-forms.txt"), texts("honest-in-forms.txt")


def missed(texts: list[str]) -> list[str]:
    """Those that keep a secret."""
    kept = ((text, redact(re.sub("[⟦⟧]", "", text))[0]) for text in texts)
    return [text for text, redacted in kept if any(secret in redacted for secret in re.findall("⟦(.+?)⟧", text))]


def test_secrets_that_a_layout_names_are_taken_out() -> None:
    assert len(SECRETS) == 90 + 24
    assert len(missed(SECRETS[:90])) <= 4, missed(SECRETS[:90])
    assert missed(SECRETS[90:]) == []


def test_a_line_that_ends_in_two_letters_holds_what_it_holds_with_one() -> None:
    for text in (re.sub("[⟦⟧]", "", held) for held in (*SECRETS, *HONEST)):
        assert redact(text.replace("\n", "\r\n"))[0] == redact(text)[0].replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("odd", "times"),
    [("bob,lost", 1), ("bob,lost", 12), ("bob,none,a, b", 12), ('"a, b",c', 12), ("a remark", 1), ("# old", 4)],
)
def test_rows_of_another_length_end_no_table_and_spoil_no_row(odd: str, times: int) -> None:
    text = "\n".join(["user,password,note", "ann,Yarrow!552,x", *[odd] * times, "cay,Kelp9!rook,y"])
    redacted = text.replace("Yarrow!552", "[REDACTED:password]").replace("Kelp9!rook", "[REDACTED:password]")
    assert redact(text)[0] == redacted


def test_of_a_layout_the_value_alone_is_taken() -> None:
    wide = []
    for text in SECRETS:
        redacted = redact(re.sub("[⟦⟧]", "", text))[0]
        stays = MARK.sub("", re.sub("⟦.+?⟧", "", text))
        if MARK.search(redacted) and MARK.sub("", redacted) != stays:
            wide.append(redacted)
    assert len(wide) <= 2, wide


def test_tables_markup_and_headings_without_a_secret_stay() -> None:
    touched = [redact(text)[0] for text in HONEST if redact(text)[1]]
    assert len(HONEST) >= 108
    assert touched == []


def test_what_was_taken_of_a_layout_is_taken_once() -> None:
    for text in SECRETS:
        once = redact(re.sub("[⟦⟧]", "", text))[0]
        assert redact(once) == (once, ())


@pytest.mark.parametrize(
    ("label", "sort"),
    [
        ("Password", Sort.PASSWORD),
        ("**DB password**:", Sort.PASSWORD),
        ("hibernate.connection.password", Sort.PASSWORD),
        ("와이파이 비번", Sort.PASSWORD),
        ("AccessToken", Sort.KEY),
        ("API 키", Sort.KEY),
        ("PIN", Sort.PIN),
        ("Pin", None),
        ("password policy", None),
        ("token count", None),
        ("key", None),
        ("토큰 수", None),
        ("passwordEncoder", None),
    ],
)
def test_a_label_is_nothing_but_a_name(label: str, sort: Sort | None) -> None:
    assert sort_of(label) is sort


@pytest.mark.parametrize(
    "unit",
    [
        "| password | token |\n", "password\n", "password\t", "password,token\n", "password  token\n", "<password>",
        "<td>pw</td>", '\\"password\\":\\"', '\\\\\\"', "<tr><td>password", '<a name="password" ', "|", "비밀번호|",
        "--|--\n", "password:\n\n", "user;password\n", '"password,', 'user,password\n"a,b",c\nx\n', "password\r\n",
        "a,b\nx\n", "user,password\na,b,c\n", "user,password\na\n",
        '"name":"password",', "name: password, value: ", "&lt;password&gt;", "\\u0022password\\u0022:\\u0022",
    ],
)  # fmt: skip
def test_a_hostile_layout_takes_linear_time(unit: str) -> None:
    def cost(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.thread_time()
        redact(text)
        return time.thread_time() - start

    cost(2_000)
    long = cost(200_000)
    assert long < 0.5 or long < 25 * max(cost(20_000), 0.02)
