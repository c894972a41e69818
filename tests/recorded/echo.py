"""The server that the probe's outbound requests reach; it answers what it was sent."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "/json")
            self.send_header("content-length", "0")
            self.end_headers()
            return
        status, answer = self.answer(body)
        self.send_response(status)
        cookies = [("set-cookie", "a=1"), ("set-cookie", "b=2")]
        length = ("content-length", str(len(answer.encode())))
        for name, value in [("content-type", "application/json"), *cookies, ("x-m", "1"), ("x-m", "2"), length]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.encode())

    do_POST = do_PUT = do_GET

    def answer(self, body: str) -> tuple[int, str]:
        if self.path == "/404":
            return 404, '{"err":1}'
        if self.path == "/json":
            return 200, '{"a":[1,null,{"b":"c"}]}'
        return 200, json.dumps({"m": self.command, "h": dict(self.headers), "b": body})

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""


@contextmanager
def echo_server() -> Iterator[int]:
    """Its port."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
