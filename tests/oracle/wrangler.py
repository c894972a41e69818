"""`wrangler dev` on a Worker of ours: Cloudflare's own engines, to be asked over HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_S = 90
STOP_S = 20
READY = "/cdn-cgi/local/explorer/api/workflows"


def fetched(url: str, body: Any = None) -> Any:
    """The JSON at `url`, of a POST if there is a `body`."""
    sent = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, sent), timeout=PATIENCE_S) as response:
        return json.load(response)


@contextmanager
def running(wrangler: str, files: Mapping[str, str]) -> Iterator[str]:
    """The URL of the Worker that `files` (name, text) make, with a state of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        with started(wrangler, Path(folder)) as url:
            yield url


@contextmanager
def started(wrangler: str, folder: Path) -> Iterator[str]:
    """The URL of the Worker in `folder`; `wrangler` is the command; node is to be found on PATH."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [wrangler, "dev", "--local", "--port", str(port), "--inspector-port", "0", "--log-level", "error"]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(url, process, log)
            yield url
        finally:
            process.terminate()
            process.wait(STOP_S)


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"WRANGLER_SEND_METRICS": "false", "CI": "1", "WRANGLER_REGISTRY_PATH": str(folder)}


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(url + READY, timeout=5).close()
        except (urllib.error.URLError, OSError):
            pause.wait(0.2)
        else:
            return
    raise SystemExit(f"oracle: wrangler dev did not start\n{log.read_text(errors='replace')}")
