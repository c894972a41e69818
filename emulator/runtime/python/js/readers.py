"""The readers of a ReadableStream: the default one, and the one that fills the caller's buffer (BYOB).

Source: https://streams.spec.whatwg.org and workerd src/workerd/api/streams/readable.c++.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flarebed.bindings.values import ELEMENT_SIZES, UNDEFINED, ArrayBuffer, View
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.promise import JsPromise, Promise, promise_of
from flarebed.emulator.runtime.python.proxy import JsProxy, throw, to_python

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.js.readable import ReadableStream

LOCKED = "This ReadableStream is currently locked to a reader."
RELEASED = "This ReadableStream reader has been released."


class ReadableStreamDefaultReader(JsProxy):
    """Holds the lock of a stream until `releaseLock`."""

    __slots__ = ("__weakref__", "_closed", "_stream")

    def __init__(self, stream: ReadableStream) -> None:
        if stream._reader is not None:
            raise throw(LOCKED, "TypeError")
        self._stream: ReadableStream | None = stream
        self._closed: Promise | None = None
        stream._reader = self

    @property
    def closed(self) -> Promise:
        if self._closed is None:
            self._closed = JsPromise()
            stream = self._stream
            if stream is None:
                self._closed.reject(throw(RELEASED, "TypeError"))
            elif stream._state == "closed":
                self._closed.fulfil(UNDEFINED)
            elif stream._error is not None:
                self._closed.reject(stream._error)
        return self._closed

    def read(self) -> Promise:
        if self._stream is None:
            return Promise.rejected(throw(RELEASED, "TypeError"))
        return self._stream.read()

    def cancel(self, reason: Any = None) -> Promise:
        if self._stream is None:
            return Promise.rejected(throw(RELEASED, "TypeError"))
        return self._stream.cancel_now(reason)

    def releaseLock(self) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        error = throw(RELEASED, "TypeError")
        while stream._reads:
            stream._reads.popleft().reject(error)
        stream._reader = None
        if self._closed is not None:
            self._closed.reject(error)
            self._closed = None

    def stream_ended(self) -> None:
        if self._closed is not None:
            self._closed.fulfil(UNDEFINED)

    def stream_failed(self, error: BaseException) -> None:
        if self._closed is not None:
            self._closed.reject(error)


class ReadableStreamBYOBReader(ReadableStreamDefaultReader):
    """Reads bytes into a buffer that the caller gives up; the result has a new view of it."""

    __slots__ = ()

    def read(self, view: Any = None, init: Any = None, **options: Any) -> Promise:
        least = idl.integer(idl.member(init, options, "min"), 1)
        return self._fill(view, least)

    def readAtLeast(self, least: Any, view: Any) -> Promise:
        return self._fill(view, idl.integer(least, 1))

    def _fill(self, view: Any, least: int) -> Promise:
        target = view.js_value() if isinstance(view, JsProxy) else None
        if not isinstance(target, View) or not len(target):
            text = "read() on a BYOB reader requires a positive-sized TypedArray"
            return Promise.rejected(throw(text, "TypeError"))
        return promise_of(self._fill_from(target, least * ELEMENT_SIZES[target.kind]))

    async def _fill_from(self, target: View, least: int) -> Any:
        filled = bytearray()
        while len(filled) < min(least, target.byte_length):
            stream = self._stream
            if stream is None:
                raise throw(RELEASED, "TypeError")
            result = stream.read()
            await result
            if result.value["done"]:
                break
            data = idl.value_bytes(result.value["value"])
            room = target.byte_length - len(filled)
            filled += data[:room]
            if len(data) > room:
                stream._controller.put_back(View(ArrayBuffer(data[room:])))
        return to_python({"value": self._view_of(target, filled), "done": not filled})

    @staticmethod
    def _view_of(target: View, filled: bytearray) -> View:
        """The caller's memory with what was read, as the view of as many elements as were filled."""
        memory = bytearray(target.buffer.data)
        memory[target.byte_offset : target.byte_offset + len(filled)] = filled
        target.buffer.detach()
        return View(ArrayBuffer(memory), target.kind, target.byte_offset, len(filled))
