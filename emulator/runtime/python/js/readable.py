"""ReadableStream: what Worker code reads from, be it a body from the network or its own `start`, `pull` and `cancel`.

Chunks are kept as values of `bindings.values`. What crosses into a binding is a `StreamValue` (`host_stream.py`).
Source: https://streams.spec.whatwg.org, the texts of workerd src/workerd/api/streams.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from flarebed.bindings.values import UNDEFINED, ArrayBuffer, View
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.host_stream import HostSource, StreamValue
from flarebed.emulator.runtime.python.js.idl import JsAsyncIterator
from flarebed.emulator.runtime.python.js.pipe import pipe_through, pipe_to
from flarebed.emulator.runtime.python.js.readers import (
    LOCKED,
    ReadableStreamBYOBReader,
    ReadableStreamDefaultReader,
)
from flarebed.emulator.runtime.python.js.strategies import strategy_of
from flarebed.emulator.runtime.python.js.work import as_error, as_promise, in_worker, invoke, resolved
from flarebed.emulator.runtime.python.promise import JsPromise
from flarebed.emulator.runtime.python.proxy import (
    _WRAPPERS,
    Constructor,
    JsProxy,
    from_python,
    jsnull,
    throw,
    to_python,
)

END: dict[str, Any] = {"value": UNDEFINED, "done": True}


class ReadableStreamDefaultController(JsProxy):
    """The queue of a stream and the functions that fill it. `size` of a chunk counts against `high_water_mark`."""

    __slots__ = (
        "_cancel", "_closing", "_high_water_mark", "_pull", "_pull_again", "_pulling", "_queue", "_size", "_started",
        "_stream", "_total",
    )  # fmt: skip

    def __init__(self, stream: ReadableStream, high_water_mark: float = 1, size: Callable[[Any], Any] | None = None):
        self._stream = stream
        self._queue: deque[tuple[Any, float]] = deque()
        self._total: float = 0
        self._high_water_mark = high_water_mark
        self._size = size
        self._pull: Callable[..., Any] | None = None
        self._cancel: Callable[..., Any] | None = None
        self._started = True
        self._closing = self._pulling = self._pull_again = False

    # What Worker code calls.

    @property
    def desiredSize(self) -> Any:
        state = self._stream._state
        if state == "errored":
            return jsnull
        return 0 if state == "closed" else self._high_water_mark - self._total

    @property
    def byobRequest(self) -> Any:
        return jsnull

    def enqueue(self, chunk: Any = None) -> None:
        if self._closing or self._stream._state != "readable":
            raise throw("This ReadableStream is closed.", "TypeError")
        self.put(from_python(chunk), chunk)

    def close(self) -> None:
        if self._closing or self._stream._state != "readable":
            raise throw("This ReadableStream is closed.", "TypeError")
        self.finish()

    def error(self, reason: Any = None) -> None:
        self.fail(as_error(reason))

    # What streams call.

    def start_with(self, source: Any, options: dict[str, Any]) -> None:
        """Take the functions of an underlying source and call its `start`."""
        self._pull = idl.member(source, options, "pull")
        self._cancel = idl.member(source, options, "cancel")
        self._started = False
        start = idl.member(source, options, "start")
        started = as_promise(start(self)) if start is not None else resolved()
        in_worker(started, self._begin)

    def _begin(self, started: JsPromise) -> None:
        self._started = True
        if started.state == "rejected":
            self.fail(started.result)
        else:
            self.pull_if_needed()

    def put(self, value: Any, chunk: Any = None) -> None:
        """A chunk: to the read that waits for it, or into the queue."""
        stream = self._stream
        if stream._reads:
            stream._reads.popleft().fulfil({"value": value, "done": False})
        else:
            size = 1 if self._size is None else self._size_of(chunk)
            self._queue.append((value, size))
            self._total += size
        self.pull_if_needed()

    def _size_of(self, chunk: Any) -> float:
        assert self._size is not None
        try:
            return float(idl.number(self._size(chunk)))
        except Exception as error:
            self.fail(error)
            raise

    def finish(self) -> None:
        """No more chunks; the stream ends when the queue is empty."""
        self._closing = True
        if not self._queue:
            self._stream.end()

    def fail(self, error: BaseException) -> None:
        if self._stream._state == "readable":
            self._clear()
            self._stream.fail(error)

    def take(self) -> Any:
        """The next chunk of the queue, which is not empty."""
        value, size = self._queue.popleft()
        self._total -= size
        if self._closing and not self._queue:
            self._stream.end()
        else:
            self.pull_if_needed()
        return value

    def put_back(self, value: Any) -> None:
        """The rest of a chunk of which a BYOB read took a part."""
        self._queue.appendleft((value, 1))
        self._total += 1
        if self._stream._state == "closed":
            self._stream._state = "readable"

    def cancelled(self, reason: Any) -> JsPromise:
        self._clear()
        cancel, self._cancel, self._pull = self._cancel, None, None
        return invoke(cancel, reason)

    def _clear(self) -> None:
        self._queue.clear()
        self._total = 0

    def _wants_more(self) -> bool:
        stream = self._stream
        if not self._started or self._closing or self._pull is None or stream._state != "readable":
            return False
        return bool(stream._reads) or self._total < self._high_water_mark

    def pull_if_needed(self) -> None:
        while self._wants_more():
            if self._pulling:
                self._pull_again = True
                return
            self._pulling, self._pull_again = True, False
            pulled = invoke(self._pull, self)
            if pulled.state == "pending":
                in_worker(pulled, self._pulled)
                return
            self._pulling = False
            if pulled.state == "rejected":
                self.fail(pulled.result)
            if not self._pull_again:
                return

    def _pulled(self, pulled: JsPromise) -> None:
        self._pulling = False
        if pulled.state == "rejected":
            self.fail(pulled.result)
        elif self._pull_again:
            self.pull_if_needed()


class ReadableByteStreamController(ReadableStreamDefaultController, js="ReadableByteStreamController"):
    """The controller of `type: "bytes"`: its chunks are bytes."""

    __slots__ = ()

    def enqueue(self, chunk: Any = None) -> None:
        if idl.buffer(chunk) is None:
            raise idl.not_of_type("enqueue", "ReadableByteStreamController", 1, "ArrayBufferView")
        super().enqueue(chunk)


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
        self._reads: deque[JsPromise] = deque()
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
    def of_host(cls, chunks: AsyncIterator[bytes]) -> ReadableStream:
        """A stream of bytes that arrive on the host's loop."""
        stream = cls.bare()
        source = stream._host = HostSource(chunks)
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

    def cancel(self, reason: Any = None) -> JsPromise:
        if self.locked:
            return JsPromise.rejected(throw(LOCKED, "TypeError"))
        return self.cancel_now(reason)

    def values(self, init: Any = None, **options: Any) -> JsAsyncIterator:
        reader = ReadableStreamDefaultReader(self)

        def step() -> JsPromise:
            result = reader.read()
            result.when_settled(lambda: self._release_at_end(reader, result))
            return result

        return JsAsyncIterator(step)

    __aiter__ = values

    @staticmethod
    def _release_at_end(reader: ReadableStreamDefaultReader, result: JsPromise) -> None:
        if result.state == "rejected" or result.result["done"]:
            reader.releaseLock()

    def pipeTo(self, target: Any, init: Any = None, **options: Any) -> JsPromise:
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
        return _Tee(reader).branches()

    def read(self) -> JsPromise:
        """A promise of {value, done}, for the holder of the lock."""
        self._disturbed = True
        if self._state == "closed":
            return JsPromise.fulfilled(dict(END))
        if self._state == "errored":
            assert self._error is not None
            return JsPromise.rejected(self._error)
        controller = self._controller
        if controller._queue:
            return JsPromise.fulfilled({"value": controller.take(), "done": False})
        promise = JsPromise()
        self._reads.append(promise)
        controller.pull_if_needed()
        return promise

    def cancel_now(self, reason: Any) -> JsPromise:
        self._disturbed = True
        if self._state == "closed":
            return resolved()
        if self._state == "errored":
            assert self._error is not None
            return JsPromise.rejected(self._error)
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


class _Tee:
    """The two branches of a tee share one reader; a chunk that one asks for goes to both."""

    def __init__(self, reader: ReadableStreamDefaultReader) -> None:
        self._reader = reader
        self._reading = False
        self._open = [ReadableStream.bare(), ReadableStream.bare()]
        self._cancelled = JsPromise()
        for branch in self._open:
            branch._length = reader._stream._length if reader._stream is not None else None
            branch._controller._pull = self._pull
            branch._controller._cancel = lambda reason, branch=branch: self._cancel(branch, reason)

    def branches(self) -> tuple[ReadableStream, ReadableStream]:
        return self._open[0], self._open[1]

    def _pull(self, _controller: Any) -> JsPromise:
        if self._reading:
            return resolved()
        self._reading = True
        result = self._reader.read()
        done = JsPromise()

        def took() -> None:
            self._reading = False
            self._give(result)
            done.fulfil(UNDEFINED)

        result.when_settled(took)
        return done

    def _give(self, result: JsPromise) -> None:
        for branch in list(self._open):
            if result.state == "rejected":
                branch._controller.fail(result.result)
            elif result.result["done"]:
                branch._controller.finish()
            else:
                branch._controller.put(result.result["value"])

    def _cancel(self, branch: ReadableStream, reason: Any) -> JsPromise:
        """The source is cancelled when nobody wants it any more."""
        self._open = [other for other in self._open if other is not branch]
        if not self._open:
            done = self._reader.cancel(reason)
            done.when_settled(lambda: self._cancelled._settle(done.state, done.result))
        return self._cancelled


_WRAPPERS[StreamValue] = lambda value: value.of
