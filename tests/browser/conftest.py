"""Real Chromium on a real server over the sample. Whatever a page must never do fails the test that saw it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, ViewportSize, expect, sync_playwright

from recallens.engine import Engine
from recallens.server import running
from sites import load_sample, site

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run",
    # No name leads anywhere: a request to elsewhere is seen and goes nowhere. (Stopping requests one by one would
    # turn the browser's cache off, and every page would load its styles anew.)
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip
DESKTOP: ViewportSize = {"width": 1280, "height": 900}
REQUIRED = "RECALLENS_REQUIRE_BROWSER"
# A busy machine is slow and not wrong.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """No longer than the tests of one file: while it is there, its loop runs in the thread that other tests need."""
    found = next((path for name in NAMES if (path := shutil.which(name)) is not None), None)
    if found is None:
        told = f"no Chromium here (looked for {', '.join(NAMES)}); `make browser` installs Debian's"
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(told)
        pytest.skip(told)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The sample store, shared by the tests of a worker: they look, or write what no other one counts."""
    store = tmp_path_factory.mktemp("harbor") / "harbor.db"
    load_sample(store)
    engine = Engine.open(store)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def address(harbor: Engine) -> Iterator[str]:
    with running(site(harbor)) as address:
        yield address


@dataclass
class Watched:
    """What pages did that none may do."""

    dialogs: list[str] = field(default_factory=list)
    outbound: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def nothing(self) -> None:
        assert (self.dialogs, self.outbound, self.errors) == ([], [], [])


Opens = Callable[..., Page]


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Page:
    """For one test after the other: a process of its own for each would cost more than its pages."""
    page = browser.new_context(viewport=DESKTOP).new_page()
    page.set_default_timeout(PATIENCE_MS)
    return page


@contextmanager
def cleared(tab: Page, origins: set[str]) -> Iterator[Page]:
    """Afterwards nothing is left of what the sites kept in it, nor of what the test set."""
    yield tab
    tab.goto("about:blank")
    session = tab.context.new_cdp_session(tab)
    for origin in origins:
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    session.detach()
    tab.set_viewport_size(DESKTOP)
    tab.emulate_media(color_scheme="null")


@pytest.fixture
def opens(browser: Browser, tab: Page, watched: Watched) -> Iterator[Opens]:
    """Opens a page in the tab, or with options in one of its own; every request off its site fails the test."""
    contexts: list[BrowserContext] = []
    origins: set[str] = set()
    listeners: list[tuple[BrowserContext | Page, str, Callable[..., object]]] = []

    def opening(address: str, path: str = "/", **options: object) -> Page:
        page = tab
        if options:
            contexts.append(browser.new_context(**{"viewport": DESKTOP, **options}))
            page = contexts[-1].new_page()
            page.set_default_timeout(PATIENCE_MS)
        assert options or not origins, "the tab shows a page of this test already"
        origins.add(address)

        def look(request: Request) -> None:
            if not request.url.startswith((address + "/", "data:")):
                watched.outbound.append(request.url)

        added = [
            (page.context, "request", look),
            (page, "dialog", lambda dialog: (watched.dialogs.append(dialog.message), dialog.dismiss())),
            (page, "pageerror", lambda error: watched.errors.append(str(error))),
            (page, "console", lambda said: watched.errors.append(said.text) if said.type == "error" else None),
        ]
        listeners.extend(added)
        for place, event, listener in added:
            place.on(event, listener)
        page.goto(address + path)
        return page

    with cleared(tab, origins):
        yield opening
    for place, event, listener in listeners:
        place.remove_listener(event, listener)
    for context in contexts:
        context.close()
    watched.nothing()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[tuple[Engine, str]]:
    """An empty store of this test's own."""
    engine = Engine.open(tmp_path / "store.db", encoder="hashing")
    with running(site(engine)) as address:
        yield engine, address
    engine.close()
