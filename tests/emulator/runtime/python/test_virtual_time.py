"""What time it is for a Worker on a virtual clock, and for everybody else."""

from __future__ import annotations

import asyncio
import datetime
import json
import pickle
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.emulator.runtime.python.harness import Harness
from tests.served import served
from tests.support import run

from flarebed.bindings.clock import RealClock
from flarebed.emulator.config.load import load
from flarebed.emulator.group import Part, build_group
from flarebed.emulator.runtime.python.virtual_time import VirtualTime

START_S = 1_767_225_600
"""2026-01-01T00:00:00Z, where the harness's clock starts."""
UTC = datetime.UTC
Early, EarlyDate = datetime.datetime, datetime.date
"""As a module has them that was loaded before."""


class Later(datetime.datetime):
    """A library's own subclass."""


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def installed() -> Iterator[None]:
    virtual = VirtualTime()
    virtual.install()
    yield
    virtual.remove()


def in_worker(function: Callable[[], Any], after_s: float = 0) -> Any:
    """What Worker code gets, on a clock that has moved."""

    async def work() -> Any:
        await asyncio.sleep(after_s)  # on the Worker's loop, so on the clock
        return function()

    async def scenario() -> Any:
        return await Harness().run(work())

    return run(scenario())


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("time.time()", START_S + 90.5),
        ("time.time_ns()", START_S * 10**9 + 90_500_000_000),
        ("time.gmtime()[:6]", (2026, 1, 1, 0, 1, 30)),
        ("time.localtime()[:6]", (2026, 1, 1, 0, 1, 30)),
        ("time.gmtime(0)[:6]", (1970, 1, 1, 0, 0, 0)),
        ("time.ctime()", "Thu Jan  1 00:01:30 2026"),
        ("time.ctime(0)", "Thu Jan  1 00:00:00 1970"),
        ("time.asctime()", "Thu Jan  1 00:01:30 2026"),
        ("time.asctime(time.gmtime(0))", "Thu Jan  1 00:00:00 1970"),
        ('time.strftime("%H:%M:%S")', "00:01:30"),
        ('time.strftime("%H:%M:%S", time.gmtime(1))', "00:00:01"),
        ("datetime.datetime.now()", datetime.datetime(2026, 1, 1, 0, 1, 30, 500_000)),
        ("datetime.datetime.now(UTC)", datetime.datetime(2026, 1, 1, 0, 1, 30, 500_000, UTC)),
        ("datetime.datetime.now(tz=UTC)", datetime.datetime(2026, 1, 1, 0, 1, 30, 500_000, UTC)),
        ("datetime.datetime.today()", datetime.datetime(2026, 1, 1, 0, 1, 30, 500_000)),
        ("datetime.date.today()", datetime.date(2026, 1, 1)),
        ("Early.now()", datetime.datetime(2026, 1, 1, 0, 1, 30, 500_000)),
        ("EarlyDate.today()", datetime.date(2026, 1, 1)),
        ("(type(Later.now()), Later.now().year)", (Later, 2026)),
    ],
)
def test_worker_code_sees_the_clock(code: str, expected: Any) -> None:
    assert in_worker(lambda: eval(code), after_s=90.5) == expected


@pytest.mark.usefixtures("installed")
def test_utcnow() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert in_worker(datetime.datetime.utcnow, 1.5) == datetime.datetime(2026, 1, 1, 0, 0, 1, 500_000)
    here = [warning.filename for warning in caught if warning.category is DeprecationWarning]
    assert here == ([__file__] if sys.version_info >= (3, 12) else [])


@pytest.mark.usefixtures("installed")
def test_monotonic_clocks_go_on_from_the_machines_by_the_clocks_steps() -> None:
    before_s = time.monotonic()
    seen = in_worker(lambda: [time.monotonic(), time.perf_counter(), time.monotonic_ns(), time.perf_counter_ns()], 3600)
    assert seen[0] == seen[1] == pytest.approx(before_s + 3600, abs=60)
    assert seen[2] == seen[3] == pytest.approx(seen[0] * 1e9, abs=2000)


@pytest.mark.usefixtures("installed")
def test_uuid1_has_the_clocks_time() -> None:
    def ticks() -> list[int]:
        return [uuid.uuid1().time, uuid.uuid1().time, uuid.uuid1(node=7, clock_seq=9).time]

    first = START_S * 10**7 + 0x01B21DD213814000
    assert in_worker(ticks) == [first, first + 1, first + 2]


@pytest.mark.usefixtures("installed")
def test_the_host_keeps_the_machines_time() -> None:
    async def work() -> float:
        await asyncio.sleep(60)  # on the Worker's loop, so on the clock
        return time.time()

    async def scenario() -> None:
        harness = Harness()
        host = asyncio.get_running_loop()
        started_s = host.time()
        answer = harness.start(work())
        await harness.clock.advance(60_000)
        assert await answer == START_S + 60
        assert abs(time.time() - datetime.datetime.now(UTC).timestamp()) < 60
        assert time.time() > START_S + 3600
        assert 0 <= host.time() - started_s < 30
        assert await asyncio.to_thread(time.time) > START_S + 3600

    run(scenario())


@pytest.mark.usefixtures("installed")
def test_a_hosts_timer_that_worker_code_sets_is_a_real_one() -> None:
    async def scenario() -> None:
        harness = Harness()
        host = asyncio.get_running_loop()
        fired = host.create_future()

        async def work() -> None:
            host.call_later(0.001, fired.set_result, None)

        await harness.clock.advance(3_600_000)
        await harness.run(work())
        await asyncio.wait_for(fired, 10)

    run(scenario())


@pytest.mark.usefixtures("installed")
def test_the_types_stay_what_they_are() -> None:
    now = in_worker(datetime.datetime.now)
    assert type(now) is Early is datetime.datetime
    assert pickle.loads(pickle.dumps(now)) == now
    assert datetime.datetime.now.__name__ == "now"


def test_all_is_put_back_when_the_last_user_is_gone() -> None:
    def state() -> list[Any]:
        return [
            time.time,
            time.localtime,
            uuid.uuid1,
            asyncio.base_events.time,
            *(vars(datetime.datetime)[name] for name in ("now", "utcnow")),
            vars(datetime.date)["today"],
        ]

    before = state()
    virtual = VirtualTime()
    virtual.install()
    virtual.install()
    virtual.remove()
    assert in_worker(lambda: datetime.datetime.now().year) == 2026
    assert all(now is not then for now, then in zip(state(), before, strict=True))
    virtual.remove()
    assert all(now is then for now, then in zip(state(), before, strict=True))
    assert abs(in_worker(lambda: datetime.datetime.now().timestamp()) - time.time()) < 60


ENTRY = """
import time
from datetime import datetime
from time import monotonic

from js import Date, performance
from workers import Response, WorkerEntrypoint

LOADED = time.time()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        before = monotonic()
        time.sleep(2)
        return Response.json([
            LOADED, time.time(), datetime.now().isoformat(), monotonic() - before, Date.now(),
            Date.new().toISOString(), performance.now(),
        ])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "entry.py").write_text(ENTRY)
    config = {
        "name": "clock", "main": "entry.py", "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
    }  # fmt: skip
    (tmp_path / "wrangler.json").write_text(json.dumps(config))
    return tmp_path


def test_a_worker_on_a_virtual_clock(project: Path) -> None:
    original = time.time

    async def scenario() -> None:
        async with served(project, project / "state") as worker:
            now_ms = (START_S + 2) * 1000
            iso = "2026-01-01T00:00:02"
            assert (await worker.get("/")).json == [
                START_S, START_S + 2, iso, 2, now_ms, f"{iso}.000Z", now_ms,
            ]  # fmt: skip
            assert time.time is not original
        assert time.time is original

    run(scenario())


def test_on_the_real_clock_nothing_is_replaced(project: Path) -> None:
    original = time.time

    async def scenario() -> None:
        config = load(None, cwd=project, env="", environ={})
        clock = RealClock(asyncio.get_running_loop())
        part = Part(config, lambda _level, _text: None)
        group = await build_group((part,), persist_to=project / "state", clock=clock)
        try:
            assert time.time is original
        finally:
            await group.close()

    run(scenario())
