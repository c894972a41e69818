"""The file by which a running `flarebed dev` is found, and the time of a virtual one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.supervisor.running import Announcement, Running, last
from flarebed.emulator.supervisor.virtual_clock import KeptClock, kept_ms
from tests.support import run

ONE = Running("http://localhost:1", "127.0.0.1", 1, 1, False)
TWO = Running("http://localhost:2", "127.0.0.1", 2, 2, True)
START_MS = 1_767_225_600_000.0


def test_who_runs_is_found_and_who_ended_is_known_to_have_ended(tmp_path: Path) -> None:
    assert last(tmp_path) == (None, False)
    one = Announcement(tmp_path, ONE)
    one.make()
    assert last(tmp_path) == (ONE, True)
    one.end()  # as its end does, kill -9 included
    assert last(tmp_path) == (ONE, False)


def test_the_second_follows_when_the_first_has_ended(tmp_path: Path) -> None:
    first, second = Announcement(tmp_path, ONE), Announcement(tmp_path, TWO)
    first.make()
    second.make()
    assert last(tmp_path) == (ONE, True)
    first.end()
    second.make()
    second.make()
    assert last(tmp_path) == (TWO, True)
    second.end()
    assert last(tmp_path) == (TWO, False)


def test_a_file_that_was_half_written_tells_nothing(tmp_path: Path) -> None:
    Announcement(tmp_path, ONE).make()
    (tmp_path / "flarebed" / "dev.json").write_text('{"url": "http')
    assert last(tmp_path) == (None, False)


def test_a_state_that_can_not_be_used_is_not_this_ones_to_tell(tmp_path: Path) -> None:
    (tmp_path / "flarebed").write_text("a file")
    Announcement(tmp_path, ONE).make()
    assert last(tmp_path) == (None, False)


def test_the_time_is_kept_and_never_goes_back(tmp_path: Path) -> None:
    assert kept_ms(tmp_path) is None

    async def check() -> None:
        loop = asyncio.get_running_loop()
        clock = KeptClock(loop, tmp_path, START_MS)
        fired: list[float | None] = []
        clock.call_later(5, lambda: fired.append(kept_ms(tmp_path)))
        clock.move_to(START_MS + 5)
        assert fired == [START_MS + 5]  # on disk before anything happens at that time
        again = KeptClock(loop, tmp_path, START_MS + 1)
        assert again.now_ms() == START_MS + 5
        clock.move_to(START_MS + 1e12)
        again.move_to(0)
        assert again.now_ms() == kept_ms(tmp_path) == START_MS + 1e12
        assert KeptClock(loop, tmp_path).now_ms() == START_MS + 1e12
        assert KeptClock(loop, tmp_path, START_MS + 2e12).now_ms() == START_MS + 2e12

    run(check())


def test_a_time_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "flarebed").mkdir()
    (tmp_path / "flarebed" / "clock").write_text("yesterday")
    with pytest.raises(UserError, match="it holds no time"):
        kept_ms(tmp_path)
