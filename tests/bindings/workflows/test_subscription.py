"""`subscribe`: the events of an instance, from the past and as they come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED, Map
from flarebed.bindings.workflows import timeline
from tests.bindings.workflows.life import START_MS, Life, raising, returning, thrown
from tests.bindings.workflows.undone import Undone
from tests.support import run

ONE_RETRY = {"retries": {"limit": 1, "delay": 100, "backoff": "constant"}}
SHOWN_ONCE = {"retries": {"limit": 1, "delay": 100, "backoff": "constant"}, "timeout": "10 minutes"}
DEFAULT = {"retries": {"limit": 5, "delay": 1_000, "backoff": "exponential"}, "timeout": "10 minutes"}


async def rest(subscription: Any) -> list[dict[str, Any]]:
    """All events up to the end."""
    events = []
    while not (result := await subscription.next())["done"]:
        events.append(result["value"])
    assert result == {"done": True, "value": UNDEFINED} == await subscription.next()
    ids = [event["eventId"] for event in events]
    assert ids == sorted(set(ids))
    return events


def shown(events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """(type, ms since the start, the fields of its own)."""
    assert {event["instanceId"] for event in events} <= {"i"}
    common = ("instanceId", "eventId", "timestamp", "type")
    return [
        (event["type"], event["timestamp"] - START_MS, {key: event[key] for key in event if key not in common})
        for event in events
    ]


def told(root: Path, body: Callable[..., Awaitable[Any]], *, live: bool, options: Any = UNDEFINED) -> list[Any]:
    """The events of an instance that runs to its end, heard while it runs or afterwards."""

    async def scenario() -> list[Any]:
        life = await Life.owning(root, body)
        instance = await life.flow.create({"id": "i", "params": {"x": 1}})
        if not live:
            await life.advance(3_600_000)
        hearing = life.clock.spawn(rest(await instance.subscribe(options)), "subscriber")
        await life.settle()
        await life.advance(3_600_000)
        await life.end()
        return hearing.result()

    return run(scenario())


FLOW = [
    ("workflow_queued", 0, {}),
    ("workflow_started", 0, {"params": {"x": 1}}),
    ("workflow_running", 0, {}),
    ("step_started", 0, {"stepName": "a-1", "config": DEFAULT}),
    ("attempt_started", 0, {"stepName": "a-1", "attempt": 1}),
    ("attempt_completed", 0, {"stepName": "a-1", "attempt": 1}),
    ("step_completed", 0, {"stepName": "a-1", "output": Map}),
    ("sleep_started", 0, {"stepName": "nap-1", "durationMs": 1_000}),
    ("workflow_waiting", 0, {}),
    ("workflow_running", 1_000, {}),
    ("sleep_completed", 1_000, {"stepName": "nap-1"}),
    ("step_started", 1_000, {"stepName": "b-1", "config": SHOWN_ONCE}),
    ("attempt_started", 1_000, {"stepName": "b-1", "attempt": 1}),
    (
        "attempt_errored",
        1_000,
        {"stepName": "b-1", "attempt": 1, "retryDelayMs": 100, "error": {"name": "TypeError", "message": "once"}},
    ),
    ("attempt_started", 1_100, {"stepName": "b-1", "attempt": 2}),
    ("attempt_errored", 1_100, {"stepName": "b-1", "attempt": 2, "error": {"name": "Error", "message": "Mine: twice"}}),
    ("step_errored", 1_100, {"stepName": "b-1"}),
    ("wait_started", 1_100, {"stepName": "w-1", "eventType": "go"}),
    ("workflow_waiting", 1_100, {}),
    ("workflow_running", 1_600, {}),
    ("wait_timed_out", 1_600, {"stepName": "w-1"}),
    ("workflow_completed", 1_600, {"output": "done"}),
]


@pytest.mark.parametrize("live", [True, False])
def test_what_happens_is_told_in_order(tmp_path: Path, live: bool) -> None:
    left = [JsError("once", "TypeError"), JsError("twice", "Mine")]

    async def failing(context: Any) -> None:
        raise left.pop(0)

    async def body(event: Any, step: Any) -> str:
        await step.do("a", returning(Map([("k", 1)])))
        await step.sleep("nap", 1_000)
        await thrown(step.do("b", ONE_RETRY, failing))
        await thrown(step.waitForEvent("w", {"type": "go", "timeout": 500}))
        return "done"

    heard = shown(told(tmp_path, body, live=live))
    output = heard[6][2].pop("output")
    assert isinstance(output, Map)
    assert output.items() == [("k", 1)]
    heard[6][2]["output"] = Map
    assert heard == FLOW


@pytest.mark.parametrize("live", [True, False])
def test_an_event_that_comes_ends_a_wait(tmp_path: Path, live: bool) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.waitForEvent("w", {"type": "go"})

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        hearing = life.clock.spawn(rest(await instance.subscribe()), "subscriber")
        await life.advance(10)
        await instance.sendEvent({"type": "go"})
        await life.advance(10)
        assert shown(hearing.result())[3:] == [
            ("wait_started", 0, {"stepName": "w-1", "eventType": "go"}),
            ("workflow_waiting", 0, {}),
            ("workflow_running", 10, {}),
            ("wait_completed", 10, {"stepName": "w-1"}),
            ("workflow_completed", 10, {"output": None}),
        ]
        assert await rest(await instance.subscribe()) == hearing.result()
        await life.end()

    run(scenario())


@pytest.mark.parametrize("live", [True, False])
def test_rollbacks_are_told(tmp_path: Path, live: bool) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1), undone.options(*[JsError("stuck")] * 2, **ONE_RETRY))
        await step.do("b", returning(1), undone.options())
        raise JsError("no", "RangeError")

    stuck = {"name": "Error", "message": "stuck"}
    assert shown(told(tmp_path, body, live=live))[11:] == [
        ("rollback_started", 0, {}),
        ("rollback_step_started", 0, {"stepName": "b-1", "config": DEFAULT}),
        ("rollback_attempt_started", 0, {"stepName": "b-1", "attempt": 1}),
        ("rollback_attempt_completed", 0, {"stepName": "b-1", "attempt": 1}),
        ("rollback_step_completed", 0, {"stepName": "b-1"}),
        ("rollback_step_started", 0, {"stepName": "a-1", "config": SHOWN_ONCE}),
        ("rollback_attempt_started", 0, {"stepName": "a-1", "attempt": 1}),
        ("rollback_attempt_errored", 0, {"stepName": "a-1", "attempt": 1, "retryDelayMs": 100, "error": stuck}),
        ("rollback_attempt_started", 100, {"stepName": "a-1", "attempt": 2}),
        ("rollback_attempt_errored", 100, {"stepName": "a-1", "attempt": 2, "error": stuck}),
        ("rollback_step_errored", 100, {"stepName": "a-1", "error": stuck}),
        ("rollback_errored", 100, {}),
        ("workflow_errored", 100, {"error": {"name": "RangeError", "message": "no"}}),
    ]


def test_pauses_are_told(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.sleep("nap", 1_000)

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        hearing = life.clock.spawn(rest(await instance.subscribe()), "subscriber")
        await life.advance(100)
        await instance.pause()
        await life.advance(100)
        await instance.resume()
        await life.advance(100)
        await instance.terminate()
        await life.settle()
        heard = hearing.result()
        assert shown(heard)[3:] == [
            ("sleep_started", 0, {"stepName": "nap-1", "durationMs": 1_000}),
            ("workflow_waiting", 0, {}),
            ("workflow_waiting_for_pause", 100, {}),
            ("workflow_paused", 100, {}),
            ("workflow_running", 200, {}),
            ("workflow_terminated", 300, {}),
        ]
        assert [event["eventId"] for event in await rest(await instance.subscribe())] == [
            event["eventId"] for event in heard
        ]
        await life.end()

    run(scenario())


def test_a_result_that_is_no_value_is_told_twice(tmp_path: Path) -> None:
    """Of the attempt and of the instance, in different words."""

    async def body(event: Any, step: Any) -> None:
        await step.do("f", returning(lambda: None))

    attempt = {"name": "WorkflowFatalError", "message": 'Value returned from step "f" is not serialisable'}
    error = {
        "name": "WorkflowFatalError",
        "message": "The execution of the Workflow instance was terminated, as the step "
        '"f" returned a value which is not serialisable',
    }
    assert shown(told(tmp_path, body, live=True))[5:] == [
        ("attempt_errored", 0, {"stepName": "f-1", "attempt": 1, "error": attempt}),
        ("step_errored", 0, {"stepName": "f-1"}),
        ("workflow_errored", 0, {"error": error}),
    ]


def test_what_is_sensitive_or_a_function_is_not_shown(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        async def delay(argument: Any) -> int:
            return 1

        config = {"sensitive": "output", "retries": {"limit": 1, "delay": delay}}
        await step.do("secret", config, returning("s3cret"))
        await step.do("nothing", returning(UNDEFINED))

    asked = {"filter": ["step_started", "step_completed"]}
    heard = {event["type"]: event for event in told(tmp_path / "a", body, live=True, options=asked)[:2]}
    assert heard["step_started"]["config"] == {
        "retries": {"limit": 1, "delay": "[dynamic]", "backoff": "exponential"},
        "timeout": "10 minutes",
        "sensitive": "output",
    }
    assert heard["step_completed"]["output"] == "[REDACTED]"
    last = told(tmp_path / "b", body, live=False, options={"filter": ["step_completed"]})[-1]
    assert (last["stepName"], "output" in last) == ("nothing-1", False)


@pytest.mark.parametrize("live", [True, False])
def test_a_filter_that_leaves_out_the_end_ends_all_the_same(tmp_path: Path, live: bool) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1))

    heard = told(tmp_path, body, live=live, options={"filter": ["attempt_started", "sleep_started"]})
    assert [event["type"] for event in heard] == ["attempt_started"]
    assert told(tmp_path / "none", body, live=live, options={"filter": []}) == []


@pytest.mark.parametrize("live", [True, False])
def test_a_cursor_is_the_last_event_that_is_known(tmp_path: Path, live: bool) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1))
        await step.sleep("nap", 50)
        await step.do("b", ONE_RETRY, raising(JsError("no")))

    everything = told(tmp_path / "all", body, live=live)
    for known in range(0, len(everything), 3):
        cursor = everything[known]["eventId"]
        root = tmp_path / str(known)
        assert told(root, body, live=live, options={"cursor": cursor}) == everything[known + 1 :]
    assert told(tmp_path / "end", body, live=False, options={"cursor": everything[-1]["eventId"]}) == []


def test_several_calls_at_a_time_get_one_event_each(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1))

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        subscription = await (await life.flow.create({"id": "i"})).subscribe()
        asked = [life.clock.spawn(subscription.next(), "next") for _ in range(9)]
        await life.settle()
        assert [call.result()["value"]["type"] for call in asked[:8]] == [
            *("workflow_queued", "workflow_started", "workflow_running", "step_started", "attempt_started"),
            *("attempt_completed", "step_completed", "workflow_completed"),
        ]
        assert asked[8].result()["done"] is True
        await life.end()

    run(scenario())


def test_it_goes_on_in_the_next_process_and_hears_of_interruptions(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        async def slow(context: Any) -> None:
            if context["attempt"] == 1:
                await step._run.host.clock.sleep(10_000)

        await step.do("a", ONE_RETRY, slow)

    async def first() -> int:
        life = await Life.owning(tmp_path, body)
        subscription = await (await life.flow.create({"id": "i"})).subscribe()
        await life.settle()
        events = [(await subscription.next())["value"] for _ in range(5)]
        life.kill()
        return int(events[-1]["eventId"])

    async def second(cursor: int) -> None:
        life = await Life.owning(tmp_path, body)
        hearing = life.clock.spawn(rest(await (await life.flow.get("i")).subscribe({"cursor": cursor})), "subscriber")
        await life.advance(1_000)
        interrupted = {"name": "WorkflowInternalError", "message": "Attempt failed due to internal workflows error"}
        assert shown(hearing.result()) == [
            ("attempt_errored", 0, {"stepName": "a-1", "attempt": 1, "retryDelayMs": 0, "error": interrupted}),
            ("attempt_started", 0, {"stepName": "a-1", "attempt": 2}),
            ("attempt_completed", 0, {"stepName": "a-1", "attempt": 2}),
            ("step_completed", 0, {"stepName": "a-1", "output": None}),
            ("workflow_completed", 0, {"output": None}),
        ]
        await life.end()

    cursor = run(first())
    run(second(cursor))


def test_a_process_that_does_not_run_the_instance_hears_of_it_too(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.sleep("nap", 1_000)

    async def scenario() -> None:
        owner = await Life.owning(tmp_path, body)
        await owner.flow.create({"id": "i"})
        await owner.settle()
        other = Life(tmp_path, body)
        hearing = other.clock.spawn(rest(await (await other.flow.get("i")).subscribe()), "subscriber")
        for _ in range(8):
            await owner.advance(250)
            await other.advance(250)
        assert hearing.result()[-1]["type"] == "workflow_completed"
        other.bench.store.close()
        await owner.end()

    run(scenario())


@pytest.mark.parametrize("method", ["restart", "delete"])
def test_it_fails_when_the_instance_is_no_more(tmp_path: Path, method: str) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.sleep("nap", 1_000)

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        hearing = life.clock.spawn(thrown(rest(await instance.subscribe())), "subscriber")
        await life.settle()
        await getattr(instance, method)()
        await life.settle()
        assert hearing.result() == ("Error", f"Aborting engine: User called {method}")
        await life.end()

    run(scenario())


@pytest.mark.parametrize(
    "options",
    [
        *(None, 5, "x", [], {"cursor": -1}, {"cursor": 1.5}, {"cursor": "1"}, {"cursor": None}, {"cursor": True}),
        *({"filter": None}, {"filter": "step_started"}, {"filter": ["bogus"]}, {"filter": [1]}, {"more": 1}),
    ],
)
def test_bad_options(tmp_path: Path, options: Any) -> None:
    async def body(event: Any, step: Any) -> None: ...

    async def scenario() -> None:
        life = Life(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        assert await thrown(instance.subscribe(options)) == ("Error", "Invalid Workflow subscription options")
        await instance.delete()
        assert await thrown(instance.subscribe()) == ("Error", "instance.not_found")

    run(scenario())


def test_every_type_of_event_of_the_documentation_is_known() -> None:
    assert len(timeline.TYPES) == 29
