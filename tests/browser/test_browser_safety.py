"""Whatever a memory, a file, a question or a namespace says, it stays text: nothing runs, loads or is sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from payloads import PAYLOADS
from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.model.citation import FileCitation, LogCitation
from recallens.server import running
from sites import site

CHUNK = 34
LONGEST_NAME = 120


def file_name(number: int, payload: str) -> str:
    """What of a payload a file may be called."""
    return f"{number} {payload}".replace("/", "∕").replace("\0", "")[:LONGEST_NAME].rstrip() + ".md"


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, str]]:
    folder = tmp_path_factory.mktemp("poisoned")
    engine = Engine.open(folder / "store.db", encoder="hashing")
    notes = folder / "notes <img src=x onerror=alert(1)>"
    notes.mkdir()
    drafts = [
        Draft(
            f"poison {number} {payload}", title=f"poison title {number} {payload}", project=payload[:60],
            tags=("poison",), author=payload[:60], session=f"s{number} {payload[:80]}", source_id=f"{number}{payload}",
            citations=(FileCitation(f"src/{payload}.py", 1, 2), LogCitation(payload)),
        )
        for number, payload in enumerate(PAYLOADS)
    ]  # fmt: skip
    ids = [one.id for batch in engine.memories.remember_many(drafts, dedupe=False) for one in batch]
    for old, new in zip(ids[:6], ids[6:12], strict=True):
        engine.supersede(old, new)
    for source, target in zip(ids[20:30], ids[30:40], strict=True):
        engine.relate(source, target, "CONTRADICTS")
    for number, payload in enumerate(PAYLOADS):
        (notes / file_name(number, payload)).write_text(f"# poison {payload}\n\n{payload}\n", encoding="utf-8")
    engine.vaults.add(notes, f"v {PAYLOADS[16].replace('/', '')}"[:60].replace(":", ""))
    engine.vaults.sync()
    for payload in PAYLOADS[:40]:
        engine.search(f"poison {payload}", session=payload[:80])
    with running(site(engine)) as address:
        yield engine, address
    engine.close()


def test_a_hundred_payloads_stay_text_on_every_page(opens, poisoned: tuple[Engine, str]) -> None:
    engine, address = poisoned
    assert len(PAYLOADS) == len(set(PAYLOADS)) >= 100
    page = opens(address, "/?" + urlencode({"q": "poison", "limit": 200, "cut": "false"}))
    # Files and memories alike: each stands there as it was written, letter for letter.
    shown = page.locator("main").inner_text()
    assert sum(payload.split("\u202e")[-1].split("\u2066")[0][:30] in shown for payload in PAYLOADS) >= 90
    assert page.evaluate("document.querySelectorAll('main img, main iframe, main script, main form form').length") == 0
    kept = engine.recalls.recent()
    one = engine.recall(engine.recalls.query("poison", limit=60)).results
    deep = [result.memory.id for result in one][:4]
    for path in (
        "/xray?" + urlencode({"q": "poison", "limit": 60, "budget": 900_000, "tokens": 900_000}),
        f"/snapshots/{kept[0].id}",
        "/why-not?q=poison",
        "/why-not?" + urlencode({"q": "poison", "find": PAYLOADS[0], "memory": ""}),
        "/why-not?" + urlencode({"q": "poison cache", "limit": 1, "memory": deep[-1]}),
        "/sandbox?" + urlencode({"q": "poison", "limit": 60}),
        "/sandbox/ranking?" + urlencode({"q": "poison", "limit": 60}),
        f"/diff?before={kept[1].id}&after={kept[0].id}",
        "/vault", "/vault?page=2", "/stats", "/rate?" + urlencode({"q": "poison", "limit": 60}),
        *(f"/memories/{id}" for id in deep), f"/timeline/{deep[0]}?around=50",
    ):  # fmt: skip
        answer = page.goto(address + path)
        assert answer is not None
        assert answer.status == 200, path
        page.keyboard.press("Tab")
        assert page.evaluate("document.querySelectorAll('main img, main iframe, main object, main embed').length") == 0
    page.wait_for_timeout(200)


@pytest.mark.parametrize("field", ["q", "namespace", "project", "memory", "find", "set", "before", "vault", "file"])
def test_payloads_in_the_address_stay_text(opens, poisoned: tuple[Engine, str], watched, field: str) -> None:
    _, address = poisoned
    where = {"memory": "/why-not", "find": "/why-not", "set": "/rate", "before": "/diff", "vault": "/vault",
             "file": "/vault"}.get(field, "/")  # fmt: skip
    beside = {"before": {"after": "x"}, "q": {}}.get(field, {"q": "poison"})
    page = opens(address, "/stats")
    for start in range(0, len(PAYLOADS), CHUNK):
        said = " ".join(PAYLOADS[start : start + CHUNK])
        page.goto(f"{address}{where}?{urlencode({**beside, field: said})}")
        assert page.evaluate("document.querySelectorAll('main img, main iframe, main script').length") == 0
        expect(page.locator("main")).to_be_visible()
    # A refused address is answered with its status, which the console tells of.
    watched.errors[:] = [one for one in watched.errors if "the server responded with a status of 4" not in one]


def test_the_ranking_that_a_script_puts_in_place_stays_text(opens, poisoned: tuple[Engine, str]) -> None:
    _, address = poisoned
    page = opens(address, "/sandbox?" + urlencode({"q": "poison", "limit": 40}))
    with page.expect_response("**/sandbox/ranking*"):
        page.get_by_label("results", exact=True).fill("50")
    page.wait_for_timeout(300)
    assert page.evaluate("document.querySelectorAll('#ranking img, #ranking script, #ranking iframe').length") == 0
    assert page.locator("#ranking [data-result]").count() > 40


def test_a_downloaded_page_runs_nothing_either(opens, poisoned: tuple[Engine, str], tmp_path: Path) -> None:
    engine, address = poisoned
    page = opens(address, f"/snapshots/{engine.recalls.recent()[0].id}")
    with page.expect_download() as waiting:
        page.locator(".downloads").get_by_role("link", name="html").click()
    waiting.value.save_as(tmp_path / "xray.html")
    page.goto("about:blank")
    page.set_content((tmp_path / "xray.html").read_text(encoding="utf-8"))
    page.wait_for_timeout(100)
