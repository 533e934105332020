"""basic-memory: a folder of notes whose lines `- [category] …` are observations and `- verb [[Note]]` relations.

An observation is a memory of its own, named by its note; what else a note says is kept by sections, as a vault's is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from msgspec.structs import replace

from recallens.errors import InvalidInput, UnknownOption
from recallens.ingest.draft import Draft
from recallens.ingest.importers import Entry, MemoryLine, RelationLine, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import key_of
from recallens.ingest.validate import option
from recallens.ingest.vault.notes import VaultNote, breadcrumb, decoded, read_note
from recallens.model.citation import FileCitation
from recallens.model.memory import Kind, Origin, RelationType

NAME = "basic-memory"
ABOUT = "notes of basic-memory: observations, relations and sections"
FOLDERS = ("basic-memory",)
PATTERNS = ("*.md",)

_OBSERVATION: Final = re.compile(r"^\s*- \[(?P<category>[^\[\]()]{2,40})\] (?P<text>.+)$")
_RELATION: Final = re.compile(r"^\s*- (?P<verb>[\w -]*?)\s*\[\[(?P<target>[^\]|#]+)[^\]]*\]\]")
_HEADING: Final = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_TAG: Final = re.compile(r"(?<!\S)#([\w/-]+)")
_NO_RELATIONS: Final = (RelationType.SUPERSEDES, RelationType.MAY_SUPERSEDE)


def read(file: SourceFile) -> Iterator[Entry]:
    data, place = file.data(), file.path.name
    try:
        lines = decoded(data).split("\n")
        rest = "\n".join("" if _OBSERVATION.match(line) or _RELATION.match(line) else line for line in lines)
        note = read_note(place, rest.encode(), now=int(file.path.stat().st_mtime * 1000))
    except InvalidInput as error:
        yield SkippedEntry(place, error.message)
        return
    alias, made = _alias(note.title), False
    for line in (*_observations(file, note, lines), *_sections(file, note)):
        yield line if made else MemoryLine(line.draft, alias, None)
        made = True
    if not made:
        yield SkippedEntry(place, "a note without text")
        return
    for line_text in lines:
        if (link := _RELATION.match(line_text)) and _alias(link["target"]) != alias:
            yield RelationLine(alias, _alias(link["target"]), _relation(link["verb"]), 1.0, Origin.IMPORT)


def _observations(file: SourceFile, note: VaultNote, lines: list[str]) -> Iterator[MemoryLine]:
    for number, line in enumerate(lines, start=1):
        if observation := _OBSERVATION.match(line):
            text, category = observation["text"].strip(), observation["category"].strip()
            tags = (category, *_TAG.findall(text), *note.tags)
            draft = Draft(text, title=note.title, tags=tuple(dict.fromkeys(tags)))
            yield _kept(file, note, draft, _digest(text), number, number)


def _sections(file: SourceFile, note: VaultNote) -> Iterator[MemoryLine]:
    for section in note.sections:
        if _HEADING.sub("", section.text).strip():
            draft = Draft(section.text, title=breadcrumb(note, section), kind=Kind.NOTE, tags=note.tags)
            yield _kept(file, note, draft, " › ".join(section.headings), section.first_line, section.last_line)


def _kept(file: SourceFile, note: VaultNote, draft: Draft, id: str, first: int, last: int) -> MemoryLine:
    created = int(file.path.stat().st_mtime * 1000) if note.created is None else note.created
    cited = (FileCitation(file.path.name, first, last),)
    # Notes of one name may stand in several folders; whether a folder or the file alone is imported, it is the same.
    place = f"{file.path.resolve().parent.name}/{file.path.name}"
    key = key_of(NAME, f"{note.attributes.get('frontmatter', {}).get('permalink') or place}#{id}")
    return MemoryLine(replace(draft, citations=cited, created=created, source=NAME, source_id=key), key, None)


def _alias(title: str) -> str:
    """How notes name each other."""
    return key_of(NAME, title.strip().casefold())


def _relation(verb: str) -> RelationType:
    try:
        relation = option(RelationType, verb.strip().replace(" ", "_"), "relation")
    except UnknownOption:
        return RelationType.RELATED_TO
    return RelationType.RELATED_TO if relation in _NO_RELATIONS else relation


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
