"""Introspection: Cloudflare's names, precedence and errors; what is mocked is journalled as the real thing is."""

from __future__ import annotations

import pytest

from flarebed.emulator.testing import IntrospectionError, SyncWorker, Worker
from flarebed.emulator.testing.introspection import SyncWorkflowInstanceIntrospector as Instance
from tests.emulator.testing.languages import MARKS

pytestmark = MARKS

MADE = {"made": True}
TIMED_OUT = "WorkflowTimeoutError: Execution timed out after 0ms"


@pytest.fixture
def instance(flarebed_sync: SyncWorker) -> Instance:
    return flarebed_sync.introspect_workflow_instance("FLOW", "i")


def finished(flarebed_sync: SyncWorker, instance: Instance) -> list[object]:
    flarebed_sync.env.FLOW.create(id="i")
    instance.wait_for_status("complete")
    output: list[object] = instance.get_output()
    return output


def test_nothing_is_changed_unasked(flarebed_sync: SyncWorker, instance: Instance) -> None:
    start_ms = flarebed_sync.clock.now_ms()
    output = finished(flarebed_sync, instance)
    assert output == [MADE, MADE, "Error: WorkflowTimeoutError: Execution timed out after 172800000ms"]
    assert flarebed_sync.clock.now_ms() == start_ms + 3 * 86_400_000


def test_sleeps_events_and_results(flarebed_sync: SyncWorker, instance: Instance) -> None:
    start_ms = flarebed_sync.clock.now_ms()
    instance.modify.disable_sleeps()
    instance.modify.mock_event("answer", {"n": 42})
    instance.modify.mock_step_result("work", {"mocked": [1, "two", None]}, index=2)
    assert finished(flarebed_sync, instance) == [MADE, {"mocked": [1, "two", None]}, {"n": 42}]
    assert flarebed_sync.clock.now_ms() == start_ms
    assert instance.wait_for_step_result("work", 2) == {"mocked": [1, "two", None]}
    outputs = flarebed_sync.env.FLOW.get("i").status()["__LOCAL_DEV_STEP_OUTPUTS"]
    assert outputs == [MADE, {"mocked": [1, "two", None]}, {"n": 42}]


def test_a_named_sleep(flarebed_sync: SyncWorker, instance: Instance) -> None:
    instance.modify.disable_sleeps("other", ("rest", 2))
    flarebed_sync.env.FLOW.create(id="i")
    flarebed_sync.drain()
    assert flarebed_sync.env.FLOW.get("i").status()["status"] == "waiting"
    assert len(flarebed_sync.env.FLOW.get("i").status()["__LOCAL_DEV_STEP_OUTPUTS"]) == 2


def test_errors_then_timeouts_then_the_real_step(flarebed_sync: SyncWorker, instance: Instance, language: str) -> None:
    start_ms = flarebed_sync.clock.now_ms()
    instance.modify.mock_step_error("work", RuntimeError("flaky"), times=1)
    instance.modify.force_step_timeout("work", times=1)
    flarebed_sync.env.FLOW.create(id="i")
    assert instance.wait_for_step_result("work") == MADE
    assert flarebed_sync.clock.now_ms() == start_ms + 2 * 3_600_000
    failures = [text.splitlines()[0] for level, text in flarebed_sync.logs if level == "error"]
    thrown = {"python": "PythonError: RuntimeError: flaky", "typescript": "Error: flaky"}[language]
    assert failures == [f"Uncaught {thrown}", f"Uncaught {TIMED_OUT}"]


def test_without_retry_delays(flarebed_sync: SyncWorker, instance: Instance) -> None:
    start_ms = flarebed_sync.clock.now_ms()
    instance.modify.disable_retry_delays("work")
    instance.modify.force_step_timeout("work")
    flarebed_sync.env.FLOW.create(id="i")
    with pytest.raises(Exception, match=TIMED_OUT):
        instance.wait_for_step_result("work")
    assert flarebed_sync.clock.now_ms() == start_ms


def test_an_event_that_was_sent_and_is_not_heard(flarebed_sync: SyncWorker, instance: Instance) -> None:
    instance.modify.disable_sleeps()
    instance.modify.mock_event("answer", "too late")
    instance.modify.force_event_timeout("answer")
    output = finished(flarebed_sync, instance)
    assert output[2] == "Error: WorkflowTimeoutError: Execution timed out after 172800000ms"


def test_mocks_survive_a_restart(flarebed_sync: SyncWorker, instance: Instance) -> None:
    instance.modify.mock_step_result("work", "mocked")
    assert finished(flarebed_sync, instance)[0] == "mocked"
    flarebed_sync.env.FLOW.get("i").restart()
    instance.wait_for_status("running")
    instance.wait_for_status("complete")
    assert instance.get_output()[0] == "mocked"


def test_the_wrong_end(flarebed_sync: SyncWorker, instance: Instance) -> None:
    finished(flarebed_sync, instance)
    with pytest.raises(IntrospectionError) as caught:
        instance.wait_for_status("errored")
    assert str(caught.value) == (
        "[WorkflowIntrospector] The Workflow instance i has reached status 'complete'. This is a finite status that "
        "prevents it from ever reaching the expected status of 'errored'."
    )
    with pytest.raises(IntrospectionError) as caught:
        instance.get_error()
    assert str(caught.value) == (
        'Cannot retrieve error: Workflow instance is in status "complete" but must be "errored" to have error '
        "information available"
    )


def test_too_early(flarebed_sync: SyncWorker, instance: Instance) -> None:
    flarebed_sync.env.FLOW.create(id="i")
    instance.wait_for_status("queued")
    instance.wait_for_status("waiting")
    with pytest.raises(IntrospectionError) as caught:
        instance.get_output()
    assert str(caught.value) == (
        'Cannot retrieve output: Workflow instance is in status "waiting" but must be "complete" to have an output '
        "available"
    )


def test_conflicts(instance: Instance) -> None:
    modify = instance.modify
    modify.mock_step_result("a", 1)
    for act, text in (
        (lambda: modify.mock_step_result("a", 2), "mock step 'a' multiple times!"),
        (lambda: modify.mock_step_error("a", ValueError()), "mock error on step 'a' after mocking its result!"),
        (lambda: modify.force_step_timeout("a"), "force timeout on step 'a' after mocking its result!"),
    ):
        with pytest.raises(IntrospectionError) as caught:
            act()
        assert str(caught.value) == f"[WorkflowIntrospector] Trying to {text}"
    modify.mock_step_result("a", 2, index=2)


def test_disposing_forgets_the_instance(flarebed_sync: SyncWorker) -> None:
    with flarebed_sync.introspect_workflow_instance("FLOW", "i") as instance:
        instance.modify.mock_step_result("work", "mocked")
        assert finished(flarebed_sync, instance)[0] == "mocked"
    with pytest.raises(Exception, match=r"instance\.not_found"):
        flarebed_sync.env.FLOW.get("i")
    again = flarebed_sync.introspect_workflow_instance("FLOW", "i")
    assert finished(flarebed_sync, again)[0] == MADE


async def test_all_new_instances(flarebed: Worker) -> None:
    await flarebed.env.FLOW.create(id="before")
    await flarebed.drain()
    async with flarebed.introspect_workflow("FLOW") as flow:
        flow.modify_all.disable_sleeps()
        flow.modify_all.force_event_timeout("answer")
        with pytest.raises(IntrospectionError) as caught:
            flarebed.introspect_workflow("FLOW")
        assert str(caught.value) == ('Workflow "flow" already has an active introspection session for binding "FLOW".')
        await flarebed.env.FLOW.create(id="one")
        await flarebed.env.FLOW.create(id="two")
        instances = await flow.get()
        assert [instance.id for instance in instances] == ["one", "two"]
        for instance in instances:
            await instance.wait_for_status("complete")
    flarebed.introspect_workflow("FLOW")
    assert (await (await flarebed.env.FLOW.get("before")).status())["status"] == "waiting"
