"""TransformStream and the transforms that the platform brings: identity, fixed length, compression, text.

A write is settled when the transform ran, which waits until somebody reads: this is the backpressure that streaming
responses live on. Source: https://streams.spec.whatwg.org and workerd src/workerd/api/streams.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from flarebed.bindings.values import UNDEFINED, ArrayBuffer, View
from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.encoding import TextDecoder
from flarebed.emulator.runtime.python.js.readable import ReadableStream
from flarebed.emulator.runtime.python.js.strategies import strategy_of
from flarebed.emulator.runtime.python.js.work import as_error, as_promise, invoke, resolved
from flarebed.emulator.runtime.python.js.writable import WritableStream
from flarebed.emulator.runtime.python.promise import Promise, promise_of
from flarebed.emulator.runtime.python.proxy import JsProxy, from_python, throw

TERMINATED = "The transform stream has been terminated"


class TransformStreamDefaultController(JsProxy):
    """What a transformer's functions get."""

    __slots__ = ("_transform",)

    def __init__(self, transform: TransformStream) -> None:
        self._transform = transform

    @property
    def desiredSize(self) -> Any:
        return self._transform.readable._controller.desiredSize

    def enqueue(self, chunk: Any = None) -> None:
        readable = self._transform.readable
        if readable._state != "readable" or readable._controller._closing:
            raise throw("The readable side of this TransformStream is no longer readable.", "TypeError")
        readable._controller.put(from_python(chunk), chunk)

    def error(self, reason: Any = None) -> None:
        self._transform.fail(as_error(reason))

    def terminate(self) -> None:
        self._transform.readable._controller.finish()
        if self._transform.writable._state == "writable":
            self._transform.writable.start_failing(throw(TERMINATED, "TypeError"))


class TransformStream(JsProxy):
    """`readable` gives what `transform(chunk, controller)` makes of what is written to `writable`."""

    __slots__ = ("__weakref__", "_controller", "_finish", "_transform", "_wanted", "readable", "writable")

    def __init__(
        self, transformer: Any = None, writable_strategy: Any = None, readable_strategy: Any = None, **options: Any
    ) -> None:
        self._connect(strategy_of(writable_strategy, 1), strategy_of(readable_strategy, 0))
        self._transform: Callable[..., Any] | None = idl.member(transformer, options, "transform")
        self._finish: Callable[..., Any] | None = idl.member(transformer, options, "flush")
        start = idl.member(transformer, options, "start")
        if start is not None:
            self._started(as_promise(start(self._controller)))

    def _connect(
        self, writing: tuple[float, Callable[[Any], Any] | None], reading: tuple[float, Callable[[Any], Any] | None]
    ) -> None:
        self._transform = self._finish = None
        self._wanted: Promise = resolved() if reading[0] else Promise()
        self.readable = ReadableStream.bare(*reading)
        self.readable._controller._pull = self._pull
        self.readable._controller._cancel = self._cancel
        self.writable = WritableStream.bare(*writing)
        self.writable._write = self._write
        self.writable._close = self._close
        self.writable._abort = self._abort
        self._controller = TransformStreamDefaultController(self)

    def _started(self, started: Promise) -> None:
        self.writable._started = False
        started.when_settled(lambda: self.writable._begin(started))
        if started.state == "rejected":
            self.fail(started.value)

    def _pull(self, _controller: Any) -> Promise:
        """Somebody reads: let the writing side go on until it wrote something."""
        self._wanted.fulfil(UNDEFINED)
        return resolved()

    def _write(self, chunk: Any, _controller: Any) -> Promise:
        return self._take(chunk) if self._wanted.state != "pending" else promise_of(self._take_when_wanted(chunk))

    async def _take_when_wanted(self, chunk: Any) -> None:
        await self._wanted
        if self.writable._state == "erroring":
            assert self.writable._error is not None
            raise self.writable._error
        await self._take(chunk)

    def _take(self, chunk: Any) -> Promise:
        done = self.transform(chunk)
        done.when_settled(lambda: self._took(done))
        return done

    def _took(self, done: Promise) -> None:
        if done.state == "rejected":
            self.fail(done.value)
        elif not self.readable._controller._wants_more():
            self._wanted = Promise()

    def transform(self, chunk: Any) -> Promise:
        """One chunk; without a function of the Worker's it goes through as it is."""
        if self._transform is not None:
            return invoke(self._transform, chunk, self._controller)
        return invoke(self._controller.enqueue, chunk)

    def flush(self) -> Promise:
        return invoke(self._finish, self._controller) if self._finish is not None else resolved()

    def _close(self) -> Promise:
        return promise_of(self._close_when_flushed())

    async def _close_when_flushed(self) -> None:
        try:
            await self.flush()
        except Exception as error:
            self.fail(error)
            raise
        if self.readable._state == "errored":
            assert self.readable._error is not None
            raise self.readable._error
        if not self.readable._controller._closing:
            self.readable._controller.finish()

    def _abort(self, reason: Any) -> Promise:
        self.readable._controller.fail(as_error(reason))
        return resolved()

    def _cancel(self, reason: Any) -> Promise:
        if self.writable._state == "writable":
            self.writable.start_failing(as_error(reason))
        self._wanted.fulfil(UNDEFINED)
        return resolved()

    def fail(self, error: BaseException) -> None:
        """Both sides end with the error."""
        self.readable._controller.fail(error)
        if self.writable._state == "writable":
            self.writable.start_failing(error)
        self._wanted.fulfil(UNDEFINED)


class _PlatformTransform(TransformStream):
    """A transform whose functions are the platform's: chunk in, list of chunks out."""

    __slots__ = ()

    def __init__(self) -> None:
        self._connect((1, None), (0, None))

    def step(self, chunk: Any) -> list[Any]:
        raise NotImplementedError

    def last(self) -> list[Any]:
        return []

    def transform(self, chunk: Any) -> Promise:
        return invoke(self._put_all, self.step, chunk)

    def flush(self) -> Promise:
        return invoke(self._put_all, self.last)

    def _put_all(self, make: Callable[..., list[Any]], *chunk: Any) -> None:
        for value in make(*chunk):
            self.readable._controller.put(value)


class IdentityTransformStream(_PlatformTransform):
    """Passes bytes through."""

    __slots__ = ()

    def __init__(self, _init: Any = None, **_options: Any) -> None:
        super().__init__()

    def step(self, chunk: Any) -> list[Any]:
        data = idl.chunk_bytes(chunk)
        if data is None:
            raise throw(
                "This TransformStream is being used as a byte stream, but received an object of "
                "non-ArrayBuffer/ArrayBufferView type on its writable side.",
                "TypeError",
            )
        return [View(ArrayBuffer(data))] if data else []


class FixedLengthStream(IdentityTransformStream):
    """Passes exactly as many bytes through as it was made for; a response with it has a Content-Length."""

    __slots__ = ("_left",)

    def __init__(self, expected_length: Any, _init: Any = None, **_options: Any) -> None:
        super().__init__()
        self._left = idl.integer(expected_length, -1)
        if not 0 <= self._left < 2**53:
            raise throw("FixedLengthStream requires an integer expected length less than 2^53.", "TypeError")
        self.readable._length = self._left

    def step(self, chunk: Any) -> list[Any]:
        passed = super().step(chunk)
        self._left -= sum(map(len, passed))
        if self._left < 0:
            raise throw("Attempt to write too many bytes through a FixedLengthStream.", "TypeError")
        return passed

    def last(self) -> list[Any]:
        if self._left:
            raise throw("FixedLengthStream did not see all expected bytes before close().", "TypeError")
        return []


_WINDOW_BITS = {"gzip": 31, "deflate": 15, "deflate-raw": -15}


def _window_bits(name: Any) -> int:
    bits = _WINDOW_BITS.get(idl.string(name))
    if bits is None:
        raise throw("The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.", "TypeError")
    return bits


class _ByteTransform(_PlatformTransform):
    """A transform over bytes."""

    __slots__ = ()

    def step(self, chunk: Any) -> list[Any]:
        data = idl.buffer(chunk)
        if data is None:
            raise throw(
                "This TransformStream is being used as a byte stream, but received a value that is not a BufferSource.",
                "TypeError",
            )
        return self.bytes_out(self.convert(data))

    def convert(self, data: bytes) -> bytes:
        raise NotImplementedError

    @staticmethod
    def bytes_out(data: bytes) -> list[Any]:
        return [View(ArrayBuffer(data))] if data else []


class CompressionStream(_ByteTransform):
    """Compresses what is written."""

    __slots__ = ("_zlib",)

    def __init__(self, format: Any) -> None:
        super().__init__()
        self._zlib = zlib.compressobj(wbits=_window_bits(format))

    def convert(self, data: bytes) -> bytes:
        return self._zlib.compress(data)

    def last(self) -> list[Any]:
        return self.bytes_out(self._zlib.flush())


class DecompressionStream(_ByteTransform):
    """Decompresses what is written."""

    __slots__ = ("_zlib",)

    def __init__(self, format: Any) -> None:
        super().__init__()
        self._zlib = zlib.decompressobj(wbits=_window_bits(format))

    def convert(self, data: bytes) -> bytes:
        try:
            plain = self._zlib.decompress(data)
        except zlib.error:
            raise throw("Decompression failed.", "TypeError") from None
        if self._zlib.unused_data:
            raise throw("Trailing bytes after end of compressed data", "TypeError")
        return plain

    def last(self) -> list[Any]:
        if not self._zlib.eof:
            raise throw("Called close() on a decompression stream with incomplete data", "TypeError")
        return self.bytes_out(self._zlib.flush())


class TextEncoderStream(_PlatformTransform):
    """Strings to UTF-8."""

    __slots__ = ()
    encoding = "utf-8"

    def step(self, chunk: Any) -> list[Any]:
        data = idl.utf8(idl.string(chunk))
        return [View(ArrayBuffer(data))] if data else []


class TextDecoderStream(_PlatformTransform):
    """Bytes to strings."""

    __slots__ = ("_decoder",)

    def __init__(self, label: Any = "utf-8", init: Any = None, **options: Any) -> None:
        super().__init__()
        self._decoder = TextDecoder(label, init, **options)

    @property
    def encoding(self) -> str:
        return self._decoder.encoding

    @property
    def fatal(self) -> bool:
        return self._decoder.fatal

    @property
    def ignoreBOM(self) -> bool:
        return self._decoder.ignoreBOM

    def step(self, chunk: Any) -> list[Any]:
        data = idl.buffer(chunk)
        if data is None:
            raise throw(
                "This TransformStream is being used as a byte stream, but received a value that is not a BufferSource.",
                "TypeError",
            )
        text = self._decoder.decode_bytes(data, final=False)
        return [text] if text else []

    def last(self) -> list[Any]:
        text = self._decoder.decode_bytes(b"", final=True)
        return [text] if text else []
