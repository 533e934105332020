"""Definitions in source texts of several languages, and cited lines held against a file that changed."""

from __future__ import annotations

import hashlib

import pytest
from msgspec import structs

from recallens.ingest.cited_lines import cited_range, compare, lines_of, print_of
from recallens.ingest.definitions import definition
from recallens.model.citation import FileCitation

PYTHON = '''import time

TTL = 60

def load(key, table={}):
    return table[key]


class Cache:
    """What is kept."""

    @staticmethod
    def get(self, key):
        if key:
            return {
                "a": load(key),
            }

        return None

    async def put(
        self,
        key,
    ) -> None:
        self.key = key
'''
TYPESCRIPT = """export const ttl = 5;
export default class Store {
  private items: Map<string, number> = new Map();
  get(key: string): number | undefined {
    return this.items.get(key);
  }
}
const arrow = async (a) => {
  return { a };
};
"""
OTHERS = """func (s *Server) Start(ctx context.Context) error {
	return nil
}
int add(int a, int b);
static int
add(int a, int b)
{
  return a + b;
}
pub(crate) fn run<T>(x: T) -> T {
    x
}
def 인사(이름)
  이름
end
"""


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        (PYTHON, "TTL", (3, 3)), (PYTHON, "load", (5, 6)), (PYTHON, "Cache", (9, 25)), (PYTHON, "Cache.get", (13, 19)),
        (PYTHON, "cache.Cache.put", (21, 25)), (PYTHON, "key", (25, 25)), (PYTHON, "Nothing", None),
        (TYPESCRIPT, "ttl", (1, 1)), (TYPESCRIPT, "Store", (2, 7)), (TYPESCRIPT, "Store#get", (4, 6)),
        (TYPESCRIPT, "arrow", (8, 10)),
        (OTHERS, "Server.Start", (1, 3)), (OTHERS, "add", (6, 9)), (OTHERS, "run", (10, 12)),
        (OTHERS, "인사", (13, 15)),
    ],
)  # fmt: skip
def test_a_definition_is_found_with_its_block(text: str, name: str, lines: tuple[int, int] | None) -> None:
    assert definition(lines_of(text), name) == lines


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("TTL = 60", "TTL = 60", ("unchanged", 3, 3, 0)),
        ("import time", "import os\nimport time", ("moved", 4, 4, 0)),
        ("TTL = 60", "TTL = 90", ("changed", 3, 3, 1)),
        ("TTL = 60", "", ("changed", 3, 3, 1)),
    ],
)
def test_one_cited_line(old: str, new: str, found: tuple[str, int, int, int]) -> None:
    known = print_of(lines_of(PYTHON), 3, 3)
    after = lines_of(PYTHON.replace(old, new, 1))
    told = compare(known, after, cited_range(FileCitation("cache.py", 3), after))
    assert (told.finding, told.start, told.end, told.changed) == found


def test_of_an_older_hash_blank_lines_do_not_count_either() -> None:
    lines = ["def fare(zone):", "    base = zone * 12", "", "    return base"]
    older = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    known = structs.replace(print_of(lines, 1, 4), hash=older)
    assert compare(known, lines, (1, 4)).finding == "unchanged"
    assert compare(known, [lines[0], "", *lines[1:]], (1, 4)).finding == "unchanged"
    assert compare(known, [*lines[:3], "    return base + 1"], (1, 4)).changed == 1


def test_several_cited_lines_and_how_many_of_them_changed() -> None:
    known, cited = print_of(lines_of(PYTHON), 9, 19), FileCitation("cache.py", 9, 19)
    for edit, finding, changed in (
        (lambda text: "# one\n\n# two\n" + text, "moved", 0),
        (lambda text: text.replace("if key:", "if not key:"), "changed", 1),
        (lambda text: text.replace("        if key:\n", "        key = key.strip()\n        if key:\n"), "changed", 1),
        (lambda text: text.replace("if key:", "if 0:").replace("return None", "return ()"), "changed", 2),
        (lambda text: "# one\n" + text.replace("if key:", "if not key:"), "changed", 1),
        (lambda text: "import time\n", "gone", 0),
        (lambda text: text.replace("\n", "\r\n"), "unchanged", 0),
        (lambda text: text.replace("if key:", "if key:   "), "unchanged", 0),
    ):
        after = lines_of(edit(PYTHON))
        told = compare(known, after, cited_range(cited, after))
        assert (told.finding, told.changed) == (finding, changed), after


def test_what_says_nothing_is_found_nowhere_else() -> None:
    text = lines_of("a = 1\n}\n")
    known = print_of(text, 2, 2)
    assert compare(known, ["}", "bee = 2", "cee = 3"], (2, 2)).finding == "changed"
