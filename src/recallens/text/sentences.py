"""Where sentences end, and texts cut at a sentence or a word."""

from __future__ import annotations

import re
from typing import Final

from recallens.text.languages import alternatives, each

# Their full stop does not end a sentence.
_ABBREVIATIONS: Final = frozenset(" ".join(each(lambda pack: pack.abbreviations)).split())

# A list marker (1. or a.) is short and stands at the start of its line; the number of one that is told in a row also
# behind the end of the step before, the first behind what announces it.
_LIST_MARKER: Final = re.compile(
    r"(?:^|\n)[ \t]*(?:\d{1,3}|[A-Za-z])$|[.!?…;,。！？][\"'”’)\]]*[ \t]+\d{1,2}$|[:：][ \t]*1$"
)
_LAST_WORD: Final = re.compile(r"[^\s(\[\"'“‘]+$")

# Closers stay with their sentence. A full-width stop needs no space. A run of stops is only entered at its start, which
# keeps the search linear.
_END: Final = re.compile(
    r"(?<![.!?…])(?P<stop>[.!?…]+)[\"'”’)\]]*(?=\s|$)"
    r"|[。！？]+[\"'”’」』）]*"
    rf"|{alternatives(lambda pack: pack.sentence_end)}"
    r"|\n[ \t]*\n"
    r"|\n(?=[ \t]*(?:[-*+•#>]|\d{1,3}[.)])[ \t])"
    r"|[:：](?=[ \t]+1[.)][ \t]+[^\W\d])"
)

# Enough text before a stop to see its word and, for a list marker, the start of its line.
_LOOK_BACK: Final = 24

ELLIPSIS: Final = "…"


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; blank lines, list items and what announces a list in a row also end one."""
    ends = sentence_ends(text)
    return [sentence for begin, end in zip([0, *ends], ends, strict=False) if (sentence := text[begin:end].strip())]


def sentence_ends(text: str) -> list[int]:
    """Where each sentence ends, the end of the text last."""
    ends = [end.end() for end in _END.finditer(text) if not (end["stop"] == "." and _continues(text, end.start()))]
    return ends if ends and ends[-1] == len(text) else [*ends, len(text)]


def first_sentence(text: str, limit: int) -> str:
    """The first sentence on one line, cut at a word with an ellipsis where it exceeds `limit`."""
    if limit <= 0:
        return ""
    # Only the head can matter, and a document may be long.
    head = text.lstrip()[: 4 * limit + 256]
    return cut_at_word(" ".join("".join(sentences(head)[:1]).split()).rstrip(":："), limit)


def cut_at_word(line: str, limit: int) -> str:
    """At most `limit` characters, the ellipsis included."""
    if len(line) <= limit:
        return line
    if limit <= len(ELLIPSIS):
        return ELLIPSIS[: max(limit, 0)]
    room = limit - len(ELLIPSIS)
    cut = line[:room]
    if not line[room].isspace():
        boundary = cut.rfind(" ")
        # Without a space in the second half the text has no words to respect (a path, Chinese).
        cut = cut[:boundary] if boundary >= room // 2 else cut
    return cut.rstrip(" ,;:-") + ELLIPSIS


def _continues(text: str, stop: int) -> bool:
    before = text[max(0, stop - _LOOK_BACK) : stop]
    if _LIST_MARKER.search(before):
        return True
    word = _LAST_WORD.search(before)
    last = word.group() if word is not None else ""
    return last.lower() in _ABBREVIATIONS or (len(last.lower()) == 1 and last.isalpha() and last.isupper())
