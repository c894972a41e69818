"""One HTTP connection: uvicorn's protocol, plus what a reload needs.

A request that begins while the Worker's files have changed is not answered with old code: the connection, with the
bytes already read, is given to the next process. At a reload idle connections are given away too, and busy ones
once their response is out, so a client that keeps its connection alive never sees the old code again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, Protocol

from uvicorn.config import Config
from uvicorn.importer import import_from_string
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

_FLUSH_POLL_S = 0.005
WEBSOCKETS = "uvicorn.protocols.websockets.websockets_sansio_impl"


class Gate(Protocol):
    """Whether this process may still begin requests, and where connections go if not."""

    def closed(self) -> bool:
        """Asked when a request begins: is this code outdated?"""
        ...

    def retired(self) -> bool:
        """Has another process taken over?"""
        ...

    def give(self, fd: int, data: bytes) -> None:
        """Take over `fd` (closing it) and the bytes that were read from it but not answered."""
        ...


class OpenGate:
    """For a server that never reloads."""

    def closed(self) -> bool:
        return False

    def retired(self) -> bool:
        return False

    def give(self, fd: int, data: bytes) -> None:
        raise AssertionError("an open gate gives nothing away")


class Connection(HttpToolsProtocol):
    """`first` are bytes that another process has read from this connection."""

    def __init__(
        self, config: Config, state: ServerState, loop: asyncio.AbstractEventLoop, gate: Gate, first: bytes = b""
    ) -> None:
        super().__init__(config, state, {}, loop)
        self._gate = gate
        self._first = first
        self._parsing = False
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        first, self._first = self._first, b""
        if first:
            self.data_received(first)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._task is not None and self.cycle is not None and self.cycle.disconnected:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        if not self._busy() and self._gate.closed():
            self._give_away(data)
            return
        super().data_received(data)
        if self._gate.retired():
            self.retire()

    def on_message_begin(self) -> None:
        self._parsing = True
        super().on_message_begin()

    def on_message_complete(self) -> None:
        self._parsing = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._gate.retired():
            self.loop.call_soon(self.retire)  # not below uvicorn's own handling of this connection

    def _should_upgrade_to_ws(self) -> bool:
        return True

    def handle_websocket_upgrade(self) -> None:
        self.ws_protocol_class = import_from_string(f"{WEBSOCKETS}:WebSocketsSansIOProtocol")
        super().handle_websocket_upgrade()

    def retire(self) -> None:
        """Give this connection away, unless a request is in the making: then after its response."""
        if self.transport.is_closing() or self._busy():
            return
        if self.transport.get_write_buffer_size():
            self.loop.call_later(_FLUSH_POLL_S, self.retire)
        else:
            self._give_away(b"")

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Callable[..., Any]) -> None:
        task = self.loop.create_task(cycle.run_asgi(app))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)
        self._task = task

    def _busy(self) -> bool:
        return self._parsing or (self.cycle is not None and not self.cycle.response_complete) or bool(self.pipeline)

    def _give_away(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        fd = os.dup(self.transport.get_extra_info("socket").fileno())
        self.transport.abort()
        self._gate.give(fd, data)
