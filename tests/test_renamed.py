"""What was called otherwise before: old stores and ledgers are read, and an old setting is named with its new name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recallens import config, project_file, renamed
from recallens.engine import Engine
from recallens.errors import InvalidInput, UnknownOption


def test_an_old_variable_is_named_with_its_new_name() -> None:
    with pytest.raises(InvalidInput, match=f"{renamed.PREFIX}STORE is set, and is called RECALLENS_STORE now"):
        config.load(environ={f"{renamed.PREFIX}STORE": "a.db"})


def test_an_old_project_file_is_named_with_its_new_name(tmp_path: Path) -> None:
    (tmp_path / renamed.PROJECT_FILE).write_text('store = "a.db"')
    (tmp_path / "inner").mkdir()
    with pytest.raises(InvalidInput, match=r"is called .*\.recallens\.toml now"):
        config.load(environ={}, folder=tmp_path / "inner")
    (tmp_path / project_file.NAME).write_text('project = "b"')
    assert config.load(environ={}, folder=tmp_path / "inner").project == "b"


def test_an_old_user_file_is_named_with_its_new_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    old = tmp_path / renamed.FOLDER / "config.toml"
    old.parent.mkdir()
    old.write_text("limit = 3")
    with pytest.raises(InvalidInput, match=r"is called .*config\.toml now"):
        config.load(environ={})


def test_a_store_in_the_old_default_place_stays_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert config.default_store() == tmp_path / "recallens" / "store.db"
    old = tmp_path / renamed.FOLDER / "store.db"
    old.parent.mkdir()
    with Engine.open(old, encoder="none") as engine:
        engine.remember("Deploys go out on Tuesdays")
    assert config.default_store() == old
    with Engine.open(encoder="none") as engine:
        assert engine.search("deploys").results


def test_a_ledger_that_names_an_old_preset_replays(engine: Engine, tmp_path: Path) -> None:
    """Its decisions stand as they are; asked again, it is asked under the present name."""
    engine.remember("Deploys go out on Tuesdays")
    ledger = engine.recall(engine.recalls.question("when do deploys go out", preset="adaptive")).ledger
    (old_name,) = renamed.PRESETS
    record = json.loads(json.dumps(ledger.to_json()).replace('"adaptive"', f'"{old_name}"'))
    record.pop("digest", None)
    old = tmp_path / "old.json"
    old.write_text(json.dumps(record))
    replayed, differences = engine.replay(str(old))
    assert len(replayed.ids) == 1
    assert differences == []
    with pytest.raises(UnknownOption, match="adaptive"):
        engine.recalls.query("when do deploys go out", preset=old_name)
