"""HTTP/1.1 to workerd over its private Unix sockets: one request in, one answer out, bodies streamed both ways.

What a general client does for the network (redirects, proxies, cookies) would change a request, and this one has to
arrive as the user's client sent it. One exchange on one connection is `http_connection.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from flarebed.emulator.runtime.workerd.http_connection import LOST, Answer, Connection, Headers, LostConnection

__all__ = ["LOST", "Answer", "Headers", "HttpClient", "LostConnection"]

_MOST_IDLE_S: Final = 4.0
"""workerd closes a connection that was idle for 5 s (kj/compat/http.h, HttpServerSettings.pipelineTimeout)."""
_AT_ONCE_S: Final = 0.02
"""What was written into a closed connection is refused as fast as that."""
_SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))
"""Methods whose request may be sent again (RFC 9110, section 9.2.1)."""


async def whole(answer: Answer) -> bytes:
    """All of the body."""
    if isinstance(answer.body, bytes):
        return answer.body
    return b"".join([chunk async for chunk in answer.body])


class HttpClient:
    """Keeps connections alive, as many as were in use at once.

    With `listening`, which is set while somebody listens, requests wait for that.
    """

    def __init__(self, path: str, loop: asyncio.AbstractEventLoop, listening: asyncio.Event | None = None) -> None:
        self._path = path
        self._loop = loop
        self._listening = listening
        self._closed = False
        self._idle: list[Connection] = []
        self._all: set[Connection] = set()
        self._quiet: asyncio.Future[None] | None = None

    async def quiet(self) -> None:
        """Return when no exchange is under way."""
        if len(self._all) > len(self._idle):
            self._quiet = self._loop.create_future()
            await self._quiet

    async def send(
        self, method: str, target: str, headers: Headers, body: bytes | AsyncIterator[bytes] | None = None
    ) -> Answer:
        """Raises LostConnection, and what the body raises. Cancelled, it hangs up."""
        connection = self._kept()
        if connection is not None:
            begun_s = self._loop.time()
            try:
                return await connection.exchange(method, target, headers, body)
            except LostConnection:
                # Closed for being idle, just now? It may have read the request for all we know.
                late = self._loop.time() - begun_s > _AT_ONCE_S
                if late or connection.heard or body is not None or method not in _SAFE:
                    raise
        return await (await self._opened()).exchange(method, target, headers, body)

    def drop_idle(self) -> None:
        """The other end is gone: what is asked next shall not learn it by failing."""
        while self._idle:
            self._idle.pop().hang_up()

    def close(self) -> None:
        self._closed = True
        for connection in list(self._all):
            connection.hang_up()

    def _kept(self) -> Connection | None:
        """The connection that was used last: the others may end."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_closing():
                continue
            if self._loop.time() - connection.idle_since_s < _MOST_IDLE_S:
                return connection
            connection.hang_up()
        return None

    async def _opened(self) -> Connection:
        """A new one, as soon as somebody listens."""
        while not self._closed:
            if self._listening is not None:
                await self._listening.wait()
            try:
                _, made = await self._loop.create_unix_connection(
                    lambda: Connection(self._loop, self._freed, self._gone), self._path
                )
            except (FileNotFoundError, ConnectionError) as error:
                if self._listening is None:
                    raise LostConnection from error
                self._listening.clear()  # it has ended, as its supervisor is about to find
            else:
                self._all.add(made)
                return made
        raise LostConnection

    def _freed(self, connection: Connection) -> None:
        self._idle.append(connection)
        self._settle()

    def _gone(self, connection: Connection) -> None:
        self._all.discard(connection)
        self._settle()

    def _settle(self) -> None:
        if self._quiet is not None and not self._quiet.done() and len(self._all) <= len(self._idle):
            self._quiet.set_result(None)
