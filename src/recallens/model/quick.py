"""Frozen records that are quick to make."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

Record = TypeVar("Record")


def quick(cls: type[Record]) -> type[Record]:
    """A frozen dataclass with slots, filled as an open record of the same slots and frozen when it is full.

    The dataclass's own way, `object.__setattr__`, looks each field up by its name: three times as long, and a recall
    makes hundreds of records of a dozen fields. The result is as frozen as before.
    """
    if hasattr(cls, "__post_init__") or any(not one.init or one.kw_only for one in fields(cls)):  # type: ignore[arg-type]
        raise TypeError(f"{cls.__name__} is filled in a way of its own; leave it to its dataclass")
    names = tuple(one.name for one in fields(cls))  # type: ignore[arg-type]
    known: dict[str, Any] = {"_blank": object.__new__, "_open": type(cls.__name__, (), {"__slots__": names})}
    given, body = ["_frozen"], ["    record = _blank(_open)"]
    for one in fields(cls):  # type: ignore[arg-type]
        name = value = one.name
        if one.default is not MISSING:
            known[f"_default_{name}"] = one.default
            given.append(f"{name}=_default_{name}")
        elif one.default_factory is not MISSING:
            known[f"_make_{name}"], known["_missing"] = one.default_factory, MISSING
            given.append(f"{name}=_missing")
            value = f"_make_{name}() if {name} is _missing else {name}"
        else:
            given.append(name)
        body.append(f"    record.{name} = {value}")
    lines = [f"def __new__({', '.join(given)}):", *body, "    record.__class__ = _frozen", "    return record"]
    exec("\n".join(lines), known)
    made = known["__new__"]
    made.__annotations__, made.__qualname__ = cls.__init__.__annotations__, f"{cls.__qualname__}.__new__"
    cls.__new__ = made  # type: ignore[method-assign]
    cls.__getnewargs__ = lambda record: tuple(getattr(record, name) for name in names)  # type: ignore[attr-defined]
    del cls.__init__
    return cls
