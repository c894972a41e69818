"""WritableStream and its writer, with backpressure; `sink` functions are the Worker's, or a transform's.

Source: https://streams.spec.whatwg.org and the texts of workerd src/workerd/api/streams.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.abort import AbortSignal
from flarebed.emulator.runtime.python.js.strategies import strategy_of
from flarebed.emulator.runtime.python.js.work import as_error, as_promise, in_worker, invoke, resolved
from flarebed.emulator.runtime.python.promise import JsPromise, Promise
from flarebed.emulator.runtime.python.proxy import JsProxy, jsnull, throw, to_python

LOCKED = "This WritableStream is currently locked to a writer."
RELEASED = "This WritableStream writer has been released."
CLOSED = "This WritableStream has been closed."


class WritableStreamDefaultController(JsProxy):
    """What a sink's functions get."""

    __slots__ = ("_stream", "signal")

    def __init__(self, stream: WritableStream) -> None:
        self._stream = stream
        self.signal = AbortSignal()

    def error(self, reason: Any = None) -> None:
        if self._stream._state == "writable":
            self._stream.start_failing(as_error(reason))


class WritableStream(JsProxy):
    """`_state` is writable, erroring (waiting for a write that is under way), errored or closed."""

    __slots__ = (
        "__weakref__", "_abort", "_aborted", "_busy", "_close", "_closing", "_controller", "_error", "_high_water_mark",
        "_queue", "_size", "_started", "_state", "_total", "_write", "_writer",
    )  # fmt: skip

    def __init__(self, sink: Any = None, strategy: Any = None, **options: Any) -> None:
        self._init(*strategy_of(strategy, 1))
        self._write: Callable[..., Any] | None = idl.member(sink, options, "write")
        self._close: Callable[..., Any] | None = idl.member(sink, options, "close")
        self._abort: Callable[..., Any] | None = idl.member(sink, options, "abort")
        start = idl.member(sink, options, "start")
        self._started = False
        started = as_promise(start(self._controller)) if start is not None else resolved()
        in_worker(started, self._begin)

    def _init(self, high_water_mark: float, size: Callable[[Any], Any] | None) -> None:
        self._state = "writable"
        self._error: BaseException | None = None
        self._queue: deque[tuple[Any, float, Promise]] = deque()
        self._total: float = 0
        self._high_water_mark = high_water_mark
        self._size = size
        self._busy = False
        self._started = True
        self._closing: Promise | None = None
        self._aborted: tuple[Any, Promise] | None = None
        self._writer: WritableStreamDefaultWriter | None = None
        self._write = self._close = self._abort = None
        self._controller = WritableStreamDefaultController(self)

    @classmethod
    def bare(cls, high_water_mark: float = 1, size: Callable[[Any], Any] | None = None) -> WritableStream:
        """A stream whose functions the caller sets."""
        stream = cls.__new__(cls)
        stream._init(high_water_mark, size)
        return stream

    def _begin(self, started: Promise) -> None:
        self._started = True
        if started.state == "rejected" and self._state == "writable":
            self.start_failing(started.value)
        elif self._state == "erroring":
            self._finish_failing()
        else:
            self._advance()

    # What Worker code calls.

    @property
    def locked(self) -> bool:
        return self._writer is not None

    def getWriter(self) -> WritableStreamDefaultWriter:
        return WritableStreamDefaultWriter(self)

    def abort(self, reason: Any = None) -> Promise:
        if self.locked:
            return Promise.rejected(throw(LOCKED, "TypeError"))
        return self.abort_now(reason)

    def close(self) -> Promise:
        if self.locked:
            return Promise.rejected(throw(LOCKED, "TypeError"))
        return self.close_now()

    # What writers and pipes call.

    @property
    def room(self) -> float:
        return self._high_water_mark - self._total

    def write(self, chunk: Any) -> Promise:
        """Settled when the sink has taken the chunk."""
        if self._state in ("errored", "erroring"):
            assert self._error is not None
            return Promise.rejected(self._error)
        if self._closing is not None or self._state == "closed":
            return Promise.rejected(throw(CLOSED, "TypeError"))
        try:
            size = 1.0 if self._size is None else float(idl.number(self._size(chunk)))
        except Exception as error:
            self.start_failing(error)
            return Promise.rejected(error)
        written = Promise()
        self._queue.append((chunk, size, written))
        self._total += size
        self._tell_room()
        self._advance()
        return written

    def close_now(self) -> Promise:
        if self._closing is not None or self._state == "closed":
            return Promise.rejected(throw(CLOSED, "TypeError"))
        if self._error is not None:
            return Promise.rejected(self._error)
        self._closing = Promise()
        self._tell_room()
        self._advance()
        return self._closing

    def abort_now(self, reason: Any) -> Promise:
        if self._state in ("closed", "errored"):
            return resolved()
        if self._aborted is not None:
            return self._aborted[1]
        self._aborted = (reason, Promise())
        self._controller.signal.abort_with(reason)
        if self._state == "writable":
            self.start_failing(as_error(reason))
        return self._aborted[1]

    def start_failing(self, error: BaseException) -> None:
        self._state, self._error = "erroring", error
        if self._writer is not None:
            self._writer.stream_failing(error)
        if not self._busy and self._started:
            self._finish_failing()

    # The life of a chunk.

    def _advance(self) -> None:
        while self._started and not self._busy and self._state == "writable":
            if self._queue:
                chunk, size, written = self._queue[0]
                step = invoke(self._write, chunk, self._controller)
                self._busy = True
                if step.state == "pending":
                    in_worker(step, self._wrote, size, written)
                    return
                self._wrote_one(step, size, written)
            elif self._closing is not None:
                self._busy = True
                step = invoke(self._close)
                if step.state == "pending":
                    in_worker(step, self._closed)
                    return
                self._closed(step)
            else:
                return

    def _wrote(self, step: Promise, size: float, written: Promise) -> None:
        self._wrote_one(step, size, written)
        self._advance()

    def _wrote_one(self, step: Promise, size: float, written: Promise) -> None:
        self._busy = False
        self._queue.popleft()
        self._total -= size
        if step.state == "rejected":
            written.reject(step.value)
            if self._state == "writable":
                self.start_failing(step.value)
            else:
                self._finish_failing()
            return
        written.fulfil(UNDEFINED)
        if self._state == "erroring":
            self._finish_failing()
        else:
            self._tell_room()

    def _closed(self, step: Promise) -> None:
        self._busy = False
        assert self._closing is not None
        if step.state == "rejected":
            self._closing.reject(step.value)
            self._state, self._error = "erroring", step.value
            self._finish_failing()
            return
        self._state = "closed"
        self._closing.fulfil(UNDEFINED)
        if self._aborted is not None:
            self._aborted[1].fulfil(UNDEFINED)
        if self._writer is not None:
            self._writer.stream_closed()

    def _finish_failing(self) -> None:
        assert self._error is not None
        self._state = "errored"
        error = self._error
        queue, self._queue, self._total = self._queue, deque(), 0
        for _, _, written in queue:
            written.reject(error)
        if self._closing is not None:
            self._closing.reject(error)
        if self._aborted is not None:
            reason, aborted = self._aborted
            step = invoke(self._abort, reason)
            step.when_settled(lambda: aborted._settle(step.state, step.value))
        if self._writer is not None:
            self._writer.stream_failed(error)

    def _tell_room(self) -> None:
        if self._writer is not None:
            self._writer.room_changed(self.room > 0 or self._closing is not None)


class WritableStreamDefaultWriter(JsProxy):
    """Holds the lock of a WritableStream. `ready` resolves when there is room for more."""

    __slots__ = ("__weakref__", "_closed", "_ready", "_stream")

    def __init__(self, stream: WritableStream) -> None:
        if stream._writer is not None:
            raise throw(LOCKED, "TypeError")
        self._stream: WritableStream | None = stream
        self._closed = JsPromise()
        self._ready = JsPromise()
        stream._writer = self
        if stream._error is not None:
            self.stream_failed(stream._error)
        elif stream._state == "closed":
            self.stream_closed()
        else:
            self.room_changed(stream.room > 0)

    @property
    def closed(self) -> Promise:
        return self._closed

    @property
    def ready(self) -> Promise:
        return self._ready

    @property
    def desiredSize(self) -> Any:
        stream = self._stream
        if stream is None:
            raise throw(RELEASED, "TypeError")
        if stream._error is not None:
            return jsnull
        return 0 if stream._state == "closed" else to_python(float(stream.room))

    def write(self, chunk: Any = None) -> Promise:
        return self._released() if self._stream is None else self._stream.write(chunk)

    def close(self) -> Promise:
        return self._released() if self._stream is None else self._stream.close_now()

    def abort(self, reason: Any = None) -> Promise:
        return self._released() if self._stream is None else self._stream.abort_now(reason)

    def releaseLock(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        stream._writer = None
        error = throw(RELEASED, "TypeError")
        self._closed = JsPromise.rejected(error)
        self._ready.reject(error)
        self._ready = JsPromise.rejected(error)

    @staticmethod
    def _released() -> Promise:
        return Promise.rejected(throw(RELEASED, "TypeError"))

    def room_changed(self, there_is_room: bool) -> None:
        if there_is_room:
            self._ready.fulfil(UNDEFINED)
        elif self._ready.state != "pending":
            self._ready = JsPromise()

    def stream_failing(self, error: BaseException) -> None:
        if self._ready.state == "pending":
            self._ready.reject(error)
        else:
            self._ready = JsPromise.rejected(error)

    def stream_failed(self, error: BaseException) -> None:
        self.stream_failing(error)
        self._closed.reject(error)

    def stream_closed(self) -> None:
        self._ready.fulfil(UNDEFINED)
        self._closed.fulfil(UNDEFINED)
