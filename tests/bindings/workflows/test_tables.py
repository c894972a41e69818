"""Every row of the tables of errors and limits: what run() can catch, and as what; what ends an instance, and as what.

Where Cloudflare's local engine and production differ, production's behaviour counts (docs/workflows.md says where).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED
from flarebed.bindings.workflows.workflow import PRESERVE_NON_RETRYABLE
from tests.bindings.workflows.life import START_MS, Life, raising, returning, run_one, thrown
from tests.support import run

ONCE = {"retries": {"limit": 0, "delay": 0}}
FORMAT = "See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"
NAME = "exceeds max length (256 chars) or invalid characters found"
FATAL = (
    "The execution of the Workflow instance was terminated, as a step threw an NonRetryableError and it was not handled"
)
LONG = "x" * 257
MIB = 1 << 20

Step = Callable[[Any], Awaitable[Any]]


async def _hang(step: Any) -> None:
    async def callback(context: Any) -> None:
        await step._run.host.clock.sleep(60_000)

    await step.do("f", {**ONCE, "timeout": 1_000}, callback)


async def _with_delay(step: Any, delay: Any) -> None:
    await step.do("f", {"retries": {"limit": 1, "delay": delay}}, raising(JsError("no")))


def _failing(name: str, message: str) -> Step:
    return lambda step: step.do("f", ONCE, raising(JsError(message, name)))


CAUGHT: list[tuple[str, Step, str, str]] = [
    ("built-in class", _failing("TypeError", "xx"), "TypeError", "xx"),
    ("custom class", _failing("MyErr", "mm"), "Error", "MyErr: mm"),
    ("no message", _failing("MyErr", ""), "Error", "MyErr"),
    ("non-retryable", _failing("NonRetryableError", "s"), "Error", "NonRetryableError: s"),
    ("non-retryable, empty", _failing("NonRetryableError", ""), "Error", "NonRetryableError"),
    ("timeout of do", _hang, "Error", "WorkflowTimeoutError: Execution timed out after 1000ms"),
    (
        "timeout of waitForEvent",
        lambda s: s.waitForEvent("w", {"type": "t", "timeout": "2 seconds"}),
        "Error",
        "WorkflowTimeoutError: Execution timed out after 2000ms",
    ),
    ("long name", lambda s: s.do(LONG, returning(1)), "Error", f'WorkflowFatalError: Step name "{LONG}" {NAME}'),
    ("control character", lambda s: s.do("a\n", returning(1)), "Error", f'WorkflowFatalError: Step name "a\n" {NAME}'),
    (
        "config",
        lambda s: s.do("f", {"retries": {"limit": 1}}, returning(1)),
        "Error",
        f'WorkflowFatalError: Step config for "f" is in a invalid format. {FORMAT}',
    ),
    (
        "timeout of 0",
        lambda s: s.do("f", {"timeout": 0}, returning(1)),
        "Error",
        f'WorkflowFatalError: Step config for "f" is in a invalid format. {FORMAT}',
    ),
    ("no callback", lambda s: s.do("f", {}), "Error", 'WorkflowFatalError: Step "f" requires a callback function'),
    ("past", lambda s: s.sleepUntil("u", 1), "Error", "You can't sleep until a time in the past, time-traveler"),
    (
        "no duration",
        lambda s: s.sleep("z", "soon"),
        "Error",
        "NOT NULL constraint failed: priority_queue.target_timestamp: "
        "SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_NOTNULL)",
    ),
    (
        "large result",
        lambda s: s.do("f", ONCE, returning("x" * MIB)),
        "Error",
        "WorkflowInternalError: Step f-1 output is too large. Maximum allowed size is 1MiB.",
    ),
    (
        "delay function that throws",
        lambda s: _with_delay(s, raising(JsError("oops", "RangeError"))),
        "Error",
        'NonRetryableDelayError: The delay function for step "f-1" threw an error: oops',
    ),
    (
        "delay function that gives no delay",
        lambda s: _with_delay(s, returning("soon")),
        "Error",
        'NonRetryableDelayError: The delay function for step "f-1" returned an invalid delay value '
        '(expected a number of ms or a duration string like "30 seconds")',
    ),
    (
        "rollback options",
        lambda s: s.do("f", returning(1), 5),
        "Error",
        'WorkflowFatalError: Rollback options for "f" must be an object',
    ),
    (
        "rollback function",
        lambda s: s.do("f", returning(1), {"rollback": 5}),
        "Error",
        'WorkflowFatalError: Rollback for "f" must be a function',
    ),
    (
        "rollback config",
        lambda s: s.do("f", returning(1), {"rollback": returning(1), "rollbackConfig": {"x": 1}}),
        "Error",
        f'WorkflowFatalError: Rollback config for "f" is in a invalid format. {FORMAT}',
    ),
]


@pytest.mark.parametrize(("row", "call", "name", "message"), CAUGHT, ids=[row[0] for row in CAUGHT])
def test_what_run_can_catch(tmp_path: Path, row: str, call: Step, name: str, message: str) -> None:
    async def body(event: Any, step: Any) -> Any:
        return [*await thrown(call(step))]

    assert run(run_one(tmp_path, body, after_ms=5_000))["output"] == [name, message]


def _raise(error: JsError) -> Step:
    async def fail(step: Any) -> None:
        raise error

    return fail


NOT_SERIALISABLE = (
    'The execution of the Workflow instance was terminated, as the step "f" returned a value which is not serialisable'
)
DEFAULT: frozenset[str] = frozenset()
ENDS: list[tuple[str, Step, frozenset[str], str, str]] = [
    ("last attempt's", _failing("RangeError", "nope 3"), DEFAULT, "RangeError", "nope 3"),
    ("custom class", _raise(JsError("boom", "MyErr")), DEFAULT, "Error", "MyErr: boom"),
    ("step, non-retryable", _failing("NonRetryableError", "stop"), DEFAULT, "WorkflowFatalError", FATAL),
    ("run, non-retryable", _raise(JsError("stop", "NonRetryableError")), DEFAULT, "WorkflowFatalError", FATAL),
    ("empty, non-retryable", _raise(JsError("", "NonRetryableError")), DEFAULT, "WorkflowFatalError", FATAL),
    (
        "non-retryable, preserved",
        _failing("NonRetryableError", "stop"),
        frozenset({PRESERVE_NON_RETRYABLE}),
        "NonRetryableError",
        "stop",
    ),
    ("not serialisable", lambda s: s.do("f", returning(lambda: None)), DEFAULT, "WorkflowFatalError", NOT_SERIALISABLE),
]


@pytest.mark.parametrize(("row", "call", "flags", "name", "message"), ENDS, ids=[row[0] for row in ENDS])
def test_what_ends_an_instance(
    tmp_path: Path, row: str, call: Step, flags: frozenset[str], name: str, message: str
) -> None:
    async def body(event: Any, step: Any) -> None:
        await call(step)

    shown = run(run_one(tmp_path, body, flags=flags))
    assert (shown["status"], shown["error"]) == ("errored", {"name": name, "message": message})


def test_the_limit_of_steps(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        for _ in range(2):
            await step.do("f", returning(1))
        return [*await thrown(step.do("f", returning(1)))]

    text = "The limit of 2 steps has been reached. This limit can be changed in your worker configuration."
    assert run(run_one(tmp_path, body, limits_steps=2))["output"] == ["Error", f"WorkflowFatalError: {text}"]


def test_retries_go_on_up_to_their_limit(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        async def callback(context: Any) -> Any:
            if context["attempt"] < 500:
                raise JsError("not yet")
            return [context["attempt"], context["config"]["retries"]["limit"] == 1_000]

        return await step.do("f", {"retries": {"limit": 1_000, "delay": 10, "backoff": "constant"}}, callback)

    assert run(run_one(tmp_path, body, after_ms=5_000))["output"] == [500, True]


FINISHED: list[tuple[str, tuple[Any, ...], Any]] = [
    ("pause", (), UNDEFINED),
    ("resume", (), UNDEFINED),
    ("sendEvent", ({"type": "go"},), UNDEFINED),
    ("terminate", (), ("instance.cannot_terminate", "Cannot terminate instance since its on a finite state")),
    (
        "restart",
        ({"from": {"name": "zz"}},),
        ("instance.cannot_restart", 'Step "zz" not found in execution history'),
    ),
    ("restart", (), UNDEFINED),
]


@pytest.mark.parametrize("end", ["complete", "errored", "terminated"])
@pytest.mark.parametrize(("method", "arguments", "answer"), FINISHED)
def test_what_is_done_to_an_instance_at_its_end(
    tmp_path: Path, end: str, method: str, arguments: tuple[Any, ...], answer: Any
) -> None:
    async def body(event: Any, step: Any) -> None:
        if end == "errored":
            raise JsError("no")
        if end == "terminated":
            await step.sleep("long", "1 day")

    async def check() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        if end == "terminated":
            await instance.terminate()
        await life.settle()
        call = getattr(instance, method)(*arguments)
        if answer is UNDEFINED:
            assert await call is UNDEFINED
        else:
            code, text = answer
            assert await thrown(call) == ("Error", f"WorkflowError: ({code}) {text}")
        if method != "restart":
            assert (await life.status("i"))["status"] == end
        await life.end()

    run(check())


def test_a_date_that_has_passed_meanwhile_is_no_past(tmp_path: Path) -> None:
    """What is recorded is not checked again: the sleep that a replay comes by is over."""

    async def body(event: Any, step: Any) -> str:
        await step.sleepUntil("u", START_MS + 1_000)
        await asyncio.gather(step.sleep("a", 10), step.sleep("b", 10))
        return "awake"

    assert run(run_one(tmp_path, body, after_ms=2_000))["output"] == "awake"
