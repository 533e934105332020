"""Ledgers that an earlier version stored are read, held to their digest, replayed and explained as ever.

The packed ledger and the ledger file in `old/` were written by the version before records were msgspec Structs, from
memories of the sample in `examples/`.
"""

import json
from pathlib import Path

import pytest

from recallens import Engine
from recallens.errors import RecallensError
from recallens.model.ledger import Ledger
from recallens.model.memory import as_json
from recallens.model.snapshot import snapshot_id
from recallens.xray.explain import explain
from recallens.xray.ladder import query_from_record
from recallens.xray.replay import replay

OLD = Path(__file__).parent / "old"
EXPECTED = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))


def from_store() -> Ledger:
    return Ledger.unpacked((OLD / "ledger.packed").read_bytes())


def from_file() -> Ledger:
    return Ledger.from_json(json.loads((OLD / "ledger.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("read", [from_store, from_file])
def test_an_old_ledger_is_what_it_was(read) -> None:  # type: ignore[no-untyped-def]
    ledger = read()
    assert ledger.digest() == EXPECTED["digest"]
    assert snapshot_id(ledger) == EXPECTED["snapshotId"]
    assert replay(ledger, digest=EXPECTED["digest"]).to_json()["results"] == EXPECTED["results"]
    assert as_json(explain(ledger).filters) == EXPECTED["filters"]
    assert query_from_record(ledger.query).filters.kind == "decision"


def test_packed_anew_it_is_still_the_same() -> None:
    ledger = from_store()
    again = Ledger.unpacked(ledger.packed())
    assert again.to_json() == ledger.to_json()
    assert again.digest() == EXPECTED["digest"]


def test_an_old_file_is_read_by_the_engine_and_refused_once_altered(engine: Engine, tmp_path: Path) -> None:
    assert engine.recalls.stored(str(OLD / "ledger.json")).digest() == EXPECTED["digest"]
    altered = json.loads((OLD / "ledger.json").read_text(encoding="utf-8"))
    altered["query"]["text"] = "something else"
    path = tmp_path / "altered.json"
    path.write_text(json.dumps(altered), encoding="utf-8")
    with pytest.raises(RecallensError, match="not what its digest was made of"):
        engine.recalls.stored(str(path))
