"""`wrangler dev` on worker.js, with a fresh database for each question."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bindings.d1.asking import shown

WORKER = Path(__file__).parent / "worker.js"
TRIES = 300
PAUSE_S = 0.2
PATIENCE_S = 60


class Wrangler:
    def __init__(self, url: str) -> None:
        self._url = url
        self._asked = 0

    def answers(self, question: dict[str, Any]) -> list[Any]:
        body = {"database": f"DB{self._asked}", "setup": question.get("setup"), "ask": question["ask"]}
        self._asked += 1
        request = urllib.request.Request(self._url, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
            return [shown(answer) for answer in json.load(response)]


@contextmanager
def running(command: str, databases: int) -> Iterator[Wrangler]:
    """`command` is wrangler; node is to be found on PATH."""
    with tempfile.TemporaryDirectory() as folder, on(command, Path(folder), databases) as wrangler:
        yield wrangler


@contextmanager
def on(command: str, root: Path, databases: int) -> Iterator[Wrangler]:
    """In the folder `root`, which gets the Worker and its config."""
    write_project(root, databases)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(root / "log", "wb") as log:
        process = subprocess.Popen(
            [command, "dev", "--local", "--port", str(port), "--inspector-port", "0", "--log-level", "error"],
            cwd=root, env=environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}/"
            _wait_for(url)
            yield Wrangler(url)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def write_project(root: Path, databases: int) -> None:
    shutil.copy(WORKER, root)
    config = {"name": "oracle-d1", "main": "worker.js", "compatibility_date": "2026-11-01", "d1_databases": [
        {"binding": f"DB{n}", "database_name": f"db{n}", "database_id": f"db{n}"} for n in range(databases)
    ]}  # fmt: skip
    (root / "wrangler.json").write_text(json.dumps(config))


def environment() -> dict[str, str]:
    return os.environ | {"WRANGLER_SEND_METRICS": "false", "CI": "1"}


def _wait_for(url: str) -> None:
    for _ in range(TRIES):
        try:
            urllib.request.urlopen(url, timeout=PATIENCE_S).close()
            return
        except (urllib.error.URLError, OSError):
            threading.Event().wait(PAUSE_S)
    raise SystemExit("oracle: wrangler dev did not start")
