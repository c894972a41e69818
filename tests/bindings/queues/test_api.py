"""A queue from outside of a Worker: counts, peeks, pauses, purges and what goes back from the dead letters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from flarebed.bindings.queues import api
from flarebed.bindings.queues.api import QueueApi, State
from tests.bindings.queues.bench import QueueBench, consumer, error_of
from tests.support import run

RUN = consumer(max_batch_size=2, max_batch_timeout=0, max_retries=1, dead_letter_queue="dlq")


def bodies(queue: QueueApi, state: State, most: int = 10) -> list[bytes]:
    return [peeked.message.body for peeked in queue.peek(state, most)]


def test_what_is_ready_delayed_and_in_flight(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, RUN)
        bench.worker.handler = lambda batch: bench.clock.sleep(1000)
        queue = QueueApi("q", bench.around)
        await bench.resources.own()
        await bench.q.send("later", {"delaySeconds": 9})
        await bench.send("a", "b", "c")
        assert bodies(queue, "in flight") == [b'"a"']
        assert bodies(queue, "ready") == [b'"b"', b'"c"']
        assert bodies(queue, "ready", 1) == [b'"b"']
        assert bodies(queue, "delayed") == [b'"later"']
        assert [(peeked.attempts, peeked.visible_ms) for peeked in queue.peek("delayed", 1)] == [
            (0, bench.clock.now_ms() + 9000)
        ]
        assert [peeked.attempts for state in ("ready", "in flight") for peeked in queue.peek(state, 1)] == [0, 1]
        counts = queue.counts()
        assert (counts.ready, counts.delayed, counts.in_flight, counts.paused) == (2, 1, 1, False)
        assert counts.metrics == (2, 6, bench.clock.now_ms())
        await bench.clock.advance(20_000)
        assert [queue.peek(state, 1) for state in ("ready", "delayed", "in flight")] == [[], [], []]
        await bench.close()

    run(work())


def test_what_is_due_is_ready_though_nobody_delivers_it(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        queue = QueueApi("q", bench.around)
        await bench.q.send("later", {"delaySeconds": 9})
        await bench.clock.advance(9000)
        assert (bodies(queue, "ready"), bodies(queue, "delayed")) == ([b'"later"'], [])
        await bench.close()

    run(work())


def test_a_paused_queue_takes_messages_and_delivers_none(tmp_path: Path) -> None:
    async def work(*, first: bool) -> None:
        bench = QueueBench(tmp_path, RUN)
        queue = QueueApi("q", bench.around)
        await bench.resources.own()
        if first:
            bench.worker.handler = lambda batch: bench.clock.sleep(1000)
            await bench.send("a")
            await bench.send("b")
            await queue.set_paused(True)
            bench.resources.ring("q")
            await bench.clock.advance(60_000)
            assert (bench.worker.batches, bench.logged) == (
                [("q", ["a"], 1)],
                [
                    ("warn", 'Queue "q" is paused: `flarebed queues resume q` lets it deliver.'),
                    ("info", "QUEUE q 1/1 (1000ms)"),
                ],
            )
            assert bench.clock.next_ms() is None
        else:
            await bench.send("c")
            await bench.clock.advance(60_000)
            assert bench.worker.batches == []
            assert bench.said("warn") == ['Queue "q" is paused: `flarebed queues resume q` lets it deliver.']
            await queue.set_paused(False)
            bench.resources.ring("q")
            await bench.clock.settle()
            assert bench.worker.batches == [("q", ["b", "c"], 1)]
            assert bench.said("info") == ['Queue "q" delivers again.', "QUEUE q 2/2 (0ms)"]
        await bench.close()

    run(work(first=True))
    run(work(first=False))


def test_a_purge_leaves_what_is_in_flight(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, RUN)
        queue = QueueApi("q", bench.around)
        bench.worker.handler = lambda batch: bench.clock.sleep(1000)
        await bench.resources.own()
        await bench.q.send("later", {"delaySeconds": 9})
        await bench.send("a", "b", "c")
        await queue.purge()
        assert await bench.q.metrics() == (await QueueBench(tmp_path / "new").q.metrics())
        await bench.send("d")
        await bench.clock.advance(60_000)
        assert [bodies for _, bodies, _ in bench.worker.batches] == [["a"], ["d"]]
        assert bench.resources.backlog("q").stats() == (0, 0, 0)
        await bench.close()

    run(work())


def test_dead_letters_go_back_as_they_were_with_their_attempts_anew(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, RUN)
        queue, dead = QueueApi("q", bench.around), QueueApi("dlq", bench.around)
        seen: list[tuple[Any, ...]] = []
        failing = True

        def handler(batch: Any) -> None:
            seen.extend((message.id, message.body, message.timestamp, message.attempts) for message in batch.messages)
            if failing:
                raise JsError("boom")

        bench.worker.handler = handler
        await bench.resources.own()
        await bench.send("a", "b", "c")
        await bench.clock.advance(60_000)
        assert dead.counts().ready == 3
        firsts = sorted(each for each in seen if each[3] == 1)
        failing, seen[:] = False, []
        assert await dead.redrive(queue, 2) == 2
        assert (dead.counts().ready, dead.counts().metrics.messages) == (1, 1)
        bench.resources.ring("q")
        await bench.clock.settle()
        assert await dead.redrive(queue, 10) == 1
        bench.resources.ring("q")
        await bench.clock.settle()
        assert sorted(seen) == firsts
        assert (dead.counts().metrics, bench.resources.backlog("dlq").stats()) == ((0, 0, None), (0, 0, 0))
        await bench.close()

    run(work())


def test_many_dead_letters_go_back_part_by_part_and_the_delayed_ones_too(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        dead, target = QueueApi("q", bench.around), QueueApi("other", bench.around)
        await bench.q.sendBatch([{"body": body} for body in range(100)])
        await bench.q.sendBatch([{"body": body, "delaySeconds": 60} for body in range(100, 200)])
        await bench.send(*range(200, 205))
        assert await dead.redrive(target, 1000) == 205
        order = [int(body) for body in bodies(target, "ready", 1000)]
        assert order == [*range(100), *range(200, 205), *range(100, 200)]
        assert dead.counts().metrics == (0, 0, None)
        await bench.close()

    run(work())


def test_a_move_that_ends_in_the_middle_loses_nothing_and_goes_on_when_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        dead, target = QueueApi("q", bench.around), QueueApi("other", bench.around)
        await bench.send("a", "b")
        monkeypatch.setattr(api, "_TAKE", "SELECT raise_here(?, ?)")
        with pytest.raises(Exception, match="no such function: raise_here"):
            await dead.redrive(target, 10)
        assert bodies(dead, "ready") == bodies(target, "ready") == [b'"a"', b'"b"']
        monkeypatch.undo()
        assert await dead.redrive(target, 10) == 2
        assert (bodies(dead, "ready"), bodies(target, "ready")) == ([], [b'"a"', b'"b"'])
        await bench.send("c", "d")
        monkeypatch.setattr(api, "MOVED_AT_ONCE", 1)
        target._database.connection.set_commit_hook(lambda: True)
        with pytest.raises(Exception, match="constraint failed"):
            await dead.redrive(target, 10)
        target._database.connection.set_commit_hook(None)
        assert (bodies(dead, "ready"), len(bodies(target, "ready"))) == ([b'"c"', b'"d"'], 2)
        await bench.close()

    run(work())


def test_a_message_that_has_just_died_is_not_taken_for_one_that_is_back(tmp_path: Path) -> None:
    """It is among the dead letters, while its last delivery has not ended on disk."""

    async def work() -> None:
        bench = QueueBench(tmp_path)
        backlog = bench.resources.backlog("q")
        dead, target = QueueApi("dead", bench.around), QueueApi("q", bench.around)
        await bench.send("a")
        lease = backlog.lease(1)
        bench.resources.backlog("dead").take_over(lease.messages)
        assert await dead.redrive(target, 10) == 1
        backlog.settle(lease, [])
        assert (bodies(dead, "ready"), bodies(target, "ready")) == ([], [b'"a"'])
        await bench.close()

    run(work())


def test_sending_rings_and_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)
        queue = QueueApi("q", bench.around)
        rung: list[tuple[str, str]] = []
        bench.store.doorbell = lambda kind, resource: rung.append((kind, resource))
        await queue.send("text", "text", 0)
        await queue.send({"a": 1}, "json", 60)
        assert (bodies(queue, "ready"), bodies(queue, "delayed")) == ([b"text"], [b'{"a":1}'])
        assert rung == [("queues", "q")] * 2
        assert await error_of(queue.send("x" * 128_001, "text", 0)) == (
            "Error: Queue send failed: message length of 128001 bytes exceeds limit of 128000"
        )
        await bench.close()

    run(work())
