"""A server under test: how it is started, asked, edited and stopped. It runs in a session of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import process, tree

VERSION = re.compile(r'(VERSION\s*=\s*")([^"]*)(")')
Answer = tuple[int, bytes]


@dataclass(frozen=True)
class Target:
    """`start` should `exec` the server; a fresh start has no folder `state`; a `bare` server has only some routes."""

    label: str
    start: str
    folder: Path
    port: int
    state: Path
    version_file: Path | None = None
    environment: tuple[tuple[str, str], ...] = ()
    bare: bool = False


class Server:
    def __init__(self, target: Target, log: Path) -> None:
        self.target = target
        self.log = log
        self.url = f"http://127.0.0.1:{target.port}"
        self.process: subprocess.Popen[bytes] | None = None
        self._connection: http.client.HTTPConnection | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> float:
        """Seconds to the first answer."""
        if self._answers(timeout_s=1):
            raise SystemExit(f"something already answers on {self.url}")
        self._connection = None
        self.log.parent.mkdir(parents=True, exist_ok=True)
        start_s = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", self.target.start],
                cwd=self.target.folder,
                env={**os.environ, **dict(self.target.environment)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while not self._answers(timeout_s=10):
            if self.process.poll() is not None:
                raise SystemExit(f"{self.target.label} ended with {self.process.returncode}: see {self.log}")
            if time.monotonic() - start_s > 120:
                self.stop(signal.SIGKILL)
                raise SystemExit(f"{self.target.label} did not answer within 120 s: see {self.log}")
            time.sleep(0.004)
        return time.monotonic() - start_s

    def stop(self, how: signal.Signals = signal.SIGINT, grace_s: float = 15) -> float:
        """Seconds until all its processes are gone; after `grace_s` they are killed."""
        if self.process is None:
            return 0.0
        start_s, pids = time.monotonic(), set(tree(self.pid))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, how)
        while self.process.poll() is None or self._alive(pids):
            if time.monotonic() - start_s > grace_s:
                for pid in self._alive(pids):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        self.process, self._connection = None, None
        return time.monotonic() - start_s

    def clear(self) -> None:
        shutil.rmtree(self.target.state, ignore_errors=True)

    def once(self, method: str, path: str, timeout_s: float = 10) -> Answer:
        """On a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.target.port, timeout=timeout_s)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: str | None = None) -> Answer:
        """On the connection that is kept; a stale one is replaced once."""
        for last in (False, True):
            try:
                if self._connection is None:
                    self._connection = http.client.HTTPConnection("127.0.0.1", self.target.port, timeout=180)
                self._connection.request(method, path, body, {"content-type": "application/json"} if body else {})
                response = self._connection.getresponse()
                return response.status, response.read()
            except (OSError, http.client.HTTPException):
                self._connection = None
                if last:
                    raise
        raise AssertionError

    def json(self, method: str, path: str, body: str | None = None) -> Any:
        status, answer = self.ask(method, path, body)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {answer[:300]!r}")
        return json.loads(answer)

    def version(self) -> str:
        assert self.target.version_file is not None
        match = VERSION.search(self.target.version_file.read_text(encoding="utf-8"))
        assert match is not None
        return match[2]

    def edit(self, version: str) -> None:
        """Save the Worker with another VERSION."""
        assert self.target.version_file is not None
        text = self.target.version_file.read_text(encoding="utf-8")
        self.target.version_file.write_text(VERSION.sub(rf"\g<1>{version}\g<3>", text, count=1), encoding="utf-8")

    def wait_version(self, version: str, limit_s: float = 30) -> tuple[float, int]:
        """Seconds until the edited Worker answers, and how many requests failed meanwhile."""
        start_s, failed = time.monotonic(), 0
        while time.monotonic() - start_s < limit_s:
            try:
                status, body = self.once("GET", "/version", timeout_s=limit_s)
                if status == 200 and json.loads(body)["version"] == version:
                    return time.monotonic() - start_s, failed
                failed += status != 200
            except (OSError, http.client.HTTPException, ValueError):
                failed += 1
            time.sleep(0.003)
        return float("nan"), failed

    def _answers(self, timeout_s: float) -> bool:
        try:
            return self.once("GET", "/hello", timeout_s)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def _alive(self, pids: set[int]) -> set[int]:
        """Those of `pids` that still run, and what they started since."""
        alive = set(tree(self.pid))
        for pid in pids - alive:
            try:
                each = process(pid)
            except OSError:
                continue
            if each.session == self.pid and each.state not in "ZX":
                alive.add(pid)
        return alive
