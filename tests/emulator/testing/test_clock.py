"""Time moves when it must, when it is told to, and never when it is frozen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from flarebed.bindings.errors import UserError
from flarebed.emulator.testing import FrozenError, SyncWorker, Worker


async def test_advance(flarebed: Worker) -> None:
    await flarebed.clock.advance("30 days")
    assert flarebed.clock.now() == datetime(2026, 1, 31, tzinfo=UTC)
    await flarebed.clock.advance(timedelta(hours=1))
    await flarebed.clock.advance(500)
    assert flarebed.clock.now() == datetime(2026, 1, 31, 1, 0, 0, 500_000, tzinfo=UTC)
    await flarebed.clock.advance_to("2026-02-02")
    assert flarebed.clock.now() == datetime(2026, 2, 2, tzinfo=UTC)


def test_time_does_not_go_back(flarebed_sync: SyncWorker) -> None:
    with pytest.raises(ValueError, match="2025-01-01 is in the past: it is 2026-01-01T00:00:00"):
        flarebed_sync.clock.advance_to("2025-01-01")


@pytest.mark.parametrize(
    ("duration", "seconds"), [("61 s", 61), ("2m", 120), ("1 h", 3600), ("500ms", 0.5), (250, 0.25)]
)
def test_durations_with_units(flarebed_sync: SyncWorker, duration: str | int, seconds: float) -> None:
    start_ms = flarebed_sync.clock.now_ms()
    flarebed_sync.clock.advance(duration)
    assert flarebed_sync.clock.now_ms() - start_ms == seconds * 1000


@pytest.mark.parametrize("duration", ["soon", "5", "5 moons", -1, timedelta(-1), float("nan")])
def test_no_durations(flarebed_sync: SyncWorker, duration: str) -> None:
    with pytest.raises(UserError, match="duration"):
        flarebed_sync.clock.advance(duration)


@pytest.mark.flarebed(start="2030-06-01T12:00:00+02:00")
def test_the_start(flarebed_sync: SyncWorker) -> None:
    assert flarebed_sync.clock.now() == datetime(2030, 6, 1, 10, tzinfo=UTC)


def test_a_frozen_clock_says_what_waits_and_until_when(flarebed_sync: SyncWorker) -> None:
    with (
        flarebed_sync.clock.freeze(),
        pytest.raises(
            FrozenError,
            match=r"The answer to GET http://localhost:8787/sleep\?5 needs time to pass, and the clock is frozen at "
            r"2026-01-01T00:00:00.000Z: nothing happens before 2026-01-01T00:00:05.000Z, 5 s from now",
        ),
    ):
        flarebed_sync.fetch("/sleep?5")
    assert flarebed_sync.fetch("/sleep?5").text == "slept"


def test_a_frozen_clock_can_be_moved(flarebed_sync: SyncWorker) -> None:
    flarebed_sync.clock.freeze()
    flarebed_sync.clock.advance("1 minute")
    assert flarebed_sync.fetch("/").text == "red"
    assert flarebed_sync.clock.now() == datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
