"""Every method of every protocol of the store is called by the contract, on every engine."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import test_nouns_contract
import test_store_contract
from test_store_contract import STORES

from recallens.errors import InvalidInput, StoreError
from recallens.model import vault
from recallens.store import protocols, records
from recallens.store.protocols import Store, StoreWriter, Writer

# What a protocol names only where types are checked.
_NAMES = vars(vault) | vars(records) | vars(protocols)


def nouns_of(view: type) -> dict[str, type]:
    """The nouns that a reader or writer has as attributes, and the protocol of each."""
    properties = {name: getattr(view, name).fget for name in dir(view) if isinstance(getattr(view, name), property)}
    hints = {name: get_type_hints(getter, _NAMES)["return"] for name, getter in properties.items()}
    return {name: hint for name, hint in hints.items() if getattr(hint, "_is_protocol", False)}


def methods_of(protocol: type) -> set[str]:
    return {name for name in dir(protocol) if not name.startswith("_") and inspect.isfunction(getattr(protocol, name))}


class Watched:
    """Passes everything on, and notes which methods of which noun were called."""

    def __init__(self, behind: Any, place: str, called: set[str]) -> None:
        self._behind, self._place, self._called = behind, place, called

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._behind, name)
        place = f"{self._place}.{name}"
        if name in ("read", "recalling", "write", "read_all", "write_all", "at", "whole"):
            self._called.add(place)
            return self._opened(name, value)
        if callable(value):
            return self._noted(value, place)
        return Watched(value, place, self._called) if hasattr(value, "__slots__") and name in NOUNS else value

    def _noted(self, method: Callable[..., Any], place: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self._called.add(place)
            return method(*given, **named)

        return call

    def _opened(self, name: str, value: Any) -> Any:
        if name == "whole":
            return Watched(value, "whole", self._called)
        if name == "at":
            return lambda namespace: Watched(value(namespace), "namespace", self._called)
        place = "whole" if name.endswith("_all") else "namespace"

        @contextmanager
        def opened(*given: str) -> Iterator[Watched]:
            with value(*given) as view:
                yield Watched(view, place, self._called)

        return opened


NOUNS = nouns_of(Writer) | nouns_of(StoreWriter)


def expected() -> set[str]:
    names = {f"store.{name}" for name in methods_of(Store)}
    for place, view in (("namespace", Writer), ("whole", StoreWriter)):
        names |= {f"{place}.{name}" for name in methods_of(view)}
        for noun, protocol in nouns_of(view).items():
            if noun != "whole":
                names |= {f"{place}.{noun}.{name}" for name in methods_of(protocol)}
    return names


def contract() -> list[Callable[[Any], None]]:
    tests = {**vars(test_store_contract), **vars(test_nouns_contract)}
    return [
        test
        for name, test in tests.items()
        if name.startswith("test_")
        and inspect.isfunction(test)
        and list(inspect.signature(test).parameters) == ["store"]
    ]


@pytest.mark.parametrize("engine", STORES)
def test_every_method_of_every_protocol_is_called(engine: str, tmp_path: Path) -> None:
    called: set[str] = set()
    for number, test in enumerate(contract()):
        folder = tmp_path / str(number)
        folder.mkdir()
        store = STORES[engine](folder)
        test(Watched(store, "store", called))
        if number == 0:
            watched = Watched(store, "store", called)
            watched.compact()
            with watched.recalling("n") as reader:
                assert reader.whole.lag() is None
            with suppress(InvalidInput):  # a file keeps no index
                list(watched.index("n", ["hashing-test@1/4/none"]))
            watched.drop_index("n")
            with suppress(InvalidInput, StoreError):  # nor is this one a cluster
                watched.distribute(dry_run=True)
            with suppress(InvalidInput):  # an engine whose server has tools of its own names them
                watched.backup(str(folder / "copy.db"))
            watched.close()
        store.close()
    assert len(expected()) > 130
    assert sorted(expected() - called) == []


def test_no_protocol_of_a_noun_is_too_wide() -> None:
    assert max(len(methods_of(protocol)) for protocol in NOUNS.values()) <= 23


def test_no_method_takes_a_namespace() -> None:
    """Where one stands says which it is."""
    for noun, protocol in NOUNS.items():
        for name in methods_of(protocol):
            taken = inspect.signature(getattr(protocol, name)).parameters
            assert "ns" not in taken, f"{noun}.{name}"
