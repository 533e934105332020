from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.files import piped, read_text, words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, WHEN, OneOf, listed, refuse_unused, shared
from recallens.cli.screen import counted, redactions_told, say
from recallens.ingest.citations import CITATION_FORMS, parse_citation
from recallens.ingest.validate import text_content
from recallens.model.memory import PROPOSED, Kind, Sector, Status, Tier, Zone

if TYPE_CHECKING:
    from recallens.cli.jsonl import Loaded
    from recallens.operations import Answer

# What only one memory can have, so that it cannot stand for every line of a file.
_SINGULAR = ("title", "supersedes")
_OUTCOMES = {
    "created": "remembered",
    "duplicate": "already known",
    "near-duplicate": "nearly the same is known (--no-dedupe keeps both)",
}


@click.command()
@click.argument("text", nargs=-1, type=TEXT)
@click.option("--file", "file", metavar="FILE", help="Keep this file's text as one memory.")
@click.option("--jsonl", metavar="FILE", help="Load JSON lines, - for standard input: all are checked first.")
@click.option("--document", metavar="FILE", help="Add a text file as a document: its sections become memories.")
@click.option("--project", metavar="NAME", type=TEXT, help="The project it belongs to.")
@click.option("--sector", type=OneOf(Sector, "sector"), help=f"One of {listed(Sector)}; else decided by rule.")
@click.option("--kind", type=OneOf(Kind, "kind"), help=f"One of {listed(Kind)}; else decided by rule.")
@click.option("--tier", type=OneOf(Tier, "tier"), help=f"One of {listed(Tier)}.")
@click.option("--title", type=TEXT, help="A short name for it.")
@click.option("--tag", "tags", metavar="TAG", type=TEXT, multiple=True, help="Repeat it for several.")
@click.option("--importance", type=float, metavar="0..1", help="How much it matters (0.5).")
@click.option("--confidence", type=float, metavar="0..1", help="How sure it is (0.8).")
@click.option("--session", metavar="ID", type=TEXT, help="The session that learned it.")
@click.option("--source", metavar="NAME", type=TEXT, help="Where it came from (user).")
@click.option("--task", metavar="ID", type=TEXT, help="The task it belongs to.")
@click.option("--worktree", metavar="NAME", type=TEXT, help="The worktree it belongs to.")
@click.option("--author", metavar="NAME", type=TEXT, help="Who said it.")
@click.option("--cite", "citations", metavar="CITATION", type=TEXT, multiple=True, help=CITATION_FORMS + ".")
@click.option("--created", type=WHEN, help="When it was learned, if not now: 2026-03-05, 3d …")
@click.option("--valid-from", type=WHEN, help="When it begins to hold.")
@click.option("--valid-until", type=WHEN, help="When it stops to hold.")
@click.option("--supersedes", metavar="ID", type=TEXT, help="The memory it replaces.")
@click.option("--scope", "scopes", metavar="WORD", type=TEXT, multiple=True,
              help="A context that it is meant for: who does not hold it does not see it. task, worktree, project, org,"
                   " repo and work are labels that keep nobody out. Repeat it for several.")  # fmt: skip
@click.option("--zone", type=OneOf(Zone, "zone"), help=f"How far to trust it: {listed(Zone)}.")
@click.option("--status", type=OneOf(Status, "status"), help="pending_review lets it wait for `review`.")
@click.option("--no-dedupe", is_flag=True, help="Keep it even if a memory already says the same.")
@click.option("--skip-bad", is_flag=True, help="With --jsonl: load the good lines, name the bad ones.")
@click.option("--no-embed", is_flag=True, help="Leave the vectors for later; words find it at once.")
@shared
def remember(
    given: Given, /, text: tuple[str, ...], file: str | None, jsonl: str | None, document: str | None, no_dedupe: bool,
    skip_bad: bool, no_embed: bool, **attributes: Any,
) -> None:  # fmt: skip
    """Keep TEXT, or what is piped in, or many memories from JSON lines.

    \b
    recallens remember "Deploys go out on Tuesdays" --project api --tag deploy
    git log -1 --format=%B | recallens remember --kind episode
    recallens remember --jsonl examples/memories.jsonl
    """
    if sum((bool(text), file is not None, jsonl is not None, document is not None)) > 1:
        raise click.UsageError("give one of TEXT, --file, --jsonl and --document")
    said = {name: value for name, value in attributes.items() if value is not None and value != ()}
    if jsonl is not None:
        for name in _SINGULAR:
            if name in said:
                raise click.UsageError(f"--{name} names one memory; with --jsonl each line has its own")
        _keep_lines(given, jsonl, said, dedupe=False if no_dedupe else None, skip_bad=skip_bad, embed=not no_embed)
        return
    refuse_unused("without --jsonl", "skip_bad")
    if document is not None:
        refuse_unused("with --document", "no_dedupe", "no_embed")
        unused = sorted(said.keys() - {"project", "title"})
        if unused:
            raise click.UsageError(f"a document takes --title and --project, not {unused[0].replace('_', '-')}")
        _keep_document(given, document, said)
        return
    if not text and file is None and not piped():
        raise click.UsageError("give a TEXT, pipe one in, or use --file, --jsonl or --document")
    content = read_text(file) if file is not None else words(text) if text else read_text("-")
    _keep_one(given, content, said, dedupe=False if no_dedupe else None, embed=not no_embed)


def _keep_one(given: Given, content: str, said: Mapping[str, Any], *, dedupe: bool | None, embed: bool) -> None:
    from recallens.ingest.batch import Outcome
    from recallens.ingest.draft import Draft
    from recallens.ingest.prepare import check

    attributes = _attributes(said)
    check(Draft(content, **attributes))  # before a store is made for it
    arguments = {"content": content, "attributes": attributes, "dedupe": dedupe, "embed": embed}
    with given.engine(create=True) as engine:
        answer = given.answer(engine, "keep_memory", arguments)
        encodes = embed and engine.core.encoding.key is not None

    def printed(answer: Answer) -> None:
        remembered, replaceable = answer.value
        say(f"{_OUTCOMES[remembered.outcome]} {remembered.id}")
        if remembered.redacted:
            given.note(f"redacted before it was stored: {', '.join(remembered.redacted)}")
        if replaceable:
            given.note(replaceable)
        if remembered.waits:
            given.note(f"it waits in `recallens review list`, because {', '.join(remembered.suspected)}")
        if remembered.outcome is Outcome.CREATED and encodes and not remembered.embedded:
            given.note("warning: it could not be encoded; words find it, and `recallens reindex` encodes it later")

    given.tell(answer, printed)


def _attributes(said: Mapping[str, Any]) -> dict[str, Any]:
    cited = {"citations": tuple(parse_citation(text) for text in said["citations"])} if "citations" in said else {}
    return {**said, **cited}


def _keep_document(given: Given, file: str, said: Mapping[str, Any]) -> None:
    path, text = str(Path(file).expanduser()), read_text(file)
    text_content(text)  # before a store is made for it
    given.perform(
        "keep_document", {"text": text, "path": path, **said},
        lambda answer: say(f"added {path} as {counted(len(answer.record['memories']), 'memory', 'memories')}"),
        create=True,
    )  # fmt: skip


def _keep_lines(
    given: Given, path: str, said: Mapping[str, Any], *, dedupe: bool | None, skip_bad: bool, embed: bool
) -> None:
    from recallens.cli import jsonl
    from recallens.cli.screen import Bars
    from recallens.operations.machine import backlog, encode
    from recallens.operations.operation import Call, owner

    found = jsonl.read(path, _attributes(said))
    if not skip_bad:
        jsonl.refuse(path, found.errors)
    with given.engine(create=True) as engine:
        names = jsonl.LineNames(engine, found)
        missing = [f"{name!r} is neither a key of the file nor a memory of the store" for name in names.unknown]
        if not skip_bad:
            jsonl.refuse(path, missing)
        loaded = jsonl.load(engine, found, names, given=given, dedupe=dedupe, zone=said.get("zone"))
        loaded.left_out += missing
        namespace = engine.core.settings.namespace
        failure = encode(engine, Call(owner(namespace), namespace, progress=Bars(given)))[2] if embed else None
        waiting = backlog(engine)
        engine.maintenance.publish()
        unread = engine.memories.awaiting_review()
        proposed = sum(memory.kind is Kind.PRINCIPLE and memory.review == PROPOSED for memory in unread)
        held = [memory for memory in unread if memory.status is Status.PENDING_REVIEW]
        suspected = sum("suspected" in memory.attributes for memory in held)
    if proposed:
        given.note(f"{counted(proposed, 'principle waits', 'principles wait')} for `recallens review approve`")
    if suspected:
        told = counted(suspected, "text speaks to who reads it and waits", "texts speak to who reads them and wait")
        given.note(f"{told} for `recallens review`")
    _print_loaded(given, loaded, found.errors, waiting)
    if failure is not None:
        raise failure


def _print_loaded(given: Given, loaded: Loaded, errors: list[str], waiting: int) -> None:
    from recallens.ingest.batch import Outcome

    created, known = loaded.outcomes[Outcome.CREATED], loaded.outcomes[Outcome.DUPLICATE]
    near = loaded.outcomes[Outcome.NEAR_DUPLICATE]
    if given.json:
        given.emit({
            "created": created, "duplicates": known, "nearDuplicates": near, "redacted": loaded.redacted,
            "redactions": [{"place": one.place, "kinds": list(one.kinds)} for one in loaded.redactions],
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
    if loaded.redactions:
        told = [(one.place, one.kinds) for one in loaded.redactions]
        given.note(redactions_told(told, loaded.redacted))
    if waiting:
        given.note(f"{counted(waiting, 'text waits', 'texts wait')} to be encoded; `recallens reindex` does it")
    for problem in [*errors, *loaded.left_out]:
        given.note(f"left out: {problem}")
