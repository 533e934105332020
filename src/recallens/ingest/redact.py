"""Secrets are taken out before a text is stored; what stays says which kind stood there.

Providers' formats are gitleaks' rules, as data (`bench/secret_rules.py` makes them). Ours are those that its rules lack
or bind to more than the token itself: assignments in every language, connection strings, headers, private keys, and
random values. What only the words around a value give away is left to `prose_secrets`.

Text between earlier marks is read on its own, so nothing is taken out twice: redact(redact(x)) = redact(x).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, Final

from recallens.ingest import laid_out_secrets, prose_secrets
from recallens.ingest.secret_formats import compiled, formats_signed
from recallens.ingest.secret_values import (
    DIGIT,
    KNOWN_NAME,
    LONGEST_LOOK,
    LONGEST_PASSWORD,
    MOST_WORDS,
    NAME_AND_NUMBER,
    NAMED_ENTROPY,
    SNAKE_AND_NUMBER,
    STRONG_SIGN,
    entropy,
    is_card_number,
    is_entropic,
    is_placeholder,
    is_secret_value,
    is_strong,
)
from recallens.text.languages import PACKS, alternatives, each
from recallens.text.normalize import clean
from recallens.text.sieve import Sieve

_MARK: Final = re.compile(r"(\[REDACTED:[a-z0-9-]{1,60}\])")

# A replacement can uncover another secret beside it. Each round shortens what is left, and a text that needs
# more rounds than this was made to need them.
MOST_ROUNDS: Final = 8
HIDDEN: Final = "\ue000"
# Values of attributes up to this length are looked at once for all rows that have them.
SHORT: Final = 200

_PEM_BEGIN: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY: Final = re.compile(r"(?:[^-]++|-(?!----))*")
_PEM_END: Final = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_LINES: Final = re.compile(r"(?:(?:\s|\\n){1,4}[A-Za-z0-9+/=]{32,128}+)+")

_AUTHORIZATION: Final = re.compile(
    r"(?P<keep>\b(?:Authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:Bearer|Basic|Token)|Bearer)\s{1,4})"
    r"(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)",
    re.IGNORECASE,
)
_CONNECTION: Final = re.compile(
    r"(?P<keep>(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s:/@\"'<>]{0,128}+:)"
    r"(?P<secret>[^\s/\"'<>]{1,256})(?=@[\w.\[-])"
)
_AWS_SECRET: Final = re.compile(
    r"(?P<keep>(?:aws|AWS).{0,16}?(?:ecret|ECRET).{0,16}?[\"']?\s{0,4}[:=]\s{0,4}[\"']?)"
    r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)

# In groups as a card shows them, behind no other number; without groups only where a card is named. A date or a code
# may follow the groups, as well as a last one of three digits.
_CARD_GROUPS: Final = re.compile(
    r"(?<![A-Za-z0-9_.-])(?<!\d )(?P<secret>(?P<most>\d{4}(?:(?P<sign>[ \xa0-])\d{4}(?:(?P=sign)\d{4}){2}"
    r"|(?P<other>[ \xa0-])\d{6}(?P=other)\d{4,5}))(?:[ \xa0-]\d{3})?)(?![A-Za-z0-9_]| \d{4}(?!\d)|-[A-Za-z0-9]|\.\d)"
)
_CARD_NAMED: Final = re.compile(
    rf"(?:{alternatives(lambda pack: pack.secrets.cards)})[^\d\n]{{0,24}}(?P<secret>\d{{13,19}})(?![A-Za-z0-9_])"
)

# The names are searched in lower-cased text: ignoring case in the pattern itself is five times slower.
_PASSWORD_NAMES: Final = alternatives(lambda pack: pack.secrets.passwords)
_KEY_NAMES: Final = alternatives(lambda pack: pack.secrets.keys)
_PARTICLE: Final = alternatives(lambda pack: pack.secrets.particles)
_ENDS: Final = alternatives(lambda pack: pack.secrets.ends)
# The word after a value joins it without a space where it has letters that no secret has.
_OWN_LETTERS: Final = "".join(pack.letters for pack in PACKS)
_ASSIGNMENT: Final = re.compile(
    rf"(?:(?P<password>{_PASSWORD_NAMES})|{_KEY_NAMES})(?P<suffix>(?:[_-][a-z0-9]{{1,16}}){{0,2}})(?:{_PARTICLE})?"
    r"[\"'`]?\s{0,8}(?::=|=>|[:=](?!=))\s{0,8}"
    r"(?:\"(?P<double>[^\"\n]{1,256})\"|'(?P<single>[^'\n]{1,256})'|`(?P<tick>[^`\n]{1,256})`"
    rf"|(?P<bare>[^\s\"'`,;<>(){{}}\[\]{_OWN_LETTERS}]{{1,128}}+)(?P<call>[(\[{{]?))"
)
_MAY_ASSIGN: Final = Sieve.of(f"{_PASSWORD_NAMES}|{_KEY_NAMES}")
_REST_OF_VALUE: Final = re.compile(rf"[^\s\"'`,;<>(){{}}\[\]{_OWN_LETTERS}]*+")
# "The password is …", "비밀번호는 … 입니다", "pw for the lab: …": what a text says of a secret. A sign of assignment
# may follow what the secret is for; a name with a verb or a particle may be followed by an aside.
_SENTENCE: Final = re.compile(
    rf"(?:(?P<phrase>{alternatives(lambda pack: pack.secrets.phrases)})|(?P<password>{_PASSWORD_NAMES})|{_KEY_NAMES})"
    r"(?:(?P<of>\s?\([^()\n]{1,40}\)|\s[^\s:=()\"'`-][^:=()\"'`,;\n]{0,48}?)?"
    rf"(?:{_PARTICLE})?\s{{0,3}}(?::|->|→)|\s{{0,3}}=|\s(?=[\"'`])"
    rf"|(?:{_PARTICLE}|\s{{1,3}}(?:{alternatives(lambda pack: pack.secrets.says)})(?:,[^,\n]{{1,40}},)?)(?=\s))"
    r"\s{0,3}(?:(?P<mark>[\"'`])(?P<quoted>[^\"'`\n]{4,64})(?P=mark)"
    rf"|(?P<code>\d{{4,12}})(?=[.,;]?(?:\Z|\n|\s(?!\w)|\s[{_OWN_LETTERS}]|[.,;]\s)|{_ENDS})"
    rf"|(?P<own>[{_OWN_LETTERS}]{{3,24}}[\d!@#$%^&*]{{1,8}})(?=\W|\Z|{_ENDS})"
    rf"|[“‘]?(?P<said>[^\s\"'`“”‘’,;<>(){{}}\[\]{_OWN_LETTERS}]{{6,2048}}+))"
)
_TOLD_GROUPS: Final = ("quoted", "code", "own", "said")
# What is told of passwords in general: a rule, a state, a page.
_GENERAL: Final = re.compile(alternatives(lambda pack: pack.secrets.general))
# A login tells a name and a password: `admin / …`, `admin:…`.
_PAIR: Final = re.compile(
    rf"(?:{alternatives(lambda pack: pack.secrets.logins)})[^\n/]{{0,24}}?(?<![\w.@-])[\w.@-]{{2,64}}+(?:\s?/\s|:)"
    r"(?P<said>[^\s\"'`,;/]{6,64})"
)
# Without spaces it looks like a path as well, but for a sign that stands in no path.
_TIGHT_PAIR: Final = re.compile(
    rf"(?:{alternatives(lambda pack: pack.secrets.logins)})[^\n/]{{0,24}}?(?<![\w.@:-])[\w.@-]{{2,64}}+/"
    rf"(?P<said>(?!@)[^\s\"'`,;/?={_OWN_LETTERS}]{{6,64}}+)(?!/)"
)
_PART_OF_PAGE: Final = re.compile(r"[a-z0-9.-]+#[a-z0-9-]+")
# Options that hand a password to a command; with a space, that of the MySQL client names the database instead.
_OPTION: Final = re.compile(
    r"(?P<keep>\b(?:(?:mysql|mariadb)\w*\s(?:[^\n|;]{0,80}?\s)?-p|(?:sshpass|redis-cli|docker login|ldap\w{3,8}"
    r"|smbclient|mongo\w{0,8}|az login)\s(?:[^\n|;]{0,80}?\s)?(?:-[paw]|--pass)[ =]?"
    r"|snmp(?:walk|get|set|bulk\w{3,4}|next|table|trap|test)\s(?:[^\n|;]{0,80}?\s)?-c ?(?!public|private)"
    r"|snmp-server community (?!public|private))[\"']?)"
    r"(?P<secret>(?<=[\"'])[^\"'\n]{4,64}|[^\s\"'-][^\s\"']{3,64})"
)
# "changed the password from … to …": one that was and one that is.
_CHANGED: Final = tuple(
    re.compile(rf"(?:{_PASSWORD_NAMES})[^\n:;.]{{0,32}}?(?:{pattern})")
    for pattern in each(lambda pack: pack.secrets.changes)
)
_KEPT_IN: Final = re.compile(alternatives(lambda pack: pack.secrets.kept_in))
# A look that rules most texts out: every such name has one of these.
_NAMED_IN_PROSE: Final = tuple(" ".join(each(lambda pack: pack.secrets.signs)).split())
# The shape of a connection string, told with the words for its parts.
_SHAPE: Final = re.compile(
    r"//(?:user(?:_?name)?|name|login|usr)?:(?:password|passwd|pass|secret)"
    r"@(?:host(?:_?name)?|server|address|ip|example\.\w+|(?:db|your|my)?[-_]?host)(?![\w-])",
    re.IGNORECASE,
)
_LOGIN: Final = re.compile(
    r"(?P<keep>\blogin\s{1,8}\S{1,128}\s{1,8}password\s{1,8}"  # netrc
    r"|(?<!\S)(?:-u|--user)(?:\s{1,4}|=)[\"']?[^\s:\"'/]{1,128}:(?!/))"  # curl
    r"(?P<secret>[^\s\"']{4,256}+)"
)
_VALUE_GROUPS: Final = ("double", "single", "tick", "bare")

# token_count and secret_name describe a secret; they do not hold it.
_DESCRIPTIVE: Final = frozenset((
    "name", "id", "type", "count", "length", "path", "file", "url", "ttl", "expiry", "policy", "limit", "hash", "field",
))  # fmt: skip

_VALUE: Final = re.compile(r"(?P<keep>[:=]\s{0,8}[\"'`]?)(?P<secret>[A-Za-z0-9+/_-]{32,}+={0,2})(?![A-Za-z0-9+/_-])")
# What a provider gives out is at least this long, and most texts hold no such run.
_RUN: Final = re.compile(r"[A-Za-z0-9_~.+/=|%-]{16}")
_QUERY_NAME: Final = re.compile(r"[?&#][\w.-]*\Z")
_LOOK_BACK: Final = 48


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with each secret replaced by [REDACTED:kind], and the distinct kinds in the order found."""
    kinds: dict[str, None] = {}
    for _ in range(MOST_ROUNDS):
        # Splitting by a group keeps the marks, as every second piece.
        pieces = _MARK.split(text)
        pieces[::2] = [_redact_piece(piece, kinds) for piece in pieces[::2]]
        redacted = _redact_laid_out("".join(pieces), kinds)
        if redacted == text:
            break
        text = redacted
    return text, tuple(kinds)


def redact_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as they may be stored: every text in them, names too, is clean and redacted as content is."""

    def safe(value: Any) -> Any:
        match value:
            case str():
                text = clean(value)
                return _redacted_short(text) if len(text) <= SHORT else redact(text)[0]
            case Mapping():
                return redact_values(value)
            case list() | tuple():
                return [safe(item) for item in value]
            case _:
                return value

    return {safe(name): safe(value) for name, value in values.items()}


@lru_cache(maxsize=4096)  # a file of turns names one tool and one command again and again
def _redacted_short(text: str) -> str:
    return redact(text)[0]


def _redact_piece(text: str, kinds: dict[str, None]) -> str:
    """First what has a shape or a sign of its own, then what a sentence tells."""
    text = redact_by_rules(text, kinds)
    # What was taken out is one word that says nothing: its mark holds the name of a secret.
    shown = _MARK.sub(lambda mark: HIDDEN * len(mark.group()), text)
    lowered = _lowered(shown)
    return _without(sorted({*prose_secrets.told(shown, lowered), *prose_secrets.phrases(lowered)}), text, kinds)


def _redact_laid_out(text: str, kinds: dict[str, None]) -> str:
    """What a layout names. A table is read whole, with what was taken out of it before."""
    shown = _MARK.sub(lambda mark: HIDDEN * len(mark.group()), text) if "[REDACTED:" in text else text
    kept: list[str] = []
    at = 0
    for start, end, kind in laid_out_secrets.laid_out(shown, _lowered(shown), HIDDEN):
        kept += (text[at:start], _mark(kind, kinds))
        at = end
    return "".join((*kept, text[at:])) if kept else text


def redact_by_rules(text: str, kinds: dict[str, None]) -> str:
    if "PRIVATE KEY" in text:
        text = _redact_pem(text, kinds)
    text = _without(_cards(text), text, kinds, "card-number")
    lowered = _lowered(text)
    for form in formats_signed(lowered) if _RUN.search(text) else ():
        text = compiled(form.pattern).sub(partial(_replaced, form.kind, kinds), text)

    def replace(pattern: re.Pattern[str], kind: str, is_secret: Callable[[re.Match[str]], bool], text: str) -> str:
        return pattern.sub(lambda m: m["keep"] + _mark(kind, kinds) if is_secret(m) else m.group(), text)

    if "://" in text:
        # Any password counts here, even `pw`: only what is plainly to be filled in stays.
        text = replace(_CONNECTION, "connection-password", _is_connection, text)
    if "earer" in text or "uthorization" in text or "EARER" in text or "UTHORIZATION" in text:
        text = replace(_AUTHORIZATION, "bearer-token", _is_bearer, text)
    if "login" in lowered or "-u" in lowered:
        text = replace(_LOGIN, "password", lambda match: not is_placeholder(match["secret"]), text)
    if any(map(lowered.__contains__, ("-p", "-a", "-w", "snmp"))):
        text = replace(_OPTION, "password", lambda match: not is_placeholder(match["secret"]), text)
    if ":" in text or "=" in text:
        text = replace(_AWS_SECRET, "aws-secret-key", lambda match: True, text)
        text = replace(_VALUE, "high-entropy", _is_random, _redact_assignments(text, kinds))
    if any(map(lowered.__contains__, _NAMED_IN_PROSE)):
        for find in (_told, _changed):
            text = _without(find(text), text, kinds)
    return _without(_paired(text), text, kinds) if "/" in text or ":" in text else text


def _replaced(kind: str, kinds: dict[str, None], match: re.Match[str]) -> str:
    """The mark in the secret's place: the group that is named so, the first group, or all of it."""
    groups = match.re.groupindex
    group = "secret" if "secret" in groups else 1 if match.re.groups and match[1] else 0
    secret = match[group]
    if "secret" in groups and (entropy(secret) < NAMED_ENTROPY or not any(map(str.isdigit, secret))):
        return match.group()
    before, after = match.start(group) - match.start(), match.end(group) - match.start()
    return match.group()[:before] + _mark(kind, kinds) + match.group()[after:]


def _mark(kind: str, kinds: dict[str, None]) -> str:
    kinds[kind] = None
    return f"[REDACTED:{kind}]"


def _redact_pem(text: str, kinds: dict[str, None]) -> str:
    """A whole block, or a header and its lines where the end was cut off; a header alone is a mention."""
    kept: list[str] = []
    at = 0
    for begin in _PEM_BEGIN.finditer(text):
        if begin.start() < at:
            continue
        body = _PEM_BODY.match(text, begin.end())
        stop = _PEM_END.match(text, body.end() if body else begin.end())
        lines = stop or _PEM_LINES.match(text, begin.end())
        if lines:
            kept += (text[at : begin.start()], _mark("private-key", kinds))
            at = lines.end()
    return "".join((*kept, text[at:]))


def _is_connection(match: re.Match[str]) -> bool:
    shape = _SHAPE.match(match.string, match.start() + match.group().index("//"))
    return match["secret"][0] not in "[{$*%" and shape is None


def _is_bearer(match: re.Match[str]) -> bool:
    token = match["secret"]
    return not (is_placeholder(token) or token.islower() or token.isalpha())


def _is_random(match: re.Match[str]) -> bool:
    # In the query of a URL a long random value is mostly the id of a video or a diagram.
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    return is_entropic(match["secret"]) and not _QUERY_NAME.search(before)


def _lowered(text: str) -> str:
    # İ is the one letter whose lower case is longer; the offsets must be those of the text.
    return text.replace("İ", "I").lower()


def _without(spans: Iterable[tuple[int, int]], text: str, kinds: dict[str, None], kind: str = "password") -> str:
    kept: list[str] = []
    at = 0
    for start, end in spans:
        if start >= at:
            kept += (text[at:start], _mark(kind, kinds))
            at = end
    return "".join((*kept, text[at:]))


def _cards(text: str) -> Iterator[tuple[int, int]]:
    shown = (match.span(group) for match in _CARD_GROUPS.finditer(text) for group in ("secret", "most"))
    told = (match.span("secret") for match in _CARD_NAMED.finditer(_lowered(text)))
    for start, end in sorted((*shown, *told), key=lambda span: (span[0], -span[1])):
        if is_card_number("".join(filter(str.isdigit, text[start:end]))):
            yield start, end


def _changed(text: str) -> Iterator[tuple[int, int]]:
    lowered = _lowered(text)
    for match in (match for pattern in _CHANGED for match in pattern.finditer(lowered)):
        for start, end in (match.span("was"), match.span("becomes")):
            value = text[start:end].strip("\"'`“”‘’,;.!?()")
            if is_secret_value(value, quoted=False) and not KNOWN_NAME.fullmatch(value):
                begin = text.index(value, start)
                yield begin, begin + len(value)


def _paired(text: str) -> Iterator[tuple[int, int]]:
    lowered = _lowered(text)
    for start, end in (match.span("said") for match in _PAIR.finditer(lowered)):
        if is_strong(text[start:end]):
            yield start, end
    for start, end in (match.span("said") for match in _TIGHT_PAIR.finditer(lowered)):
        value = text[start:end]
        if is_strong(value) and STRONG_SIGN.search(value) and not _PART_OF_PAGE.fullmatch(value):
            yield start, end


def _told(text: str) -> Iterator[tuple[int, int]]:
    """Where a sentence says what a secret is."""
    for match in _SENTENCE.finditer(_lowered(text)):
        group = next(name for name in _TOLD_GROUPS if match[name] is not None)
        start, end = match.span(group)
        value = text[start:end].rstrip(".:?") if group == "said" else text[start:end]
        general = match["of"] or "", "" if group in ("said", "code") or len(value) > LONGEST_PASSWORD else match[group]
        if any(map(_GENERAL.search, general)) or is_placeholder(value) or _KEPT_IN.match(text, end):
            continue
        match group:
            case "quoted" if " " in value:
                is_secret = value.count(" ") < MOST_WORDS and DIGIT.search(value) is not None
            case "code":
                is_secret = bool(match["password"] or match["phrase"])
            case "quoted" | "said":
                # `ftp_2019` is a name in code and a password in a note.
                noted = match["password"] and "=" not in match.group() and SNAKE_AND_NUMBER.fullmatch(value)
                is_secret = bool(noted) or is_secret_value(value, quoted=False)
                is_secret = is_secret and not (NAME_AND_NUMBER.fullmatch(value) or KNOWN_NAME.fullmatch(value))
            case _:
                is_secret = True
        if is_secret:
            yield start, start + len(value)


def _redact_assignments(text: str, kinds: dict[str, None]) -> str:
    lowered = _lowered(text)
    kept: list[str] = []
    at = 0
    match = _ASSIGNMENT.search(lowered) if _MAY_ASSIGN.holds(lowered) else None
    while match:
        group = next(name for name in _VALUE_GROUPS if match[name] is not None)
        start, end = match.span(group)
        value = text[start:end].rstrip(".:") if group == "bare" else text[start:end]
        describes = match["call"] or _DESCRIPTIVE.intersection(match["suffix"].replace("-", "_").split("_"))
        if not describes and is_secret_value(value, quoted=group != "bare"):
            kept += (text[at:start], _mark("password" if match["password"] else "secret", kinds))
            rest = _REST_OF_VALUE.match(text, start + len(value)) if len(value) == LONGEST_LOOK else None
            at = end = rest.end() if rest else start + len(value)
            match = _ASSIGNMENT.search(lowered, end)
        else:
            # What was taken for a value may itself be a name: `secret: password: …`.
            match = _ASSIGNMENT.search(lowered, start)
    return "".join((*kept, text[at:]))
