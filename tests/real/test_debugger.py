"""`breakpoint()` in Worker code, on a terminal."""

from __future__ import annotations

import http.client
import os
import pty
import re
import select
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.real.command import ENVIRONMENT, project

pytestmark = pytest.mark.real

ENTRY = """\
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        secret = 41
        breakpoint()
        return Response(str(secret))
"""
ON_A_TERMINAL = """\
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from flarebed.emulator.cli.main import main
main()
"""
_LONGEST_S = 20.0


class Screen:
    """The master's end of a pseudo-terminal."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._seen = ""

    def wait_for(self, pattern: str) -> re.Match[str]:
        while not (found := re.search(pattern, self._seen)):
            ready, _, _ = select.select([self._fd], [], [], _LONGEST_S)
            assert ready, f"no {pattern!r} in:\n{self._seen}"
            self._seen += os.read(self._fd, 65536).decode(errors="replace")
        self._seen = self._seen[found.end() :]
        return found

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())


def test_a_debugger_has_the_terminal_and_keys_work_again_after_it(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL, "dev", "--port", "0"], cwd=project(tmp_path, ENTRY),
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=ENVIRONMENT,
    )  # fmt: skip
    os.close(slave)
    screen = Screen(master)
    try:
        port = int(screen.wait_for(r"Ready on http://localhost:(\d+)")[1])
        screen.wait_for(r"\[x\] exit")
        screen.type("r")
        screen.wait_for("Reloaded")
        answers: list[bytes] = []
        asking = threading.Thread(target=lambda: answers.append(_get(port)))
        asking.start()
        screen.wait_for(r"\(Pdb\) ")
        screen.type("secret = secret + 1\n")  # neither its r nor its x is a key now
        screen.wait_for(r"\(Pdb\) ")
        screen.type("p secret\n")
        screen.wait_for(r"42\r\n\(Pdb\) ")
        screen.type("c\n")
        asking.join(_LONGEST_S)
        assert answers == [b"42"]
        screen.type("r")
        screen.wait_for("Reloaded")
        screen.type("x")
        assert process.wait(_LONGEST_S) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(_LONGEST_S)
        os.close(master)


def _get(port: int) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_LONGEST_S)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read()
    finally:
        connection.close()
