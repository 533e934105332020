"""A client that leaves while its server still loads: the store is closed after that, and the process ends quietly."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import pytest

from recallens.mcp import stdio

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}


def test_the_store_is_closed_once_loading_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "LAST_SECONDS", 1e6)  # the watchdog would end this process too
    wire_in, client_out = os.pipe()
    client_in, wire_out = os.pipe()
    loading, order = threading.Event(), []

    def warm() -> None:
        loading.set()
        time.sleep(0.4)
        order.append("loaded")

    def leave() -> None:
        loading.wait(10)
        os.close(client_out)

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    os.write(client_out, json.dumps(HELLO).encode() + b"\n")
    client = threading.Thread(target=leave)
    client.start()
    try:
        stdio.serve(None, (wire_in, wire_out), warm=warm, close=lambda: order.append("closed"))
    finally:
        client.join()
        for number, handler in before.items():
            signal.signal(number, handler)
        for descriptor in (wire_in, wire_out, client_in):
            os.close(descriptor)
    assert order == ["loaded", "closed"]
