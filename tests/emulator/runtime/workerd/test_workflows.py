"""Runs in the real workerd: values in both directions, and what becomes of a run whose workerd is killed."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from tests.emulator.runtime.workerd.serving import Serving, serving
from tests.emulator.runtime.workerd.test_restart import kill

from flarebed.bindings.codec import decode, encode
from flarebed.bindings.values import (
    UNDEFINED,
    ArrayBuffer,
    BigInt,
    Boxed,
    Date,
    Error,
    Map,
    RegExp,
    Set,
    SparseArray,
    View,
)

WORKER = """
import { WorkflowEntrypoint } from "cloudflare:workers";

export class Echo extends WorkflowEntrypoint {
  async run({ payload }, step) {
    const stored = await step.do("keep", () => payload);
    return [payload, stored];
  }
}

export class Once extends WorkflowEntrypoint {
  async run(event, step) {
    const first = await step.do("first", () => "kept");
    const { attempt } = await step.do("hangs once", { retries: { limit: 1, delay: 0 } }, async (context) => {
      console.log(`attempt ${context.attempt}`);
      if (context.attempt === 1) await new Promise(() => setTimeout(() => {}, 60000));
      return context;
    });
    return [first, attempt];
  }
}

export class Undone extends WorkflowEntrypoint {
  async run(event, step) {
    const rollback = async () => {
      console.log("undoing");
      if (await this.env.KV.get("begun")) return;
      await this.env.KV.put("begun", "yes");
      await new Promise(() => setTimeout(() => {}, 60000));
    };
    await step.do("done", () => "kept", { rollback, rollbackConfig: { retries: { limit: 1, delay: 0 } } });
    await scheduler.wait(20);
    throw new Error("the end");
  }
}

export default { fetch: () => new Response("ok") };
"""
CONFIG = {
    "workflows": [
        {"binding": "ECHO", "name": "echo", "class_name": "Echo"},
        {"binding": "ONCE", "name": "once", "class_name": "Once"},
        {"binding": "UNDONE", "name": "undone", "class_name": "Undone"},
    ],
    "kv_namespaces": [{"binding": "KV", "id": "kv"}],
}
PATIENCE_S = 20.0


@pytest.fixture(scope="module")
def served() -> Iterator[Serving]:
    with serving(CONFIG, {"index.js": WORKER}) as serving_it:
        serving_it.run(serving_it.app.own())
        yield serving_it


async def ended(served: Serving, binding: str, **options: Any) -> Any:
    workflow = served.app.primary.resources["workflows"].workflows[binding]
    handle = await served.app.primary.resources["workflows"].bindings()[binding].create(options)
    async with asyncio.timeout(PATIENCE_S):
        while (instance := workflow.instance(handle.id)).status not in ("complete", "errored"):
            await workflow.something_happens()
    return instance


async def output(served: Serving, binding: str, **options: Any) -> Any:
    instance = await ended(served, binding, **options)
    assert instance.status == "complete", instance.error
    return decode(instance.output)


_SHARED = {"a": 1}
_CIRCLE: dict[str, Any] = {"name": "circle"}
_CIRCLE["self"] = _CIRCLE
_BUFFER = ArrayBuffer(bytearray(range(8)))
VALUES = [
    None, UNDEFINED, True, 0, -0.0, 1.5, math.nan, math.inf, -math.inf, 2.0**60, 2**53 - 1, 1e300,
    BigInt(5), BigInt(-(2**100)), "", "é😀", "\ud800 alone", [], {}, [1, [2, [3]]], {"$": 1, "__proto__": 2, "": 3},
    Date(1.0), Date(math.nan), Map([("a", 1), (1, Map())]), Set([1, "1", Set()]), ArrayBuffer(b"abc"),
    View(_BUFFER, "Int16Array", 2, 4), View(_BUFFER, "DataView", 1, 3), View(_BUFFER), [View(_BUFFER), _BUFFER],
    Error("m", "TypeError", cause=Error("c")), RegExp(r"a+\/", "gi"), Boxed(1), Boxed("x"), Boxed(True),
    Boxed(BigInt(1)), SparseArray(5, {"1": "x"}), SparseArray(1000000, {}), [_SHARED, _SHARED], _CIRCLE,
    {"a": UNDEFINED, "b": -0.0},
]  # fmt: skip


def test_values_are_the_same_after_a_way_through_workerd(served: Serving) -> None:
    """As params, as the result of a step, and as that of run()."""

    async def scenario() -> list[Any]:
        return await output(served, "ECHO", params=VALUES)

    payload, stored = served.run(scenario())
    assert [form(value) for value in payload] == [form(value) for value in VALUES]
    assert [form(value) for value in stored] == [form(value) for value in VALUES]


def form(value: Any) -> bytes:
    """Equal for equal values, with what is shared in them; of an Error without its stack, which has places in it."""
    if isinstance(value, Error):
        value.stack = ""
        if isinstance(value.cause, Error):
            value.cause.stack = ""
    return encode(value)


def test_what_is_nested_deeply(served: Serving) -> None:
    value: list[Any] = []
    for _ in range(1_000):
        value = [value]

    async def scenario() -> list[Any]:
        return await output(served, "ECHO", params=value)

    assert [encode(each) for each in served.run(scenario())] == [encode(value)] * 2


def test_an_attempt_that_a_death_of_workerd_interrupted_counts_and_the_instance_goes_on(served: Serving) -> None:
    async def scenario() -> Any:
        running = asyncio.ensure_future(output(served, "ONCE", id="i"))
        await served.until_logged("log", "attempt 1")
        await kill(served)
        return await running

    assert served.run(scenario()) == ["kept", 2]


def test_a_rollback_in_which_workerd_dies_is_made_again_while_the_replay_goes_on(
    served: Serving,
) -> None:
    async def scenario() -> Any:
        running = asyncio.ensure_future(ended(served, "UNDONE", id="i"))
        await served.until_logged("log", "undoing")
        await kill(served)
        return await running

    assert json.loads(served.run(scenario()).rollback)["outcome"] == "complete"
