"""A hook's question to a server that already runs, over a Unix socket: the engine is not loaded for it."""

from __future__ import annotations

import http.client
import json
import os
import socket
import stat
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from recallens.model.context import HYPOTHESIS, UNCITED
from recallens.model.hook import LEAD, POINTERS, HookEvent, HookInput, Injection, asked_of_tool, question_of
from recallens.model.state import MemoryState
from recallens.render.formats import as_name, visible

# What is not answered by then is asked without the server.
SECONDS: Final = 2.0
_TOKEN_CHARACTERS: Final = 4  # the common measure, where the counter itself is not worth loading


def socket_of(store: str) -> Path | None:
    """Where `recallens serve --socket STORE.sock` listens for this store, if it does: a socket of the same user's, as
    another may have put one beside a store in a shared folder.
    """
    place = Path(f"{store}.sock")
    try:
        found = place.lstat()
    except OSError:
        return None
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return place if mine and stat.S_ISSOCK(found.st_mode) else None


def asked(place: Path, event: HookEvent, told: HookInput, namespace: str | None) -> Injection | None:
    """What the server would give; None where it cannot be reached or does not answer, and at a session's start."""
    parameters = {"brief": "true", "limit": str(POINTERS)}
    parameters |= {"session": told.session} if told.session else {}
    parameters |= {"namespace": namespace} if namespace else {}
    program = None
    if event is HookEvent.PROMPT and (question := question_of(told)) is not None:
        parameters["q"] = question
    elif event is HookEvent.BEFORE_TOOL and (tool := asked_of_tool(told)) is not None:
        program = tool.program
        parameters |= {"q": tool.question, "mode": "keyword"}
        parameters |= {"affected": tool.file, "openFile": tool.file} if tool.file else {}
    else:
        return None
    try:
        record = _answer(place, f"/v1/search?{urlencode(parameters)}")
    except (OSError, http.client.HTTPException, ValueError):
        return None
    return None if record is None else _injection(record, told, program)


class _Socket(http.client.HTTPConnection):
    def __init__(self, place: Path) -> None:
        super().__init__("localhost", timeout=SECONDS)
        self._place = place

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(SECONDS)
        self.sock.connect(os.fspath(self._place))


def _answer(place: Path, path: str) -> dict[str, Any] | None:
    connection = _Socket(place)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        record = json.loads(response.read())
    finally:
        connection.close()
    return record if response.status == 200 and isinstance(record, dict) else None


def _injection(record: dict[str, Any], told: HookInput, program: str | None) -> Injection:
    recall = f"--session {told.session}" if told.session else None
    results = [each for each in record["results"] if each["type"] != "episode" or not each["summary"].endswith("?")]
    if program is not None:
        results = [each for each in results if program in each["summary"]]
    if not results:
        return Injection(recall=recall, reason="nothing is likely to help")
    text = LEAD + "".join(f"- {_line(each)}\n" for each in results)
    return Injection(text, tuple(each["id"] for each in results), len(text) // _TOKEN_CHARACTERS, recall)


def _line(result: dict[str, Any]) -> str:
    """As the hook says it that asks without a server."""
    told = [*msgspec.convert(result.get("state", {}), MemoryState).remarks(as_name)]
    summary = result["summary"].removeprefix(HYPOTHESIS)
    told += [UNCITED] if summary != result["summary"] else []
    told += [f"from {as_name(result['source'])}"] if "source" in result else []
    remarks = f" ({visible(', '.join(told))})" if told else ""
    return f"{result['handle']} {result['timestamp'][:10]} {result['type']}{remarks}: {summary}"
