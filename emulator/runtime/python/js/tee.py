"""`tee()`: two streams of one.

Source: https://streams.spec.whatwg.org/#abstract-opdef-readablestreamtee.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.runtime.python.js.readers import ReadableStreamDefaultReader
from flarebed.emulator.runtime.python.js.work import resolved
from flarebed.emulator.runtime.python.promise import Promise

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.js.readable import ReadableStream


class Tee:
    """The two branches of a tee share one reader; a chunk that one asks for goes to both."""

    def __init__(self, reader: ReadableStreamDefaultReader, branches: list[ReadableStream]) -> None:
        self._reader = reader
        self._reading = False
        self._open = branches
        self._cancelled = Promise()
        for branch in branches:
            branch._controller._pull = self._pull
            branch._controller._cancel = partial(self._cancel, branch)

    def _pull(self, _controller: Any) -> Promise:
        if self._reading:
            return resolved()
        self._reading = True
        result = self._reader.read()
        done = Promise()

        def took() -> None:
            self._reading = False
            self._give(result)
            done.fulfil(UNDEFINED)

        result.when_settled(took)
        return done

    def _give(self, result: Promise) -> None:
        for branch in list(self._open):
            if result.state == "rejected":
                branch._controller.fail(result.value)
            elif result.value["done"]:
                branch._controller.finish()
            else:
                branch._controller.put(result.value["value"])

    def _cancel(self, branch: ReadableStream, reason: Any) -> Promise:
        """The source is cancelled when nobody wants it any more."""
        self._open = [other for other in self._open if other is not branch]
        if not self._open:
            done = self._reader.cancel(reason)
            done.when_settled(lambda: self._cancelled._settle(done.state, done.value))
        return self._cancelled
