"""Each refusal with its exact class and text, with and without the flag that hides the service's words."""

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

BIG = "x" * 128_001
INTERNAL = "Internal Server Error"
SERVICE: dict[str, tuple[Call, str, str]] = {
    "message size": (
        lambda q: q.send(BIG, {"contentType": "text"}),
        "Queue send failed: message length of 128001 bytes exceeds limit of 128000",
        "send() failed: message length of 128001 bytes exceeds limit of 128000",
    ),
    "message size in UTF-8, with quotes": (
        lambda q: q.send("é" * 64_000),
        "Queue send failed: message length of 128002 bytes exceeds limit of 128000",
        "send() failed: message length of 128002 bytes exceeds limit of 128000",
    ),
    "delay -1": (
        lambda q: q.send(1, {"delaySeconds": -1}),
        f"Queue send failed: {INTERNAL}",
        "send() failed: message delay of -1 seconds is not between 0 and 86400",
    ),
    "delay 86401": (
        lambda q: q.send(1, {"delaySeconds": 86_401}),
        f"Queue send failed: {INTERNAL}",
        "send() failed: message delay of 86401 seconds is not between 0 and 86400",
    ),
    "function": (
        lambda q: q.send(len),
        f"Queue send failed: {INTERNAL}",
        "send() failed: the body has no JSON",
    ),
    "batch count": (
        lambda q: q.sendBatch(items(*range(101))),
        "Queue sendBatch failed: batch message count of 101 exceeds limit of 100",
        "sendBatch() failed: batch message count of 101 exceeds limit of 100",
    ),
    "batch size": (
        lambda q: q.sendBatch(items("x" * 100_000, "x" * 100_000, "x" * 100_000)),
        "Queue sendBatch failed: batch size of 300006 bytes exceeds limit of 288000",
        "sendBatch() failed: batch size of 300006 bytes exceeds limit of 288000",
    ),
    "item size": (
        lambda q: q.sendBatch(items(1, BIG)),
        "Queue sendBatch failed: message in batch has length 128003 bytes which exceeds single message size limit of "
        "128000",
        "sendBatch() failed: message in batch has length 128003 bytes which exceeds single message size limit of "
        "128000",
    ),
    "batch delay": (
        lambda q: q.sendBatch(items(1, delaySeconds=0), {"delaySeconds": 86_401}),
        f"Queue sendBatch failed: {INTERNAL}",
        "sendBatch() failed: message delay of 86401 seconds is not between 0 and 86400",
    ),
    "item delay": (
        lambda q: q.sendBatch(items(1, delaySeconds=-1)),
        f"Queue sendBatch failed: {INTERNAL}",
        "sendBatch() failed: message delay of -1 seconds is not between 0 and 86400",
    ),
    "function in a batch": (
        lambda q: q.sendBatch(items(1, len)),
        f"Queue sendBatch failed: {INTERNAL}",
        "sendBatch() failed: the body has no JSON",
    ),
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


@pytest.mark.parametrize(("call", "expected", "_"), SERVICE.values(), ids=list(SERVICE))
def test_the_service_says_why(tmp_path: Path, call: Call, expected: str, _: str) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, flags=PLAIN_ERRORS)
        assert await refused(bench, call) == f"Error: {expected}"
        assert bench.logged == []

    run(work())


@pytest.mark.parametrize(("call", "_", "logged"), SERVICE.values(), ids=list(SERVICE))
def test_with_error_codes_only_the_log_says_why(tmp_path: Path, call: Call, _: str, logged: str) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        assert await refused(bench, call) == "Error: Unknown Internal Error (15000)"
        assert bench.logged == [("warn", f'Queue "q": {logged}')]

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


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (None, "Error: Unknown Internal Error (15000)"),
        (PLAIN_ERRORS, "Error: Queue send failed: Internal Server Error"),
    ],
)
def test_what_cannot_be_stored_is_the_services_failure(tmp_path: Path, flags: frozenset[str] | None, text: str) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, flags=flags)
        bench.resources.backlog("q")._database.connection.set_commit_hook(lambda: True)
        assert await error_of(bench.q.send("x")) == text
        assert bench.logged == [("warn", 'Queue "q": send() failed: constraint failed')]
        assert bench.resources.backlog("q").stats() == (0, 0, 0)
        await bench.close()

    run(work())
