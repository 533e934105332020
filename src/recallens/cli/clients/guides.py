"""What tells an agent when to use its memory: a few lines in the file of instructions that its client reads, and a
skill, which the client reads when its description fits."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from recallens.cli.clients.configuration import TextEdit
from recallens.cli.clients.json_member import Unfit
from recallens.cli.clients.places import ClientScope
from recallens.errors import InvalidInput

_BEGIN: Final = "<!-- recallens: begin; `recallens install --undo` takes this part out -->"
_END: Final = "<!-- recallens: end -->"
_PART: Final = re.compile(rf"(?:(?<=\n)\r?\n)?{re.escape(_BEGIN)}.*?{re.escape(_END)}\r?\n?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Guides:
    """The files of one client, below the project's folder or below home; `moved` names the variable that moves the
    first folder of those below home."""

    instructions: Mapping[ClientScope, str]
    skills: Mapping[ClientScope, str]
    moved: str = ""

    def place(self, of: Mapping[ClientScope, str], scope: ClientScope) -> Path:
        if scope not in of:
            known = ", ".join(f"--{each}" for each in of)
            raise InvalidInput(f"this client has no such file of a {scope}; use {known}")
        if scope is ClientScope.PROJECT:
            return Path.cwd() / of[scope]
        first, _, rest = of[scope].partition("/")
        home = os.environ.get(self.moved) if first != _OPEN else None
        return Path(home) / rest if home else Path.home() / of[scope]


# Where clients look that have agreed on one folder for skills.
_OPEN: Final = ".agents"


def _guides(instructions: str, own: str | None, skills: str = _OPEN, moved: str = "") -> Guides:
    """`own` is the client's folder below home, where it reads the same file for every project."""
    of_user = {} if own is None else {ClientScope.USER: f"{own}/{instructions}"}
    skill = f"{skills}/skills/recallens/SKILL.md"
    return Guides(
        {ClientScope.PROJECT: instructions, **of_user}, {ClientScope.PROJECT: skill, ClientScope.USER: skill}, moved
    )


GUIDES: Final[Mapping[str, Guides]] = {
    "claude-code": _guides("CLAUDE.md", ".claude", ".claude", "CLAUDE_CONFIG_DIR"),
    "cursor": _guides("AGENTS.md", None),
    "vscode": _guides("AGENTS.md", None),
    "codex": _guides("AGENTS.md", ".codex", moved="CODEX_HOME"),
    "gemini": _guides("GEMINI.md", ".gemini"),
}


def guides_of(client: str) -> Guides:
    if client not in GUIDES:
        raise InvalidInput(f"{client} reads neither instructions nor skills; these do: {', '.join(GUIDES)}")
    return GUIDES[client]


def text_named(name: str) -> str:
    return files("recallens.cli.clients").joinpath("texts", f"{name}.md").read_text(encoding="utf-8")


def instructions_edit() -> TextEdit:
    """Our part at the end of the file, between two comments."""

    def put(text: str) -> str:
        newline = "\r\n" if "\r\n" in text else "\n"
        own = f"{_BEGIN}\n{text_named('instructions')}{_END}\n".replace("\n", newline)
        if own in text:
            return text
        bare = take(text)
        joint = "" if not bare else newline if bare.endswith("\n") else newline * 2
        return bare + joint + own

    def take(text: str) -> str:
        return _PART.sub("", text)

    return TextEdit(put, take)


def skill_edit() -> TextEdit:
    """A file of ours alone."""

    def put(text: str) -> str:
        if text.strip() and not _is_own_skill(text):
            raise Unfit("it is a skill of another hand")
        return text_named("skill")

    return TextEdit(put, lambda text: "" if _is_own_skill(text) else text)


def _is_own_skill(text: str) -> bool:
    return text.startswith("---\nname: recallens\n")
