"""Secrets leave, prose stays. Every secret here is assembled from pieces and belongs to nobody."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import taking
from recallens.ingest.redact import redact

MIXED = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z"

SECRETS = [
    ("AKIA" + "ABCDEFGH23456789", "aws-access-key"),
    ("ghp_" + "a1B2" * 9, "github-token"),
    ("github_pat_" + "a1B2_" * 8, "github-token"),
    ("glpat-" + "a1B2-" * 5, "gitlab-token"),
    ("xoxb-" + "123456789-abcDEF", "slack-token"),
    ("sk_live_" + "a1B2" * 6, "stripe-key"),
    ("sk-ant-" + "api03-" + MIXED, "anthropic-key"),
    ("sk-" + "proj-" + MIXED, "openai-key"),
    ("AIza" + "a1B2c" * 7, "google-key"),
    ("npm_" + "a1B2" * 9, "npm-token"),
    ("pypi-" + "AgEI" * 14, "pypi-token"),
    ("eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".dozjgNryP4J3jVm", "jwt"),
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_a_providers_token_is_taken_out_wherever_it_stands(secret: str, kind: str) -> None:
    assert redact(f"use {secret}, please") == (f"use [REDACTED:{kind}], please", (kind,))
    assert redact(f'key = "{secret}"') == (f'key = "[REDACTED:{kind}]"', (kind,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The studio card is 4111 1111 1111 1111, exp 04/29", "The studio card is [REDACTED:card-number], exp 04/29"),
        ("법인카드 4111-1111-1111-1111로 결제", "법인카드 [REDACTED:card-number]로 결제"),
        ("Amex 3782 822463 10005", "Amex [REDACTED:card-number]"),
        ("카드번호: 5555555555554444", "카드번호: [REDACTED:card-number]"),
        ("카드 4111 1111 1111 1111 04/29 123", "카드 [REDACTED:card-number] 04/29 123"),
        ("Visa 4111 1111 1111 1111 123", "Visa [REDACTED:card-number] 123"),
        ("pay with 5555 5555 5555 4444.", "pay with [REDACTED:card-number]."),
    ],
)
def test_a_card_number_is_taken_out(text: str, expected: str) -> None:
    assert redact(text) == (expected, ("card-number",))


@pytest.mark.parametrize(
    "text",
    [
        "order 4111 1111 1111 1112",
        "the id is 4111111111111111",
        "call 010-1234-5678 or +82 10 1234 5678",
        "at 1767225600000 and 1767225600000000",
        "IBAN DE89 3704 0044 0532 0130 00",
        "ISBN 978-3-16-148410-0",
        "0000 0000 0000 0000",
        "16 columns: 4000 4001 4002 4003 4004",
        "request 4111-1111-1111-1111-aa",
        "card reader of gate 3 counted 1700000000000 people",
    ],
)
def test_other_numbers_are_no_card(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password = hunter2!", "password = [REDACTED:password]"),
        ('DB_PASSWORD="correcthorse"', 'DB_PASSWORD="[REDACTED:password]"'),
        ("'password': 's3cr3t-value'", "'password': '[REDACTED:password]'"),
        ("비밀번호: hunter2!입니다", "비밀번호: [REDACTED:password]입니다"),
        ("api_key: 9f8e7d6c5b4a", "api_key: [REDACTED:secret]"),
        ("API 키: 9f8e7d6c5b4a", "API 키: [REDACTED:secret]"),
        ("secret: password: hunter2x", "secret: password: [REDACTED:password]"),
        ("Authorization: Bearer " + MIXED, "Authorization: Bearer [REDACTED:bearer-token]"),
        ("postgres://user:pw@host/db", "postgres://user:[REDACTED:connection-password]@host/db"),
        ("redis://:p@ss@host:6379", "redis://:[REDACTED:connection-password]@host:6379"),
        (
            "aws_secret_access_key = " + "aB3/" * 10,
            "aws_secret_access_key = [REDACTED:aws-secret-key]",
        ),
        ("session = " + MIXED + "Zq", "session = [REDACTED:high-entropy]"),
    ],
)
def test_an_assigned_secret_is_taken_out_and_its_name_stays(text: str, expected: str) -> None:
    assert redact(text)[0] == expected


@pytest.mark.parametrize(
    "text",
    [
        "password is stored hashed",
        "The password: must have eight characters",
        "password: <password>",
        "password = ${PASSWORD}",
        "password: xxxxxxxx",
        "api_key: your-api-key",
        "api_key = os.environ['API_KEY']",
        "token = get_token()",
        "password = user.password2",
        'type Login = { password: "string" }',
        "secret_name: app-prod-1",
        "max_tokens=4096, token_count: 512",
        "비밀번호: 영문과 숫자 8자 이상",
        "Bearer authentication-is-used",
        "postgres://user:${PW}@host",
        "postgres://host:5432/db",
        "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commit = 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        "path = src/recallens/ingest/very_long_module_name_indeed.py",
        "a -----BEGIN PRIVATE KEY----- header starts it",
        "https://example.com/watch?list=PLNYkxOF6rcIBTs2KPy1E6tIYaWoFcG3uj",
        "",
    ],
)
def test_prose_placeholders_and_checksums_stay(text: str) -> None:
    assert redact(text) == (text, ())


def test_a_private_key_block_leaves_whole() -> None:
    head, foot = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"
    text = f"before\n{head}\nProc-Type: 4,ENCRYPTED\n\nMIIE{MIXED}\n{foot}\nafter"
    assert redact(text) == ("before\n[REDACTED:private-key]\nafter", ("private-key",))


def test_a_private_key_without_its_end_leaves_too() -> None:
    head = "-----BEGIN PRIVATE" + " KEY-----"
    assert redact(f"{head}\n{MIXED * 2}\nthen prose") == (
        "[REDACTED:private-key]\nthen prose",
        ("private-key",),
    )


def test_kinds_are_named_once() -> None:
    text = "password=hunter2x password=hunter3y"
    assert redact(text)[1] == ("password",)


PIECES = st.sampled_from(
    [secret for secret, _ in SECRETS]
    + [
        "password",
        "token",
        "비밀번호",
        "=",
        ":",
        " ",
        '"',
        "'",
        "\n",
        "a1b2c3d4",
        MIXED,
        "://",
        "u:p@h",
        "[REDACTED:jwt]",
    ]
    + [
        "Bearer ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "aws_secret",
        "İ",
        "[",
        "]",
        ".",
    ]
)


@taking(400)
@given(st.lists(PIECES | st.text(alphabet=st.characters(), max_size=5), max_size=14).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once, _ = redact(text)
    assert redact(once) == (once, ())


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "=",
        "sk-",
        "eyJa.",
        "a://b:",
        "aws secret",
        "Bearer ",
        "-----BEGIN PRIVATE KEY-----",
        "password:",
        'token="',
    ],
)
def test_a_hostile_text_takes_linear_time(unit: str) -> None:
    began = time.process_time()
    redact(unit * (1_000_000 // len(unit)))
    assert time.process_time() - began < 15
