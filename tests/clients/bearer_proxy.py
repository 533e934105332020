"""A door in front of a server that asks for a token, for a client that cannot show one: it passes requests on as they
are, with the token added, and answers as they come."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive"}


@contextmanager
def bearer_proxy(address: str, token: str) -> Iterator[str]:
    """The proxy's own address. The server is told the host that the client names, with the server's port."""
    target = urlsplit(address)
    assert target.hostname is not None

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            own = f":{self.server.server_address[1]}"
            headers = {name: value.replace(own, f":{target.port}") for name, value in self.headers.items()}
            server = http.client.HTTPConnection(target.hostname or "", target.port, timeout=30)
            try:
                server.request(self.command, self.path, body or None, headers | {"Authorization": f"Bearer {token}"})
                self.give_back(server.getresponse())
            finally:
                server.close()

        def give_back(self, answer: http.client.HTTPResponse) -> None:
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while piece := answer.read1(65_536):
                self.wfile.write(piece)
                self.wfile.flush()

        do_GET = do_POST = do_DELETE = do_OPTIONS = pass_on

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the tests read what the client says."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        proxy.daemon_threads = True
        Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{proxy.server_address[1]}{target.path}"
        finally:
            proxy.shutdown()
