"""Listening: an answer is not held back, and a port that is taken is told."""

from __future__ import annotations

import socket

import pytest

from recallens.errors import InvalidInput
from recallens.server import address_of, listening


def test_what_is_written_to_a_connection_is_sent_at_once() -> None:
    with listening("127.0.0.1", 0) as listener:
        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert address_of(listener, "127.0.0.1") == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_port_that_is_taken_is_told_with_the_next_step() -> None:
    with (
        listening("127.0.0.1", 0) as listener,
        pytest.raises(InvalidInput, match=r"cannot listen on 127.0.0.1 .*another --port"),
    ):
        listening("127.0.0.1", listener.getsockname()[1])
