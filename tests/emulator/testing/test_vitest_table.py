"""What Cloudflare's integration with vitest does, in Python form: one row for each of its rules.

Source: workers-sdk packages/workflows-shared/src/modifier.ts, introspection.ts, engine.ts, context.ts.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from flarebed.emulator.testing import IntrospectionError, SyncWorker
from flarebed.emulator.testing.mocks import TimedOut, WorkflowInstanceModifier

Modify = WorkflowInstanceModifier
ERROR = RuntimeError("mocked")
MADE, MOCKED = {"made": True}, {"mocked": True}


@pytest.mark.parametrize(
    ("conflict", "text"),
    [
        (lambda it: it.mock_step_result("s", 2), "Trying to mock step 's' multiple times!"),
        (lambda it: it.mock_step_error("s", ERROR), "Trying to mock error on step 's' after mocking its result!"),
        (lambda it: it.mock_step_error("s", ERROR, 1), "Trying to mock error on step 's' after mocking its result!"),
        (lambda it: it.force_step_timeout("s"), "Trying to force timeout on step 's' after mocking its result!"),
        (lambda it: it.force_step_timeout("s", 1), "Trying to force timeout on step 's' after mocking its result!"),
    ],
)  # fmt: skip
def test_a_mocked_result_is_final(conflict: Callable[[Modify], None], text: str) -> None:
    modify = WorkflowInstanceModifier()
    modify.mock_step_result("s", 1)
    with pytest.raises(IntrospectionError, match=rf"\A\[WorkflowIntrospector\] {re.escape(text)}\Z"):
        conflict(modify)
    modify.mock_step_result("s", 2, index=2)  # another step


@pytest.mark.parametrize(
    ("changes", "attempts"),
    [
        ([lambda it: it.mock_step_error("s", ERROR)], "EEEE"),
        ([lambda it: it.mock_step_error("s", ERROR, 2)], "EE.."),
        ([lambda it: it.force_step_timeout("s")], "TTTT"),
        ([lambda it: it.force_step_timeout("s", 1)], "T..."),
        # those with `times` follow each other, whichever they are
        ([lambda it: it.mock_step_error("s", ERROR, 1), lambda it: it.force_step_timeout("s", 2)], "ETT."),
        ([lambda it: it.force_step_timeout("s", 1), lambda it: it.mock_step_error("s", ERROR, 1)], "TE.."),
        # an error comes before a timeout, also one for good
        ([lambda it: it.force_step_timeout("s"), lambda it: it.mock_step_error("s", ERROR, 2)], "EETT"),
        ([lambda it: it.mock_step_error("s", ERROR), lambda it: it.force_step_timeout("s", 2)], "EEEE"),
        # the first of its name, unless an index (from 1) says another
        ([lambda it: it.mock_step_error("s", ERROR, index=2)], "...."),
    ],
)  # fmt: skip
def test_how_each_attempt_fails(changes: list[Callable[[Modify], None]], attempts: str) -> None:
    modify = WorkflowInstanceModifier()
    for change in changes:
        change(modify)
    letters = {type(None): ".", TimedOut: "T", RuntimeError: "E"}
    assert "".join(letters[type(modify.failure(("s", 1), attempt))] for attempt in range(1, 5)) == attempts


@pytest.mark.parametrize(
    ("change", "output"),
    [
        (lambda it: None, [MADE, MADE, "yes"]),
        (lambda it: it.mock_step_result("work", MOCKED), [MOCKED, MADE, "yes"]),
        (lambda it: it.mock_step_result("work", MOCKED, index=1), [MOCKED, MADE, "yes"]),
        (lambda it: it.mock_step_result("work", MOCKED, index=2), [MADE, MOCKED, "yes"]),
        (lambda it: it.mock_step_error("work", ERROR, 2), [MADE, MADE, "yes"]),
        (lambda it: it.force_step_timeout("work", 2, index=2), [MADE, MADE, "yes"]),
    ],
)
def test_what_run_sees_also_after_a_restart(
    flarebed_sync: SyncWorker, change: Callable[[Modify], None], output: list[object]
) -> None:
    with flarebed_sync.introspect_workflow_instance("FLOW", "i") as instance:
        change(instance.modify)
        instance.modify.disable_sleeps()
        instance.modify.disable_retry_delays()
        created = flarebed_sync.env.FLOW.create(id="i")
        for _ in range(2):
            created.send_event(type="answer", payload="yes")
            instance.wait_for_status("complete")
            assert instance.get_output() == output
            created.restart()
            flarebed_sync.drain()


def test_dispose_forgets_the_instance_and_the_mocks(flarebed_sync: SyncWorker) -> None:
    with flarebed_sync.introspect_workflow_instance("FLOW", "i") as instance:
        instance.modify.mock_step_result("work", MOCKED)
        flarebed_sync.env.FLOW.create(id="i")
        assert instance.wait_for_step_result("work") == MOCKED
    with pytest.raises(Exception, match=r"instance\.not_found"):
        flarebed_sync.env.FLOW.get("i")
    with flarebed_sync.introspect_workflow_instance("FLOW", "i") as instance:
        flarebed_sync.env.FLOW.create(id="i")
        assert instance.wait_for_step_result("work") == MADE
