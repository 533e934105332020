from __future__ import annotations

from pathlib import Path

import pytest
from judged_sets import conversation, documents


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    return conversation(tmp_path / "talks")


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    return documents(tmp_path / "pages")
