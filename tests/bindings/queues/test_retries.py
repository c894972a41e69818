"""Failed deliveries: when they come again, how often, and where they end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.queues.spec import QueueProducerSpec
from flarebed.bindings.values import UNDEFINED
from tests.bindings.queues.bench import QueueBench, consumer
from tests.support import run


def throwing(batch: Any) -> None:
    raise JsError("boom")


def retrying(batch: Any) -> None:
    batch.retryAll()


class Times:
    """Writes down when each delivery came, in seconds after the start."""

    def __init__(self, bench: QueueBench, then: Any) -> None:
        self.start_ms = bench.clock.now_ms()
        self.seen: list[tuple[float, int]] = []
        self._bench = bench
        self._then = then

    def __call__(self, batch: Any) -> None:
        self.seen.append(((self._bench.clock.now_ms() - self.start_ms) / 1000, batch.messages[0].attempts))
        self._then(batch)


DELAYS: dict[str, tuple[Any, float, list[float]]] = {
    "the consumer's": (lambda batch: batch.retryAll(), 30, [5, 40, 75]),
    "none": (lambda batch: batch.retryAll(), 0, [5, 10, 15]),
    "the batch's": (lambda batch: batch.retryAll({"delaySeconds": 4}), 30, [5, 14, 23]),
    "the batch's, null": (lambda batch: batch.retryAll({"delaySeconds": None}), 30, [5, 10, 15]),
    "the message's": (lambda batch: batch.messages[0].retry({"delaySeconds": 1}), 30, [5, 11, 17]),
    "the message's, 0": (lambda batch: batch.messages[0].retry({"delaySeconds": 0}), 30, [5, 10, 15]),
    "the message's, below 0": (lambda batch: batch.messages[0].retry({"delaySeconds": -5}), 30, [5, 10, 15]),
    "the message without a delay": (lambda batch: batch.messages[0].retry(), 30, [5, 40, 75]),
    "an exception": (throwing, 30, [5, 40, 75]),
}


@pytest.mark.parametrize(("then", "retry_delay", "times"), DELAYS.values(), ids=list(DELAYS))
def test_a_retry_waits_its_delay_and_then_the_batch_timeout(
    tmp_path: Path, then: Any, retry_delay: float, times: list[float]
) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=5, max_retries=2, retry_delay=retry_delay))
        bench.worker.handler = handler = Times(bench, then)
        await bench.resources.own()
        await bench.send("x")
        await bench.clock.advance(1_000_000)
        assert handler.seen == [(times[0], 1), (times[1], 2), (times[2], 3)]
        await bench.close()

    run(work())


LAST_WORDS: list[tuple[int, str]] = [(0, "after 1 failed attempt"), (2, "after 3 failed attempts")]


@pytest.mark.parametrize(("max_retries", "after"), LAST_WORDS, ids=["no retries", "two retries"])
def test_without_a_dead_letter_queue_a_message_is_dropped(tmp_path: Path, max_retries: int, after: str) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=1, max_retries=max_retries))
        ids: list[str] = []

        def handler(batch: Any) -> None:
            ids.extend(message.id for message in batch.messages)
            throwing(batch)

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send("x")
        await bench.clock.advance(100_000)
        attempts = [attempts for _, _, attempts in bench.worker.batches]
        assert attempts == list(range(1, max_retries + 2))
        assert len(set(ids)) == 1
        assert bench.logged == [
            *[("debug", f'Retrying message "{ids[0]}" on queue "q"...'), ("info", "QUEUE q 0/1 (0ms)")] * max_retries,
            ("warn", f'Dropped message "{ids[0]}" on queue "q" {after}!'),
            ("info", "QUEUE q 0/1 (0ms)"),
        ]
        assert bench.resources.backlog("q").stats() == (0, 0, 0)
        await bench.close()

    run(work())


def test_the_dead_arrive_once_in_their_queue_as_they_were_sent(tmp_path: Path) -> None:
    async def work() -> None:
        dead = consumer(queue="q-dlq", max_batch_timeout=1, max_retries=0)
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=1, max_retries=1, dead_letter_queue="q-dlq"), dead)
        given: list[tuple[str, str, float, int, Any]] = []

        def handler(batch: Any) -> None:
            for message in batch.messages:
                given.append((batch.queue, message.id, message.timestamp.ms, message.attempts, message.body))
                if batch.queue == "q" and message.body != "good":
                    message.retry()

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.q.send("bad", {"contentType": "text"})
        await bench.q.send({"bad": True})
        await bench.send("good")
        await bench.clock.advance(100_000)
        (_, first, sent_ms, _, _), (_, second, _, _, _), (_, good, _, _, _) = given[:3]
        assert given == [
            ("q", first, sent_ms, 1, "bad"),
            ("q", second, sent_ms, 1, {"bad": True}),
            ("q", good, sent_ms, 1, "good"),
            ("q", first, sent_ms, 2, "bad"),
            ("q", second, sent_ms, 2, {"bad": True}),
            ("q-dlq", first, sent_ms, 1, "bad"),
            ("q-dlq", second, sent_ms, 1, {"bad": True}),
        ]
        moving = 'Moving message "{}" on queue "q" to dead letter queue "q-dlq" after 2 failed attempts...'
        assert bench.said("warn", "info") == [
            "QUEUE q 1/3 (0ms)",
            moving.format(first),
            moving.format(second),
            "QUEUE q 0/2 (0ms)",
            "QUEUE q-dlq 2/2 (0ms)",
        ]
        await bench.close()

    run(work())


def test_a_dead_letter_queue_without_a_consumer_keeps_them_four_days_from_then(tmp_path: Path) -> None:
    async def work() -> None:
        settings = consumer(max_batch_timeout=0, max_retries=1, retry_delay=86_400, dead_letter_queue="graves")
        bench = QueueBench(tmp_path, settings, QueueProducerSpec("GRAVES", "graves"))
        rung: list[tuple[str, str]] = []
        bench.store.doorbell = lambda kind, resource: rung.append((kind, resource))
        bench.worker.handler = throwing
        await bench.resources.own()
        await bench.send("x")
        await bench.clock.advance(86_400_000)
        assert rung == [("queues", "graves")]
        await bench.clock.advance(4 * 86_400_000 - 1)
        assert (await bench.producer("GRAVES").metrics())["backlogCount"] == 1
        await bench.clock.advance(1)
        assert (await bench.producer("GRAVES").metrics())["backlogCount"] == 0
        await bench.close()

    run(work())


def test_an_explicit_ack_survives_an_exception(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=1))

        def handler(batch: Any) -> None:
            batch.messages[0].ack()
            bench.worker.handler = lambda batch: None
            throwing(batch)

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send("acked", "b", "c")
        await bench.clock.advance(10_000)
        assert bench.worker.batches == [("q", ["acked", "b", "c"], 1), ("q", ["b", "c"], 2)]
        assert bench.said("info") == ["QUEUE q 1/3 (0ms)", "QUEUE q 2/2 (0ms)"]
        await bench.close()

    run(work())


def test_an_explicit_ack_stands_before_a_retry_of_all(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=1))

        def handler(batch: Any) -> None:
            batch.messages[0].ack()
            batch.retryAll()
            bench.worker.handler = lambda batch: None

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send("acked", "again")
        await bench.clock.advance(10_000)
        assert bench.worker.batches == [("q", ["acked", "again"], 1), ("q", ["again"], 2)]
        await bench.close()

    run(work())


def test_retried_messages_stand_behind_those_that_waited(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=2, max_batch_timeout=1))

        def handler(batch: Any) -> None:
            bench.worker.handler = lambda batch: None
            batch.retryAll()

        bench.worker.handler = handler
        await bench.q.sendBatch([{"body": body} for body in (1, 2, 3)])
        await bench.resources.own()
        await bench.clock.advance(10_000)
        assert bench.worker.batches == [("q", [1, 2], 1), ("q", [3, 1], 1), ("q", [2], 2)]
        assert (await bench.q.metrics())["oldestMessageTimestamp"] is UNDEFINED
        await bench.close()

    run(work())
