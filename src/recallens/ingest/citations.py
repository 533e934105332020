"""Citations as they stand in text and on the command line."""

from __future__ import annotations

import re
from typing import Any, Final

from recallens.errors import InvalidInput, UnknownOption
from recallens.model import citation as model
from recallens.model.citation import CITATION_FIELDS, Citation, FileCitation, citation_from_json
from recallens.text.annotation import PATH_CHARACTER, is_file

CITATION_FORMS: Final = (
    "commit:HASH, file:PATH[:START[-END]] or file:PATH#L1-L9, symbol:NAME@FILE, terminal_snapshot:ID or log:POINTER"
)

# A file has an extension: a word without a dot inside it, as nearly all are, is passed over with its line numbers.
_LOCATED: Final = re.compile(
    rf"(?<!{PATH_CHARACTER})(?<!{PATH_CHARACTER}:(?=\d))(?<!{PATH_CHARACTER}#(?=L\d))"
    rf"(?P<path>(?:[A-Za-z]:(?=\\))?(?=[\w@+~\-/\\]*+\.{PATH_CHARACTER}){PATH_CHARACTER}++)"
    r"(?:#L(?P<anchor>\d{1,9})(?:-L?(?P<anchor_end>\d{1,9}))?|:(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?)?"
)
_COMMIT: Final = re.compile(r"\bcommit[ :]{1,2}(?P<hash>[0-9a-f]{7,40})(?![0-9A-Za-z])", re.IGNORECASE)
_BRACKETED: Final = re.compile(
    r"\[(?P<kind>symbol|log|terminal(?:_snapshot)?):[ \t]*(?P<value>[^\[\]\n]{1,512})\]", re.IGNORECASE
)
_URL: Final = re.compile(r"(?<!\w)[A-Za-z][A-Za-z0-9+.-]{1,15}://\S+")
_LINES: Final = re.compile(r"(?P<path>.+?)(?:(?::|#L)(?P<start>\d{1,9})(?:-L?(?P<end>\d{1,9}))?)?", re.DOTALL)


def parse_citations(text: str) -> tuple[Citation, ...]:
    """The distinct citations that a text names, in text order."""
    cited = [(match.start(), citation) for match in _BRACKETED.finditer(text) if (citation := _bracketed(match))]
    cited += [(match.start(), model.CommitCitation(match["hash"].lower())) for match in _COMMIT.finditer(text)]
    # What the first pass read is blanked, so that the file inside a bracket or a URL is not cited again.
    rest = _URL.sub(_blank, _BRACKETED.sub(_blank, text))
    cited += [(match.start(), file) for match in _LOCATED.finditer(rest) if (file := _located(match))]
    return tuple(dict.fromkeys(citation for _, citation in sorted(cited, key=lambda pair: pair[0])))


def parse_citation(text: str) -> Citation:
    """One citation as typed on the command line."""
    kind, colon, value = text.strip().partition(":")
    kind, value = kind.strip().lower(), value.strip()
    if kind not in CITATION_FIELDS and (bare := _LOCATED.fullmatch(text.strip())) and (cited := _located(bare)):
        return cited  # a path says by itself that it is a file
    if kind not in CITATION_FIELDS:
        raise UnknownOption("citation kind", kind if colon else text, CITATION_FIELDS)
    if not value:
        raise InvalidInput(f"the citation {text!r} is empty after its kind; use {CITATION_FORMS}")
    if kind == "symbol":
        name, at, file = value.rpartition("@")
        if not (at and name and file):
            raise InvalidInput(f"the citation {text!r} names no file; use symbol:NAME@FILE")
        return model.SymbolCitation(id=value, name=name, file=file)
    if kind == "file":
        located = _LINES.fullmatch(value)
        fields: dict[str, Any] = {"path": located["path"] if located else value}
        if located and located["start"]:
            fields["startLine"] = int(located["start"])
            fields["endLine"] = int(located["end"]) if located["end"] else None
        return citation_from_json({"kind": kind, **fields})
    return citation_from_json({"kind": kind, CITATION_FIELDS[kind]: value})


def _bracketed(match: re.Match[str]) -> Citation | None:
    kind, value = match["kind"].lower(), match["value"].strip()
    if kind == "symbol":
        name, _, file = value.rpartition("@")
        return model.SymbolCitation(value, name, file) if name and file else None
    if not value:
        return None
    return model.LogCitation(value) if kind == "log" else model.TerminalCitation(value)


def _located(match: re.Match[str]) -> FileCitation | None:
    """A file with lines; without them it also needs a slash, since a bare name is a mention."""
    start = match["anchor"] or match["start"]
    path = match["path"].rstrip(".-")
    if not is_file(path):
        return None
    if start is None:
        return FileCitation(path) if "/" in path or "\\" in path else None
    if int(start) < 1:
        return FileCitation(path)
    end = match["anchor_end"] or match["end"]
    last = int(end) if end and int(end) >= int(start) else None
    return FileCitation(path, int(start), last)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())
