"""What the scenes share: the command in this process or in one of its own, and files of JSON lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from click.testing import Result

EXAMPLES = Path(__file__).parents[2] / "examples" / "memories.jsonl"
RECALLENS = [sys.executable, "-c", "from recallens.cli.main import main; main()"]

Run = Callable[..., Result]
Ask = Callable[..., Any]
Remember = Callable[..., str]


def spawn(*args: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    command: Sequence[str] = [*RECALLENS, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


def write_lines(path: Path, records: Sequence[Any]) -> Path:
    lines = [record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
