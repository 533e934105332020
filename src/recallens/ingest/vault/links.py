"""Links between notes: read off the text, and resolved among the files of the vault. Nothing is opened for them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from recallens.ingest.vault.sections import lines, slug
from recallens.model.vault import Link
from recallens.text.normalize import normalize

MOST_LINKS: Final = 256  # a section with more is a listing
NOTE_SUFFIXES: Final = (".md", ".markdown", ".txt", ".rst")
_FOLDER_NOTES: Final = ("index.md", "_index.md", "README.md")

_WIKI: Final = re.compile(r"\[\[([^\[\]\n]{1,512})\]\]")
_INLINE: Final = re.compile(
    r"\[[^\[\]\n]{0,512}\]\(\s*(?:<([^<>\n]{1,1024})>|([^\s()<>]{1,1024}(?:\([^\s()]{0,128}\)[^\s()]{0,256})?))"
    r"(?:\s+[^()\n]{0,256})?\)"
)
_DEFINED: Final = re.compile(r"^ {0,3}\[[^\[\]\n]{1,256}\]:[ \t]*<?([^\s<>]{1,1024})", re.MULTILINE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_CODE: Final = re.compile(r"`[^`\n]*`")


def links(text: str) -> tuple[Link, ...]:
    """The links that stand in prose, each once, in text order by sort."""
    if "[" not in text:
        return ()
    prose = _CODE.sub("", "\n".join(line for _, line, fenced in lines(text) if not fenced))
    targets = [_wiki(match[1]) for match in _WIKI.finditer(prose)]
    targets += [_path(match[1] or match[2]) for match in _INLINE.finditer(prose)]
    targets += [_path(match[1]) for match in _DEFINED.finditer(prose)]
    return tuple(dict.fromkeys(link for link in targets if link is not None))[:MOST_LINKS]


def _wiki(inner: str) -> Link | None:
    target, _, fragment = inner.partition("|")[0].strip().rstrip("\\").partition("#")
    # [[Note#A#B]] leads to B under A; ^… names a block, which has no heading.
    heading = fragment.rpartition("#")[2].strip()
    target = target.strip()
    return Link("wiki", target, "" if heading.startswith("^") else slug(heading)) if target or heading else None


def _path(raw: str) -> Link | None:
    if _SCHEME.match(raw):
        return None
    target, _, fragment = raw.partition("#")
    target = unquote(target.partition("?")[0]).strip()
    suffix = posixpath.splitext(target)[1].lower()
    if "\x00" in target or (suffix and suffix not in NOTE_SUFFIXES and re.fullmatch(r"\.[a-z0-9]{1,5}", suffix)):
        return None  # a picture or a program is no note
    return Link("path", target, slug(unquote(fragment))) if target or fragment else None


class Resolver:
    """Finds the file that a link means, among these paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(paths, key=_shortness, reverse=True):
            folded = normalize(path)
            self._by_path[folded] = path
            self._by_name.setdefault(posixpath.basename(_without_suffix(folded)), []).append(path)

    def resolve(self, link: Link, source: str) -> str | None:
        if not link.target:
            return source
        folder = posixpath.dirname(source)
        if link.kind == "path":
            return self._at(folder, link.target)
        return self._at("", link.target) or self._at(folder, link.target) or self._named(link.target)

    def _at(self, folder: str, target: str) -> str | None:
        """By path; one that starts with a slash starts at the vault, and one that leaves the vault leads nowhere."""
        whole = posixpath.normpath(target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target))
        if whole == ".." or whole.startswith("../"):
            return None
        whole = normalize(whole)
        suffixed = (whole + suffix for suffix in ("", *NOTE_SUFFIXES))
        candidates = (*suffixed, *(normalize(posixpath.join(whole, name)) for name in _FOLDER_NOTES))
        return next((self._by_path[candidate] for candidate in candidates if candidate in self._by_path), None)

    def _named(self, target: str) -> str | None:
        """By name, wherever it lies: the shortest path wins."""
        wanted = _without_suffix(normalize(posixpath.normpath(target))).split("/")
        candidates = [
            path
            for path in self._by_name.get(wanted[-1], ())
            if _without_suffix(normalize(path)).split("/")[-len(wanted) :] == wanted
        ]
        return min(candidates, key=_shortness, default=None)


def _shortness(path: str) -> tuple[int, int, str]:
    return path.count("/"), len(path), path


def _without_suffix(path: str) -> str:
    stem, suffix = posixpath.splitext(path)
    return stem if suffix in NOTE_SUFFIXES else path


LinkedSection = tuple[int, Sequence[str], Sequence[Link]]
"""A section's number, the names of its headings, its links."""


def mentions(sections: Mapping[str, Sequence[LinkedSection]]) -> set[tuple[int, int]]:
    """Which section mentions which, from the sections of every file in their order."""
    resolver = Resolver(sections)
    named = {
        path: {anchor: num for num, anchors, _ in reversed(own) for anchor in anchors} for path, own in sections.items()
    }
    pairs: set[tuple[int, int]] = set()
    for path, own in sections.items():
        for num, _, own_links in own:
            for link in own_links:
                target = resolver.resolve(link, path)
                if target is not None and sections[target]:
                    pairs.add((num, named[target].get(link.fragment, sections[target][0][0])))
    return {(num, other) for num, other in pairs if num != other}
