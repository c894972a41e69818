"""What must not grow with the number of instances and steps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.bindings.workflows.life import Life, returning
from tests.bindings.workflows.machine import Machine
from tests.support import run

PARAMETER = re.compile(r"\?|(?<!:):\w+")
WEEK_MS = 604_800_000


def test_no_statement_reads_all_instances(tmp_path: Path) -> None:
    """Neither when a process begins to own, nor in any part of an instance's life."""
    seen: set[str] = set()

    async def body(event: Any, step: Any) -> Any:
        await step.do("a", returning(1))
        await step.waitForEvent("w", {"type": "go", "timeout": "1 hour"})
        await step.sleep("s", "2 hours")

    async def first(life: Life) -> None:
        def note(cursor: Any, sql: str, bindings: Any) -> bool:
            seen.add(sql)
            return True

        db = life.resources._own[0]._journal._db.connection
        db.exec_trace = note
        await life.resources.disown()
        await life.resources.own()
        await life.flow.createBatch([{"id": name} for name in "abcd"])
        await life.settle()
        await life.advance(400_000)
        for name, what in (("b", "pause"), ("b", "resume"), ("c", "terminate"), ("d", "restart"), ("d", "delete")):
            await getattr(await life.flow.get(name), what)()
        await (await life.flow.get("a")).sendEvent({"type": "go"})
        await life.advance(WEEK_MS + 10 * 3_600_000)
        db.exec_trace = None
        assert db.execute("SELECT count(*) FROM instances").fetchall() == [(0,)]
        statements = sorted(sql for sql in seen if sql.startswith(("SELECT", "UPDATE", "DELETE")))
        plans = {
            (sql, detail)
            for sql in statements
            for *_, detail in db.execute(f"EXPLAIN QUERY PLAN {re.sub(PARAMETER, 'NULL', sql)}")
        }
        assert len(statements) > 20
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        assert {"instances", "steps", "events"} < set(tables)
        scans = tuple(f"SCAN {name}" for name in tables)
        assert {(sql, detail) for sql, detail in plans if detail.startswith(scans)} == set()

    Machine(tmp_path).live(body, first, schedules=("0 0 1 1 *",))


def test_one_clock_entry_and_no_run_for_each_that_has_ended(tmp_path: Path) -> None:
    async def body(event: Any, step: Any) -> Any:
        return await step.do("a", returning(1))

    async def work() -> None:
        life = await Life.owning(tmp_path, body)
        await life.flow.createBatch([{"id": f"i{number}"} for number in range(100)])
        for _ in range(10):
            await life.settle()
        assert [timer.when_ms for *_, timer in life.clock._heap if not timer.cancelled] == [
            life.clock.start_ms + WEEK_MS
        ]
        assert life.resources._own[0]._runs == {}
        await life.end()

    run(work())
