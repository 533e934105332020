"""For everyone: no violation that axe knows, light and dark; every width from 320 px; and without any script."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from recallens.engine import Engine

WIDTHS = (320, 768)
EVERYTHING = {"resultTypes": ["violations"]}
COLOURS = {**EVERYTHING, "runOnly": ["color-contrast", "link-in-text-block"]}  # all that dark changes
CACHE = "Is the tracking cache invalidated by events?"


# Every main page, by what is on it.
PAGES = (
    "start", "results", "nothing found", "xray", "snapshot", "why not, which", "why not", "sandbox", "diff, which",
    "diff", "memory", "timeline", "vault", "stats", "rate", "ask",
)  # fmt: skip


@pytest.fixture(scope="session")
def paths(harbor: Engine) -> dict[str, str]:
    """Where each of them is."""
    asked = urlencode({"q": CACHE})
    before = harbor.recalls.snapshot_of(harbor.search(CACHE, limit=4)).snapshotId
    after = harbor.recalls.snapshot_of(harbor.search(CACHE, limit=8)).snapshotId
    (old,) = harbor.memories.resolve(["cache-ttl-60"]).values()
    found = {
        "start": "/",
        "results": f"/?{asked}&limit=6",
        "nothing found": "/?q=zyxwv&project=nowhere",
        "xray": f"/xray?{asked}&limit=5",
        "snapshot": f"/snapshots/{before}",
        "why not, which": f"/why-not?{asked}",
        "why not": f"/why-not?{asked}&memory={old}",
        "sandbox": f"/sandbox?{asked}&w.bm25=0&limit=4",
        "diff, which": "/diff",
        "diff": f"/diff?before={before}&after={after}",
        "memory": f"/memories/{old}",
        "timeline": f"/timeline/{old}",
        "vault": "/vault",
        "stats": "/stats",
        "rate": f"/rate?{asked}&limit=4",
        "ask": "/xray",
    }
    assert tuple(found) == PAGES
    return found


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation_light_or_dark(opens, address: str, paths: dict[str, str], name: str) -> None:
    page = opens(address, paths[name])
    for scheme, options in (("light", EVERYTHING), ("dark", COLOURS)):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options=options)
        assert found.violations_count == 0, f"{scheme}:\n{found.generate_report()}"


def test_an_error_page_is_held_to_the_same(opens, address: str, watched) -> None:
    page = opens(address, "/memories/nowhere")
    expect(page.locator("h1")).to_have_text("Not found")
    assert Axe().run(page).violations_count == 0
    page.goto(address + "/?q=x&kind=nonsense")
    expect(page.locator("main")).to_contain_text("use one of: fact, decision")
    watched.errors[:] = [one for one in watched.errors if "the server responded with a status of 4" not in one]


def test_no_page_scrolls_sideways_at_any_width(opens, address: str, paths: dict[str, str]) -> None:
    page = opens(address)
    for name, path in paths.items():
        page.goto(address + path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{name} is {wide} px wide in {width}"


def test_everything_can_be_read_and_asked_without_script(opens, address: str, paths: dict[str, str]) -> None:
    page = opens(address, java_script_enabled=False)
    for name, path in paths.items():
        answer = page.goto(address + path)
        assert answer is not None
        assert answer.status == 200, name
        assert len(page.locator("main").inner_text()) > 40, name
    page.goto(address + paths["sandbox"])
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#ranking")).to_contain_text("Nothing is recorded")
    page.goto(address + "/rate?" + urlencode({"q": CACHE, "set": "without script"}))
    page.locator("[data-result]").first.get_by_text("relevant", exact=True).click()
    page.get_by_role("button", name="Keep the ratings").click()
    expect(page.locator("#ndcg")).to_have_text("1.000")


def test_no_movement_for_those_who_want_none(opens, address: str) -> None:
    page = opens(address, "/sandbox?" + urlencode({"q": CACHE}), reduced_motion="reduce")
    with page.expect_response("**/sandbox/ranking*"):
        page.get_by_label("words", exact=True).fill("0")
    expect(page.locator("#ranking [role=status]")).to_contain_text("moved")
    assert page.evaluate("document.getAnimations().length") == 0
