"""How long an instance is kept after its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from tests.bindings.workflows.life import Life, thrown
from tests.bindings.workflows.machine import Machine
from tests.support import run

DAY_MS = 86_400_000
NOT_FOUND = ("Error", "instance.not_found")


async def body(event: Any, step: Any) -> Any:
    match event["payload"]:
        case "fail":
            raise JsError("no")
        case "sleep":
            await step.sleep("long", "100 days")
    return "done"


async def ended(root: Path, what: str, *, retention: Any = None, **spec: Any) -> Life:
    """A life in which instance "i" has come to an end of kind `what` right now."""
    life = await Life.owning(root, body, **spec)
    options = {"id": "i", "params": what} | ({} if retention is None else {"retention": retention})
    await life.flow.create(options)
    await life.settle()
    if what == "sleep":
        await (await life.flow.get("i")).terminate()
        await life.settle()
    return life


@pytest.mark.parametrize(
    ("what", "status", "spec", "retention", "kept_ms"),
    [
        ("end", "complete", {}, None, 7 * DAY_MS),
        ("fail", "errored", {}, None, 7 * DAY_MS),
        ("sleep", "terminated", {}, None, 7 * DAY_MS),
        ("end", "complete", {"success_retention_ms": 1_000}, None, 1_000),
        ("sleep", "terminated", {"success_retention_ms": 1_000}, None, 1_000),
        ("fail", "errored", {"success_retention_ms": 1_000}, None, 7 * DAY_MS),
        ("fail", "errored", {"error_retention_ms": 2_000}, None, 2_000),
        ("end", "complete", {"success_retention_ms": 1_000}, {"successRetention": "3 days"}, 3 * DAY_MS),
        ("end", "complete", {"success_retention_ms": 1_000}, {"errorRetention": "3 days"}, 1_000),
        ("end", "complete", {}, {"successRetention": 500}, 500),
        ("fail", "errored", {}, {"errorRetention": "1 minute"}, 60_000),
    ],
)
def test_it_is_deleted_then(
    tmp_path: Path, what: str, status: str, spec: dict[str, Any], retention: Any, kept_ms: float
) -> None:
    async def work() -> None:
        life = await ended(tmp_path, what, retention=retention, **spec)
        await life.advance(kept_ms - 1)
        assert (await life.outcome())[0] == status
        await life.advance(1)
        assert await thrown(life.status("i")) == NOT_FOUND
        [tables] = life.resources._own[0]._journal._db.read("SELECT (SELECT count(*) FROM steps), count(*) FROM events")
        assert tables == (0, 0)
        await life.end()

    run(work())


def test_not_while_it_lives(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body, success_retention_ms=1_000)
        await life.flow.create({"id": "i", "params": "sleep"})
        await life.settle()
        await life.advance(50 * DAY_MS)
        assert (await life.outcome())[0] == "waiting"
        await life.advance(50 * DAY_MS)
        assert await life.outcome() == ("complete", "done")
        await life.end()

    run(work())


def test_a_restart_begins_it_anew_and_keeps_what_was_asked_for(tmp_path: Path) -> None:
    async def work() -> None:
        life = await ended(tmp_path, "end", retention={"successRetention": "1 day"})
        await life.advance(DAY_MS - 1)
        await (await life.flow.get("i")).restart()
        await life.settle()
        await life.advance(DAY_MS - 1)
        assert await life.outcome() == ("complete", "done")
        await life.advance(1)
        assert await thrown(life.status("i")) == NOT_FOUND
        await life.end()

    run(work())


def test_each_of_a_batch_has_its_own(tmp_path: Path) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body)
        short, long = {"successRetention": 1_000}, {"successRetention": 2_000}
        await life.flow.createBatch([{"id": "a", "retention": short}, {"id": "b", "retention": long}])
        made = await life.flow.createBatch({"count": 2, "retention": short})
        await life.settle()
        await life.advance(1_000)
        assert await thrown(life.status("a")) == NOT_FOUND
        assert await thrown(life.status(made["created"][0].id)) == NOT_FOUND
        assert await life.outcome("b") == ("complete", "done")
        await life.end()

    run(work())


@pytest.mark.parametrize("count", [1, 250])
def test_what_expired_while_nothing_ran_goes_at_the_start(tmp_path: Path, count: int) -> None:
    machine = Machine(tmp_path)

    async def first(life: Life) -> None:
        for start in range(0, count, 50):
            await life.flow.createBatch([{"id": f"i{n}"} for n in range(start, min(start + 50, count))])
        for _ in range(5):
            await life.settle()

    async def second(life: Life) -> None:
        await life.advance(0)
        assert life.resources._own[0]._journal._db.read("SELECT count(*) FROM instances") == [(0,)]

    machine.live(body, first)
    machine.now_ms += 7 * DAY_MS
    machine.live(body, second)


def test_its_entry_of_the_clock_is_no_work(tmp_path: Path) -> None:
    async def work() -> None:
        life = await ended(tmp_path, "end")
        assert life.clock.next_ms() == life.clock.start_ms + 7 * DAY_MS
        assert life.clock.next_work_ms() is None
        await life.end()

    run(work())


BAD_DURATION = (
    "Duration must be a number or a string in format '{{number}} {{unit}}' where unit is second(s), minute(s), etc."
)


@pytest.mark.parametrize(
    "given",
    [
        *("3 days", 5, []),
        *({"successRetention": value} for value in (0, -1, "x", True, {})),
        *({"errorRetention": value} for value in (0, -1, "x", True, {})),
    ],
)
@pytest.mark.parametrize("call", ["create", "createBatch"])
def test_what_is_none(tmp_path: Path, given: Any, call: str) -> None:
    async def work() -> None:
        life = await Life.owning(tmp_path, body)
        options = {"id": "i", "retention": given}
        calls: dict[str, Callable[[], Any]] = {
            "create": lambda: life.flow.create(options),
            "createBatch": lambda: life.flow.createBatch([options]),
        }
        what = BAD_DURATION if isinstance(given, dict) else "Provided argument is invalid"
        assert await thrown(calls[call]()) == ("Error", f"WorkflowError: (body) {what}")
        assert await thrown(life.status("i")) == NOT_FOUND
        await life.end()

    run(work())
