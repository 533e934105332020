"""What people read: memories in tables, everything about one, a recall with why each result came, an X-ray."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import click
from msgspec import structs
from msgspec.structs import replace
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recallens.cli.files import write
from recallens.cli.given import Given
from recallens.cli.screen import age, counted, day, first_line, moment, visible
from recallens.model.memory import Memory, Zone
from recallens.model.query import Query
from recallens.model.recall import Recall, SearchResult
from recallens.model.snapshot import Snapshot
from recallens.model.state import MemoryState
from recallens.model.terms import plain, shown_parts
from recallens.render import DEFAULT_FORMAT, json, render, tree, writers
from recallens.render.brief import ended_line
from recallens.render.document import document
from recallens.render.formats import MATCHED, cites, headline, kinship, remarks
from recallens.render.records import filters_record, marked, to_text
from recallens.render.times import time_line, time_of
from recallens.render.verdict import Verdict, how_sure, marked_excerpt, verdict_of
from recallens.xray.ladder import Walk
from recallens.xray.near_misses import near_misses
from recallens.xray.sensitivity import Sensitivity

# Citations that a result shows.
CITED = 2
NEAREST_CHARACTERS = 120
BAR_CELLS = 16
# In the order of the parts, the largest first: told apart without colour too.
_SHADES = "█▓▒░·"
_INDENT = 3


def table(
    memories: Iterable[Memory], mark: str | None = None, states: Mapping[str, MemoryState] | None = None
) -> Table:
    """One line a memory at any width: the handle is never cut, the text is. `states` are by id."""
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", expand=True)
    if mark is not None:
        grid.add_column("", no_wrap=True, width=1)
    grid.add_column("handle", no_wrap=True, min_width=6)
    grid.add_column("created", no_wrap=True, min_width=10)
    grid.add_column("kind", no_wrap=True, min_width=8)
    grid.add_column("memory", no_wrap=True, overflow="ellipsis", ratio=1)
    for memory in memories:
        doubts = states[memory.id].doubts() if states and memory.id in states else ()
        remarked = "".join(f"({remark}) " for remark in (*remarks(memory), *doubts))
        said = Text.assemble((remarked, "yellow"), headline(memory))
        row = [Text(memory.handle), Text(day(memory.created)), Text(memory.kind), said]
        if mark is not None:
            row.insert(0, Text("▶" if memory.id == mark else " "))
        grid.add_row(*row, style="bold" if memory.id == mark else None)
    return grid


def facts(rows: Sequence[tuple[str, str | None]]) -> Table:
    """Name and value, a line each; what has no value is left out."""
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        if value is not None and value != "":
            grid.add_row(Text(name), Text(visible(value)))
    return grid


def attributes(memory: Memory, salience: float) -> list[tuple[str, str | None]]:
    until = "" if memory.valid_until is None else moment(memory.valid_until)
    since = "" if memory.valid_from is None else moment(memory.valid_from)
    return [
        ("namespace", memory.namespace),
        ("project", memory.project),
        ("sector", memory.sector),
        ("kind", memory.kind),
        ("tier", memory.tier),
        ("status", memory.status.replace("_", " ")),
        ("zone", memory.zone),
        ("tags", ", ".join(memory.tags)),
        ("scopes", ", ".join(memory.scopes)),
        ("importance", f"{memory.importance:g}"),
        ("confidence", f"{memory.confidence:g}"),
        ("salience", f"{salience:.2f}, used {memory.uses} times" + (", confirmed" if memory.confirmed else "")),
        ("source", memory.source + (f" ({memory.source_id})" if memory.source_id else "")),
        ("author", memory.author),
        ("task", memory.task),
        ("worktree", memory.worktree),
        ("created", moment(memory.created)),
        ("valid", f"{since} – {until}".strip() if since or until else None),
        ("entities", ", ".join(memory.annotations.entities)),
    ]


# ── a recall: the answer first, then a few lines a result; what filters did is for whoever asks ──


def print_recall(console: Console, recall: Recall, *, why: bool, verbose: bool) -> None:
    verdict = verdict_of(recall)
    if recall.notice:
        console.print(Text(visible(recall.notice)))
    else:
        _print_verdict(console, verdict)
        if recall.ended is not None:
            console.print(Text(visible(ended_line(recall.ended)), style="yellow"))
    if time := time_line(time_of(recall.ledger)):
        console.print(Text(visible(time), style="dim"))
    for result in recall.results:
        answers = verdict.answered and verdict.whole and result.memory is verdict.source
        console.print()
        _print_result(console, result, recall.query, excerpted=not answers, why=why, verbose=verbose)
    if verbose:
        _print_filters(console, recall)


def _print_verdict(console: Console, verdict: Verdict) -> None:
    source = verdict.source
    if source is None or not verdict.answered:
        console.print(Text(visible(verdict.headline), style="bold yellow"))
    else:
        console.print(Text(visible(verdict.sentence), style="bold"))
    if source is not None:
        sure = how_sure(verdict.relevance, verdict.answered)
        named = source.title or ("" if verdict.answered else first_line(verdict.sentence, NEAREST_CHARACTERS))
        name = " · ".join(filter(None, (visible(named), sure)))
        label = "" if verdict.answered else "nearest: "
        console.print(Text.assemble((f"{label}{source.handle}", "cyan"), f" {name}"))
    if verdict.warnings:
        console.print(Text(f"! {visible(', '.join(verdict.warnings))}", style="yellow"))
    if verdict.lacking:
        console.print(Text(visible(verdict.lacking), style="yellow"))


def _print_result(
    console: Console, result: SearchResult, query: Query, *, excerpted: bool, why: bool, verbose: bool
) -> None:
    memory, relevance, own = result.memory, result.relevance, result.state.status
    top = Table.grid(expand=True, padding=(0, 1, 0, 0))
    top.add_column(width=_INDENT - 1, no_wrap=True)
    top.add_column(no_wrap=True)
    top.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    top.add_column(no_wrap=True, justify="right")
    top.add_row(
        Text(str(result.rank), style="bold"),
        Text(memory.handle, style="cyan"),
        Text(first_line(memory.title), style="bold") if memory.title else Text(kinship(memory, own), style="dim"),
        Text("" if relevance is None else f"{relevance:.2f}", style="bold green"),
    )
    console.print(top)
    if excerpted:
        _indented(console, highlighted(marked_excerpt(memory, query.text)))
    standing = structs.replace(memory, status=result.state.status)  # as it stood at the time that was asked about
    facts = [kinship(standing, own)] if memory.title else []
    facts += [f"{day(memory.created)}, {age(memory.created, query.now)}"]
    facts += [cites(memory.citations, CITED)] if memory.citations else ["cites nothing"]
    if result.state.zone is not Zone.TRUSTED and not result.state.made_of:
        facts.append(f"{result.state.zone} zone, not reviewed")
    _indented(console, Text(" · ".join(facts), style="dim"))
    if doubts := ", ".join(result.state.doubts()):
        _indented(console, Text(doubts, style="yellow"))
    if result.superseded_by is not None:
        after = result.superseded_by
        _indented(console, Text(f"superseded by {after.handle}: {first_line(after.content, 120)}", style="yellow"))
    if result.state.stale is not None:
        _indented(console, Text(visible(f"{result.state.cites or 'stale'}: {result.state.stale}"), style="yellow"))
    if verbose:
        _indented(console, Text(" · ".join(_origin(result)), style="dim"))
    if why:
        _indented(console, Text.assemble(("why: ", "dim"), reason(result)))


def _indented(console: Console, text: Text) -> None:
    console.print(Padding(text, (0, 0, 0, _INDENT)))


def highlighted(excerpt: str) -> Text:
    """The marks become bold; a text that holds the same tags by itself is only shown a little bolder."""
    text = Text()
    for piece, found in marked(excerpt):
        text.append(visible(piece), style="bold magenta" if found else None)
    return text


def _origin(result: SearchResult) -> list[str]:
    views = [plain(view) for view in result.views if ":" not in view]  # what a tier looked through found nothing itself
    parts = [MATCHED[result.match_type] if result.match_type else f"found by {', '.join(views)}"]
    if result.source_session is not None:
        parts.append(visible(f"session {result.source_session.id}"))
    if result.related_count:
        parts.append(counted(result.related_count, "relation"))
    return parts


def _print_filters(console: Console, recall: Recall) -> None:
    """What took something away, and what was nearest to coming."""
    console.print()
    for row in filters_record(recall.ledger):
        if row["admitted"] < row["considered"]:
            why = f": {row['reason']}" if row.get("reason") else ""
            took = f"{row['name']} kept out {row['considered'] - row['admitted']} of {row['considered']}"
            console.print(Text(visible(f"{took}{why}"), style="dim"))
    for miss in near_misses(Walk(recall.ledger)):
        title = "" if miss.title == miss.memoryId else f" {first_line(miss.title, 80)}"
        missed = f"near miss: {miss.handle or miss.memoryId}{title}: {miss.reason or miss.keptOutBy}"
        console.print(Text(visible(missed), style="dim"))


def reason(result: SearchResult) -> Text:
    """The score as the sum it is, largest part first, and the shares of what added to it."""
    parts = shown_parts(result.parts, result.score)
    text = Text(f"{result.score:.2f} =")
    for place, (name, hundredths) in enumerate(parts):
        sign = " −" if hundredths < 0 else " +" if place else ""
        text.append(f"{sign} {plain(name)} {abs(hundredths) / 100:.2f}")
    return text.append(f"  {shares(parts)}", style="dim")


def shares(parts: list[tuple[str, int]]) -> str:
    added = [value for _, value in parts if value > 0]
    total = sum(added)
    cells, used = "", 0
    for place, value in enumerate(added):
        used += value
        cells += _SHADES[min(place, len(_SHADES) - 1)] * (round(BAR_CELLS * used / total) - len(cells))
    return cells


# ── the X-ray: to the screen or to a file, byte for byte as rendered ──


def chosen_format(given: Given, format: str | None) -> str:
    """--json means the same as --format json."""
    if given.json and format not in (None, "json"):
        raise click.UsageError(f"--json means --format json, which {format} is not; give one of the two")
    if format == "json":
        given.json = True
    return "json" if given.json else format or DEFAULT_FORMAT


def unseen(format: str) -> str:
    """What is said where capture is off."""
    return render(None, format) if format == "json" else "no X-ray: the setting `capture` is off"


def written(snapshot: Snapshot, format: str, sensitivity: Sequence[Sensitivity] | None = None) -> str:
    """The snapshot as rendered; what each result owes to its terms comes after it where it was asked for."""
    if sensitivity is None:
        return render(snapshot, format)
    page = document(snapshot)
    if format == "brief":
        handles = {result.memoryId: result.handle for result in snapshot.results}
        said = (f"{handles[one.memory_id] or one.memory_id}: {one.sentence}" for one in sensitivity)
        return "\n".join([render(snapshot, format), *said])
    if format == "json":
        return to_text({**json.record(page), "sensitivity": [one.to_json() for one in sensitivity]})
    return writers()[format](replace(page, sections=(*page.sections, _section(sensitivity))))


def _section(sensitivity: Sequence[Sensitivity]) -> tree.Section:
    heading = "sensitivity"
    if not sensitivity:
        return tree.Nothing(heading, tree.Field((heading,), heading, []))
    rows = [
        tree.Row(
            "",
            (
                tree.Field((heading, place, "memoryId"), "memory", one.memory_id),
                tree.Field((heading, place, "sentence"), "sentence", one.sentence),
            ),
            lambda shown: ": ".join(text for _, text in shown),
        )
        for place, one in enumerate(sensitivity)
    ]
    return tree.Table(heading, tuple(rows))


def show(given: Given, text: str, out: Path | None) -> None:
    """Plainly: no wrapping, no colour, one newline at the end."""
    if out is None:
        click.echo(text)
        return
    write(out, text + "\n")
    given.note(f"wrote {out}")
