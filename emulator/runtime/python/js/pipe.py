"""`pipeTo`: pump a ReadableStream into a WritableStream, with backpressure; errors and ends go the way they should.

Source: https://streams.spec.whatwg.org/#readable-stream-pipe-to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flarebed.emulator.runtime.python.js import idl
from flarebed.emulator.runtime.python.js.readers import LOCKED, ReadableStreamDefaultReader
from flarebed.emulator.runtime.python.js.work import as_error
from flarebed.emulator.runtime.python.js.writable import CLOSED, WritableStream, WritableStreamDefaultWriter
from flarebed.emulator.runtime.python.js.writable import LOCKED as TARGET_LOCKED
from flarebed.emulator.runtime.python.promise import Promise, promise_of
from flarebed.emulator.runtime.python.proxy import JsProxy, throw, to_python

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.js.readable import ReadableStream


class Pipe:
    """One pump. `signal` stops it; the prevent options keep an end or an error on its own side."""

    def __init__(self, source: ReadableStream, target: WritableStream, init: Any, options: dict[str, Any]) -> None:
        self._reader = ReadableStreamDefaultReader(source)
        self._writer = WritableStreamDefaultWriter(target)
        self._source = source
        self._target = target
        self._keep_open = idl.truthy(idl.member(init, options, "preventClose"))
        self._keep_target = idl.truthy(idl.member(init, options, "preventAbort"))
        self._keep_source = idl.truthy(idl.member(init, options, "preventCancel"))
        self._signal = idl.member(init, options, "signal")

    async def run(self) -> None:
        try:
            await self._pump()
        finally:
            self._reader.releaseLock()
            self._writer.releaseLock()

    async def _pump(self) -> None:
        while True:
            if self._signal is not None and self._signal.aborted:
                reason = as_error(self._signal.reason)
                await self._stop(reason, reason)
                raise reason
            try:
                await self._writer.ready
            except Exception as error:
                await self._stop(error, None)
                raise
            if self._target._closing is not None or self._target._state == "closed":
                closed = throw(CLOSED, "TypeError")
                await self._stop(closed, None)
                raise closed
            result = self._source.read()
            try:
                await result
            except Exception as error:
                await self._stop(None, error)
                raise
            if result.value["done"]:
                if not self._keep_open:
                    await self._writer.close()
                return
            self._writer.write(to_python(result.value["value"]))

    async def _stop(self, cancel_with: BaseException | None, abort_with: BaseException | None) -> None:
        if abort_with is not None and not self._keep_target:
            await self._writer.abort(abort_with)
        if cancel_with is not None and not self._keep_source:
            await self._reader.cancel(cancel_with)


def pipe_to(source: ReadableStream, target: Any, init: Any = None, options: dict[str, Any] | None = None) -> Promise:
    """Resolved when everything is written and the target closed."""
    if not isinstance(target, WritableStream):
        raise idl.not_of_type("pipeTo", "ReadableStream", 1, "WritableStream")
    if source.locked or target.locked:
        return Promise.rejected(throw(LOCKED if source.locked else TARGET_LOCKED, "TypeError"))
    return promise_of(Pipe(source, target, init, options or {}).run())


def pipe_through(source: ReadableStream, transform: JsProxy, init: Any, options: dict[str, Any]) -> Any:
    """The readable side of the transform that `source` is pumped into."""
    pipe_to(source, transform.writable, init, options)
    return transform.readable
