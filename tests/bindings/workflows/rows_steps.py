"""Scenarios of the rows about steps, their errors and limits; each gives a text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED
from tests.bindings.workflows.life import START_MS, Attempts, Life, attempt, raising, returning
from tests.bindings.workflows.rows_binding import VALUES, said
from tests.support import run

DAY_MS = 86_400_000
NO_RETRY = {"retries": {"limit": 0, "delay": 0}}


def outcome(root: Path, body: Callable[[Any, Any], Awaitable[Any]], after_ms: float = 0, **options: Any) -> str:
    """What run() returned, or how the instance ended."""

    async def check() -> str:
        life = await Life.owning(root, body, **options)
        await life.flow.create({"id": "i"})
        await life.advance(after_ms)
        status, end = await life.outcome()
        await life.end()
        if status == "complete":
            return end if isinstance(end, str) else json.dumps(end)
        return f"{status} {end['name']}: {end['message']}" if end else status

    return run(check())


def call(root: Path, given: list[Any]) -> str:
    """What run() sees of a call on `step`, method and arguments."""
    method, *arguments = given

    async def body(event: Any, step: Any) -> str:
        return await said(getattr(step, method)(*arguments))

    return outcome(root, body, 2 * DAY_MS)


def do(root: Path, given: list[Any]) -> str:
    """The same for `do` with a callback as its last argument."""

    async def body(event: Any, step: Any) -> str:
        return await said(step.do(*given, returning("fine")))

    return outcome(root, body)


def sleep_until(root: Path, after_ms: float) -> str:
    """What sleepUntil gives for a time that long after (or before) the beginning."""

    async def body(event: Any, step: Any) -> str:
        return await said(step.sleepUntil("u", START_MS + after_ms))

    return outcome(root, body, 2 * DAY_MS)


def caught(root: Path, error: list[str]) -> str:
    """What run() catches of a step's error."""

    async def body(event: Any, step: Any) -> str:
        try:
            await step.do("f", NO_RETRY, raising(JsError(error[1], error[0])))
        except JsError as seen:
            return f"{seen.name}: {seen.message} {json.dumps(seen.properties)}"
        return "nothing"

    return outcome(root, body)


def uncaught(root: Path, given: dict[str, Any]) -> str:
    """How an instance ends by an error of a step, or of run() itself."""
    name, message = given["error"]

    async def body(event: Any, step: Any) -> None:
        if given.get("outside"):
            raise JsError(message, name)
        await step.do("f", NO_RETRY, raising(JsError(message, name)))

    return outcome(root, body, flags=frozenset(given.get("flags", ())))


def attempts(root: Path, given: dict[str, Any]) -> str:
    """When attempts that all fail are made, and what run() sees in the end."""
    name, message = given.get("error", ["RangeError", "nope"])

    async def check() -> str:
        made = Attempts(*[JsError(message, name) for _ in range(50)])
        life = await attempt(root, given.get("config", UNDEFINED), made, given.get("during_ms", DAY_MS))
        status, end = await life.outcome()
        await life.end()
        times = " ".join(f"{time_ms:.0f}" for time_ms in made.times_ms)
        return f"{times}, {': '.join(end) if status == 'complete' else status}"

    return run(check())


def delay_function(root: Path, given: dict[str, Any]) -> str:
    """The same with a delay function that answers, throws, or takes its time."""

    async def check() -> str:
        async def delay(question: Any) -> Any:
            await life.clock.sleep(given.get("takes_ms", 0))
            if "throws" in given:
                raise JsError(given["throws"])
            return given["answers"]

        made = Attempts(JsError("no"), JsError("no"))

        async def body(event: Any, step: Any) -> str:
            return await said(step.do("n", {"retries": {"limit": 2, "delay": delay, "backoff": "constant"}}, made))

        made.life = life = await Life.owning(root, body)
        await life.flow.create({"id": "i"})
        await life.advance(60_000)
        end = (await life.outcome())[1]
        await life.end()
        return f"{' '.join(f'{time_ms:.0f}' for time_ms in made.times_ms)}, {end}"

    return run(check())


def context(root: Path, config: Any) -> str:
    """What the callback gets."""
    seen: list[Any] = []

    async def callback(context: Any) -> None:
        seen.append(context)

    async def body(event: Any, step: Any) -> None:
        await step.do("c", UNDEFINED if config is None else config, callback)

    outcome(root, body)
    return json.dumps(seen[0])


def timed_out(root: Path, timeout: Any) -> str:
    """What run() sees of a step that takes longer."""

    async def check() -> str:
        async def slow(context: Any) -> None:
            await life.clock.sleep(DAY_MS)

        async def body(event: Any, step: Any) -> str:
            return await said(step.do("f", {**NO_RETRY, "timeout": timeout}, slow))

        life = await Life.owning(root, body)
        await life.flow.create({"id": "i"})
        await life.advance(DAY_MS / 2)
        end: str = (await life.outcome())[1]
        await life.end()
        return end

    return run(check())


def result(root: Path, name: str) -> str:
    """The kind of value that run() gets of that which the step returned."""

    async def body(event: Any, step: Any) -> str:
        return type(await step.do("s", returning(VALUES[name]))).__name__

    return outcome(root, body)


def not_serialisable(root: Path, what: str) -> str:
    """How an instance ends that catches everything, by a result that can't be cloned."""

    async def body(event: Any, step: Any) -> str:
        return await said(step.do("f", returning({"function": lambda: None, "object": object()}[what])))

    return outcome(root, body, DAY_MS)


def sensitive(root: Path, given: Any) -> str:
    """What the status shows of a sensitive result, and what run() got."""

    async def body(event: Any, step: Any) -> Any:
        return len(await step.do("s", {"sensitive": "output"}, returning("secret")))

    async def check() -> str:
        life = await Life.owning(root, body)
        await life.flow.create({"id": "i"})
        await life.settle()
        found = await life.status("i")
        await life.end()
        return f"{found['__LOCAL_DEV_STEP_OUTPUTS'][0]}, {found['output']}"

    return run(check())


def names(root: Path, calls: list[list[str]]) -> str:
    """The step of each callback's context, for calls by kind and name."""
    seen: list[str] = []

    async def callback(context: Any) -> None:
        seen.append(f"{context['step']['name']}-{context['step']['count']}")

    async def body(event: Any, step: Any) -> None:
        for kind, name in calls:
            if kind == "do":
                await step.do(name, callback)
            elif kind == "sleep":
                await step.sleep(name, 0)
            else:
                await said(step.waitForEvent(name, {"type": "t", "timeout": 1}))

    outcome(root, body, 60_000)
    return " ".join(seen)


def step_limit(root: Path, given: dict[str, Any]) -> str:
    """What run() sees of one `do` after `done` others, and as many sleeps."""

    async def body(event: Any, step: Any) -> str:
        await asyncio.gather(*[step.do("a", returning(1)) for _ in range(given["done"])])
        for _ in range(given.get("sleeps", 0)):
            await step.sleep("s", 0)
        return await said(step.do("last", returning("fine")))

    async def check() -> str:
        life = await Life.owning(root, body, limits_steps=given.get("limit"))
        await life.flow.create({"id": "i"})
        while (end := await life.outcome())[0] != "complete":
            await life.settle()
        await life.end()
        return str(end[1])

    return run(check())


def output_size(root: Path, bytes_: int) -> str:
    """What run() sees of a text of that many bytes that a step returns."""

    async def body(event: Any, step: Any) -> str:
        answer = await said(step.do("f", NO_RETRY, returning("x" * bytes_)))
        return "fits" if answer.startswith('"x') else answer

    return outcome(root, body)


SCENARIOS: dict[str, Callable[[Path, Any], str]] = {
    "call": call,
    "do": do,
    "sleepUntil": sleep_until,
    "caught": caught,
    "uncaught": uncaught,
    "attempts": attempts,
    "delay function": delay_function,
    "context": context,
    "timed out": timed_out,
    "result": result,
    "not serialisable": not_serialisable,
    "sensitive": sensitive,
    "names": names,
    "step limit": step_limit,
    "output size": output_size,
}
