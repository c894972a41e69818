"""The real command in a process of its own: started, asked over a socket, stopped or killed."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from flarebed.emulator.cli.main import main; main()"]
# Modules are compiled once, as on a machine where flarebed was used before, whatever the tests themselves run with.
ENVIRONMENT = os.environ | {
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "pycache"),
    "FLAREBED_REGISTRY_PATH": f"/tmp/flarebed-tests-{os.getuid()}",
}
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


class Place:
    """A project whose Worker writes its notes to `NOTES`, and waits until the file `GO` is there.

    `bindings` is a part of the configuration, with two %s for the paths of those files.
    """

    def __init__(self, folder: Path, entry: str, bindings: str) -> None:
        self.folder = project(folder, entry)
        self.go = folder / "go"
        self._notes = folder / "notes"
        edit(folder / "wrangler.jsonc", '"vars": {"GREETING": "hello"}', bindings % (self._notes, self.go))

    def notes(self) -> list[str]:
        return self._notes.read_text().splitlines() if self._notes.exists() else []


def pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def until(what: Callable[[], Any]) -> Any:
    """Ask again and again until the answer is true."""
    end_s = time.monotonic() + _LONGEST_S
    while not (answer := what()):
        assert time.monotonic() < end_s, "it never came"
        pause(0.01)
    return answer


def flarebed(folder: Path, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run another command to its end, and some code before."""
    return subprocess.run(
        [*COMMAND[:2], before + COMMAND[2], *arguments], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True,
        check=False, timeout=_LONGEST_S,
    )  # fmt: skip


class Running:
    """`flarebed dev`; `output` has its lines so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.output: list[str] = []
        self._lines: Queue[str | None] = Queue()  # None at the end
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.port = int(self.wait_for(_READY)[1])
        except AssertionError:
            process.kill()
            raise
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_LONGEST_S)

    def get(self, path: str = "/") -> str:
        """Over one connection that is kept alive."""
        self._connection.request("GET", path)
        return self._connection.getresponse().read().decode()

    def ask(self, method: str, path: str = "/", body: Any = None) -> tuple[int, str]:
        """Status and text, over the same connection; `body` goes out as JSON."""
        self._connection.request(method, path, body if body is None else json.dumps(body))
        response = self._connection.getresponse()
        return response.status, response.read().decode()

    def json(self, path: str) -> Any:
        return json.loads(self.get(path))

    def new_connection(self) -> Running:
        """For after one that was lost."""
        self._connection.close()
        return self

    def status(self, path: str = "/") -> int:
        return self.ask("GET", path)[0]

    def begin(self, path: str) -> http.client.HTTPConnection:
        """A request on a connection of its own, whose answer is to be read later."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_LONGEST_S)
        connection.request("GET", path)
        return connection

    def wait_for(self, pattern: str | re.Pattern[str]) -> re.Match[str]:
        """The next line that holds the pattern."""
        while True:
            text = None
            with contextlib.suppress(Empty):
                text = self._lines.get(timeout=_LONGEST_S)
            if text is None:
                raise AssertionError(f"no {pattern!r} in:\n" + "".join(self.output))
            self.output.append(text)
            if found := re.search(pattern, text):
                return found

    def kill(self) -> None:
        """kill -9 of the command; returns when all its processes are gone."""
        self.stop(signal.SIGKILL)

    def processes(self) -> list[int]:
        """The command's own process, then those that it made, each before its children."""
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        parents = {int(pid): int(parent) for pid, parent in (row.split() for row in listed.splitlines())}
        found = [self.process.pid]
        for parent in found:
            found += [pid for pid, of in parents.items() if of == parent]
        return found

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """End the command; `output` is complete then."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """The exit code, once the command and all its processes have ended."""
        code = self.process.wait(_LONGEST_S)
        self._reader.join(_LONGEST_S)
        assert not self._reader.is_alive(), "a process that holds the output is left"
        while not self._lines.empty() and (text := self._lines.get()) is not None:
            self.output.append(text)
        return code

    def close(self) -> None:
        self._connection.close()
        self.process.kill()
        self.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            self._lines.put(text)
        self._lines.put(None)


@contextmanager
def dev(
    folder: Path, *options: str, before: str = "", environment: Mapping[str, str] = ENVIRONMENT
) -> Iterator[Running]:
    """Run `flarebed dev` on any free port in `folder`, and some code before."""
    process = subprocess.Popen(
        [*COMMAND[:2], before + COMMAND[2], "dev", "--port", "0", *options], cwd=folder, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    running = Running(process)
    try:
        yield running
    finally:
        running.close()
