"""A person at the page: asks, looks at an X-ray, asks why not, tries weights, compares, rates, uses the keyboard."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from recallens.engine import Engine
from recallens.evaluate.golden import read_golden
from recallens.evaluate.shelf import rated_path
from recallens.server import running
from sites import site, written

CACHE = "Is the tracking cache invalidated by events?"
KOREAN = "나루물류 요청 한도"


def at(path: str, **params: str) -> str:
    return f"{path}?{urlencode(params)}"


def titles(page: Page) -> list[str]:
    return page.locator("[data-result] a.name").all_inner_texts()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_search_begins_with_the_answer(opens, address: str, width: int) -> None:
    page = opens(address, viewport={"width": width, "height": 844})
    page.get_by_label("Your question").fill(CACHE)
    page.keyboard.press("Enter")
    verdict = page.locator(".verdict.answered")
    expect(verdict.locator(".sentence")).to_contain_text("cached until an event makes them wrong")
    expect(verdict.locator(".sentence mark").first).to_be_visible()
    expect(verdict.locator(".source")).to_contain_text("Tracking cache is invalidated by events")
    box, first = verdict.bounding_box(), page.locator("[data-result]").first.bounding_box()
    assert box is not None
    assert first is not None
    assert box["y"] + box["height"] <= 844  # on the first screen, whole
    assert box["y"] < first["y"]
    tallest = page.evaluate("Math.max(...[...document.querySelectorAll('[data-result]')].map(e => e.offsetHeight))")
    assert tallest <= 300
    assert page.locator("details.aside[open]").count() == 0
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("question", ["who waters the office plants", "사무실 화분에 물은 누가 주나"])
def test_where_nothing_answers_the_page_begins_with_that(opens, address: str, width: int, question: str) -> None:
    page = opens(address, at("/", q=question), viewport={"width": width, "height": 844})
    verdict = page.locator(".verdict.silent")
    expect(verdict.locator(".sentence")).to_have_text("Nothing here answers this.")
    box = verdict.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 844
    assert page.locator(".badge.good:visible").count() == 0


def test_a_search_shows_why_each_result_is_there(opens, address: str) -> None:
    page = opens(address, at("/", q=CACHE))
    first = page.locator("[data-result]").first
    expect(first.locator("a.name")).to_have_text("Tracking cache is invalidated by events")
    expect(first.locator(".cites")).to_contain_text("src/harbor/cache.py:40-97")
    expect(first.locator(".badge:visible")).to_have_count(0)
    first.get_by_text("Why it came").click()
    expect(first.locator(".why")).to_contain_text(re.compile(r"1st"))
    assert first.locator("svg.bar rect").count() >= 3
    assert "Score" in (first.locator("svg.bar").get_attribute("aria-label") or "")
    expect(first.locator(".badge.good")).to_have_text("✓ safe")
    page.get_by_text("What was kept out").click()
    expect(page.get_by_role("heading", name="Just missed")).to_be_visible()
    page.get_by_text("What is covered").first.click()
    expect(page.locator(".certificate")).to_contain_text("100%")


def test_markdown_is_rendered_and_no_text_stands_twice(opens, fresh: tuple[Engine, str]) -> None:
    engine, address = fresh
    note = "# Cache\n\n> Replaced by [[adr-3]].\n\n**Decision.** Lookups are kept for `300` seconds.\n\n- one\n- two\n"
    titled = engine.remember(note, title="Cache")
    engine.remember("The broker's disk filled up on 17 June.")
    page = opens(address, at("/", q="how long are lookups kept", limit="2"))
    text = page.locator("main").inner_text()
    assert not re.search(r"\*\*|\[\[|^#|`|^>", text, re.MULTILINE)
    assert text.count("The broker's disk filled up") <= 1
    page.goto(f"{address}/memories/{titled.id}")
    content = page.locator(".content")
    assert content.locator("blockquote, strong, code, li").count() == 5
    expect(content.locator("h3")).to_have_count(0)


def test_the_same_part_has_the_same_colour_in_bar_and_legend(opens, address: str) -> None:
    page = opens(address, at("/", q=CACHE))
    colours = page.evaluate("""() => {
        const by = {};
        for (const one of document.querySelectorAll("main rect[class*='part-']")) {
            const name = [...one.classList].find((each) => each.startsWith("part-"));
            (by[name] ||= new Set()).add(getComputedStyle(one).fill);
        }
        return Object.fromEntries(Object.entries(by).map(([name, all]) => [name, [...all]]));
    }""")
    assert len(colours) >= 5
    assert all(len(shades) == 1 for shades in colours.values())
    assert len({shades[0] for shades in colours.values()}) == len(colours)
    assert "rgb(0, 0, 0)" not in {shades[0] for shades in colours.values()}  # a part without a colour is drawn black


def test_a_question_about_both_halves_names_what_is_missing(opens, address: str) -> None:
    page = opens(address, at("/", q="flush the tracking cache and xylophones"))
    said = page.locator(".verdict.silent .sentence")
    expect(said).to_contain_text("Not answered in full: nothing here speaks of “xylophones”")
    page.get_by_text("What is covered").first.click()
    expect(page.locator(".certificate .lacks")).to_contain_text("xylophones")


def test_korean_is_marked_as_korean_and_breaks_between_words(opens, address: str) -> None:
    page = opens(address, at("/", q=KOREAN))
    name = page.locator("[data-result] a.name").first
    expect(name).to_have_attribute("lang", "ko")
    expect(name).to_contain_text("나루물류 요청 한도")
    assert page.evaluate("getComputedStyle(document.body).wordBreak") == "keep-all"
    assert page.locator(".snippet mark").first.inner_text() in ("나루물류", "나루물류의", "요청", "한도")


def test_the_sums_of_an_xray_add_up_and_its_ladder_narrows(opens, address: str) -> None:
    page = opens(address, at("/xray", q=CACHE))
    for row in page.locator("table.exact").all()[:5]:
        parts = [_number(text) for text in row.locator("tbody td").all_text_contents()]
        assert round(sum(parts), 4) == _number(row.locator("tfoot td").text_content() or "")
    counts = [tuple(map(int, re.findall(r"\d+", text)[:2])) for text in page.locator(".through").all_text_contents()]
    assert len(counts) >= 6
    for (admitted, considered), (_, following) in pairwise(counts):
        assert admitted <= considered
        assert admitted == following
    for heading in ("Filters", "Near misses", "Budget", "Plan", "What the answer depends on"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()


def test_a_path_through_the_graph_is_drawn_with_its_relations(opens, address: str) -> None:
    page = opens(address, at("/xray", q=CACHE))
    graph = page.locator("details.graph").first
    if not graph.evaluate("one => one.open"):
        graph.locator("summary").click()
    drawn = graph.locator("svg.path")
    assert drawn.locator("circle").count() == drawn.locator("line").count() + 1 >= 2
    assert all(text.strip() for text in drawn.locator("text.relation").all_text_contents())


def test_a_fresh_xray_records_nothing_and_a_search_is_kept_with_its_decisions(
    opens, address: str, harbor: Engine
) -> None:
    before = written(harbor)
    page = opens(address, at("/xray", q=CACHE))
    assert written(harbor) == before
    page.get_by_role("link", name="Results").click()
    page.wait_for_url("**/?q=*")
    assert written(harbor) > before
    page.locator(".count-line a").click()
    expect(page.locator("h1")).to_contain_text(CACHE)
    expect(page.locator(".crumb")).to_contain_text("recorded recall")
    expect(page.locator("dt", has_text="audit entry").first).to_be_visible()


@pytest.mark.parametrize("format", ["text", "markdown", "json", "html"])
def test_a_copy_is_what_the_one_renderer_writes(opens, address: str, harbor: Engine, format: str) -> None:
    from recallens.render import render

    recall = harbor.search(CACHE)
    snapshot = harbor.recalls.snapshot_of(recall)
    page = opens(address, f"/snapshots/{snapshot.snapshotId}")
    with page.expect_download() as waiting:
        page.locator(".downloads").get_by_role("link", name=format, exact=True).click()
    assert waiting.value.path().read_text(encoding="utf-8") == render(snapshot, format) + "\n"


def test_why_not_names_what_kept_it_out_and_its_change_works(opens, address: str, harbor: Engine) -> None:
    before = written(harbor)
    page = opens(address, at("/why-not", q=CACHE))
    expect(page.get_by_role("heading", name="The nearest")).to_be_visible()
    page.get_by_label("Find a memory").fill("TTL is 60 seconds")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Tracking cache TTL is 60 seconds").first.click()
    expect(page.locator(".verdict")).to_contain_text("its status is superseded")
    expect(page.locator(".blockers")).to_contain_text("status active")
    page.get_by_role("link", name="Try it in the sandbox").click()
    expect(page.locator("#ranking")).to_contain_text("Tracking cache TTL is 60 seconds")
    assert "asOf=" in page.url or page.get_by_label("include what was superseded").is_checked()
    assert written(harbor) == before


def test_the_ranking_follows_a_slider_and_nothing_is_recorded(opens, address: str, harbor: Engine) -> None:
    before = written(harbor)
    page = opens(address, at("/sandbox", q=CACHE))
    unchanged = titles(page)
    expect(page.locator("#ranking [role=status]")).to_contain_text("as they were")
    with page.expect_response("**/sandbox/ranking*"):
        page.get_by_label("words", exact=True).fill("0")
    expect(page.locator("#ranking [role=status]")).not_to_contain_text("as they were")
    assert titles(page) != unchanged
    expect(page.locator(".move.up").first).to_be_visible()
    expect(page.locator("output[for=w-bm25]")).to_have_text("0.00×")
    with page.expect_response("**/sandbox/ranking*"):
        page.get_by_label("results", exact=True).fill("3")
    expect(page.locator("#ranking [data-result]")).not_to_have_count(len(unchanged))
    few = page.locator("#ranking [data-result]").count()
    assert 3 <= few <= 6  # lessons come beside what was asked for
    assert "limit=3" in page.url
    assert "w.bm25=0" in page.url
    page.reload()  # the address holds the settings
    expect(page.locator("#ranking [data-result]")).to_have_count(few)
    assert written(harbor) == before


def test_two_recalls_are_compared_with_their_causes(opens, address: str, harbor: Engine) -> None:
    one = harbor.recalls.snapshot_of(harbor.search("tracking cache", limit=3)).snapshotId
    two = harbor.recalls.snapshot_of(harbor.search("tracking cache", limit=5)).snapshotId
    page = opens(address, "/diff")
    page.get_by_label("Before").select_option(one)
    page.get_by_label("After").select_option(two)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".count-line")).to_contain_text("2 entered, 0 left")
    expect(page.locator("main")).to_contain_text("Limit is 5 and was 3")
    page.get_by_role("link", name="the other way round").click()
    expect(page.locator(".count-line")).to_contain_text("0 entered, 2 left")


def test_rating_writes_a_golden_set_and_shows_its_ndcg(opens, address: str, harbor: Engine) -> None:
    page = opens(address, at("/rate", q=KOREAN, set="by hand"))
    rows = page.locator("[data-result]")
    rows.nth(0).get_by_text("exactly it").click()
    rows.nth(2).get_by_text("somewhat").click()
    rows.nth(1).get_by_text("not relevant").click()
    page.get_by_role("button", name="Keep the ratings").click()
    expect(page.locator(".notice.good")).to_contain_text("Kept")
    (question,) = read_golden(rated_path(harbor, "by hand", namespace="default")).questions
    assert (question.query, sorted(question.grades.values())) == (KOREAN, [0, 1, 3])
    best = 3 + 1 / math.log2(3)
    ndcg = (3 + 1 / math.log2(4)) / best
    expect(page.locator("#ndcg")).to_have_text(f"{ndcg:.3f}")
    expect(page.locator("#mean")).to_have_text(f"{ndcg:.3f}")
    assert rows.nth(0).locator("input:checked").get_attribute("value") == "3"


def test_a_memory_tells_its_lineage_relations_and_surroundings(opens, address: str) -> None:
    page = opens(address, at("/", q=CACHE))
    page.locator("[data-result] a.name").first.click()
    expect(page.locator(".chain li")).to_have_count(3)
    expect(page.locator(".chain .here")).to_contain_text("invalidated by events")
    expect(page.locator("main")).to_contain_text("src/harbor/cache.py:40-97")
    page.get_by_role("link", name="timeline").click()
    expect(page.locator(".timeline .here")).to_contain_text("invalidated by events")
    assert page.locator(".timeline > li").count() > 5


def test_the_vault_shows_files_and_sections(opens, address: str) -> None:
    page = opens(address, "/vault")
    expect(page.locator("main")).to_contain_text("76 files")
    page.get_by_label("Find a file").fill("webhooks.md")
    page.keyboard.press("Enter")
    expect(page.locator(".sections a").first).to_be_visible()
    page.locator(".sections a").first.click()
    expect(page.locator("dt", has_text="file")).to_be_visible()


def test_statistics_are_drawn(opens, address: str, harbor: Engine) -> None:
    page = opens(address, "/stats")
    total = harbor.maintenance.stats()["totals"]["memories"]
    expect(page.locator(".figures li").first).to_contain_text(f"{total:,}")
    grown = page.locator(".plot", has_text="Memories over time")
    counts = [int(text) for text in grown.locator("table td").all_text_contents()]
    assert sum(counts) == total
    assert grown.locator("rect").count() == len(counts)


def test_the_keyboard_alone(opens, address: str) -> None:
    page = opens(address, at("/", q=CACHE))
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('[data-result]').querySelector('.rank').textContent") == "2"
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.textContent") == titles(page)[0]
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("j")  # a letter in the box is a letter
    assert page.locator("#q").input_value() == "j"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.wait_for_url("**/snapshots/**")


def test_the_first_stop_of_the_tab_key_leads_to_the_content(opens, address: str) -> None:
    page = opens(address, "/stats")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_dark_is_chosen_and_stays(opens, address: str) -> None:
    page = opens(address, "/stats")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_an_empty_store_says_how_to_begin(opens, fresh: tuple[Engine, str]) -> None:
    page = opens(fresh[1])
    expect(page.get_by_role("heading", name="Nothing is remembered here yet")).to_be_visible()
    for path in ("/stats", "/vault", "/diff", "/rate", at("/", q="anything"), at("/xray", q="anything")):
        page.goto(fresh[1] + path)
        assert page.locator("main").inner_text().strip()


def _number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_a_token_is_asked_for_and_leads_on(opens, watched, tmp_path: Path) -> None:
    with Engine.open(tmp_path / "store.db", encoder="hashing") as engine:
        engine.remember("Lookups are cached for 60 seconds.")
        token = engine.tokens.create(["default"], right="read")[1]
        with running(site(engine)) as address:
            page = opens(address, at("/", q="lookups"))
            expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
            assert Axe().run(page).violations_count == 0
            page.get_by_label("Token").fill("rcl_wrong")
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("alert")).to_contain_text("not known")
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Sign in").click()
            expect(page.locator("[data-result]")).to_contain_text("60 seconds")
    watched.errors.clear()  # the browser tells of the refused token, which is what 401 is for
