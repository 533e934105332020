"""From a draft to a memory that is ready to be written: checked, redacted, annotated, tokenised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace as dataclass_replace
from typing import Protocol

from msgspec.structs import replace

from recallens.errors import InvalidInput
from recallens.ingest.citations import parse_citations
from recallens.ingest.dedupe import content_hash
from recallens.ingest.draft import Draft
from recallens.ingest.encoded import speaker_name
from recallens.ingest.signature import require_fields
from recallens.ingest.validate import (
    Option,
    epoch_ms,
    label,
    option,
    tags,
    text_content,
    unit_interval,
    without_secrets,
)  # fmt: skip
from recallens.model.citation import Citation, FileCitation
from recallens.model.craft import affected_files, check_fields
from recallens.model.memory import Annotations, Kind, Memory, Sector, Status, Tier, Zone
from recallens.model.trust import SUSPECTED, derived, lowest
from recallens.store.records import Prepared
from recallens.text.annotation import annotate
from recallens.text.content import gist
from recallens.text.days_told import days_told
from recallens.text.normalize import clean, normalize
from recallens.text.token_count import estimate_tokens
from recallens.text.tokenizer import tokenize

DEFAULT_SOURCE = "user"
_LABELS = (
    "title", "summary", "project", "source", "source_id", "document", "session", "task", "worktree", "author",
    "supersedes",
)  # fmt: skip
_TIMES = ("created", "valid_from", "valid_until")
_COMPOSED = ("tags", "scopes", "citations", "attributes", "inputs")
COMMIT_LABEL = 7  # the length at which people abbreviate a hash: longer ones are found by it too


def check(draft: Draft) -> None:
    """Refuse what `prepare` would refuse, without the work."""
    require_fields(draft, _COMPOSED)
    text_content(draft.content)
    tags(draft.tags)
    _chosen(Sector, draft.sector)
    kind = _chosen(Kind, draft.kind)
    _chosen(Tier, draft.tier)
    status = _chosen(Status, draft.status)
    _chosen(Zone, draft.zone)
    for name in ("importance", "confidence", "salience", "reward"):
        _share(name, getattr(draft, name), 0.0)
    for name in _LABELS:
        label(name, getattr(draft, name))
    _, begins, ends = (epoch_ms(name, getattr(draft, name)) for name in _TIMES)
    for scope in draft.scopes:
        label("a scope", scope)
    if draft.position is not None and not (isinstance(draft.position, int) and 0 <= draft.position < 2**31):
        raise InvalidInput(f"position must be a whole number from 0, not {draft.position!r}")
    try:
        json.dumps(dict(draft.attributes), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"attributes must be plain JSON values ({error})") from error
    if kind is not None:
        check_fields(kind, draft.attributes)
    if begins is not None and ends is not None and ends <= begins:
        raise InvalidInput("valid-until must come after valid-from")
    if status is Status.SUPERSEDED and ends is None:
        raise InvalidInput("a superseded memory needs valid-until: the time at which it was")


class Prepare(Protocol):
    """How a draft becomes a row that is ready to be written."""

    def __call__(self, draft: Draft, *, id: str, namespace: str, now: int) -> Prepared: ...


def prepare(draft: Draft, *, id: str, namespace: str, now: int) -> Prepared:
    """Everything that can be said of a draft without looking at the store."""
    # Rules that only a write needs: a process that searches never compiles them.
    from recallens.ingest.classification import classify_kind, classify_sector
    from recallens.ingest.corrections import tells_change
    from recallens.ingest.redact import redact, redact_values
    from recallens.ingest.suspicion import holds, screened

    check(draft)
    content, redacted = redact(text_content(draft.content))
    title, more = _redacted(draft.title)
    summary, still_more = _redacted(draft.summary)
    annotations = annotate(content, tags(draft.tags))
    kind = _chosen(Kind, draft.kind)
    sector = _chosen(Sector, draft.sector) or classify_sector(content, kind)
    created, begins, ends = (epoch_ms(name, getattr(draft, name)) for name in _TIMES)
    created = now if created is None else created
    restrictions = derived(draft.inputs)
    zone = lowest((_chosen(Zone, draft.zone) or Zone.TRUSTED, restrictions.zone))
    suspected = () if zone is Zone.TRUSTED else screened("\n".join(filter(None, (title, summary, content))), [
        getattr(draft, name) for name in ("author", "project", "source_id", "session", "task", "worktree", "document",
                                          "tags", "scopes", "citations", "attributes")
    ])  # fmt: skip
    status = _chosen(Status, draft.status) or Status.ACTIVE
    if status is Status.ACTIVE and (restrictions.waits or (zone is Zone.WORKING and holds(suspected))):
        status = Status.PENDING_REVIEW
    attributes = dict(redact_values(draft.attributes))
    if suspected:
        attributes[SUSPECTED] = list(suspected)
    memory = Memory(
        id=id,
        namespace=namespace,
        content=content,
        created=created,
        updated=created,
        project=label("project", draft.project),
        sector=sector,
        kind=kind or classify_kind(content, sector),
        kind_stated=kind is not None,
        tier=_chosen(Tier, draft.tier) or Tier.PROJECT,
        status=status,
        zone=zone,
        review=draft.review or restrictions.review,
        title=title,
        summary=summary,
        tags=annotations.tags,
        scopes=tuple(dict.fromkeys(without_secrets(clean(scope)) for scope in (*draft.scopes, *restrictions.scopes))),
        annotations=annotations,
        citations=tuple(dict.fromkeys([*map(_cited, draft.citations), *parse_citations(content)])),
        importance=_share("importance", draft.importance, 0.5),
        confidence=_share("confidence", draft.confidence, 0.8),
        base_salience=_share("salience", draft.salience, 1.0),
        source=label("source", draft.source) or DEFAULT_SOURCE,
        source_id=label("source id", draft.source_id),
        document=draft.document,
        task=label("task", draft.task),
        worktree=label("worktree", draft.worktree),
        author=label("author", draft.author),
        position=draft.position,
        reward=draft.reward,
        valid_from=begins,
        valid_until=ends,
        content_hash=content_hash(content),
        attributes=attributes,
    )
    row = indexed(memory, label("session", draft.session), (*redacted, *more, *still_more))
    changes = tells_change(content)
    if not (draft.inputs or suspected or changes):
        return row
    return dataclass_replace(row, inputs=draft.inputs, suspected=suspected, tells_change=changes)


def words_of(memory: Memory) -> tuple[list[str], list[str]]:
    """The words of what it is called and of what it says, as the dictionary has them."""
    head = tokenize(
        " \n".join([*filter(None, (memory.title, memory.summary, speaker_name(memory.author))), *memory.tags])
    )
    return head, tokenize(memory.content)


def indexed(memory: Memory, session: str | None, redacted: tuple[str, ...] = ()) -> Prepared:
    """What the views are made of, from the memory alone: a rebuild gives the same."""
    head, body = words_of(memory)
    return Prepared(
        memory=memory,
        session=session,
        head=head,
        body=body,
        gist=gist(memory.content, body),
        tokens=estimate_tokens(memory.content),
        labels=tuple(dict.fromkeys(labels(memory.annotations, memory.citations, affected_files(memory)))),
        days_told=days_told("\n".join(filter(None, (memory.title, memory.content))), memory.created),
        redacted=redacted,
    )


def reannotated(memory: Memory, session: str | None) -> Prepared:
    return indexed(replace(memory, annotations=annotate(memory.content, memory.tags)), session)


def labels(
    annotations: Annotations, citations: tuple[Citation, ...] = (), files: tuple[str, ...] = ()
) -> Iterator[tuple[str, str]]:
    """(value, kind) pairs as the symbolic view keeps them; a path is known by its last part too."""
    cited = tuple(citation.path for citation in citations if isinstance(citation, FileCitation))
    for path in (*annotations.paths, *cited, *files):
        value = normalize(path)
        yield value, "path"
        if "/" in value:
            yield value.rsplit("/", 1)[1], "path"
    sorts = {"entity": "entities", "symbol": "symbols", "error": "errors", "date": "dates", "tag": "tags"}
    for kind, field in sorts.items():
        for value in getattr(annotations, field):
            yield normalize(value), kind
    for commit in annotations.commits:
        yield normalize(commit)[:COMMIT_LABEL], "commit"


def kept_text(text: str | None, zone: Zone = Zone.TRUSTED) -> str | None:
    """A title or summary as it may be stored: clean, without secrets, and marked where somebody less trusted speaks to
    who reads it."""
    kept = _redacted(label("a title or summary", text))[0]
    if kept is None or zone is Zone.TRUSTED:
        return kept
    from recallens.ingest.suspicion import marked

    return marked(kept)


def unread(row: Prepared) -> Prepared:
    """A row of a file that the person loads and has not read: what speaks to who reads it waits for them."""
    from recallens.ingest.suspicion import holds, screened

    memory = row.memory
    if memory.zone is not Zone.TRUSTED:  # screened when it was prepared
        return row
    found = screened("\n".join(filter(None, (memory.title, memory.summary, memory.content))), [
        memory.author, memory.tags, memory.citations, memory.attributes
    ])  # fmt: skip
    if not found:
        return row
    held = memory.status is Status.ACTIVE and holds(found)
    status = Status.PENDING_REVIEW if held else memory.status
    memory = replace(memory, status=status, attributes={**memory.attributes, SUSPECTED: list(found)})
    return dataclass_replace(row, memory=memory, suspected=found)


def _chosen(enum_type: type[Option], value: str | None) -> Option | None:
    return None if value is None else option(enum_type, value, enum_type.__name__.lower())


def _share(name: str, value: float | None, default: float) -> float:
    return default if value is None else unit_interval(name, value)


def _cited(citation: Citation) -> Citation:
    """A citation as it may be stored, and the labels that are made of it."""
    fields = {name: getattr(citation, name) for name in citation.__struct_fields__}
    return replace(citation, **{name: without_secrets(text) for name, text in fields.items() if isinstance(text, str)})


def _redacted(text: str | None) -> tuple[str | None, tuple[str, ...]]:
    if text is None or not text.strip():
        return None, ()
    from recallens.ingest.redact import redact

    return redact(clean(text).strip())
