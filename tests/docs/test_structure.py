"""The shape of the tree: how large it is, how its parts are called, and that nothing offered has been lost."""

from __future__ import annotations

import ast
import json
import re
import statistics
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import async_stub
import pytest
from surfaces import LISTED, gathered, missing

from recallens import renamed
from standing import Open

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "recallens"

# The most that the tree may have of each; to be tightened whenever it has become smaller.
MOST_FILES = 412
MOST_LINES = 73_200
MOST_LINES_OF_THE_MEDIAN = 162
MOST_LINES_OF_A_FILE = 475
MOST_NAMES_OF_THE_ENGINE = 30

# Nouns of the field that end as a gerund does.
NOUNS = {
    "encoding", "findings", "hashing", "heading", "listing", "ranking", "rating", "ratings", "setting", "settings",
    "string", "timing",
}  # fmt: skip


@cache
def lines() -> dict[Path, int]:
    return {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(PACKAGE.rglob("*.py"))}


# ── size ──


def test_the_tree_has_few_files() -> None:
    assert len(lines()) <= MOST_FILES


def test_the_tree_has_few_lines() -> None:
    assert sum(lines().values()) <= MOST_LINES


def test_a_file_is_read_in_one_sitting() -> None:
    assert statistics.median(lines().values()) <= MOST_LINES_OF_THE_MEDIAN
    longest = max(lines(), key=lines().__getitem__)
    assert lines()[longest] <= MOST_LINES_OF_A_FILE, longest.relative_to(ROOT)


# ── names ──


def test_no_class_has_the_name_of_another() -> None:
    homes = defaultdict(list)
    for path in lines():
        for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.ClassDef):
                homes[statement.name].append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_a_module_is_a_noun() -> None:
    words = {path: path.stem.rpartition("_")[2] for path in lines()}
    gerunds = [str(path.relative_to(PACKAGE)) for path, word in words.items() if _is_gerund(word)]
    assert gerunds == []


def _is_gerund(word: str) -> bool:
    return word.removesuffix("s").endswith("ing") and word not in NOUNS


def test_the_engine_is_composed_and_has_few_verbs(opened: Open) -> None:
    engine = opened()
    assert type(engine).__mro__ == (type(engine), object)
    assert len([name for name in dir(engine) if not name.startswith("_")]) <= MOST_NAMES_OF_THE_ENGINE


def test_the_products_old_name_stands_only_where_it_is_read() -> None:
    places = _places(renamed.FOLDER)
    assert [path for path in places if not _may_say_the_old_name(path)] == []


def _may_say_the_old_name(path: str) -> bool:
    own = path in ("CHANGELOG.md", "src/recallens/renamed.py")
    return own or "/migrations" in path or ("/data/" in path and path.endswith(".txt"))


# Names of documents that only their authors know; put together here so that this file does not hold them.
INNER_NAMES = ("seed " + "00", "the seed" + "'s", "the " + "seeds", "-".join(("classic", "001")))


@pytest.mark.parametrize("name", INNER_NAMES)
def test_no_document_is_named_that_a_reader_cannot_open(name: str) -> None:
    allowed = {"CHANGELOG.md", "docs/requirements.md", "src/recallens/renamed.py"}
    assert [path for path in _places(name) if path not in allowed] == []


def _places(words: str) -> list[str]:
    """The files under version control that hold these words, in any case."""
    command = ["git", "grep", "-I", "-l", "-i", "-F", "--untracked", "-e", words]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    if found.returncode > 1:
        pytest.skip("this is no checkout: git cannot list its files")
    return found.stdout.splitlines()


def test_the_types_of_the_async_engine_are_those_of_the_engine() -> None:
    assert async_stub.STUB.read_text(encoding="utf-8") == async_stub.written(), "run python tests/docs/async_stub.py"


# ── the map ──

BLOCK = re.compile(r"^```\w*\n(src/recallens/\n.*?)^```", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^  (?P<folder>[\w/]+/)?\s*(?P<stems>.*)$")


def test_the_map_of_rooms_is_the_tree() -> None:
    block = BLOCK.search((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert block is not None, "docs/architecture.md has no block that begins with src/recallens/"
    drawn = rooms_of_the_map(block[1])
    built = rooms_of_the_tree()
    assert drawn.keys() == built.keys()
    for folder, stems in built.items():
        assert drawn[folder] == stems, folder


def rooms_of_the_map(block: str) -> dict[str, Counter[str]]:
    """Lines such as `  model/   memory · citation · query`. A line that names no folder goes on with the one before;
    before the first folder, and after `src/recallens/` itself, it tells of the package's own files."""
    rooms: dict[str, Counter[str]] = {"": Counter()}
    folder = ""
    for line in block.splitlines()[1:]:
        row = ROW.match(line)
        assert row is not None, line
        folder = row["folder"].rstrip("/") if row["folder"] else folder
        stems = [stem.removesuffix(".py") for stem in re.split(r"[·\s]+", row["stems"]) if stem]
        rooms.setdefault(folder, Counter()).update(stems)
    return rooms


def rooms_of_the_tree() -> dict[str, Counter[str]]:
    """Every folder with modules, by its path, with their stems; `__init__` goes without saying."""
    rooms: dict[str, Counter[str]] = defaultdict(Counter)
    for path in lines():
        rooms[path.parent.relative_to(PACKAGE).as_posix().removeprefix(".")].update(_stem(path))
    return dict(rooms)


def _stem(path: Path) -> Iterator[str]:
    if path.stem != "__init__":
        yield path.stem


def test_a_map_is_read_as_it_is_drawn() -> None:
    rows = ("  config · errors", "  model/          memory · query", " " * 18 + "plan", "  store/sqlite/   writer")
    drawn = "\n".join(("src/recallens/", *rows))
    assert rooms_of_the_map(drawn) == {
        "": Counter(["config", "errors"]), "model": Counter(["memory", "query", "plan"]),
        "store/sqlite": Counter(["writer"]),
    }  # fmt: skip


# ── what is added ──

ADDED = re.compile(r"^\*\*(?P<what>[^*]+)\*\*: .*?^```diff\n(?P<diff>.*?)^```", re.MULTILINE | re.DOTALL)
# The most files that one more of each may touch.
MOST_TOUCHED = {
    "A score term": 2, "A caller's filter": 3, "A memory's column": 6, "An option of a search": 2, "An intent": 2,
    "An importer": 1, "A language": 2,
}  # fmt: skip


def additions() -> dict[str, str]:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return {found["what"]: found["diff"] for found in ADDED.finditer(page)}


def test_every_kind_of_addition_is_shown() -> None:
    assert additions().keys() == MOST_TOUCHED.keys()


@pytest.mark.parametrize("what", MOST_TOUCHED)
def test_an_addition_touches_few_files_and_applies_to_the_tree(what: str) -> None:
    diff = additions()[what]
    assert len(re.findall(r"^diff --git ", diff, re.MULTILINE)) <= MOST_TOUCHED[what]
    applied = subprocess.run(
        ["git", "apply", "--check", "--unidiff-zero", "-"], cwd=ROOT, input=diff, capture_output=True, encoding="utf-8"
    )
    assert applied.returncode == 0, applied.stderr


# ── what is offered ──


@pytest.mark.slow
def test_everything_that_was_offered_before_still_is(tmp_path: Path) -> None:
    assert missing(json.loads(LISTED.read_text(encoding="utf-8")), gathered(tmp_path)) == []


def test_what_is_offered_no_more_is_named() -> None:
    listed = {"commands": {"recallens show": ["--json", "ID"], "recallens list": []}, "settings": {"store": []}}
    assert missing(listed, listed | {"more": {"any": []}}) == []
    assert missing(listed, {"commands": {"recallens show": ["ID"]}}) == [
        "commands: recallens show --json", "commands: recallens list", "settings: store",
    ]  # fmt: skip
