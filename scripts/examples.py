#!/usr/bin/env python3
"""Serve the examples of a checkout of github.com/cloudflare/python-workers-examples and ask what its own tests ask.

    .venv/bin/python scripts/examples.py CHECKOUT

Each is copied to a temporary folder and served, unmodified, by `flarebed dev`. The environment needs the packages that
they list: fastapi and jinja2 for 03, pillow for 12, pygments for 13, django for 18. 13 needs workerd and esbuild too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

FLAREBED = Path(sys.executable).with_name("flarebed")
READY_S = 20


@dataclass
class Answer:
    status: int
    content_type: str
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


Ask = Callable[[str], Answer]
TEXT = "text/plain;charset=UTF-8"
JSON = "application/json"
FASTAPI = "This is an example of FastAPI with Jinja2 - go to /hi/<name> to see a template rendered"
VARIABLE = "Here is an example of getting an environment variable: My env var"


def expect(got: object, want: object) -> None:
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def hello(ask: Ask) -> None:
    expect(ask("/"), Answer(200, TEXT, b"Hello world!"))


def binding(ask: Ask) -> None:
    expect(ask("/"), Answer(200, TEXT, b"baz"))


def fastapi(ask: Ask) -> None:
    expect(ask("/"), Answer(200, JSON, f'{{"message":"{FASTAPI}"}}'.encode()))
    expect(ask("/hi/Dominik"), Answer(200, JSON, b'{"message":"Hello, Dominik!"}'))
    expect(ask("/env"), Answer(200, JSON, f'{{"message":"{VARIABLE}"}}'.encode()))


def query_d1(ask: Ask) -> None:
    answer = ask("/")
    expect(answer.status, 200)
    expect(json.loads(answer.text)["author"] in ("Wikipedia", "Dominik Picheta", "Hood Chatham"), True)


def cron(ask: Ask) -> None:
    answer = ask("/")
    expect((answer.status, answer.content_type), (200, TEXT))
    expect("Hello from Cron Worker" in answer.text, True)
    expect(ask("/cdn-cgi/local/scheduled").text, "ok")


def workflows(ask: Ask) -> None:
    expect("/start" in ask("/").text, True)
    started = ask("/start")
    expect(started.status, 200)
    instance = started.text.rpartition("ID: ")[2].strip()
    for _ in range(60):  # its steps take up to 25 seconds
        status = json.loads(ask(f"/status/{instance}").text)
        if status["status"] in ("complete", "errored"):
            break
        time.sleep(0.5)
    expect(status["status"], "complete")


def image_gen(ask: Ask) -> None:
    expect("<title>Pillow Image Generation Demo</title>" in ask("/").text, True)
    for path in ("/gradient", "/badge", "/placeholder", "/chart"):
        answer = ask(path)
        expect((answer.status, answer.content_type, answer.body[:8]), (200, "image/png", b"\x89PNG\r\n\x1a\n"))


def pygments(ask: Ask) -> None:
    """The TypeScript Worker's page, highlighted by the Python Worker."""
    answer = ask("/")
    expect((answer.status, answer.content_type), (200, "text/html"))
    expect("<strong>Language Detected:</strong> TypeScript" in answer.text, True)
    expect('<span class="k">async</span>' in answer.text, True)


def django(ask: Ask) -> None:
    expect(ask("/"), Answer(200, JSON, b'{"message": "Hello from Django on Cloudflare Workers!"}'))


EXAMPLES: dict[str, Callable[[Ask], None]] = {
    "01-hello": hello,
    "02-binding": binding,
    "03-fastapi": fastapi,
    "04-query-d1": query_d1,
    "08-cron": cron,
    "10-workflows": workflows,
    "12-image-gen": image_gen,
    "13-js-api-pygments": pygments,
    "18-django": django,
}


CONFIGS = {"13-js-api-pygments": ("ts/wrangler.jsonc", "py/wrangler.jsonc")}
"""Examples of several Workers; requests go to the first."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Ask]:
    port = free_port()
    configs = [word for config in CONFIGS.get(folder.name, ()) for word in ("-c", config)]
    command = [str(FLAREBED), "dev", "--port", str(port), *configs]
    with (folder / "flarebed.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_ready(port, process)
        yield lambda path: get(port, path)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=10)


def wait_ready(port: int, process: subprocess.Popen[bytes]) -> None:
    end_s = time.monotonic() + READY_S
    while time.monotonic() < end_s and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError("flarebed dev does not listen")


def get(port: int, path: str) -> Answer:
    try:
        response = urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30)
    except urllib.error.HTTPError as error:
        response = error
    with response:
        return Answer(response.status, response.headers.get("content-type", ""), response.read())


def prepare(folder: Path) -> None:
    """Make the database of 04, with the command of its README."""
    if (folder / "db_init.sql").exists():
        execute = [str(FLAREBED), "d1", "execute", "quotes", "--local", "--file", "db_init.sql"]
        subprocess.run(execute, cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def run(name: str, source: Path) -> str:
    """What is wrong, or an empty text."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / name
        shutil.copytree(source, folder)
        try:
            prepare(folder)
            with serving(folder) as ask:
                EXAMPLES[name](ask)
        except Exception as error:
            log = folder / "flarebed.log"
            shown = log.read_text(encoding="utf-8")[-2000:] if log.exists() else ""
            return f"{type(error).__name__}: {error}\n{shown}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description="serve the examples of a checkout and ask what its tests ask")
    parser.add_argument("checkout", type=Path)
    checkout = parser.parse_args().checkout
    failed = 0
    for name in EXAMPLES:
        wrong = run(name, checkout / name)
        failed += bool(wrong)
        print(f"{name}: {wrong or 'as its test expects'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
