"""Every server has a home of its own, and is started once for the scenes that only ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_scene import Desk, over_stdio

from recallens import Draft, Engine


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that the servers of several scenes read."""
    store = tmp_path_factory.mktemp("mcp") / "store.db"
    with Engine.open(store, encoder="hashing:64") as engine:
        engine.tasks.start("Get the gateway back after a bad release", id="earlier")
        engine.remember(
            Draft("Roll back the gateway with the release job and the last green tag.", kind="pattern", task="earlier")
        )
        engine.remember("The gateway runs in the edge cluster in Frankfurt, see deploy/gateway.yaml:12.")
        engine.remember("게이트웨이 배포는 화요일에 한다.")
        engine.crafts.record_skill("gateway rollback", core_principles=["Drain first"], pitfalls=["Never on a Friday"])
        engine.crafts.record_pattern("Roll back by tag", description="Take the last green tag.")
        engine.crafts.record_gotcha(
            "Stuck pods", description="Pods hang after a rollback.", resolution="Drain them.",
            files=["deploy/pods.yaml"], trigger_conditions=["rollback"],
        )  # fmt: skip
    return store


@pytest.fixture(scope="module")
def desk(filled: Path) -> Iterator[Desk]:
    with over_stdio(filled) as opened:
        yield opened


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"
