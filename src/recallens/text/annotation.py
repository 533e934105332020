"""What a text names: entities, paths, symbols, commits, error codes, dates and tags, read by rule alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import cache
from typing import Final

from recallens.model.memory import Annotations
from recallens.text.languages import PACKS, alternatives, each
from recallens.text.normalize import MAX_TAG, MAX_TAGS, tag_name
from recallens.text.stopwords import query_stopwords
from recallens.text.tokenizer import tokenize

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
_CAMEL_SYMBOL: Final = re.compile(r"(?<![\w./\\@$-])(?:[a-z]++|[A-Z]+[a-z0-9]++)(?:[A-Z]+[a-z0-9]*+)+(?![\w/\\])")
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

# Names in prose, by their spelling. A missed name costs one link, a wrong one links what has nothing in common.
MOST_ENTITIES: Final = 32
# A name of more words is a heading in title case.
_MOST_WORDS: Final = 5

_WORD: Final = r"[A-Z][A-Za-z0-9À-ɏ]*+(?:['’&-][A-Za-zÀ-ɏ0-9]++){0,2}"
_NAME: Final = re.compile(
    rf"(?<![\w.@#/'’-]){_WORD}(?:[ ](?:(?:{alternatives(lambda pack: pack.names.joints)})[ ])?{_WORD})+"
)
_CAMEL_NAME: Final = re.compile(r"(?<![\w./\\@#-])(?:[A-Z][a-z0-9]++|[a-z])(?:[A-Z]+[a-z0-9]*+)+(?![\w(/\\]|\.\w)")
# No name in camel case is without one.
_HUMP: Final = re.compile(r"[a-z0-9][A-Z]")
_HANDLE: Final = re.compile(r"(?<![\w.@/])@[A-Za-z0-9_][\w-]{1,38}(?![\w/.-])")
_QUOTED: Final = re.compile(r"[\"“「『]([^\"“”「」『』\n]{2,48})[\"”」』]")
_QUOTED_NAME: Final = re.compile(alternatives(lambda pack: pack.names.quoted))
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;…。]['\"”’)]*\s+|\n\s*|[-*•>]\s+|[\"“(\[])$")
# Enough before a match to see whether a sentence starts there.
_LOOK_BACK: Final = 8

_ARTICLES: Final = frozenset(word for pack in PACKS for word in pack.names.articles)
_POSSESSIVES: Final = tuple(ending for pack in PACKS for ending in pack.names.possessives)

# What counts as a file path in running text: prose is full of slashes (and/or, 24/7) and dots (Node.js).
_EXTENSIONS: Final = """
py pyi ipynb js jsx ts tsx mjs cjs vue svelte java kt kts scala go rs rb php c h cc cpp cxx hpp hh cs fs
swift m mm sh bash zsh fish ps1 bat cmd sql graphql proto html htm css scss sass less xml svg json jsonl
json5 yaml yml toml ini cfg conf env lock md mdx rst txt tex pdf csv tsv parquet log diff patch png jpg
jpeg gif webp ico mp3 mp4 wav zip tar gz tgz whl jar exe dll so db sqlite sqlite3 r jl lua pl ex exs erl
hs clj dart tf tfvars gradle cmake hwp docx xlsx pptx doc xls ppt bak tmp pem crt key service wasm onnx
npz npy pkl safetensors
"""
EXTENSIONS: Final = frozenset(_EXTENSIONS.split())
DOMAINS: Final = frozenset(("com", "org", "net", "io", "dev", "ai", "co", "kr", "app", "gov", "edu", "uk", "me"))
# Products that are named like a file.
_PRODUCT: Final = re.compile(r"(?:node|vue|next|nuxt|react|express|three|d3|chart|ember|backbone|nest)\.js", re.I)
_ROOT_NAMES: Final = """
src lib libs test tests docs doc app apps bin etc usr var opt home tmp packages pkg cmd internal scripts
config components node_modules dist build include public static assets examples migrations tools vendor
"""
_ROOTS: Final = frozenset(_ROOT_NAMES.split())

PATH_CHARACTER: Final = r"[\w.@+~\-/\\]"
_DRIVE: Final = r"(?:[A-Za-z]:(?=\\))?"
_SLASHED: Final = re.compile(rf"(?<![\w.@+~\-/\\:]){_DRIVE}[\w.@+~-]*+[/\\]{PATH_CHARACTER}*+")
_DOTTED_FILE: Final = re.compile(r"(?<![\w.@+~\-/\\])[\w-]*+(?:\.[\w-]++)+(?![\w/\\@])")
_EXTENSION: Final = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,9})\Z")
_CODE_LIKE: Final = re.compile(r"[a-z0-9]_[a-z0-9]|\d[a-z]|[a-z]\d|[a-z][A-Z]|\.")

_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_ISO_DATE: Final = re.compile(
    r"(?<![\w.\-/])(?P<year>(?:19|20)\d\d)(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?"
    r"(?![\d\-/]|\.\d|[A-SU-Za-z_])"
)
_MONTHS: Final = {name: number for pack in PACKS for name, number in pack.times.months.items()}


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


def _distinct(names: list[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for _, name in sorted(names)))[:MOST_OF_A_SORT]


def _matches(pattern: re.Pattern[str], text: str, sign: object = True) -> list[tuple[int, str]]:
    """Where each match starts, and the match, which is its group if it has one; none where there is no sign of any."""
    if not sign:
        return []
    group = 1 if pattern.groups else 0
    return [(match.start(group), match[group]) for match in pattern.finditer(text)]


def _symbols(text: str, taken: set[str]) -> tuple[str, ...]:
    symbols = _matches(_CALL, text, "()" in text) + _matches(_SNAKE, text, "_" in text)
    symbols += _matches(_CAMEL_SYMBOL, text, _HUMP.search(text))
    symbols += [(at, name) for at, name in _matches(_DOTTED, text, "." in text) if _is_dotted_name(name)]
    if "`" in text:
        symbols += [(at, name.removesuffix("()")) for at, name in _matches(_BACKTICKED, text)]
        symbols = [(at, name) for at, name in symbols if _IDENTIFIER.fullmatch(name)]
    return _distinct([(at, name) for at, name in symbols if name not in taken and not _PLAIN_ACRONYM.fullmatch(name)])


def _is_dotted_name(name: str) -> bool:
    """Not a file, a host, or two sentences without the space between them."""
    parts = name.split(".")
    is_address = parts[-1].lower() in EXTENSIONS or parts[-1].lower() in DOMAINS
    return not is_address and not (len(parts) == 2 and parts[0].islower() and parts[1].istitle())


def _commits(text: str) -> tuple[str, ...]:
    # Letters alone are a word, digits alone a number, unless the word `commit` stands before them.
    commits = [(at, c) for at, c in _matches(_COMMIT, text, _DIGIT.search(text)) if not c.isdigit() and not c.isalpha()]
    named = _matches(_NAMED_COMMIT, text, "ommit" in text or "OMMIT" in text)
    return _distinct(commits + [(at, commit.lower()) for at, commit in named])


def _errors(text: str) -> list[tuple[int, str]]:
    errors = _matches(_ERROR, text, _ERROR_SIGN.search(text))
    if _DIGITS.search(text) is None:
        return errors
    errors += [(match.start(), f"HTTP {match[1]}") for match in _HTTP.finditer(text)]
    errors += [(match.start(), f"SQLSTATE {match[1].upper()}") for match in _SQLSTATE.finditer(text)]
    return errors


def _tags(prose: str, tags: Iterable[str]) -> tuple[str, ...]:
    names = [tag_name(tag) for tag in tags]
    if "#" in prose:
        names += [tag for tag in _HASHTAG.findall(prose) if not _COLOUR.fullmatch(tag) and tag not in _DIRECTIVES]
    kept = dict.fromkeys(name for name in names if 0 < len(name) <= MAX_TAG)
    return tuple(kept)[:MAX_TAGS]


def entities(prose: str) -> tuple[str, ...]:
    """The distinct names in text order."""
    names = _matches(_CAMEL_NAME, prose, _HUMP.search(prose)) + _matches(_HANDLE, prose, "@" in prose)
    names += [named for match in _NAME.finditer(prose) if (named := _name(prose, match))]
    names += [(at, quoted.strip()) for at, quoted in _matches(_QUOTED, prose) if _is_quoted_name(quoted.strip())]
    return tuple(dict.fromkeys(name for _, name in sorted(names)))[:MOST_ENTITIES]


def _name(prose: str, match: re.Match[str]) -> tuple[int, str] | None:
    """Two words or more, less a first word that is only capitalised because it opens the sentence."""
    words = match.group().split(" ")
    at = match.start()
    opens = at == 0 or _SENTENCE_START.search(prose[max(0, at - _LOOK_BACK) : at]) is not None
    first = 1 if opens and _is_opener(words[0]) else 0
    while first < len(words) and words[first] in _ARTICLES:
        first += 1
    at += sum(len(word) + 1 for word in words[:first])
    words = words[first:]
    is_shouted = all(word.isupper() for word in words)
    if not 2 <= len(words) <= _MOST_WORDS or is_shouted:
        return None
    name = " ".join(words)
    return at, next((name.removesuffix(ending) for ending in _POSSESSIVES if name.endswith(ending)), name)


@cache
def _openers() -> frozenset[str]:
    """Words that are capitalised because they open a sentence, not because they are part of a name."""
    return query_stopwords().union(*(tokenize(words) for words in each(lambda pack: pack.names.openers)))


def _is_opener(word: str) -> bool:
    return all(token in _openers() for token in tokenize(word))


def _is_quoted_name(text: str) -> bool:
    """Every word capitalised, or what a language without capitals takes for a name."""
    words = text.split()
    if not 1 <= len(words) <= _MOST_WORDS:
        return False
    if all(word[0].isupper() for word in words):
        return text[-1].isalnum() and not _is_opener(words[0])
    return _QUOTED_NAME.fullmatch(text) is not None


def file_paths(text: str) -> list[tuple[int, str]]:
    """Where each path starts, and the path."""
    slashed = _matches(_SLASHED, text, "/" in text or "\\" in text)
    paths = [(at, path.rstrip(".-")) for at, path in slashed if is_path(path.rstrip(".-"))]
    return paths + [(at, name) for at, name in _matches(_DOTTED_FILE, text, "." in text) if is_bare_file(name)]


def is_file(path: str) -> bool:
    """Clearly a file: an extension, and a slash or an extension that is known."""
    if "/" in path or "\\" in path:
        return is_path(path) and _EXTENSION.search(path) is not None
    return is_bare_file(path)


def is_bare_file(name: str) -> bool:
    extension = _EXTENSION.search(name)
    return extension is not None and extension[1].lower() in EXTENSIONS and _PRODUCT.fullmatch(name) is None


def is_path(path: str) -> bool:
    """A path with a slash: it has an extension, is rooted (/etc/hosts, ./x, ~/x, C:\\x), or is code-like."""
    parts = [part for part in re.split(r"[/\\]", path) if part]
    if not parts or not any(character.isalpha() for character in path):
        return False
    host, _, domain = parts[0].rpartition(".")
    if host and domain.lower() in DOMAINS:
        return False
    if path.startswith(("./", "../", "~/", ".\\", "..\\")) or path[1:3] == ":\\":
        return True
    if path.startswith("/"):
        return len(parts) >= 2
    if len(parts) < 2:
        return path.endswith("/") and parts[0] in _ROOTS
    extension = _EXTENSION.search(path)
    if extension and (extension[1].lower() in EXTENSIONS or len(parts) >= 3):
        return True
    return parts[0] in _ROOTS or (len(parts) >= 3 and _CODE_LIKE.search(path) is not None)


def iso_dates(text: str) -> list[str]:
    """Distinct dates in text order; impossible ones (2024-02-30) are left out."""
    if _YEAR.search(text) is None:
        return []
    dates: dict[int, str] = {}
    for pattern in (*_spelled_dates(), _ISO_DATE):
        for match in pattern.finditer(text):
            spelled = _iso(match)
            # 3 March 2024 is also a month and a year; the fuller reading, found first, keeps its end.
            if spelled and match.end() not in dates:
                dates[match.end()] = spelled
    return list(dict.fromkeys(dates[end] for end in sorted(dates)))


@cache
def _spelled_dates() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pack in PACKS for pattern in pack.times.dates)


def _iso(match: re.Match[str]) -> str | None:
    groups = match.groupdict()
    # 2024.3 is a version as often as a month, 2024/3 a fraction of a path, and 2024-3 without its zero a range.
    if groups["day"] is None and "mark" in groups and (groups["mark"] != "-" or len(groups["month"]) != 2):
        return None
    name = groups["month"].rstrip(".").lower()
    month = _MONTHS[name] if name in _MONTHS else int(name)
    try:
        day = date(int(groups["year"]), month, int(groups["day"] or 1))
    except ValueError:
        return None
    return day.isoformat() if groups["day"] else day.isoformat()[:7]
