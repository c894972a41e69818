"""ReadableStream: what Worker code reads from, be it a body from the network or its own `start`, `pull` and `cancel`.

Chunks are kept as values of `bindings.values`. What crosses into a binding is a `StreamValue` (`host_stream.py`).
Source: https://streams.spec.whatwg.org, the texts of workerd src/workerd/api/streams.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from flarebed.bindings.values import UNDEFINED, ArrayBuffer, View
from flarebed.emulator.runtime.python.context import CURRENT, IoContext
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.host_stream import HostSource, StreamValue
from flarebed.emulator.runtime.python.js.idl import JsAsyncIterator
from flarebed.emulator.runtime.python.js.pipe import pipe_through, pipe_to
from flarebed.emulator.runtime.python.js.readable_controller import (
    ReadableByteStreamController,
    ReadableStreamDefaultController,
)
from flarebed.emulator.runtime.python.js.readers import (
    LOCKED,
    ReadableStreamBYOBReader,
    ReadableStreamDefaultReader,
)
from flarebed.emulator.runtime.python.js.strategies import strategy_of
from flarebed.emulator.runtime.python.js.tee import Tee
from flarebed.emulator.runtime.python.js.work import resolved
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import (
    _WRAPPERS,
    Constructor,
    JsProxy,
    throw,
    to_python,
)

END: dict[str, Any] = {"value": UNDEFINED, "done": True}


class ReadableStream(JsProxy):
    """A stream. `_reader` locks it; `_disturbed` says that it was read from or cancelled."""

    __slots__ = (
        "__weakref__", "_controller", "_disturbed", "_error", "_host", "_length", "_reader", "_reads", "_state",
        "_value",
    )  # fmt: skip

    class Static(Constructor, js="Function"):
        __slots__ = ()

        def from_(self, iterable: Any) -> ReadableStream:
            """ReadableStream.from(iterable)"""
            return ReadableStream.of_iterable(iterable)

        def __getattr__(self, name: str) -> Any:
            if name == "from":
                return self.from_
            raise AttributeError(name)

    def __init__(self, source: Any = None, strategy: Any = None, **options: Any) -> None:
        self._init()
        kind = idl.member(source, options, "type")
        if kind is not None and idl.string(kind) == "bytes":
            self._controller: ReadableStreamDefaultController = ReadableByteStreamController(self, 0)
        elif kind is not None and idl.string(kind):
            raise throw(f'"{idl.string(kind)}" is not a valid type of ReadableStream.', "TypeError")
        else:
            self._controller = ReadableStreamDefaultController(self, *strategy_of(strategy, 1))
        self._controller.start_with(source, options)

    def _init(self) -> None:
        self._state = "readable"
        self._error: BaseException | None = None
        self._reader: Any = None
        self._reads: deque[Promise] = deque()
        self._disturbed = False
        self._host: HostSource | None = None
        self._length: int | None = None
        self._value: StreamValue | None = None

    @classmethod
    def bare(cls, high_water_mark: float = 0, size: Callable[[Any], Any] | None = None) -> ReadableStream:
        """A stream whose controller the caller feeds."""
        stream = cls.__new__(cls)
        stream._init()
        stream._controller = ReadableStreamDefaultController(stream, high_water_mark, size)
        return stream

    @classmethod
    def of_bytes(cls, data: bytes) -> ReadableStream:
        """A stream of one chunk (none, if there are no bytes)."""
        stream = cls.bare()
        stream._length = len(data)
        if data:
            stream._controller._queue.append((View(ArrayBuffer(data)), 1))
        stream._controller.finish()
        return stream

    @classmethod
    def of_host(cls, chunks: AsyncIterator[bytes], io: IoContext | None = None, encoding: str = "") -> ReadableStream:
        """A stream of bytes that arrive on the host's loop, perhaps with a Content-Encoding, for the event of `io`."""
        stream = cls.bare()
        source = stream._host = HostSource(chunks, io or CURRENT.get(None), encoding)
        stream._controller._pull = source.pull
        stream._controller._cancel = source.cancel
        return stream

    @classmethod
    def of_iterable(cls, iterable: Any) -> ReadableStream:
        """A stream of what a Python iterable or async iterable gives."""
        stream = cls.bare()
        if hasattr(iterable, "__aiter__"):
            items = iterable.__aiter__()

            async def pull(controller: ReadableStreamDefaultController) -> None:
                async for item in items:
                    controller.enqueue(item)
                    return
                controller.finish()

            stream._controller._pull = pull
        else:
            for item in iterable:
                stream._controller.enqueue(item)
            stream._controller.finish()
        return stream

    # What Worker code calls.

    @property
    def locked(self) -> bool:
        return self._reader is not None

    def getReader(self, init: Any = None, **options: Any) -> Any:
        mode = idl.member(init, options, "mode")
        if mode is not None and idl.string(mode) != "byob":
            raise throw("mode must be undefined or 'byob' in call to getReader().", "TypeError")
        return ReadableStreamDefaultReader(self) if mode is None else ReadableStreamBYOBReader(self)

    def cancel(self, reason: Any = None) -> Promise:
        if self.locked:
            return Promise.rejected(throw(LOCKED, "TypeError"))
        return self.cancel_now(reason)

    def values(self, init: Any = None, **options: Any) -> JsAsyncIterator:
        reader = ReadableStreamDefaultReader(self)

        def step() -> Promise:
            result = reader.read()
            result.when_settled(lambda: self._release_at_end(reader, result))
            return result

        return JsAsyncIterator(step)

    __aiter__ = values

    @staticmethod
    def _release_at_end(reader: ReadableStreamDefaultReader, result: Promise) -> None:
        if result.state == "rejected" or result.value["done"]:
            reader.releaseLock()

    def pipeTo(self, target: Any, init: Any = None, **options: Any) -> Promise:
        return pipe_to(self, target, init, options)

    def pipeThrough(self, transform: Any, init: Any = None, **options: Any) -> Any:
        return pipe_through(self, transform, init, options)

    def tee(self) -> Any:
        return to_python([branch.js_value() for branch in self.branches()])

    # What the rest of the runtime calls.

    def js_value(self) -> Any:
        if self._value is None:
            self._value = StreamValue(self)
        return self._value

    def branches(self) -> tuple[ReadableStream, ReadableStream]:
        """Two streams that both give all that this one still has to give."""
        reader = ReadableStreamDefaultReader(self)
        one, two = ReadableStream.bare(), ReadableStream.bare()
        one._length = two._length = self._length
        Tee(reader, [one, two])
        return one, two

    def read(self) -> Promise:
        """A promise of {value, done}, for the holder of the lock."""
        self._disturbed = True
        if self._state == "closed":
            return Promise.fulfilled(dict(END))
        if self._state == "errored":
            assert self._error is not None
            return Promise.rejected(self._error)
        controller = self._controller
        if controller._queue:
            return Promise.fulfilled({"value": controller.take(), "done": False})
        promise = Promise()
        self._reads.append(promise)
        controller.pull_if_needed()
        return promise

    def cancel_now(self, reason: Any) -> Promise:
        self._disturbed = True
        if self._state == "closed":
            return resolved()
        if self._state == "errored":
            assert self._error is not None
            return Promise.rejected(self._error)
        self.end()
        return self._controller.cancelled(reason)

    def end(self) -> None:
        self._state = "closed"
        reads, self._reads = self._reads, deque()
        for read in reads:
            read.fulfil(dict(END))
        if self._reader is not None:
            self._reader.stream_ended()

    def fail(self, error: BaseException) -> None:
        self._state, self._error = "errored", error
        reads, self._reads = self._reads, deque()
        for read in reads:
            read.reject(error)
        if self._reader is not None:
            self._reader.stream_failed(error)


_WRAPPERS[StreamValue] = lambda value: value.of
