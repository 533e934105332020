"""The X-ray as JSON, in the specified envelope and with its field names: each leaf of the walk where its path says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from recallens.render.records import to_text
from recallens.render.tree import XrayDocument


def write(document: XrayDocument) -> str:
    return to_text(record(document))


def record(document: XrayDocument) -> dict[str, Any]:
    """The envelope as a plain value, for surfaces that write JSON themselves."""
    if not document.sections:
        return {"snapshotFound": False}
    # A reader decides by the version how to read the rest, so it comes first.
    snapshot: dict[str, Any] = {"schemaVersion": None}
    for field in document.fields():
        at: Any = snapshot
        for step, after in pairwise(field.path):
            at = _placed(at, step, [] if isinstance(after, int) else {})
        if isinstance(at, dict):
            at[field.path[-1]] = field.value
        else:
            at.append(field.value)
    return {"snapshotFound": True, "snapshot": snapshot}


def _placed(at: Any, step: Any, fresh: Any) -> Any:
    """What stands at this step; where nothing does yet, the fresh value. The walk fills lists in order."""
    if isinstance(at, dict):
        return at.setdefault(step, fresh)
    if step == len(at):
        at.append(fresh)
    return at[step]
