"""Whether cited things are there: files and symbols below a root, commits in its repository, logs in the store.

Nothing outside the root is opened, whatever a citation says: it was written by whoever wrote the memory.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import replace

from recallens.ingest.cited_lines import (
    Comparison,
    cited_range,
    compare,
    found_in,
    lines_of,
    print_of,
    print_of_bytes,
)
from recallens.ingest.definitions import definition
from recallens.ingest.line_hashes import hashes_of
from recallens.ingest.repository import VERIFIED, Verdict, commit_standings, git, worktree_of
from recallens.model import citation as model
from recallens.model.citation import Checked, Citation, CitedLines, Finding, Standing, Worktree
from recallens.model.memory import ID_LENGTH

# A file that is longer than this is data; whether it has a line or a name is not looked up.
MOST_BYTES: Final = 32 * 1024 * 1024
# Of the files that git tracks, among which lines are looked for that left their own: how many and how large, and how
# many of those that hold a line of them are compared.
MOST_TRACKED: Final = 5_000
MOST_TRACKED_BYTES: Final = 32 * 1024 * 1024
MOST_BYTES_OF_ONE: Final = 512 * 1024
MOST_CANDIDATES: Final = 20
NO_ROOT: Final = "no workspace was given to look in"
OUTSIDE: Final = "lies outside the workspace"

_STORE_ID: Final = re.compile(rf"[0-9A-HJKMNP-TV-Z]{{{ID_LENGTH}}}")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_NAME_PARTS: Final = re.compile(r"\w+")
_COMMIT_HASH: Final = re.compile(r"[0-9a-f]{40,64}")
# What is looked at to tell a binary file, as git does.
_SNIFFED: Final = 8_000

# The kind of each artifact that the store has, by its id.
Artifacts = Mapping[str, str]


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
        return VERIFIED
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
        self._tracked = cache(self._tracked_lines)

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
            here = self._gone(citation, known, place[1])
            if renamed is None:
                return self._moved(citation, known, here)
            cited, place = renamed, _located(renamed, self.root)
            if not isinstance(place, Path):
                return self._moved(citation, known, here)
        if not isinstance(place, Path):
            return Checked(citation, *place)
        if _is_whole(citation) and known is None:
            return Checked(citation, *VERIFIED)
        content = self._read(place)
        if isinstance(content, str):
            return Checked(citation, Standing.UNKNOWN, f"{cited} {content}")
        if known is not None:
            return self._moved(citation, known, _compared(citation, known, content, cited))
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
        """Files that are called otherwise since the commit, staged or committed; no file is read."""
        if self.root is None or not self.worktree.commit or not _COMMIT_HASH.fullmatch(commit):
            return {}
        compared = ["diff-index", "--cached", "-z", "-M", "--name-status", "--diff-filter=R", "--relative", commit]
        answer = git(self.root, compared, "")
        fields = answer.split("\0") if isinstance(answer, str) else []
        return dict(zip(fields[1::3], fields[2::3], strict=False))

    def _moved(self, citation: FileOrSymbol, known: CitedLines, here: Checked) -> Checked:
        """Lines that are gone from their file, or mostly others there, and stand in one other file of the repository:
        as they were, or as the one definition of the symbol."""
        said = sum(map(bool, known.lines))
        mostly = here.finding is Finding.CHANGED and 2 * here.changed > said
        if not said or _is_whole(citation) or not (here.finding is Finding.GONE or mostly):
            return here
        files, places = self._tracked()
        anchor = min(filter(None, known.lines), key=lambda line: len(places.get(line, ())))
        cited = _path(citation).replace("\\", "/")
        found = {path: stands for path in sorted(set(places.get(anchor, ())) - {cited})[:MOST_CANDIDATES]
                 if (stands := found_in(known, files[path])) is not None}  # fmt: skip
        at = f" since commit {known.commit[:10]}" if known.commit else ""
        if len(found) == 1:
            path, (first, last) = next(iter(found.items()))
            now = f"{path}:{first}" + (f"-{last}" if last > first else "")
            return Checked(citation, Standing.VERIFIED, f"moved to {now}{at}", Finding.MOVED, now)
        if isinstance(citation, model.SymbolCitation) and here.finding is Finding.GONE and not found:
            own = PurePosixPath(cited).suffix
            defined = [path for path, lines in files.items()
                       if path != cited and path.endswith(own) and definition(lines, citation.name)]  # fmt: skip
            if len(defined) == 1:
                content = Content(b"", files[defined[0]])
                return _compared(citation, known, content, defined[0])
        return here

    def _tracked_lines(self) -> tuple[dict[str, Sequence[str]], dict[str, list[str]]]:
        """The text files that git tracks below the root, as far as there is room, and in which of them each line is."""
        listed = git(self.root, ["ls-files", "-z"], "") if self.root is not None and self.worktree.commit else ""
        files: dict[str, Sequence[str]] = {}
        places: dict[str, list[str]] = {}
        room = MOST_TRACKED_BYTES
        for path in listed.split("\0")[:MOST_TRACKED] if isinstance(listed, str) else ():
            place = _located(path, self.root) if path else OUTSIDE
            if not isinstance(place, Path) or place.stat().st_size > min(room, MOST_BYTES_OF_ONE):
                continue
            content = self._read(place)
            if isinstance(content, str) or content.lines is None:
                continue
            room -= len(content.data)
            files[path] = content.lines
            for line in set(hashes_of(content.lines)):
                places.setdefault(line, []).append(path)
        return files, places


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
        return VERIFIED if there else (Standing.STALE, f"{cited} does not name {citation.name}")
    last = citation.end_line or citation.start_line or 0
    return VERIFIED if last <= len(lines) else (Standing.STALE, f"{cited} has {len(lines)} lines, not {last}")


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
