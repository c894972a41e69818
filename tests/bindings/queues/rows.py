"""The scenarios of the table of rows: each takes what a row gives, in JSON, and returns what comes of it, in JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.queues.consumer import MAX_CONCURRENCY, MAX_WALL_MS
from flarebed.bindings.queues.service import MAX_BATCH_BYTES, MAX_BATCH_COUNT, MAX_DELAY_S, MAX_MESSAGE_BYTES
from flarebed.bindings.queues.spec import QueueConsumerSpec, QueueProducerSpec, parse
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Map, Set, View
from tests.bindings.queues.bench import QueueBench, error_of
from tests.bindings.specs import parsed
from tests.support import run

FLAGS = {
    "none": frozenset[str](),
    "plain": frozenset({"queues_json_messages"}),
    "codes": frozenset({"queues_json_messages", "queue_expose_error_codes"}),
}
"""Compatibility flags: before 2024-03-18, before 2026-03-12, and from then on."""

MADE: dict[str, Callable[[Any], Any]] = {
    "undefined": lambda _: UNDEFINED,
    "function": lambda _: len,
    "bigint": BigInt,
    "date": Date,
    "map": lambda pairs: Map([tuple(pair) for pair in pairs]),
    "set": Set,
    "buffer": lambda text: ArrayBuffer(bytearray(text.encode())),
    "bytes": lambda text: View(ArrayBuffer(bytearray(text.encode()))),
    "x": lambda count: "x" * count,
    "items": lambda count: [{"body": number} for number in range(count)],
}
"""Values that JSON has no word for, by the key that begins with $."""


def made(given: Any) -> Any:
    if isinstance(given, list):
        return [made(item) for item in given]
    if not isinstance(given, dict):
        return given
    for name, value in given.items():
        if name.startswith("$"):
            return MADE[name[1:]](value)
    return {name: made(value) for name, value in given.items()}


def shown(value: Any) -> Any:
    """The other way round."""
    if isinstance(value, list):
        return [shown(item) for item in value]
    if isinstance(value, dict):
        return {name: shown(item) for name, item in value.items()}
    if isinstance(value, Date):
        return {"$date": value.ms}
    if isinstance(value, View):
        return {f"${value.kind}": bytes(value).decode()}
    if isinstance(value, Map):
        return {"$map": [list(pair) for pair in value.items()]}
    if isinstance(value, Set):
        return {"$set": list(value)}
    return "undefined" if value is UNDEFINED else value


def masked(text: str) -> str:
    return re.sub(r"[0-9a-f]{32}", "ID", text)


def refused(root: Path, given: dict[str, Any]) -> list[str]:
    """The error of a call, and what the log says of it. Nothing may be stored."""

    async def work() -> list[str]:
        bench = QueueBench(root, flags=FLAGS[given["flags"]])
        error = await error_of(getattr(bench.q, given["call"])(*made(given["with"])))
        stored = bench.resources.backlog("q").stats()
        await bench.close()
        return [error, *(f"{level}: {text}" for level, text in bench.logged), *([str(stored)] if any(stored) else [])]

    return run(work())


def answered(root: Path, given: dict[str, Any]) -> Any:
    """What the last of some calls answers."""

    async def work() -> Any:
        bench = QueueBench(root, flags=FLAGS["codes"])
        answer = None
        for call, *arguments in given["calls"]:
            if call == "advance":
                await bench.clock.advance(arguments[0] * 1000)
            else:
                answer = await getattr(bench.q, call)(*made(arguments))
        await bench.close()
        return shown(answer)

    return run(work())


def arrives(root: Path, given: dict[str, Any]) -> Any:
    """The body that a consumer gets, by way of `send` and by way of `sendBatch`, if they are the same."""

    async def work() -> Any:
        bench = QueueBench(root, QueueConsumerSpec("q", max_batch_timeout=0), flags=FLAGS[given.get("flags", "codes")])
        await bench.resources.own()
        await bench.q.send(made(given["body"]), given.get("options", {}))
        await bench.q.sendBatch([{"body": made(given["body"]), **given.get("options", {})}])
        await bench.clock.settle()
        one, other = (shown(body) for _, bodies, _ in bench.worker.batches for body in bodies)
        await bench.close()
        return one if one == other else [one, other]

    return run(work())


def detached(root: Path, given: dict[str, Any]) -> bool:
    async def work() -> bool:
        bench = QueueBench(root)
        view = View(ArrayBuffer(bytearray(b"abc")))
        item = {"contentType": "bytes"}
        await (bench.q.send(view, item) if given["call"] == "send" else bench.q.sendBatch([{"body": view, **item}]))
        await bench.close()
        return view.buffer.detached

    return run(work())


def config(root: Path, given: Any) -> list[str]:
    """What is said of the `queues` of a config."""
    _, errors, warnings = parsed(parse, "queues", given)
    return [*(f"error: {text}" for text in errors), *(f"warning: {text}" for text in warnings)]


def settings(root: Path, given: dict[str, Any]) -> dict[str, Any]:
    """What a consumer goes by."""
    specs, _, _ = parsed(parse, "queues", {"consumers": [{"queue": "q", **given["consumer"]}]})
    (spec,) = specs
    batching = spec.batching(given["defaults"])
    return {
        "max_batch_size": batching.size, "max_batch_timeout": batching.timeout_s, "max_retries": batching.retries,
        "retry_delay": spec.retry_delay, "max_concurrency": spec.max_concurrency,
    }  # fmt: skip


def limit(root: Path, given: str) -> int:
    return {
        "message": MAX_MESSAGE_BYTES, "batch": MAX_BATCH_BYTES, "count": MAX_BATCH_COUNT, "delay": MAX_DELAY_S,
        "concurrency": MAX_CONCURRENCY, "wall": MAX_WALL_MS,
    }[given]  # fmt: skip


class Script:
    """A `queue` handler: for each batch the next list of words: `ack 0`, `retry 1 5`, `ackAll`, `throw`, `sleep 3`."""

    def __init__(self, bench: QueueBench, batches: list[list[str]]) -> None:
        self._bench = bench
        self._batches = iter(batches)
        self.seen: list[list[Any]] = []

    async def __call__(self, batch: Any) -> None:
        now_s = (self._bench.clock.now_ms() - self._bench.start_ms) / 1000
        first = batch.messages[0]
        self.seen.append([now_s, batch.queue, [message.body for message in batch.messages], first.attempts])
        for words in next(self._batches, ()):
            match words.split():
                case ["throw"]:
                    raise JsError("boom")
                case ["sleep", seconds]:
                    await self._bench.clock.sleep(float(seconds) * 1000)
                case ["retryAll", *delay]:
                    batch.retryAll(*({"delaySeconds": int(each)} for each in delay))
                case ["ackAll"]:
                    batch.ackAll()
                case ["ack", number]:
                    batch.messages[int(number)].ack()
                case ["retry", number, *delay]:
                    batch.messages[int(number)].retry(*({"delaySeconds": int(each)} for each in delay))


def deliveries(root: Path, given: dict[str, Any]) -> dict[str, Any]:
    """What a consumer of "q" (and of others) is given when, and what the log says. Its batches wait 1 second."""

    async def work() -> dict[str, Any]:
        specs = [QueueConsumerSpec(**{"queue": "q", "max_batch_timeout": 1, **each}) for each in given["consumers"]]
        bench = QueueBench(root, QueueProducerSpec("D", "dlq"), *specs)
        script = Script(bench, given.get("says", []))
        bench.worker.handler = script
        await bench.resources.own()
        await bench.q.sendBatch([{"body": body} for body in given.get("send", ["a"])])
        await bench.clock.advance(given.get("seconds", 1000) * 1000)
        levels = given.get("log", ("warn", "error"))
        log = [f"{level}: {masked(text)}" for level, text in bench.logged if level in levels]
        left = await bench.producer("D").metrics()
        await bench.close()
        return {"deliveries": script.seen, "log": log, "dead": left["backlogCount"]}

    return run(work())


def keys(root: Path, given: str) -> list[Any]:
    """The own keys of what a handler gets."""

    async def work() -> list[Any]:
        bench = QueueBench(root, QueueConsumerSpec("q", max_batch_timeout=0))
        got: list[Any] = []
        bench.worker.handler = got.append
        await bench.resources.own()
        await bench.send("a")
        (batch,) = got
        what = batch if given == "batch" else batch.messages[0]
        await bench.close()
        properties = {name: getattr(what, name) for name in dir(what) if not name.startswith("_")}
        return [[name, type(value).__name__] for name, value in properties.items() if not callable(value)]

    return run(work())


SCENARIOS: dict[str, Callable[[Path, Any], Any]] = {
    scenario.__name__: scenario
    for scenario in (refused, answered, arrives, detached, config, settings, limit, deliveries, keys)
}
