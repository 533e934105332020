"""Two recorded recalls beside each other: what entered, left and moved, each with its cause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from recallens.model.memory import ID_LENGTH
from recallens.model.recall import RecordedRecall
from recallens.web.answering import Page
from recallens.web.visits import Visit
from recallens.xray.diff import diff

_ID = re.compile(rf"\b[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}\b")


def compare(visit: Visit) -> Page:
    engine, namespace = visit.engine, visit.namespace
    kept = engine.recalls.recent(namespace=namespace, owner=visit.caller.owner)
    before, after = visit.given.get("before", "").strip(), visit.given.get("after", "").strip()
    shown: dict[str, object] = {"kept": kept, "before": before, "after": after, "found": None}
    if not after and not before and len(kept) > 1:
        shown |= {"before": _earlier(kept).id, "after": kept[0].id}
    if before and after:
        old, _ = visit.recorded(before)
        new, _ = visit.recorded(after)
        found = diff(old, new)
        said = " ".join(str(change.sentence) for change in found.changes)
        memories = engine.memories.many(_ID.findall(said), namespace=namespace)
        shown |= {
            "found": found,
            "old": old.query,
            "new": new.query,
            "memories": memories,
            "said": _said(memories),
        }
    return Page("diff.html", shown)


def _earlier(kept: Sequence[RecordedRecall]) -> RecordedRecall:
    """What the latest is best compared with: the one before it that asked the same, else the one before it."""
    latest, *others = kept
    return next((one for one in others if one.query == latest.query), others[0])


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
