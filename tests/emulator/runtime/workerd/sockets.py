"""A server on a Unix socket that does what workerd may do, and what it should not; and our client of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from flarebed.emulator.runtime.workerd.folder import made, removed
from flarebed.emulator.runtime.workerd.http_client import HttpClient

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nX-A: \xc3\xa9\r\n\r\nhello"
SSE = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
Script = Callable[["Side"], Awaitable[None]]


@dataclass
class Side:
    """The server's end of one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self) -> list[str]:
        return (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]

    async def answer(self, data: bytes = OK) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def gone(self) -> bool:
        """Whether the client has hung up; waits for it."""
        with contextlib.suppress(ConnectionError):
            while await self.reader.read(1 << 16):
                pass
        return True


@dataclass
class Server:
    client: HttpClient
    sides: list[Side] = field(default_factory=list)

    async def get(self, path: str = "/") -> Any:
        return await self.client.send("GET", path, [("host", "h")])


@asynccontextmanager
async def served(*scripts: Script) -> AsyncIterator[Server]:
    """Each connection gets the next script; afterwards all have to be over."""
    left = list(scripts)
    folder = made()
    loop = asyncio.get_running_loop()
    tasks: list[asyncio.Task[None]] = []
    listening = asyncio.Event()
    listening.set()
    server = Server(HttpClient(str(folder / "s"), loop, listening))

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        side = Side(reader, writer)
        server.sides.append(side)

        async def run() -> None:
            try:
                await left.pop(0)(side)
            finally:
                writer.close()
                with contextlib.suppress(ConnectionError):
                    await writer.wait_closed()

        tasks.append(loop.create_task(run()))

    listener = await asyncio.start_unix_server(accepted, folder / "s")
    try:
        yield server
    finally:
        server.client.close()
        await asyncio.gather(*tasks)
        listener.close()
        removed(folder)
    assert left == []


async def text(body: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in body])


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def twice(side: Side) -> None:
    for _ in range(2):
        await side.head()
        await side.answer()
    await side.gone()


async def once(side: Side) -> None:
    await side.head()
    await side.answer()
    await side.gone()


async def turns() -> None:
    for _ in range(200):
        event = asyncio.Event()
        asyncio.get_running_loop().call_soon(event.set)
        await event.wait()
