"""Many messages at once: what waits costs no memory and no timer, and what is due together stops nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flarebed.bindings.queues import backlog
from tests.bindings.queues.bench import QueueBench, consumer
from tests.support import run

COUNT = 5_000


async def sent(bench: QueueBench, **options: Any) -> None:
    for start in range(0, COUNT, 100):
        await bench.q.sendBatch([{"body": body} for body in range(start, start + 100)], options)


def test_delayed_messages_have_one_timer_and_appear_by_and_by(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=100, max_batch_timeout=1))
        await bench.resources.own()
        await sent(bench, delaySeconds=60)
        assert len([timer for *_, timer in bench.clock._heap if not timer.cancelled]) == 1
        callbacks: list[int] = []
        bench.worker.handler = lambda batch: callbacks.append(len(bench.clock.loop._ready))  # type: ignore[attr-defined]
        bench.clock.move_to(bench.clock.now_ms() + 60_000)
        ((delayed,),) = bench.resources.backlog("q")._database.read("SELECT count(*) FROM delayed")
        assert delayed == COUNT - backlog.APPEARING_AT_ONCE
        await bench.clock.settle(2000)
        bodies = [body for _, bodies, _ in bench.worker.batches for body in bodies]
        assert bodies == list(range(COUNT))
        assert len(callbacks) == COUNT / 100
        assert max(callbacks) <= 8  # one turn is to come, however many batches have ended
        assert bench.resources.backlog("q").stats() == (0, 0, 0)
        assert (await bench.q.metrics())["backlogBytes"] == 0
        await bench.close()

    run(work())


def test_a_turn_reads_no_more_of_the_delayed_messages_the_more_there_are(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer())
        queue = bench.resources.backlog("q")
        plans = [
            row[3]
            for sql in (backlog._LOOK, backlog._RETRIES)
            for row in queue._database.read(f"EXPLAIN QUERY PLAN {sql}")
        ]
        assert [plan for plan in plans if "delayed" in plan] == [
            "SEARCH delayed USING COVERING INDEX appearing",
            "SEARCH delayed USING COVERING INDEX retried (attempts>?)",
        ]
        await bench.close()

    run(work())
