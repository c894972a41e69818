"""Rollbacks that `terminate` asks for, and what may be done to an instance while it is rolled back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

from flarebed.bindings.errors import JsError
from tests.bindings.workflows.life import Life, returning, thrown
from tests.bindings.workflows.undone import Undone
from tests.support import run

FOREVER_MS = 3_600_000


def test_terminate_rolls_back_first_if_asked_to(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning("done"), undone.options(JsError("once"), retries={"limit": 1, "delay": 1_000}))
        await step.sleep("long", "1 day")

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        over = life.clock.spawn(instance.terminate({"rollback": True}), "terminate")
        await life.settle()
        assert (await life.outcome(), over.done()) == (("rollingBack", None), False)
        await life.advance(1_000)
        assert over.done()
        shown = await life.status("i")
        assert (shown["status"], shown["rollback"]) == ("terminated", {"outcome": "complete", "error": None})
        assert [str(call["error"]) for call in undone.calls] == ["Error: Instance terminated during rollback"] * 2
        assert undone.calls[0]["output"] == "done"
        message = "WorkflowError: (instance.cannot_terminate) Cannot terminate instance since its on a finite state"
        assert await thrown(instance.terminate({"rollback": True})) == ("Error", message)
        await life.end()

    run(scenario())


@pytest.mark.parametrize("asked", [{}, {"rollback": False}, {"rollback": 1}, None])
def test_terminate_does_not_roll_back_unasked(tmp_path: Path, asked: Any) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1), undone.options())
        await step.sleep("long", "1 day")

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.terminate(asked)
        await life.settle()
        assert (await life.outcome(), undone.calls) == (("terminated", None), [])
        await life.end()

    run(scenario())


def test_terminate_with_nothing_to_roll_back_is_at_once(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        await step.sleep("long", "1 day")

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.terminate({"rollback": True})
        shown = await life.status("i")
        assert (shown["status"], "rollback" in shown) == ("terminated", False)
        await life.end()

    run(scenario())


def test_a_paused_instance_is_rolled_back_where_it_stands(tmp_path: Path) -> None:
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1), undone.options())
        await step.sleep("nap", 1_000)
        await step.do("b", returning(1), undone.options())

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.pause()
        await life.advance(5_000)
        life.clock.spawn(instance.terminate({"rollback": True}), "terminate")
        await life.settle()
        assert (await life.outcome(), undone.names) == (("terminated", None), ["a-1"])
        await life.end()

    run(scenario())


def test_pause_and_terminate_during_a_rollback(tmp_path: Path) -> None:
    """A pause is of no effect; to terminate stops it where it is."""
    undone = Undone()

    async def body(event: Any, step: Any) -> None:
        await step.do("a", returning(1), undone.options())
        await step.do("b", returning(1), undone.options(JsError("x"), retries={"limit": 1, "delay": 1_000}))
        raise JsError("no")

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        await instance.pause()
        assert (await life.status("i"))["status"] == "rollingBack"
        await instance.terminate()
        await life.advance(FOREVER_MS)
        shown = await life.status("i")
        assert (shown["status"], undone.names, "rollback" in shown) == ("terminated", ["b-1"], False)
        await life.end()

    run(scenario())


def test_a_restart_begins_anew_without_the_rollback(tmp_path: Path) -> None:
    undone = Undone()
    failing = [True]

    async def body(event: Any, step: Any) -> str:
        await step.do("a", returning(1), undone.options())
        if failing[0]:
            raise JsError("no")
        return "well"

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        failing[0] = False
        await instance.restart()
        await life.settle()
        shown = await life.status("i")
        assert (shown["status"], shown["output"], "rollback" in shown) == ("complete", "well", False)
        await life.end()

    run(scenario())


def test_it_returns_when_the_end_is_on_disk(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> None:
        for name in ("a", "b", "c"):
            await step.do(name, returning(1), Undone().options())
        await step.sleep("long", "1 day")

    async def scenario() -> None:
        life = await Life.owning(tmp_path, body)
        instance = await life.flow.create({"id": "i"})
        await life.settle()
        (database,) = life.bench.store._open.values()
        await instance.terminate({"rollback": True})
        elsewhere = apsw.Connection(str(database.path)).execute("SELECT status FROM instances").fetchall()
        assert elsewhere == [("terminated",)]
        await life.end()

    run(scenario())
