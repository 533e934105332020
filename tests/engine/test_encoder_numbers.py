"""A vector that is no direction is never stored: what it belongs to waits, and is found by its words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from recallens.engine import Engine
from recallens.errors import EncoderFailed
from recallens.index.encoders.hashing import HashingEncoder
from recallens.index.encoders.protocol import Vectors
from recallens.ingest.draft import Draft


class Broken(HashingEncoder):
    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        found = super().encode_documents(texts)
        found[:, 0] = self.wrong
        return found

    wrong = np.nan


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_numbers_without_a_finite_value_are_refused(tmp_path: Path, wrong: float) -> None:
    encoder = Broken(64)
    encoder.wrong = wrong
    with Engine.open(tmp_path / "team.db", encoder=encoder) as engine:
        list(engine.memories.remember_many([Draft("the gateway listens on port 8443")]))
        with pytest.raises(EncoderFailed, match="without a finite value"):
            engine.encoder.drain()
        assert [one.memory.content for one in engine.search("gateway").results] == ["the gateway listens on port 8443"]
        assert engine.core.encoding.key is not None
        with engine.core.store.read_all() as reader:
            assert reader.backlog_size(engine.core.encoding.key) == 1
