"""Whether cited things are there: files and symbols below a root, commits in its repository, logs in the store.

Nothing outside the root is opened, whatever a citation says: it was written by whoever wrote the memory.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, assert_never

from recallens.model import citation as model
from recallens.model.citation import Checked, Citation, Standing
from recallens.model.memory import ID_LENGTH

# A file that is longer than this is data; whether it has a line or a name is not looked up.
MOST_BYTES: Final = 32 * 1024 * 1024
NO_ROOT: Final = "no workspace was given to look in"
OUTSIDE: Final = "lies outside the workspace"
GIT_SECONDS: Final = 20

_STORE_ID: Final = re.compile(rf"[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_NAME_PARTS: Final = re.compile(r"\w+")

# The kind of each artifact that the store has, by its id.
Artifacts = Mapping[str, str]
Verdict = tuple[Standing, str]
Text = Callable[[Path], str | None]

_VERIFIED: Final[Verdict] = (Standing.VERIFIED, "")


def verify(citations: Iterable[Citation], *, root: Path | None, artifacts: Artifacts) -> dict[Citation, Checked]:
    """A verdict for each distinct citation; each file is read once, and git is asked once for all commits."""
    wanted = list(dict.fromkeys(citations))
    hashes = [citation.hash for citation in wanted if isinstance(citation, model.CommitCitation)]
    commits = commit_standings(root, hashes) if hashes and root is not None else {}
    base = root.resolve() if root is not None else None
    text = cache(_read)
    return {citation: Checked(citation, *_judge(citation, base, commits, artifacts, text)) for citation in wanted}


def _judge(
    citation: Citation, root: Path | None, commits: Mapping[str, Verdict], artifacts: Artifacts, text: Text
) -> Verdict:
    match citation:
        case model.CommitCitation():
            return commits.get(citation.hash, (Standing.UNKNOWN, NO_ROOT))
        case model.FileCitation() | model.SymbolCitation():
            return _file(citation, root, text)
        case model.TerminalCitation():
            return _artifact(citation.id, "terminal_snapshot", artifacts)
        case model.LogCitation():
            return _artifact(citation.pointer, "log", artifacts)
    assert_never(citation)


def artifact_id(pointer: str) -> str:
    """A pointer may lead into an artifact: what stands behind # is a place in it."""
    return pointer.partition("#")[0].strip()


def _artifact(pointer: str, kind: str, artifacts: Artifacts) -> Verdict:
    id = artifact_id(pointer)
    if artifacts.get(id) == kind:
        return _VERIFIED
    if id in artifacts:
        return Standing.STALE, f"{id} is no {kind} but a {artifacts[id]}"
    if _STORE_ID.fullmatch(id):
        return Standing.STALE, f"the store has no {kind} {id} any more"
    return Standing.UNKNOWN, f"{pointer} is not kept in this store"


def _file(citation: model.FileCitation | model.SymbolCitation, root: Path | None, text: Text) -> Verdict:
    cited = citation.path if isinstance(citation, model.FileCitation) else citation.file
    place = _located(cited, root)
    if not isinstance(place, Path):
        return place
    if isinstance(citation, model.FileCitation) and citation.start_line is None and not citation.end_line:
        return _VERIFIED
    content = text(place)
    if content is None:
        return Standing.UNKNOWN, f"{cited} cannot be read"
    if isinstance(citation, model.SymbolCitation):
        names = _NAME_PARTS.findall(citation.name) or [citation.name]
        there = all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", content) for name in names)
        return _VERIFIED if there else (Standing.STALE, f"{cited} does not name {citation.name}")
    last, lines = citation.end_line or citation.start_line or 0, len(content.splitlines())
    return _VERIFIED if last <= lines else (Standing.STALE, f"{cited} has {lines} lines, not {last}")


def _located(cited: str, root: Path | None) -> Path | Verdict:
    """The regular file that is meant, or what there is to say instead. Only names are looked at until it is inside."""
    if root is None:
        return Standing.UNKNOWN, NO_ROOT
    path = PurePosixPath(cited.replace("\\", "/"))
    elsewhere = path.is_absolute() and not path.is_relative_to(root)
    if elsewhere or ".." in path.parts or path.parts[:1] == ("~",) or _DRIVE.match(cited):
        return Standing.UNKNOWN, f"{cited} {OUTSIDE}"
    try:
        # A link on the way may lead anywhere, so that the place it ends at decides.
        place = (root / path).resolve()
        if not place.is_relative_to(root):
            return Standing.UNKNOWN, f"{cited} {OUTSIDE}"
        mode = place.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return Standing.STALE, f"{cited} does not exist"
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        return Standing.UNKNOWN, f"{cited} cannot be looked at ({reason})"
    return place if stat.S_ISREG(mode) else (Standing.STALE, f"{cited} is no file")


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError:
        return None
    return None if len(data) > MOST_BYTES else data.decode("utf-8", "replace")


def commit_standings(root: Path, hashes: Sequence[str]) -> dict[str, Verdict]:
    """One git process for all commits, which can neither ask, fetch nor write."""
    asked = list(dict.fromkeys(hashes))
    # `^{commit}` lets a short hash mean the commit among several objects.
    answer = _git(root, ["cat-file", "--batch-check"], "".join(f"{hash}^{{commit}}\n" for hash in asked))
    if isinstance(answer, Exception):
        return dict.fromkeys(asked, (Standing.UNKNOWN, _git_failure(answer, root)))
    lines = answer.splitlines()
    if len(lines) != len(asked):
        return dict.fromkeys(asked, (Standing.UNKNOWN, "git gave no answer for each commit"))
    standings = {hash: _standing(hash, line) for hash, line in zip(asked, lines, strict=True)}
    missing = [hash for hash, (standing, _) in standings.items() if standing is Standing.STALE]
    shallow = _git(root, ["rev-parse", "--is-shallow-repository"], "") if missing else ""
    if isinstance(shallow, str) and shallow.strip() == "true":
        # A clone without its history cannot tell a commit that is gone from one that was never fetched.
        standings |= dict.fromkeys(missing, (Standing.UNKNOWN, "the repository is a shallow clone without it"))
    return standings


def work_tree(folder: Path) -> Path | None:
    """The nearest folder from here upwards that a repository is checked out in."""
    return next((candidate for candidate in (folder, *folder.parents) if (candidate / ".git").exists()), None)


def _standing(hash: str, line: str) -> Verdict:
    words = line.split()
    if len(words) == 3 and words[1] == "commit":
        return _VERIFIED
    if line.endswith(" ambiguous"):
        return Standing.UNKNOWN, f"several commits begin with {hash}"
    return Standing.STALE, f"the repository has no commit {hash}"


def _git(root: Path, arguments: Sequence[str], stdin: str) -> str | Exception:
    # Inside a hook, git's variables name another repository than the one that is asked about.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
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
