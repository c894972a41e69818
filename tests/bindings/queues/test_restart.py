"""What another process finds: after a clean end, after a crash, and under load."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.bindings.queues.bench import QueueBench, consumer
from tests.support import run


def test_nothing_is_lost_and_nothing_acknowledged_comes_again(tmp_path: Path) -> None:
    async def work(*, first: bool) -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=2, max_batch_timeout=60))
        await bench.resources.own()
        if first:
            await bench.q.send("late", {"delaySeconds": 30})
            await bench.send("acked 1", "acked 2", "waits")
            assert bench.worker.batches == [("q", ["acked 1", "acked 2"], 1)]
        else:
            await bench.clock.advance(30_000)
            assert bench.worker.batches == [("q", ["waits", "late"], 1)]
            assert bench.resources.backlog("q").stats() == (0, 0, 0)
        await bench.close()

    run(work(first=True))
    run(work(first=False))


def test_what_a_dead_process_had_in_delivery_is_a_failed_attempt(tmp_path: Path) -> None:
    async def work(*, first: bool) -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=2, max_batch_timeout=1, retry_delay=10))
        if first:
            bench.worker.handler = lambda batch: bench.clock.sleep(1000)
            await bench.resources.own()
            await bench.send(1, 2, 3)
            assert bench.resources.backlog("q").stats() == (1, 0, 2)
            await bench.die()
            return
        await bench.resources.own()
        assert bench.resources.backlog("q").stats() == (1, 2, 0)
        await bench.clock.advance(1000)
        assert bench.worker.batches == [("q", [3], 1)]
        await bench.clock.advance(9000)
        assert bench.worker.batches[1:] == [("q", [1, 2], 2)]
        assert [text.split('"')[0] for text in bench.said("debug")] == ["Retrying message "] * 2
        await bench.close()

    run(work(first=True))
    run(work(first=False))


def test_a_store_that_fails_is_asked_again_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        backlog = bench.resources.backlog("q")
        committed, refused = backlog.committed, 0

        def full() -> Any:
            nonlocal refused
            refused += 1
            failed = bench.clock.loop.create_future()
            failed.set_exception(OSError("database or disk is full"))
            return failed

        await bench.resources.own()
        await bench.q.send("x")
        monkeypatch.setattr(backlog, "committed", full)
        await bench.clock.settle()
        assert (refused, bench.worker.batches) == (1, [])
        assert bench.said("error") == ["Queue q: database or disk is full"]
        monkeypatch.setattr(backlog, "committed", committed)
        await bench.q.send("y")
        await bench.clock.advance(1000)
        assert bench.worker.batches == [("q", ["y"], 1)]
        await bench.close()

    run(work())


def test_a_delivery_that_cannot_begin_is_none(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        backlog = bench.resources.backlog("q")
        commits = itertools.count(1)
        await bench.resources.own()
        backlog._database.connection.set_commit_hook(lambda: next(commits) == 2)  # of what is sent, leased
        await bench.send("x")
        assert (bench.worker.batches, backlog.stats()) == ([], (1, 0, 0))
        await bench.clock.advance(1000)
        assert (bench.worker.batches, backlog.stats()) == ([("q", ["x"], 1)], (0, 0, 0))
        await bench.close()

    run(work())


def test_a_delivery_whose_end_is_refused_is_ended_after_a_pause(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=1, max_batch_timeout=0))
        backlog = bench.resources.backlog("q")
        commits = itertools.count(1)
        await bench.resources.own()
        backlog._database.connection.set_commit_hook(lambda: next(commits) == 3)  # of what is sent, leased, ended
        await bench.send("x")
        assert (bench.worker.batches, backlog.stats()) == ([("q", ["x"], 1)], (0, 0, 1))
        assert bench.said("error", "info") == ["Queue q: constraint failed"]
        await bench.clock.advance(1000)
        assert (bench.worker.batches, backlog.stats()) == ([("q", ["x"], 1)], (0, 0, 0))
        assert bench.said("info") == ["QUEUE q 1/1 (0ms)"]
        await bench.close()

    run(work())


def test_a_dead_letter_that_is_refused_is_moved_after_a_pause(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0, max_retries=0, dead_letter_queue="dlq"))

        def handler(batch: Any) -> None:
            batch.retryAll()

        bench.worker.handler = handler
        dead_letters = bench.resources.backlog("dlq")
        await bench.resources.own()
        dead_letters._database.connection.set_commit_hook(lambda: True)
        await bench.send("x")
        await bench.clock.advance(1000)
        assert bench.said("error", "warn") == ["Queue q: constraint failed"] * 2
        dead_letters._database.connection.set_commit_hook(None)
        await bench.clock.advance(1000)
        assert [bench.resources.backlog(queue).stats() for queue in ("q", "dlq")] == [(0, 0, 0), (1, 0, 0)]
        assert bench.worker.batches == [("q", ["x"], 1)]
        assert len(bench.said("warn")) == 1
        await bench.close()

    run(work())


def test_a_last_attempt_that_died_goes_to_the_dead_letters(tmp_path: Path) -> None:
    async def work(*, first: bool) -> None:
        dead = consumer(queue="dlq", max_batch_timeout=0)
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0, max_retries=0, dead_letter_queue="dlq"), dead)
        if first:
            bench.worker.handler = lambda batch: bench.clock.sleep(1000)
        await bench.resources.own()
        if first:
            await bench.send("x")
            await bench.die()
            return
        await bench.clock.settle()
        assert bench.worker.batches == [("dlq", ["x"], 1)]
        assert bench.resources.backlog("q").stats() == (0, 0, 0)
        await bench.close()

    run(work(first=True))
    run(work(first=False))


def test_the_dead_that_were_moved_before_a_death_are_not_moved_again(tmp_path: Path) -> None:
    async def work(*, first: bool) -> None:
        spec = consumer(max_batch_timeout=0, max_batch_size=2, max_retries=0, dead_letter_queue="dlq")
        bench = QueueBench(tmp_path, spec)

        def handler(batch: Any) -> None:
            batch.retryAll()

        bench.worker.handler = handler
        if first:
            await bench.q.sendBatch([{"body": "x"}, {"body": "y"}])
            await bench.resources.own()
            commits = itertools.count(1)  # of what is leased, ended
            bench.resources.backlog("q")._database.connection.set_commit_hook(lambda: next(commits) == 2)
            await bench.clock.settle()
            assert [bench.resources.backlog(queue).stats() for queue in ("q", "dlq")] == [(0, 0, 2), (2, 0, 0)]
            await bench.die()
            return
        rung: list[tuple[str, str]] = []
        bench.store.doorbell = lambda kind, resource: rung.append((kind, resource))
        await bench.resources.own()
        await bench.clock.settle()
        assert [bench.resources.backlog(queue).stats() for queue in ("q", "dlq")] == [(0, 0, 0), (2, 0, 0)]
        assert (bench.worker.batches, rung) == ([], [("queues", "dlq")])
        await bench.close()

    run(work(first=True))
    run(work(first=False))


def test_a_delivery_that_another_owner_took_over_settles_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        old = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        new = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        old.worker.handler = lambda batch: old.clock.sleep(1000)
        await old.resources.own()
        await old.send("x")
        await new.resources.own()
        await new.clock.settle()
        await old.clock.advance(1000)
        assert (old.worker.batches, new.worker.batches) == ([("q", ["x"], 1)], [("q", ["x"], 2)])
        assert new.resources.backlog("q").stats() == (0, 0, 0)
        await old.close()
        await new.close()

    run(work())


@pytest.mark.parametrize("max_concurrency", [None, 3])
def test_20_000_messages_arrive_once_in_batches(tmp_path: Path, max_concurrency: int | None) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=90, max_batch_timeout=1, max_concurrency=max_concurrency))
        await bench.resources.own()
        failed: set[Any] = set()

        def handler(batch: Any) -> None:
            for message in batch.messages:
                if message.body % 1000 == 0 and message.body not in failed:
                    failed.add(message.body)
                    message.retry({"delaySeconds": message.body % 3000 // 1000})

        bench.worker.handler = handler
        for start in range(0, 20_000, 100):
            await bench.q.sendBatch([{"body": body} for body in range(start, start + 100)])
        await bench.clock.advance(10_000)
        bodies = [body for _, bodies, _ in bench.worker.batches for body in bodies]
        assert sorted(bodies) == sorted([*range(20_000), *range(0, 20_000, 1000)])
        assert max(len(bodies) for _, bodies, _ in bench.worker.batches) == 90
        assert bench.resources.backlog("q").stats() == (0, 0, 0)
        assert (await bench.q.metrics())["backlogBytes"] == 0
        await bench.close()

    run(work())


def test_a_long_backlog_is_read_batch_by_batch(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=100))
        for start in range(0, 20_000, 100):
            await bench.q.sendBatch([{"body": body} for body in range(start, start + 100)])
        in_delivery: list[tuple[int, int, int]] = []
        bench.worker.handler = lambda batch: in_delivery.append(bench.resources.backlog("q").stats())
        await bench.resources.own()
        await bench.clock.settle(2000)
        assert in_delivery == [(ready, 0, 100) for ready in range(19_900, -100, -100)]
        await bench.close()

    run(work())


def test_a_file_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "flarebed" / "queues" / "q.sqlite"
    path.parent.mkdir(parents=True)
    earlier = apsw.Connection(str(path))
    earlier.execute(
        f"""
        CREATE TABLE messages (
            place INTEGER PRIMARY KEY, id TEXT NOT NULL, content_type TEXT NOT NULL, enqueued_ms INTEGER NOT NULL,
            expires_ms INTEGER NOT NULL, attempts INTEGER NOT NULL, body BLOB NOT NULL
        );
        CREATE TABLE line (head INTEGER NOT NULL, tail INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO line VALUES (0, 1, 5);
        INSERT INTO messages VALUES (1, '{"0" * 32}', 'json', 0, {2**53}, 0, CAST('"old"' AS BLOB));
        PRAGMA user_version = 1
        """
    )
    earlier.close()

    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        await bench.resources.own()
        await bench.send("new")
        assert [bodies for _, bodies, _ in bench.worker.batches] == [["old"], ["new"]]
        await bench.close()

    run(work())
