"""bench/silence.py on the sample: silent where nothing answers, and only there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "silence.py"

pytestmark = pytest.mark.slow


def test_off_topic_questions_meet_silence_and_golden_ones_an_answer() -> None:
    spec = importlib.util.spec_from_file_location("bench_silence", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    questions = script.off_topic()
    assert len(questions) == 100
    assert sum(not text.isascii() for text in questions) == 50
    figures = script.measured()
    assert figures["offTopicSilent"] >= 0.95
    assert figures["goldenAnswered"] >= 0.97
    assert figures["precisionRatio"] >= 3.0
    assert figures["recallLeft"] >= 0.95
