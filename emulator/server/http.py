"""The listening side: accepts, adopts connections from another process, gives its own away, ends.

uvicorn's protocols without uvicorn's `Server`, whose signals, ticks and logging belong to the supervisor here.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.server import ServerState

from flarebed.emulator.server.protocol import Connection, Gate
from flarebed.emulator.server.request import Receive, Scope, Send

_KEEP_ALIVE_S: Final = 65
_BACKLOG: Final = 2048
_DRAIN_POLL_S: Final = 0.01


Served = Callable[[Scope, Receive, Send], Awaitable[None]]


class HttpServer:
    def __init__(self, application: Served, loop: asyncio.AbstractEventLoop, gate: Gate) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # what it would say is said by `Application`
        self._config = Config(
            application,
            http=Connection,
            ws="none",  # `Connection` loads it when it is first needed
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
        )
        self._config.load()
        self._state = ServerState()
        self._loop = loop
        self._gate = gate
        self._server: asyncio.Server | None = None

    async def listen(self, listener: socket.socket) -> None:
        self._server = await self._loop.create_server(self._connection, sock=listener, backlog=_BACKLOG)

    async def listen_at(self, path: Path) -> None:
        """At a Unix socket."""
        self._server = await self._loop.create_unix_server(self._connection, path)

    async def adopt(self, fd: int, data: bytes) -> None:
        """Go on with a connection that another process accepted."""
        accepted = socket.socket(fileno=fd)
        accepted.setblocking(False)
        try:
            await self._loop.connect_accepted_socket(lambda: self._connection(data), accepted)
        except OSError:
            accepted.close()  # the client is gone

    def retire(self) -> None:
        """Accept nothing more and give idle connections away. WebSockets are closed with 1012, service restart."""
        self.close_listener()
        for connection in list(self._state.connections):
            if isinstance(connection, Connection):
                connection.retire()
            else:
                connection.shutdown()

    def close_listener(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def busy(self) -> bool:
        return bool(self._state.tasks or self._state.connections)

    async def drained(self) -> None:
        """Returns when the last request of a retired server is answered."""
        while self.busy():
            woken: asyncio.Future[None] = self._loop.create_future()
            self._loop.call_later(_DRAIN_POLL_S, woken.set_result, None)
            await woken

    def abort(self) -> None:
        """Close all connections, whatever goes on in them."""
        self.close_listener()
        for connection in list(self._state.connections):
            transport: Any = connection.transport
            transport.abort()

    async def stop(self) -> None:
        """Close all connections, busy ones after their response."""
        self.close_listener()
        for connection in list(self._state.connections):
            connection.shutdown()
        await self.drained()

    def _connection(self, first: bytes = b"") -> Connection:
        return Connection(self._config, self._state, self._loop, self._gate, first)
