"""What can be sent, what it is on arrival, and what sending answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.queues.spec import QueueProducerSpec
from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Set, View
from tests.bindings.queues.bench import PLAIN_ERRORS, QueueBench, consumer
from tests.support import run

NOW_MS = 1_767_225_600_000
V8 = frozenset({"queue_expose_error_codes"})


def metrics(count: int, size: int, oldest_ms: int | None) -> dict[str, Any]:
    oldest = UNDEFINED if oldest_ms is None else Date(oldest_ms)
    return {"backlogCount": count, "backlogBytes": size, "oldestMessageTimestamp": oldest}


def sent(count: int, size: int, oldest_ms: int | None) -> dict[str, Any]:
    return {"metadata": {"metrics": metrics(count, size, oldest_ms)}}


BODIES: list[tuple[Any, Any, Any]] = [
    ({"a": 1, "n": None, "l": [1, 2.5, "é", True]}, UNDEFINED, {"a": 1, "n": None, "l": [1, 2.5, "é", True]}),
    ("text", UNDEFINED, "text"),
    ("", UNDEFINED, ""),
    (5, None, 5),
    (None, {}, None),
    ("undefined", UNDEFINED, "undefined"),
    (View(ArrayBuffer(b"byt")), UNDEFINED, {"0": 98, "1": 121, "2": 116}),
    (Date(1_577_934_245_000), UNDEFINED, "2020-01-02T03:04:05.000Z"),
    ({"s": Set([1, 2]), "u": UNDEFINED}, UNDEFINED, {"s": {}}),
    ({"2": 1, "1": 2}, {"contentType": "json"}, {"1": 2, "2": 1}),
    ({"a": 1}, {"contentType": "JSON"}, {"a": 1}),
    ("é", {"contentType": "text"}, "é"),
    ("", {"contentType": "Text"}, ""),
    ("a\ud800", {"contentType": "text"}, "a\ufffd"),
    (BigInt(2**70), {"contentType": "v8"}, BigInt(2**70)),
    (Date(0), {"contentType": "v8"}, Date(0)),
    ([UNDEFINED, None], {"contentType": "v8"}, [UNDEFINED, None]),
    ("x", {"contentType": "v8", "delay_seconds": 5, "delaySeconds": UNDEFINED}, "x"),
]


@pytest.mark.parametrize(("body", "options", "arrives"), BODIES, ids=lambda value: repr(value)[:24])
def test_a_body_arrives_by_its_content_type(tmp_path: Path, body: Any, options: Any, arrives: Any) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        await bench.resources.own()
        assert await bench.q.send(body, options) == sent(0, 0, None)
        await bench.clock.settle()
        assert bench.worker.batches == [("q", [arrives], 1)]
        await bench.close()

    run(work())


def test_bytes_arrive_as_a_uint8array(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        await bench.resources.own()
        part = View(ArrayBuffer(b"0123456789"), "Uint16Array", 2, 4)
        await bench.q.send(part, {"contentType": "bytes"})
        await bench.clock.settle()
        ((_, (arrived,), _),) = bench.worker.batches
        assert (arrived.kind, bytes(arrived)) == ("Uint8Array", b"2345")
        await bench.close()

    run(work())


def test_send_takes_the_buffer_and_send_batch_does_not(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        taken, kept = View(ArrayBuffer(b"abc")), View(ArrayBuffer(b"abc"))
        await bench.q.send(taken, {"contentType": "bytes"})
        await bench.q.sendBatch([{"body": kept, "contentType": "bytes"}])
        assert (taken.buffer.detached, kept.buffer.detached) == (True, False)
        bench.store.close()

    run(work())


@pytest.mark.parametrize(("flags", "arrives"), [(PLAIN_ERRORS, {}), (V8, Set([1]))], ids=["json", "v8"])
def test_the_default_content_type_depends_on_a_flag(tmp_path: Path, flags: frozenset[str], arrives: Any) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0), flags=flags)
        await bench.resources.own()
        await bench.q.send(Set([1]))
        await bench.q.sendBatch([{"body": Set([1])}])
        await bench.clock.settle()
        bodies = [body for _, bodies, _ in bench.worker.batches for body in bodies]
        assert [list(body) if isinstance(body, Set) else body for body in bodies] == [
            list(arrives) if isinstance(arrives, Set) else arrives
        ] * 2
        await bench.close()

    run(work())


def test_metrics_are_those_before_the_message(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        assert await bench.q.metrics() == metrics(0, 0, None)
        assert await bench.q.send("a string") == sent(0, 0, None)
        await bench.clock.advance(20)
        assert await bench.q.send(5) == sent(1, 10, NOW_MS)
        assert await bench.q.sendBatch([{"body": None}, {"body": "é", "contentType": "text"}]) == sent(2, 11, NOW_MS)
        assert await bench.q.metrics() == metrics(4, 17, NOW_MS)
        bench.store.close()

    run(work())


def test_delayed_messages_count_from_when_they_appear(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        await bench.q.send("late", {"delaySeconds": 2})
        await bench.q.send("later", {"delaySeconds": 3})
        await bench.q.send("soon", {"delaySeconds": 1.9})
        assert await bench.q.metrics() == metrics(0, 0, None)
        assert bench.resources.backlog("q").stats() == (0, 3, 0)
        await bench.clock.advance(1000)
        assert await bench.q.metrics() == metrics(1, 6, NOW_MS)
        await bench.clock.advance(2000)
        assert await bench.q.metrics() == metrics(3, 19, NOW_MS)
        assert bench.resources.backlog("q").stats() == (3, 0, 0)
        bench.store.close()

    run(work())


def test_messages_in_delivery_are_not_counted(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=2, max_batch_timeout=0))
        seen: list[Any] = []

        async def handler(batch: Any) -> None:
            seen.append((batch.metadata, await bench.q.metrics(), bench.resources.backlog("q").stats()))

        bench.worker.handler = handler
        await bench.q.sendBatch([{"body": "a"}, {"body": "b"}, {"body": "cc"}])
        await bench.resources.own()
        await bench.clock.settle()
        assert seen == [
            ({"metrics": metrics(1, 4, NOW_MS)}, metrics(1, 4, NOW_MS), (1, 0, 2)),
            ({"metrics": metrics(0, 0, None)}, metrics(0, 0, None), (0, 0, 1)),
        ]
        await bench.close()

    run(work())


DELAYS: list[tuple[Any, Any, int]] = [
    ({}, UNDEFINED, 0),
    ({}, {"delaySeconds": 5}, 5),
    ({"delaySeconds": 3}, {"delaySeconds": 5}, 3),
    ({"delaySeconds": 0}, {"delaySeconds": 5}, 0),
    ({"delaySeconds": UNDEFINED}, {"delaySeconds": 5}, 5),
    ({"delaySeconds": None}, {"delaySeconds": 5}, 0),
    ({"delaySeconds": 1.5}, {"delaySeconds": "7"}, 1),
    ({"delaySeconds": 86_400}, None, 86_400),
]


@pytest.mark.parametrize(("item", "options", "delay_s"), DELAYS, ids=repr)
def test_an_items_delay_wins_over_the_batchs(tmp_path: Path, item: Any, options: Any, delay_s: int) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        await bench.resources.own()
        await bench.q.sendBatch([{"body": 1, **item}], options)
        await bench.clock.settle()
        if delay_s:
            await bench.clock.advance(delay_s * 1000 - 1)
            assert bench.worker.batches == []
            await bench.clock.advance(1)
        assert bench.worker.batches == [("q", [1], 1)]
        await bench.close()

    run(work())


@pytest.mark.parametrize("sequence", [list, Set])
def test_send_batch_takes_what_can_be_iterated(tmp_path: Path, sequence: Any) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        await bench.q.sendBatch(sequence([{"body": "a"}, {"body": 1}]))
        assert await bench.q.metrics() == metrics(2, 4, NOW_MS)
        bench.store.close()

    run(work())


def test_the_deprecated_delivery_delay_has_no_effect(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, QueueProducerSpec("SLOW", "q", 60))
        await bench.producer("SLOW").send("x")
        assert (await bench.q.metrics())["backlogCount"] == 1
        bench.store.close()

    run(work())


def test_a_send_is_committed_before_it_resolves_and_then_others_are_told(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        rung: list[tuple[str, str]] = []
        bench.store.doorbell = lambda kind, resource: rung.append((kind, resource))
        sending = bench.q.send("x")
        committed = sending.send(None)
        assert (committed.done(), rung) == (False, [])
        await bench.clock.settle(1)
        assert committed.done()
        with pytest.raises(StopIteration):
            sending.send(None)
        assert rung == [("queues", "q")]
        bench.store.close()

    run(work())
