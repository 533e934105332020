"""ChatGPT: conversations.json of its export, in which the messages of a conversation are a tree.

The branch that was shown last is read; answers that were asked for again are named as skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from recallens.ingest.importers import Entry, SkippedEntry
from recallens.ingest.source_file import SourceFile
from recallens.ingest.transcript import (
    ASSISTANT,
    BOOKKEEPING,
    NO_MESSAGES,
    THOUGHT,
    TOOL_CALL,
    USER,
    Transcript,
    moment,
    text_of,
)

NAME = "chatgpt"
ABOUT = "conversations.json of an export of ChatGPT"
FOLDERS = ()
PATTERNS = ("conversations*.json",)

_THOUGHTS: Final = ("thoughts", "reasoning_recap")


def read(file: SourceFile) -> Iterator[Entry]:
    for place, conversation in file.elements(("conversations",)):
        tree = conversation.get("mapping") if isinstance(conversation, Mapping) else None
        if not isinstance(tree, Mapping):
            why = conversation if isinstance(conversation, str) else "a conversation without a mapping"
            yield SkippedEntry(place, why)
            continue
        talk = Transcript(
            NAME, str(conversation.get("conversation_id") or conversation.get("id") or place),
            title=text_of(conversation.get("title")) or None, started=moment(conversation.get("create_time")),
        )  # fmt: skip
        yield talk.session()
        if not tree:
            yield SkippedEntry(place, NO_MESSAGES)
        shown = _branch(tree, conversation.get("current_node"))
        for id in shown:
            yield from _node(talk, f"{place} {id}", id, tree[id])
        for id in tree.keys() - set(shown):
            yield SkippedEntry(f"{place} {id}", "another branch of the conversation")
        yield talk.session()


def _branch(tree: Mapping[str, Any], last: object) -> list[str]:
    """From the root to the node that was shown last; where that is not told, to the end of each first branch."""
    path: list[str] = []
    if isinstance(last, str) and last in tree:
        node: object = last
        while isinstance(node, str) and node in tree and node not in path:
            path.append(node)
            node = tree[node].get("parent") if isinstance(tree[node], Mapping) else None
        return path[::-1]
    node = next((id for id, value in tree.items() if isinstance(value, Mapping) and not value.get("parent")), None)
    while isinstance(node, str) and node in tree and node not in path:
        path.append(node)
        children = tree[node].get("children") if isinstance(tree[node], Mapping) else None
        node = children[-1] if isinstance(children, list) and children else None
    return path


def _node(talk: Transcript, place: str, id: str, node: object) -> Iterator[Entry]:
    message = node.get("message") if isinstance(node, Mapping) else None
    if not isinstance(message, Mapping):
        yield SkippedEntry(place, BOOKKEEPING)
        return
    by = message.get("author")
    role, name = (by.get("role"), by.get("name")) if isinstance(by, Mapping) else (None, None)
    content = message.get("content")
    kind = content.get("content_type") if isinstance(content, Mapping) else None
    at = moment(message.get("create_time"))
    if role == "tool":
        yield talk.output(place, id, _text(content), tool=str(name or "tool"), at=at)
    elif kind in _THOUGHTS:
        yield SkippedEntry(place, THOUGHT)
    elif role == "assistant" and message.get("recipient") not in (None, "all"):
        yield SkippedEntry(place, TOOL_CALL)
    elif role in ("user", "assistant") and kind != "user_editable_context":
        yield talk.turn(place, id, _text(content), author=USER if role == "user" else ASSISTANT, at=at)
    else:
        yield SkippedEntry(place, BOOKKEEPING)


def _text(content: object) -> str:
    if not isinstance(content, Mapping):
        return ""
    parts = content.get("parts")
    return text_of(parts) if isinstance(parts, list) else text_of(content)
