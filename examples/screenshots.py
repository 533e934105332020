"""Pictures of the page over the sample, for docs/web.md: `make screenshots`. Needs the developers' packages."""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from urllib.parse import urlencode

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from recallens.engine import Engine
from recallens.server import running, whole

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
LARGEST = 250_000
COLOURS = 256
CACHE = "How long do we cache tracking lookups now?"
IN_MAY = 1_777_593_600_000  # the first, when lookups were still cached for 60 seconds
KOREAN = "나루물류 요청 한도"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: `height` of what is seen; `scroll` is what to look at, `act` what to do before."""

    name: str
    path: str
    width: int = 1280
    height: int = 860
    dark: bool = False
    scroll: str = ""
    act: str = ""


def shots(engine: Engine) -> list[Shot]:
    asked = urlencode({"q": CACHE})
    old = engine.memories.resolve(["cache-ttl-60"])["cache-ttl-60"]
    new = engine.memories.resolve(["cache-event-invalidation"])["cache-event-invalidation"]
    sandbox = f"/sandbox?{asked}&w.bm25=0.2&w.vector=1.6&limit=9"
    before = engine.recalls.snapshot_of(engine.search(CACHE, limit=5, now=IN_MAY)).snapshotId
    after = engine.recalls.snapshot_of(engine.search(CACHE, limit=5)).snapshotId
    return [
        Shot("start", "/"),
        Shot("results", f"/?{asked}"),
        Shot("results-dark", f"/?{asked}", dark=True),
        Shot("results-korean-320", f"/?{urlencode({'q': KOREAN})}", width=320, height=760),
        Shot("xray", f"/xray?{asked}&limit=6", height=1120),
        Shot("xray-dark", f"/xray?{asked}&limit=6", dark=True, height=1120),
        Shot("xray-320", f"/xray?{asked}&limit=6", width=320, height=860),
        Shot("xray-graph", f"/xray?{asked}", height=560, scroll="details.graph", act="details.graph"),
        Shot("why-not", f"/why-not?{asked}&memory={old}", height=760),
        Shot("sandbox", sandbox),
        Shot("sandbox-dark", sandbox, dark=True),
        Shot("diff", f"/diff?before={before}&after={after}", height=900),
        Shot("memory", f"/memories/{new}", height=900),
        Shot("timeline", f"/timeline/{new}", height=760),
        Shot("vault", "/vault", height=860),
        Shot("stats", "/stats", height=900),
        Shot("rate", f"/rate?{asked}", height=820),
        Shot("rate-320", f"/rate?{asked}", width=320, height=760),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="a store that holds the sample already")
    parser.add_argument("--only", action="append", default=[], help="the name of a picture; can be repeated")
    parser.add_argument("--out", type=Path, default=IMAGES)
    given = parser.parse_args()
    browser = next((found for name in BROWSERS if (found := which(name)) is not None), None)
    if browser is None:
        print("no Chromium here: `make browser` installs Debian's", file=sys.stderr)
        return 1
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = given.store or loaded(Path(folder) / "harbor.db")
        with Engine.open(store) as engine, running(whole(engine, private=True)) as address:
            lived_in(engine)
            wanted = [one for one in shots(engine) if not given.only or one.name in given.only]
            take(wanted, address, browser, given.out)
    return 0


def loaded(store: Path) -> Path:
    """The sample as `make demo` loads it."""
    for words in (
        ("remember", "--jsonl", str(HERE / "memories.jsonl")),
        ("remember", "--jsonl", str(HERE / "tasks.jsonl")),
        ("vault", "add", "examples/vault", "--name", "harbor"),
    ):
        subprocess.run([sys.executable, "-m", "recallens", "--store", str(store), *words], check=True, cwd=HERE.parent)
    return store


def lived_in(engine: Engine) -> None:
    """A few recalls and ratings, so that no page is bare."""
    from recallens.evaluate.shelf import rate

    questions = (CACHE, KOREAN, "E-AUTH-4012", "How many times is a failed webhook attempted?", "배포 요일")
    for back in range(24, 0, -1):
        for question in questions[: 1 + (back * 7) % 5]:
            engine.search(question, now=engine.core.clock() - back * 86_400_000 + len(question) * 1_000)
    for question in questions[:4]:
        best = [one.memory.id for one in engine.recall(engine.recalls.query(question, limit=10, cut=False)).results]
        rate(engine, "rated", question, {best[0]: 3, best[1]: 1, best[3]: 2}, namespace="default")


def take(wanted: list[Shot], address: str, browser: str, out: Path) -> None:
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser, args=quiet)
        for shot in wanted:
            context = launched.new_context(
                viewport={"width": shot.width, "height": shot.height},
                color_scheme="dark" if shot.dark else "light",
                reduced_motion="reduce",
            )
            page = context.new_page()
            page.goto(address + shot.path)
            if shot.act:
                page.evaluate("what => { document.querySelector(what).open = true; }", shot.act)
            if shot.scroll:
                page.evaluate("what => document.querySelector(what).closest('li').scrollIntoView()", shot.scroll)
            page.evaluate("document.activeElement.blur()")
            size = keep(page.screenshot(), out / f"{shot.name}.png")
            print(f"{shot.name}: {size:,} bytes", flush=True)
            context.close()
        launched.close()


def keep(data: bytes, path: Path) -> int:
    """In the 256 colours that matter most, each as it is: only the edges of letters change, and the file is a third.

    What is colourful counts more than what is frequent: a part of a score is known by its colour, however small.
    """
    image = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    colours, places, counts = np.unique(image.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    vivid = colours.max(axis=1).astype(np.int64) - colours.min(axis=1)
    palette = colours[np.argsort(-counts * (1 + vivid))[:COLOURS]].astype(np.int64)
    apart = ((colours[:, None, :].astype(np.int64) - palette[None]) ** 2).sum(axis=2)
    nearest = apart.argmin(axis=1).astype(np.uint8)[places.reshape(image.shape[:2])]
    few = Image.frombytes("P", image.shape[1::-1], nearest.tobytes())
    few.putpalette(palette.astype(np.uint8).tobytes())
    few.save(path, optimize=True)
    size = path.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{path} has {size:,} bytes; at most {LARGEST:,} are kept in the repository")
    return size


if __name__ == "__main__":
    sys.exit(main())
