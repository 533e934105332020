"""bench/hooks.py on the sample: a prompt gets the right pointer, and silence where nothing helps."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"

pytestmark = pytest.mark.slow


def test_golden_prompts_get_the_right_pointer_and_others_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    spec = importlib.util.spec_from_file_location("bench_hooks", BENCH / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    with script.sample() as (_, engines):
        assert script.pointed(engines) >= 0.9
        assert script.silent(engines) >= 0.95
