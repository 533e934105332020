"""No name that a note, a file or a caller gives leaves a secret in the store: it loses the secret, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from http_scene import ADDRESS
from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.http.idempotency import HEADER, REPLAYED
from recallens.ingest.draft import Draft
from recallens.operations import OPERATIONS, Caller, perform
from recallens.server import build

TOKEN = "ghp_AbCd47EfGhIjKlMnOpQrStUvWxYz01234567"


def kept_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("s.db*") if path.is_file())


def test_no_word_of_a_note_holds_a_secret(tmp_path: Path) -> None:
    """Its title, other names, headings, anchors, links, contexts, fields, and what is complained of."""
    token, password = TOKEN, "Quagga!7lamp"
    key = "8c1f0e7d5b3a49628e7d6c5b4a392817"
    vault = tmp_path / "vault"
    vault.mkdir()
    notes = {
        "a": f"# Deploy {token}\n\ncranes\n\n## Roll {{#{token}}}\n\n**{token}** and `{token}`\n",
        "b": f'---\ntitle: "password: {password}"\naliases: ["api_key={key}"]\n---\nyaks\n',
        "c": f"See [[a#Deploy {token}]], [[{token}]], [x](a.md#{token}), [y]({token}.md) "
             f"and password: [[{password}]]\n",
        "d": f'---\nscopes: ["{token}"]\nvalid_from: "{token}"\n"{token}": 1\n'
             f'supersedes: "{token}"\n---\nSuperseded by {token}\n',
        "e": f"# Old\n\n> Superseded by [[{token}]]\n\n- depends_on [[{token}]]\n",
    }  # fmt: skip
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        for name, text in notes.items():
            (vault / f"{name}.md").write_text(text, encoding="utf-8")
        engine.vaults.add(str(vault))
        assert len(engine.vaults.sync().vaults[0].added) == len(notes)
        # Of a section that stays the same only its fields are written again.
        for name, text in notes.items():
            (vault / f"{name}.md").write_text(text.replace("scopes:", "origin: x\nscopes:"), encoding="utf-8")
        engine.vaults.sync()
        shown = repr(engine.vaults.page("vault", limit=50))
    stored = kept_in(tmp_path).lower()
    assert [secret for secret in (token, password, key) if secret.lower().encode() in stored or secret in shown] == []


def test_names_that_are_given_lose_a_secret_or_are_refused(tmp_path: Path) -> None:
    secret = TOKEN
    folder = tmp_path / "notes"
    folder.mkdir()
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        engine.memories.add_document("# Deploy\n\nwords", path="docs/a.md", project=secret)
        engine.remember(Draft("words of a line", attributes={secret: 1, "in": {secret: [2]}}))
        for refused in (
            lambda: engine.vaults.add(folder, secret),
            lambda: engine.vaults.add(folder, exclude=[f"{secret}/**"]),
        ):
            with pytest.raises(InvalidInput, match="holds what looks like a secret"):
                refused()
        agent = Caller(home="default")
        with pytest.raises(InvalidInput, match="the session id holds what looks like a secret"):
            perform(OPERATIONS["remember"], engine, agent, {"content": "more words", "session": secret})
    assert secret.encode() not in kept_in(tmp_path)


def test_no_header_or_session_of_a_request_leaves_a_secret(tmp_path: Path) -> None:
    secret = TOKEN
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        bearer = {"Authorization": f"Bearer {engine.tokens.create(('default',), right='write')[1]}"}
        with TestClient(build(engine), base_url=ADDRESS, headers=bearer) as client:
            said = [client.post("/v1/memories", json={"content": "cranes rest at noon"}, headers={HEADER: secret})
                    for _ in range(2)]  # fmt: skip
            assert [answer.status_code for answer in said] == [201, 201]
            assert said[1].headers[REPLAYED] == "true"
            refused = client.post("/v1/memories", json={"content": "yaks", "session": secret})
            assert (refused.status_code, refused.json()["code"]) == (400, "InvalidInput")
    assert secret.encode() not in kept_in(tmp_path)


def test_secrets_beside_the_question_are_not_kept(tmp_path: Path) -> None:
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        kept = engine.remember("The deploy script runs at noon")
        query = engine.recalls.question(
            "deploy script", commands=[f"login {TOKEN}"], files=[f"cfg/{TOKEN}"], folders=[TOKEN], scopes=[TOKEN],
        )  # fmt: skip
        assert TOKEN not in str(query)
        assert "REDACTED" in str(query)
        with pytest.raises(InvalidInput, match="looks like a secret"):
            engine.confirm(kept.id, session=TOKEN)
    assert TOKEN.encode() not in kept_in(tmp_path)
