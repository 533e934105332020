"""What a person meant who typed a command that is not there: a slip, or the word of another program."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Final

# What other programs call it, and what it is called here.
FOREIGN: Final[Mapping[str, str]] = {
    "add": "remember", "save": "remember", "new": "remember", "note": "remember",
    "put": "remember", "ls": "list", "all": "list", "browse": "list", "find": "search", "query": "search",
    "ask": "search", "recall": "search", "grep": "search", "get": "show", "cat": "show", "view": "show",
    "read": "show", "open": "serve", "delete": "forget", "del": "forget", "rm": "forget", "remove": "forget",
    "purge": "forget", "update": "edit", "set": "edit", "modify": "edit", "replace": "supersede",
    "merge": "supersede", "link": "relate",  "undelete": "restore", "dump": "export",
    "download": "export", "load": "import", "ingest": "import", "sync": "vault sync",
    "watch": "vault watch", "status": "stats", "info": "stats", "check": "doctor", "fix": "doctor",
    "repair": "reindex", "rebuild": "reindex", "index": "reindex", "embed": "reindex", "history": "timeline",
    "log": "session list", "sessions": "session list", "tasks": "task list", "tokens": "token list",
    "login": "token create", "server": "serve", "ui": "serve", "web": "serve", "start": "serve", "setup": "install",
    "connect": "install", "hooks": "install", "why": "why-not", "debug": "xray", "settings": "config",
    "model": "encoder", "clean": "prune", "gc": "prune", "approve": "review", "help": "--help",
    "version": "--version",
}  # fmt: skip


def meant(word: str, names: Collection[str]) -> list[str]:
    """The commands that a wrong word may stand for, the likeliest first."""
    known = word.casefold()
    slips = get_close_matches(known, names, n=3, cutoff=0.7)
    if known in FOREIGN:
        return list(dict.fromkeys((FOREIGN[known], *slips)))
    foreign = [FOREIGN[each] for each in get_close_matches(known, FOREIGN, n=1, cutoff=0.85)]
    return list(dict.fromkeys((*slips, *foreign)))


def no_such_command(word: str, names: Collection[str]) -> str:
    if " " in word.strip():
        return 'No such command; a question is asked with `recallens search "…"`'
    commands = meant(word, names)
    if not commands:
        return f"No such command {word!r}."
    return f"No such command {word!r}; did you mean {' or '.join(f'`recallens {each}`' for each in commands)}?"
