from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from recallens.cli.given import Given
from recallens.cli.options import TEXT, OneOf, Size, listed, page, shared
from recallens.cli.printers import attributes, facts, table
from recallens.cli.screen import counted, day, first_line, moment, say, screen, visible
from recallens.errors import InvalidInput
from recallens.ingest.validate import option
from recallens.model.context import TIMELINE_BUDGET
from recallens.model.memory import Kind, Memory, Relation, Sector, Status, Tier
from recallens.render.formats import cited, headline

if TYPE_CHECKING:
    from recallens.model.citation import Citation, CitationCheck
    from recallens.model.recall import Timeline
    from recallens.operations import Answer

ANY_STATUS = "all"
DEPTH, A_SIDE = 5, 10


# ── one of them ──


@click.command()
@click.argument("id", type=TEXT)
@shared
def show(given: Given, id: str) -> None:
    """One memory in full. Six characters of its ID or more will do, if they fit only one."""
    others: dict[str, Memory] = {}
    with given.engine() as engine:
        answer = given.answer(engine, "get_memory", {"id": id})
        memory, parts = answer.value
        if not given.json:
            ends = {end for relation in parts["relations"] for end in (relation.source, relation.target)}
            others = {end: engine.get(end) for end in ends - {memory.id}}
    given.tell(answer, lambda answer: _print_memory(given, answer, others))


@click.command()
@click.argument("id", type=TEXT)
@shared
def influence(given: Given, id: str) -> None:
    """Whom the memory ID has reached: the recalls that returned it, and the texts that were made of it."""

    def printed(answer: Answer) -> None:
        found, recalls = answer.value
        if found.made_of:
            say(f"made of {visible(', '.join(each.name for each in found.made_of))}")
        for each in recalls[:SHOWN_RECALLS]:
            where = [f"session {each.session}"] if each.session else []
            where += [f"task {each.task}"] if each.task else []
            where += [f"token {each.owner}"] if each.owner else []
            where += [f"`recallens explain {each.snapshot_id}`"] if each.snapshot_id else []
            say(f"recalled {moment(each.at)}" + (f"  {visible(', '.join(where))}" if where else ""))
        for memory in found.derived:
            stands = f"{memory.handle} {memory.kind} ({memory.zone}, {memory.status})"
            say(f"made of it: {stands} {visible(first_line(headline(memory), 80))}")
        reached = counted(len(recalls), "recall"), counted(len(found.derived), "derived text")
        say(f"{found.memory.handle} reached {reached[0]} and {reached[1]}")

    given.perform("influence", {"id": id}, printed)


SHOWN_RECALLS = 20


def _print_memory(given: Given, answer: Answer, others: dict[str, Memory]) -> None:
    memory, parts = answer.value
    console = screen(given)
    if memory.title:
        console.print(Text(visible(memory.title), style="bold"))
    console.print(Text.assemble((memory.handle, "cyan"), (f" {memory.id}", "dim")))
    # Into a file or a pipe the text goes as it is; only a terminal needs it wrapped.
    console.print()
    if console.is_terminal:
        console.print(Text(visible(memory.content)))
    else:
        say(memory.content)
    console.print()
    if after := parts["successor"]:
        console.print(Text(f"superseded by {after.handle}: {first_line(headline(after), 120)}\n", style="yellow"))
    rows = attributes(memory, parts["salience"])
    if uplift := parts["uplift"]:
        told = f"{uplift.value:+.2f} over {counted(uplift.tasks, 'task')} (confidence {uplift.confidence:.2f})"
        rows.append(("uplift", told))
    rows += [("in doubt", doubt) for doubt in parts.get("doubts", ())]
    rows += [("cites", _judged(citation, parts["check"])) for citation in memory.citations]
    if context := parts["context"]:
        session = context.session
        rows.append(("session", f"{session.id} ({context.usage} it, {moment(session.started)})"))
        rows.append(("", session.summary and first_line(session.summary)))
    rows += [("relation", _related(relation, memory, others)) for relation in parts["relations"]]
    console.print(facts(rows))


def _judged(citation: Citation, check: CitationCheck | None) -> str:
    """The citation, and what was last found out about it."""
    known = {each.citation: each for each in check.checked} if check is not None else {}
    each = known.get(citation)
    return cited(citation) + (f" ({each.standing}{each.reason and ': '}{each.reason})" if each is not None else "")


def _related(relation: Relation, memory: Memory, others: dict[str, Memory]) -> str:
    """In the direction it has, with the other end's first words."""
    outward = relation.source == memory.id
    other = others[relation.target if outward else relation.source]
    arrow = f"{relation.type} →" if outward else f"← {relation.type}"
    return f"{arrow} {other.handle} {first_line(headline(other), 60)}"


@click.command()
@click.argument("id", metavar="TASK-OR-ID", type=TEXT)
@click.option("--tokens", metavar="N", type=Size("tokens", "tokens", 400), help="At most this many tokens in all.")
@click.option("--match", metavar="WORDS", type=TEXT, help="Of a long text or log, show what holds these words.")
@click.option("--offset", metavar="N", type=click.IntRange(0), default=0, help="Skip so many lines of a long log.")
@click.option("--full", is_flag=True, help="Everything, however long.")
@click.option("--limit", metavar="N", type=Size("limit", "entries", 20), default=20, help="Entries at most (20).")
@shared
def details(given: Given, id: str, tokens: int | None, match: str | None, offset: int, full: bool, limit: int) -> None:
    """A memory in full with its state, lineage and citations, and the logs of its task; or a task's logs."""
    if full and tokens is not None:
        raise click.UsageError("give one of --tokens and --full")
    arguments = {"id": id, "tokens": tokens, "full": full, "limit": limit, "match": match, "offset": offset}
    given.print_layer("get_details", arguments)


# ── many ──


@click.command("list")
@click.option("--project", metavar="NAME", type=TEXT, help="Only this project.")
@click.option("--sector", type=OneOf(Sector, "sector"), help=f"Only this sector: {listed(Sector)}.")
@click.option("--kind", type=OneOf(Kind, "kind"), help=f"Only this kind: {listed(Kind)}.")
@click.option("--tier", type=OneOf(Tier, "tier"), help=f"Only this tier: {listed(Tier)}.")
@click.option("--status", "statuses", metavar="STATUS", type=TEXT, multiple=True, default=[Status.ACTIVE],
              help=f"Only this status (active): {listed(Status)}, or all. Repeat it for several.")  # fmt: skip
@click.option("--tag", metavar="TAG", type=TEXT, help="Only with this tag.")
@click.option("--session", "of_session", metavar="ID", type=TEXT, help="Only what this session touched.")
@click.option("--pinned", is_flag=True, help="Only what is pinned.")
@page
@click.option("--limit", type=int, default=20, metavar="N", help="Memories a page (20).")
@shared
def list_memories(
    given: Given, /, statuses: tuple[str, ...], page: int, limit: int, **filters: str | bool | None
) -> None:
    """Browse memories, newest first."""
    wanted = () if ANY_STATUS in statuses else tuple(option(Status, status, "status") for status in statuses)

    def printed(answer: Answer) -> None:
        console, found = screen(given), answer.value
        if found.memories:
            console.print(table(found.memories))
        pages = -(-found.total // limit)
        status = "any status" if not wanted else " or ".join(wanted).replace("_", " ")
        told = f"{counted(found.total, 'memory', 'memories')} ({status}) · page {page} of {max(pages, 1)}"
        console.print(Text(told, style="dim"))

    given.perform("page_of_memories", {**filters, "statuses": wanted, "page": page, "limit": limit}, printed)


@click.command()
@click.argument("id", type=TEXT)
@click.option("--before", type=int, metavar="N", help=f"How many before it ({DEPTH}).")
@click.option("--after", type=int, metavar="N", help=f"How many after it ({DEPTH}).")
@click.option("--window", type=float, metavar="DAYS", help="What came within so many days, as an agent reads it.")
@click.option("--limit", type=int, metavar="N", help=f"With --window: how many a side ({A_SIDE}).")
@click.option("--tokens", type=int, metavar="N", help=f"With --window: at most so many tokens ({TIMELINE_BUDGET:,}).")
@shared
def timeline(
    given: Given, id: str, before: int | None, after: int | None, window: float | None, limit: int | None,
    tokens: int | None,
) -> None:  # fmt: skip
    """What came before and after a memory in its project, and in which sessions."""
    if window is not None:
        if before is not None or after is not None:
            raise InvalidInput("--before and --after do not go with --window", hint="Use --limit N for each side.")
        arguments = {
            "observation_id": id, "window": window, "limit": A_SIDE if limit is None else limit,
            "tokens": TIMELINE_BUDGET if tokens is None else tokens,
        }  # fmt: skip
        given.print_layer("get_timeline", arguments)
        return
    if limit is not None or tokens is not None:
        raise InvalidInput(
            f"{'--limit' if limit is not None else '--tokens'} goes with --window",
            hint="Use --before N and --after N, or add --window DAYS.",
        )
    sides = {"before": DEPTH if before is None else before, "after": DEPTH if after is None else after}
    given.perform("timeline", {"id": id, **sides}, lambda answer: _print_timeline(given, answer.value))


def _print_timeline(given: Given, timeline: Timeline) -> None:
    console = screen(given)
    memories = [*timeline.before, timeline.anchor, *timeline.after]
    console.print(table(memories, mark=timeline.anchor.id, states=timeline.states))
    if timeline.sessions:
        console.print(Text("\nsessions", style="dim"))
    for session in timeline.sessions.values():
        summary = f": {first_line(session.summary)}" if session.summary else ""
        console.print(Text(visible(f"{session.id}, {day(session.started)}{summary}")))
