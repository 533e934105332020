"""One recall, said by the command, over HTTP and over MCP: the same bytes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from anyio.from_thread import start_blocking_portal
from click.testing import CliRunner
from mcp import Client

from recallens.cli.main import main
from recallens.engine import Engine
from recallens.model.state import withheld
from recallens.model.times import instant
from recallens.render.records import to_text
from recallens.server import running, whole
from standing import FixedClock

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ENCODER = "hashing:64"
QUESTIONS = 200
MEASURED = re.compile(r'"(ms|latencyMs)": [-+.e\d]+')


@dataclass(frozen=True)
class Surfaces:
    """The three of them, on one store; the clock of the server stands still, and the command is told the time."""

    store: Path
    now: str
    http: httpx.Client
    mcp: Any

    def command(self, *words: str) -> str:
        result = CliRunner().invoke(main, ["--store", str(self.store), *words])
        assert result.exit_code == 0, (words, result.output)
        return result.stdout

    def get(self, path: str, **params: object) -> str:
        answer = self.http.get(path, params={name: str(value) for name, value in params.items()})
        assert answer.status_code == 200, answer.text
        return answer.text

    def tool(self, name: str, **arguments: object) -> str:
        """The record as the other surfaces write it; what can be told in words is structured content."""
        result = self.mcp("call_tool", name, arguments)
        assert not result.is_error, result.content
        assert bool(result.content) != bool(result.structured_content)
        return result.content[0].text if result.content else to_text(result.structured_content) + "\n"

    def resource(self, uri: str) -> str:
        text: str = self.mcp("read_resource", uri).contents[0].text
        return text


@pytest.fixture(scope="module")
def surfaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surfaces]:
    store, clock = tmp_path_factory.mktemp("parity") / "store.db", FixedClock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECALLENS_ENCODER", ENCODER)
        with Engine.open(store, clock=clock, encoder=ENCODER) as engine:
            shown = CliRunner().invoke(
                main, ["remember", "--jsonl", str(ROOT / "examples" / "memories.jsonl"), "--store", str(store)]
            )
            assert shown.exit_code == 0, shown.output
            engine.vaults.add(ROOT / "examples" / "vault", "harbor")
            engine.vaults.add(ROOT / "docs", "docs")
            engine.vaults.sync()
            engine.encoder.drain()
            # An agent is not shown what waits for review and the person is: compared is what both may see.
            for waiting in engine.memories.awaiting_review():
                if withheld(waiting):
                    engine.forget(waiting.id, hard=True)
            with (
                running(whole(engine, private=True)) as address,
                httpx.Client(base_url=address, timeout=60) as http,
                start_blocking_portal() as portal,
                portal.wrap_async_context_manager(Client(f"{address}/mcp", read_timeout_seconds=60)) as mcp,
            ):
                yield Surfaces(
                    store, instant(clock()), http, lambda name, *given: portal.call(partial(getattr(mcp, name), *given))
                )


def questions() -> list[str]:
    """What people would ask of the sample, its notes and our own pages; English and Korean."""
    golden = yaml.safe_load((ROOT / "examples" / "vault-golden.yaml").read_text(encoding="utf-8"))
    asked = [one["query"] for one in golden]
    lines = (ROOT / "examples" / "memories.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines if line.strip()]
    said = [one.get("title") or one["content"][:60] for one in records if "content" in one]
    pages = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))]
    headings = [heading for page in pages for heading in re.findall(r"^#+ (.+)$", page, re.MULTILINE)]
    odd = [
        "인증", "나루물류요청한도", "E-AUTH-4012", "getUserName", 'a "quoted" NEAR(b) OR *', "—", "🚢",
        "<script>alert(1)</script>",
    ]  # fmt: skip
    every = list(dict.fromkeys([*odd, *asked, *said, *headings]))
    assert len(every) >= QUESTIONS
    return every[:QUESTIONS]


def digest(text: str) -> str:
    return hashlib.sha256(MEASURED.sub(r'"\1": 0', text).encode()).hexdigest()


def test_two_hundred_x_rays_are_the_same_bytes_on_every_surface(surfaces: Surfaces) -> None:
    """Each is asked afresh on each surface: nothing but the measured times may differ."""
    seen = set()
    for at, question in enumerate(questions()):
        budget, session = (8_192, 2_000, 500)[at % 3], f"s-{at % 4}"
        told = {
            "command": surfaces.command(
                "xray", "--json", "--now", surfaces.now, "--budget", str(budget), "--session", session, "--", question
            ),
            "http": surfaces.get("/v1/recall/xray", q=question, budget=budget, session=session),
            "mcp": surfaces.tool("recall_xray", format="json", query=question, budget=budget, sessionKey=session),
        }
        digests = {digest(text) for text in told.values()}
        assert len(digests) == 1, (question, told)
        seen |= digests
    assert len(seen) == QUESTIONS


def test_a_recorded_recall_is_the_same_to_the_last_byte(surfaces: Surfaces) -> None:
    for at, question in enumerate(questions()[:20]):
        session = f"recorded-{at}"
        found = json.loads(surfaces.get("/v1/search", q=question, session=session))
        if not found["results"]:
            continue
        last = surfaces.get("/v1/recall/explain", session=session)
        id = json.loads(last)["snapshot"]["snapshotId"]
        assert surfaces.command("explain", id, "--json") == last
        assert surfaces.command("explain", "--session", session, "--json") == last
        assert surfaces.get(f"/v1/snapshots/{id}") == last
        assert surfaces.resource(f"recallens://snapshots/{id}") == last
        for format in ("text", "markdown", "html"):
            page = surfaces.get(f"/v1/snapshots/{id}", format=format)
            assert surfaces.command("explain", id, "--format", format) == page


def test_the_alias_of_the_specified_answers_the_same(surfaces: Surfaces) -> None:
    asked = {"q": "How long do we cache tracking lookups now?"}
    assert digest(surfaces.get("/engram/v1/recall/xray", **asked)) == digest(surfaces.get("/v1/recall/xray", **asked))
