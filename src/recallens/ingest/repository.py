"""The repository that a folder is checked out of: what git says of it, which is asked and never changes anything."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from recallens.model.citation import Standing, Worktree, standing_at

GIT_SECONDS: Final = 20

# Whoever wrote a checkout may have written its .git/config, which can name programs that git is to run. What is said on
# the command line goes before it.
SAFE_GIT: Final = (
    "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.sshCommand=false",
    "-c", "core.askPass=", "-c", "credential.helper=", "-c", "log.showSignature=false", "-c", "gpg.program=false",
    "-c", "gpg.ssh.program=false", "-c", "gpg.x509.program=false", "-c", "diff.external=",
    "-c", "core.alternateRefsCommand=", "-c", "protocol.allow=never",
)  # fmt: skip
SAFE_LOG: Final = ("--no-show-signature", "--no-ext-diff", "--no-textconv")

Verdict = tuple[Standing, str]

VERIFIED: Final[Verdict] = (Standing.VERIFIED, "")


def worktree_of(root: Path) -> Worktree:
    """The checkout that a folder is in, or the folder alone where it is in none or there is no git."""
    place = git(root, ["rev-parse", "--show-toplevel", "--git-common-dir"], "")
    if isinstance(place, Exception) or len(place.splitlines()) != 2:
        return Worktree(str(root))
    top, common = place.splitlines()
    commit = git(root, ["rev-parse", "--verify", "--quiet", "HEAD"], "")  # fails before the first commit
    branch = git(root, ["symbolic-ref", "--quiet", "--short", "HEAD"], "")  # fails where no branch is checked out
    return Worktree(
        top,
        branch.strip() if isinstance(branch, str) else "",
        commit.strip() if isinstance(commit, str) else "",
        str((root / common).resolve()),
    )


def commit_standings(root: Path, hashes: Sequence[str]) -> dict[str, Verdict]:
    """One git process for all commits, which can neither ask, fetch nor write."""
    asked = list(dict.fromkeys(hashes))
    # `^{commit}` lets a short hash mean the commit among several objects.
    answer = git(root, ["cat-file", "--batch-check"], "".join(f"{hash}^{{commit}}\n" for hash in asked))
    if isinstance(answer, Exception):
        return dict.fromkeys(asked, (Standing.UNKNOWN, _git_failure(answer, root)))
    lines = answer.splitlines()
    if len(lines) != len(asked):
        return dict.fromkeys(asked, (Standing.UNKNOWN, "git gave no answer for each commit"))
    standings = {hash: _standing(hash, line) for hash, line in zip(asked, lines, strict=True)}
    missing = [hash for hash, (standing, _) in standings.items() if standing is Standing.STALE]
    shallow = git(root, ["rev-parse", "--is-shallow-repository"], "") if missing else ""
    if isinstance(shallow, str) and shallow.strip() == "true":
        # A clone without its history cannot tell a commit that is gone from one that was never fetched.
        standings |= dict.fromkeys(missing, (Standing.UNKNOWN, "the repository is a shallow clone without it"))
    return standings


def work_tree(folder: Path) -> Path | None:
    """The nearest folder from here upwards that a repository is checked out in."""
    return next((candidate for candidate in (folder, *folder.parents) if (candidate / ".git").exists()), None)


def checked_out(folder: Path) -> str | None:
    """The checkout that a folder is in, by its root and branch; no process is started for it."""
    root = work_tree(folder.resolve())
    if root is None:
        return None
    try:
        place = root / ".git"
        if place.is_file():  # of a worktree it says where git keeps the rest
            place = root / place.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        head = (place / "HEAD").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    branch = head.removeprefix("ref: refs/heads/")
    return standing_at(str(root), "" if branch == head else branch)


def _standing(hash: str, line: str) -> Verdict:
    words = line.split()
    if len(words) == 3 and words[1] == "commit":
        return VERIFIED
    if line.endswith(" ambiguous"):
        return Standing.UNKNOWN, f"several commits begin with {hash}"
    return Standing.STALE, f"the repository has no commit {hash}"


def git(root: Path, arguments: Sequence[str], stdin: str) -> str | Exception:
    # Inside a hook, git's variables name another repository than the one that is asked about.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [*SAFE_GIT, "-C", str(root), *arguments],
            input=stdin, capture_output=True, encoding="utf-8", errors="replace",
            timeout=GIT_SECONDS, check=True, env=environment,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return error
    return done.stdout


def _git_failure(error: Exception, root: Path) -> str:
    match error:
        case FileNotFoundError():
            return "git is not installed"
        case subprocess.TimeoutExpired():
            return f"git took over {GIT_SECONDS} seconds"
        case subprocess.CalledProcessError(stderr=str(stderr)) if "not a git repository" in stderr:
            return f"{root} is no git repository"
        case subprocess.CalledProcessError(stderr=str(stderr)) if stderr.strip():
            return f"git refused: {stderr.strip().splitlines()[0]}"
        case _:
            return f"git cannot be run ({error})"
