"""What workerd asks of us: an HTTP server on a private Unix socket, behind the bindings of a Worker's config.

workerd puts a header into each request that names the binding; the adapter of that binding answers.
"""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from flarebed.bindings.clock import Clock
from flarebed.emulator.runtime import whole
from flarebed.emulator.runtime.request_body import chunks_of

BINDING: Final = "flarebed-binding"
"""The header by which a request names its binding."""

Log = Callable[[str, str], None]

_BACKLOG: Final = 4096
"""A Unix socket refuses whom it can't queue, and workerd opens as many connections at once as there are calls."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`target` (path and query) and `path` as they were sent; `query` decoded; `headers` with lower-case names."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]
    target: str = ""

    async def body(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks])


@dataclass(frozen=True, slots=True)
class Answered:
    """`reason` is the status line's text, which workerd shows to the Worker."""

    status: int = 200
    body: bytes | AsyncGenerator[bytes, None] = b""
    headers: tuple[tuple[str, str], ...] = ()
    reason: str = ""


Adapter = Callable[[Asked], Awaitable[Answered]]


class HangUp(Exception):
    """An adapter's answer may be none: the Worker sees a lost connection.

    workerd asks once more for what is safe to ask for (GET) if the connection had been used before; not when it has
    heard the beginning of an answer, with the headers `begun`.
    """

    def __init__(self, begun: tuple[tuple[str, str], ...] | None = None) -> None:
        super().__init__()
        self.begun = begun


_NOT_IN_A_LINE: Final = re.compile(r"[\x00-\x1f\x7f]")


def refused(status: int, text: str) -> Answered:
    """What workerd's own clients word for the Worker: they read the status line."""
    return Answered(status, text.encode(), reason=_NOT_IN_A_LINE.sub(" ", text))


class Host:
    """`adapters` by the name of the binding."""

    def __init__(self, path: str, clock: Clock, log: Log) -> None:
        self.path = path
        self.adapters: dict[str, Adapter] = {}
        self._clock = clock
        self._log = log
        self._server: asyncio.Server | None = None
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what it would say is said here
        self._config = Config(
            self._answer, interface="asgi3", http=HttpToolsProtocol, ws="none", lifespan="off", log_config=None,
            access_log=False, proxy_headers=False, server_header=False, date_header=False, timeout_keep_alive=3600,
        )  # fmt: skip
        self._config.load()
        self._state = ServerState()

    async def listen(self) -> None:
        loop = self._clock.loop
        self._server = await loop.create_unix_server(
            lambda: HttpToolsProtocol(self._config, self._state, {}, loop), self.path, backlog=_BACKLOG
        )

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._state.connections):
            transport: Any = connection.transport
            transport.abort()

    async def _answer(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        with self._clock.operation_outside():
            headers = {name.decode("latin-1"): value.decode("utf-8", "replace") for name, value in scope["headers"]}
            query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
            path = scope["raw_path"].decode("latin-1")
            target = f"{path}?{scope['query_string'].decode('latin-1')}"
            asked = Asked(scope["method"], path, query, headers, chunks_of(receive), target)
            try:
                await _send(await self._answered(self.adapters[headers[BINDING]], asked), send)
            except ConnectionResetError:  # the Worker took its request back: the stream of a body failed, say
                return
            except HangUp as lost:
                await _hang_up(lost, send)

    async def _answered(self, adapter: Adapter, asked: Asked) -> Answered:
        try:
            return await adapter(asked)
        except (ConnectionResetError, HangUp):
            raise
        except Exception as error:
            shown = "".join(traceback.format_exception(error))
            self._log("error", f"A defect of flarebed, please report it:\n{shown}")
            return Answered(500)


async def _send(answered: Answered, send: Any) -> None:
    headers = [(name.encode("latin-1"), value.encode("utf-8", "surrogatepass")) for name, value in answered.headers]
    body = answered.body
    if isinstance(body, bytes):
        headers.append((b"content-length", b"%d" % len(body)))
        await whole.write(_cycle(send), answered.status, answered.reason, headers, body)
        return
    await send({"type": "http.response.start", "status": answered.status, "headers": headers})
    async with aclosing(body):
        async for chunk in body:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _hang_up(lost: HangUp, send: Any) -> None:
    if lost.begun is not None:
        headers = [(name.encode(), value.encode()) for name, value in (*lost.begun, ("content-length", "1"))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
    _cycle(send).transport.close()


def _cycle(send: Any) -> RequestResponseCycle:
    cycle = whole.cycle_of(send)
    assert cycle is not None
    return cycle
