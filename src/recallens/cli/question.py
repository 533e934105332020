"""A question as it is typed: what `search`, `xray` and `why-not` take alike, and the same question as a command."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from recallens.cli.files import STDIN, changed_files, words
from recallens.cli.given import Given
from recallens.cli.options import TEXT, Decorated, OneOf, Size, Weight, listed, now_ms
from recallens.errors import InvalidInput
from recallens.ingest.validate import parse_when
from recallens.model.plan import Scope
from recallens.model.query import ASKED, NEUTRAL, OPTIONS, Check, Option, Query, about, value_of
from recallens.model.times import instant

if TYPE_CHECKING:
    from recallens.config import Settings

_SEVERAL = (Check.TEXTS, Check.TAGS, Check.COMMANDS, Check.FACTORS)


def flags_of(name: str) -> tuple[str, ...]:
    return OPTIONS[name].flags or (f"--{name.replace('_', '-')}",)


def flag_help(name: str) -> str:
    """The option's help with what only a flag needs: the words it takes, or that it may be repeated."""
    option, said = OPTIONS[name], about(name).removesuffix(".")
    if name == "scopes":
        return f"{about('scope').removesuffix('.')}: {listed(Scope)}. Any other word is a context to ask from."
    if option.off:
        return option.off
    if option.choices is not None:
        return f"{said}: {listed(option.choices)}."
    aside = option.aside or ("repeat it for several" if option.check in _SEVERAL else "")
    return f"{said}; {aside}." if aside else about(name)


def flag(name: str) -> Callable[[Decorated], Decorated]:
    """An option of a question as an option of a command."""
    option = OPTIONS[name]
    if option.check is Check.FLAG:  # one that is on unless the flag is given says nothing without it
        off = NEUTRAL[name] is True
        value: Any = {"flag_value": False, "default": None} if off else {}
        return click.option(*flags_of(name), name, is_flag=True, help=flag_help(name), **value)
    metavar = "0..1" if option.check is Check.SHARE else option.metavar
    return click.option(
        *flags_of(name), name, type=_type(name, option), metavar=metavar, multiple=option.check in _SEVERAL,
        help=flag_help(name),
    )  # fmt: skip


def _type(name: str, option: Option) -> Any:
    if option.check is Check.CHOICE and option.choices is not None:
        return OneOf(option.choices, name)
    match option.check:
        case Check.SIZE:
            return Size(name, option.unit, option.usual or 1)
        case Check.LIMIT:
            return int
        case Check.SHARE:
            return float
        case Check.FACTORS:
            return Weight()
        case _:
            return TEXT


def asks(command: Decorated) -> Decorated:
    """The options of a question. `--scope` is one flag for two of them, and `--diff` names files in another way."""
    for name in reversed([*ASKED]):
        if name == "files":
            command = click.option(
                "--diff", metavar="FILE", type=TEXT, help="A unified diff that names the files; - is standard input."
            )(command)
        if name != "scope":
            command = flag(name)(command)
    return command


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """The words and the options that were given; what was not given, the settings decide."""

    text: str
    options: Mapping[str, Any]


def question(parts: Sequence[str], options: Mapping[str, Any]) -> TypedQuestion:
    """A lone - is standard input, as everywhere."""
    now, as_of, diff = options["now"], options["as_of"], options["diff"]
    asked_at = None if now is None else parse_when(now, now_ms=now_ms())
    from_stdin = list(parts) == [STDIN]
    if from_stdin and diff == STDIN:
        raise InvalidInput("the question and --diff cannot both be read from standard input")
    return TypedQuestion(
        words(parts).strip() if from_stdin else words(parts),
        {
            **{name: value for name, value in options.items() if name != "diff"},
            "now": asked_at,
            "as_of": None if as_of is None else parse_when(as_of, now_ms=now_ms() if asked_at is None else asked_at),
            "files": tuple(dict.fromkeys((*options["files"], *(changed_files(diff) if diff is not None else ())))),
            "weights": dict(options["weights"]),
            **_scopes(options["scopes"]),
        },
    )


def _scopes(words: Sequence[str]) -> dict[str, Any]:
    """How far to look, and the contexts that the caller holds: one option, because no context is called task or org."""
    reach = [word for word in words if word in tuple(Scope)]
    if len(reach) > 1:
        raise InvalidInput(f"one reach at a time, not {' and '.join(reach)}; it is one of: {listed(Scope)}")
    return {"scope": reach[0] if reach else None, "scopes": tuple(word for word in words if word not in reach)}


def needed(asked: TypedQuestion, usage: str) -> TypedQuestion:
    """The question itself, unless there is none: then the error says how to ask one."""
    if not asked.text.strip():
        raise InvalidInput("the query is empty; give the question in words", hint=f"Usage: {usage}")
    return asked


def command(query: Query, settings: Settings, given: Given, *, dated: bool) -> str:
    """The command that asks this query, as a shell takes it; `dated` = its time was given, and is not simply now."""
    words = ["recallens", "xray"]
    options = [*_shared(given), *_options(query, settings)]
    if dated:
        options += ["--now", instant(query.now)]
    if query.text.startswith("-"):
        return shlex.join([*words, *options, "--", query.text])
    return shlex.join([*words, query.text, *options])


def _shared(given: Given) -> Iterator[str]:
    for name in ("store", "namespace"):
        if (value := getattr(given, name)) is not None:
            yield from (f"--{name}", value)


def _options(query: Query, settings: Settings) -> Iterator[str]:
    """The flags of what is asked, where it is not what would be asked without them."""
    for name, option in ASKED.items():
        value, without = value_of(query, name), NEUTRAL[name]
        if option.setting:  # an empty name overrides a setting
            value, without = value or "", getattr(settings, name) or ""
        if value == without or name == "now":
            continue
        flag = flags_of(name)[-1]
        match option.check:
            case Check.FLAG:
                yield flag
            case Check.FACTORS:
                yield from (word for term, factor in value.items() for word in (flag, f"{term}={factor!r}"))
            case Check.TEXTS | Check.TAGS | Check.COMMANDS:
                yield from (word for text in value for word in (flag, text))
            case Check.MOMENT | Check.EDGE:
                yield from (flag, instant(value))
            case _:
                yield from (flag, str(value))
