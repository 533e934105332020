"""How much of the code one search goes through: the files and functions of the package that it enters, and how deep.

    python bench/reach.py                                  the figures; exit code 1 above the bounds
    python bench/reach.py --list                           each file with the functions that were entered
    python bench/reach.py --files 70 --functions 450       other bounds

The store holds examples/ with the packaged encoder. The search that counts is recorded but not explained, and comes
after a few others, so that what is made once a process is not counted. A function is what the source defines with
`def` or `lambda`; it is counted once, however often it is called, and the bounds apply to this count. Comprehensions
and generator expressions have frames of their own too, of which Python 3.12 runs most in place; how many were entered
is printed as a second figure, and nothing is bound to it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import recallens

PACKAGE = Path(recallens.__file__).parent
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FILES, FUNCTIONS = 70, 450
WARM_UP = (
    "why is the tracking cache invalidated by events",
    "나루물류 요청 한도",
    "E-AUTH-4012",
    "send dead letters again",
)
QUESTION = "How long do we cache tracking lookups now?"
_EXPRESSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Trace:
    """The functions and expressions that were entered, by file, and the greatest number of them open at once."""

    def __init__(self) -> None:
        self.functions: dict[str, set[tuple[int, str]]] = defaultdict(set)
        self.depth = 0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Of every thread that is started meanwhile, too."""
        threading.setprofile(self._event)
        sys.setprofile(self._event)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _event(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and _is_ours(frame.f_code):
            code = frame.f_code
            self.functions[code.co_filename].add((code.co_firstlineno, code.co_qualname))
            depth = 0
            caller: FrameType | None = frame
            while caller is not None:
                depth += _is_ours(caller.f_code)
                caller = caller.f_back
            self.depth = max(self.depth, depth)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(f"{PACKAGE}{os.sep}") and code.co_name != "<module>"


def fill(store: Path) -> None:
    """All of the examples, as `make demo` takes them in."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RECALLENS_")}
    for words in (
        ("remember", "--jsonl", str(EXAMPLES / "memories.jsonl")),
        ("remember", "--jsonl", str(EXAMPLES / "tasks.jsonl")),
        ("vault", "add", str(EXAMPLES / "vault"), "--name", "harbor"),
    ):
        command = [sys.executable, "-m", PACKAGE.name, "--store", str(store), *words]
        environment["PYTHONPATH"] = str(PACKAGE.parent)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def traced() -> Trace:
    trace = Trace()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "examples.db"
        fill(store)
        with recallens.open(store, encoder="minilm") as engine:
            for text in WARM_UP:
                engine.search(text)
            with trace.running():
                engine.search(QUESTION)
    return trace


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=FILES, help="the most files that are allowed")
    parser.add_argument("--functions", type=int, default=FUNCTIONS, help="the most functions that are allowed")
    parser.add_argument("--list", action="store_true", help="print each file with its functions and expressions")
    options = parser.parse_args()
    trace = traced()
    if options.list:
        for path, entered in sorted(trace.functions.items()):
            print(f"{Path(path).relative_to(PACKAGE)}: {len(entered)}")
            for line, name in sorted(entered):
                print(f"    {line:>4}  {name}")
    names = [name for entered in trace.functions.values() for _, name in entered]
    expressions = sum(name.endswith(_EXPRESSIONS) for name in names)
    functions = len(names) - expressions
    print(f"one search enters {len(trace.functions)} files and {functions} functions, {trace.depth} deep")
    print(f"{expressions} frames of comprehensions and generator expressions are entered beside them")
    if len(trace.functions) > options.files or functions > options.functions:
        print(f"at most {options.files} files and {options.functions} functions are allowed")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
