"""Which files belong to a vault: scopes, hidden folders, the specified exclusions, and patterns that overrule them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from recallens.errors import InvalidInput
from recallens.ingest.vault.categories import is_operational_path, is_raw_conversation
from recallens.model.vault import Problem, VaultOptions
from recallens.text.normalize import nfc

_NEVER_ENTERED = frozenset(("node_modules", "__pycache__"))


@dataclass(frozen=True, slots=True)
class Choice:
    """`enters` is asked of folders, `takes` of files; both see paths relative to the root."""

    enters: Callable[[str], bool]
    takes: Callable[[str], bool]
    dropped: tuple[Problem, ...]


def choose(root: str, options: VaultOptions) -> Choice:
    scopes, dropped = resolve_scopes(root, options.scopes)
    if options.scopes and not scopes:
        told = "; ".join(f"{problem.path}: {problem.reason}" for problem in dropped)
        raise InvalidInput(
            f"none of the scopes is a folder of the vault ({told})",
            hint=f"Nothing was changed. A scope is a folder inside {root}, for example --scope docs.",
        )

    def in_scope(path: str) -> bool:
        return not scopes or any(_inside(scope, path) for scope in scopes)

    def enters(folder: str) -> bool:
        name = folder.rpartition("/")[2]
        if name.startswith(".") or name in _NEVER_ENTERED:
            return False
        return in_scope(folder) or any(_inside(folder, scope) for scope in scopes)

    def takes(path: str) -> bool:
        if path.rpartition("/")[2].startswith(".") or not in_scope(path):
            return False
        if any(matches(pattern, path) for pattern in options.exclude):
            return False
        left_out = (is_raw_conversation(path) and not options.include_raw) or (
            is_operational_path(path) and not options.include_operational
        )
        return not left_out or any(matches(pattern, path) for pattern in options.include)

    return Choice(enters, takes, dropped)


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
            relative = PurePosixPath(real.relative_to(real_root)).as_posix()
            kept.append("" if relative == "." else relative)
    return kept, tuple(dropped)


def _inside(folder: str, path: str) -> bool:
    """By whole names: `vault-secret` is not inside `vault`."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def matches(pattern: str, path: str) -> bool:
    """Like .gitignore: a name at any depth, or with a slash a path from the root; a folder stands for all below it."""
    anchored = "/" in pattern.strip("/")
    expression = _compiled(nfc(pattern).strip("/"))
    parts = nfc(path).split("/")
    tried = ["/".join(parts[: at + 1]) for at in range(len(parts))] if anchored else parts
    if pattern.endswith("/"):
        tried = tried[:-1]
    return any(expression.fullmatch(one) for one in tried)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    spelled = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(spelled.get(part, re.escape(part)) for part in parts))
