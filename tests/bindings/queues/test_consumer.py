"""When a batch goes and what is in it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.queues.spec import QueueProducerSpec
from flarebed.bindings.values import UNDEFINED, Date
from tests.bindings.queues.bench import QueueBench, consumer
from tests.support import run

NOW_MS = 1_767_225_600_000


def test_a_batch_goes_when_its_first_message_has_waited(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=5))
        await bench.resources.own()
        await bench.send("a")
        await bench.clock.advance(3000)
        await bench.send("b")
        await bench.clock.advance(1999)
        assert bench.worker.batches == []
        await bench.clock.advance(1)
        assert bench.worker.batches == [("q", ["a", "b"], 1)]
        assert bench.said("info") == ["QUEUE q 2/2 (0ms)"]
        await bench.clock.advance(60_000)
        assert len(bench.worker.batches) == 1
        await bench.close()

    run(work())


def test_a_full_batch_goes_at_once_and_the_rest_waits_anew(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=3, max_batch_timeout=5))
        await bench.resources.own()
        await bench.send(1)
        await bench.clock.advance(4000)
        await bench.q.sendBatch([{"body": body} for body in (2, 3, 4, 5, 6, 7)])
        await bench.clock.settle()
        assert bench.worker.batches == [("q", [1, 2, 3], 1), ("q", [4, 5, 6], 1)]
        await bench.clock.advance(4999)
        assert len(bench.worker.batches) == 2
        await bench.clock.advance(1)
        assert bench.worker.batches[2:] == [("q", [7], 1)]
        await bench.close()

    run(work())


@pytest.mark.parametrize(
    ("defaults", "size", "timeout_ms", "attempts"), [("production", 10, 5000, 4), ("wrangler", 5, 1000, 3)]
)
def test_what_the_config_leaves_open_is_as_the_mode_says(
    tmp_path: Path, defaults: str, size: int, timeout_ms: int, attempts: int
) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(), queue_defaults=defaults)
        await bench.resources.own()
        await bench.send(*range(size))
        assert bench.worker.batches == [("q", list(range(size)), 1)]

        def throwing(batch: Any) -> None:
            raise JsError("boom")

        bench.worker.handler = throwing
        await bench.send("x")
        await bench.clock.advance(timeout_ms - 1)
        assert len(bench.worker.batches) == 1
        await bench.clock.advance(60_000)
        assert [attempt for *_, attempt in bench.worker.batches[1:]] == list(range(1, attempts + 1))
        await bench.close()

    run(work())


def test_messages_that_waited_while_a_batch_ran_go_right_after_it(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=2, max_batch_timeout=5))
        bench.worker.handler = lambda batch: bench.clock.sleep(7000)
        await bench.resources.own()
        await bench.send(1, 2)
        await bench.clock.advance(1000)
        await bench.send(3)
        await bench.clock.advance(5999)
        assert len(bench.worker.batches) == 1
        await bench.clock.advance(1)
        assert bench.worker.batches[1:] == [("q", [3], 1)]
        assert bench.said("info") == ["QUEUE q 2/2 (7000ms)"]
        await bench.clock.advance(7000)
        await bench.close()

    run(work())


@pytest.mark.parametrize(("max_concurrency", "running"), [(None, 1), (1, 1), (3, 3), (10, 4)])
def test_as_many_batches_at_once_as_the_config_allows(
    tmp_path: Path, max_concurrency: int | None, running: int
) -> None:
    async def work() -> None:
        settings = {"max_batch_size": 1, "max_concurrency": max_concurrency}
        bench = QueueBench(tmp_path, consumer(**settings))
        bench.worker.handler = lambda batch: bench.clock.sleep(1000)
        await bench.resources.own()
        await bench.send(1, 2, 3, 4)
        await bench.clock.advance(10_000)
        assert bench.worker.most_running == running
        assert sorted(body for _, (body,), _ in bench.worker.batches) == [1, 2, 3, 4]
        await bench.close()

    run(work())


def test_what_the_handler_is_given(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=1))
        batches: list[Any] = []
        bench.worker.handler = batches.append
        await bench.resources.own()
        await bench.send("a")
        await bench.clock.advance(250)
        await bench.send({"b": 1})
        await bench.clock.advance(750)
        (batch,) = batches
        assert type(batch).__name__ == "QueueController"
        names = ["ackAll", "messages", "metadata", "queue", "retryAll"]
        assert [name for name in dir(batch) if not name.startswith("_")] == names
        assert batch.queue == "q"
        expected = {"backlogCount": 0, "backlogBytes": 0, "oldestMessageTimestamp": UNDEFINED}
        assert batch.metadata == {"metrics": expected}
        assert [type(message).__name__ for message in batch.messages] == ["QueueMessage"] * 2
        assert [message.body for message in batch.messages] == ["a", {"b": 1}]
        assert [message.timestamp for message in batch.messages] == [Date(NOW_MS), Date(NOW_MS + 250)]
        assert [message.attempts for message in batch.messages] == [1, 1]
        ids = [message.id for message in batch.messages]
        assert [len(bytes.fromhex(message_id)) for message_id in ids] == [16, 16]
        assert ids[0] != ids[1]
        assert batch.messages[0].ack() is UNDEFINED
        assert batch.messages[1].retry({"delaySeconds": 1}) is UNDEFINED
        assert (batch.ackAll(), batch.retryAll(None)) == (UNDEFINED, UNDEFINED)
        await bench.close()

    run(work())


BAD_OPTIONS: list[tuple[str, str]] = [
    ("retry", "Failed to execute 'retry' on 'QueueMessage': parameter 1 is not of type 'QueueRetryOptions'."),
    ("retryAll", "Failed to execute 'retryAll' on 'QueueController': parameter 1 is not of type 'QueueRetryOptions'."),
]


@pytest.mark.parametrize(("method", "expected"), BAD_OPTIONS, ids=["retry", "retryAll"])
def test_options_of_a_retry_are_an_object(tmp_path: Path, method: str, expected: str) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        thrown: list[str] = []

        def handler(batch: Any) -> None:
            try:
                getattr(batch.messages[0] if method == "retry" else batch, method)(5)
            except JsError as error:
                thrown.append(str(error))

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send(1)
        assert thrown == [f"TypeError: {expected}"]
        assert bench.said("info") == ["QUEUE q 1/1 (0ms)"]
        await bench.close()

    run(work())


def test_contradictions_reach_the_console(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))

        def handler(batch: Any) -> None:
            batch.ackAll()
            batch.retryAll()

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send(1)
        assert bench.logged == [
            (
                "warn",
                "Received a call to retryAll() after ackAll() was already called. "
                "Calling retryAll() after calling ackAll() has no effect.",
            ),
            ("info", "QUEUE q 1/1 (0ms)"),
        ]
        await bench.close()

    run(work())


def test_delayed_messages_come_in_the_order_of_their_time(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=10))
        await bench.resources.own()
        await bench.q.send("3", {"delaySeconds": 3})
        await bench.q.send("1", {"delaySeconds": 1})
        await bench.clock.advance(2000)
        await bench.send("now")
        await bench.clock.advance(9000)
        assert bench.worker.batches == [("q", ["1", "now", "3"], 1)]
        await bench.close()

    run(work())


def test_delayed_messages_that_appear_together_come_in_the_order_of_their_time(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        for body, delay_s in (("3", 3), ("1", 1), ("2", 2), ("also 2", 2)):
            await bench.q.send(body, {"delaySeconds": delay_s})
        await bench.clock.advance(5000)
        await bench.resources.own()
        await bench.clock.settle()
        assert bench.worker.batches == [("q", ["1", "2", "also 2", "3"], 1)]
        await bench.close()

    run(work())


def test_nothing_is_delivered_without_owning_and_a_ring_wakes_the_owner(tmp_path: Path) -> None:
    async def work() -> None:
        owner = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        other = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        rung: list[tuple[str, str]] = []
        other.store.doorbell = lambda kind, resource: rung.append((kind, resource))
        await owner.resources.own()
        await other.send("from outside")
        await owner.clock.advance(60_000)
        assert (owner.worker.batches, other.worker.batches, rung) == ([], [], [("queues", "q")])
        owner.resources.ring("another")
        owner.resources.ring("q")
        await owner.clock.settle()
        assert (owner.worker.batches, other.worker.batches) == ([("q", ["from outside"], 1)], [])
        await owner.close()
        await other.close()

    run(work())


def test_queues_do_not_mix(tmp_path: Path) -> None:
    async def work() -> None:
        specs = (QueueProducerSpec("R", "r"), consumer(max_batch_timeout=0), consumer(queue="r", max_batch_timeout=0))
        bench = QueueBench(tmp_path, *specs)
        await bench.resources.own()
        await bench.producer("R").send("to r")
        await bench.send("to q")
        assert sorted(bench.worker.batches) == [("q", ["to q"], 1), ("r", ["to r"], 1)]
        await bench.close()

    run(work())


def test_a_queue_without_a_consumer_keeps_its_messages_for_four_days(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        await bench.resources.own()
        await bench.send("", "old")
        await bench.clock.advance(1000)
        await bench.send("new")
        await bench.clock.advance(4 * 86_400_000 - 1001)
        assert (await bench.q.metrics())["backlogCount"] == 3
        await bench.clock.advance(1)
        assert await bench.q.metrics() == {
            "backlogCount": 1,
            "backlogBytes": 5,
            "oldestMessageTimestamp": Date(NOW_MS + 1000),
        }
        await bench.clock.advance(1000)
        assert bench.resources.backlog("q").stats() == (0, 0, 0)
        await bench.close()

    run(work())


def test_disown_leaves_no_timer(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=5))
        await bench.resources.own()
        await bench.send("waits")
        assert bench.clock.next_ms() == NOW_MS + 5000
        await bench.resources.disown()
        assert bench.clock.next_ms() is None
        bench.store.close()

    run(work())


def test_disown_waits_for_the_batch_that_runs(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        bench.worker.handler = lambda batch: bench.clock.sleep(29_999)
        await bench.resources.own()
        await bench.send("running")
        disowned = asyncio.ensure_future(bench.resources.disown())
        await bench.send("waiting")
        await bench.clock.advance(29_998)
        assert not disowned.done()
        await bench.clock.advance(1)
        assert disowned.done()
        assert bench.worker.batches == [("q", ["running"], 1)]
        assert bench.said("info") == ["QUEUE q 1/1 (29999ms)"]
        assert bench.resources.backlog("q").stats() == (1, 0, 0)
        assert bench.clock.next_ms() is None
        bench.store.close()

    run(work())


def test_disown_ends_all_consumers_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        specs = (QueueProducerSpec("R", "r"), consumer(max_batch_timeout=0), consumer(queue="r", max_batch_timeout=0))
        bench = QueueBench(tmp_path, *specs)
        bench.worker.handler = lambda batch: bench.clock.sleep(1000)
        await bench.resources.own()
        await bench.send("runs")
        disowned = asyncio.ensure_future(bench.resources.disown())
        await bench.clock.settle()
        await bench.producer("R").send("waits")
        await bench.clock.advance(1000)
        assert disowned.done()
        assert bench.worker.batches == [("q", ["runs"], 1)]
        bench.store.close()

    run(work())


def test_disown_ends_a_batch_that_runs_too_long_as_a_failed_attempt(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        bench.worker.handler = lambda batch: bench.clock.sleep(86_400_000)
        await bench.resources.own()
        await bench.send("long")
        disowned = asyncio.ensure_future(bench.resources.disown())
        await bench.clock.advance(29_999)
        assert not disowned.done()
        await bench.clock.advance(1)
        assert disowned.done()
        assert bench.said("info") == ["QUEUE q 0/1 (30000ms)"]
        bench.worker.handler = lambda batch: None
        await bench.resources.own()
        await bench.clock.settle()
        assert bench.worker.batches == [("q", ["long"], 1), ("q", ["long"], 2)]
        await bench.close()

    run(work())


def test_a_defect_while_delivering_is_a_failed_attempt_and_is_told(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0, max_retries=0))

        def handler(batch: Any) -> None:
            raise KeyError("x")

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send(1)
        assert bench.said("error", "info") == ["Queue q: KeyError: 'x'", "QUEUE q 0/1 (0ms)"]
        await bench.close()

    run(work())
