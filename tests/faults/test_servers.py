"""Four processes of servers over one PostgreSQL, clients that write and ask in many namespaces, and what may go wrong
meanwhile: a process is killed, connections are lost, the database restarts. Nothing that was acknowledged is lost, a
write is in the next recall of every process, and what cannot be answered is an error that says to try again.

`make soak` runs it for RECALLENS_SERVERS seconds with 32 clients over 200 namespaces; `make test` for some seconds.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from msgspec import Struct

import postgres
from recallens import Engine
from serving_processes import children, served

SECONDS = float(os.environ.get("RECALLENS_SERVERS", "0"))
CLIENTS, NAMESPACES = (32, 200) if SECONDS else (8, 20)
LENGTH = SECONDS or 6.0
# What says "try again": the server is busy, away, or has dropped the connection.
RETRIED = (429, 503)


class Report(Struct):
    """What the clients saw. `answered` holds every acknowledged write: its namespace, id and text."""

    answered: list[tuple[str, str, str]]
    recalls: int = 0
    retried: int = 0
    wrong: list[str] = []


def request(address: str, token: str, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    wanted = urllib.request.Request(address + path, data, headers, method=method)
    with urllib.request.urlopen(wanted, timeout=60) as answer:
        return json.load(answer)


def patient(report: Report, act: Callable[[], Any]) -> Any:
    """Try again where the answer says so, or where the connection ended without one."""
    for _ in range(200):
        try:
            return act()
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in RETRIED:
                    raise AssertionError(f"{error.code}: {error.read().decode()}") from error
        except (urllib.error.URLError, ConnectionError, TimeoutError, json.JSONDecodeError):
            pass
        report.retried += 1
        time.sleep(0.1)
    raise AssertionError("nobody answered for too long")


def client(number: int, address: str, token: str, until: float, report: Report) -> None:
    chance = random.Random(number)
    written = 0
    try:
        while time.monotonic() < until:
            namespace = f"team-{chance.randrange(NAMESPACES)}"
            if chance.random() < 0.4:
                written += 1
                word = f"w{number}x{written}"
                text = f"The {word} box of client {number} went to bay {chance.randrange(90)}"
                put, body = "/v1/memories", {"content": text, "dedupe": False, "namespace": namespace}
                made = patient(report, lambda p=put, b=body: request(address, token, p, b))
                report.answered.append((namespace, made["id"], text))
                path = f"/v1/search?q={word}+box+bay&namespace={namespace}&limit=5&cut=false"
                found = patient(report, lambda p=path: request(address, token, p))
                report.recalls += 1
                if made["id"] not in [each["memory"]["id"] for each in found["results"]]:
                    report.wrong.append(f"{text!r} is not in the next recall of {namespace}")
            else:
                path = f"/v1/search?q=box+in+bay+{chance.randrange(90)}&namespace={namespace}&limit=5"
                patient(report, lambda p=path: request(address, token, p))
                report.recalls += 1
    except Exception as error:
        report.wrong.append(f"client {number}: {type(error).__name__}: {error}")


def load(address: str, token: str, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> Report:
    report = Report([])
    until = time.monotonic() + seconds
    clients = [
        threading.Thread(target=client, args=(number, address, token, until, report)) for number in range(CLIENTS)
    ]
    for each in clients:
        each.start()
    meanwhile()
    for each in clients:
        each.join()
    return report


def store_with_token() -> tuple[str, str]:
    store = postgres.fresh_store()
    with Engine.open(store, encoder="hashing") as engine:
        namespaces = [f"team-{number}" for number in range(NAMESPACES)]
        for name in namespaces:
            engine.remember(f"The first box of {name}", namespace=name)
        _, token = engine.tokens.create(namespaces, right="write")
    return store, token


def everything_is_there(store: str, report: Report) -> None:
    assert report.wrong == []
    with Engine.open(store, create=False) as engine:
        for namespace, id, text in report.answered:
            assert engine.get(id, namespace=namespace).content == text
        assert engine.maintenance.doctor().problems == []


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_a_mixed_load() -> None:
    store, token = store_with_token()
    with served(store, 4) as (address, _, _):
        report = load(address, token, LENGTH)
    print(f"{len(report.answered)} writes, {report.recalls} recalls, {report.retried} tried again")
    assert report.retried == 0
    assert len(report.answered) >= CLIENTS
    everything_is_there(store, report)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_what_may_go_wrong_meanwhile() -> None:
    store, token = store_with_token()
    with served(store, 4) as (address, _, parent):

        def trouble() -> None:
            time.sleep(LENGTH / 4)
            os.kill(children(parent)[0], signal.SIGKILL)
            time.sleep(LENGTH / 4)
            with psycopg.connect(store, autocommit=True) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                    " AND datname = current_database()"
                )
                # This server need not survive a power cut: it is told to write what it has.
                other.execute("CHECKPOINT")
            time.sleep(LENGTH / 4)
            postgres.restart("fast")

        report = load(address, token, LENGTH, trouble)
        until = time.monotonic() + 60
        while len(children(parent)) < 4 and time.monotonic() < until:
            time.sleep(0.2)
        assert len(children(parent)) == 4
    print(f"{len(report.answered)} writes, {report.recalls} recalls, {report.retried} tried again")
    everything_is_there(store, report)
