"""What is between a Worker's end of a WebSocket and the host that pumps it: the server, or an outbound connection."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from flarebed.emulator.runtime.http import Close

ABNORMAL = 1006
NO_CODE = 1005
Message = str | bytes | Close


class SocketPeer:
    """Implements `http.WebSocketPeer`: `put` is called by the Worker's side, the rest by the host."""

    def __init__(self, send: Callable[[Message], object], host: asyncio.AbstractEventLoop) -> None:
        self._send = send
        self._host = host
        self._messages: deque[Message] = deque()
        self._waiting: asyncio.Future[None] | None = None

    def put(self, message: Message) -> None:
        self._messages.append(message)
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def receive(self) -> Message:
        while not self._messages:
            self._waiting = self._host.create_future()
            await self._waiting
        return self._messages.popleft()

    def deliver(self, data: str | bytes) -> None:
        self._send(data)

    def deliver_close(self, code: int, reason: str, was_clean: bool) -> None:
        self._send(Close(code if was_clean else ABNORMAL, reason))
