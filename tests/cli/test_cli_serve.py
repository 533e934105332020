"""`recallens token` and `recallens serve`, as people run them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from cli_scene import Run

TOKEN = re.compile(r"rcl_[\w-]{43}")


def test_a_token_is_shown_once_and_never_stored(run: Run, store: Path) -> None:
    made = run("token", "create", "--namespace", "default", "--namespace", "팀", "--right", "write", "--name", "laptop")
    text = made.stdout.strip()
    assert TOKEN.fullmatch(text)
    listed = run("token", "list")
    assert "laptop" in listed.stdout
    assert "write default, 팀" in listed.stdout
    for name in (store, Path(f"{store}-wal")):
        if name.exists():
            assert text.encode() not in name.read_bytes()
    record = json.loads(run("token", "list", "--json").stdout)["tokens"][0]
    assert record.keys() == {"id", "name", "namespaces", "right", "createdAt"}
    assert text not in json.dumps(record)


def test_a_token_ends_when_it_is_revoked_or_expires(run: Run) -> None:
    made = json.loads(run("token", "create", "--namespace", "default", "--expires", "30d", "--json").stdout)
    assert 29 < (made["expiresAt"] - made["createdAt"]) / 86_400_000 < 31
    assert "in force, until" in run("token", "list").stdout
    assert "revokedAt" in json.loads(run("token", "revoke", made["id"][:6], "--json").stdout)
    assert "revoked" in run("token", "list").stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [(["create"], 2, "--namespace"), (["create", "--namespace", "no such!"], 2, "is no namespace"),
     (["create", "--namespace", "x", "--right", "admin"], 2, "use one of: read, write"),
     (["create", "--namespace", "x", "--expires", "2020-01-01"], 2, "later than now"),
     (["revoke", "nobody"], 3, "no token 'nobody'")],
)  # fmt: skip
def test_what_is_no_token(run: Run, words: list[str], code: int, told: str) -> None:
    run("token", "create", "--namespace", "default")
    assert told in run("token", *words, code=code).stderr


def test_a_file_has_no_replica(run: Run, store: Path) -> None:
    told = run("serve", "--read-url", "postgresql://app@replica/recallens", code=2).stderr
    assert "a store in a file has no replica" in told
    assert not store.exists()


def test_serving_elsewhere_needs_a_token(run: Run) -> None:
    run("init")
    refused = run("serve", "--host", "0.0.0.0", "--port", "0", code=6)
    assert "recallens token create --namespace NAME" in refused.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("in_background")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_stops_when_it_is_told(tmp_path: Path, stop: signal.Signals) -> None:
    command = [sys.executable, "-m", "recallens", "serve", "--port", "0", "--json", "--store", str(tmp_path / "s.db")]
    environment = {**os.environ, "RECALLENS_ENCODER": "hashing:64"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as serve:
        assert serve.stdout is not None
        told = json.loads(serve.stdout.readline())
        with httpx.Client(base_url=told["address"], headers={"Origin": told["address"]}) as client:
            assert client.get("/healthz").json() == {"status": "ok"}
            assert "server" not in client.get("/healthz").headers
            assert client.get("/v1/stats").status_code == 401
            client.get(told["link"])
            kept = client.post("/v1/memories", json={"content": "배포는 화요일에 나간다"})
            assert (
                client.get("/v1/search", params={"q": "배포 요일"}).json()["results"][0]["memory"]["id"]
                == (kept.json()["id"])
            )
        serve.send_signal(stop)
        _, errors = serve.communicate(timeout=20)
    assert serve.returncode == 0
    assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.usefixtures("in_background")
def test_a_socket_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "own" / "recallens.sock"
    command = [sys.executable, "-m", "recallens", "serve", "--socket", str(path), "--store", str(tmp_path / "s.db")]
    environment = {**os.environ, "RECALLENS_ENCODER": "hashing:64"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as serve:
        assert serve.stdout is not None
        assert serve.stdout.readline().strip() == str(path)
        assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as client:
            assert client.post("/v1/memories", json={"content": "Deploys go out on Tuesdays"}).status_code == 201
            assert client.get("/v1/stats", headers={"Authorization": "Bearer rcl_wrong"}).status_code == 401
            assert client.get("/v1/stats", headers={"Host": "elsewhere.example"}).status_code == 421
        again = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert (again.returncode, "another server listens at" in again.stderr) == (2, True)
        serve.terminate()
        serve.communicate(timeout=20)
    assert not path.exists()
