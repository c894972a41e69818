"""The session runs a Worker beside whatever loop the test has, and jumps over time when all is idle."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flarebed.emulator.config.load import load
from flarebed.emulator.testing.session import START_MS, Session, StuckError
from tests.served import ROOT

DAY_MS = 86_400_000


def opened(state: Path, fixture: str = "polling") -> Session:
    config = load(None, cwd=ROOT / "fixtures" / fixture, env="", environ={})
    return Session(config, state, lambda level, text: None)


def test_thirty_days_pass_at_once(tmp_path: Path) -> None:
    session = opened(tmp_path)
    session.run(session.clock.sleep(30 * DAY_MS))
    assert session.clock.now_ms() == START_MS + 30 * DAY_MS
    session.close()


def test_it_runs_beside_a_running_loop(tmp_path: Path) -> None:
    async def test() -> float:
        outer, task = asyncio.get_running_loop(), asyncio.current_task()
        session = opened(tmp_path)
        session.advance(DAY_MS)
        session.close()
        assert (asyncio.get_running_loop(), asyncio.current_task()) == (outer, task)
        return session.clock.now_ms()

    assert asyncio.run(test()) == START_MS + DAY_MS


def test_what_can_never_come_is_an_error(tmp_path: Path) -> None:
    session = opened(tmp_path)

    async def wait() -> None:
        await session.loop.create_future()

    with pytest.raises(StuckError):
        session.run(wait())
    session.close()


def test_a_thread_is_waited_for(tmp_path: Path) -> None:
    session = opened(tmp_path)

    async def in_a_thread() -> str:
        with session.clock.operation_outside():
            return await asyncio.to_thread(lambda: "done")

    assert session.run(in_a_thread()) == "done"
    assert session.clock.now_ms() == START_MS
    session.close()
