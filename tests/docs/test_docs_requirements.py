"""The requirements page names tests; each must exist, so that a tick cannot outlive its proof."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


def test_every_test_that_proves_a_requirement_exists() -> None:
    missing = [
        f"{path}::{name}"
        for path, name in NAMED
        if not re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert missing == []
    assert len(NAMED) >= 30


def test_every_ticked_row_names_a_test() -> None:
    ticked = [line for line in PAGE.splitlines() if line.startswith("|") and "| ✓ |" in line]
    assert ticked
    assert [line for line in ticked if "::test_" not in line] == []
