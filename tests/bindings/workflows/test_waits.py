"""`sleep`, `sleepUntil`, `waitForEvent` and `sendEvent`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Date
from tests.bindings.workflows.life import START_MS, Life, returning, run_one, thrown
from tests.support import run

NO_TIME = (
    "Error",
    "NOT NULL constraint failed: priority_queue.target_timestamp: "
    "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_NOTNULL)",
)
IN_THE_PAST = ("Error", "You can't sleep until a time in the past, time-traveler")


def timed(tmp_path: Path, call: Callable[[Any], Any], advance_ms: float = 10_000) -> Any:
    """What `call(step)` gives, and how long after creation."""

    async def check() -> Any:
        async def body(event: Any, step: Any) -> Any:
            result = await call(step)
            return [result, life.clock.now_ms() - START_MS]

        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.advance(advance_ms)
        outcome = await life.outcome()
        await life.end()
        return outcome

    return run(check())


@pytest.mark.parametrize(
    ("duration", "ends_ms"),
    [("2 seconds", 2_000), (100, 100), ("1 bogus", 1), (0, 0), (-5, 0), ("-5 seconds", 0), ("250", 250), (0.5, 0.5)],
)
def test_sleep(tmp_path: Path, duration: Any, ends_ms: float) -> None:
    assert timed(tmp_path, lambda step: step.sleep("zz", duration)) == ("complete", [None, ends_ms])


@pytest.mark.parametrize("until", [Date(START_MS + 3_000), START_MS + 3_000])
def test_sleep_until(tmp_path: Path, until: Any) -> None:
    assert timed(tmp_path, lambda step: step.sleepUntil("u", until)) == ("complete", [None, 3_000])


def test_an_endless_sleep_ends_the_wait_for_nobody_else(tmp_path: Path) -> None:
    assert timed(tmp_path, lambda step: step.sleep("zz", math.inf)) == ("waiting", None)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda step: step.sleep("zz"), ("TypeError", "Cannot read properties of undefined (reading 'toString')")),
        (lambda step: step.sleep("zz", None), ("TypeError", "Cannot read properties of null (reading 'toString')")),
        (lambda step: step.sleep("zz", "soon"), NO_TIME),
        (lambda step: step.sleep("zz", math.nan), NO_TIME),
        (lambda step: step.sleepUntil("u", Date(START_MS - 1)), IN_THE_PAST),
        (lambda step: step.sleepUntil("u", START_MS / 1_000), IN_THE_PAST),
        (lambda step: step.sleepUntil("u", "2020-01-01"), NO_TIME),
        (lambda step: step.sleepUntil("u", Date(math.nan)), NO_TIME),
        (lambda step: step.sleepUntil("u"), NO_TIME),
        (lambda step: step.waitForEvent("w"), ("TypeError", "Cannot read properties of undefined (reading 'timeout')")),
        (lambda step: step.waitForEvent("w", {"type": "x", "timeout": "soon"}), NO_TIME),
    ],
)
def test_bad_calls(tmp_path: Path, call: Callable[[Any], Any], error: tuple[str, str]) -> None:
    async def body(event: Any, step: Any) -> Any:
        return list(await thrown(call(step)))

    assert run(run_one(tmp_path, body))["output"] == list(error)


async def wait_for_go(event: Any, step: Any) -> Any:
    got = await step.waitForEvent("wait", {"type": "go"})
    return [[*got], got["payload"], got["type"], got["timestamp"]]


def test_an_event_during_the_wait(tmp_path: Path) -> None:
    async def check() -> None:
        life = await Life.owning(tmp_path, wait_for_go)
        instance = await life.flow.create({"id": "i"})
        await life.advance(5)
        assert await life.outcome() == ("waiting", None)
        assert await instance.sendEvent({"type": "other", "payload": 1}) is UNDEFINED
        await instance.sendEvent({"type": "go", "payload": {"ok": True}})
        await life.settle()
        shown = await life.status("i")
        expected = [["payload", "type", "timestamp"], {"ok": True}, "go", "2026-01-01T00:00:00.005Z"]
        assert (shown["status"], shown["output"]) == ("complete", expected)
        assert shown["__LOCAL_DEV_STEP_OUTPUTS"] == [{"ok": True}]
        await life.end()

    run(check())


def test_an_event_before_the_wait_is_kept(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            await step.sleep("s", 1_000)
            return (await wait_for_go(event, step))[1]

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await instance.sendEvent({"type": "go", "payload": "early"})
        await life.advance(1_000)
        assert await life.outcome() == ("complete", "early")
        await life.end()

    run(check())


def test_events_are_handed_out_one_by_one_in_order(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            names = ["first", "second", "third"]
            waits = [life.clock.spawn(step.waitForEvent(name, {"type": "go"}), name) for name in names]
            return [(await wait)["payload"] for wait in waits]

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await instance.sendEvent({"type": "go", "payload": 1})
        await life.settle()
        await instance.sendEvent({"type": "go", "payload": 2})
        await instance.sendEvent({"type": "go", "payload": 3})
        await life.settle()
        assert await life.outcome() == ("complete", [1, 2, 3])
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("timeout", "after_ms", "text"),
    [("300 ms", 300, "300"), (1_000, 1_000, "1000"), (UNDEFINED, 86_400_000, "86400000"), (0, 86_400_000, "86400000")],
)
def test_a_wait_times_out(tmp_path: Path, timeout: Any, after_ms: float, text: str) -> None:
    async def wait(step: Any) -> Any:
        return list(await thrown(step.waitForEvent("w", {"type": "never", "timeout": timeout})))

    error = ["Error", f"WorkflowTimeoutError: Execution timed out after {text}ms"]
    assert timed(tmp_path, wait, after_ms + 5) == ("complete", [error, after_ms])


def test_a_wait_that_timed_out_takes_no_event(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            first = await thrown(step.waitForEvent("w1", {"type": "go", "timeout": "1 second"}))
            second = await step.waitForEvent("w2", {"type": "go"})
            return [first[1], second["payload"]]

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.advance(2_000)
        await instance.sendEvent({"type": "go", "payload": "late"})
        await life.settle()
        message = "WorkflowTimeoutError: Execution timed out after 1000ms"
        assert await life.outcome() == ("complete", [message, "late"])
        await life.end()

    run(check())


def test_an_event_in_the_last_moment_is_in_time(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            return (await step.waitForEvent("w", {"type": "go", "timeout": 1_000}))["payload"]

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.advance(0)
        life.clock.call_at(START_MS + 1_000, lambda: None)
        await life.advance(999)
        await instance.sendEvent({"type": "go", "payload": "just"})
        await life.advance(1)
        assert await life.outcome() == ("complete", "just")
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("event", "error"),
    [
        (UNDEFINED, ("TypeError", "Cannot read properties of undefined (reading 'payload')")),
        (None, ("TypeError", "Cannot read properties of null (reading 'payload')")),
    ],
)
def test_send_event_without_one(tmp_path: Path, event: Any, error: tuple[str, str]) -> None:
    async def check() -> None:
        instance = await Life(tmp_path, wait_for_go).flow.create({"id": "i"})
        assert await thrown(instance.sendEvent(event)) == error

    run(check())


INVALID_TYPE = (
    'WorkflowError: Event type "{}" is invalid: it must have 1-100 characters, start with a letter, number, or '
    "underscore, and may only contain letters, numbers, underscores, or hyphens"
)


@pytest.mark.parametrize("event_type", [UNDEFINED, None, "", "order.paid", "-go", "a b", 5, "x" * 101])
def test_the_type_of_an_event_has_the_form_of_an_id(tmp_path: Path, event_type: Any) -> None:
    shown = {UNDEFINED: "undefined", None: "null"}.get(event_type, str(event_type))

    async def body(event: Any, step: Any) -> Any:
        return [*await thrown(step.waitForEvent("w", {"type": event_type}))]

    async def check() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        assert await thrown(instance.sendEvent({"type": event_type})) == ("Error", INVALID_TYPE.format(shown))
        await life.settle()
        assert await life.outcome() == ("complete", ["Error", INVALID_TYPE.format(shown)])
        await life.end()

    run(check())


def test_the_longest_type_of_an_event(tmp_path: Path) -> None:
    async def check() -> None:
        instance = await Life(tmp_path, wait_for_go).flow.create({"id": "i"})
        assert await instance.sendEvent({"type": "_" + "x-" * 49 + "9"}) is UNDEFINED

    run(check())


def test_a_payload_of_more_than_a_mebibyte_is_refused(tmp_path: Path) -> None:
    async def check() -> None:
        instance = await Life(tmp_path, wait_for_go).flow.create({"id": "i"})
        await instance.sendEvent({"type": "go", "payload": "x" * (2**20 - 100)})
        message = "WorkflowError: The payload of an event is too large. Maximum allowed size is 1MiB."
        assert await thrown(instance.sendEvent({"type": "go", "payload": "x" * 2**20})) == ("Error", message)

    run(check())


def test_an_event_without_payload(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            return (await step.waitForEvent("w", {"type": "go"}))["payload"] is UNDEFINED

        life = await Life.owning(tmp_path, body)
        await (await life.flow.create({"id": "i"})).sendEvent({"type": "go"})
        await life.settle()
        assert await life.outcome() == ("complete", True)
        await life.end()

    run(check())


def test_an_event_for_a_finished_instance_is_no_error(tmp_path: Path) -> None:
    async def check() -> None:
        async def body(event: Any, step: Any) -> Any:
            return await step.do("s", returning(1))

        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        assert await instance.sendEvent({"type": "late"}) is UNDEFINED
        assert await life.outcome() == ("complete", 1)
        await life.end()

    run(check())


def test_an_event_sent_by_another_process(tmp_path: Path) -> None:
    async def check() -> None:
        owner = await Life.owning(tmp_path, wait_for_go)
        await owner.flow.create({"id": "i"})
        await owner.settle()
        other = Life(tmp_path, _unused)
        other.bench.store.doorbell = lambda kind, resource: owner.resources.ring(resource)
        await (await other.flow.get("i")).sendEvent({"type": "go", "payload": "hello"})
        await owner.settle()
        assert (await other.outcome())[1][1] == "hello"
        other.bench.store.close()
        await owner.end()

    run(check())


async def _unused(event: Any, step: Any) -> None:
    raise JsError("this process runs nothing")
