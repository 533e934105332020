"""Markdown as people read it: without its marks on a terminal, as elements on the page. Nothing in a text is markup of
ours, so that everything is escaped first and only what is known here becomes an element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from recallens.text.sentences import sentences

_FENCE: Final = re.compile(r"^ {0,3}(```|~~~)")
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$")
_ITEM: Final = re.compile(r"^[ \t]*(?:[-*+]|(?P<number>\d{1,3})[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTE: Final = re.compile(r"^ {0,3}>[ \t]?")
_RULE: Final = re.compile(r"^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$")
# Inside a line: code stays as it is, links show their words, emphasis its text.
_INLINE: Final = re.compile(
    r"(?P<tick>`+)(?P<code>.+?)(?P=tick)"
    r"|\[\[(?P<page>[^\]\[|]+)(?:\|(?P<alias>[^\]\[]+))?\]\]"
    r"|!?\[(?P<words>[^\]\[]+)\]\((?:[^()\s]|\([^()\s]*\))+\)"
    r"|\*\*(?P<strong>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])"
)


class Block(NamedTuple):
    """A run of lines of one kind: `heading`, `item`, `quote`, `code` or `text`.

    `level` is that of a heading; an item's is its number, 0 where it has none.
    """

    kind: str
    text: str
    level: int = 0


def blocks(text: str) -> Iterator[Block]:
    kind, number, lines, fence = "", 0, list[str](), ""

    def done() -> Iterator[Block]:
        if lines:
            yield Block(kind, "\n".join(lines), number if kind == "item" else 0)
            lines.clear()

    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence or mark:
            if not fence and mark:
                yield from done()
                kind, fence = "code", mark[1]
            elif mark and mark[1] == fence:
                yield from done()
                fence = ""
            else:
                lines.append(line)
            continue
        if heading := _HEADING.match(line):
            yield from done()
            yield Block("heading", heading[2].rstrip(" \t#"), len(heading[1]))
            continue
        if not line.strip() or _RULE.match(line):
            yield from done()
            kind = ""
            continue
        item, quote = _ITEM.match(line), _QUOTE.match(line)
        own = "item" if item else "quote" if quote else "text"
        follows = kind in ("item", "text", "quote") and own == "text"  # a line that goes on where the last one ended
        if item or (own != kind and not follows):
            yield from done()
            kind, number = own, int((item and item["number"]) or 0)
        lines.append(line[quote.end() :] if quote else line.strip() if not item else line[item.end() :])
    yield from done()


def plain_text(text: str, title: str | None = None) -> str:
    """Without the marks, and without a first heading that only repeats the title."""
    lines = []
    for place, block in enumerate(blocks(text)):
        if block.kind == "heading" and place == 0 and title is not None and _repeats(title, block.text):
            continue
        words = block.text if block.kind == "code" else _INLINE.sub(_words, block.text)
        mark = f"{block.level}. " if block.level else "- "
        lines.append(f"{mark}{words}" if block.kind == "item" else words)
    return "\n\n".join(lines)


def headed_sentences(text: str) -> Iterator[str]:
    """Its sentences without the marks. A heading says nothing by itself: it stands before the first one below it."""
    heading = ""
    for block in blocks(text):
        words = block.text if block.kind == "code" else _INLINE.sub(_words, block.text)
        if block.kind == "heading":
            heading = words.strip()
            continue
        for sentence in sentences(words):
            yield f"{heading}{'' if heading[-1] in '.!?…。:' else ':'} {sentence}" if heading else sentence
            heading = ""


def to_html(text: str, title: str | None = None) -> str:
    """Elements of the page; every character of the text is escaped."""
    html: list[str] = []
    listing = ""
    for place, block in enumerate(blocks(text)):
        if block.kind == "heading" and place == 0 and title is not None and _repeats(title, block.text):
            continue
        wanted = ("ol" if block.level else "ul") if block.kind == "item" else ""
        if wanted != listing:
            html += [f"</{listing}>"] * bool(listing) + [f"<{wanted}>"] * bool(wanted)
            listing = wanted
        inner = escape(block.text) if block.kind == "code" else _inline_html(block.text)
        match block.kind:
            case "heading":
                level = min(block.level + 2, 6)  # the page has the first two levels itself
                html.append(f"<h{level}>{inner}</h{level}>")
            case "item":
                html.append(f"<li>{inner}</li>")
            case "quote":
                html.append(f"<blockquote><p>{inner}</p></blockquote>")
            case "code":
                html.append(f"<pre><code>{inner}</code></pre>")
            case _:
                html.append(f"<p>{inner}</p>")
    return "".join([*html, f"</{listing}>" if listing else ""])


def _repeats(title: str, heading: str) -> bool:
    """A title may name the document before its heading: `Lesson: …`, `Handbook › …`."""
    return title.strip().casefold().endswith(_INLINE.sub(_words, heading).strip().casefold())


def _words(match: re.Match[str]) -> str:
    if match["code"] is not None:
        return match[0]
    said = match["alias"] or match["page"] or match["words"] or match["strong"] or match["em"] or ""
    return _INLINE.sub(_words, said)


def escape(text: str) -> str:
    from html import escape  # its table of entities is of no use to a search

    return escape(text)


def _inline_html(text: str) -> str:
    html, at = [], 0
    for match in _INLINE.finditer(text):
        html.append(escape(text[at : match.start()]))
        at = match.end()
        if match["code"] is not None:
            html.append(f"<code>{escape(match['code'])}</code>")
        elif match["strong"] is not None:
            html.append(f"<strong>{_inline_html(match['strong'])}</strong>")
        elif match["em"] is not None:
            html.append(f"<em>{_inline_html(match['em'])}</em>")
        else:
            html.append(_inline_html(match["alias"] or match["page"] or match["words"]))
    return "".join([*html, escape(text[at:])])
