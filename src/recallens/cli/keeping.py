"""The three ways in: one text, a file of JSON lines, a document. Each is checked before a store is made for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from recallens.cli import loading
from recallens.cli.given import Given
from recallens.cli.progress import bar
from recallens.cli.screen import counted, visible
from recallens.engine import Engine
from recallens.errors import EncoderError
from recallens.ingest.batch import Outcome
from recallens.ingest.citations import parse_citation
from recallens.ingest.draft import Draft
from recallens.ingest.prepare import check
from recallens.ingest.validate import text_content

_SAID = {
    Outcome.CREATED: "remembered",
    Outcome.DUPLICATE: "already known",
    Outcome.NEAR_DUPLICATE: "nearly the same is known (--no-dedupe keeps both)",
}


def keep_one(given: Given, content: str, said: Mapping[str, Any], *, dedupe: bool | None, embed: bool) -> None:
    draft = Draft(content, **_attributes(said))
    check(draft)
    if draft.supersedes is not None and dedupe is None:
        dedupe = False  # what replaces a memory may well say nearly the same as it
    with given.engine(create=True) as engine:
        if embed:
            remembered = engine.remember(draft, dedupe=dedupe)
        else:
            ((remembered,),) = engine.memories.remember_many([draft], dedupe=dedupe)
        has_encoder = engine.core.encoding.key is not None
    if given.json:
        given.emit(remembered.to_json())
        return
    click.echo(f"{_SAID[remembered.outcome]} {remembered.id}")
    if remembered.redacted:
        given.note(f"redacted before it was stored: {', '.join(remembered.redacted)}")
    if remembered.outcome is Outcome.CREATED and has_encoder and embed and not remembered.embedded:
        given.note("warning: it could not be encoded; words find it, and `recallens reindex` encodes it later")


def _attributes(said: Mapping[str, Any]) -> dict[str, Any]:
    cited = {"citations": tuple(parse_citation(text) for text in said["citations"])} if "citations" in said else {}
    return {**said, **cited}


def keep_document(given: Given, text: str, *, path: str, title: str | None, project: str | None) -> None:
    text_content(text)
    with given.engine(create=True) as engine:
        added = engine.memories.add_document(text, path=path, title=title, project=project)
        engine.maintenance.publish()
    if given.json:
        given.emit({"document": added.document.id, "path": path, "memories": list(added.memories)})
    else:
        click.echo(visible(f"added {path} as {counted(len(added.memories), 'memory', 'memories')}"))


def keep_lines(
    given: Given, path: str, said: Mapping[str, Any], *, dedupe: bool | None, skip_bad: bool, embed: bool
) -> None:
    found = loading.read(path, _attributes(said))
    if not skip_bad:
        loading.refuse(path, found.errors)
    with given.engine(create=True) as engine:
        names = loading.Names(engine, found)
        missing = [f"{name!r} is neither a key of the file nor a memory of the store" for name in names.unknown]
        if not skip_bad:
            loading.refuse(path, missing)
        loaded = loading.load(engine, found, names, given=given, dedupe=dedupe)
        loaded.left_out += missing
        failure = None
        if embed:
            failure = encode(engine, given)
        waiting = backlog(engine)
        engine.maintenance.publish()
    _print_loaded(given, loaded, found.errors, waiting)
    if failure is not None:
        raise failure


def backlog(engine: Engine) -> int:
    """How many texts wait for their vector."""
    if engine.core.encoding.key is None:
        return 0
    with engine.core.store.read_all() as reader:
        return reader.backlog_size(engine.core.encoding.key)


def encode(engine: Engine, given: Given) -> EncoderError | None:
    """Encode what waits. What is stored stays stored, so that a failing encoder is told last."""
    try:
        with bar(given, "encoding", backlog(engine)) as advance:
            engine.encoder.drain(advance)
    except EncoderError as error:
        return type(error)(
            error.message, hint="The memories are kept, and words find them. `recallens reindex` encodes them."
        )
    return None


def _print_loaded(given: Given, loaded: loading.Loaded, errors: list[str], waiting: int) -> None:
    created, known = loaded.outcomes[Outcome.CREATED], loaded.outcomes[Outcome.DUPLICATE]
    near = loaded.outcomes[Outcome.NEAR_DUPLICATE]
    if given.json:
        given.emit({
            "created": created, "duplicates": known, "nearDuplicates": near, "redacted": loaded.redacted,
            "sessions": loaded.sessions, "superseded": loaded.superseded, "relations": loaded.relations,
            "tasks": loaded.tasks, "backlog": waiting, "skipped": errors, "leftOut": loaded.left_out,
        })  # fmt: skip
        return
    click.echo(
        f"remembered {counted(created, 'memory', 'memories')}, {known} already known, {near} nearly the same as another"
    )
    also = [
        (loaded.sessions, "session", None), (loaded.superseded, "supersession", None),
        (loaded.relations, "relation", None), (loaded.tasks, "task", None),
        (loaded.redacted, "text redacted", "texts redacted"),
    ]  # fmt: skip
    if any(count for count, _, _ in also):
        click.echo("with " + ", ".join(counted(count, noun, plural) for count, noun, plural in also if count))
    if waiting:
        given.note(f"{counted(waiting, 'text waits', 'texts wait')} to be encoded; `recallens reindex` does it")
    for problem in [*errors, *loaded.left_out]:
        given.note(f"left out: {problem}")
