"""A browser's way in, where the store answers to tokens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from recallens.engine import Engine
from recallens.web.page import addresses
from sites import site

FROM_HERE = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
BROWSING = {"Accept": "text/html"}


@pytest.fixture
def token(engine: Engine) -> str:
    engine.remember("Lookups are cached for 60 seconds.")
    engine.remember("The secret plans of team two.", namespace="two")
    return engine.tokens.create(["default"], right="read", name="page")[1]


@pytest.fixture
def browser(engine: Engine, token: str) -> Iterator[TestClient]:
    with TestClient(site(engine), follow_redirects=False) as client:
        yield client


def test_who_has_no_token_is_sent_to_the_way_in_and_sees_nothing_else(browser: TestClient) -> None:
    sent = browser.get("/?q=lookups", headers=BROWSING)
    assert (sent.status_code, sent.headers["location"]) == (303, "/sign-in?next=/%3Fq%3Dlookups")
    page = browser.get(sent.headers["location"])
    assert page.status_code == 200
    assert 'name="next" value="/?q=lookups"' in page.text
    assert "60 seconds" not in page.text
    assert all(browser.get(address).status_code == 200 for address in addresses())
    assert browser.get("/v1/search?q=lookups").status_code == 401


def test_a_wrong_token_is_told_and_kept_nowhere(browser: TestClient) -> None:
    refused = browser.post("/sign-in", data={"token": "rcl_wrong"}, headers=FROM_HERE)
    assert refused.status_code == 401
    assert "This token is not known" in refused.text
    assert "rcl_wrong" not in refused.text
    assert "set-cookie" not in refused.headers


def test_a_token_opens_the_page_with_what_it_grants(browser: TestClient, token: str) -> None:
    entered = browser.post("/sign-in", data={"token": token, "next": "/?q=lookups"}, headers=FROM_HERE)
    assert (entered.status_code, entered.headers["location"]) == (303, "/?q=lookups")
    kept = entered.headers["set-cookie"].lower()
    assert "httponly" in kept
    assert "samesite=strict" in kept
    found = browser.get("/?q=lookups", headers=BROWSING)
    assert "60 seconds" in found.text
    assert "secret plans" not in browser.get("/?q=plans", headers=BROWSING).text
    assert browser.get("/?q=plans&namespace=two", headers=BROWSING).status_code == 404


def test_what_another_token_asked_is_not_there(engine: Engine, browser: TestClient, token: str) -> None:
    other = engine.tokens.create(["default"], right="write", name="other")[0]
    theirs = engine.search("lookups of the other", owner=other.id)
    id = engine.recalls.snapshot_of(theirs).snapshotId
    browser.post("/sign-in", data={"token": token}, headers=FROM_HERE)
    for path in ("/", "/diff"):
        assert "lookups of the other" not in browser.get(path, headers=BROWSING).text
    for path in (f"/snapshots/{id}", f"/snapshots/{id}/download?format=json", f"/diff?before={id}&after={id}"):
        assert browser.get(path, headers=BROWSING).status_code == 404, path


def test_a_page_elsewhere_cannot_sign_anyone_in(browser: TestClient, token: str) -> None:
    elsewhere = {"Origin": "http://elsewhere.example"}
    assert browser.post("/sign-in", data={"token": token}, headers=elsewhere).status_code == 403


@pytest.mark.parametrize("onward", ["//elsewhere.example", "/\\elsewhere.example", "http://elsewhere.example", ""])
def test_nobody_is_led_elsewhere(browser: TestClient, token: str, onward: str) -> None:
    entered = browser.post("/sign-in", data={"token": token, "next": onward}, headers=FROM_HERE)
    assert entered.headers["location"] == "/"
