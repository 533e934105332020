"""The X-ray as one page that needs nothing else: no script, no font, no request; score bars and funnel drawn in SVG."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from typing import Final, assert_never

from recallens.render.formats import ValueKind, visible
from recallens.render.tree import Cards, Facts, Field, Nothing, Row, Section, Table, XrayDocument

# Distinct colours for the parts of a score; a preset with more terms than these repeats them.
COLOURS: Final = 10
_WIDTH: Final = 1000.0
_NUMBERS: Final = frozenset((ValueKind.COUNT, ValueKind.SCORE, ValueKind.SHARE, ValueKind.MS))

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2329; --soft: #5d6873; --line: #d9dee3; --page: #fff; --card: #f6f8fa;
  --c0: #2f6fde; --c1: #d9822b; --c2: #2a9d6f; --c3: #8e5bd0; --c4: #b8973a; --c5: #1b9aaa; --c6: #c2508b;
  --c7: #6b7f2a; --c8: #7a5c45; --c9: #64748b; --cut: #c93a3a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaee; --soft: #9aa6b2; --line: #333c45; --page: #14181c;
  --card: #1c2227; --c0: #6ea3ff; --c1: #f0a860; --c2: #5cc99a; --c3: #b794f0; --c4: #d9bd6a; --c5: #5cc6d3;
  --c6: #e58abb; --c7: #a8bd62; --c8: #b8977f; --c9: #94a3b8; --cut: #ff7b7b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1.5rem; color: var(--ink); background: var(--page); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Apple SD Gothic Neo", "Malgun Gothic",
  "Noto Sans KR", "Noto Sans CJK KR", "NanumGothic", sans-serif; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
h3, dd, td { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }
dt, th { color: var(--soft); font-weight: normal; } dd { margin: 0; }
bdi { font-variant-numeric: tabular-nums; }
article { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; }
article + article { margin-top: .75rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; padding: .2rem .75rem .2rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
td.number { text-align: end; font-variant-numeric: tabular-nums; }
td.funnel { min-width: 8rem; width: 30%; }
svg.bar { display: block; width: 100%; height: .7rem; margin: .3rem 0; } svg.key { width: .8rem; height: .8rem; }
ul { margin: 0; padding-inline-start: 1.2rem; }
ul.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; color: var(--soft); }
.track { fill: var(--line); } .cut { fill: var(--cut); } .c0 { fill: var(--c0); } .c1 { fill: var(--c1); }
.c2 { fill: var(--c2); } .c3 { fill: var(--c3); } .c4 { fill: var(--c4); } .c5 { fill: var(--c5); }
.c6 { fill: var(--c6); } .c7 { fill: var(--c7); } .c8 { fill: var(--c8); } .c9 { fill: var(--c9); }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dt { margin-top: .4rem; } }
@media print { body { max-width: none; } article { break-inside: avoid; } }
"""
# The page may use this one style sheet and nothing else, whatever a memory says.
_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'"
)


def write(document: XrayDocument) -> str:
    title = escape(document.title)
    colours = _colours(document)
    lines = [
        "<!doctype html>",
        '<html lang="und">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY, quote=False)}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        "<main>",
        f"<h1>{title}</h1>",
        *([] if document.sections else ["<p>(no snapshot)</p>"]),
        *(line for section in document.sections for line in _section(section, colours)),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines)


def _section(section: Section, colours: Mapping[str, int]) -> Iterator[str]:
    yield "<section>"
    if section.heading:
        yield f"<h2>{escape(section.heading.capitalize())}</h2>"
    match section:
        case Table():
            yield from _table(section.rows)
        case Facts():
            yield from _facts(section.rows)
        case Cards():
            yield from _legend(colours)
            scale = max((_gain(row) for card in section.cards for row in card.rows if row.label == "score"), default=0)
            for card in section.cards:
                yield f"<article>\n<h3>{_phrase(card.head)}</h3>"
                yield from (_parts(row, scale, colours) for row in card.rows if row.label == "score")
                yield from _facts(card.rows)
                yield "</article>"
        case Nothing():
            yield f"<p>{_text(section.field.shown())}</p>"
        case _:
            assert_never(section)
    yield "</section>"


def _facts(rows: tuple[Row, ...]) -> Iterator[str]:
    yield "<dl>"
    for row in rows:
        if row.stacked:
            items = "".join(f"<li>{_text(field.shown())}</li>" for field in row.shown())
            yield f"<dt>{_label(row.label)}</dt><dd><ul>{items}</ul></dd>"
        elif row.shown():
            yield f"<dt>{_label(row.label)}</dt><dd>{_phrase(row)}</dd>"
    yield "</dl>"


def _table(rows: tuple[Row, ...]) -> Iterator[str]:
    labels = list(dict.fromkeys(field.label for row in rows for field in row.shown()))
    most = max((_value(row, "considered") for row in rows), default=0)
    heads = [*(_label(label) for label in labels), *(["funnel"] if most else [])]
    yield '<div class="scroll"><table>'
    yield "<tr>" + "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr>"
    for row in rows:
        cells = {field.label: _cell(field) for field in row.shown()}
        yield f"<tr>{''.join(cells.get(label, '<td></td>') for label in labels)}{_funnel(row, most)}</tr>"
    yield "</table></div>"


def _cell(field: Field) -> str:
    opening = '<td class="number">' if field.kind in _NUMBERS else "<td>"
    return f"{opening}{_text(field.alone())}</td>"


def _funnel(row: Row, most: float) -> str:
    """How much was left before the filter, and how much after it."""
    if not most:
        return ""
    before, after = (_WIDTH * _value(row, name) / most for name in ("considered", "admitted"))
    return f'<td class="funnel">{_bar([("track", 0.0, before), ("c0", 0.0, after)])}</td>'


def _parts(row: Row, scale: float, colours: Mapping[str, int]) -> str:
    """The score as a sum: what adds to it from the left, what takes from it back over the end of that."""
    bars, end = [], 0.0
    parts = [field for field in row.fields if field.label != "final"]
    for field in sorted(parts, key=lambda field: field.value < 0):
        width = _WIDTH * abs(field.value) / scale if scale else 0.0
        if field.value < 0:
            end -= width
            bars.append(("cut", end, width))
        else:
            bars.append((f"c{colours[field.label]}", end, width))
            end += width
    return _bar(bars)


def _bar(bars: list[tuple[str, float, float]]) -> str:
    drawn = "".join(f'<rect class="{name}" x="{x:.1f}" width="{width:.1f}" height="10"/>' for name, x, width in bars)
    size = f"0 0 {_WIDTH:.0f} 10"
    return f'<svg class="bar" viewBox="{size}" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'


def _legend(colours: Mapping[str, int]) -> Iterator[str]:
    keys = [(f"c{colour}", _label(label)) for label, colour in colours.items()] + [("cut", "taken off")]
    square = '<svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="{}" width="10" height="10"/></svg>'
    items = "".join(f"<li>{square.format(name)} {label}</li>" for name, label in keys)
    yield f'<ul class="legend">{items}</ul>'


def _colours(document: XrayDocument) -> dict[str, int]:
    cards = [card for section in document.sections if isinstance(section, Cards) for card in section.cards]
    fields = [field for card in cards for row in card.rows if row.label == "score" for field in row.fields]
    terms = dict.fromkeys(field.label for field in fields if field.label != "final")
    return {term: at % COLOURS for at, term in enumerate(terms)}


def _gain(row: Row) -> float:
    return sum(max(0.0, float(field.value)) for field in row.fields if field.label != "final")


def _value(row: Row, label: str) -> float:
    return next((float(field.value) for field in row.fields if field.label == label), 0.0)


def _phrase(row: Row) -> str:
    return row.phrase([(_label(field.label), _text(field.shown())) for field in row.shown()])


def _text(shown: str) -> str:
    return f"<bdi>{escape(shown)}</bdi>"


def _label(label: str) -> str:
    return escape(visible(label))
