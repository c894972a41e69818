"""Each step a second time, as after a crash between its effect and its record, and what is different then.

The second attempt is made twice: with the same time and randomness, which shows what adds up, and with others, which
shows what is new each time. After each the databases are set back, so that the run goes on as if nothing had been.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import apsw

from flarebed.emulator.checking.steps import Command, Conduct
from flarebed.emulator.checking.witness import Attempt

if TYPE_CHECKING:
    from flarebed.emulator.checking.trial import Life

LATER_MS = 1_000.0
_NOT_THE_WORKERS = ("sqlite_", "_cf_", "d1_migrations")

Rows = Counter[tuple[Any, ...]]
Contents = dict[tuple[Path, str], Rows]


@dataclass(frozen=True)
class Change:
    """Rows of a table that are more, or fewer, after the second attempt than after the first."""

    file: Path
    table: str
    more: Rows
    fewer: Rows


@dataclass(frozen=True)
class Repetition:
    """A step's attempt, the same again, and another; what each changed beyond the first; how it failed."""

    command: Command
    first: Attempt
    same: Attempt
    other: Attempt
    same_changes: list[Change]
    other_changes: list[Change]
    error: Exception | None


class Twice(Conduct):
    """Has each step that has an effect called again, and goes on with the first result."""

    def __init__(self) -> None:
        self.repetitions: list[Repetition] = []
        self.life: Life | None = None
        self._one_at_a_time = asyncio.Lock()

    async def attempt(self, command: Command, call: Callable[[Attempt], Coroutine[Any, Any, Any]]) -> Any:
        if command.is_within:
            return await call(self.next_attempt(command))
        async with self._one_at_a_time:  # so that what changes meanwhile is this step's doing
            return await self._twice(command, call)

    async def _twice(self, command: Command, call: Callable[[Attempt], Coroutine[Any, Any, Any]]) -> Any:
        assert self.life is not None
        first = self.next_attempt(command)
        asked = len(self.life.seen.script.commands)
        result = await call(first)
        has_steps_within = any(inner.is_within for inner in self.life.seen.script.commands[asked:])
        if any(made.is_effect for made in first.calls) and not has_steps_within:
            self.life.is_frozen = True
            try:
                self.repetitions.append(await self._repeated(command, first, call))
            finally:
                self.life.is_frozen = False
        return result

    async def _repeated(
        self, command: Command, first: Attempt, call: Callable[[Attempt], Coroutine[Any, Any, Any]]
    ) -> Repetition:
        assert self.life is not None
        kept = Kept(self.life.state)
        same = Attempt(command.key, Random(f"{command.key} {len(command.attempts) - 1}"))
        error = await _made(call, same)
        same_changes = kept.changes()
        kept.restore()
        other = self.next_attempt(command, " another")
        self.life.worker_ahead_ms = LATER_MS
        await _made(call, other)
        self.life.worker_ahead_ms = 0.0
        other_changes = kept.changes()
        kept.restore()
        return Repetition(command, first, same, other, same_changes, other_changes, error)


async def _made(call: Callable[[Attempt], Coroutine[Any, Any, Any]], attempt: Attempt) -> Exception | None:
    try:
        await call(attempt)
    except Exception as error:
        return error
    return None


class Kept:
    """The contents of a trial's D1 databases and KV namespaces at one moment."""

    def __init__(self, state: Path) -> None:
        files = [file for part in ("v3/d1", "flarebed/kv") for file in sorted((state / part).rglob("*.sqlite"))]
        self._copies = {file: _in_memory(file) for file in files}
        self._contents = _contents(self._copies)

    def changes(self) -> list[Change]:
        now = _contents({file: apsw.Connection(str(file)) for file in self._copies})
        changes = []
        for key in {**self._contents, **now}:
            before, after = self._contents.get(key, Counter()), now.get(key, Counter())
            if before != after:
                changes.append(Change(*key, after - before, before - after))
        return changes

    def restore(self) -> None:
        for file, copy in self._copies.items():
            target = apsw.Connection(str(file))
            target.set_busy_timeout(5_000)
            _copied(copy, target)
            target.close()


def _in_memory(file: Path) -> apsw.Connection:
    copy, source = apsw.Connection(":memory:"), apsw.Connection(str(file))
    _copied(source, copy)
    source.close()
    return copy


def _copied(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step()


def _contents(connections: dict[Path, apsw.Connection]) -> Contents:
    contents: Contents = {}
    for file, connection in connections.items():
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        for name in names:
            if not name.startswith(_NOT_THE_WORKERS):
                quoted = name.replace('"', '""')
                contents[file, name] = Counter(connection.execute(f'SELECT * FROM "{quoted}"'))
    return contents
