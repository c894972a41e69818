"""Schedules: instances that the clock creates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.bindings.workflows.life import START_MS, Life
from tests.bindings.workflows.machine import Machine
from tests.support import run

MINUTE_MS = 60_000
HOUR_MS = 3_600_000
HOURLY = "0 * * * *"


async def body(event: Any, step: Any) -> Any:
    return event


def ids(life: Life) -> list[str]:
    return [name for (name,) in life.resources._own[0]._journal._db.read("SELECT id FROM instances ORDER BY key")]


def at(cron: str, *after_start_ms: float) -> list[str]:
    return [f"{cron}-{int(START_MS + after_ms)}" for after_ms in after_start_ms]


def test_an_instance_at_each_instant(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, schedules=(HOURLY,))
        await life.advance(HOUR_MS - 1)
        assert ids(life) == []
        await life.advance(1)
        assert ids(life) == at(HOURLY, HOUR_MS)
        await life.advance(2 * HOUR_MS)
        assert ids(life) == at(HOURLY, HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS)
        await life.end()

    run(work())


def test_what_its_run_gets(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, schedules=(HOURLY,))
        await life.advance(HOUR_MS)
        [name] = ids(life)
        assert await life.outcome(name) == (
            "complete",
            {
                "timestamp": "2026-01-01T01:00:00.000Z",
                "payload": {},
                "instanceId": f"0 * * * *-{int(START_MS + HOUR_MS)}",
                "workflowName": "flow",
                "schedule": {"cron": "0 * * * *", "scheduledTime": int(START_MS + HOUR_MS)},
            },
        )
        instance = await life.flow.get(name)
        await instance.restart()
        await life.settle()
        assert (await life.outcome(name))[1]["schedule"]["cron"] == HOURLY
        await instance.delete()
        assert ids(life) == []
        await life.end()

    run(work())


def test_an_instance_created_otherwise_has_no_schedule(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, schedules=(HOURLY,))
        await life.flow.create({"id": "i"})
        await life.settle()
        assert list((await life.outcome())[1]) == ["timestamp", "payload", "instanceId", "workflowName"]
        await life.end()

    run(work())


def test_several_crons_each_for_itself(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, schedules=(HOURLY, "*/30 * * * *", HOURLY))
        await life.advance(HOUR_MS)
        assert sorted(ids(life)) == [*at("*/30 * * * *", HOUR_MS / 2, HOUR_MS), *at(HOURLY, HOUR_MS)]
        await life.end()

    run(work())


def test_only_the_owner_creates(tmp_path: Path) -> None:
    async def work() -> None:
        life = Life(tmp_path, body, schedules=(HOURLY,))
        await life.advance(HOUR_MS)
        assert life.resources._own[0]._journal._db.read("SELECT id FROM instances") == []
        await life.resources.own()
        await life.resources.disown()
        await life.advance(HOUR_MS)
        assert life.clock.next_ms() is None
        life.bench.store.close()

    run(work())


@pytest.mark.parametrize("graceful", [False, True])
@pytest.mark.parametrize(
    ("ended_ms", "begun_ms", "created"),
    [
        (HOUR_MS - 1, HOUR_MS + 1, [HOUR_MS]),  # a reload at the very instant
        (HOUR_MS, HOUR_MS, [HOUR_MS]),
        (HOUR_MS - 1, HOUR_MS + MINUTE_MS - 1, [HOUR_MS]),
        (HOUR_MS - 1, HOUR_MS + MINUTE_MS, []),  # missed
        (HOUR_MS - 1, 5 * HOUR_MS + 1, [5 * HOUR_MS]),
        (HOUR_MS - 1, 5 * HOUR_MS + 30 * MINUTE_MS, []),
    ],
)
def test_what_was_due_meanwhile(
    tmp_path: Path, graceful: bool, ended_ms: float, begun_ms: float, created: list[float]
) -> None:
    machine = Machine(tmp_path)

    async def first(life: Life) -> None:
        await life.advance(ended_ms)

    async def second(life: Life) -> None:
        await life.settle()
        assert ids(life) == at(HOURLY, *created)
        await life.advance(HOUR_MS)
        assert len(ids(life)) == len(created) + 1

    machine.live(body, first, graceful=graceful, schedules=(HOURLY,))
    machine.now_ms = START_MS + begun_ms
    machine.live(body, second, schedules=(HOURLY,))


def test_not_twice_though_its_instance_is_deleted_and_the_clock_set_back(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def first(life: Life) -> None:
        await life.advance(HOUR_MS)
        [name] = ids(life)
        await (await life.flow.get(name)).delete()

    async def second(life: Life) -> None:
        await life.advance(MINUTE_MS)
        assert ids(life) == []
        await life.advance(HOUR_MS)
        assert ids(life) == at(HOURLY, 2 * HOUR_MS)

    machine.live(body, first, schedules=(HOURLY,))
    machine.now_ms = START_MS + HOUR_MS - 1
    machine.live(body, second, schedules=(HOURLY,))


def test_a_schedule_that_is_new_makes_up_for_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, schedules=(HOURLY,), start_ms=START_MS + 1)
        await life.settle()
        assert ids(life) == []
        await life.end()

    run(work())


def test_its_entries_of_the_clock_are_no_work(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, schedules=(HOURLY,))
        await life.settle()
        assert (life.clock.next_ms(), life.clock.next_work_ms()) == (START_MS + HOUR_MS, None)
        await life.end()

    run(work())


def test_a_day_that_never_comes(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, schedules=("0 0 31 11 *",))
        assert life.clock.next_ms() is None
        await life.end()

    run(work())
