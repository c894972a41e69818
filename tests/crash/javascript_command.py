"""Workflows of a JavaScript Worker under the real command: our processes are killed, or (`worker`) workerd alone."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.crash.command import WorkflowRounds
from tests.real.command import Running, edit

OURS = 2
"""The supervisor and the process that it started; what follows is workerd and its guard."""


class JavaScriptRounds(WorkflowRounds):
    config = "flow.jsonc"
    entry = "flow.js"
    edited = "// edited\n"

    def direct_notes(self) -> None:
        """The Worker's notes come by HTTP."""
        note = self.notebook.note

        class Notes(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                said = json.loads(self.rfile.read(int(self.headers["content-length"])))
                note(said.pop("is"), 0, **said)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nobody reads it."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Notes)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        edit(self.folder / "src" / "telling.js", "http://notes/", f"http://127.0.0.1:{server.server_port}/")

    def victims(self, running: Running) -> list[int]:
        """workerd ends by itself: it would hold the output otherwise."""
        return running.processes()[:OURS]
