"""Scenarios of the rows about what comes after steps and events: undoing, subscriptions, streams, retention, schedules.

A feature's rows are collected where it is there.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Date
from flarebed.bindings.workflows import errors
from flarebed.bindings.workflows.binding import InstanceImpl
from tests.bindings.workflows.life import Life, raising, returning
from tests.bindings.workflows.rows_binding import said
from tests.bindings.workflows.rows_steps import DAY_MS, NO_RETRY, outcome
from tests.support import run

MIB = 1 << 20


def present() -> list[str]:
    """The features that are there."""
    there = {
        "rollback": find_spec("flarebed.bindings.workflows.rollback") is not None,
        "subscribe": hasattr(InstanceImpl, "subscribe"),
        "payloads": hasattr(errors, "payload_too_large"),
        "streams": _takes_streams(),
        "retention": find_spec("flarebed.bindings.workflows.retention") is not None,
        "schedules": find_spec("flarebed.bindings.workflows.schedule") is not None,
    }
    return [feature for feature, is_there in there.items() if is_there]


def rollback_options(root: Path, options: Any) -> str:
    """What run() sees of a step with those rollback options; "function" stands for one."""
    if isinstance(options, dict) and options.get("rollback") == "function":
        options = {**options, "rollback": returning(UNDEFINED)}

    async def body(event: Any, step: Any) -> str:
        return await said(step.do("f", {}, returning("fine"), options))

    return outcome(root, body)


def step_in_a_rollback(root: Path, method: str) -> str:
    """What a rollback handler sees of a call on `step`."""
    seen: list[str] = []

    async def body(event: Any, step: Any) -> None:
        async def handler(question: Any) -> None:
            argument = {"type": "t"} if method == "waitForEvent" else returning(1)
            seen.append(await said(getattr(step, method)("another", argument)))

        await step.do("a", {}, returning(1), {"rollback": handler})
        raise JsError("nope", "RangeError")

    outcome(root, body, DAY_MS)
    return " ".join(seen)


def rollback_order(root: Path, given: dict[str, Any]) -> str:
    """Which handlers of the steps a, b, c run, and how the instance ends."""
    seen: list[str] = []

    async def handler(question: Any) -> None:
        seen.append(question["stepName"])
        if question["stepName"] == f"{given.get('refuses')}-1":
            raise JsError("can't be undone")

    async def body(event: Any, step: Any) -> None:
        undo = {"rollback": handler, "rollbackConfig": NO_RETRY}
        for name in "abc":
            callback = raising(JsError("nope", "RangeError")) if name == given["fails"] else returning(name)
            await step.do(name, NO_RETRY, callback, undo)

    end = outcome(root, body, DAY_MS)
    return f"{' '.join(seen)}, {end}"


def rollback_argument(root: Path, value: Any) -> str:
    """What the handler of a step that returned `value` gets."""
    seen: list[Any] = []

    async def handler(question: Any) -> None:
        seen.append(question)

    async def body(event: Any, step: Any) -> None:
        await step.do("a", {}, returning(value), {"rollback": handler})
        raise JsError("nope", "RangeError")

    outcome(root, body, DAY_MS)
    return json.dumps({**seen[0], "error": str(seen[0]["error"])})


def rollback_of_terminate(root: Path, rollback: bool) -> str:
    """The error that the handler gets when the instance is terminated, and its status then."""
    seen: list[str] = []

    async def handler(question: Any) -> None:
        seen.append(str(question["error"]))

    async def body(event: Any, step: Any) -> None:
        await step.do("a", {}, returning(1), {"rollback": handler})
        await step.sleep("nap", "1 hour")

    async def check() -> str:
        life = await Life.owning(root, body)
        handle = await life.flow.create({"id": "i"})
        await life.settle()
        await said(handle.terminate({"rollback": rollback}))
        await life.advance(DAY_MS)
        status = (await life.outcome())[0]
        await life.end()
        return f"{' '.join(seen) or 'nothing'}, {status}"

    return run(check())


def subscribe_options(root: Path, options: Any) -> str:
    async def check() -> str:
        life = Life(root, _fail_if_asked)
        return await said((await life.flow.create({"id": "i"})).subscribe(options))

    return run(check())


def subscription(root: Path, given: dict[str, Any]) -> str:
    """The types of what an instance of one sensitive step tells, with the outputs."""

    async def body(event: Any, step: Any) -> str:
        return str(await step.do("s", {"sensitive": "output"}, returning("secret")))

    async def check() -> str:
        life = await Life.owning(root, body)
        handle = await life.flow.create({"id": "i"})
        await life.settle()
        subscribed = await handle.subscribe(given)
        told = []
        while not (answer := await subscribed.next())["done"]:
            value = answer["value"]
            told.append(f"{value['type']} {value.get('stepName', '')} {value.get('output', '')}".strip())
        await life.end()
        return ", ".join(told)

    return run(check())


class _Bytes:
    """A stream of so many mebibytes."""

    def __init__(self, mebibytes: int) -> None:
        self._left = mebibytes

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        self._left -= 1
        return bytes(MIB)


def stream(root: Path, mebibytes: int) -> str:
    """How much run() reads of a stream that a step returned."""

    async def body(event: Any, step: Any) -> str:
        got = await step.do("s", NO_RETRY, returning(_Bytes(mebibytes)))
        return f"{sum([len(chunk) async for chunk in got])} bytes"

    return outcome(root, body)


def _takes_streams() -> bool:
    with TemporaryDirectory() as root:
        return stream(Path(root), 1) == f"{MIB} bytes"


def payload(root: Path, given: dict[str, Any]) -> str:
    """What the sender of a text of so many bytes sees, as params or as an event."""
    text = "x" * given["bytes"]

    async def check() -> str:
        life = Life(root, _fail_if_asked)
        if given["as"] == "params":
            return await said(life.flow.create({"id": "i", "params": text}))
        return await said((await life.flow.create({"id": "i"})).sendEvent({"type": "go", "payload": text}))

    return run(check())


def event_type(root: Path, type_: str) -> str:
    """What the sender of an event of that type sees."""

    async def check() -> str:
        return await said((await Life(root, _fail_if_asked).flow.create({"id": "i"})).sendEvent({"type": type_}))

    return run(check())


def retention(root: Path, given: dict[str, Any]) -> str:
    """The status of an instance so long after its end."""

    async def check() -> str:
        life = await Life.owning(root, _fail_if_asked, **given.get("spec", {}))
        await life.flow.create({"id": "i", **given.get("options", {})})
        await life.advance(given["after_ms"])
        try:
            answer = (await life.outcome())[0]
        except JsError as error:
            answer = f"{error.name}: {error.message}"
        await life.end()
        return answer

    return run(check())


def schedule(root: Path, given: dict[str, Any]) -> str:
    """Cron and time of each instance that is created."""
    seen: list[str] = []

    async def body(event: Any, step: Any) -> None:
        when = event["schedule"]["scheduledTime"]
        seen.append(f"{event['schedule']['cron']} {date_to_iso(when.ms if isinstance(when, Date) else when)}")

    async def check() -> None:
        life = await Life.owning(root, body, schedules=tuple(given["schedules"]))
        for _ in range(given["hours"]):
            await life.advance(3_600_000)
        await life.end()

    run(check())
    return ", ".join(seen)


async def _fail_if_asked(event: Any, step: Any) -> None:
    if event["payload"] == "fail":
        raise JsError("no", "TypeError")


SCENARIOS: dict[str, Callable[[Path, Any], str]] = {
    "rollback options": rollback_options,
    "step in a rollback": step_in_a_rollback,
    "rollback order": rollback_order,
    "rollback argument": rollback_argument,
    "rollback of terminate": rollback_of_terminate,
    "subscribe options": subscribe_options,
    "subscription": subscription,
    "stream": stream,
    "payload": payload,
    "event type": event_type,
    "retention": retention,
    "schedule": schedule,
}
