"""Secrets are taken out before a text is stored; what stays says which kind stood there.

Text between earlier marks is read on its own, so nothing is taken out twice: redact(redact(x)) = redact(x).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from recallens.ingest.secrets import FORMATS, is_entropic, is_placeholder, is_secret_value
from recallens.text.normalize import clean

_MARK: Final = re.compile(r"(\[REDACTED:[a-z-]{1,40}\])")

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
_PASSWORD_NAMES: Final = r"password|passwd|passphrase|passcode|pwd|비밀번호|패스워드|암호"
_KEY_NAMES: Final = (
    r"(?:api|access|secret|private|encryption|signing)[_ -]?key|client[_ -]?secret|secret"
    r"|(?:access|auth|refresh|bearer|api)[_ -]?token|token|credentials?|api ?키|토큰|인증 ?키|시크릿"
)
_ASSIGNMENT: Final = re.compile(
    rf"(?:(?P<password>{_PASSWORD_NAMES})|{_KEY_NAMES})(?P<suffix>(?:[_-][a-z0-9]{{1,16}}){{0,2}})(?:은|는)?"
    r"[\"'`]?\s{0,8}(?::=|=>|[:=](?!=))\s{0,8}"
    r"(?:\"(?P<double>[^\"\n]{1,256})\"|'(?P<single>[^'\n]{1,256})'|`(?P<tick>[^`\n]{1,256})`"
    r"|(?P<bare>[^\s\"'`,;<>(){}\[\]가-힣]{1,128}+)(?P<call>[(\[{]?))"
)
_VALUE_GROUPS: Final = ("double", "single", "tick", "bare")

# token_count and secret_name describe a secret; they do not hold it.
_DESCRIPTIVE: Final = frozenset(
    (
        "name",
        "id",
        "type",
        "count",
        "length",
        "path",
        "file",
        "url",
        "ttl",
        "expiry",
        "policy",
        "limit",
        "hash",
        "field",
    )
)

_VALUE: Final = re.compile(r"(?P<keep>[:=]\s{0,8}[\"'`]?)(?P<secret>[A-Za-z0-9+/_-]{32,}+={0,2})(?![A-Za-z0-9+/_-])")

_QUERY_NAME: Final = re.compile(r"[?&#][\w.-]*\Z")
_LOOK_BACK: Final = 48


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
    return {name: _redact_value(value) for name, value in values.items()}


def _redact_value(value: Any) -> Any:
    match value:
        case str():
            return redact(clean(value))[0]
        case Mapping():
            return {name: _redact_value(each) for name, each in value.items()}
        case list() | tuple():
            return [_redact_value(each) for each in value]
        case _:
            return value


def _redact_piece(text: str, kinds: dict[str, None]) -> str:
    if "PRIVATE KEY" in text:
        text = _redact_pem(text, kinds)
    for form in FORMATS:
        if any(sign in text for sign in form.signs) and form.pattern.search(text):
            text = form.pattern.sub(_mark(form.kind, kinds), text)
    if "://" in text:
        text = _CONNECTION.sub(lambda match: _connection(match, kinds), text)
    if "earer" in text or "uthorization" in text or "EARER" in text or "UTHORIZATION" in text:
        text = _AUTHORIZATION.sub(lambda match: _authorization(match, kinds), text)
    if ":" not in text and "=" not in text:
        return text
    text = _AWS_SECRET.sub(lambda match: match["keep"] + _mark("aws-secret-key", kinds), text)
    return _VALUE.sub(lambda match: _value(match, kinds), _redact_assignments(text, kinds))


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


def _connection(match: re.Match[str], kinds: dict[str, None]) -> str:
    # Any password counts here, even `pw`: only what is plainly to be filled in stays.
    if match["secret"][0] in "[{$*%":
        return match.group()
    return match["keep"] + _mark("connection-password", kinds)


def _authorization(match: re.Match[str], kinds: dict[str, None]) -> str:
    token = match["secret"]
    if is_placeholder(token) or token.islower() or token.isalpha():
        return match.group()
    return match["keep"] + _mark("bearer-token", kinds)


def _value(match: re.Match[str], kinds: dict[str, None]) -> str:
    # In the query of a URL a long random value is mostly the id of a video or a diagram.
    before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
    if not is_entropic(match["secret"]) or _QUERY_NAME.search(before):
        return match.group()
    return match["keep"] + _mark("high-entropy", kinds)


def _redact_assignments(text: str, kinds: dict[str, None]) -> str:
    # İ is the one letter whose lower case is longer; the offsets must be those of the text.
    lowered = text.replace("İ", "I").lower()
    kept: list[str] = []
    at = 0
    match = _ASSIGNMENT.search(lowered)
    while match:
        group = next(name for name in _VALUE_GROUPS if match[name] is not None)
        start, end = match.span(group)
        value = text[start:end].rstrip(".:") if group == "bare" else text[start:end]
        if _is_assigned_secret(match, value, quoted=group != "bare"):
            kept += (text[at:start], _mark("password" if match["password"] else "secret", kinds))
            at = end = start + len(value)
            match = _ASSIGNMENT.search(lowered, end)
        else:
            # What was taken for a value may itself be a name: `secret: password: …`.
            match = _ASSIGNMENT.search(lowered, start)
    return "".join((*kept, text[at:]))


def _is_assigned_secret(match: re.Match[str], value: str, *, quoted: bool) -> bool:
    if match["call"] or _DESCRIPTIVE.intersection(match["suffix"].replace("-", "_").split("_")):
        return False
    return is_secret_value(value, quoted=quoted)
