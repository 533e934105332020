"""The library's page: every public name is on it, and its code runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import recallens
from recallens.cli.question import flags_of
from recallens.model.query import OPTIONS, Check, about, json_name

ROOT = Path(__file__).parents[2]
PATH = ROOT / "docs" / "python.md"
PAGE = PATH.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

# Public to the other parts of the program, and to nobody else.
INNER = {
    "core.encoding", "core.given_encoder", "core.index_folder", "core.open_encoder", "core.refresh_encoding",
    "core.resident", "core.settle_encoding", "core.snapshot", "core.changing", "core.close", "core.ensure_session",
    "core.memory", "core.new_id", "core.num", "core.reading", "core.state", "core.use_encoding",
    "layers.states", "core.discard_index", "core.making", "core.refuse_read_only", "crafts.put",
    "encoder.change", "encoder.drain_quietly", "audit.watched", "core.await_vectors", "core.second_key",
    "tasks.refuse_anothers",
}  # fmt: skip

START, END = "<!-- options: written by `python tests/docs/test_docs_python.py` -->", "<!-- end of options -->"
WRITTEN = {
    Check.LABEL: "text", Check.NAMESPACE: "text", Check.TEXTS: "texts", Check.TAGS: "texts", Check.COMMANDS: "texts",
    Check.LIMIT: "whole number", Check.SIZE: "whole number", Check.COUNT: "whole number", Check.SHARE: "0 to 1",
    Check.FLAG: "true, false", Check.MOMENT: "milliseconds", Check.EDGE: "a day in words",
    Check.FACTORS: "number by name",
}  # fmt: skip


def options_table() -> str:
    """Every option of a question, as the one table has it."""
    rows = ["| option | value | what it says | command | HTTP, MCP |", "| --- | --- | --- | --- | --- |"]
    for name, option in OPTIONS.items():
        value = ", ".join(option.choices or option.parts) or WRITTEN[option.check]
        flag, json = (f"`{flags_of(name)[0]}`", f"`{json_name(name)}`") if not option.python_only else ("", "")
        rows.append(f"| `{name}` | {value} | {about(name)} | {flag} | {json} |")
    return "\n".join(rows)


def test_the_table_of_options_is_the_one_that_is_checked() -> None:
    held = PAGE.partition(START)[2].partition(END)[0].strip()
    assert held == options_table(), "run `python tests/docs/test_docs_python.py`"


@pytest.mark.parametrize("name", recallens.__all__)
def test_every_public_name_is_loaded_and_documented(name: str) -> None:
    assert getattr(recallens, name) is not None
    assert re.search(rf"\b{name}\b", PAGE), f"docs/python.md does not mention {name}"


def test_every_name_of_the_engine_and_of_its_nouns_is_documented(engine: recallens.Engine) -> None:
    names = {name for name in dir(engine) if not name.startswith("_")}
    nouns = {name for name in names if not callable(getattr(engine, name))}
    names |= {f"{noun}.{name}" for noun in nouns for name in dir(getattr(engine, noun)) if not name.startswith("_")}
    missing = sorted(name for name in names - INNER if not re.search(rf"\b{name.rpartition('.')[2]}\b", PAGE))
    assert not missing, f"docs/python.md does not mention {missing}"
    assert not INNER - names, "INNER names what is no more"


def test_the_names_that_are_imported_lazily_are_the_stable_ones() -> None:
    assert sorted(recallens.__all__) == sorted(set(recallens.__all__))
    assert set(recallens._HOMES) | {"open"} == set(recallens.__all__)


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), scope)
    assert len(BLOCKS) >= 6


@pytest.mark.slow
def test_the_tour_runs() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "tour.py")], capture_output=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "Tracking cache is invalidated by events" in done.stdout
    assert "then: Tracking cache TTL is 60 seconds" in done.stdout


if __name__ == "__main__":
    before, _, rest = PAGE.partition(START)
    PATH.write_text(f"{before}{START}\n{options_table()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
