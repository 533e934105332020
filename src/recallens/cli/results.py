"""A recall as people read it: a block a result, each with why it is there, and what the filters let through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recallens.cli.screen import age, counted, day, first_line, visible
from recallens.model.recall import Recall, SearchResult
from recallens.model.terms import plain, shown_parts
from recallens.render.formats import MATCHED, cited, headline, kinship
from recallens.render.records import certificate_of, filters_record, marked

EXCERPT = 240
BAR_CELLS = 16
# In the order of the parts, the largest first: told apart without colour too.
_SHADES = "█▓▒░·"
_INDENT = 3


def print_recall(console: Console, recall: Recall, *, why: bool) -> None:
    for result in recall.results:
        _print_result(console, result, recall.query.now, why=why)
        console.print()
    if recall.lessons:
        console.print(Text("lessons to verify before finalizing", style="bold"))
        console.print()
    for result in recall.lessons:
        _print_result(console, result, recall.query.now, why=why)
        console.print()
    if recall.notice:
        console.print(Text(visible(recall.notice)))
    elif not recall.results:
        console.print(Text("no memory matches"))
    print_certificate(console, certificate_of(recall.ledger))
    if rungs := ladder(recall):
        console.print(Text(visible(rungs), style="dim"))


def print_certificate(console: Console, certificate: Mapping[str, Any] | None) -> None:
    """How much of the question the results speak of, and what they do not; nothing where all of it is covered."""
    if certificate is None or certificate["completenessScore"] is None:
        return
    if certificate["abstention"]["abstain"]:
        doubt = certificate["abstention"]["score"]
        console.print(Text(f"Nothing here seems to answer this ({doubt:.0%} sure of that).", style="yellow"))
    if certificate["missing"]:
        missing = ", ".join(f"“{visible(name)}”" for name in certificate["missing"])
        console.print(Text(f"covers {certificate['completenessScore']:.0%} of the question; missing: {missing}"))
    if "suggestion" in certificate:
        console.print(Text(f"suggestion: {certificate['suggestion']}", style="dim"))


def _print_result(console: Console, result: SearchResult, now: int, *, why: bool) -> None:
    memory = result.memory
    top = Table.grid(expand=True, padding=(0, 1, 0, 0))
    top.add_column(width=_INDENT - 1, no_wrap=True)
    top.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    top.add_column(no_wrap=True, justify="right")
    top.add_row(
        Text(str(result.rank), style="bold"),
        Text(headline(memory), style="bold"),
        Text(f"{result.score:.2f}", style="bold green"),
    )
    console.print(top)
    _indented(console, Text(memory.id, style="cyan"))
    _indented(console, Text(f"{kinship(memory)} · {day(memory.created)}, {age(memory.created, now)}", style="dim"))
    if body := _body(result):
        _indented(console, body)
    if result.superseded_by is not None:
        after = result.superseded_by
        _indented(console, Text(f"superseded by {after.id}: {first_line(after.content, 120)}", style="yellow"))
    _indented(console, Text(" · ".join(_provenance(result)), style="dim"))
    if why:
        _indented(console, Text.assemble(("why: ", "dim"), reason(result)))


def _indented(console: Console, text: Text) -> None:
    console.print(Padding(text, (0, 0, 0, _INDENT)))


def _body(result: SearchResult) -> Text | None:
    """Where the words stand; else how the memory begins, unless the headline has said it."""
    if result.highlights:
        return Text("\n").join(highlighted(excerpt) for excerpt in result.highlights)
    content = " ".join(result.memory.content[: 2 * EXCERPT].split())
    excerpt = content if len(content) <= EXCERPT else content[: EXCERPT - 1] + "…"
    return None if visible(excerpt) == headline(result.memory) else Text(visible(excerpt))


def highlighted(excerpt: str) -> Text:
    """The marks become bold; a text that holds the same tags by itself is only shown a little bolder."""
    text = Text()
    for piece, found in marked(excerpt):
        text.append(visible(piece), style="bold magenta" if found else None)
    return text


def _provenance(result: SearchResult) -> list[str]:
    views = [plain(view) for view in result.views if ":" not in view]  # what a tier looked through found nothing itself
    parts = [MATCHED[result.match_type] if result.match_type else f"found by {', '.join(views)}"]
    if result.source_session is not None:
        parts.append(visible(f"session {result.source_session.id}"))
    if result.related_count:
        parts.append(counted(result.related_count, "relation"))
    citations = [cited(citation) for citation in result.memory.citations]
    parts.append(f"cites {', '.join(citations)}" if citations else "[HYPOTHESIS] cites nothing")
    return parts


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


def ladder(recall: Recall) -> str:
    """Each filter that took something away, as admitted/considered."""
    rungs = [row for row in filters_record(recall.ledger) if row["admitted"] < row["considered"]]
    shown = [
        f"{row['name']} {row['admitted']}/{row['considered']}" + (f" ({row['reason']})" if row.get("reason") else "")
        for row in rungs
    ]
    return f"filters: {' · '.join(shown)}" if shown else ""
