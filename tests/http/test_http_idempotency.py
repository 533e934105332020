from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from http_scene import Scene
from recallens.errors import StoreBusy
from recallens.http.idempotency import ABANDONED_MS, KEPT_MS, once, request_digest
from recallens.model.audit import KeptAnswer

SAID = {"content": "Deploys go out on Tuesdays", "dedupe": False}


def keep(client: TestClient, key: str, said: dict[str, Any] = SAID) -> Any:
    return client.post("/v1/memories", json=said, headers={"Idempotency-Key": key})


def count(scene: Scene) -> int:
    return int(scene.engine.maintenance.stats()["totals"]["memories"])


def test_the_same_key_and_request_is_done_once_and_answered_again(scene: Scene) -> None:
    before = count(scene)
    with scene.client() as client:
        first, again = keep(client, "k-1"), keep(client, "k-1")
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.content == again.content
        assert ("idempotent-replayed" in first.headers, again.headers["idempotent-replayed"]) == (False, "true")
        assert keep(client, "k-2").json()["id"] != first.json()["id"]
    assert count(scene) == before + 2


def test_the_same_key_with_another_request_is_refused(scene: Scene) -> None:
    with scene.client() as client:
        keep(client, "k-1")
        other = keep(client, "k-1", SAID | {"content": "Something else"})
        elsewhere = client.post("/v1/feedback", json={"memories": [scene.ids[0]], "verdict": "used"},
                                headers={"Idempotency-Key": "k-1"})  # fmt: skip
    assert [answer.status_code for answer in (other, elsewhere)] == [409, 409]
    assert other.json()["code"] == "IdempotencyKeyReused"


def test_keys_are_each_tokens_own(scene: Scene) -> None:
    with scene.client(scene.token("default")) as one, scene.client(scene.token("default")) as other:
        assert keep(one, "k-1").json()["id"] != keep(other, "k-1").json()["id"]


def test_what_failed_may_be_tried_again_with_its_key(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object, **__: object) -> None:
        raise StoreBusy("another process writes")

    with scene.client() as client:
        with monkeypatch.context() as patch:
            patch.setattr(scene.engine, "remember", busy)
            assert keep(client, "k-1").status_code == 503
        assert keep(client, "k-1").status_code == 201


def test_who_may_not_write_leaves_no_key_behind(scene: Scene) -> None:
    with scene.client(scene.token("default", right="read")) as client:
        assert keep(client, "k-1").status_code == 403
        assert keep(client, "k-1", SAID | {"namespace": "elsewhere"}).status_code == 403
    with scene.engine.core.store.write_all() as tx:
        owners = [token.id for token in tx.tokens.all()]
        assert [tx.tokens.answer(owner, "k-1") for owner in owners] == [None]


@pytest.mark.parametrize("key", ["", " ", "가".encode(), "a" * 256, "a b"])
def test_a_key_that_is_none(scene: Scene, key: str | bytes) -> None:
    with scene.client() as client:
        answer = client.post("/v1/memories", json=SAID, headers={"Idempotency-Key": key})
    assert answer.status_code == 400


def test_two_at_once_do_it_once(scene: Scene) -> None:
    before = count(scene)
    with scene.client() as client, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: keep(client, "k-1"), range(8)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.json()["id"] for answer in answers if answer.status_code == 201}) == 1
    assert count(scene) == before + 1


def test_one_that_is_under_way_is_waited_for_and_one_that_was_left_is_taken_up(scene: Scene) -> None:
    engine, digest = scene.engine, request_digest("POST", "/v1/x?", b"{}")
    with engine.core.store.write_all() as tx:
        tx.tokens.put_answer("", "k", "default", KeptAnswer(digest, engine.core.clock()))
    given: dict[str, Any] = {"owner": "", "key": "k", "request": digest, "namespace": "default"}
    with pytest.raises(Exception, match="still being worked on"):
        once(engine, **given, work=lambda: (200, "no"))
    engine.core.clock.advance(ms=ABANDONED_MS)  # type: ignore[attr-defined]
    assert once(engine, **given, work=lambda: (200, "yes")) == (200, "yes", False)


def test_after_a_day_a_key_is_new_again(scene: Scene) -> None:
    with scene.client() as client:
        first = keep(client, "k-1").json()["id"]
        scene.engine.core.clock.advance(ms=KEPT_MS + 1)  # type: ignore[attr-defined]
        assert keep(client, "k-1").json()["id"] != first


def test_forgetting_for_good_takes_kept_answers_along(scene: Scene) -> None:
    with scene.client() as client:
        said = {"topic": "a telltale topic"}
        made = client.post("/v1/skills", json=said, headers={"Idempotency-Key": "k-1"}).json()["id"]
    scene.engine.forget(made, hard=True)
    with open(scene.engine.core.store.location, "rb") as file:
        assert b"telltale" not in file.read()


def test_words_that_are_answered_again_are_words_again(scene: Scene) -> None:
    with scene.client(scene.token("default")) as client:
        first, again = (keep(client, "k-1", SAID | {"format": "text"}) for _ in range(2))
    assert [answer.status_code for answer in (first, again)] == [201, 201]
    assert first.headers["content-type"] == again.headers["content-type"] == "text/plain; charset=utf-8"
    assert first.text == again.text
