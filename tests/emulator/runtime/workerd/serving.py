"""A JavaScript Worker under test: the real workerd below the real composition root, one for all tests of a module."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from flarebed.emulator.config.load import load
from flarebed.emulator.group import Part, build_group
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse

T = TypeVar("T")
BASE = "http://worker.test"
_LONGEST_TURNS = 10_000
"""Of a millisecond at least."""


class Serving:
    """`logged` has (level, text) of what the Worker and flarebed said. Tests share its event loop."""

    def __init__(self, folder: Path, config: dict[str, Any], files: dict[str, str]) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)
        (folder / "wrangler.json").write_text(json.dumps(config))
        self.folder = folder
        self.logged: list[tuple[str, str]] = []
        self.loop = asyncio.new_event_loop()
        self.app = self.run(self._build())

    async def _build(self) -> Any:
        config = load(self.folder / "wrangler.json", cwd=self.folder, env=None, environ={})
        log: Callable[[str, str], None] = lambda level, text: self.logged.append((level, text))  # noqa: E731
        return await build_group([Part(config, log)], persist_to=self.folder / "state")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        self.run(self.app.close())
        self.run(turns(5))  # what was closed is let go of
        self.loop.close()

    async def fetch(
        self,
        url: str = "/",
        method: str = "GET",
        headers: tuple[tuple[str, str], ...] = (),
        body: AsyncIterator[bytes] | None = None,
        cf: dict[str, Any] | None = None,
    ) -> OutgoingResponse:
        target = url if "://" in url else BASE + url
        response: OutgoingResponse = await self.app.fetch(
            IncomingRequest(method, target, [("host", "worker.test"), *headers], body, cf or {})
        )
        return response

    async def text(self, *arguments: Any, **more: Any) -> str:
        return (await whole(await self.fetch(*arguments, **more))).decode()

    async def json(self, *arguments: Any, **more: Any) -> Any:
        return json.loads(await self.text(*arguments, **more))

    async def until_logged(self, level: str, start: str) -> None:
        """Until a line begins so."""
        for _ in range(_LONGEST_TURNS):
            if any(each == level and text.startswith(start) for each, text in self.logged):
                return
            await turns(1)
        raise AssertionError(f"no {start!r} in {self.logged}")


async def whole(response: OutgoingResponse) -> bytes:
    body = response.body
    if body is None or isinstance(body, bytes):
        return body or b""
    return b"".join([chunk async for chunk in body])


async def turns(number: int) -> None:
    """Let the loop look at its sockets."""
    loop = asyncio.get_running_loop()
    for _ in range(number):
        event = asyncio.Event()
        loop.call_later(0.001, event.set)
        await event.wait()


@contextmanager
def serving(config: dict[str, Any], files: dict[str, str]) -> Iterator[Serving]:
    folder = Path(tempfile.mkdtemp(prefix="serving-"))
    base = {"name": "worker", "main": "index.js", "compatibility_date": "2026-11-01"}
    served = Serving(folder, base | config, files)
    try:
        yield served
    finally:
        served.close()
        shutil.rmtree(folder)
