"""A change of a client's configuration: worked out in full before anything is written, and what was there is kept."""

from __future__ import annotations

import difflib
import json
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from recallens.cli.clients import json_member, toml_table
from recallens.cli.clients.json_member import Unfit
from recallens.cli.clients.places import Client
from recallens.cli.files import write
from recallens.config import config_home
from recallens.errors import InvalidInput

NAME: Final = "recallens"
TABLE: Final = "mcp_servers"
BACKUP: Final = ".recallens.bak"
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class ConfigurationChange:
    """`before` of None is a file that is not there, `after` of None one that goes. `keeps`: it is backed up."""

    path: Path
    before: str | None
    after: str | None
    keeps: bool = False

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        before, after = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        was, becomes = (str(self.path) if text is not None else os.devnull for text in (self.before, self.after))
        lines = difflib.unified_diff(before, after, was, becomes)
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


@dataclass(frozen=True, slots=True)
class TextEdit:
    """What is put into a file's text, and how it is taken out again."""

    put: Callable[[str], str]
    take: Callable[[str], str]


def server_edit(client: Client, entry: dict[str, Any]) -> TextEdit:
    """The MCP server, in the client's list of servers."""
    editor, member = (toml_table, TABLE) if client.member is None else (json_member, client.member)
    return TextEdit(lambda text: editor.put(text, member, NAME, entry), lambda text: editor.take(text, member, NAME))


def installed(path: Path, edits: Sequence[TextEdit], hint: str) -> ConfigurationChange:
    """`hint` is what a person can do by hand where the file cannot be edited."""
    before = _read(path)
    after = _put(path, before or "", edits, hint)
    # A backup of what came before Recallens is worth more than one of its own earlier entry.
    keeps = before is not None and (_take(path, before, edits, hint) == before or not _backup(path).exists())
    return ConfigurationChange(path, before, after, keeps)


def removed(path: Path, edits: Sequence[TextEdit], hint: str) -> ConfigurationChange:
    """Back to what was there before, to the byte, where nothing else has been changed since."""
    before, kept = _read(path), _read(_backup(path))
    if before is None:
        return ConfigurationChange(path, None, None)
    bare = _take(path, before, edits, hint)
    if bare != before and kept is None and bare.strip() in ("", "{}"):
        return ConfigurationChange(path, before, None)  # a file that was made for it
    if kept is not None and bare != before and _take(path, kept, edits, hint) == kept:
        # Whatever of ours was put into it, in the same order.
        ours = (edits[:count] for count in range(len(edits), 0, -1))
        if any(_would_be(path, kept, some, hint) == before for some in ours):
            return ConfigurationChange(path, before, kept)
    return ConfigurationChange(path, before, bare)


def apply(change: ConfigurationChange, *, undo: bool) -> None:
    """The old text first goes beside the file; then the file is replaced as a whole."""
    path, backup = Path(os.path.realpath(change.path)), _backup(change.path)
    if change.after is None:
        path.unlink(missing_ok=True)
        _remove_made(path.parent)
        return
    _make_folder(path.parent)
    if change.before is not None and change.keeps:
        _keep(backup, change.before, path)
    write(path, change.after)
    if undo and _read(backup) == change.after:
        backup.unlink()


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def snippet(client: Client, entry: dict[str, Any]) -> str:
    """For people to paste."""
    if client.member is None:
        return toml_table.written(TABLE, NAME, entry).rstrip("\n")
    return json.dumps({client.member: {NAME: entry}}, ensure_ascii=False, indent=2)


def _put(path: Path, text: str, edits: Sequence[TextEdit], hint: str) -> str:
    return _edited(path, text, [edit.put for edit in edits], hint)


def _take(path: Path, text: str, edits: Sequence[TextEdit], hint: str) -> str:
    return _edited(path, text, [edit.take for edit in edits], hint)


def _edited(path: Path, text: str, steps: Sequence[Callable[[str], str]], hint: str) -> str:
    mark, bare = (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
    try:
        for step in steps:
            bare = step(bare)
    except Unfit as error:
        raise InvalidInput(f"{path} was left as it is: {error}", hint=hint) from error
    return mark + bare


def _would_be(path: Path, earlier: str, edits: Sequence[TextEdit], hint: str) -> str | None:
    try:
        return _put(path, earlier, edits, hint)
    except InvalidInput:
        return None


def _read(path: Path) -> str | None:
    try:
        # Line ends are the file's own, so that they go back as they came.
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path}: {error}", hint="Nothing was changed.") from error


def _made_record() -> Path:
    """The list of the folders that were made for a client's files, so that an undo removes these and no other."""
    return (config_home() / NAME / "made-folders.json").resolve()


def _made() -> list[str]:
    with suppress(OSError, ValueError):
        return list(map(str, json.loads(_made_record().read_text(encoding="utf-8"))))
    return []


def _note_made(folders: list[str]) -> None:
    """Where it cannot be written, folders are left behind: that is no reason to fail."""
    record = _made_record()
    homes = [each for each in record.parents if str(each) in folders or not each.exists()]
    with suppress(OSError):
        if {*folders} - {*map(str, homes)}:
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(json.dumps([*dict.fromkeys([*folders, *map(str, homes)])]), encoding="utf-8")
            return
        record.unlink(missing_ok=True)
        for home in homes:
            home.rmdir()


def _make_folder(folder: Path) -> None:
    new = [str(each) for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"cannot make {folder}: {error.strerror}", hint="Nothing was changed.") from error
    if new:
        _note_made([*_made(), *new])


def _keep(backup: Path, text: str, path: Path) -> None:
    """As private as the file itself, which may hold keys of other servers."""
    write(backup, text)
    os.chmod(backup, stat.S_IMODE(path.stat().st_mode))


def _remove_made(folder: Path) -> None:
    """The folder and those above it, as far as they were made for a file of ours and are empty."""
    made = _made()
    while str(folder) in made and not any(folder.iterdir()):
        folder.rmdir()
        made.remove(str(folder))
        folder = folder.parent
    _note_made(made)
