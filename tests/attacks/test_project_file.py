"""A folder that somebody else wrote: what its project file may do to whoever runs the command in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from recallens import config, project_file
from recallens.engine import Engine
from recallens.errors import InvalidInput
from recallens.ingest import repository

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


@pytest.mark.parametrize(
    "text", ["a." * 20_000 + "b=1", "a." * 8_000 + "b=1", '"a" . ' * 2_000 + "b=1", "project = " + "[" * 8_000]
)
def test_no_text_of_a_checkout_takes_memory_or_breaks_the_reader(text: str, tmp_path: Path) -> None:
    tracemalloc.start()
    with pytest.raises(InvalidInput, match=project_file.NAME):
        config.load(environ={}, folder=checkout(tmp_path / "cloned", text))
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_of_a_large_or_binary_file_no_more_is_read_than_settings_take(tmp_path: Path) -> None:
    folder = checkout(tmp_path / "cloned", "")
    os.truncate(folder / project_file.NAME, 3_000_000_000)
    with pytest.raises(InvalidInput, match="longer than the 16,384 bytes"):
        config.load(environ={}, folder=folder)
    (folder / project_file.NAME).write_bytes(b"project = '\xff'")
    for trusted in (config.load, lambda **_: project_file.trust(folder / project_file.NAME, tmp_path / "t.json")):
        with pytest.raises(InvalidInput, match="is not UTF-8"):
            trusted(environ={}, folder=folder)


@pytest.mark.parametrize("setting", [
    ("core.fsmonitor",), ("log.showSignature", "gpg.program"), ("diff.external",), ("core.hooksPath",),
])  # fmt: skip
def test_the_configuration_of_a_checkout_runs_nothing(setting: tuple[str, ...], tmp_path: Path) -> None:
    folder, ran = tmp_path / "cloned", tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n", encoding="utf-8")
    program.chmod(0o755)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    folder.mkdir()
    subprocess.run([*git, "init", "-q"], check=True)
    (folder / "a.py").write_text("x = 1\n", encoding="utf-8")
    subprocess.run([*git, "add", "."], check=True)
    signature = "-----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----"
    tree = subprocess.run([*git, "write-tree"], check=True, capture_output=True, text=True).stdout.strip()
    person = "a <a@b.c> 1700000000 +0000"
    commit = f"tree {tree}\nauthor {person}\ncommitter {person}\ngpgsig {signature}\n\nCranes rest at noon\n"
    made = subprocess.run([*git, "hash-object", "-t", "commit", "-w", "--stdin"], input=commit, check=True,
                          capture_output=True, text=True).stdout.strip()  # fmt: skip
    subprocess.run([*git, "update-ref", "HEAD", made], check=True)
    for name in setting:
        value = "true" if name == "log.showSignature" else str(program)
        subprocess.run([*git, "config", name, value], check=True)
    with Engine.open(tmp_path / "s.db", encoder="hashing", create=True) as engine:
        assert engine.maintenance.imports.run("git", str(folder)).imported == 1
    assert repository.worktree_of(folder).commit == made
    assert isinstance(repository.git(folder, ["ls-files", "--modified", "--others"], ""), str)
    assert not ran.exists()
