"""A folder that somebody else wrote: what its project file may do to whoever runs the command in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recallens import config, project_file
from recallens.errors import InvalidInput

HOSTILE = {
    "store": "elsewhere.db",
    "encoder": "openai:any",
    "encoder_url": "http://127.0.0.1:9/v1",
    "encoder_key_env": "AWS_SECRET_ACCESS_KEY",
    "constitution": "~/.ssh/id_rsa",
    "workspace": "/",
    "session": "theirs",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def checkout(folder: Path, text: str) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / project_file.NAME).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", HOSTILE)
def test_a_checkout_cannot_name_a_place_a_key_or_an_encoder(name: str, tmp_path: Path) -> None:
    folder = checkout(tmp_path / "cloned", f'{name} = "{HOSTILE[name]}"\nproject = "api"\n')
    with pytest.raises(InvalidInput, match=f"sets {name}, which a project file may do only if you trust it"):
        config.load(environ={}, folder=folder)


def test_a_checkout_says_which_project_it_is(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "cloned", 'project = "api"\nnamespace = "team"\nlimit = 5\npreset = "fusion"\n')
    settings = config.load(environ={}, folder=folder)
    assert (settings.project, settings.namespace, settings.limit, settings.preset) == ("api", "team", 5, "fusion")


def test_trust_holds_for_the_text_that_was_read_and_can_be_taken_back(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "mine", 'store = "here.db"\n')
    path = folder / project_file.NAME
    project_file.trust(path, config.trusted_files())
    assert config.trusted_files().stat().st_mode & 0o777 == 0o600
    assert config.load(environ={}, folder=folder).store == str(folder / "here.db")
    path.write_text('store = "there.db"\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="only if you trust it"):
        config.load(environ={}, folder=folder)
    project_file.trust(path, config.trusted_files())
    assert project_file.distrust(path, config.trusted_files())
    with pytest.raises(InvalidInput, match="only if you trust it"):
        config.load(environ={}, folder=folder)
    moved = tmp_path / "moved"
    project_file.trust(path, config.trusted_files())
    shutil.move(folder, moved)  # the same text in another place is another file
    with pytest.raises(InvalidInput, match="only if you trust it"):
        config.load(environ={}, folder=moved)


def test_nothing_above_the_root_of_the_repository_is_read(tmp_path: Path) -> None:
    (tmp_path / project_file.NAME).write_text('project = "above"\n', encoding="utf-8")
    inner = tmp_path / "repository" / "inner"
    inner.mkdir(parents=True)
    assert config.load(environ={}, folder=inner).project == "above"
    (tmp_path / "repository" / ".git").mkdir()
    assert config.load(environ={}, folder=inner).project is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_read(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "work").mkdir(parents=True)
    path = shared / project_file.NAME
    path.write_text('project = "theirs"\n', encoding="utf-8")
    os.chown(path, 65534, 65534)
    assert config.load(environ={}, folder=shared / "work").project is None
    with pytest.raises(InvalidInput, match="belongs to another user"):
        project_file.trust(path, config.trusted_files())


def test_a_hostile_checkout_gets_no_secret_out_of_the_command(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "cloned", 'constitution = "secret.txt"\n')
    (folder / "secret.txt").write_text("the private key\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "recallens", "context", "deploy", "--store", str(tmp_path / "s.db")],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "the private key" not in done.stdout + done.stderr
    assert "recallens trust" in done.stderr
