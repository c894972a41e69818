"""The client of KV, D1 and queues: what it writes, and what it reads at the beginning and the end of each life."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.d1 import migrations
from flarebed.bindings.d1.engine import D1Resources
from flarebed.bindings.errors import JsError
from flarebed.bindings.queues.api import QueueApi
from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.testing.session import Session
from tests.crash import backlog, notes
from tests.crash.asking import POLLED_MS, Asking
from tests.crash.notes import Note, Notebook

PROJECT: Final = Path(__file__).parent / "project"
_PIECE_BYTES: Final = 64 * 1024
_TABLES: Final = """
SELECT 'table ' || name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '!_cf!_%'
ESCAPE '!'
"""
_CONTENTS: Final = {"table facts": "SELECT name FROM facts", "table d1_migrations": "SELECT name FROM d1_migrations"}

Group = list[str]
"""What a transaction leaves in the database: rows and tables; with a minus before it, what it takes away."""


class DataClient(Asking):
    config = "data.jsonc"

    def __init__(self, session: Session, notebook: Notebook) -> None:
        super().__init__(session, notebook)
        resources = session.app.resources
        self._resources: Any = resources["queues"]
        self._queues: Any = self._resources.bindings()
        self.db: Any = resources["d1"].bindings()["DB"]
        self._d1 = resources["d1"]
        self._kv: Any = resources["kv"].bindings()["KV"]
        self._keys = {note["name"] for note in self._past if note["is"] == "asks" and note["action"] == "put"}

    async def play(self, script: Callable[[Any], Awaitable[None]]) -> None:
        await self.look(first=True)
        await script(self)
        await self.look()

    # What it asks

    async def put(self, name: str, *, size: int = 0, ttl_s: int | None = None, is_streamed: bool = False) -> None:
        """Another value each time, of so many bytes at least, and metadata that belongs to it."""
        metadata = {"number": self._number + 1}
        value = f"{name} as of {self._number + 1}, ".encode() * (1 + size // 16)
        options: dict[str, Any] = {"metadata": metadata}
        if ttl_s is not None:
            options["expiration"] = int(self._session.clock.now_ms()) // 1000 + ttl_s

        async def call() -> None:
            await self._kv.put(name, _Pieces(value) if is_streamed else value.decode(), options)

        await self._put(name, _digest(value, metadata), call, options.get("expiration"))

    async def delete(self, name: str) -> None:
        await self._put(name, None, lambda: self._kv.delete(name), None)

    async def write(self, call: Callable[[], Coroutine[Any, Any, Any]], *groups: Group) -> None:
        """Of each group all or nothing; to write twice does no harm."""
        await self._ask({"action": "write", "groups": groups}, call, _again)

    def insert(self, name: str) -> Any:
        return self.db.prepare("INSERT OR REPLACE INTO facts VALUES (?)").bind(name)

    async def migrate(self) -> None:
        files = ("first", "second", "third")
        groups = [[f"000{number}_{name}.sql", f"table {name}"] for number, name in enumerate(files, 1)]

        async def apply() -> None:
            assert isinstance(self._d1, D1Resources)
            (spec,) = self._session.app.config.specs["d1"]
            with _of_a_command():
                migrations.apply_pending(self._d1.databases["DB"], spec, PROJECT)

        await self.write(apply, ["table d1_migrations"], *groups)

    async def send(self, *bodies: str, queue: str = "orders", delay_s: int = 0) -> None:
        """One alone, several as a batch."""
        producer = self._queues[queue.upper()]
        options = {"delaySeconds": delay_s} if delay_s else UNDEFINED

        async def call() -> None:
            if len(bodies) == 1:
                await producer.send(bodies[0], options)
            else:
                await producer.sendBatch([{"body": body} for body in bodies], options)

        due_ms = self._session.clock.now_ms() + delay_s * 1000
        await self._ask({"action": "send", "queue": queue, "bodies": bodies, "due_ms": due_ms}, call, self._is_sent)

    async def set_paused(self, queue: str, paused: bool) -> None:
        """As the command does it, whose ring the owner hears."""

        async def call() -> None:
            with _of_a_command():
                await self._api(queue).set_paused(paused)
            self._resources.ring(queue)

        await self._ask({"action": "pause", "queue": queue, "paused": paused}, call, _again)

    async def redrive(self, source: str, target: str) -> None:
        """All, as the command does it."""

        async def call() -> None:
            with _of_a_command():
                await self._api(source).redrive(self._api(target), 1000)
            self._resources.ring(target)

        await self._ask({"action": "redrive", "source": source, "target": target}, call, _again)

    # What it reads

    async def look(self, *, first: bool = False) -> None:
        """All that there is, one after the other."""
        listed = [key["name"] for key in (await self._kv.list())["keys"]]
        values = {name: await self._value(name) for name in sorted(self._keys)}
        self._note("seen", first=first, listed=listed, values=values, contents=await self._contents())

    async def glance(self, name: str) -> None:
        """At one value, in the middle of others' writes."""
        self._note("seen", first=False, values={name: await self._value(name)})

    async def stream(self, name: str) -> None:
        """One value, chunk by chunk, while others write."""
        answer = await self._kv.getWithMetadata(name, "stream")
        if answer["value"] is not None:
            value = b"".join([chunk async for chunk in _unhurried(answer["value"])])
            self._note("streamed", name=name, value=_digest(value, answer["metadata"]))

    async def _value(self, name: str) -> str | None:
        answer = await self._kv.getWithMetadata(name, "arrayBuffer")
        return None if answer["value"] is None else _digest(bytes(answer["value"]), answer["metadata"])

    async def _contents(self) -> list[str]:
        while True:
            try:
                return await self._read_contents()
            except JsError:  # even to open a database takes room
                await self._session.clock.sleep(POLLED_MS)

    async def _read_contents(self) -> list[str]:
        tables = [name for (name,) in await self.db.prepare(_TABLES).raw()]
        found = set(tables)
        for table, sql in _CONTENTS.items():
            if table in tables:
                found |= {name for (name,) in await self.db.prepare(sql).raw()}
        return sorted(found)

    # How it asks

    async def _put(
        self, name: str, value: str | None, call: Callable[[], Coroutine[Any, Any, Any]], expires_s: int | None
    ) -> None:
        self._keys.add(name)
        asked = {"action": "put", "name": name, "value": value, "expires_s": expires_s}
        await self._ask(asked, call, _again)

    def _is_sent(self, note: Note) -> bool:
        """It waits, or was delivered before."""
        body = note["bodies"][0]
        waiting = [message.body for messages in backlog.read(self._state).values() for message in messages.values()]
        return body in waiting or any(note.get("body") == body for note in notes.read(self._notebook.path))

    def _api(self, queue: str) -> QueueApi:
        return QueueApi(queue, self._resources._around)

    def _is_for_want_of_room(self, error: Exception) -> bool:
        return isinstance(error, JsError)

    async def _failed(self, asked: Note) -> None:
        """And nothing of it has happened."""
        self._note("failed", **asked)
        await self.look()
        self._note("asks", **asked)


@contextmanager
def _of_a_command() -> Iterator[None]:
    """Which has no Worker, to which SQLite's errors would be the service's."""
    try:
        yield
    except Exception as error:
        raise JsError(str(error)) from error


def _again(note: Note) -> bool:
    """To ask twice does no harm."""
    return False


def _digest(value: bytes, metadata: Any) -> str:
    return hashlib.sha256(value + json.dumps(metadata).encode()).hexdigest()[:16]


async def _unhurried(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for chunk in stream:
        yield chunk
        await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time


class _Pieces:
    """A value as a byte stream."""

    def __init__(self, value: bytes) -> None:
        self._value = value

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._value), _PIECE_BYTES):
            yield self._value[start : start + _PIECE_BYTES]
