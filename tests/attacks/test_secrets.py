"""Secrets planted in every string that is stored: what is found of them, and what is taken for one that is none."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import os
import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.ingest.redact import redact

HEX, DIGITS, LETTERS = "0123456789abcdef", string.digits, string.ascii_letters
ALNUM = LETTERS + DIGITS
Make = Callable[[random.Random], str]


def of(alphabet: str, size: int) -> Make:
    return lambda chance: "".join(chance.choices(alphabet, k=size))


def joined(*parts: str | Make) -> Make:
    return lambda chance: "".join(part if isinstance(part, str) else part(chance) for part in parts)


def random_word(chance: random.Random) -> str:
    return "".join(chance.choices(LETTERS, k=7)) + chance.choice("!@#$%") + "".join(chance.choices(DIGITS, k=3))


TOKENS: dict[str, Make] = {
    "aws key": joined("AKIA", of(string.ascii_uppercase + "234567", 16)),
    "github": joined("ghp_", of(ALNUM, 36)),
    "github fine": joined("github_pat_", of(ALNUM, 22), "_", of(ALNUM, 59)),
    "gitlab": joined("glpat-", of(ALNUM, 20)),
    "slack bot": joined("xoxb-", of(DIGITS, 12), "-", of(DIGITS, 12), "-", of(ALNUM, 24)),
    "slack webhook": joined("https://hooks.slack.com/services/T", of(string.ascii_uppercase + DIGITS, 8), "/B",
                            of(string.ascii_uppercase + DIGITS, 8), "/", of(ALNUM, 24)),
    "stripe": joined("sk_live_", of(ALNUM, 24)),
    "anthropic": joined("sk-ant-api03-", of(ALNUM + "_-", 93), "AA"),
    "openai": joined("sk-proj-", of(ALNUM, 48)),
    "google": joined("AIza", of(ALNUM + "_-", 35)),
    "npm": joined("npm_", of(ALNUM, 36)),
    "pypi": joined("pypi-AgEIcHlwaS5vcmc", of(ALNUM + "_-", 80)),
    "hugging face": joined("hf_", of(LETTERS, 34)),
    "sendgrid": joined("SG.", of(ALNUM, 22), ".", of(ALNUM, 43)),
    "vault": joined("hvs.", of(ALNUM + "_-", 95)),
    "databricks": joined("dapi", of(HEX, 32)),
    "digitalocean": joined("dop_v1_", of(HEX, 64)),
    "notion": joined("ntn_", of(DIGITS, 11), of(ALNUM, 35)),
    "linear": joined("lin_api_", of(ALNUM, 40)),
    "shopify": joined("shpat_", of(HEX, 32)),
    "discord": joined("M", of(ALNUM, 23), ".", of(ALNUM, 6), ".", of(ALNUM, 30)),
    "doppler": joined("dp.pt.", of(ALNUM, 43)),
    "pulumi": joined("pul-", of(HEX, 40)),
    "postman": joined("PMAK-", of(HEX, 24), "-", of(HEX, 34)),
    "age": joined("AGE-SECRET-KEY-1", of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "our own": joined("rcl_", of(ALNUM, 43)),
    "jwt": lambda chance: ".".join(
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")
        for part in ('{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{chance.random()}"}}', random_word(chance) * 3)
    ),
}  # fmt: skip
SENTENCES: dict[str, str] = {
    "assignment": "DB_PASSWORD={}",
    "yaml": 'password: "{}"',
    "json": '{{"client_secret": "{}"}}',
    "english": "The password is {} until we rotate it",
    "for": "the admin password for staging is {}",
    "korean": "관리자 비밀번호는 {} 입니다",
    "korean colon": "비밀번호: {}",
    "korean token": "새 토큰은 {} 이다",
    "url": "postgres://app:{}@db.internal/app",
    "curl": "curl -u admin:{} https://internal/api",
    "netrc": "machine db login app password {}",
    "header": "Authorization: Bearer {}",
    "aws secret": "aws_secret_access_key = {}",
}


def planted(count: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """The kind, the secret and a text that holds it."""
    chance = random.Random(seed)
    for number, kind in zip(range(count), itertools.cycle([*TOKENS, *SENTENCES]), strict=False):
        if kind in TOKENS:
            secret = TOKENS[kind](chance)
            frame = chance.choice(
                ("we rotated {} yesterday", "키는 {} 로 바꿨다", "use `{}` there", "{}", "({}), then")
            )
        else:
            size = chance.choice((4, 30))
            plain = kind in ("aws secret", "header")  # which have an alphabet of their own
            secret = of(ALNUM, 40)(chance) if plain else random_word(chance) + of(ALNUM, size)(chance)
            frame = SENTENCES[kind]
        yield f"{kind} {number}", secret, frame.format(secret)


def test_200_secrets_of_40_kinds_are_taken_out() -> None:
    missed = [kind for kind, secret, text in planted(200, seed=1) if secret in redact(text)[0]]
    assert len({*TOKENS, *SENTENCES}) == 40
    assert len(missed) <= 10, missed


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("RECALLENS_EVAL_DATA"), reason="RECALLENS_EVAL_DATA names no evaluation data")
def test_real_texts_are_left_alone() -> None:
    texts: list[str] = []
    for units in sorted(Path(os.environ["RECALLENS_EVAL_DATA"]).glob("*/units.jsonl.gz")):
        with gzip.open(units, "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in itertools.islice(lines, 0, 2_500, 10)]
    texts = texts[:2_000]
    taken = [redact(text)[1] for text in texts if redact(text)[1]]
    assert len(texts) == 2_000
    assert len(taken) <= 20, taken


def test_no_stored_string_holds_a_secret(tmp_path: Path) -> None:
    """Text, title, summary, tags, author, ids, scopes, a vault's headings, the query of a recorded search."""
    secrets = [(secret, text) for kind, secret, text in planted(27, seed=3)]
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        for number, (secret, text) in enumerate(secrets):
            engine.remember(Draft(
                f"Memory {number} says {text}", title=f"About {text}", summary=f"It is {text}", tags=(secret,),
                author=f"robot {secret}", source_id=f"file {secret}", scopes=(secret,), session=f"session {secret}",
                attributes={"note": text},
            ), dedupe=False)  # fmt: skip
            engine.search(f"where is {text}", session=f"asks {secret}")
        vault = tmp_path / "vault"
        vault.mkdir()
        for number, (_, text) in enumerate(secrets):
            (vault / f"note {number}.md").write_text(f"# {text}\n\n## {text}\n\nwords {number}\n", encoding="utf-8")
        engine.vaults.add(str(vault))
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("s.db*") if path.is_file())
    missed = [secret for secret, _ in secrets if secret.encode() in stored]
    assert missed == []
