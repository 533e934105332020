"""`retrieve` and `encoder` as people and scripts call them."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from cli_scene import Ask, Remember, Run


@pytest.fixture
def notes(remember: Remember) -> None:
    remember("We cache lookups for 60 seconds")
    remember("Always warm the cache before lookups", "--kind", "lesson")


def test_retrieve_prints_one_context_and_the_lessons_apart(run: Run, notes: None) -> None:
    done = run("retrieve", "cache", "lookups", "--log")
    assert done.exit_code == 0
    context, _, lessons = done.stdout.partition("Verify before finalizing:")
    assert "We cache lookups for 60 seconds" in context
    assert "warm" not in context
    assert "warm" in lessons
    assert "Selected: 1 (+1 lesson)" in done.stderr


def test_retrieve_in_json_has_the_specified_fields_and_the_context(ask: Ask, notes: None) -> None:
    record = ask("retrieve", "cache lookups", "--context-budget", "500", "--open-file", "src/cache.py")
    assert record["contextBudget"] == 500
    assert [chunk["content"] for chunk in record["selectedChunks"]] == ["We cache lookups for 60 seconds"]
    assert [chunk["content"] for chunk in record["lessonChunks"]] == ["Always warm the cache before lookups"]
    assert record["totalChunks"] == 2
    assert any(line.startswith("Actionability re-rank") for line in record["fusionLog"])


def test_retrieve_that_finds_nothing_says_so(run: Run, notes: None) -> None:
    done = run("retrieve", "zebra", "--blend", "0")
    assert (done.exit_code, done.stdout) == (0, "Nothing that is remembered is likely to answer this.\n")


def test_search_takes_the_situation_and_shows_lessons_apart(run: Run, ask: Ask, notes: None) -> None:
    record = ask("search", "cache lookups", "--command", "/warm cache", "--weight", "lessonBoost=0", "-k", "1")
    assert [result["memory"]["kind"] for result in record.get("lessons", [])] in (["lesson"], [])
    shown = run("search", "cache lookups", "-k", "1", "--weight", "lessonBoost=0").stdout
    assert ("lessons to verify" in shown) is bool(ask("search", "cache lookups", "-k", "1",
                                                      "--weight", "lessonBoost=0").get("lessons"))  # fmt: skip


def test_encoder_detect_lists_what_is_there(run: Run, ask: Ask, notes: None) -> None:
    record = ask("encoder", "detect")
    assert {"encoder": "minilm", "origin": "packaged", "multilingual": False} in record["available"]
    assert "available  minilm" in run("encoder", "detect").stdout


def test_encoder_clear_and_use(ask: Ask, run: Run, notes: None) -> None:
    before = ask("encoder", "detect")["current"]
    assert ask("encoder", "clear") == {"cleared": before}
    assert ask("encoder", "detect")["cleared"] == [before]
    assert ask("encoder", "clear") == {"cleared": None}
    used = ask("encoder", "use", "hashing:32")
    assert used["encoderSpec"] == "hashing:32"
    assert used["encoded"] == 2
    assert "minilm, multilingual, openai:MODEL" in run("encoder", "use", "nonsense", code=2).stderr


def test_init_names_an_encoder_that_fits_a_korean_store_better(
    ask: Ask, run: Run, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Tags(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"models": [{"model": "bge-m3:latest"}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Tags)
    Thread(target=listening.serve_forever, daemon=True).start()
    try:
        monkeypatch.setenv("RECALLENS_ENCODER_URL", f"http://127.0.0.1:{listening.server_port}")
        remember("캐시 만료는 60초로 정했다")
        record = ask("init")
        assert (record["encoderSpec"], record["suggestedEncoder"]) == ("hashing", "ollama:bge-m3")
        assert "recallens encoder use ollama:bge-m3" in run("init").stderr
    finally:
        listening.shutdown()
        listening.server_close()


def test_an_imported_session_with_a_summary_is_medium_term_memory(run: Run, ask: Ask, home: Path) -> None:
    lines = [
        {"type": "session", "id": f"s-{topic}", "title": title, "summary": summary, "endedAt": "2026-05-02"}
        for topic, title, summary in (
            ("lock", "Warehouse door locks", "We agreed that couriers open the dock with a one-time PIN."),
            ("ko", "창고 출입", "기사님은 일회용 번호로 도크를 열기로 했다."),
        )
    ]
    lines += [{"content": f"An unrelated remark number {at} about the weather"} for at in range(30)]
    lines.append({"type": "session", "id": "s-bare", "title": "Nothing was summed up"})
    file = home / "talk.jsonl"
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    for _ in range(2):  # loaded again, nothing is kept twice
        run("remember", "--jsonl", file)
    for question, told in (("one-time PIN for the dock", "one-time PIN"), ("도크는 어떻게 열어?", "일회용 번호")):
        record = ask("retrieve", question)
        assert [chunk["source"] for chunk in record["selectedChunks"]] == ["medium-term-memory"]
        assert told in record["selectedChunks"][0]["content"]
        assert told in run("search", question).stdout
    assert ask("stats")["by"]["kind"]["summary"] == 2  # the recaps, each of them once

    lines[0]["summary"] = "Couriers open the dock with their badge now."
    file.write_text(json.dumps(lines[0]), encoding="utf-8")
    run("remember", "--jsonl", file)
    assert "badge" in ask("retrieve", "how do couriers open the dock")["selectedChunks"][0]["content"]
    assert "with a one-time PIN" not in run("search", "one-time PIN for the dock").stdout
