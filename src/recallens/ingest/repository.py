"""Which commits a repository has: one git process for all of them, which can neither ask, fetch nor write."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from recallens.model.citation import Standing

SECONDS: Final = 20

Verdict = tuple[Standing, str]


def commit_standings(root: Path, hashes: Sequence[str]) -> dict[str, Verdict]:
    asked = list(dict.fromkeys(hashes))
    # `^{commit}` lets a short hash mean the commit among several objects.
    answer = _git(root, ["cat-file", "--batch-check"], "".join(f"{hash}^{{commit}}\n" for hash in asked))
    if isinstance(answer, Exception):
        return dict.fromkeys(asked, (Standing.UNKNOWN, _told(answer, root)))
    lines = answer.splitlines()
    if len(lines) != len(asked):
        return dict.fromkeys(asked, (Standing.UNKNOWN, "git gave no answer for each commit"))
    found = {hash: _read(hash, line) for hash, line in zip(asked, lines, strict=True)}
    if any(standing is Standing.STALE for standing, _ in found.values()) and _shallow(root):
        # A clone without its history cannot tell a commit that is gone from one that was never fetched.
        reason = "the repository is a shallow clone without it"
        return {hash: (Standing.UNKNOWN, reason) if v[0] is Standing.STALE else v for hash, v in found.items()}
    return found


def work_tree(folder: Path) -> Path | None:
    """The nearest folder from here upwards that a repository is checked out in."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    return None


def _read(hash: str, line: str) -> Verdict:
    words = line.split()
    if len(words) == 3 and words[1] == "commit":
        return Standing.VERIFIED, ""
    if line.endswith(" ambiguous"):
        return Standing.UNKNOWN, f"several commits begin with {hash}"
    return Standing.STALE, f"the repository has no commit {hash}"


def _shallow(root: Path) -> bool:
    answer = _git(root, ["rev-parse", "--is-shallow-repository"], "")
    return isinstance(answer, str) and answer.strip() == "true"


def _git(root: Path, arguments: Sequence[str], given: str) -> str | Exception:
    # Inside a hook, git's variables name another repository than the one that is asked about.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            input=given, capture_output=True, encoding="utf-8", errors="replace",
            timeout=SECONDS, check=True, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return error
    return done.stdout


def _told(error: Exception, root: Path) -> str:
    match error:
        case FileNotFoundError():
            return "git is not installed"
        case subprocess.TimeoutExpired():
            return f"git took over {SECONDS} seconds"
        case subprocess.CalledProcessError(stderr=str(said)) if "not a git repository" in said:
            return f"{root} is no git repository"
        case subprocess.CalledProcessError(stderr=str(said)) if said.strip():
            return f"git refused: {said.strip().splitlines()[0]}"
        case _:
            return f"git cannot be run ({error})"
