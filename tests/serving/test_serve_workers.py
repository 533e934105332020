"""Several processes behind one address: each answers, browsers stay signed in, and one that is killed is replaced."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.error
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

import postgres
from recallens import Engine
from serving_processes import children, served

PLACES = {"sqlite": lambda folder: str(folder / "store.db"), "postgres": lambda folder: postgres.fresh_store()}


def asked(address: str, path: str, token: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(address + path, data, headers), timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize("place", PLACES)
def test_each_process_answers_and_a_killed_one_is_replaced(place: str, tmp_path: Path) -> None:
    store = PLACES[place](tmp_path)
    with Engine.open(store, encoder="hashing") as engine:
        engine.remember("The harbor crane is greased on Mondays")
        _, token = engine.tokens.create(["default"], right="write")
    with served(store, 3) as (address, link, parent):
        workers = children(parent)
        assert len(workers) == 3
        written = []
        for number in range(12):  # each request is a connection of its own, so that they go to several processes
            made = asked(address, "/v1/memories", token, {"content": f"Crane {number} is greased by shift {number}"})
            written.append(made["id"])
            found = asked(address, f"/v1/search?q=crane+{number}+greased+shift&limit=20&cut=false", token)
            assert made["id"] in [each["memory"]["id"] for each in found["results"]]
        os.kill(workers[0], signal.SIGKILL)
        refused = 0
        until = time.monotonic() + 30
        while time.monotonic() < until and len(set(children(parent)) - {workers[0]}) < 3:
            try:
                asked(address, "/v1/search?q=crane", token)
            except (urllib.error.URLError, ConnectionError):
                refused += 1
            time.sleep(0.1)
        assert len(set(children(parent)) - {workers[0]}) == 3
        found = asked(address, "/v1/search?q=crane+greased+shift&limit=50&cut=false", token)
        assert set(written) <= {each["memory"]["id"] for each in found["results"]}
        assert refused <= 3
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with browser.open(link, timeout=60) as page:
            assert page.status == 200
        for _ in range(12):
            with browser.open(f"{address}/", timeout=60) as page:
                assert "Sign in" not in page.read().decode()
        with pytest.raises(urllib.error.HTTPError):  # the link opened the page once, whichever process was asked
            urllib.request.urlopen(link, timeout=60)
    assert children(parent) == []
