"""What the client itself refuses, with its exact class and text; the service's refusals are in data/rows.json."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.queues.binding import WorkerQueue
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Map, View
from tests.bindings.queues.bench import PLAIN_ERRORS, QueueBench, error_of
from tests.support import run

Call = Callable[[WorkerQueue], Awaitable[Any]]


def parameter(method: str, position: int, expected: str) -> str:
    return (
        f"TypeError: Failed to execute '{method}' on 'WorkerQueue': parameter {position} is not of type '{expected}'."
    )


def text_needs_string(received: str) -> str:
    return f'TypeError: Content Type "text" requires a value of type string, but received: {received}'


def bytes_need_view(received: str) -> str:
    return f'TypeError: Content Type "bytes" requires a value of type ArrayBufferView, but received: {received}'


def items(*bodies: Any, **fields: Any) -> list[Any]:
    return [{"body": body, **fields} for body in bodies]


RANGE = "TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive)."
CLIENT: dict[str, tuple[Call, str]] = {
    "send nothing": (lambda q: q.send(), parameter("send", 1, "Value")),
    "send undefined": (lambda q: q.send(UNDEFINED), "TypeError: Message body cannot be undefined"),
    "send with a primitive for options": (lambda q: q.send(1, "text"), parameter("send", 2, "SendOptions")),
    "text of a number": (lambda q: q.send(5, {"contentType": "text"}), text_needs_string("number")),
    "text of null": (lambda q: q.send(None, {"contentType": "text"}), text_needs_string("object")),
    "text of a bool": (lambda q: q.sendBatch(items(True, contentType="text")), text_needs_string("boolean")),
    "bytes of a string": (lambda q: q.send("x", {"contentType": "bytes"}), bytes_need_view("string")),
    "bytes of a buffer": (lambda q: q.send(ArrayBuffer(b""), {"contentType": "bytes"}), bytes_need_view("object")),
    "unknown type": (
        lambda q: q.send("x", {"contentType": "Bogus"}),
        "TypeError: Unsupported queue message content type: Bogus",
    ),
    "null type": (
        lambda q: q.send("x", {"contentType": None}),
        "TypeError: Unsupported queue message content type: null",
    ),
    "upper case in a batch": (
        lambda q: q.sendBatch(items("x", contentType="JSON")),
        "TypeError: Unsupported queue message content type: JSON",
    ),
    "bigint": (lambda q: q.send(BigInt(1)), "TypeError: Do not know how to serialize a BigInt"),
    "function in v8": (
        lambda q: q.send({"f": len}, {"contentType": "v8"}),
        "DataCloneError: function(){} could not be cloned.",
    ),
    "delay out of range": (lambda q: q.send(1, {"delaySeconds": 2**31}), RANGE),
    "batch of nothing": (lambda q: q.sendBatch(), parameter("sendBatch", 1, "Sequence")),
    "batch of an object": (lambda q: q.sendBatch({"body": 1}), parameter("sendBatch", 1, "Sequence")),
    "batch of a string": (lambda q: q.sendBatch("ab"), parameter("sendBatch", 1, "Sequence")),
    "batch with a primitive for options": (
        lambda q: q.sendBatch(items(1), 5),
        parameter("sendBatch", 2, "SendBatchOptions"),
    ),
    "empty batch": (lambda q: q.sendBatch([]), "TypeError: sendBatch() requires at least one message"),
    "batch without a body": (lambda q: q.sendBatch([{"i": 1}]), "TypeError: Message body cannot be undefined"),
    "batch of lists": (lambda q: q.sendBatch([[1]]), "TypeError: Message body cannot be undefined"),
    "batch of a map's pairs": (
        lambda q: q.sendBatch(Map([("body", 1)])),
        "TypeError: Message body cannot be undefined",
    ),
    "batch of numbers": (
        lambda q: q.sendBatch(View(ArrayBuffer(b"ab"))),
        "TypeError: Incorrect type: the provided value is not of type 'MessageSendRequest'.",
    ),
    "batch of null": (
        lambda q: q.sendBatch([None]),
        "TypeError: Cannot initialize N7workerd3api11WorkerQueue18MessageSendRequestE with required members from an "
        "undefined or null value.",
    ),
    "an item's delay out of range": (lambda q: q.sendBatch(items(1, delaySeconds=-(2**31) - 1)), RANGE),
}


async def refused(bench: QueueBench, call: Call) -> str:
    text = await error_of(call(bench.q))
    assert (await bench.q.metrics())["backlogCount"] == 0
    bench.store.close()
    return text


@pytest.mark.parametrize("flags", [PLAIN_ERRORS, None], ids=["plain", "codes"])
@pytest.mark.parametrize(("call", "expected"), CLIENT.values(), ids=list(CLIENT))
def test_wrong_arguments(tmp_path: Path, call: Call, expected: str, flags: frozenset[str] | None) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, flags=flags)
        assert await refused(bench, call) == expected
        assert bench.logged == []

    run(work())


@pytest.mark.parametrize(
    "call",
    [
        lambda q: q.send("x" * 128_000, {"contentType": "text"}),
        lambda q: q.sendBatch(items(*range(100))),
        lambda q: q.sendBatch(items("x" * 127_998, "x" * 127_998, "x" * 31_998)),
        lambda q: q.send(1, {"delaySeconds": 86_400}),
    ],
    ids=["message", "count", "batch", "delay"],
)
def test_the_limits_themselves_are_allowed(tmp_path: Path, call: Call) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        assert await error_of(call(bench.q)) == "nothing"
        bench.store.close()

    run(work())
