"""Options that several commands share, and the kinds of value they take."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recallens.cli.given import Given
from recallens.errors import InvalidInput, UnknownOption
from recallens.model.terms import WEIGHABLE
from recallens.render import FORMATS
from recallens.text.normalize import clean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_pass_given = click.make_pass_decorator(Given)
# As many digits as any text can have characters.
_WHOLE = re.compile(r"[0-9]{1,15}")


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """The same options stand before and after the command's name; the later one holds."""
    if value is not None and value is not False and param.name is not None:
        setattr(ctx.ensure_object(Given), param.name, value)


def shared_options(command: Decorated, *, namespace: bool = True) -> Decorated:
    options = [
        click.option("--namespace", metavar="NAME", type=TEXT, expose_value=False, callback=_keep,
                     help="The namespace to work in (also RECALLENS_NAMESPACE)."),
        click.option("--no-color", is_flag=True, expose_value=False, callback=_keep,
                     help="No colours (also NO_COLOR)."),
        click.option("--json", is_flag=True, expose_value=False, callback=_keep, help="Answer, and fail, in JSON."),
        click.option("--store", metavar="PATH", expose_value=False, callback=_keep,
                     help="The store's file (also RECALLENS_STORE)."),
    ]  # fmt: skip
    for option in options if namespace else options[1:]:
        command = option(command)
    return command


def shared(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command, which is handed what they gave as its first argument."""
    return shared_options(_pass_given(command))


def shared_but_namespace(command: Callable[..., Any]) -> Callable[..., Any]:
    """For what does not work in one namespace, or takes several."""
    return shared_options(_pass_given(command), namespace=False)


class _Completed(click.ParamType):  # type: ignore[type-arg]
    """A word of a known set, which a shell completes."""

    words: Sequence[str] = ()

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


class Text(click.ParamType):  # type: ignore[type-arg]
    """Any text. Bytes that are no UTF-8 reach Python as lone surrogates, which nothing downstream can write."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return clean(str(value))


class OneOf(_Completed):
    """A member of a closed set; a wrong one is the same error as everywhere else in Recallens."""

    def __init__(self, members: type[StrEnum], what: str) -> None:
        self.members = members
        self.words = tuple(members)
        self.name = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StrEnum:
        from recallens.ingest.validate import option

        return option(self.members, value, self.name)


class When(click.ParamType):  # type: ignore[type-arg]
    """A time, in any of the forms that `parse_when` reads, as epoch milliseconds."""

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from recallens.ingest.validate import parse_when

        return value if isinstance(value, int) else parse_when(value, now_ms=now_ms())


class Size(click.ParamType):  # type: ignore[type-arg]
    """A whole number from 1. Zero means zero, and room for nothing is asked by asking nothing."""

    def __init__(self, what: str, unit: str, default: int) -> None:
        self.name = what
        self.unit = unit
        self.default = default

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        if not _WHOLE.fullmatch(value) or int(value) == 0:
            raise InvalidInput(
                f"{self.name} must be a positive whole number of {self.unit}, not {clean(value)!r};"
                f" for example --{self.name} {self.default}"
            )
        return int(value)


class Weight(_Completed):
    """NAME=FACTOR, where NAME is a part of the score."""

    name = "weight"
    words = tuple(f"{term}=" for term in WEIGHABLE)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value[0], value[1]
        name, sign, factor = clean(value).partition("=")
        if not sign:
            raise InvalidInput(f"{name!r} is no weight; use NAME=FACTOR, where NAME is one of: {', '.join(WEIGHABLE)}")
        if name not in WEIGHABLE:
            raise UnknownOption("part of the score", name, WEIGHABLE)
        try:
            number = float(factor)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise InvalidInput(f"the factor of {name} must be a number from 0, not {factor!r}; 1 is the preset's own")
        return name, number


class FormatType(_Completed):
    """A format of the X-ray."""

    name = "format"
    words = tuple(FORMATS)

    def __init__(self, hint: str | None = None) -> None:
        self.hint = hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in FORMATS:
            unknown = UnknownOption("format", clean(value), FORMATS)
            unknown.hint = self.hint
            raise unknown
        return str(value)


def refuse_unused(where: str, *names: str) -> None:
    """An error for the first of these options that was given and would do nothing `where`: none is just ignored.

    What the environment sets is meant for every command, and may do nothing in one.
    """
    ctx: click.Context | None = click.get_current_context()
    while ctx is not None:  # the shared ones may stand before the command's name
        for parameter in ctx.command.params:
            source = ctx.get_parameter_source(parameter.name or "")
            if parameter.name in names and source is click.core.ParameterSource.COMMANDLINE:
                raise InvalidInput(f"{parameter.opts[0]} does nothing {where}", hint="Leave it out.")
        ctx = ctx.parent


# Of what is about all namespaces at once.
WHOLE_STORE = "here, which is about the whole store", "namespace"


def now_ms() -> int:
    return int(time.time() * 1000)


TEXT = Text()
WHEN = When()
FORMAT = FormatType()


def listed(members: type[StrEnum]) -> str:
    return ", ".join(members)


def page(command: Decorated) -> Decorated:
    return click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page (1).")(command)


def several_ids(command: Decorated) -> Decorated:
    return click.argument("ids", nargs=-1, required=True, type=TEXT)(command)


def no_record(command: Decorated) -> Decorated:
    return click.option("--no-record", is_flag=True, help="Do not record what was returned.")(command)


def project_asked(command: Decorated) -> Decorated:
    about = "Only this project; an empty name means any."
    return click.option("--project", metavar="NAME", type=TEXT, help=about)(command)
