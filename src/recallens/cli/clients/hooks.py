"""The hooks of each client: where it keeps them, what it calls them, what it tells them and what it takes back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from recallens.cli.clients import json_member
from recallens.cli.clients.configuration import TextEdit
from recallens.cli.clients.json_member import Unfit
from recallens.cli.clients.places import ClientScope
from recallens.errors import InvalidInput
from recallens.model.hook import HookEvent, HookInput, Injection

MEMBER: Final = "hooks"
# A hook that takes longer than this is given up by the client, which then goes on without it.
SECONDS: Final = 10
END_SECONDS: Final = 60
_OWN: Final = re.compile(rf"(?:^|[\s/\\'\"])recallens(?:\.exe)?['\"]? (?:.* )?hook (?:{'|'.join(HookEvent)})(?!\S)")


def _specific(event: str, injection: Injection) -> dict[str, Any]:
    context = {"hookEventName": event, "additionalContext": injection.text}
    return {"systemMessage": injection.receipt, "hookSpecificOutput": context}


def _plain(event: str, injection: Injection) -> dict[str, Any]:
    """Cursor shows a hook's message only where the hook stops something, so that the receipt goes with the context."""
    return {"additional_context": f"{injection.text}{injection.receipt}\n"}


@dataclass(frozen=True, slots=True)
class ClientHooks:
    """`events` are the client's names for ours, `matchers` the tools of interest, `unit` of its time-outs. Where hooks
    are `grouped`, a list of hooks stands below each matcher; else every hook stands for itself. `head` is what a file
    of hooks begins with. `private` is a project's file that is not shared with others."""

    events: Mapping[HookEvent, str]
    places: Mapping[ClientScope, Callable[[], Path]]
    matchers: Mapping[HookEvent, str] = field(default_factory=dict)
    unit: int = 1
    grouped: bool = True
    head: Mapping[str, Any] = field(default_factory=dict)
    private: bool = False
    answer: Callable[[str, Injection], dict[str, Any]] = _specific
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
            ClientScope.PROJECT: lambda: Path.cwd() / ".claude" / "settings.local.json",
            ClientScope.USER: lambda: _home("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        },
        {HookEvent.BEFORE_TOOL: "Edit|MultiEdit|Write|NotebookEdit|Bash"},
        private=True,
    ),
    "cursor": ClientHooks(
        {
            HookEvent.SESSION_START: "sessionStart", HookEvent.PROMPT: "beforeSubmitPrompt",
            HookEvent.BEFORE_TOOL: "preToolUse", HookEvent.SESSION_END: "sessionEnd",
        },
        {
            ClientScope.PROJECT: lambda: Path.cwd() / ".cursor" / "hooks.json",
            ClientScope.USER: lambda: Path.home() / ".cursor" / "hooks.json",
        },
        {HookEvent.BEFORE_TOOL: "Shell|Write|Delete"},
        grouped=False, head={"version": 1}, answer=_plain,
        note="Cursor takes what is known at a prompt since version 3; earlier ones take it at the start of a session.",
    ),
    "vscode": ClientHooks(
        # Its UserPromptSubmit takes no context: what is known at a prompt could not be given.
        {
            HookEvent.SESSION_START: "SessionStart", HookEvent.BEFORE_TOOL: "PreToolUse",
            HookEvent.SESSION_END: "Stop",
        },
        {
            ClientScope.PROJECT: lambda: Path.cwd() / ".github" / "hooks" / "recallens.json",
            ClientScope.USER: lambda: Path.home() / ".copilot" / "hooks" / "recallens.json",
        },
        {
            HookEvent.BEFORE_TOOL: "create_file|replace_string_in_file|multi_replace_string_in_file"
            "|insert_edit_into_file|apply_patch|edit_notebook_file|run_in_terminal",
        },
        grouped=False,
        note="Hooks of VS Code are a preview, and an organisation may have turned them off.",
    ),
    "codex": ClientHooks(
        {
            HookEvent.SESSION_START: "SessionStart", HookEvent.PROMPT: "UserPromptSubmit",
            HookEvent.BEFORE_TOOL: "PreToolUse", HookEvent.SESSION_END: "Stop",
        },
        {
            ClientScope.PROJECT: lambda: Path.cwd() / ".codex" / "hooks.json",
            ClientScope.USER: lambda: _home("CODEX_HOME", ".codex") / "hooks.json",
        },
        {HookEvent.BEFORE_TOOL: "Bash|apply_patch|Edit|Write"},
        note="Codex runs new hooks when you have reviewed them: it asks at its next start, and `/hooks` lists them.",
    ),
    "gemini": ClientHooks(
        # Its BeforeTool takes no context.
        {
            HookEvent.SESSION_START: "SessionStart", HookEvent.PROMPT: "BeforeAgent",
            HookEvent.SESSION_END: "SessionEnd",
        },
        {
            ClientScope.PROJECT: lambda: Path.cwd() / ".gemini" / "settings.json",
            ClientScope.USER: lambda: Path.home() / ".gemini" / "settings.json",
        },
        unit=1_000,
    ),
}  # fmt: skip


def hooks_of(client: str) -> ClientHooks:
    if client not in HOOKS:
        raise InvalidInput(f"{client} has no hooks that Recallens knows; these have: {', '.join(HOOKS)}")
    return HOOKS[client]


# ── in the client's file ──


def hooks_written(client: str, command: Callable[[HookEvent], str]) -> dict[str, Any]:
    """Our hooks by the client's names for the events: `command` is the line of the shell that an event runs."""
    own = hooks_of(client)
    return {name: _written(own, event, command(event)) for event, name in own.events.items()}


def _written(own: ClientHooks, event: HookEvent, command: str) -> dict[str, Any]:
    seconds = END_SECONDS if event is HookEvent.SESSION_END else SECONDS
    hook = {"type": "command", "command": command, "timeout": seconds * own.unit}
    matcher = {"matcher": own.matchers[event]} if event in own.matchers else {}
    return {**matcher, "hooks": [hook]} if own.grouped else {**hook, **matcher}


def hooks_edit(client: str, command: Callable[[HookEvent], str]) -> TextEdit:
    """Our hooks beside those that are there."""
    own = hooks_of(client)

    def put(text: str) -> str:
        if not text.strip() and own.head:
            text = json.dumps(own.head, indent=2) + "\n"
        for name, hook in hooks_written(client, command).items():
            text = json_member.put(text, MEMBER, name, [*_others(text, name), hook])
        return text

    def take(text: str) -> str:
        bare = text
        for name in own.events.values():
            hooks, others = _hooks(bare, name), _others(bare, name)
            if hooks != others:
                bare = json_member.put(bare, MEMBER, name, others) if others else json_member.take(bare, MEMBER, name)
        return "" if bare != text and own.head and json.loads(bare) == own.head else bare

    return TextEdit(put, take)


def _hooks(text: str, name: str) -> list[Any]:
    try:
        whole = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise Unfit(f"it is not plain JSON ({error}); comments and trailing commas cannot be kept") from error
    held = whole.get(MEMBER) if isinstance(whole, dict) else None
    hooks = held.get(name) if isinstance(held, dict) else None
    return hooks if isinstance(hooks, list) else []


def _others(text: str, name: str) -> list[Any]:
    """The hooks, or groups of hooks, without ours."""
    others = []
    for hook in _hooks(text, name):
        group = hook.get("hooks") if isinstance(hook, dict) else None
        if isinstance(group, list) and (left := [each for each in group if not _is_own(each)]) != group:
            others += [{**hook, "hooks": left}] if left else []
        elif not _is_own(hook):
            others.append(hook)
    return others


def _is_own(hook: object) -> bool:
    return isinstance(hook, dict) and _OWN.search(str(hook.get("command"))) is not None


# ── what a client tells a hook, and takes back ──


def told(client: str, text: str) -> HookInput:
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise InvalidInput("a hook is told a JSON object on standard input")
    roots = record.get("workspace_roots")
    tool, arguments = _text(record, "tool_name") or "", record.get("tool_input")
    return HookInput(
        client,
        session=_text(record, "session_id", "sessionId", "conversation_id"),
        folder=_text(record, "cwd") or (str(roots[0]) if isinstance(roots, list) and roots else None),
        prompt=_text(record, "prompt") or "",
        tool=tool,
        arguments=arguments if isinstance(arguments, dict) and _is_of_interest(client, tool) else {},
        transcript=_text(record, "transcript_path"),
    )


def _is_of_interest(client: str, tool: str) -> bool:
    """Not every client looks at its matchers."""
    matcher = hooks_of(client).matchers.get(HookEvent.BEFORE_TOOL)
    return matcher is None or re.fullmatch(matcher, tool) is not None


def _text(record: Mapping[str, Any], *names: str) -> str | None:
    values = (record.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value), None)


def answer(client: str, event: HookEvent, injection: Injection | None) -> str:
    """What the client puts before the agent, and the receipt that it shows the person; {} is silence."""
    if injection is None or not injection.memories:
        return "{}"
    own = hooks_of(client)
    return json.dumps(own.answer(own.events.get(event, str(event)), injection), ensure_ascii=False)
