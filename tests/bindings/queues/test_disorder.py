"""Duplicates and disorder on purpose: what comes again, in which order, and that nothing is lost by it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from tests.bindings.queues.bench import QueueBench, consumer
from tests.support import run

HOUR_MS = 3_600_000


def test_each_message_comes_twice_at_a_rate_of_1_and_no_more(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0), queue_duplicates=1)
        seen: list[tuple[str, int, float]] = []

        def handler(batch: Any) -> None:
            for message in batch.messages:
                message.ack()
                seen.append((message.id, message.attempts, message.timestamp.ms))

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send("a", "b")
        assert len(seen) == 2
        await bench.clock.advance(30_000)
        first = seen[:2]
        assert sorted(seen[2:]) == sorted((message_id, 2, sent_ms) for message_id, _, sent_ms in first)
        await bench.clock.advance(HOUR_MS)
        assert len(seen) == 4
        await bench.close()

    run(work())


def test_a_share_of_the_messages_comes_twice_the_same_one_with_the_same_seed(tmp_path: Path) -> None:
    async def work(root: Path) -> list[int]:
        bench = QueueBench(root, consumer(max_batch_size=100), queue_duplicates=0.1)
        await bench.resources.own()
        await bench.q.sendBatch([{"body": body} for body in range(100)])
        await bench.clock.advance(HOUR_MS)
        counts = Counter(body for _, bodies, _ in bench.worker.batches for body in bodies)
        assert (sorted(counts), set(counts.values())) == (list(range(100)), {1, 2})
        await bench.close()
        return [body for body, count in counts.items() if count == 2]

    first, second = run(work(tmp_path / "1")), run(work(tmp_path / "2"))
    assert first == second
    assert first == [35, 40, 52, 75, 97]  # of this seed


def test_a_duplicate_outlives_its_process(tmp_path: Path) -> None:
    async def work(*, first: bool) -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0), queue_duplicates=1 if first else 0)
        await bench.resources.own()
        if first:
            await bench.send("a")
            await bench.die()
            return
        await bench.clock.advance(30_000)
        assert bench.worker.batches == [("q", ["a"], 2)]
        await bench.close()

    run(work(first=True))
    run(work(first=False))


def test_a_duplicate_that_fails_is_a_failed_attempt(tmp_path: Path) -> None:
    async def work() -> None:
        dead = consumer(queue="dlq", max_batch_timeout=0)
        specs = consumer(max_batch_timeout=0, max_retries=0, dead_letter_queue="dlq"), dead
        bench = QueueBench(tmp_path, *specs, queue_duplicates=1)

        def handler(batch: Any) -> None:
            if batch.queue == "q" and batch.messages[0].attempts == 2:
                raise JsError("not again")

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send("a")
        await bench.clock.advance(HOUR_MS)
        assert bench.worker.batches == [("q", ["a"], 1), ("q", ["a"], 2), ("dlq", ["a"], 1), ("dlq", ["a"], 2)]
        await bench.close()

    run(work())


def test_messages_are_shuffled_across_batches_and_none_is_lost(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=5), queue_shuffle=True)
        await bench.q.sendBatch([{"body": body} for body in range(100)])
        await bench.resources.own()
        await bench.clock.settle(500)
        bodies = [body for _, bodies, _ in bench.worker.batches for body in bodies]
        assert sorted(bodies) == list(range(100))
        assert bodies[:5] == [43, 48, 3, 26, 24]  # of this seed: from the next 10 batches
        assert [len(bodies) for _, bodies, _ in bench.worker.batches] == [5] * 20
        assert bench.resources.backlog("q").stats() == (0, 0, 0)
        await bench.close()

    run(work())


def test_without_the_modes_all_comes_once_and_in_order(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=5))
        await bench.q.sendBatch([{"body": body} for body in range(100)])
        await bench.resources.own()
        await bench.clock.settle(500)
        await bench.clock.advance(HOUR_MS)
        assert [body for _, bodies, _ in bench.worker.batches for body in bodies] == list(range(100))
        await bench.close()

    run(work())
