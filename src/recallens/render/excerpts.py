"""What matched, as people read it: in words, and as an excerpt with the words that were asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from recallens.model.recall import MatchType
from recallens.text.snippet import END_MARK, MARK

MATCHED: Final[Mapping[MatchType, str]] = {
    MatchType.BOTH: "matched by words and meaning",
    MatchType.KEYWORD: "matched by words",
    MatchType.SEMANTIC: "matched by meaning",
}

_MARKED: Final = re.compile(f"{re.escape(MARK)}(.*?){re.escape(END_MARK)}", re.DOTALL)


def marked(excerpt: str) -> Iterator[tuple[str, bool]]:
    """An excerpt in pieces, and whether each was asked for. The marks themselves are gone."""
    at = 0
    for match in _MARKED.finditer(excerpt):
        yield excerpt[at : match.start()], False
        yield match.group(1), True
        at = match.end()
    yield excerpt[at:], False
