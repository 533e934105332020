"""The types of `AsyncEngine`, written from the engine: `python tests/docs/async_stub.py` writes the stub anew.

Each verb keeps the signature that it has in its part, and each noun becomes a class whose verbs are awaited.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from types import ModuleType
from typing import Any

from recallens.engine import Engine, asynchronous

STUB = Path(asynchronous.__file__).with_suffix(".pyi")
HEAD = '"""Written by tests/docs/async_stub.py: the verbs of the engine, awaited."""\n\n'
PARTS = "recallens.engine."
WHOLE = ""  # a module that is imported as it is
STREAM = "AsyncStream"
STREAM_CLASS = """
T = TypeVar("T")

class AsyncStream(Generic[T]):
    def __aiter__(self) -> AsyncIterator[T]: ...
    def __await__(self) -> Generator[Any, None, list[T]]: ...
"""
# What the class itself has, beside what it has of the engine.
OWN = """
    @classmethod
    async def open(cls, store: str | Path | None = ..., *, create: bool = ..., settings: Settings | None = ...,
                   clock: Clock = ..., ids: Callable[[], str] | None = ..., encoder: Encoder | str | None = ...,
                   second: Encoder | None = ..., prepare: Prepare = ..., **flags: object) -> Self: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None: ...
"""
OWN_NAMES = {
    "Self": "typing", "Path": "pathlib", "Settings": "recallens.config", "Clock": "recallens.model.memory",
    "Callable": "collections.abc", "Encoder": "recallens.index.encoders.protocol",
    "Prepare": "recallens.ingest.prepare", "TracebackType": "types",
    "AsyncIterator": "collections.abc", "Generator": "collections.abc", "Any": "typing", "Generic": "typing",
    "TypeVar": "typing", "Core": "recallens.engine.core", "Engine": "recallens.engine.engine",
}  # fmt: skip


class Stub:
    """The text of the stub, and where each name in it comes from."""

    def __init__(self) -> None:
        self.homes = dict(OWN_NAMES)
        self.classes: dict[str, str] = {}

    def verb(self, name: str, method: Any) -> str:
        function = inspect.unwrap(getattr(method, "__func__", method))
        if not inspect.isfunction(function):  # one that is made of another, which has its own place
            self.homes["Any"] = "typing"
            return f"    async def {name}(self, *args: Any, **named: Any) -> Any: ..."
        module = sys.modules[function.__module__]
        (written,) = ast.parse(dedent(inspect.getsource(function))).body
        assert isinstance(written, ast.FunctionDef)
        for argument in (*written.args.args, *written.args.kwonlyargs):
            if argument.arg != "self" and argument.annotation is None:
                argument.annotation, self.homes["Any"] = ast.Name("Any"), "typing"
        defaults = ast.Constant(...)
        written.args.defaults = [defaults for _ in written.args.defaults]
        written.args.kw_defaults = [None if each is None else defaults for each in written.args.kw_defaults]
        returns, how = written.returns or ast.Name("Any"), "async def"
        if inspect.isgeneratorfunction(function):
            assert isinstance(returns, ast.Subscript)
            returns, how = ast.Subscript(ast.Name(STREAM), returns.slice), "def"
        annotations = [a.annotation for a in (*written.args.args, *written.args.kwonlyargs) if a.annotation]
        annotations += [
            each.annotation for each in (written.args.vararg, written.args.kwarg) if each and each.annotation
        ]
        for annotation in (*annotations, returns):
            self._find(annotation, module)
        self.homes.pop(STREAM, None)  # it stands in the stub itself
        return f"    {how} {name}({ast.unparse(written.args)}) -> {ast.unparse(returns)}: ..."

    def _find(self, annotation: ast.expr, module: ModuleType) -> None:
        for node in ast.walk(annotation):
            if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
                self.homes[node.id] = home_of(node.id, module)

    def part(self, value: object) -> str:
        """The class of a noun; what it holds of parts are classes as well."""
        name = f"Async{type(value).__name__}"
        if name not in self.classes:
            self.classes[name] = ""
            self.classes[name] = f"class {name}:\n" + "\n".join(self.members(value)) + "\n"
        return name

    def members(self, value: object) -> Iterator[str]:
        for name in dir(value):
            if name.startswith("_") or (value.__class__ is Engine and name in ("open", "close")):
                continue
            member = getattr(value, name)
            if callable(member):
                yield self.verb(name, member)
            elif name == "core":
                yield "    core: Core"
            elif type(member).__module__.startswith(PARTS):
                yield f"    {name}: {self.part(member)}"


def home_of(name: str, module: ModuleType) -> str:
    """The module that a name of this module comes from, told by its imports, those for types included."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and name in [alias.asname or alias.name for alias in node.names]:
            return str(node.module)
        if isinstance(node, ast.Import) and name in [alias.name for alias in node.names]:
            return WHOLE
    return module.__name__


def written() -> str:
    stub = Stub()
    with TemporaryDirectory() as folder, Engine.open(Path(folder) / "any.db", encoder="none") as engine:
        verbs = "\n".join(stub.members(engine))
    body = f"class AsyncEngine:\n    def __init__(self, engine: Engine) -> None: ...{OWN}{verbs}\n"
    classes = "\n".join(stub.classes.values())
    imports: dict[str, list[str]] = {}
    for name, home in stub.homes.items():
        imports.setdefault(home, []).append(name)
    lines = [f"import {name}" for name in sorted(imports.pop(WHOLE, []))]
    lines += [f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(imports.items())]
    return HEAD + "\n".join(lines) + "\n" + STREAM_CLASS + "\n" + classes + "\n" + body


if __name__ == "__main__":
    STUB.write_text(written(), encoding="utf-8")
