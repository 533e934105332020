"""A file's bytes as a note: its title, its frontmatter, its sections, ready to become memories."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct, convert, to_builtins

from recallens.errors import InvalidInput, UnknownOption
from recallens.ingest.dedupe import content_hash
from recallens.ingest.draft import Draft
from recallens.ingest.suspicion import holds, suspicions
from recallens.ingest.validate import option, without_secrets
from recallens.ingest.vault import frontmatter
from recallens.ingest.vault.fields import NoteFacts, note_facts
from recallens.ingest.vault.lessons import infer_category, is_project_evidence, lesson_kind
from recallens.ingest.vault.life import read_life
from recallens.ingest.vault.links import links
from recallens.ingest.vault.marks import dated
from recallens.ingest.vault.parts import part_endings
from recallens.ingest.vault.sections import NoteSection, headings, markdown_sections, plain_sections, whole_section
from recallens.model.citation import FileCitation
from recallens.model.memory import PROPOSED, VAULT_SOURCE, Kind, Zone
from recallens.model.trust import SUSPECTED
from recallens.model.vault import CHUNK_CHARACTERS, Link, NoteLife, Placed
from recallens.text.normalize import clean

CRUMB: Final = " › "
_MARKDOWN: Final = (".md", ".markdown")
_TAG_LINE: Final = re.compile(r"^[ \t]*#[^\W\d][\w/-]*(?:[ \t]+#[^\W\d][\w/-]*)*[ \t]*$", re.MULTILINE)
_NEWLINE: Final = re.compile(r"\r\n?|\u2028|\u2029|\x0b|\x0c")


class VaultNote(Struct, frozen=True):
    title: str
    created: int | None
    kind: Kind
    lesson: str | None
    tags: tuple[str, ...]
    attributes: Mapping[str, Any]
    sections: tuple[NoteSection, ...]
    facts: NoteFacts = NoteFacts()
    life: NoteLife = NoteLife()
    warning: str | None = None  # what of it could not be read


def decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InvalidInput("it is UTF-16; save it as UTF-8")
    if b"\x00" in data:
        raise InvalidInput("it is binary, not text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"it is not UTF-8 (byte 0x{data[error.start]:02x} at {error.start:,}); save it as UTF-8"
        ) from error
    return _NEWLINE.sub("\n", text)


def read_note(path: str, data: bytes, *, now: int, chunk: int = CHUNK_CHARACTERS) -> VaultNote:
    text = decoded(data)
    markdown = path.lower().endswith(_MARKDOWN)
    matter, start, warning = frontmatter.taken(text) if markdown else ({}, 0, None)
    body, line = clean(text[start:]), text.count("\n", 0, start) + 1
    lesson = lesson_kind(path, matter)
    cut = whole_section if lesson is not None else markdown_sections if markdown else plain_sections
    title = _title(path, matter, body if markdown else "")
    parts = part_endings(body, line=line) if markdown else []
    sections = tuple(cut(body, line=line, target=chunk, apart={part.start for part in parts}))
    tags = frontmatter.tags(matter)
    created = frontmatter.created(matter, now)
    created = dated(body) if created is None and markdown else created
    facts = note_facts(matter, (*tags, *tag_lines(body)), now=now)
    complaints = "; ".join(filter(None, (warning, *facts.warnings)))
    return VaultNote(
        title=title,
        created=created,
        kind=Kind.LESSON if lesson is not None else _kind(matter),
        lesson=lesson,
        tags=tags,
        attributes=_attributes(path, matter, text, lesson),
        sections=sections,
        facts=facts,
        life=_without_secrets(
            read_life(
                matter, title, body if markdown else "", sections if markdown else (), parts, created=created, now=now
            )
        ),
        warning=without_secrets(complaints) or None,
    )


def _without_secrets(life: NoteLife) -> NoteLife:
    """A note's life as it may be stored: its names and the links in it are words of the note as well."""

    def safe(value: Any) -> Any:
        match value:
            case str():
                return without_secrets(value)
            case dict():
                return {key: safe(item) for key, item in value.items()}
            case list() | tuple():
                return [safe(item) for item in value]
            case _:
                return value

    return convert(safe(to_builtins(life)), NoteLife)


def tag_lines(body: str) -> list[str]:
    """The tags of lines that hold nothing else, which are tags of the note and not of a sentence."""
    alone = _TAG_LINE.finditer(body) if "#" in body else ()
    return [tag.lstrip("#") for line in alone for tag in line[0].split()]


def _title(path: str, matter: Mapping[str, Any], body: str) -> str:
    if (stated := frontmatter.title(matter)) is not None:
        return without_secrets(clean(stated))
    first = next((heading for heading in headings(body) if heading.level == 1 and heading.text), None)
    if first is not None and not body[: first.start].strip():
        return first.text
    return clean(posixpath.splitext(posixpath.basename(path))[0])


def _kind(matter: Mapping[str, Any]) -> Kind:
    """What a note says it is, where that is a kind of memory; else a note."""
    for key in ("kind", "type"):
        with suppress(UnknownOption):
            return option(Kind, matter.get(key), "kind")
    return Kind.NOTE


def _attributes(path: str, matter: Mapping[str, Any], text: str, lesson: str | None) -> dict[str, Any]:
    attributes = {"category": infer_category(path), "isProjectEvidence": is_project_evidence(path, text)}
    if lesson is not None:
        attributes |= {"isLesson": True, "lessonKind": lesson}
    kept = frontmatter.kept(matter)
    return attributes | ({"frontmatter": kept} if kept else {})


def breadcrumb(note: VaultNote, section: NoteSection) -> str:
    """The note's title and the headings down to the section; a heading that only repeats the title is left out."""
    path = section.headings[1:] if section.headings[:1] == (note.title,) else section.headings
    return CRUMB.join((note.title, *path))


def draft_of(
    note: VaultNote, at: int, *, path: str, document: str, vault: str, project: str | None, created: int
) -> Draft:  # fmt: skip
    section = note.sections[at]
    suspected = _spoken(section.text)
    return Draft(
        section.text,
        title=breadcrumb(note, section),
        project=project,
        kind=note.kind,
        zone=Zone.TRUSTED,
        tags=note.tags,
        scopes=note.facts.scopes,
        importance=note.facts.importance,
        confidence=note.facts.confidence,
        # A note is written by many hands, or clipped: that it is a rule for every agent, or speaks to them, is for the
        # person to say.
        review=note.life.review or (PROPOSED if note.kind is Kind.PRINCIPLE or suspected else None),
        valid_from=note.facts.valid_from,
        citations=(FileCitation(path, section.first_line, section.last_line),),
        source=VAULT_SOURCE,
        source_id=note.facts.source,
        document=document,
        position=at,
        created=created if note.created is None else note.created,
        attributes={"vault": vault, "path": path, "headingPath": list(section.headings), **note.attributes,
                    **({SUSPECTED: list(suspected)} if suspected else {})},
    )  # fmt: skip


def _spoken(text: str) -> tuple[str, ...]:
    """How a text speaks to who reads it, as nobody's note does."""
    found = suspicions(text)
    return found if holds(found) else ()


def placed(note: VaultNote, at: int, *, path: str, project: str | None) -> Placed:
    """What identifies a section: everything that its entry in the index is made of."""
    section = note.sections[at]
    made_of = [
        content_hash(section.text), breadcrumb(note, section), section.headings, note.tags, note.kind, note.lesson,
        path, project,
    ]  # fmt: skip
    digest = hashlib.sha256(json.dumps(made_of, ensure_ascii=False).encode()).hexdigest()
    return Placed(at, section.headings, section.anchors, digest, _body(section.text), _links(section.text))


def _links(text: str) -> tuple[Link, ...]:
    """The links of a section as it is stored: what stands before a link can tell that it is a secret."""
    found = links(text)
    return links(without_secrets(text)) if found else ()


def _body(text: str) -> str:
    """The hash of what stands under the headings; a section that is nothing but headings has none."""
    titles = headings(text)
    bodies, ends = [0, *(title.body for title in titles)], [*(title.start for title in titles), len(text)]
    kept = "".join(text[body:end] for body, end in zip(bodies, ends, strict=True))
    return content_hash(kept) if kept.strip() or not titles else ""
