"""Commits that fail, as on a full disk: a sender is told, what was acknowledged stays, the consumer goes on later."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from flarebed.bindings.queues.backlog import Backlog
from tests.bindings.queues.bench import PLAIN_ERRORS, QueueBench, consumer, error_of
from tests.support import run

BATCH = [{"body": 1}, {"body": 2}]


class Disk:
    """`full`: commits to these queues fail."""

    def __init__(self, *queues: Backlog) -> None:
        self.full = False
        for queue in queues:
            queue._database.connection.set_commit_hook(lambda: self.full)


@pytest.mark.parametrize(
    ("flags", "texts"),
    [
        (PLAIN_ERRORS, ["Queue send failed: Internal Server Error", "Queue sendBatch failed: Internal Server Error"]),
        (None, ["Unknown Internal Error (15000)"] * 2),
    ],
    ids=["plain", "codes"],
)
def test_a_sender_is_told_and_nothing_of_it_is_stored(
    tmp_path: Path, flags: frozenset[str] | None, texts: list[str]
) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, flags=flags)
        backlog = bench.resources.backlog("q")
        disk = Disk(backlog)
        await bench.send("kept")
        disk.full = True
        told = [await error_of(bench.q.send("lost")), await error_of(bench.q.sendBatch(BATCH))]
        assert told == [f"Error: {text}" for text in texts]
        assert bench.logged == [
            ("warn", 'Queue "q": send() failed: constraint failed'),
            ("warn", 'Queue "q": sendBatch() failed: constraint failed'),
        ]
        disk.full = False
        assert backlog.stats() == (1, 0, 0)
        await bench.send("and this")
        assert backlog.stats() == (2, 0, 0)
        await bench.close()

    run(work())


def test_a_statement_that_fails_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path)

        def full(self: Backlog, outgoing: object) -> None:
            raise apsw.FullError("database or disk is full")

        monkeypatch.setattr(Backlog, "append", full)
        assert await error_of(bench.q.send("lost")) == "Error: Unknown Internal Error (15000)"
        assert bench.logged == [("warn", 'Queue "q": send() failed: database or disk is full')]
        await bench.close()

    run(work())


def test_a_consumer_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_size=1, max_batch_timeout=0))
        backlog = bench.resources.backlog("q")
        disk = Disk(backlog)
        await bench.q.sendBatch(BATCH)
        disk.full = True
        await bench.resources.own()
        await bench.clock.advance(2500)
        assert bench.worker.batches == []
        assert bench.said("error") == ["Queue q: constraint failed"] * 3
        disk.full = False
        await bench.clock.advance(1000)
        assert bench.worker.batches == [("q", [1], 1), ("q", [2], 1)]
        assert backlog.stats() == (0, 0, 0)
        await bench.close()

    run(work())


def test_a_turn_that_cannot_write_is_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        bench = QueueBench(tmp_path, consumer(max_batch_timeout=0))
        backlog = bench.resources.backlog("q")

        def full(most: int) -> None:
            raise apsw.FullError("database or disk is full")

        await bench.resources.own()
        with monkeypatch.context() as patched:
            patched.setattr(backlog, "lease", full)
            await bench.send("a")
            await bench.clock.advance(1500)
        assert bench.said("error") == ["Queue q: database or disk is full"] * 2
        await bench.clock.advance(500)
        assert bench.worker.batches == [("q", ["a"], 1)]
        await bench.close()

    run(work())
