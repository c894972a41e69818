"""`wrangler dev` on worker.js: what Cloudflare's own engine answers to a question."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILES = ("worker.js", "values.js", "wrangler.json")
LONG = 300
HERE = Path(__file__).parent


class Wrangler:
    def __init__(self, url: str) -> None:
        self._url = url
        self._asked = 0

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Of a question, with what differs from one run to the next made equal."""
        self._asked += 1
        instance_id = f"zz{self._asked}zz"
        given: dict[str, Any] = self._fetch("/", {"question": question, "id": instance_id})
        if question.get("detail"):
            path = f"/cdn-cgi/local/explorer/api/workflows/flow/instances/{instance_id}"
            given["detail"] = self._fetch(path)["result"]
        return scrubbed(given, instance_id)

    def _fetch(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self._url + path, data), timeout=60) as response:
            return json.load(response)


def scrubbed(answer: Any, instance_id: str) -> Any:
    """Without times of today, long texts cut, and with "i" for the instance's id."""
    text = json.dumps(answer, ensure_ascii=False).replace(instance_id, "i")
    text = re.sub(r'"202[6-9]-\d\d-\d\dT[0-9:.]+Z"', '"<time>"', text)
    text = re.sub(r'\{"\$date": 1[78]\d{11}\}', '"<time>"', text)
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>", text)
    return _cut(json.loads(text, parse_float=_number))


def _cut(value: Any) -> Any:
    """As `shown` does it."""
    if isinstance(value, str):
        return {"$long": [value[:10], len(value)]} if len(value) > LONG and value.isalnum() else value
    if isinstance(value, list):
        return [_cut(part) for part in value]
    return {key: _cut(part) for key, part in value.items()} if isinstance(value, dict) else value


def _number(text: str) -> float:
    """As JavaScript writes it: 1.0 is 1."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


@contextmanager
def running(wrangler: str) -> Iterator[Wrangler]:
    """`wrangler` is the command; node is to be found on PATH."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        for name in FILES:
            shutil.copy(HERE / name, folder)
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        environment = os.environ | {"WRANGLER_SEND_METRICS": "false", "CI": "1"}
        command = [wrangler, "dev", "--local", "--port", str(port), "--log-level", "error"]
        with open(Path(folder) / "log", "wb") as log:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
            try:
                yield _once_up(f"http://127.0.0.1:{port}", process)
            finally:
                process.terminate()
                process.wait(20)


def _once_up(url: str, process: subprocess.Popen[bytes]) -> Wrangler:
    until = time.monotonic() + 60
    pause = threading.Event()
    while time.monotonic() < until and process.poll() is None:
        try:
            urllib.request.urlopen(url + "/cdn-cgi/local/explorer/api/workflows", timeout=5).close()
        except (urllib.error.URLError, OSError):
            pause.wait(0.2)
        else:
            return Wrangler(url)
    raise SystemExit("oracle: wrangler dev did not start")
