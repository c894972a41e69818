"""A process that ends in the middle of a rollback, and the next one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.errors import JsError
from tests.bindings.workflows.life import Life, returning
from tests.bindings.workflows.machine import Machine


def undoing(machine: Machine, name: str, duration_ms: float = 0) -> dict[str, Any]:
    return {"rollback": machine.step(f"undo {name}", duration_ms=duration_ms)}


@pytest.mark.parametrize("graceful", [False, True])
@pytest.mark.parametrize("killed_after_ms", range(0, 5_000, 250))
def test_it_goes_on_where_it_was(tmp_path: Path, killed_after_ms: int, graceful: bool) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> None:
        await step.do("a", machine.step("a", 1), undoing(machine, "a", 1_000))
        await step.do("b", machine.step("b", 2, duration_ms=1_000), undoing(machine, "b", 1_000))
        await step.do("c", machine.step("c", 3), undoing(machine, "c", 1_000))
        raise JsError("no", "RangeError")

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(killed_after_ms)

    async def second(life: Life) -> None:
        await life.advance(20_000)
        shown = await life.status("i")
        assert (shown["status"], shown["error"]) == ("errored", {"message": "no", "name": "RangeError"})
        assert shown["rollback"] == {"outcome": "complete", "error": None}
        at = killed_after_ms // 1_000
        again = {0: "b", 1: "undo c", 2: "undo b", 3: "undo a"}.get(at)
        assert machine.ran == {
            name: 2 if name == again else 1 for name in ("a", "b", "c", "undo a", "undo b", "undo c")
        }

    machine.live(body, first, graceful=graceful)
    machine.live(body, second)


@pytest.mark.parametrize("turns", range(60))
def test_killed_at_any_turn_of_the_loop(tmp_path: Path, turns: int) -> None:
    """Each rollback that is on disk as done was made once, and is not made again."""
    machine = Machine(tmp_path)
    names = ["a", "b", "c"]

    async def body(event: Any, step: Any) -> None:
        for name in names:
            await step.do(name, machine.step(name), undoing(machine, name))
        raise JsError("no")

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.clock.settle(turns)

    done: list[str] = []

    async def second(life: Life) -> None:
        journal = life.resources._own[0]._journal
        done.extend(
            name for (name,) in journal._db.read("SELECT name FROM steps WHERE kind = 'rollback' AND state = 'done'")
        )
        before = dict(machine.ran)
        await life.advance(60_000)
        assert (await life.status("i"))["rollback"]["outcome"] == "complete"
        for label in done:
            assert machine.ran[f"undo {label[0]}"] == before[f"undo {label[0]}"] == 1
        assert {f"undo {name}" for name in names} <= machine.ran.keys()

    machine.live(body, first)
    machine.live(body, second)


def test_it_is_ordered_in_one_process_and_done_in_the_next(tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    async def body(event: Any, step: Any) -> None:
        await step.do("a", machine.step("a", 1), undoing(machine, "a"))
        await step.sleep("long", "1 day")
        await step.do("b", machine.step("b", 1), undoing(machine, "b"))

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.settle()
        await life.resources.disown()
        await (await life.flow.get("i")).terminate({"rollback": True})
        assert await life.outcome() == ("rollingBack", None)

    async def second(life: Life) -> None:
        await life.settle()
        assert await life.outcome() == ("terminated", None)
        assert machine.ran == {"a": 1, "undo a": 1}

    machine.live(body, first)
    machine.live(body, second)


def test_a_rollback_that_the_code_has_no_more_is_missing(tmp_path: Path) -> None:
    """The chain stops there."""
    machine = Machine(tmp_path)
    renamed: list[str] = []

    async def body(event: Any, step: Any) -> None:
        await step.do("a", machine.step("a", 1), undoing(machine, "a"))
        await step.do(*(renamed or ["b"]), machine.step("b", 1), undoing(machine, "b"))
        await step.do("c", returning(1), undoing(machine, "c", 10_000))
        raise JsError("no")

    async def first(life: Life) -> None:
        await life.flow.create({"id": "i"})
        await life.advance(5_000)
        renamed.append("B")

    async def second(life: Life) -> None:
        await life.advance(60_000)
        shown = await life.status("i")
        assert (shown["status"], shown["rollback"]) == (
            "errored",
            {
                "outcome": "failed",
                "error": {"name": "RollbackMissing", "message": "Rollback function not available in registry"},
            },
        )
        assert machine.ran == {"a": 1, "b": 1, "undo c": 1}

    machine.live(body, first)
    machine.live(body, second)
