"""The real command in a process of its own: started, asked over a socket, stopped or killed."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue

COMMAND = [sys.executable, "-c", "from flarebed.emulator.cli.main import main; main()"]
_LONGEST_S = 20.0
_READY = re.compile(r"Ready on http://localhost:(\d+)")

ENTRY = """\
from workers import Response, WorkerEntrypoint

import helper

VERSION = "v0"


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(f"{VERSION} {helper.NAME} {self.env.GREETING}")
"""
CONFIG = """\
{
  "name": "tiny", "main": "src/entry.py", "compatibility_date": "2026-11-01",
  "compatibility_flags": ["python_workers"], "vars": {"GREETING": "hello"}
}
"""


def project(folder: Path, entry: str = ENTRY) -> Path:
    """A tiny Worker with one module beside its entry."""
    (folder / "src").mkdir()
    (folder / "src" / "entry.py").write_text(entry)
    (folder / "src" / "helper.py").write_text('NAME = "h0"\n')
    (folder / "wrangler.jsonc").write_text(CONFIG)
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


class Running:
    """`flarebed dev`; `output` has its lines so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.output: list[str] = []
        self._lines: Queue[str] = Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = int(self.wait_for(_READY)[1])
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_LONGEST_S)

    def get(self, path: str = "/") -> str:
        """Over one connection that is kept alive."""
        self._connection.request("GET", path)
        return self._connection.getresponse().read().decode()

    def status(self, path: str = "/") -> int:
        self._connection.request("GET", path)
        response = self._connection.getresponse()
        response.read()
        return response.status

    def begin(self, path: str) -> http.client.HTTPConnection:
        """A request on a connection of its own, whose answer is to be read later."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_LONGEST_S)
        connection.request("GET", path)
        return connection

    def wait_for(self, pattern: str | re.Pattern[str]) -> re.Match[str]:
        """The next line that holds the pattern."""
        while True:
            try:
                text = self._lines.get(timeout=_LONGEST_S)
            except Empty:
                raise AssertionError(f"no {pattern!r} in:\n" + "".join(self.output)) from None
            self.output.append(text)
            if found := re.search(pattern, text):
                return found

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(_LONGEST_S)

    def close(self) -> None:
        self._connection.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(_LONGEST_S)
        self._reader.join(_LONGEST_S)
        assert not self._reader.is_alive(), "a process that holds the output is left"
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            self._lines.put(text)


@contextmanager
def dev(folder: Path, *options: str) -> Iterator[Running]:
    """Run `flarebed dev` on any free port in `folder`."""
    process = subprocess.Popen(
        [*COMMAND, "dev", "--port", "0", *options], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    running = Running(process)
    try:
        yield running
    finally:
        running.close()
