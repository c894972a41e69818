"""Byte streams between the host and a Worker.

`HostSource` feeds a ReadableStream with a host's chunks (a body from the network, an engine's value), `StreamValue`
is a ReadableStream in an engine's hands, and `host_iterator` reads one from the host's loop, asking the Worker for a
chunk only when the consumer wants one. While the consumer is slow, the context counts as waiting for the outside.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextvars import Context
from typing import TYPE_CHECKING, Any

from flarebed.bindings.errors import JsError, type_error
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, View
from flarebed.emulator.runtime.python.context import CURRENT, IoContext, current
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.gzip_body import decompressed
from flarebed.emulator.runtime.python.js.readers import ReadableStreamDefaultReader
from flarebed.emulator.runtime.python.js.work import as_js_error, outside, turn_of, when_dropped
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import throw

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.js.readable import ReadableStream
    from flarebed.emulator.runtime.python.js.readable_controller import ReadableStreamDefaultController

OTHER_REQUEST = (
    "Cannot perform I/O on behalf of a different request. I/O objects (such as streams, request/response bodies, and "
    "others) created in the context of one request handler cannot be accessed from a different request's handler. This "
    "is a limitation of Cloudflare Workers which allows us to improve overall performance. (I/O type: "
    "ReadableStreamSource>)"
)
LOST = "Network connection lost."
NOT_BYTES = "This ReadableStream did not return bytes."


class HostSource:
    """The chunks of a host's byte stream, for the request in which they came."""

    __slots__ = ("_chunks", "_encoded", "_io", "_passed_on", "encoding")

    def __init__(self, chunks: AsyncIterator[bytes], io: IoContext | None, encoding: str = "") -> None:
        """`encoding` is the Content-Encoding of the chunks; "gzip" is undone for whoever reads them."""
        self._encoded = chunks
        self._chunks = decompressed(chunks) if encoding == "gzip" else chunks
        self.encoding = encoding
        self._passed_on = False
        self._io = io

    def pull(self, controller: ReadableStreamDefaultController) -> Promise:
        """Fetch one chunk; resolved when it is in the stream."""
        self.check_request(CURRENT.get(None))
        chunk = outside(self._next())
        done = Promise()

        def took() -> None:
            if chunk.state == "rejected":
                controller.fail(chunk.value)
            elif chunk.value is UNDEFINED:
                controller.finish()
            else:
                controller.put(chunk.value)
            done.fulfil(UNDEFINED)

        chunk.when_settled(took)
        return done

    async def _next(self) -> Any:
        async for data in self._chunks:
            return View(ArrayBuffer(data))
        return UNDEFINED

    def cancel(self, _reason: Any) -> Promise:
        return outside(self._close())

    async def _close(self) -> None:
        for chunks in (self._chunks, self._encoded):
            close = getattr(chunks, "aclose", None)
            if close is not None:
                await close()

    def read_all(self) -> Promise:
        """A promise of the ArrayBuffer of everything that is still to come."""
        self.check_request(CURRENT.get(None))
        return outside(self._collect())

    async def _collect(self) -> ArrayBuffer:
        return ArrayBuffer(b"".join([chunk async for chunk in self._chunks]))

    def take(self, io: IoContext) -> AsyncIterator[bytes]:
        """The chunks themselves, for whoever passes them on unread."""
        self.check_request(io)
        self._passed_on = True
        return self._chunks

    def dropped(self) -> None:
        """Nobody will read what is left: let the connection go."""
        if not self._passed_on and self._io is not None:
            self._io.services.clock.spawn(self._close(), "unread body")

    def encoded(self) -> AsyncIterator[bytes]:
        """The chunks as they came, for who passes them on with their encoding; `take` comes first."""
        return self._encoded

    def check_request(self, io: IoContext | None) -> None:
        if self._io is not io:
            raise throw(OTHER_REQUEST)


class StreamValue:
    """A ReadableStream as a value (`values.Stream`): engines iterate over its bytes on the host's loop."""

    __slots__ = ("__weakref__", "_io", "of")
    js_tag = "ReadableStream"

    def __init__(self, of: ReadableStream) -> None:
        self.of = of
        self._io = current()

    def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            chunks = host_iterator(self.of, self._io)
        except Exception as error:
            raise as_js_error(error) from None
        if isinstance(chunks, WorkerChunks):
            return chunks
        return _on_host(chunks, self._io.services.clock.loop)


async def _on_host(chunks: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop) -> AsyncIterator[bytes]:
    """The first step of an engine's call runs inside of the Worker; the network is read on the host's loop."""
    await turn_of(loop)
    async for chunk in chunks:
        yield chunk


def host_iterator(stream: ReadableStream, io: IoContext) -> AsyncIterator[bytes]:
    """Everything that `stream` gives, for the host's loop. It locks the stream, as a reader does."""
    source = stream._host
    reader = ReadableStreamDefaultReader(stream)
    if source is not None and not stream._disturbed:
        stream._disturbed = True
        return source.take(io)
    stream._disturbed = True
    return WorkerChunks(reader, io)


class WorkerChunks:
    """Reads a Worker's stream, a chunk each time the host asks for one.

    `done` is settled (on the Worker's loop) when nobody will ask any more.
    """

    __slots__ = ("_arrived", "_context", "_held", "_io", "_reader", "done")

    def __init__(self, reader: ReadableStreamDefaultReader, io: IoContext) -> None:
        self._reader = reader
        self._io = io
        self._context = Context()
        self._context.run(CURRENT.set, io)
        self._arrived: asyncio.Future[Promise] | None = None
        self._held = True
        self.done: asyncio.Future[None] = io.loop.create_future()
        io.begin_outside()
        when_dropped(io, self._dropped)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        self._arrived = arrived = self._io.services.clock.loop.create_future()
        self._io.loop.call_soon(self._read, arrived, context=self._context)
        self._held = False
        self._io.end_outside()
        result = await arrived
        if result.state == "fulfilled" and not result.value["done"]:
            value = result.value["value"]
            if isinstance(value, View | ArrayBuffer):
                return idl.value_bytes(value)
        self._finish()
        if result.state == "rejected":
            raise as_js_error(result.value) from result.value
        if result.value["done"]:
            raise StopAsyncIteration
        raise type_error(NOT_BYTES)

    def _read(self, arrived: asyncio.Future[Promise]) -> None:
        """In the Worker."""
        result = self._reader.read()
        result.when_settled(lambda: self._arrive(arrived, result))

    def _arrive(self, arrived: asyncio.Future[Promise], result: Promise) -> None:
        """From now until the consumer asks again, it is the outside that the Worker waits for."""
        if not self._held and not self.done.done():
            self._held = True
            self._io.begin_outside()
        if not arrived.done():
            arrived.set_result(result)

    async def aclose(self) -> None:
        """The consumer is gone: cancel the stream."""
        if not self.done.done():
            self._io.loop.call_soon(self._reader.cancel, throw(LOST), context=self._context)
            self._finish()

    def _dropped(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_exception(JsError(LOST))

    def _finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)
        if self._held:
            self._held = False
            self._io.end_outside()
