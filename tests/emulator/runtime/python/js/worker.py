"""Worker code in a test: one event on a virtual clock, outbound requests answered by the test.

async def code(): ...        what a handler would do; with a parameter it gets the Harness
assert in_worker(code) == "..."
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.support import run

from flarebed.bindings.values import ArrayBuffer, View
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.proxy import JsException, to_python

Code = Callable[..., Coroutine[Any, Any, Any]]
FLAGS = frozenset({"websocket_standard_binary_type", "strip_bom_in_read_all_text"})


def in_worker(code: Code, *, answer: Callable[[httpx.Request], Any] | None = None, flags: Any = FLAGS) -> Any:
    """The result of an event of a new Worker. `answer` is the network."""

    async def hosted() -> Any:
        worker = Harness()
        worker.services.flags = frozenset(flags)
        worker.services.outbound = lambda: httpx.AsyncClient(transport=httpx.MockTransport(answer or _unreachable))
        try:
            return await worker.run(code(worker) if inspect.signature(code).parameters else code())
        finally:
            await worker.services.close()

    return run(hosted())


def _unreachable(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


async def thrown(work: Any) -> str:
    """The text of the JavaScript error that a promise or coroutine ends with."""
    with pytest.raises(JsException) as caught:
        await work
    return str(caught.value)


def raised(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """The text of the JavaScript error that a call throws."""
    with pytest.raises(JsException) as caught:
        function(*arguments, **options)
    return str(caught.value)


def view(data: bytes) -> Any:
    """A Uint8Array as Worker code has it."""
    return to_python(View(ArrayBuffer(bytearray(data))))


async def read_all(stream: Any) -> list[bytes]:
    return [chunk.to_bytes() async for chunk in stream]


def counting(last: int) -> Any:
    """A stream of the numbers up to `last`, pulled one by one."""
    numbers = iter(range(1, last + 1))

    def pull(controller: Any) -> None:
        number = next(numbers, None)
        if number is None:
            controller.close()
        else:
            controller.enqueue(number)

    return exports()["ReadableStream"].new(pull=pull)
