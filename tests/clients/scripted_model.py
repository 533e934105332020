"""A model that says what a script says, over the API that Claude Code speaks, on this machine alone. What it was sent
is kept, so that a scene can look at what the client put before the model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Block = dict[str, Any]


def said(text: str) -> Block:
    return {"type": "text", "text": text}


def runs(command: str) -> Block:
    """A call of the client's shell."""
    return {"type": "tool_use", "name": "Bash", "input": {"command": command, "description": "as the script says"}}


@dataclass
class ScriptedModel:
    """One block is one answer; when the script is over, it says so."""

    script: list[Block]
    address: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def texts(self) -> list[str]:
        """Of every request all that the model was shown, as one text."""
        return ["\n".join(_strings([each.get("system"), each.get("messages")])) for each in self.asked]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


@contextmanager
def scripted_model(script: Sequence[Block]) -> Iterator[ScriptedModel]:
    model = ScriptedModel(list(script))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            if not self.path.startswith("/v1/messages") or "count_tokens" in self.path:
                self._whole(404, {})
            elif request.get("tools"):
                model.asked.append(request)
                self._stream(request, model.script.pop(0) if model.script else said("The script is over."))
            else:  # the client asks for a title, or whether it is there
                self._stream(request, said("harbor"))

        def do_GET(self) -> None:
            self._whole(404, {})

        do_HEAD = do_GET

        def _whole(self, status: int, record: dict[str, Any]) -> None:
            body = json.dumps(record).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, request: dict[str, Any], block: Block) -> None:
            number, tool = len(model.asked), block["type"] == "tool_use"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            whole = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": request.get("model"),
                     "content": [], "stop_reason": None, "stop_sequence": None,
                     "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
            empty = {**block, "input": {}, "id": f"toolu_{number}"} if tool else {**block, "text": ""}
            delta = (
                {"type": "input_json_delta", "partial_json": json.dumps(block["input"])} if tool
                else {"type": "text_delta", "text": block["text"]}
            )  # fmt: skip
            end = {"stop_reason": "tool_use" if tool else "end_turn", "stop_sequence": None}
            for kind, more in (
                ("message_start", {"message": whole}),
                ("content_block_start", {"index": 0, "content_block": empty}),
                ("content_block_delta", {"index": 0, "delta": delta}),
                ("content_block_stop", {"index": 0}),
                ("message_delta", {"delta": end, "usage": {"output_tokens": 1}}),
                ("message_stop", {}),
            ):
                self.wfile.write(f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode())
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the scenes read what the client says."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        model.address = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield model
        finally:
            server.shutdown()
