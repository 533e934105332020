"""Citations as people and agents read them, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from recallens.model.citation import (
    Citation,
    CitationCheck,
    CommitCitation,
    FileCitation,
    LogCitation,
    SymbolCitation,
    TerminalCitation,
    citation_to_json,
)
from recallens.render.formats import visible


def cited(citation: Citation) -> str:
    """A citation as it would be typed after --cite, without its kind where that is plain."""
    match citation:
        case CommitCitation():
            return visible(f"commit {citation.hash}")
        case FileCitation():
            lines = "" if citation.start_line is None else f":{citation.start_line}"
            return visible(citation.path + lines + ("" if citation.end_line is None else f"-{citation.end_line}"))
        case SymbolCitation():
            return visible(f"{citation.name} in {citation.file}")
        case TerminalCitation():
            return visible(f"terminal snapshot {citation.id}")
        case LogCitation():
            return visible(f"log {citation.pointer}")
        case _:
            assert_never(citation)


def cites(citations: Sequence[Citation], most: int) -> str:
    """The first few, and how many more there are."""
    shown = [cited(citation) for citation in citations[:most]]
    rest = len(citations) - len(shown)
    return f"cites {', '.join(shown)}" + (f" +{rest}" if rest else "")


def check_record(check: CitationCheck) -> dict[str, Any]:
    return {
        "id": check.memory,
        "checkedAt": check.at,
        "verdict": check.standing,
        "citations": [
            {"citation": citation_to_json(each.citation), "verdict": each.standing}
            | ({"reason": each.reason} if each.reason else {})
            for each in check.checked
        ],
    }
