from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client.parser import text_string_to_metric_families

from http_scene import QUESTION, Scene, listening_to
from recallens.engine.maintenance import Maintenance
from recallens.http.limits import Limits

SEARCH = {"q": QUESTION}


def test_a_body_past_the_limit_is_413_whether_or_not_it_says_so(scene: Scene) -> None:
    with scene.client(limits=Limits(body_bytes=1_000)) as client:
        said = client.post("/v1/memories", json={"content": "x" * 2_000})
        streamed = client.post("/v1/memories", content=iter([b'{"content": "', b"x" * 2_000, b'"}']),
                               headers={"Content-Type": "application/json"})  # fmt: skip
        fits = client.post("/v1/memories", json={"content": "x" * 500})
    assert [answer.status_code for answer in (said, streamed, fits)] == [413, 413, 201]
    assert said.json()["code"] == "TooLarge"


def test_a_query_past_the_limit_is_414(scene: Scene) -> None:
    with scene.client(limits=Limits(query_bytes=100)) as client:
        assert client.get("/v1/search", params={"q": "x" * 200}).status_code == 414
        assert client.get("/v1/search", params=SEARCH).status_code == 200


def test_a_body_that_does_not_come_is_408(scene: Scene) -> None:
    with listening_to(scene.engine, limits=Limits(body_seconds=0.2)) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as wire:
            head = "POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            wire.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            wire.settimeout(10)
            assert wire.recv(1000).startswith(b"HTTP/1.1 408 ")


def test_what_takes_too_long_is_504(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Maintenance, "stats", lambda *_, **__: time.sleep(0.4) or {})
    with scene.client(limits=Limits(deadline=0.1)) as client:
        late = client.get("/v1/stats")
        assert (late.status_code, late.json()["code"]) == (504, "TooLate")
        assert client.get("/healthz").status_code == 200


def test_what_was_given_up_is_still_counted_until_its_thread_is_free(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Event()
    monkeypatch.setattr(Maintenance, "stats", lambda *_, **__: {"waited": held.wait(10)})
    with scene.client(limits=Limits(threads=1, waiting=1, deadline=0.1)) as client:
        assert [client.get("/v1/stats").status_code for _ in range(3)] == [504, 504, 504]
        work = client.app.state.work  # type: ignore[attr-defined]
        assert work.in_hand == 1  # those that only waited were dropped
        held.set()
        deadline = time.monotonic() + 5
        while work.in_hand and time.monotonic() < deadline:
            time.sleep(0.01)
        assert work.in_hand == 0


def test_spans_have_the_route_and_no_text(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import trace

    told: list[tuple[str, object]] = []

    class Kept(trace.NonRecordingSpan):
        def set_attribute(self, key: str, value: object) -> None:
            told.append((key, value))

        def update_name(self, name: str) -> None:
            told.append(("name", name))

    kept = Kept(trace.INVALID_SPAN_CONTEXT)
    monkeypatch.setattr(trace.NoOpTracer, "start_as_current_span", lambda *_, **__: trace.use_span(kept))
    monkeypatch.setattr(trace, "get_tracer", lambda *_: trace.NoOpTracer())
    with scene.client(spans=True) as client:
        client.get("/v1/search", params=SEARCH)
    assert dict(told) == {
        "name": "GET /v1/search", "http.request.method": "GET", "http.route": "/v1/search",
        "http.response.status_code": 200,
    }  # fmt: skip


def test_more_than_can_be_worked_on_is_503_and_the_next_is_taken_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Event()

    def held_up(*_: object, **__: object) -> dict[str, object]:
        held.wait(10)
        return {}

    monkeypatch.setattr(Maintenance, "stats", held_up)
    limits = Limits(threads=1, waiting=2)
    with scene.client(limits=limits) as client, ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(client.get, "/v1/stats") for _ in range(8)]
        deadline = time.monotonic() + 5
        while sum(one.done() for one in asked) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        refused = [one.result() for one in asked if one.done()]
        held.set()
        statuses = sorted(one.result().status_code for one in asked)
        assert client.get("/v1/stats").status_code == 200
    assert statuses == [200] * 3 + [503] * 5
    assert {(one.json()["code"], one.headers["retry-after"]) for one in refused} == {("Overloaded", "1")}


def test_readiness_is_a_query(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from recallens.errors import StoreDamaged

    with scene.client() as client:
        assert client.get("/readyz").json() == {"status": "degraded"}  # vectors wait to be made
        scene.engine.encoder.drain()
        assert client.get("/readyz").json() == {"status": "ready"}

        def damaged(*_: object, **__: object) -> None:
            raise StoreDamaged("the file is not sound", hint="Run `recallens doctor`.")

        monkeypatch.setattr(scene.engine, "recall", damaged)
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["hint"]) == (503, "Run `recallens doctor`.")


def test_metrics_count_and_tell_nothing(scene: Scene) -> None:
    with scene.client() as client:
        client.get("/v1/search", params=SEARCH)
        client.get("/v1/recall/xray", params=SEARCH)
        client.get(f"/v1/memories/{scene.ids[0]}")
        client.get("/nowhere/at/all")
        client.request("BREW", "/v1/stats")
        answer = client.get("/metrics")
    text = answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert {family.name: (family.type, family.documentation) for family in text_string_to_metric_families(text)} == {
        "recallens_http_requests": ("counter", "Requests by route and status."),
        "recallens_http_request_seconds": ("histogram", "Time to the answer's end, by route."),
        "recallens_http_in_flight": ("gauge", "Requests that are being answered."),
        "recallens_work_in_hand": ("gauge", "Requests that are worked on, or wait for a thread."),
        "recallens_results": ("counter", "Results by the tier that served them."),
        "recallens_degraded_views": ("counter", "Views that failed while a recall went on."),
        "recallens_store_bytes": ("gauge", "The size of the store's file."),
    }
    assert 'recallens_http_requests_total{method="GET",route="/v1/search",status="200"} 1.0' in text
    assert 'recallens_http_requests_total{method="GET",route="/v1/memories/{id}",status="200"} 1.0' in text
    assert 'recallens_http_requests_total{method="GET",route="(none)",status="404"} 1.0' in text
    assert 'method="other"' in text
    assert 'recallens_results_total{tier="hybrid"}' in text or 'recallens_results_total{tier="direct-answer"}' in text
    assert 'recallens_http_request_seconds_bucket{le="+Inf",route="/v1/search"} 1.0' in text
    assert "_created" not in text
    assert "recallens_store_bytes " in text
    for word in ("lookups", "default", "elsewhere", scene.ids[0], "nowhere/at"):
        assert word not in text


@pytest.mark.slow
def test_threads_find_what_one_finds(scene: Scene) -> None:
    """The same questions at once, in two languages, while memories come in beside them."""
    engine = scene.engine
    for number in range(40):
        engine.remember(f"Service {number} caches lookups for {number} seconds in region {number % 7}", dedupe=False)
        engine.remember(f"서비스 {number}번은 조회 결과를 {number}초 동안 캐시한다", dedupe=False)
    asked = [f"how long does service {n} cache lookups" for n in range(12)] + [
        f"서비스 {n}번 캐시 시간" for n in range(12)
    ]
    alone = {
        text: [one.memory.id for one in engine.recall(engine.recalls.query(text, limit=5)).results] for text in asked
    }

    with scene.client(limits=Limits(threads=4)) as client, ThreadPoolExecutor(8) as threads:

        def ask(text: str) -> tuple[str, list[str], list[str]]:
            found = client.post("/v1/recall/xray", json={"query": text, "limit": 5, "namespace": "default"}).json()
            snapshot = found["snapshot"]
            return text, [one["memoryId"] for one in snapshot["results"]], [v.get("error") for v in snapshot["views"]]

        def write(number: int) -> None:
            content = {"content": f"A note about nothing {number}", "dedupe": False, "namespace": "elsewhere"}
            client.post("/v1/memories", json=content).raise_for_status()

        writing = [threads.submit(write, number) for number in range(10)]
        told = list(threads.map(ask, asked * 3))
        for one in writing:
            one.result()
    assert all(errors == [None] * len(errors) for _, _, errors in told)
    assert {text: found for text, found, _ in told} == alone
