"""Scenarios of the rows about configuration, binding, instances and their limits; each gives a text."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Map, View
from flarebed.bindings.workflows.spec import parse
from tests.bindings.specs import parsed
from tests.bindings.workflows.life import Life, raising, returning
from tests.support import run

VALUES: dict[str, Any] = {
    "Uint8Array": View(ArrayBuffer(b"ab")),
    "ArrayBuffer": ArrayBuffer(b"abc"),
    "BigInt": BigInt(5),
    "Date": Date(1_577_836_800_000),
    "Map": Map([(1, 2)]),
    "undefined": UNDEFINED,
}
"""What JSON has no word for."""


async def said(call: Awaitable[Any]) -> str:
    """What a call gives, or the error that it throws."""
    try:
        return shown(await call)
    except JsError as error:
        return f"{error.name}: {error.message}"


def shown(value: Any) -> str:
    """A handle is its id."""
    return "undefined" if value is UNDEFINED else json.dumps(value, default=lambda handle: handle.id)


def config(root: Path, workflows: list[Any]) -> str:
    """The complaints about `workflows` of a config."""
    _, errors, warnings = parsed(parse, "workflows", workflows)
    return "\n".join([*errors, *warnings])


def binding(root: Path, calls: list[list[Any]]) -> str:
    """What the last of the calls on the binding gives; a number stands for as many empty options."""

    async def check() -> str:
        life = Life(root, _echo)
        for method, argument in calls:
            answer = await said(getattr(life.flow, method)(_many(argument)))
        return answer

    return run(check())


def _many(argument: Any) -> Any:
    if isinstance(argument, dict) and isinstance(argument.get("instances"), int):
        return {"instances": [{}] * argument["instances"]}
    return [{}] * argument if isinstance(argument, int) else argument


def new_id(root: Path, pattern: None) -> str:
    """The form of an id that nobody gave: hexadecimal digits as x."""

    async def check() -> str:
        made = (await Life(root, _echo).flow.create()).id
        return "".join("x" if letter in "0123456789abcdef" else letter for letter in made)

    return run(check())


def instance(root: Path, given: dict[str, Any]) -> str:
    """What the call on an instance in that state gives, and the state that it is in then."""

    async def check() -> str:
        life = await Life.owning(root, _bodies[given["state"]])
        handle = await life.flow.create({"id": "i"})
        await life.settle()
        await _bring_into[given["state"]](handle)
        answer = await said(getattr(handle, given["call"][0])(*given["call"][1:]))
        await life.settle()
        try:
            answer += f", {(await life.outcome())[0]}"
        except JsError as error:
            answer += f", {error.message}"
        await life.end()
        return answer

    return run(check())


def statuses(root: Path, acts: list[Any]) -> str:
    """The status after each act on an instance of one step that takes 10 s, then a sleep of 10 s."""

    async def check() -> str:
        async def slow(context: Any) -> None:
            await life.clock.sleep(10_000)

        async def body(event: Any, step: Any) -> None:
            await step.do("slow", slow)
            await step.sleep("nap", "10 seconds")

        life = await Life.owning(root, body)
        handle = await life.flow.create({"id": "i"})
        seen = [(await life.outcome())[0]]
        for act in acts:
            await (life.advance(act) if isinstance(act, int) else getattr(handle, act)())
            seen.append((await life.outcome())[0])
        await life.end()
        return " ".join(seen)

    return run(check())


def status_object(root: Path, output: str) -> str:
    """status() of an instance whose only step and whose run() return the value of that name."""

    async def body(event: Any, step: Any) -> Any:
        return await step.do("s", returning(VALUES[output]))

    async def check() -> str:
        life = await Life.owning(root, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        found = await life.status("i")
        await life.end()
        return json.dumps({key: value for key, value in found.items() if value is not UNDEFINED}, default=str)

    return run(check())


def event(root: Path, options: dict[str, Any]) -> str:
    """What run() gets."""

    async def body(event: Any, step: Any) -> Any:
        return event

    async def check() -> str:
        life = await Life.owning(root, body)
        await life.flow.create({"id": "i", **options})
        await life.settle()
        found = (await life.outcome())[1]
        await life.end()
        return json.dumps(found)

    return run(check())


def restart_from(root: Path, since: dict[str, Any]) -> str:
    """Which steps of a, b and c run again."""
    ran: list[str] = []

    async def body(event: Any, step: Any) -> None:
        for name in "abc":
            await step.do(name, noting(name))

    def noting(name: str) -> Callable[..., Awaitable[Any]]:
        async def callback(context: Any) -> None:
            ran.append(name)

        return callback

    async def check() -> str:
        life = await Life.owning(root, body)
        handle = await life.flow.create({"id": "i"})
        await life.settle()
        ran.clear()
        answer = await said(handle.restart({"from": since}))
        await life.settle()
        await life.end()
        return " ".join(ran) or answer

    return run(check())


def events_after_restart(root: Path, options: dict[str, Any]) -> str:
    """What a wait gets after the restart of an instance that has had an event, and has another one left."""

    async def body(event: Any, step: Any) -> Any:
        await step.do("a", returning(1))
        return await said(step.waitForEvent("w", {"type": "go", "timeout": 1_000}))

    async def check() -> str:
        life = await Life.owning(root, body)
        handle = await life.flow.create({"id": "i"})
        for payload in (1, 2):
            await handle.sendEvent({"type": "go", "payload": payload})
        await life.settle()
        await handle.restart(options)
        await life.advance(1_000)
        answer: str = (await life.outcome())[1]
        await life.end()
        return answer

    return run(check())


def concurrency(root: Path, limit: int) -> str:
    """The statuses of three instances, each in the middle of a step."""

    async def check() -> str:
        async def slow(context: Any) -> None:
            await life.clock.sleep(10_000)

        async def body(event: Any, step: Any) -> None:
            await step.do("slow", slow)

        life = await Life.owning(root, body, concurrency_limit=limit)
        await life.flow.createBatch([{"id": "a"}, {"id": "b"}, {"id": "c"}])
        await life.settle()
        seen = [(await life.outcome(name))[0] for name in "abc"]
        await life.end()
        return " ".join(seen)

    return run(check())


async def _echo(event: Any, step: Any) -> Any:
    return event["payload"]


async def _fail(event: Any, step: Any) -> None:
    await step.do("f", {"retries": {"limit": 0, "delay": 0}}, raising(JsError("no", "TypeError")))


async def _sleep(event: Any, step: Any) -> None:
    await step.sleep("nap", "1 hour")


async def _nothing(handle: Any) -> None:
    pass


_bodies = {"complete": _echo, "errored": _fail, "terminated": _sleep, "waiting": _sleep, "deleted": _sleep}
_bring_into: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "complete": _nothing,
    "errored": _nothing,
    "waiting": _nothing,
    "terminated": lambda handle: handle.terminate(),
    "deleted": lambda handle: handle.delete(),
}

SCENARIOS: dict[str, Callable[[Path, Any], str]] = {
    "config": config,
    "binding": binding,
    "new id": new_id,
    "instance": instance,
    "statuses": statuses,
    "status object": status_object,
    "event": event,
    "restart from": restart_from,
    "events after restart": events_after_restart,
    "concurrency": concurrency,
}
