"""Links between notes: read off the text, and resolved among the files of the vault. Nothing is opened for them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from recallens.ingest.validate import without_secrets
from recallens.ingest.vault.sections import lines, slug
from recallens.model.vault import Link
from recallens.text.languages import alternatives
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
_ANY_LINK: Final = re.compile(
    r"!?\[\[(?P<wiki>[^\[\]\n]{1,512})\]\]|!?\[(?P<label>[^\[\]\n]{0,512})\]"
    r"\(\s*(?:<(?P<angled>[^<>\n]{1,1024})>|(?P<plain>[^\s()<>]{1,1024}))(?:\s+[^()\n]{0,256})?\)"
)
LONGEST_NAME: Final = 160
# A name with a number by which people speak of a record, and how it begins a file's name or a title: adr-0012-cache.md.
NUMBERED: Final = re.compile(r"\b(?P<letters>[^\W\d_]{2,10})[-_ #]*0*(?P<number>\d{1,5})(?!\.?\d|[A-Za-z_])")
_OPENS_NUMBERED: Final = re.compile(r"(?:(?P<letters>[^\W\d_]{2,10})[-_ #]*)?0*(?P<number>\d{1,5})(?![\d.]|-\d\d\b)")
_RECORDS: Final = re.compile(alternatives(lambda pack: pack.notes.records))
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


LINK: Final = "\uffff"
"""What stands for a link in a line whose links have been taken out; no text has it."""


def taken_out(line: str) -> tuple[str, list[Link]]:
    """A line with a sign in place of each link to a note, and the links; of a link to elsewhere its label stays."""
    found: list[Link] = []

    def sign(match: re.Match[str]) -> str:
        link = _wiki(match["wiki"]) if match["wiki"] else _path(match["angled"] or match["plain"])
        if link is None:
            return match["label"] or ""
        found.append(link)
        return LINK

    return _ANY_LINK.sub(sign, line.replace(LINK, "")), found


def named(text: str) -> Link | None:
    """A note that is named without a link: by its path, its title, another name of it, or its number (ADR-12)."""
    text, found = taken_out(text)
    if found:
        return found[0]
    number = NUMBERED.search(text)
    name = " ".join(text.split()).strip(" .,;:\"'")
    if len(name) > LONGEST_NAME:
        name = number[0] if number is not None else ""
    return Link("name", name) if name else None


def _wiki(inner: str) -> Link | None:
    # A secret is taken out before a fragment becomes a slug, in which no rule would know it.
    target, _, fragment = without_secrets(inner).partition("|")[0].strip().rstrip("\\").partition("#")
    # [[Note#A#B]] leads to B under A; ^… names a block, which has no heading.
    heading = fragment.rpartition("#")[2].strip()
    target = target.strip()
    return Link("wiki", target, "" if heading.startswith("^") else slug(heading)) if target or heading else None


def _path(raw: str) -> Link | None:
    if _SCHEME.match(raw):
        return None
    target, _, fragment = raw.partition("#")
    target = without_secrets(unquote(target.partition("?")[0])).strip()
    suffix = posixpath.splitext(target)[1].lower()
    if "\x00" in target or (suffix and suffix not in NOTE_SUFFIXES and re.fullmatch(r"\.[a-z0-9]{1,5}", suffix)):
        return None  # a picture or a program is no note
    return Link("path", target, slug(without_secrets(unquote(fragment)))) if target or fragment else None


class Resolver:
    """Finds the file that a link means, among these paths; `names` has the titles and other names of each."""

    def __init__(self, paths: Iterable[str], names: Mapping[str, Sequence[str]] | None = None) -> None:
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, list[str]] = {}
        self._by_title: dict[str, str] = {}
        self._by_number: dict[tuple[str, int], set[str]] = {}
        for path in sorted(paths, key=_shortness, reverse=True):
            folded = normalize(path)
            stem = posixpath.basename(_without_suffix(folded))
            titles = [" ".join(normalize(name).split()) for name in (names or {}).get(path, ())]
            self._by_path[folded] = path
            self._by_name.setdefault(stem, []).append(path)
            self._by_title |= dict.fromkeys(titles, path)
            for name in (stem, *titles):
                if opening := _OPENS_NUMBERED.match(name):
                    number = int(opening["number"])
                    for letters in {opening["letters"] or "", ""}:
                        self._by_number.setdefault((letters, number), set()).add(path)

    def resolve(self, link: Link, source: str) -> str | None:
        if not link.target:
            return source
        folder = posixpath.dirname(source)
        if link.kind == "path":
            return self._at(folder, link.target)
        named = self._at("", link.target) or self._at(folder, link.target) or self._named(link.target)
        if named is None:
            named = self._by_title.get(" ".join(normalize(link.target).split()))
        return self._numbered(link.target, folder) if named is None and link.kind == "name" else named

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

    def _numbered(self, target: str, folder: str) -> str | None:
        """By its number, where that leaves one: ADR-12 is adr-0012-cache.md, or 0012-cache.md in the same
        folder or one that is called adr."""
        name = NUMBERED.match(normalize(target))
        if name is None:
            return None
        letters, number = name["letters"], int(name["number"])
        alike = self._by_number.get(("", number), set())
        # Room 4 is no record: a number alone is looked for where records of this name are.
        here = {path for path in alike if _RECORDS.fullmatch(letters) and posixpath.dirname(path) == folder}
        shelf = {path for path in alike if _shelf(path).startswith(letters)}
        for paths in (self._by_number.get((letters, number), set()), here, shelf):
            if len(paths) == 1:
                return next(iter(paths))
        return None


def _shortness(path: str) -> tuple[int, int, str]:
    return path.count("/"), len(path), path


def _shelf(path: str) -> str:
    """The name of the folder that it lies in."""
    return posixpath.basename(posixpath.dirname(normalize(path)))


def _without_suffix(path: str) -> str:
    stem, suffix = posixpath.splitext(path)
    return stem if suffix in NOTE_SUFFIXES else path


LinkedSection = tuple[int, Sequence[str], Sequence[Link]]
"""A section's number, the names of its headings, its links."""


class VaultSections:
    """The sections of every file in their order, and which of them a link leads to."""

    def __init__(
        self, by_path: Mapping[str, Sequence[LinkedSection]], names: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.by_path = by_path
        self._resolver = Resolver(by_path, names)
        self._named = {
            path: {anchor: num for num, anchors, _ in reversed(own) for anchor in anchors}
            for path, own in by_path.items()
        }

    def file(self, link: Link, source: str) -> str | None:
        return self._resolver.resolve(link, source)

    def target(self, link: Link, source: str) -> int | None:
        path = self.file(link, source)
        if path is None or not self.by_path[path]:
            return None
        return self._named[path].get(link.fragment, self.by_path[path][0][0])

    def mentions(self) -> set[tuple[int, int]]:
        """Which section mentions which."""
        pairs = {
            (num, self.target(link, path))
            for path, own in self.by_path.items()
            for num, _, own_links in own
            for link in own_links
        }
        return {(num, other) for num, other in pairs if other is not None and num != other}
