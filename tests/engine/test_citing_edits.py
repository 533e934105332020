"""What becomes of cited lines when files are edited, renamed and cut up, and of which checkout an answer tells it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from recallens.engine import Engine
from recallens.ingest.draft import Draft
from recallens.model.citation import Checked, Citation, CommitCitation, FileCitation, SymbolCitation
from standing import Open

FARE = """RATE = 12
LIMIT = 40


def fare(zone, hour):
    base = RATE * zone
    if hour > 20:
        return base * 2
    return base


def refund(ticket):
    return ticket.price - 3


class Gate:
    def opens(self, ticket):
        self.count += 1
        return ticket.valid and not self.locked
"""
ETA = "def eta(stop):\n    delay = stop.delay or 0\n    return stop.time + delay\n"
RATES = "rates:\n  - zone one costs 12\n  - zone two costs 24\n"
LINES = FileCitation("src/fare.py", 5, 9)
WHOLE = FileCitation("src/eta.py")
REFUND = SymbolCitation("src/fare.py#refund", "refund", "src/fare.py")
OPENS = SymbolCitation("src/fare.py#Gate.opens", "Gate.opens", "src/fare.py")
ONE = FileCitation("docs/rates.yml", 2)


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(root: Path, message: str = "next") -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ferry"
    for path, text in (("src/fare.py", FARE), ("src/eta.py", ETA), ("docs/rates.yml", RATES)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    commit(folder, "first")
    return folder


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new), encoding="utf-8")


def cut(root: Path, path: str, text: str, to: str, *, above: str = "") -> None:
    """Lines that leave one file for another."""
    edit(root, path, text, "")
    place = root / to
    place.write_text(above + (place.read_text(encoding="utf-8") if place.exists() else "") + text, encoding="utf-8")
    git(root, "add", "-A")


FARE_LINES = "".join(line + "\n" for line in FARE.splitlines()[4:9])
REFUND_LINES = "def refund(ticket):\n    return ticket.price - 3\n"
GATE_LINES = FARE[FARE.index("class Gate") :]


class Edit(NamedTuple):
    name: str
    citation: Citation
    edit: Callable[[Path], object]
    finding: str
    said: str = ""  # a part of where it is now, or of the reason


EDITS = (
    Edit("nothing", LINES, lambda root: None, "unchanged"),
    Edit("blank lines at the end", WHOLE, lambda root: edit(root, "src/eta.py", ETA, ETA + "\n\n\n"), "unchanged"),
    Edit("blank lines between", WHOLE, lambda root: edit(root, "src/eta.py", "\n    return", "\n\n\n    return"),
         "unchanged"),
    Edit("blank lines within", LINES, lambda root: edit(root, "src/fare.py", "zone\n", "zone\n\n\n"), "unchanged"),
    Edit("blank lines taken out before", REFUND, lambda root: edit(root, "src/fare.py", "40\n\n\n", "40\n"), "moved",
         "src/fare.py:10-11"),
    Edit("blank lines and a change", LINES, lambda root: edit(root, "src/fare.py", "base * 2", "base * 3\n\n"),
         "changed", "1 of 5"),
    Edit("a bracket more", FileCitation("docs/rates.yml"),
         lambda root: edit(root, "docs/rates.yml", RATES, RATES + "]\n"), "changed"),
    Edit("trailing blanks", LINES, lambda root: edit(root, "src/fare.py", "zone\n", "zone   \n"), "unchanged"),
    Edit("carriage returns", WHOLE, lambda root: edit(root, "src/eta.py", "\n", "\r\n"), "unchanged"),
    Edit("lines above", LINES, lambda root: edit(root, "src/fare.py", "RATE = 12\n", "# fares\nRATE = 12\n"), "moved",
         "src/fare.py:6-10"),
    Edit("two of five changed", LINES, lambda root: edit(root, "src/fare.py", "hour", "time"), "changed", "2 of 5"),
    Edit("taken out", LINES, lambda root: edit(root, "src/fare.py", FARE_LINES, ""), "changed"),
    Edit("file gone", LINES, lambda root: git(root, "rm", "-q", "src/fare.py"), "gone"),
    Edit("renamed and committed", LINES,
         lambda root: (git(root, "mv", "src/fare.py", "src/price.py"), commit(root)), "moved", "src/price.py:5-9"),
    Edit("renamed and staged", LINES, lambda root: git(root, "mv", "src/fare.py", "src/price.py"), "moved",
         "src/price.py:5-9"),
    Edit("renamed with a change, staged", LINES, lambda root: (git(root, "mv", "src/fare.py", "src/price.py"),
         edit(root, "src/price.py", "base * 2", "base * 3"), git(root, "add", "-A")), "changed", "1 of 5 lines of src"),
    Edit("renamed with a change, committed", LINES, lambda root: (git(root, "mv", "src/fare.py", "src/price.py"),
         edit(root, "src/price.py", "base * 2", "base * 3"), commit(root)), "changed", "1 of 5 lines of src/price.py"),
    Edit("cut to a new file", LINES, lambda root: cut(root, "src/fare.py", FARE_LINES, "src/zones.py"), "moved",
         "src/zones.py:1-5"),
    Edit("cut to a file with other things", LINES,
         lambda root: cut(root, "src/fare.py", FARE_LINES, "src/eta.py", above="import time\n"), "moved",
         "src/eta.py:5-9"),
    Edit("cut and committed", LINES,
         lambda root: (cut(root, "src/fare.py", FARE_LINES, "src/zones.py"), commit(root)), "moved",
         "src/zones.py:1-5"),
    Edit("cut to an untracked file", LINES, lambda root: (edit(root, "src/fare.py", FARE_LINES, ""),
         (root / "notes.py").write_text(FARE_LINES)), "changed"),
    Edit("copied to two files", LINES, lambda root: (cut(root, "src/fare.py", FARE_LINES, "src/a.py"),
         (root / "src/b.py").write_text(FARE_LINES), git(root, "add", "-A")), "changed"),
    Edit("symbol cut to a file", REFUND, lambda root: cut(root, "src/fare.py", REFUND_LINES, "src/back.py"), "moved",
         "src/back.py:1-2"),
    Edit("symbol cut and changed", REFUND, lambda root: (cut(root, "src/fare.py", REFUND_LINES, "src/back.py"),
         edit(root, "src/back.py", "- 3", "- 5"), git(root, "add", "-A")), "changed", "1 of 2 lines of src/back.py"),
    Edit("method cut with its class", OPENS, lambda root: cut(root, "src/fare.py", GATE_LINES, "src/gate.py"), "moved",
         "src/gate.py:2-4"),
    Edit("symbol gone", REFUND, lambda root: edit(root, "src/fare.py", REFUND_LINES, ""), "gone"),
    Edit("file deleted, lines kept elsewhere", LINES, lambda root: (cut(root, "src/fare.py", FARE_LINES, "src/eta.py"),
         git(root, "rm", "-qf", "src/fare.py")), "moved", "src/eta.py:4-8"),
    Edit("one line elsewhere", ONE, lambda root: cut(root, "docs/rates.yml", "  - zone one costs 12\n", "docs/all.yml"),
         "moved", "docs/all.yml:1"),
)  # fmt: skip


def checked(engine: Engine, root: Path) -> Checked:
    (check,) = engine.maintenance.citations.check(root=root)
    return check.checked[0]


@pytest.mark.parametrize("case", EDITS, ids=lambda case: case.name)
def test_an_edit_is_told_as_what_it_is(opened: Open, root: Path, case: Edit) -> None:
    engine = opened("store.db", workspace=str(root))
    engine.remember(Draft("What it costs to cross", citations=(case.citation,)))
    assert checked(engine, root).finding == "unchanged"
    case.edit(root)
    found = checked(engine, root)
    assert (found.finding, case.said in f"{found.now} {found.reason}") == (case.finding, True), found


def test_a_commit_is_looked_for_in_the_repository_that_one_stands_in(engine: Engine, root: Path) -> None:
    own, other = git(root, "rev-parse", "HEAD"), "f" * 40
    engine.core.folder = root / "src"
    engine.remember(Draft("Fares are by zone", citations=(CommitCitation(own), CommitCitation(other))))
    (check,) = engine.maintenance.citations.check()
    assert [each.standing for each in check.checked] == [
        "verified",
        "unknown",
    ]  # the other may be of another repository


def test_an_answer_tells_the_verdict_of_the_branch_that_one_stands_on(engine: Engine, root: Path) -> None:
    engine.core.folder = root
    id = engine.remember(Draft("The fare doubles after eight", citations=(LINES,))).id

    def told() -> list[str]:
        (result,) = engine.search("when does the fare double", record=False).results
        return [remark for remark in result.state.remarks() if "cites" in remark]

    git(root, "branch", "old")
    edit(root, "src/fare.py", "base * 2", "base * 3")
    commit(root)
    engine.maintenance.citations.check([id], mark=True)
    assert told() == ["cites changed lines"]
    git(root, "checkout", "-q", "old")
    assert told() == ["cites changed lines on main"]  # nobody has looked here yet
    engine.maintenance.citations.check([id], mark=True)
    assert told() == []
    git(root, "checkout", "-q", "main")
    assert told() == ["cites changed lines"]
