"""The formats of what providers give out: gitleaks' rules, as data, and those that its rules lack."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import msgspec


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
def compiled(pattern: str) -> re.Pattern[str]:
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


@cache
def _places() -> dict[str, tuple[int, ...]]:
    """Where the formats of each sign stand among all."""
    places: dict[str, tuple[int, ...]] = {}
    for place, form in enumerate(_formats()):
        for sign in form.signs:
            places[sign] = (*places.get(sign, ()), place)
    return places


def formats_signed(lowered: str) -> list[SecretFormat]:
    """Those of which the text has a sign, in their order."""
    places = _places()
    signed = {place for sign in filter(lowered.__contains__, places) for place in places[sign]}
    return [_formats()[place] for place in sorted(signed)]


_REST: Final = "[A-Za-z0-9_-]"

FORMATS: Final = (
    _token("aws-access-key", ("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z0-9]{16}"),
    _token("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,}+"),
    _token("github-token", ("github_pat_",), rf"github_pat_{_REST}{{22,}}+"),
    _token("gitlab-token", ("glpat-", "gldt-", "glrt-", "glcbt-"), rf"gl(?:pat|dt|rt|cbt)-{_REST}{{20,}}+"),
    _token("slack-token", ("xox", "xapp-"), rf"(?:xox[abeoprs]|xapp)-{_REST}{{10,}}+"),
    _token("stripe-key", ("_live_", "_test_"), r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}+"),
    _token("toss-key", ("live_", "test_"), r"(?:live|test)_(?:g?[sc]k)_[A-Za-z0-9]{16,}+"),
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
