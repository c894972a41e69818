"""Events, abort signals and timers."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.emulator.runtime.python.js.worker import in_worker, raised, thrown
from tests.support import run

from flarebed.emulator.runtime.python.context import IoContext
from flarebed.emulator.runtime.python.js.globals import exports
from flarebed.emulator.runtime.python.promise import GLOBAL_SCOPE
from flarebed.emulator.runtime.python.proxy import JsException, jsnull

js = SimpleNamespace(**exports())
NOW_MS = 1_767_225_600_000


def test_listeners_are_called_in_order_and_once_if_they_say_so() -> None:
    async def code() -> list[Any]:
        log: list[Any] = []
        target = js.EventTarget.new()

        def first(event: Any) -> None:
            log.append(("first", event.type, event.target is target, event.eventPhase))

        target.addEventListener("x", first)
        target.addEventListener("x", first)
        target.addEventListener("x", lambda _event: log.append("once"), once=True)
        target.addEventListener(
            "x", SimpleNamespace(handleEvent=lambda event: log.append(event.currentTarget is target))
        )
        target.dispatchEvent(js.Event.new("x"))
        target.removeEventListener("x", first)
        target.dispatchEvent(js.Event.new("x"))
        target.dispatchEvent(js.Event.new("y"))
        return log

    assert in_worker(code) == [("first", "x", True, 2), "once", True, True]


def test_stopping_and_preventing() -> None:
    async def code() -> Any:
        target = js.EventTarget.new()
        log: list[str] = []
        target.addEventListener("x", lambda event: (event.preventDefault(), event.stopImmediatePropagation()))
        target.addEventListener("x", lambda _event: log.append("never"))
        event = js.Event.new("x", cancelable=True)
        return target.dispatchEvent(event), target.dispatchEvent(js.Event.new("x")), event.defaultPrevented, log

    assert in_worker(code) == (False, True, True, [])


def test_a_failing_listener_is_reported_and_the_others_run() -> None:
    async def code(worker: Harness) -> Any:
        target = js.EventTarget.new()
        log: list[str] = []

        async def late(_event: Any) -> None:
            raise KeyError("late")

        target.addEventListener("x", lambda _event: 1 / 0)
        target.addEventListener("x", late)
        target.addEventListener("x", lambda _event: log.append("ran"))
        target.dispatchEvent(js.Event.new("x"))
        await asyncio.sleep(0.1)
        return log, list(map(repr, worker.uncaught))

    assert in_worker(code) == (["ran"], ["ZeroDivisionError('division by zero')", "KeyError('late')"])


def test_events_that_carry_something() -> None:
    async def code() -> Any:
        return [
            js.CustomEvent.new("x", detail=5).detail,
            js.CustomEvent.new("x").detail,
            js.MessageEvent.new("message", data="d").data,
            (js.CloseEvent.new("close", code=1000, reason="r", wasClean=True).code),
            js.ErrorEvent.new("error", message="m").message,
            js.Event.new("x").timeStamp,
            js.Event.AT_TARGET,
        ]

    assert in_worker(code) == [5, jsnull, "d", 1000, "m", NOW_MS, 2]


def test_complaints_of_event_targets() -> None:
    async def code() -> Any:
        target = js.EventTarget.new()
        return [
            raised(target.addEventListener, "x", print, True),
            raised(target.addEventListener, "x", print, capture=True),
            raised(target.addEventListener, "x", print, passive=True),
            raised(target.dispatchEvent, "x"),
        ]

    assert in_worker(code) == [
        "TypeError: addEventListener(): useCapture must be false.",
        "TypeError: addEventListener(): options.capture must be false.",
        "TypeError: addEventListener(): options.passive must be false.",
        "TypeError: Failed to execute 'dispatchEvent' on 'EventTarget': parameter 1 is not of type 'Event'.",
    ]


def test_aborting() -> None:
    async def code() -> Any:
        controller = js.AbortController.new()
        log: list[Any] = []
        controller.signal.addEventListener("abort", lambda event: log.append(event.type))
        controller.signal.onabort = lambda event: log.append(event.isTrusted)
        before = (controller.signal.aborted, controller.signal.reason)
        controller.abort()
        controller.abort("again")
        reason = controller.signal.reason
        return (
            before,
            log,
            (reason.name, reason.message, reason.constructor.name),
            raised(controller.signal.throwIfAborted),
        )

    assert in_worker(code) == (
        (False, None),
        [True, "abort"],
        ("AbortError", "The operation was aborted", "DOMException"),
        "AbortError: The operation was aborted",
    )


def test_signals_of_signals() -> None:
    async def code() -> Any:
        controller = js.AbortController.new()
        timeout = js.AbortSignal.timeout(1000)
        either = js.AbortSignal.any([controller.signal, timeout])
        target = js.EventTarget.new()
        target.addEventListener("x", print, signal=either)
        waits = either.aborted
        await asyncio.sleep(1.5)
        return waits, str(either.reason), js.AbortSignal.abort("why").reason, target._listeners

    assert in_worker(code) == (False, "TimeoutError: The operation was aborted due to timeout", "why", [])


def test_signals_are_not_made_by_hand() -> None:
    assert raised(js.AbortSignal.new) == "TypeError: Illegal constructor"


def test_dom_exceptions() -> None:
    error = js.DOMException.new("text", "DataCloneError")
    assert (str(error), error.constructor.name) == ("DataCloneError: text", "DOMException")
    assert str(js.DOMException.new("text")) == "Error: text"


def test_timers_run_on_the_clock() -> None:
    async def code() -> Any:
        log: list[Any] = []
        started_ms = js.performance.now()

        def note(*arguments: Any) -> None:
            log.append((js.performance.now() - started_ms, *arguments))

        js.setTimeout(note, 3_600_000, "late", 1)
        js.setTimeout(note, "1000")
        js.setTimeout(note)
        interval = js.setInterval(note, 500, "every")
        js.clearTimeout(js.setTimeout(note, 1, "never"))
        js.setTimeout(lambda: js.clearInterval(interval), 1200)
        await js.scheduler.wait(3_600_000)
        return log, str(interval), interval.constructor.name

    assert in_worker(code) == (
        [(0,), (500, "every"), (1000,), (1000, "every"), (3_600_000, "late", 1)],
        "[object Object]",
        "Timeout",
    )


def test_a_failing_timer_is_reported() -> None:
    async def code(worker: Harness) -> Any:
        async def fails() -> None:
            raise KeyError("x")

        js.setTimeout(fails, 1)
        js.setTimeout(lambda: 1 / 0, 1)
        await asyncio.sleep(1)
        return sorted(map(repr, worker.uncaught))

    assert in_worker(code) == ["KeyError('x')", "ZeroDivisionError('division by zero')"]


def test_scheduler_wait_can_be_aborted() -> None:
    async def code() -> str:
        controller = js.AbortController.new()
        waiting = js.scheduler.wait(1e6, signal=controller.signal)
        controller.abort(js.Error.new("enough"))
        return await thrown(waiting)

    assert in_worker(code) == "Error: enough"


def test_what_set_timeout_refuses() -> None:
    async def code() -> str:
        return raised(js.setTimeout, "code", 1)

    assert in_worker(code) == (
        "TypeError: Failed to execute 'setTimeout' on 'ServiceWorkerGlobalScope': parameter 1 is not of type "
        "'function'."
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: js.setTimeout(print, 1),
        lambda: js.scheduler.wait(1),
        lambda: js.AbortSignal.timeout(1),
        js.crypto.randomUUID,
        lambda: js.caches.default.match("http://x"),
    ],
)
def test_nothing_waits_at_the_top_level_of_a_module(call: Any) -> None:
    async def hosted() -> str:
        worker = Harness()

        async def top_level() -> str:
            return raised(call)

        return await worker.run(top_level(), IoContext(worker.loop, worker.services, allows_io=False))

    assert run(hosted()) == f"Error: {GLOBAL_SCOPE}"


def test_fetch_rejects_at_the_top_level_of_a_module() -> None:
    async def hosted() -> str:
        worker = Harness()

        async def top_level() -> str:
            promise = js.fetch("http://x")
            try:
                await promise
            except JsException as error:
                return str(error)
            return "fetched"

        return await worker.run(top_level(), IoContext(worker.loop, worker.services, allows_io=False))

    assert run(hosted()) == f"Error: {GLOBAL_SCOPE}"


def test_navigator() -> None:
    assert (js.navigator.userAgent, str(js.navigator)) == ("Cloudflare-Workers", "[object Navigator]")
