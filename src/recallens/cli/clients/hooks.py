"""The hooks of each client: where it keeps them, what it calls them, what it tells them and what it takes back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from recallens.cli.clients import json_member
from recallens.cli.clients.configuration import TextEdit
from recallens.cli.clients.places import ClientScope
from recallens.errors import InvalidInput
from recallens.model.hook import HookEvent, HookInput, Injection

MEMBER: Final = "hooks"
# A hook that takes longer than this is given up by the client, which then goes on without it.
SECONDS: Final = 10
END_SECONDS: Final = 60
EDITS_AND_COMMANDS: Final = "Edit|MultiEdit|Write|NotebookEdit|Bash"


@dataclass(frozen=True, slots=True)
class ClientHooks:
    """`events` are the client's names for ours, `matchers` which tools it calls a hook for, `unit` of its time-outs."""

    events: Mapping[HookEvent, str]
    places: Mapping[ClientScope, Callable[[], Path]]
    matchers: Mapping[HookEvent, str]
    unit: int = 1
    note: str | None = None


def _home(variable: str, folder: str) -> Path:
    moved = os.environ.get(variable)
    return Path(moved) if moved else Path.home() / folder


HOOKS: Final[Mapping[str, ClientHooks]] = {
    "claude-code": ClientHooks(
        {
            HookEvent.SESSION_START: "SessionStart", HookEvent.PROMPT: "UserPromptSubmit",
            HookEvent.BEFORE_TOOL: "PreToolUse", HookEvent.SESSION_END: "SessionEnd",
        },
        {
            # A person's own file, which is not shared with the repository: the hooks name a place on this machine.
            ClientScope.PROJECT: lambda: Path.cwd() / ".claude" / "settings.local.json",
            ClientScope.USER: lambda: _home("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        },
        {HookEvent.BEFORE_TOOL: EDITS_AND_COMMANDS},
    ),
    "codex": ClientHooks(
        {
            HookEvent.SESSION_START: "SessionStart", HookEvent.PROMPT: "UserPromptSubmit",
            HookEvent.SESSION_END: "Stop",
        },
        {
            ClientScope.PROJECT: lambda: Path.cwd() / ".codex" / "hooks.json",
            ClientScope.USER: lambda: _home("CODEX_HOME", ".codex") / "hooks.json",
        },
        {},
        note="Codex runs hooks only where its config.toml has codex_hooks = true under [features].",
    ),
    "gemini": ClientHooks(
        {
            HookEvent.SESSION_START: "SessionStart", HookEvent.PROMPT: "BeforeAgent",
            HookEvent.SESSION_END: "SessionEnd",
        },
        {
            ClientScope.PROJECT: lambda: Path.cwd() / ".gemini" / "settings.json",
            ClientScope.USER: lambda: Path.home() / ".gemini" / "settings.json",
        },
        {},
        unit=1_000,
    ),
}  # fmt: skip


def hooks_of(client: str) -> ClientHooks:
    if client not in HOOKS:
        raise InvalidInput(f"{client} has no hooks that Recallens knows; these have: {', '.join(HOOKS)}")
    return HOOKS[client]


# ── in the client's file ──


def hooks_edit(client: str, command: Callable[[HookEvent], str]) -> TextEdit:
    """Our hooks beside those that are there: `command` is the line of the shell that an event runs."""
    own = hooks_of(client)

    def put(text: str) -> str:
        for event, name in own.events.items():
            seconds = END_SECONDS if event is HookEvent.SESSION_END else SECONDS
            hook = {"type": "command", "command": command(event), "timeout": seconds * own.unit}
            matcher = {"matcher": own.matchers[event]} if event in own.matchers else {}
            text = json_member.put(text, MEMBER, name, [*_others(text, name), {**matcher, "hooks": [hook]}])
        return text

    def take(text: str) -> str:
        for name in own.events.values():
            groups, others = _groups(text, name), _others(text, name)
            if groups == others:
                continue
            text = json_member.put(text, MEMBER, name, others) if others else json_member.take(text, MEMBER, name)
        return text

    return TextEdit(put, take)


def _groups(text: str, name: str) -> list[Any]:
    whole = json.loads(text) if text.strip() else {}
    held = whole.get(MEMBER) if isinstance(whole, dict) else None
    groups = held.get(name) if isinstance(held, dict) else None
    return groups if isinstance(groups, list) else []


def _others(text: str, name: str) -> list[Any]:
    """The groups of hooks that are not ours."""
    return [group for group in _groups(text, name) if not _is_own(group)]


def _is_own(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    commands = [str(hook.get("command")) for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []
    return bool(commands) and all("recallens" in each and " hook " in each for each in commands)


# ── what a client tells a hook, and takes back ──


def told(client: str, text: str) -> HookInput:
    record = json.loads(text)
    if not isinstance(record, dict):
        raise InvalidInput("a hook is told a JSON object on standard input")
    arguments = record.get("tool_input")
    return HookInput(
        client,
        session=_text(record, "session_id"),
        folder=_text(record, "cwd"),
        prompt=_text(record, "prompt") or "",
        tool=_text(record, "tool_name") or "",
        arguments=arguments if isinstance(arguments, dict) else {},
        transcript=_text(record, "transcript_path"),
    )


def _text(record: Mapping[str, Any], name: str) -> str | None:
    value = record.get(name)
    return value if isinstance(value, str) and value else None


def answer(client: str, event: HookEvent, injection: Injection | None) -> str:
    """What the client puts before the agent, and the receipt that it shows the person; {} is silence."""
    if injection is None or not injection.memories:
        return "{}"
    name = hooks_of(client).events.get(event, str(event))
    context = {"hookEventName": name, "additionalContext": injection.text}
    return json.dumps({"systemMessage": injection.receipt, "hookSpecificOutput": context}, ensure_ascii=False)
