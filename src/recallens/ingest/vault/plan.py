"""What a sync has to do, from looking at folders alone: no file is opened for it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from recallens.errors import InvalidInput
from recallens.ingest.vault.choice import Choice
from recallens.ingest.vault.files import Closed, Found, Root, Sight
from recallens.model.vault import Problem, Seen, VaultFile


@dataclass(frozen=True, slots=True)
class Plan:
    """`to_read` has the files that look new or changed, `gone` those that are known and no longer there."""

    to_read: Mapping[str, Seen]
    gone: Mapping[str, VaultFile]
    unchanged: int
    errors: tuple[Problem, ...]
    skipped: tuple[Problem, ...]


def make_plan(root: Root, choice: Choice, known: Mapping[str, VaultFile], paths: Sequence[str] | None) -> Plan:
    """`paths` limits it to these files and folders, relative to the root."""
    sights: Iterable[Sight]
    if paths is None:
        sights, concerned = root.walk(choice.enters), dict(known)
    else:
        sights = (sight for path in dict.fromkeys(paths) for sight in root.look(path, choice.enters))
        concerned = {path: file for path, file in known.items() if any(is_under(path, one) for one in paths)}
    present: dict[str, Seen] = {}
    closed: list[Closed] = []
    skipped: list[Problem] = []
    for sight in sights:
        match sight:
            case Closed():
                closed.append(sight)
            case Found():
                if choice.takes(sight.path):
                    present[sight.path] = sight.seen
            case Problem():
                if choice.takes(sight.path):
                    skipped.append(sight)
    same = {path for path, seen in present.items() if path in known and known[path].seen == seen}
    out_of_sight = {path for path in concerned for one in closed if is_under(path, one.path)}
    bad = [(path, known[path].error) for path in sorted(same | out_of_sight)]
    errors = [Problem(path, error) for path, error in bad if error is not None]
    return Plan(
        to_read={path: seen for path, seen in present.items() if path not in same},
        gone={path: file for path, file in concerned.items() if path not in present and path not in out_of_sight},
        unchanged=len(same | out_of_sight) - len(errors),
        errors=(*(Problem(one.path or ".", one.reason) for one in closed), *errors),
        skipped=tuple(skipped),
    )


def is_under(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def relative(root: str, path: str) -> str:
    """A path as the vault knows it. One that leads out of the vault is refused; whether it is there does not matter."""
    base = Path(os.path.realpath(root))
    whole = Path(os.path.normpath(os.path.join(base, path)))
    # The folder may be named by another way to it; the last part is the file itself, link or not.
    for candidate in (whole, Path(os.path.realpath(whole.parent)) / whole.name):
        if candidate.is_relative_to(base):
            inside = PurePosixPath(candidate.relative_to(base)).as_posix()
            return "" if inside == "." else inside
    raise InvalidInput(f"{path} is not in the vault", hint=f"Give a file or folder below {root}.")
