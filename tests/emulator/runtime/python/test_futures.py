"""Futures, tasks and the promises of calls as asyncio sees them; what the loop refuses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.emulator.runtime.python.js.worker import in_worker

from flarebed.emulator.runtime.python.futures import PyodideFuture, PyodideTask
from flarebed.emulator.runtime.python.promise import JsPromise, Promise
from flarebed.emulator.runtime.python.proxy import JsProxy, throw


def test_what_the_loop_makes() -> None:
    async def code() -> tuple[type, type, str]:
        future = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(asyncio.sleep(0))
        await task
        return type(future), type(task), repr(type(future))

    assert in_worker(code) == (PyodideFuture, PyodideTask, "<class 'pyodide.webloop.PyodideFuture'>")


async def plus_one(value: int) -> int:
    return value + 1


async def fails() -> None:
    raise ValueError("no")


CHAINS: list[tuple[Callable[[], Any], Any]] = [
    (lambda: asyncio.ensure_future(plus_one(1)).then(plus_one).then(str), "3"),  # type: ignore[attr-defined]
    (lambda: asyncio.ensure_future(fails()).then(str, repr), "ValueError('no')"),  # type: ignore[attr-defined]
    (lambda: asyncio.ensure_future(fails()).catch(repr), "ValueError('no')"),  # type: ignore[attr-defined]
    (lambda: asyncio.ensure_future(plus_one(1)).finally_(lambda: plus_one(9)), 2),  # type: ignore[attr-defined]
]


@pytest.mark.parametrize(("chain", "result"), CHAINS)
def test_futures_as_promises(chain: Callable[[], Any], result: Any) -> None:
    async def code() -> Any:
        return await chain()

    assert in_worker(code) == result


def test_an_exception_goes_down_the_chain() -> None:
    async def code() -> None:
        await asyncio.ensure_future(fails()).then(str).finally_(int)  # type: ignore[attr-defined]

    with pytest.raises(ValueError, match="no"):
        in_worker(code)


def test_the_promise_of_a_call_is_a_future() -> None:
    async def code() -> list[Any]:
        promise = Promise()
        assert asyncio.isfuture(promise)
        assert not isinstance(promise, JsProxy)
        seen: list[Any] = [repr(promise), promise.done()]
        with pytest.raises(asyncio.InvalidStateError):
            promise.result()
        promise.add_done_callback(lambda done: seen.append(done.result()))
        promise.add_done_callback(seen.append)
        assert promise.remove_done_callback(seen.append) == 1
        promise.fulfil(7)
        done, pending = await asyncio.wait([promise, Promise.fulfilled(8)])
        seen += [sorted(each.result() for each in done), pending, repr(promise), promise.exception()]
        return [*seen, await asyncio.gather(promise, Promise.fulfilled(9)), await asyncio.wait_for(promise, 1)]

    assert in_worker(code) == [
        "<PyodideFuture pending>", False, 7, [7, 8], set(), "<PyodideFuture finished result=7>", None, [7, 9], 7,
    ]  # fmt: skip


def test_a_rejected_and_a_cancelled_promise() -> None:
    async def code() -> list[Any]:
        rejected, cancelled = Promise.rejected(throw("m")), Promise()
        assert (cancelled.cancel(), cancelled.cancel(), cancelled.cancelled()) == (True, False, True)
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        return [repr(rejected), str(rejected.exception()), repr(cancelled), rejected.cancelled()]

    assert in_worker(code) == [
        "<PyodideFuture finished exception=Error: m>", "Error: m", "<PyodideFuture cancelled>", False,
    ]  # fmt: skip


def test_a_promise_that_is_a_property_is_an_object() -> None:
    async def code() -> tuple[Any, ...]:
        promise = JsPromise.fulfilled(5)
        return str(type(promise)), repr(promise), asyncio.isfuture(promise), await promise

    assert in_worker(code) == ("<class 'pyodide.ffi.JsProxy'>", "[object Promise]", False, 5)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: asyncio.create_subprocess_exec("ls"),
        "subprocess_exec() is not available in browser environments due to absence of OS process APIs.",
    ),
    (
        lambda: asyncio.start_server(print, "127.0.0.1", 0),
        "create_server() is not available in browser environments due to restricted raw socket access.",
    ),
    (
        lambda: asyncio.get_running_loop().add_signal_handler(2, print),
        "add_signal_handler() is not available in browser environments due to lack of POSIX signals.",
    ),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_what_the_loop_refuses(call: Callable[[], Any], text: str) -> None:
    async def code() -> None:
        made = call()
        if made is not None:
            await made

    with pytest.raises(NotImplementedError) as thrown:
        in_worker(code)
    assert str(thrown.value) == text
