"""Two recorded recalls beside each other: what entered, left and moved, each with its cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from recollect.model.ids import ID_LENGTH
from recollect.web.answering import Page
from recollect.web.visits import Visit
from recollect.xray.diff import diff

_ID = re.compile(rf"\b[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}\b")


def compare(visit: Visit) -> Page:
    engine, namespace = visit.engine, visit.namespace
    kept = engine.recorded_recalls(namespace=namespace)
    before, after = visit.given.get("before", "").strip(), visit.given.get("after", "").strip()
    shown: dict[str, object] = {"kept": kept, "before": before, "after": after, "found": None}
    if before and after:
        old, _ = engine.recorded(before, namespace=namespace)
        new, _ = engine.recorded(after, namespace=namespace)
        found = diff(old, new)
        said = " ".join(str(change.sentence) for change in found.changes)
        memories = engine.memories_of(_ID.findall(said), namespace=namespace)
        shown |= {
            "found": found,
            "old": old.query,
            "new": new.query,
            "memories": memories,
            "said": _said(memories),
        }
    return Page("diff.html", shown)


def _said(memories: Mapping[str, object]) -> object:
    """A sentence in pieces: words, and ids that lead to a memory."""

    def pieces(sentence: str) -> Iterator[tuple[str, str | None]]:
        at = 0
        for match in _ID.finditer(sentence):
            yield sentence[at : match.start()], None
            yield match.group(), match.group() if match.group() in memories else None
            at = match.end()
        yield sentence[at:], None

    return pieces
