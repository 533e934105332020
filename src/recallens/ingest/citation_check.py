"""Whether cited things are there: files and symbols below a root, commits in its repository, logs in the store.

Nothing outside the root is opened, whatever a citation says: it was written by whoever wrote the memory.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import replace

from recallens.ingest.cited_lines import Comparison, cited_range, compare, lines_of, print_of, print_of_bytes
from recallens.model import citation as model
from recallens.model.citation import Checked, Citation, CitedLines, Finding, Standing, Worktree
from recallens.model.memory import ID_LENGTH

# A file that is longer than this is data; whether it has a line or a name is not looked up.
MOST_BYTES: Final = 32 * 1024 * 1024
NO_ROOT: Final = "no workspace was given to look in"
OUTSIDE: Final = "lies outside the workspace"
GIT_SECONDS: Final = 20

_STORE_ID: Final = re.compile(rf"[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_NAME_PARTS: Final = re.compile(r"\w+")
_COMMIT_HASH: Final = re.compile(r"[0-9a-f]{40,64}")
# What is looked at to tell a binary file, as git does.
_SNIFFED: Final = 8_000

# The kind of each artifact that the store has, by its id.
Artifacts = Mapping[str, str]
Verdict = tuple[Standing, str]

_VERIFIED: Final[Verdict] = (Standing.VERIFIED, "")


def verify(
    citations: Iterable[tuple[Citation, CitedLines | None]], checkout: Checkout, artifacts: Artifacts
) -> dict[tuple[Citation, CitedLines | None], Checked]:
    """A verdict for each distinct citation, with the lines that it was made for where they are known. Each file is read
    once, and git is asked once for all commits.
    """
    wanted = list(dict.fromkeys(citations))
    hashes = [citation.hash for citation, _ in wanted if isinstance(citation, model.CommitCitation)]
    commits = commit_standings(checkout.root, hashes) if hashes and checkout.root is not None else {}
    return {pair: _judge(*pair, checkout, commits, artifacts) for pair in wanted}


def _judge(
    citation: Citation, known: CitedLines | None, checkout: Checkout, commits: Mapping[str, Verdict],
    artifacts: Artifacts,
) -> Checked:  # fmt: skip
    match citation:
        case model.CommitCitation():
            return Checked(citation, *commits.get(citation.hash, (Standing.UNKNOWN, NO_ROOT)))
        case model.FileCitation() | model.SymbolCitation():
            return checkout.check(citation, known)
        case model.TerminalCitation():
            return Checked(citation, *_artifact(citation.id, "terminal_snapshot", artifacts))
        case model.LogCitation():
            return Checked(citation, *_artifact(citation.pointer, "log", artifacts))
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


class Checkout:
    """A folder in which cited files are looked for; each file is read once."""

    def __init__(self, root: Path | None) -> None:
        self.root = None if root is None else root.resolve()
        self.worktree = Worktree() if self.root is None else worktree_of(self.root)
        self._read = cache(_read)
        self._renamed = cache(self._renames)

    def take(self, citation: Citation) -> CitedLines | None:
        """The cited lines as they are now; None where they are not there, or the citation has none."""
        if not isinstance(citation, model.FileCitation | model.SymbolCitation):
            return None
        place = _located(_path(citation), self.root)
        content = self._read(place) if isinstance(place, Path) else ""
        if isinstance(content, str):
            return None
        if content.lines is None:
            taken = print_of_bytes(content.data) if _is_whole(citation) else None
        else:
            stands = cited_range(citation, content.lines)
            taken = None if stands is None else print_of(content.lines, *stands)
        stamp = {"commit": self.worktree.commit, "repository": self.worktree.repository}
        return None if taken is None else replace(taken, **stamp)

    def check(self, citation: FileOrSymbol, known: CitedLines | None) -> Checked:
        cited = _path(citation)
        place = _located(cited, self.root)
        if not isinstance(place, Path) and known is not None and place[0] is Standing.STALE:
            renamed = self._renamed(known.commit).get(cited.replace("\\", "/")) if known.commit else None
            if renamed is None:
                return self._gone(citation, known, place[1])
            cited, place = renamed, _located(renamed, self.root)
            if not isinstance(place, Path):
                return self._gone(citation, known, place[1])
        if not isinstance(place, Path):
            return Checked(citation, *place)
        if _is_whole(citation) and known is None:
            return Checked(citation, *_VERIFIED)
        content = self._read(place)
        if isinstance(content, str):
            return Checked(citation, Standing.UNKNOWN, f"{cited} {content}")
        if known is not None:
            return _compared(citation, known, content, cited)
        if content.lines is None:
            return Checked(citation, Standing.UNKNOWN, f"{cited} is binary: it has no lines")
        return Checked(citation, *_present(citation, content.lines, cited))

    def _gone(self, citation: FileOrSymbol, known: CitedLines, reason: str) -> Checked:
        ours = self.worktree.repository
        if known.repository and ours and known.repository != ours:
            elsewhere = "this checkout is of another repository than it was cited in"
            return Checked(citation, Standing.UNKNOWN, f"{reason}, and {elsewhere}")
        return Checked(citation, Standing.STALE, f"{reason}{_since(known)}", Finding.GONE)

    def _renames(self, commit: str) -> dict[str, str]:
        """Files that are called otherwise since the commit: the trees of the two are compared, and no file is read."""
        if self.root is None or not self.worktree.commit or not _COMMIT_HASH.fullmatch(commit):
            return {}
        compared = ["diff-tree", "-r", "-z", "-M", "--name-status", "--diff-filter=R", "--relative", commit, "HEAD"]
        answer = _git(self.root, compared, "")
        fields = answer.split("\0") if isinstance(answer, str) else []
        return dict(zip(fields[1::3], fields[2::3], strict=False))


class Content(Struct, frozen=True):
    """A file that was read; `lines` are None where it is binary."""

    data: bytes
    lines: Sequence[str] | None


FileOrSymbol = model.FileCitation | model.SymbolCitation


def _path(citation: FileOrSymbol) -> str:
    return citation.path if isinstance(citation, model.FileCitation) else citation.file


def _is_whole(citation: FileOrSymbol) -> bool:
    return isinstance(citation, model.FileCitation) and citation.start_line is None and not citation.end_line


def _since(known: CitedLines) -> str:
    return f" any more (cited at commit {known.commit[:10]})" if known.commit else " any more"


def _present(citation: FileOrSymbol, lines: Sequence[str], cited: str) -> Verdict:
    """Whether the lines or the name are there, where nobody knows what they were."""
    if isinstance(citation, model.SymbolCitation):
        content = "\n".join(lines)
        names = _NAME_PARTS.findall(citation.name) or [citation.name]
        there = all(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", content) for name in names)
        return _VERIFIED if there else (Standing.STALE, f"{cited} does not name {citation.name}")
    last = citation.end_line or citation.start_line or 0
    return _VERIFIED if last <= len(lines) else (Standing.STALE, f"{cited} has {len(lines)} lines, not {last}")


def _compared(citation: FileOrSymbol, known: CitedLines, content: Content, cited: str) -> Checked:
    """`cited` is the file as it is called now."""
    symbol, whole, renamed = isinstance(citation, model.SymbolCitation), _is_whole(citation), cited != _path(citation)
    if content.lines is None or not known.start:
        same = print_of_bytes(content.data).hash == known.hash
        found = Comparison(Finding.UNCHANGED if same else Finding.CHANGED)
    else:
        place = cited_range(citation, content.lines)
        found = compare(known, content.lines, place, whole=symbol or whole)
        if symbol and place is None:
            found = Comparison(Finding.GONE)
    at = f" since commit {known.commit[:10]}" if known.commit else ""
    last = f"-{found.end}" if found.end > found.start else ""
    now = f"{cited}:{found.start}{last}" if found.start and not whole else cited
    match found.finding:
        case Finding.UNCHANGED if not renamed:
            return Checked(citation, Standing.VERIFIED, finding=Finding.UNCHANGED)
        case Finding.UNCHANGED | Finding.MOVED:
            return Checked(citation, Standing.VERIFIED, f"moved to {now}{at}", Finding.MOVED, now)
        case Finding.GONE:
            what = citation.name if isinstance(citation, model.SymbolCitation) else "the cited lines"
            return Checked(citation, Standing.STALE, f"{cited} does not have {what}{_since(known)}", Finding.GONE)
        case Finding.CHANGED:
            lines = f"{found.changed} of {found.of} lines of {cited}" if found.changed else cited
            return Checked(citation, Standing.STALE, f"{lines} changed{at}", Finding.CHANGED, now, found.changed)
    assert_never(found.finding)


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


def _read(path: Path) -> Content | str:
    """The file, or why it could not be looked into."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    if len(data) > MOST_BYTES:
        return f"is larger than {MOST_BYTES >> 20} MiB, and was not looked into"
    return Content(data, None if b"\0" in data[:_SNIFFED] else lines_of(data.decode("utf-8", "replace")))


def worktree_of(root: Path) -> Worktree:
    """The checkout that a folder is in, or the folder alone where it is in none or there is no git."""
    place = _git(root, ["rev-parse", "--show-toplevel", "--git-common-dir"], "")
    if isinstance(place, Exception) or len(place.splitlines()) != 2:
        return Worktree(str(root))
    top, common = place.splitlines()
    commit = _git(root, ["rev-parse", "--verify", "--quiet", "HEAD"], "")  # fails before the first commit
    branch = _git(root, ["symbolic-ref", "--quiet", "--short", "HEAD"], "")  # fails where no branch is checked out
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
