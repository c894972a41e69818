"""One database in turns: wrangler writes it, flarebed goes on, wrangler goes on. Each has to see all of the other's."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flarebed.bindings.d1 import engine, neighbours
from flarebed.bindings.d1.migrations import apply_pending
from flarebed.bindings.d1.spec import D1DatabaseSpec
from tests.bindings.d1.asking import Asking
from tests.oracle.d1.rows import answers, write_project
from tests.oracle.wrangler import environment, started
from tests.support import Bench

SPEC = D1DatabaseSpec("DB0", "db0", "db0")
FIRST = {
    "0001_notes.sql": "CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, t UNIQUE, n INT, r REAL, b BLOB, x);"
    "CREATE VIRTUAL TABLE found USING fts5(t);",
}
SECOND = {"0002_more.sql": "ALTER TABLE note ADD COLUMN more TEXT DEFAULT 'é';"}
THIRD = {"0003_last.sql": "CREATE INDEX note_n ON note (n);"}
VALUES = ["é😀", 5, 1.5, {"$buffer": [0, 255]}, None]
INSERT = "INSERT INTO note (t, n, r, b, x) VALUES (?, ?, ?, ?, ?) RETURNING id"
BIG = "UPDATE note SET n = 9007199254740993 WHERE id = 1 RETURNING typeof(n)"
READ = "SELECT *, typeof(n), typeof(r), typeof(b), typeof(x), n = 9007199254740993 AS whole FROM note ORDER BY id"
APPLIED = "SELECT id, name FROM d1_migrations ORDER BY id"
MATCHES = "SELECT t FROM found WHERE found MATCH 'hello' ORDER BY rowid"


def taken_in_turns(command: str) -> Iterator[str]:
    """What went wrong, if anything."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root, FIRST)
        _migrate(command, root)
        first = _wrangler(command, root, [
            ["raw", INSERT, VALUES], ["raw", BIG], ["run", "INSERT INTO found VALUES ('hello one')"],
            ["raw", INSERT, ["gone", 1, 1, {"$buffer": []}, 1]], ["raw", "DELETE FROM note WHERE t = 'gone'"],
            ["raw", READ],
        ])  # fmt: skip
        _write(root, SECOND)
        ours = asyncio.run(_ours(root, first[-1]))
        if sys.platform == "linux" and not _sees_workerd(command, root):
            yield "workerd has the file open, and there is no warning"
        _write(root, THIRD)
        _migrate(command, root)
        last = _wrangler(command, root, [
            ["raw", READ], ["raw", APPLIED], ["raw", MATCHES], ["raw", INSERT, ["last", 1, 1, {"$buffer": []}, 1]],
            ["raw", "PRAGMA quick_check"],
        ])  # fmt: skip
        applied = [[at, name] for at, name in enumerate([*FIRST, *SECOND, *THIRD], 1)]
        wanted = [ours, applied, [["hello one"], ["hello two"]], [[4]], [["ok"]]]
        for found, expected in zip(last, wanted, strict=True):
            if found != expected:
                yield f"after wrangler, flarebed and wrangler\n  found     {found}\n  expected  {expected}"


async def _ours(root: Path, written: Any) -> Any:
    """Sees what wrangler wrote, goes on, and tells what is there now."""
    bench = Bench(root / ".wrangler" / "state")
    resources = engine.open([SPEC], bench.around)
    asking = Asking(resources.bindings()["DB0"])  # type: ignore[arg-type]
    assert await asking.answer(["raw", READ]) == written
    assert apply_pending(resources.databases["DB0"], SPEC, root) == list(SECOND)
    assert await asking.answer(["raw", INSERT, ["ours", 7, 2.5, {"$buffer": [1]}, "x"]]) == [[3]]
    await asking.answer(["run", "INSERT INTO found VALUES ('hello two')"])
    await asking.answer(["session"])
    await asking.answer(["s.all", "SELECT 1"])  # a bookmark, which is kept in a table of workerd's
    rows = await asking.answer(["raw", READ])
    bench.store.close()
    return rows


def _sees_workerd(command: str, root: Path) -> bool:
    path = engine.path(root / ".wrangler" / "state", SPEC)
    with started(command, root) as url:
        answers(url, 0, {"ask": [["raw", "SELECT 1"]]})
        while_it_runs = neighbours.warning(path)
    return while_it_runs is not None and neighbours.warning(path) is None


def _write(root: Path, migrations: dict[str, str]) -> None:
    (root / "migrations").mkdir(exist_ok=True)
    for name, sql in migrations.items():
        (root / "migrations" / name).write_text(sql, encoding="utf-8")


def _migrate(command: str, root: Path) -> None:
    write_project(root, 1)
    applied = [command, "d1", "migrations", "apply", "db0", "--local"]
    subprocess.run(applied, cwd=root, env=environment(root), stdin=subprocess.DEVNULL, capture_output=True, check=True)


def _wrangler(command: str, root: Path, ask: list[Any]) -> list[Any]:
    with started(command, root) as url:
        return answers(url, 0, {"ask": ask})
