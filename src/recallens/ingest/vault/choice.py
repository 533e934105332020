"""Which files belong to a vault (scopes, hidden folders, the specified exclusions, patterns that overrule them), and
which of them a sync has to read: by looking at folders alone, no file is opened for it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from recallens.errors import InvalidInput
from recallens.ingest.vault.files import Closed, NoteFile, OtherFile, Root, Sight, Unentered
from recallens.ingest.vault.lessons import is_operational_path, is_raw_conversation
from recallens.ingest.vault.links import NOTE_SUFFIXES
from recallens.model.vault import LeftOutFiles, Problem, Seen, VaultFile, VaultOptions
from recallens.text.normalize import nfc

_NEVER_ENTERED = frozenset(("node_modules", "__pycache__"))


class Omission(Struct, frozen=True):
    """Why a file or folder is left out, what stands for it in a report, and how it is taken in."""

    what: str
    reason: str
    take_in: str = ""


class Choice(Struct, frozen=True):
    """`enters` is asked of folders, `omits` of files; both see paths relative to the root."""

    enters: Callable[[str], bool]
    omits: Callable[[str], Omission | None]  # None where the file is taken
    dropped: tuple[Problem, ...]


def choose(root: str, options: VaultOptions) -> Choice:
    scopes, dropped = resolve_scopes(root, options.scopes)
    if options.scopes and not scopes:
        reasons = "; ".join(f"{problem.path}: {problem.reason}" for problem in dropped)
        raise InvalidInput(
            f"none of the scopes is a folder of the vault ({reasons})",
            hint=f"Nothing was changed. A scope is a folder inside {root}, for example --scope docs.",
        )

    def in_scope(path: str) -> bool:
        return not scopes or any(is_under(path, scope) for scope in scopes)

    def enters(folder: str) -> bool:
        name = folder.rpartition("/")[2]
        if name.startswith(".") or name in _NEVER_ENTERED:
            return False
        return in_scope(folder) or any(is_under(scope, folder) for scope in scopes)

    def omits(path: str) -> Omission | None:
        if path.rpartition("/")[2].startswith("."):
            return _HIDDEN
        if not in_scope(path):
            return Omission("outside the scopes", f"the vault is limited to {', '.join(scopes)}", "--scope FOLDER")
        for pattern in options.exclude:
            if matches(pattern, path):
                return Omission(pattern, f"--exclude {pattern}", "add the vault again without it")
        if any(matches(pattern, path) for pattern in options.include):
            return None
        if is_raw_conversation(path) and not options.include_raw:
            return Omission(_top(path, is_raw_conversation), "raw conversations", "--include-raw")
        if is_operational_path(path) and not options.include_operational:
            return Omission(
                _top(path, is_operational_path), "logs of sessions, agents and projects", "--include-operational"
            )
        return None

    return Choice(enters, omits, dropped)


_HIDDEN: Final = Omission("hidden files and folders", "they stay out always")


def _top(path: str, left_out: Callable[[str], bool]) -> str:
    """The highest folder of a path that is left out, or the file itself."""
    parts = path.split("/")
    folders = ("/".join(parts[:at]) + "/" for at in range(1, len(parts)))
    return next((folder for folder in folders if left_out(folder)), path)


def _unentered(path: str) -> Omission:
    name = path.rpartition("/")[2]
    if name in _NEVER_ENTERED:
        return Omission(f"{name}/", "packages and caches stay out always")
    return _HIDDEN if name.startswith(".") else Omission("outside the scopes", "a folder of no scope", "--scope FOLDER")


_NOT_A_NOTE: Final = Omission("other files", f"only {', '.join(NOTE_SUFFIXES)} are read")


def resolve_scopes(root: str, scopes: Sequence[str]) -> tuple[list[str], tuple[Problem, ...]]:
    """Scopes as folders relative to the root; one that leads out of it, by name or by a link, is dropped and told."""
    kept: list[str] = []
    dropped: list[Problem] = []
    real_root = Path(os.path.realpath(root))
    for scope in scopes:
        named = Path(os.path.normpath(os.path.join(real_root, scope)))
        try:
            real = Path(os.path.realpath(named))
        except (OSError, ValueError):
            dropped.append(Problem(scope, "it is no path"))
            continue
        if not named.is_relative_to(real_root) or not real.is_relative_to(real_root):
            dropped.append(Problem(scope, "it leads out of the vault"))
        elif not real.is_dir():
            dropped.append(Problem(scope, "there is no such folder"))
        else:
            kept.append(_inside(real, real_root))
    return kept, tuple(dropped)


def _inside(path: Path, root: Path) -> str:
    return "" if path == root else path.relative_to(root).as_posix()


def matches(pattern: str, path: str) -> bool:
    """Like .gitignore: a name at any depth, or with a slash a path from the root; a folder stands for all below it."""
    anchored = "/" in pattern.strip("/")
    expression = _compiled(nfc(pattern).strip("/"))
    parts = nfc(path).split("/")
    tried = ["/".join(parts[: at + 1]) for at in range(len(parts))] if anchored else parts
    if pattern.endswith("/"):
        tried = tried[:-1]
    return any(expression.fullmatch(name) for name in tried)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    spelled = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(spelled.get(part, re.escape(part)) for part in parts))


class SyncPlan(Struct, frozen=True):
    """`to_read` has the files that look new or changed, `gone` those that are known and no longer there."""

    to_read: Mapping[str, Seen]
    gone: Mapping[str, VaultFile]
    unchanged: int
    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    skipped: tuple[Problem, ...]
    left_out: tuple[LeftOutFiles, ...]


def make_plan(root: Root, choice: Choice, known: Mapping[str, VaultFile], paths: Sequence[str] | None) -> SyncPlan:
    """`paths` limits it to these files and folders, relative to the root."""
    sights: Iterable[Sight]
    if paths is None:
        sights, concerned = root.walk(choice.enters), dict(known)
    else:
        sights = (sight for path in dict.fromkeys(paths) for sight in root.look(path, choice.enters))
        concerned = {path: file for path, file in known.items() if any(is_under(path, limit) for limit in paths)}
    present: dict[str, Seen] = {}
    closed: list[Closed] = []
    skipped: list[Problem] = []
    omitted: Counter[Omission] = Counter()
    for sight in sights:
        if isinstance(sight, Closed):
            closed.append(sight)
        elif isinstance(sight, Unentered):
            omitted[_unentered(sight.path)] += 1
        elif (omission := choice.omits(sight.path)) is not None:
            omitted[omission] += 1
        elif isinstance(sight, OtherFile):
            omitted[_NOT_A_NOTE] += 1
        elif isinstance(sight, NoteFile):
            present[sight.path] = sight.seen
        else:
            skipped.append(sight)
    same = {path for path, seen in present.items() if path in known and known[path].seen == seen}
    out_of_sight = {path for path in concerned for folder in closed if is_under(path, folder.path)}
    bad = [(path, known[path].error) for path in sorted(same | out_of_sight)]
    errors = [Problem(path, error) for path, error in bad if error is not None]
    return SyncPlan(
        to_read={path: seen for path, seen in present.items() if path not in same},
        gone={path: file for path, file in concerned.items() if path not in present and path not in out_of_sight},
        unchanged=len(same | out_of_sight) - len(errors),
        errors=(*(Problem(folder.path or ".", folder.reason) for folder in closed), *errors),
        warnings=tuple(Problem(path, warning) for path in sorted(same) if (warning := known[path].warning) is not None),
        skipped=tuple(skipped),
        left_out=tuple(
            LeftOutFiles(omission.what, count, omission.reason, omission.take_in)
            for omission, count in sorted(omitted.items(), key=lambda item: item[0].what)
        ),
    )


def is_under(path: str, folder: str) -> bool:
    """By whole names: `vault-secret` is not under `vault`."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def relative(root: str, path: str) -> str:
    """A path as the vault knows it. One that leads out of the vault is refused; whether it is there does not matter."""
    base = Path(os.path.realpath(root))
    whole = Path(os.path.normpath(os.path.join(base, path)))
    # The folder may be named by another way to it; the last part is the file itself, link or not.
    for candidate in (whole, Path(os.path.realpath(whole.parent)) / whole.name):
        if candidate.is_relative_to(base):
            return _inside(candidate, base)
    raise InvalidInput(f"{path} is not in the vault", hint=f"Give a file or folder below {root}.")
