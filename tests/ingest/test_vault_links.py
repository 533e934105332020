"""Links as they are written, and which file each means."""

from __future__ import annotations

import unicodedata

import pytest

from recallens.ingest.vault.links import Resolver, VaultSections, links
from recallens.model.vault import Link

PATHS = (
    "README.md",
    "ops/Deploy Guide.md",
    "ops/old/Cache.md",
    "web/Cache.md",
    "docs/api/index.md",
    "ko/인증 흐름.md",
    "a.txt",
)


def test_links_are_read_outside_code() -> None:
    text = (
        "See [[Cache]], ![[Deploy Guide#Roll Back|how]], [a](../web/Cache.md#ttl), [b](<ops/Deploy Guide.md>),"
        " [c](ops/Deploy%20Guide.md 'title') and [d][ref].\n\n[ref]: docs/api/\n\n"
        "`[[not]]` [site](https://x.y/z.md) [mail](mailto:a@b.c) ![p](pic.png)\n```\n[[nor this]]\n```\n"
    )
    assert links(text) == (
        Link("wiki", "Cache"),
        Link("wiki", "Deploy Guide", "roll-back"),
        Link("path", "../web/Cache.md", "ttl"),
        Link("path", "ops/Deploy Guide.md"),
        Link("path", "docs/api/"),
    )


def test_links_to_headings_and_blocks() -> None:
    assert links("[[#Here]] [[N#A#B]] [[N#^block]] [x](#인증-흐름) [[|]] [[ ]]") == (
        Link("wiki", "", "here"),
        Link("wiki", "N", "b"),
        Link("wiki", "N"),
        Link("path", "", "인증-흐름"),
    )


@pytest.mark.parametrize(
    ("link", "source", "path"),
    [
        (Link("wiki", "cache"), "README.md", "web/Cache.md"),  # the shortest path wins
        (Link("wiki", "old/cache"), "README.md", "ops/old/Cache.md"),
        (Link("wiki", "CACHE.md"), "README.md", "web/Cache.md"),
        (Link("wiki", "Cache"), "ops/old/x.md", "ops/old/Cache.md"),  # by path, before by name
        (Link("wiki", "인증 흐름"), "README.md", "ko/인증 흐름.md"),
        (Link("wiki", unicodedata.normalize("NFD", "인증 흐름")), "README.md", "ko/인증 흐름.md"),  # as macOS spells it
        (Link("wiki", "ops/Deploy Guide"), "web/x.md", "ops/Deploy Guide.md"),
        (Link("wiki", "a"), "README.md", "a.txt"),
        (Link("wiki", "nowhere"), "README.md", None),
        (Link("wiki", ""), "web/Cache.md", "web/Cache.md"),
        (Link("path", "../web/cache.md"), "ops/x.md", "web/Cache.md"),
        (Link("path", "Cache"), "web/x.md", "web/Cache.md"),
        (Link("path", "docs/api/"), "README.md", "docs/api/index.md"),
        (Link("path", "/web/Cache.md"), "ops/old/x.md", "web/Cache.md"),
        (Link("path", "Cache.md"), "README.md", None),
        (Link("path", "../../etc/passwd"), "web/x.md", None),
        (Link("path", "../README.md"), "README.md", None),
        (Link("path", "/etc/passwd"), "README.md", None),
    ],
)
def test_which_file_a_link_means(link: Link, source: str, path: str | None) -> None:
    assert Resolver(PATHS).resolve(link, source) == path


def test_a_mention_leads_to_the_heading_or_to_the_first_section() -> None:
    sections = VaultSections(
        {
            "a.md": [(1, ("top",), (Link("wiki", "b", "part"), Link("wiki", "b"), Link("wiki", "", "top")))],
            "b.md": [(2, ("b",), ()), (3, ("part",), (Link("wiki", "b", "gone"),))],
            "empty.md": [],
            "c.md": [(4, (), (Link("wiki", "empty"), Link("wiki", "missing")))],
        }
    )
    assert sections.mentions() == {(1, 3), (1, 2), (3, 2)}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("ADR-12", "adr/0012-cache.md"),
        ("ADR 12 on 3 May", "adr/0012-cache.md"),
        ("Cache for an hour", "adr/0012-cache.md"),
        ("the hourly cache", "adr/0012-cache.md"),
        ("RFC-7", "rfc-0007-queues.md"),
        ("RFC-12", None),
        ("ADR-7", None),
    ],
)
def test_a_note_is_found_by_title_alias_and_number(name: str, path: str | None) -> None:
    names = {"adr/0012-cache.md": ["Cache for an hour", "The hourly cache"], "rfc-0007-queues.md": ["RFC 7: queues"]}
    resolver = Resolver([*names, "adr/0001-begin.md", "2026-07-01-standup.md"], names)
    assert resolver.resolve(Link("name", name), "adr/0001-begin.md" if name != "RFC-12" else "x.md") == path
