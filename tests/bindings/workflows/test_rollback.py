"""Rollbacks: in which order, with what, after which failures, and what stops them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Error
from tests.bindings.workflows.life import raising, returning, run_one, thrown
from tests.bindings.workflows.undone import Undone
from tests.support import run

FOREVER_MS = 3_600_000
ONCE = {"retries": {"limit": 0, "delay": 0}}


def rolled_back(root: Path, body: Callable[..., Awaitable[Any]], after_ms: float = FOREVER_MS) -> dict[str, Any]:
    return run(run_one(root, body, after_ms=after_ms))


def test_the_step_that_began_last_is_undone_first_and_each_hears_what_happened(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning({"id": 1}), undone.options())
        await step.do("no rollback", returning(None))
        await step.do("a", ONCE, returning(2), undone.options())
        raise JsError("no stock", "RangeError")

    shown = rolled_back(tmp_path, body)
    assert shown["status"] == "errored"
    assert shown["error"] == {"message": "no stock", "name": "RangeError"}
    assert shown["rollback"] == {"outcome": "complete", "error": None}
    assert undone.names == ["a-2", "a-1"]
    second, first = undone.calls
    assert list(second) == ["ctx", "error", "output", "stepName"]
    assert second["output"] == 2
    assert first["output"] == {"id": 1}
    assert isinstance(first["error"], Error)
    assert str(first["error"]) == "RangeError: no stock"
    assert second["ctx"] == {
        "step": {"name": "a", "count": 2},
        "attempt": 1,
        "config": {"retries": {"limit": 0, "backoff": "exponential", "delay": 0}, "timeout": "10 minutes"},
    }
    assert first["ctx"]["config"]["retries"]["limit"] == 5


def test_the_step_that_failed_is_undone_too_without_an_output(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("pay", returning("paid"), undone.options())
        await step.do(
            "ship", {"retries": {"limit": 2, "delay": 10}}, raising(JsError("lost", "Gone")), undone.options()
        )

    shown = rolled_back(tmp_path, body)
    assert shown["error"] == {"message": "Gone: lost", "name": "Error"}
    assert [(call["stepName"], call["output"], call["ctx"]["attempt"]) for call in undone.calls] == [
        ("ship-1", UNDEFINED, 3),
        ("pay-1", "paid", 1),
    ]
    assert {str(call["error"]) for call in undone.calls} == {"Error: Gone: lost"}


def test_order_is_that_in_which_steps_began_not_ended(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        async def slow(context: Any) -> None:
            await step._run.host.clock.sleep(1_000)

        await asyncio.gather(step.do("slow", slow, undone.options()), step.do("quick", returning(1), undone.options()))
        raise JsError("no")

    rolled_back(tmp_path, body)
    assert undone.names == ["quick-1", "slow-1"]


def test_a_caught_failure_rolls_nothing_back(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> str:
        try:
            await step.do("a", ONCE, raising(JsError("no")), undone.options())
        except JsError:
            return "fine"
        raise AssertionError

    shown = rolled_back(tmp_path, body)
    assert (shown["status"], shown["output"], "rollback" in shown, undone.calls) == ("complete", "fine", False, [])


def test_a_rollback_is_retried_as_its_own_config_says_and_then_stops_the_chain(tmp_path: Path) -> None:
    undone = Undone()
    twice = {"retries": {"limit": 1, "delay": 5_000}, "timeout": "1 minute"}

    async def body(event: Any, step: Any) -> None:
        await step.do("first", returning(1), undone.options())
        await step.do("second", returning(1), undone.options(*[JsError("stuck", "Mine")] * 2, **twice))
        await step.do("third", returning(1), undone.options(JsError("once"), **twice))
        raise JsError("no")

    shown = rolled_back(tmp_path, body)
    assert undone.names == ["third-1", "third-1", "second-1", "second-1"]
    assert (shown["status"], shown["error"]) == ("errored", {"message": "no", "name": "Error"})
    assert shown["rollback"] == {"outcome": "failed", "error": {"name": "Error", "message": "Mine: stuck"}}


def test_a_rollback_has_the_retries_of_a_step_unless_it_says_otherwise(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", ONCE, returning(1), undone.options(*[JsError("no")] * 9))
        raise JsError("no")

    rolled_back(tmp_path, body)
    assert undone.names == ["a-1"] * 6


def test_a_rollback_that_can_not_be_retried_is_not(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1), undone.options(JsError("", "NonRetryableError")))
        raise JsError("no")

    assert rolled_back(tmp_path, body)["rollback"]["outcome"] == "failed"
    assert undone.names == ["a-1"]


def test_a_rollback_may_take_only_so_long(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        async def hang(argument: Any) -> None:
            await step._run.host.clock.sleep(FOREVER_MS)

        options = {"rollback": hang, "rollbackConfig": {**ONCE, "timeout": 500}}
        await step.do("a", returning(1), options)
        raise JsError("no")

    assert rolled_back(tmp_path, body, 600)["rollback"]["error"] == {
        "name": "Error",
        "message": "WorkflowTimeoutError: Execution timed out after 500ms",
    }


@pytest.mark.parametrize(
    "error",
    [JsError("stop", "NonRetryableError"), JsError("", "NonRetryableError"), JsError("x", "TypeError")],
    ids=str,
)
def test_whatever_run_throws_rolls_back(tmp_path: Path, error: JsError) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1), undone.options())
        raise error

    assert rolled_back(tmp_path, body)["rollback"]["outcome"] == "complete"


def test_a_mistaken_step_fails_the_run_and_so_rolls_back(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1), undone.options())
        await step.do("b", {"retries": 3}, returning(1))

    assert rolled_back(tmp_path, body)["rollback"]["outcome"] == "complete"
    assert undone.names == ["a-1"]


def test_an_output_that_is_no_value_ends_the_instance_without_rollbacks(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1), undone.options())
        await step.do("b", returning(lambda: None), undone.options())

    shown = rolled_back(tmp_path, body)
    assert (shown["status"], "rollback" in shown, undone.calls) == ("errored", False, [])


def test_rollbacks_make_no_steps(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        seen = []

        async def rollback(argument: Any) -> None:
            seen.append(await thrown(step.do("c", returning(1))))
            seen.append(await thrown(step.waitForEvent("d", {"type": "t"})))
            await step.sleep("e", 1_000)
            raise JsError(f"{seen}", "NonRetryableError")

        await step.do("a", returning(1), {"rollback": rollback})
        raise JsError("no")

    refused = ("Error", "WorkflowFatalError: Cannot execute steps during rollback phase")
    shown = rolled_back(tmp_path, body, 1_000)
    assert shown["rollback"]["error"]["message"] == f"NonRetryableError: {[refused, refused]}"


def test_what_was_still_going_on_is_stopped_before(tmp_path: Path) -> None:
    undone = Undone()
    told = []

    async def body(event: Any, step: Any) -> None:
        async def slow(context: Any) -> None:
            await step._run.host.clock.sleep(1_000)
            told.append("too late")

        await asyncio.gather(
            step.do("slow", slow, undone.options()),
            step.do("bad", ONCE, raising(JsError("no"))),
            step.do("retried", {"retries": {"limit": 9, "delay": 10}}, raising(JsError("again")), undone.options()),
        )

    assert rolled_back(tmp_path, body)["rollback"]["outcome"] == "complete"
    assert (undone.names, told) == (["retried-1", "slow-1"], [])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (None, 'Rollback options for "f" must be an object'),
        ([], 'Rollback options for "f" must be an object'),
        ("x", 'Rollback options for "f" must be an object'),
        ({}, 'Rollback for "f" must be a function'),
        ({"rollback": 1}, 'Rollback for "f" must be a function'),
        (
            {"rollback": returning(1), "rollbackConfig": {"limit": 1}},
            'Rollback config for "f" is in a invalid format. See '
            "https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/",
        ),
        (
            {"rollback": returning(1), "rollbackConfig": None},
            'Rollback config for "f" is in a invalid format. See '
            "https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/",
        ),
    ],
)
@pytest.mark.parametrize("config", [[], [{}]])
def test_misuse(tmp_path: Path, options: Any, message: str, config: list[Any]) -> None:
    async def body(event: Any, step: Any) -> Any:
        return [*await thrown(step.do("f", *config, returning(1), options))]

    assert rolled_back(tmp_path, body)["output"] == ["Error", f"WorkflowFatalError: {message}"]
