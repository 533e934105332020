"""Secrets are taken out before a text is stored; what stays says which kind stood there.

Providers' formats are gitleaks' rules, as data (`bench/secret_rules.py` makes them). Ours are those that its rules lack
or bind to more than the token itself: assignments and sentences in every language, connection strings, headers, private
keys, and random values.

Text between earlier marks is read on its own, so nothing is taken out twice: redact(redact(x)) = redact(x).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial
from math import log2
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from recallens.text.languages import PACKS, alternatives, each
from recallens.text.normalize import clean

_MARK: Final = re.compile(r"(\[REDACTED:[a-z0-9-]{1,60}\])")

# A replacement can uncover another secret beside it. Each round shortens what is left, and a text that needs
# more rounds than this was made to need them.
MOST_ROUNDS: Final = 8

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

# The names are searched in lower-cased text: ignoring case in the pattern itself is five times slower.
_PASSWORD_NAMES: Final = alternatives(lambda pack: pack.secrets.passwords)
_KEY_NAMES: Final = alternatives(lambda pack: pack.secrets.keys)
_PARTICLE: Final = alternatives(lambda pack: pack.secrets.particles)
# The word after a value joins it without a space where it has letters that no secret has.
_OWN_LETTERS: Final = "".join(pack.letters for pack in PACKS)
_ASSIGNMENT: Final = re.compile(
    rf"(?:(?P<password>{_PASSWORD_NAMES})|{_KEY_NAMES})(?P<suffix>(?:[_-][a-z0-9]{{1,16}}){{0,2}})(?:{_PARTICLE})?"
    r"[\"'`]?\s{0,8}(?::=|=>|[:=](?!=))\s{0,8}"
    r"(?:\"(?P<double>[^\"\n]{1,256})\"|'(?P<single>[^'\n]{1,256})'|`(?P<tick>[^`\n]{1,256})`"
    rf"|(?P<bare>[^\s\"'`,;<>(){{}}\[\]{_OWN_LETTERS}]{{1,128}}+)(?P<call>[(\[{{]?))"
)
_REST_OF_VALUE: Final = re.compile(rf"[^\s\"'`,;<>(){{}}\[\]{_OWN_LETTERS}]*+")
# "The password is …", "비밀번호는 … 입니다": what a sentence says of a secret, without a sign of assignment.
_SENTENCE: Final = re.compile(
    rf"(?:{_PASSWORD_NAMES}|{_KEY_NAMES})(?:{_PARTICLE}|\s{{1,3}}(?:{alternatives(lambda pack: pack.secrets.says)}))"
    rf"\s{{1,3}}[\"'`“‘]?(?P<said>[^\s\"'`“”‘’,;<>(){{}}\[\]{_OWN_LETTERS}]{{6,2048}}+)"
)
# SHA-256, ADR-021: a name, and no secret.
_NAME_AND_NUMBER: Final = re.compile(r"[A-Z]+[-_.]?\d+(?:\.\d+)*")
# A look that rules most texts out: every such name has one of these.
_NAMED_IN_PROSE: Final = tuple(" ".join(each(lambda pack: pack.secrets.signs)).split())
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


class SecretFormat(NamedTuple):
    """A provider's token: the pattern is only tried where one of the signs occurs, in lower case."""

    kind: str
    signs: tuple[str, ...]
    pattern: str


def _token(kind: str, signs: tuple[str, ...], pattern: str) -> SecretFormat:
    # A token stands alone; inside a longer run of its own letters it is a part of something else. The run that
    # ends it is possessive, so that a long one is read once.
    return SecretFormat(kind, tuple(map(str.lower, signs)), rf"(?<![A-Za-z0-9_-])(?:{pattern})(?![A-Za-z0-9_-])")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _formats() -> tuple[SecretFormat, ...]:
    """Ours, and then those that came as data; no pattern is compiled before its sign is met."""
    rules = msgspec.json.decode(Path(__file__).with_name("data").joinpath("secrets.json").read_bytes())
    behind = r"[ \t\w.-]{0,20}[\s'\"]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[`'\"\s=]{0,5}"
    named = (
        SecretFormat(
            kind,
            tuple(signs),
            rf"(?i:(?P<keep>(?:{names}){behind})(?P<secret>{value})(?![A-Za-z0-9_-]))",
        )
        for kind, signs, names, value in rules["named"]
    )  # fmt: skip
    return (*FORMATS, *(_token(kind, tuple(signs), pattern) for kind, signs, pattern in rules["formats"]), *named)


_REST: Final = "[A-Za-z0-9_-]"

FORMATS: Final = (
    _token("aws-access-key", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    _token("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,}+"),
    _token("github-token", ("github_pat_",), rf"github_pat_{_REST}{{22,}}+"),
    _token("gitlab-token", ("glpat-", "gldt-", "glrt-", "glcbt-"), rf"gl(?:pat|dt|rt|cbt)-{_REST}{{20,}}+"),
    _token("slack-token", ("xox", "xapp-"), rf"(?:xox[abeoprs]|xapp)-{_REST}{{10,}}+"),
    _token("stripe-key", ("_live_", "_test_"), r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}+"),
    _token("stripe-key", ("whsec_",), r"whsec_[A-Za-z0-9]{24,}+"),
    _token("anthropic-key", ("sk-ant-",), rf"sk-ant-{_REST}{{20,}}+"),
    _token("openai-key", ("sk-",), rf"sk-(?!ant-)(?=[A-Za-z_-]*+[0-9]){_REST}{{20,}}+"),
    _token("google-key", ("AIza",), rf"AIza{_REST}{{35}}"),
    _token("google-key", ("ya29.",), rf"ya29\.{_REST}{{20,}}+"),
    _token("google-key", ("GOCSPX-",), rf"GOCSPX-{_REST}{{20,}}+"),
    _token("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{36,}+"),
    _token("pypi-token", ("pypi-",), rf"pypi-{_REST}{{50,}}+"),
    _token("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{30,}+"),
    _token("recallens-token", ("rcl_",), rf"rcl_{_REST}{{20,}}+"),
    _token("discord-token", (".",), rf"[MNO][A-Za-z0-9_-]{{23,27}}\.{_REST}{{6}}\.{_REST}{{27,40}}"),
    _token("sourcegraph-token", ("sgp_",), r"sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}"),
    _token("jwt", ("eyJ",), rf"eyJ{_REST}{{5,}}+\.{_REST}{{5,}}+\.{_REST}*+"),
)

# Shannon entropy in bits a character. Over 32 characters random base64 has about 4.5, hexadecimal at most 4 and
# words or paths about 3.8, so checksums and file names stay.
ENTROPY_FLOOR: Final = 4.25
SHORTEST_ENTROPIC: Final = 32
# Of a value behind a provider's name: lower is a word or a number.
NAMED_ENTROPY: Final = 3.0

# A shorter value is as likely a word of the sentence.
SHORTEST_SECRET: Final = 6
# What is read of a value before it is judged; one that is longer goes with all the rest of it.
LONGEST_LOOK: Final = 128
SHORTEST_QUOTED_WORD: Final = 6

_PLACEHOLDER: Final = re.compile(
    rf"[<\[{{(%$]|(.)\1*\Z|(?:{alternatives(lambda pack: pack.secrets.placeholder_openings)})[-_ ]", re.IGNORECASE
)
_PLACEHOLDER_WORD: Final = re.compile(
    rf"\.\.\.|…|\*\*\*|xxxx|{alternatives(lambda pack: pack.secrets.placeholders)}", re.IGNORECASE
)
_DESCRIBING_WORDS: Final = frozenset(" ".join(each(lambda pack: pack.secrets.descriptions)).split())
_IDENTIFIER: Final = re.compile(
    r"[A-Za-z_]+(?:\.[A-Za-z_]\w*)*|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+|[\w-]+(?:\.[A-Za-z_]\w*)+"
)
_SPACE: Final = re.compile(r"\s")
_LETTER: Final = re.compile(r"[^\W\d_]")
_DIGIT_OR_SIGN: Final = re.compile(r"\d|[^\w./:-]")
_DATE_OR_NUMBER: Final = re.compile(r"[\d.,:/+-]+[a-z%]{0,3}", re.IGNORECASE)


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with each secret replaced by [REDACTED:kind], and the distinct kinds in the order found."""
    kinds: dict[str, None] = {}
    for _ in range(MOST_ROUNDS):
        # Splitting by a group keeps the marks, as every second piece.
        pieces = _MARK.split(text)
        pieces[::2] = [_redact_piece(piece, kinds) for piece in pieces[::2]]
        redacted = "".join(pieces)
        if redacted == text:
            break
        text = redacted
    return text, tuple(kinds)


def redact_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as they may be stored: every text in them is clean and redacted as content is."""

    def safe(value: Any) -> Any:
        match value:
            case str():
                return redact(clean(value))[0]
            case Mapping():
                return redact_values(value)
            case list() | tuple():
                return [safe(item) for item in value]
            case _:
                return value

    return {name: safe(value) for name, value in values.items()}


def _redact_piece(text: str, kinds: dict[str, None]) -> str:
    if "PRIVATE KEY" in text:
        text = _redact_pem(text, kinds)
    lowered = _lowered(text)
    for form in _formats() if _RUN.search(text) else ():
        if any(map(lowered.__contains__, form.signs)):
            text = _compiled(form.pattern).sub(partial(_replaced, form.kind, kinds), text)

    def replace(pattern: re.Pattern[str], kind: str, is_secret: Callable[[re.Match[str]], bool], text: str) -> str:
        return pattern.sub(lambda m: m["keep"] + _mark(kind, kinds) if is_secret(m) else m.group(), text)

    if "://" in text:
        # Any password counts here, even `pw`: only what is plainly to be filled in stays.
        text = replace(_CONNECTION, "connection-password", lambda match: match["secret"][0] not in "[{$*%", text)
    if "earer" in text or "uthorization" in text or "EARER" in text or "UTHORIZATION" in text:
        text = replace(_AUTHORIZATION, "bearer-token", _is_bearer, text)
    if "login" in lowered or "-u" in lowered:
        text = replace(_LOGIN, "password", lambda match: not is_placeholder(match["secret"]), text)
    if any(map(lowered.__contains__, _NAMED_IN_PROSE)):
        text = _redact_sentences(text, kinds)
    if ":" not in text and "=" not in text:
        return text
    text = replace(_AWS_SECRET, "aws-secret-key", lambda match: True, text)
    return replace(_VALUE, "high-entropy", _is_random, _redact_assignments(text, kinds))


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


def _redact_sentences(text: str, kinds: dict[str, None]) -> str:
    kept: list[str] = []
    at = 0
    for match in _SENTENCE.finditer(_lowered(text)):
        start, end = match.span("said")
        value = text[start:end].rstrip(".:!?")
        if is_secret_value(value, quoted=False) and not _NAME_AND_NUMBER.fullmatch(value):
            kept += (text[at:start], _mark("password", kinds))
            at = start + len(value)
    return "".join((*kept, text[at:]))


def _redact_assignments(text: str, kinds: dict[str, None]) -> str:
    lowered = _lowered(text)
    kept: list[str] = []
    at = 0
    match = _ASSIGNMENT.search(lowered)
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


def is_secret_value(value: str, *, quoted: bool) -> bool:
    """Whether a value assigned to a password or key is the secret itself: no placeholder, expression or prose."""
    if len(value) < SHORTEST_SECRET or _SPACE.search(value):
        return False
    # A digit or a sign beside letters, as in what people and generators make; a number or a date is neither.
    is_mixed = _LETTER.search(value) and _DIGIT_OR_SIGN.search(value) and not _DATE_OR_NUMBER.fullmatch(value)
    is_word = value.isalpha() and len(value) >= SHORTEST_QUOTED_WORD and value.lower() not in _DESCRIBING_WORDS
    likely = is_mixed or is_word if quoted else is_mixed and not _IDENTIFIER.fullmatch(value)
    return bool(likely) and not is_placeholder(value)


def is_placeholder(value: str) -> bool:
    """Whether a value only says that a secret goes there: <password>, ${PASSWORD}, xxxx, your-api-key."""
    return _PLACEHOLDER.match(value) is not None or _PLACEHOLDER_WORD.search(value) is not None


def is_entropic(value: str) -> bool:
    """Whether a value is random rather than spelled."""
    if len(value) < SHORTEST_ENTROPIC or value.startswith(("sha256-", "sha384-", "sha512-")):
        return False
    has_all = all(any(map(sort, value)) for sort in (str.isdigit, str.isupper, str.islower))
    return has_all and entropy(value) >= ENTROPY_FLOOR


def entropy(value: str) -> float:
    """H = −Σ p·log2(p) over the characters."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values())
