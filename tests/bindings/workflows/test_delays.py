"""`retries.delay` as a function of the Worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import Error
from tests.bindings.workflows.life import Attempts, Life, attempt, raising, returning, thrown
from tests.support import run

INVALID_DELAY = 'returned an invalid delay value (expected a number of ms or a duration string like "30 seconds")'


def test_a_delay_function(tmp_path: Path) -> None:
    async def check() -> None:
        questions: list[Any] = []

        async def delay(question: Any) -> Any:
            questions.append((question["ctx"]["attempt"], question["error"]))
            return "2 seconds"

        attempts = Attempts(JsError("no", "TypeError"), JsError("no", "Mine"))
        config = {"retries": {"limit": 5, "delay": delay, "backoff": "linear"}}
        life = await attempt(tmp_path, config, attempts, 60_000)
        assert attempts.times_ms == [0, 2_000, 6_000]
        assert [(number, type(error), str(error)) for number, error in questions] == [
            (1, Error, "TypeError: no"),
            (2, Error, "Error: Mine: no"),
        ]
        await life.end()

    run(check())


@pytest.mark.parametrize(
    ("delay", "reason"),
    [
        (returning("soon"), INVALID_DELAY),
        (raising(JsError("oops", "TypeError")), "threw an error: oops"),
        ("-5 seconds", INVALID_DELAY),
    ],
)  # fmt: skip
def test_a_delay_function_that_fails(tmp_path: Path, delay: Any, reason: str) -> None:
    async def check() -> None:
        attempts = Attempts(JsError("no"))
        life = await attempt(tmp_path, {"retries": {"limit": 5, "delay": delay}}, attempts, 60_000)
        message = f'NonRetryableDelayError: The delay function for step "f-1" {reason}'
        assert await life.outcome() == ("complete", ["Error", message])
        assert attempts.times_ms == [0]
        await life.end()

    run(check())


def test_a_delay_function_that_does_not_return(tmp_path: Path) -> None:
    async def check() -> None:
        async def delay(question: Any) -> None:
            await life.clock.sleep(60_000)

        async def body(event: Any, step: Any) -> Any:
            return list(await thrown(step.do("f", {"retries": {"limit": 5, "delay": delay}}, raising(JsError("no")))))

        life = await Life.owning(tmp_path, body)
        await life.flow.create({"id": "i"})
        await life.advance(5_000)
        text = 'NonRetryableDelayError: The delay function for step "f-1" did not return within 5 seconds'
        assert await life.outcome() == ("complete", ["Error", text])
        await life.end()

    run(check())
