"""The pages of the site: every block runs, the tables are the program's own, and every link leads somewhere."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import reference_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BUILDER = os.environ.get("RECALLENS_MKDOCS") or shutil.which("mkdocs")
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
# Pages whose commands are run from top to bottom, in a home of their own.
SHOWN = [
    DOCS / name
    for name in ("index.md", "quickstart.md", "concepts.md", "howto.md", "ko/quickstart.md", "ko/concepts.md")
]
SHOWN.append(ROOT / "README.ko.md")
CONSOLE = re.compile(r"(?<!<!-- session -->\n)^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", SHOWN, ids=named)
def test_every_command_prints_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    told = {
        **{name: value for name, value in os.environ.items() if not name.startswith("RECALLENS_")},
        "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "NO_COLOR": "1", "COLUMNS": "120",
        "PYTHONIOENCODING": "utf-8",
    }  # fmt: skip
    steps = [
        step
        for block in CONSOLE.findall(page.read_text(encoding="utf-8"))
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]
    ]
    assert steps
    for step in steps:
        command, _, shown = step.partition("\n")
        words = shlex.split(command)
        assert words[0] == "recallens", command
        ran = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, env=told, capture_output=True, encoding="utf-8"
        )
        assert ran.returncode == 0, (command, ran.stderr)
        at = 0
        for shown_line in filter(None, map(str.rstrip, shown.splitlines())):
            parts = (r"\s+".join(map(re.escape, part.split(" "))) for part in re.sub(" +", " ", shown_line).split("…"))
            found = re.compile(".*".join(parts)).search(ran.stdout, at)
            assert found, f"{command}: {shown_line!r} is not in\n{ran.stdout}"
            at = found.end()


@pytest.mark.slow
def test_every_program_of_the_cookbook_runs(tmp_path: Path) -> None:
    programs = PYTHON.findall((DOCS / "cookbook.md").read_text(encoding="utf-8"))
    assert len(programs) >= 7
    for program in programs:
        ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, encoding="utf-8")
        assert ran.returncode == 0, f"{program}\n{ran.stderr}"


def test_the_tables_are_the_programs_own() -> None:
    assert reference_page.PAGE.read_text(encoding="utf-8") == reference_page.written(), (
        "run tests/docs/reference_page.py"
    )


# ── links ──

LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """As the site makes them, and as code hosts do: lower case, without marks, hyphens for blanks."""
    titles = (
        re.sub(r"[^\w\s-]", "", title.strip().lower()) for title in HEADING.findall(page.read_text(encoding="utf-8"))
    )
    return {re.sub(r"\s+", "-", title.strip()) for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for found in LINK.finditer(text):
        target, _, anchor = found["target"].partition("#")
        if target.startswith(("http://", "https://", "mailto:")):
            continue  # nothing outside is asked
        place = (page.parent / target).resolve() if target else page
        assert place.exists(), f"{found[0]} leads nowhere"
        if anchor and place.suffix == ".md":
            assert anchor in anchors(place), f"{found[0]}: {place.name} has {sorted(anchors(place))}"


def test_every_picture_of_a_concept_says_what_it_shows() -> None:
    for picture in DOCS.glob("images/concept-*.svg"):
        assert re.search(r'aria-label="[^"]{20,}"', picture.read_text(encoding="utf-8")), picture.name


# ── the site ──


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    if BUILDER is None:
        pytest.skip("mkdocs is not here: `make site` installs it")
    command = [BUILDER, "build", "--strict", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    page = (tmp_path / "site" / "ko" / "concepts.html").read_text(encoding="utf-8")
    assert "기억은 덮어쓰지 않습니다" in page
    # Nothing of it is loaded from elsewhere.
    loaded = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?://[^"]+)"', page)
    assert [address for address in loaded if "canonical" not in address] == []
