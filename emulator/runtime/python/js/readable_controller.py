"""The controller of a ReadableStream: its queue, and the functions that fill it.

Chunks are kept as values of `bindings.values`. Source: https://streams.spec.whatwg.org.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.work import as_error, as_promise, in_worker, invoke, resolved
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import JsProxy, from_python, jsnull, throw, to_python

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.js.readable import ReadableStream


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
        return 0 if state == "closed" else to_python(float(self._high_water_mark - self._total))

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

    def _begin(self, started: Promise) -> None:
        self._started = True
        if started.state == "rejected":
            self.fail(started.value)
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

    def cancelled(self, reason: Any) -> Promise:
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
                self.fail(pulled.value)
            if not self._pull_again:
                return

    def _pulled(self, pulled: Promise) -> None:
        self._pulling = False
        if pulled.state == "rejected":
            self.fail(pulled.value)
        elif self._pull_again:
            self.pull_if_needed()


class ReadableByteStreamController(ReadableStreamDefaultController):
    """The controller of `type: "bytes"`: its chunks are bytes."""

    __slots__ = ()

    def enqueue(self, chunk: Any = None) -> None:
        if idl.buffer(chunk) is None:
            raise idl.not_of_type("enqueue", "ReadableByteStreamController", 1, "ArrayBufferView")
        super().enqueue(chunk)
