"""A recall in a notebook: the results with the bars of their scores, as the X-ray draws them. Text is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from recallens.model.recall import Recall, SearchResult
from recallens.model.terms import plain
from recallens.model.times import day
from recallens.render.formats import printable
from recallens.text.sentences import cut_at_word
from recallens.text.token_count import one_line

TEXT_CHARACTERS: Final = 240
WIDTH: Final = 320
# What reads on a light page and on a dark one; with more parts than these they repeat.
COLOURS: Final = ("#4c86e8", "#e0913f", "#3aa97b", "#9a6bd8", "#c0a04a", "#2fa5b4", "#cb6098", "#7f9440", "#8f7058")
TAKEN_OFF: Final = "#d9534f"


def recall_html(recall: Recall) -> str:
    asked = escape(printable(cut_at_word(one_line(recall.query.text), TEXT_CHARACTERS)))
    if not recall.results:
        nearest = recall.silence.nearest.handle if recall.silence is not None else None
        came = f" What came nearest is {nearest}." if nearest else ""
        return f"<p><b>{asked}</b>: nothing is likely to help.{came}</p>"
    names = dict.fromkeys(name for result in recall.results for name in result.parts)
    colours = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(names)}
    longest = max(sum(abs(part) for part in result.parts.values()) for result in recall.results) or 1.0
    rows = "".join(_row(result, colours, longest) for result in recall.results)
    legend = " ".join(
        f'<span style="color:{colour}">■</span> {escape(plain(name))}' for name, colour in colours.items()
    )
    return (
        f'<div><p><b>{asked}</b></p><table style="border-collapse:collapse">{rows}</table>'
        f'<p style="font-size:smaller">{legend} <span style="color:{TAKEN_OFF}">■</span> taken off</p></div>'
    )


def _row(result: SearchResult, colours: Mapping[str, str], longest: float) -> str:
    memory = result.memory
    text = escape(printable(cut_at_word(one_line(memory.content), TEXT_CHARACTERS)))
    title = f"<b>{escape(printable(one_line(memory.title)))}</b> " if memory.title else ""
    likely = "" if result.relevance is None else f"{result.relevance:.0%}"
    about = f"{memory.handle}, {escape(str(memory.kind))}, {day(memory.created)}"
    bar = _bar(result, colours, longest)
    return (
        f'<tr><td style="vertical-align:top;text-align:right">{result.rank}</td>'
        f'<td style="text-align:left">{title}{text}<br/><small>{about}</small><br/>{bar}</td>'
        f'<td style="vertical-align:top;text-align:right">{likely}</td></tr>'
    )


def _bar(result: SearchResult, colours: Mapping[str, str], longest: float) -> str:
    pieces, x = [], 0.0
    for name, part in result.parts.items():
        width = abs(part) / longest * WIDTH
        colour = colours[name] if part >= 0 else TAKEN_OFF
        told = escape(f"{plain(name)} {part:+.3f}")
        pieces.append(f'<rect x="{x:.1f}" width="{width:.1f}" height="8" fill="{colour}"><title>{told}</title></rect>')
        x += width
    label = escape(f"score {result.score:.2f}")
    return f'<svg width="{WIDTH}" height="8" role="img" aria-label="{label}">{"".join(pieces)}</svg>'
