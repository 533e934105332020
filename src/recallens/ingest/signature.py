"""What a method of the engine is given must be what its signature says: anything else is InvalidInput, at the door.

Values that are of the right type and still cannot be (a share of 7, an unknown kind) are judged by whoever reads them.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, wraps
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

from msgspec import Struct

from recallens.errors import InvalidInput
from recallens.store.nouns import LARGEST
from recallens.text.normalize import clean

Part = TypeVar("Part", bound=type)
# Gives the value as it goes on (a stream of values is checked as it is read), or raises `_Unfit`.
Rule = Callable[[Any], Any]


class _Unfit(Exception):
    pass


def checked(part: Part) -> Part:
    """Every public method of the class takes only what its signature says."""
    for name, member in list(vars(part).items()):
        if not name.startswith("_") and inspect.isfunction(member):
            setattr(part, name, _checked(member))
    return part


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *given: Any, **named: Any) -> Any:
        places, rules, rest = _rules(method)
        values = [_fitting(name, rules.get(name), value) for name, value in zip(places, given, strict=False)]
        also = {name: _fitting(name, rules.get(name) or rest.get(name), value) for name, value in named.items()}
        return method(self, *values, *given[len(values) :], **also)

    return call


def require_fields(record: Struct, names: Collection[str]) -> None:
    """The same for these fields of a record, whose constructor takes anything."""
    rules = _field_rules(type(record))
    for name in names:
        _fitting(name, rules[name], getattr(record, name))


@cache
def _field_rules(kind: type[Struct]) -> dict[str, Rule]:
    return {name: _rule(hint) for name, hint in get_type_hints(kind).items()}


def _fitting(name: str, rule: Rule | None, value: Any) -> Any:
    if rule is None:
        return value
    try:
        return rule(value)
    except _Unfit as error:
        shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:59]}…"
        raise InvalidInput(f"{name.replace('_', ' ')} must be {error}, not {shown}") from None


@cache
def _rules(method: Callable[..., Any]) -> tuple[list[str], dict[str, Rule], dict[str, Rule]]:
    """The names of parameters that may be given by place, the rule of each, and the rules of options by name."""
    places, rules, rest = [], {}, {}
    for name, parameter in list(inspect.signature(method).parameters.items())[1:]:
        hint = _hint(parameter.annotation, method)
        if parameter.kind is parameter.VAR_KEYWORD:
            options = get_args(hint)[0] if get_args(hint) else hint
            if is_typeddict(options):
                rest = {option: _rule(kind) for option, kind in get_type_hints(options).items()}
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            rules[name] = _rule(hint)
            if parameter.kind is not parameter.KEYWORD_ONLY:
                places.append(name)
    return places, rules, rest


def _hint(annotation: Any, method: Callable[..., Any]) -> Any:
    """What an annotation names; what only a type checker imports is anything here."""
    try:
        one = SimpleNamespace(__annotations__={"hint": annotation})
        return get_type_hints(one, {"Path": Path, **vars(sys.modules[method.__module__])})["hint"]
    except NameError:
        return Any


def _rule(hint: Any) -> Rule:
    origin, parts = get_origin(hint), get_args(hint)
    if hint in (None, NoneType):
        return _none
    if origin in (Union, UnionType):
        return _either([_rule(part) for part in parts])
    if origin is Literal:
        return _either([_same(part) for part in parts])
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*(map(_rule, parts)))
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _many(_rule(parts[0]) if parts else _anything)
    if origin is os.PathLike:
        return _instance(os.PathLike, "a path")
    if origin is Callable:
        return _instance(Callable, "a function")
    if isinstance(hint, type) and not getattr(hint, "_is_protocol", False) and hint.__module__ != "typing":
        return _instance(hint, f"a {hint.__name__}")
    return _anything


def _anything(value: Any) -> Any:
    return value


def _none(value: Any) -> None:
    if value is not None:
        raise _Unfit("none")


def _same(part: object) -> Rule:
    def rule(value: Any) -> Any:
        if type(value) is not type(part) or value != part:
            raise _Unfit(repr(part))
        return value

    return rule


def _either(rules: list[Rule]) -> Rule:
    def rule(value: Any) -> Any:
        wanted = []
        for each in rules:
            try:
                return each(value)
            except _Unfit as error:
                wanted.append(str(error))
        raise _Unfit(" or ".join(dict.fromkeys(words for words in wanted if words != "none")))

    return rule


def _instance(kind: Any, words: str) -> Rule:
    def rule(value: Any) -> Any:
        if not isinstance(value, kind):
            raise _Unfit(words)
        return value

    return rule


def _whole(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int) or not -LARGEST <= value <= LARGEST:
        raise _Unfit("a whole number")
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        raise _Unfit("a number")
    return value


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise _Unfit("text")
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which nothing can keep
        return clean(value)
    return value


def _flag(value: Any) -> Any:
    if not isinstance(value, bool):
        raise _Unfit("true or false")
    return value


_PLAIN: Final[Mapping[Any, Rule]] = {str: _text, int: _whole, float: _number, bool: _flag, Any: _anything}


def _many(each: Rule) -> Rule:
    def rule(values: Any) -> Any:
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
            raise _Unfit("a list of texts" if each is _text else "a list")
        if isinstance(values, Collection):
            try:
                fitting = [each(value) for value in values]
            except _Unfit as error:
                raise _Unfit("a list of texts" if each is _text else f"a list, each of it {error}") from None
            same = all(value is fit for value, fit in zip(values, fitting, strict=True))
            return values if same else tuple(fitting)
        return _as_read(values, each)

    return rule


def _as_read(values: Iterable[Any], each: Rule) -> Iterator[Any]:
    for value in values:
        yield _fitting("each", each, value)


def _mapping(name: Rule = _anything, each: Rule = _anything) -> Rule:
    def rule(values: Any) -> Any:
        if not isinstance(values, Mapping):
            raise _Unfit("names with values")
        for key, value in values.items():
            name(key)
            each(value)
        return values

    return rule
