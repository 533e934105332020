"""What a text names: entities, paths, symbols, commits, error codes, dates and tags, read by rule alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from recallens.ingest.dates import iso_dates
from recallens.ingest.entities import HUMP, entities
from recallens.ingest.paths import DOMAINS, EXTENSIONS, file_paths
from recallens.ingest.validate import MAX_TAG, MAX_TAGS, tag_name
from recallens.model.memory import Annotations

if TYPE_CHECKING:
    from collections.abc import Iterable

# A longer text is a log; what it is about stands in its first pages.
ANNOTATED_CHARACTERS: Final = 200_000

# Beyond this many of one sort, a text is a listing, and no name in it says what it is about.
MOST_OF_A_SORT: Final = 128

_URL: Final = re.compile(r"(?<!\w)[A-Za-z][A-Za-z0-9+.-]{1,15}://\S+")
_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+")
_CODE: Final = re.compile(r"```[^`]*+(?:```)?|`[^`\n]*+`")
_BACKTICKED: Final = re.compile(r"(?<!`)`([^`\n]{2,120})`(?!`)")

_CALL: Final = re.compile(r"(?<![\w.])([A-Za-z_][\w]*+(?:(?:\.|::)[A-Za-z_]\w*+){0,8})\(\)")
_SNAKE: Final = re.compile(r"(?<![\w./\\@$-])_{0,2}[A-Za-z][A-Za-z0-9]*+(?:_+[A-Za-z0-9]++)+_{0,2}(?![\w/\\])")
_CAMEL: Final = re.compile(r"(?<![\w./\\@$-])(?:[a-z]++|[A-Z]+[a-z0-9]++)(?:[A-Z]+[a-z0-9]*+)+(?![\w/\\])")
_DOTTED: Final = re.compile(r"(?<![\w./\\@$-])[A-Za-z_]\w++(?:\.[A-Za-z_]\w++)+(?![\w/\\@])")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$@][\w$]*+(?:(?:\.|::|#|->)[A-Za-z_]\w*+)*")
_PLAIN_ACRONYM: Final = re.compile(r"[A-Z]{2,}s?")

_COMMIT: Final = re.compile(r"(?<![\w#./\\-])[0-9a-f]{7,40}(?![\w-])")
_NAMED_COMMIT: Final = re.compile(r"\bcommit[ :]{1,2}([0-9a-f]{7,40})(?!\w)", re.IGNORECASE)

_ERROR: Final = re.compile(
    r"(?<![\w-])(?:"
    r"CVE-\d{4}-\d{4,7}"
    r"|ERR_[A-Z0-9_]{2,64}|[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){0,4}_(?:ERR|ERROR|EXCEPTION)"
    r"|E\d{3,6}|(?:TS|CS|NU|NG|SC|BC|FS)\d{4}|(?:LNK|MSB)\d{4}|PGRST\d{3}|ORA-\d{4,5}"
    r"|E(?:CONN(?:REFUSED|RESET|ABORTED)|NOENT|ACCES|PERM|EXIST|ADDRINUSE|ADDRNOTAVAIL|TIMEDOUT|PIPE|NOTFOUND"
    r"|MFILE|NOSPC|NOMEM|ISDIR|NOTDIR|NOTEMPTY|AGAIN|INVAL|HOSTUNREACH|NETUNREACH|RESOLVE|INTEGRITY|BUSY|ROFS)"
    r"|E-[A-Z]{2,12}-\d{2,6}"
    r"|EAI_AGAIN|SIG(?:SEGV|KILL|ABRT|BUS|ILL|FPE)|0x8[0-9A-Fa-f]{7}"
    r"|[A-Z][A-Za-z0-9]{1,60}(?:Error|Exception)"
    r")(?![\w-])"
)
# One look that rules most texts out: every error but these is in capitals, or has digits.
_ERROR_SIGN: Final = re.compile(r"[A-Z][A-Z0-9-]|0x8|Error|Exception")
_DIGIT: Final = re.compile(r"\d")
_DIGITS: Final = re.compile(r"\d\d\d")
_HTTP: Final = re.compile(r"\b(?:HTTP(?:/[\d.]{1,3})?|status(?: code)?)[ :]{1,2}([1-5]\d\d)\b", re.IGNORECASE)
_SQLSTATE: Final = re.compile(r"\bSQLSTATE[ :=]{0,3}\[?([0-9A-Z]{5})\b", re.IGNORECASE)

_HASHTAG: Final = re.compile(r"(?<![\w&#/.=])#([^\W\d_][\w-]*+)")
_COLOUR: Final = re.compile(r"(?=.*\d)[0-9a-fA-F]{3,8}|([0-9a-fA-F])\1+")
_DIRECTIVES: Final = frozenset(("include", "define", "ifdef", "ifndef", "endif", "pragma", "undef", "region"))


def annotate(text: str, tags: Iterable[str] = ()) -> Annotations:
    """Every sort in text order, without repeats."""
    head = text[:ANNOTATED_CHARACTERS]
    plain = _without(_EMAIL, _without(_URL, head, "://"), "@")
    prose = _without(_CODE, plain, "`")
    paths = file_paths(plain)
    errors = _errors(plain)
    return Annotations(
        entities=entities(_ERROR.sub(", ", prose) if errors else prose),
        paths=_distinct(paths),
        symbols=_symbols(plain, {path for _, path in paths} | {error for _, error in errors}),
        commits=_commits(plain),
        errors=_distinct(errors),
        dates=tuple(iso_dates(head)[:MOST_OF_A_SORT]),
        tags=_tags(prose, tags),
    )


def _without(pattern: re.Pattern[str], text: str, sign: str) -> str:
    """The text without the matches, which are only looked for where their sign occurs.

    A comma takes their place, lest the words around one read as a name of two words.
    """
    return pattern.sub(", ", text) if sign in text else text


def _distinct(found: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for _, name in sorted(found)))[:MOST_OF_A_SORT]


def _symbols(text: str, taken: set[str]) -> tuple[str, ...]:
    found = [(match.start(1), match[1]) for match in _CALL.finditer(text)] if "()" in text else []
    if "_" in text:
        found += [(match.start(), match.group()) for match in _SNAKE.finditer(text)]
    if HUMP.search(text):
        found += [(match.start(), match.group()) for match in _CAMEL.finditer(text)]
    if "." in text:
        found += [(match.start(), match.group()) for match in _DOTTED.finditer(text) if _is_dotted_name(match.group())]
    if "`" in text:
        found += [(match.start(1), match[1].removesuffix("()")) for match in _BACKTICKED.finditer(text)]
        found = [(at, name) for at, name in found if _IDENTIFIER.fullmatch(name)]
    return _distinct([(at, name) for at, name in found if name not in taken and not _PLAIN_ACRONYM.fullmatch(name)])


def _is_dotted_name(name: str) -> bool:
    """Not a file, a host, or two sentences without the space between them."""
    parts = name.split(".")
    if parts[-1].lower() in EXTENSIONS or parts[-1].lower() in DOMAINS:
        return False
    return not (len(parts) == 2 and parts[0].islower() and parts[1].istitle())


def _commits(text: str) -> tuple[str, ...]:
    if _DIGIT.search(text) is None and "ommit" not in text and "OMMIT" not in text:
        return ()
    found = [
        (match.start(), match.group())
        for match in _COMMIT.finditer(text)
        if not match.group().isdigit() and not match.group().isalpha()
    ]
    if "ommit" in text or "OMMIT" in text:
        found += [(match.start(1), match[1].lower()) for match in _NAMED_COMMIT.finditer(text)]
    return _distinct(found)


def _errors(text: str) -> list[tuple[int, str]]:
    found = [(match.start(), match.group()) for match in _ERROR.finditer(text)] if _ERROR_SIGN.search(text) else []
    if _DIGITS.search(text) is None:
        return found
    found += [(match.start(), f"HTTP {match[1]}") for match in _HTTP.finditer(text)]
    found += [(match.start(), f"SQLSTATE {match[1].upper()}") for match in _SQLSTATE.finditer(text)]
    return found


def _tags(prose: str, given: Iterable[str]) -> tuple[str, ...]:
    names = [tag_name(tag) for tag in given]
    if "#" in prose:
        names += [tag for tag in _HASHTAG.findall(prose) if not _COLOUR.fullmatch(tag) and tag not in _DIRECTIVES]
    kept = dict.fromkeys(name for name in names if 0 < len(name) <= MAX_TAG)
    return tuple(kept)[:MAX_TAGS]
