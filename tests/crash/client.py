"""The client of a scenario, in the Worker's process and killed with it: it notes what it asks, and what was granted.

A scenario's script is played from its beginning in each life. What an earlier life has seen acknowledged is not asked
again; what was under way when it was killed is looked up in the journal, and asked again if it did not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import apsw

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.testing.session import START_MS, Session
from tests.crash import journal, notes
from tests.crash.journal import Snapshot
from tests.crash.notes import Notebook

_POLLED_MS = 100


class Client:
    def __init__(self, session: Session, notebook: Notebook) -> None:
        self._session = session
        self._notebook = notebook
        self._past = notes.read(notebook.path)
        self._state = session.app.store.root
        self._number = 0
        self._read: set[tuple[str, str]] = set()
        self.flow: Any = session.app.resources["workflows"].bindings()["FLOW"]

    # What it asks

    async def create(self, instance_id: str, shape: str, *, kept_ms: float | None = None, **params: Any) -> None:
        """`kept_ms`: for how long once it has ended."""
        options = {"id": instance_id, "params": {"shape": shape, **params}}
        if kept_ms is not None:
            options["retention"] = {"successRetention": kept_ms, "errorRetention": kept_ms}

        def is_done(before: Any, now: Snapshot) -> bool:
            return now.key(instance_id) not in (None, before)

        await self._ask("create", instance_id, lambda: self.flow.create(options), is_done, kept_ms=kept_ms)

    async def create_batch(self, shape: str, *instance_ids: str) -> None:
        batch = [{"id": instance_id, "params": {"shape": shape}} for instance_id in instance_ids]
        last = instance_ids[-1]  # they stand or fall together
        await self._ask(
            "create", last, lambda: self.flow.createBatch(batch), lambda _, now: last in now.instances, ids=instance_ids
        )

    async def send(self, instance_id: str, event_type: str, payload: Any) -> None:
        """`payload` is another one each time."""

        def is_done(_: Any, now: Snapshot) -> bool:
            key = now.key(instance_id)
            return key is not None and payload in [*now.buffered(key), *(got for *_, got in now.delivered(key))]

        event = {"type": event_type, "payload": payload}
        await self._call("sendEvent", instance_id, is_done, event, type=event_type, payload=payload)

    async def pause(self, instance_id: str) -> None:
        await self._call("pause", instance_id, _again)

    async def resume(self, instance_id: str) -> None:
        await self._call("resume", instance_id, _again)

    async def terminate(self, instance_id: str, *, roll_back: bool = False) -> None:
        """Acknowledged at its end, also where another life has asked for the rollback."""

        async def call() -> None:
            handle = await self.flow.get(instance_id)
            if journal.read(self._state).instances[instance_id].rollback is None:
                await handle.terminate({"rollback": roll_back})
            while journal.read(self._state).instances[instance_id].status not in journal.ENDED:
                await self._session.clock.sleep(_POLLED_MS)

        await self._ask(
            "terminate", instance_id, call, lambda _, now: now.instances[instance_id].status in journal.ENDED
        )

    async def restart(self, instance_id: str, name: str | None = None) -> None:
        """From the beginning, or from the first step of that name."""
        options = UNDEFINED if name is None else {"from": {"name": name}}
        await self._call("restart", instance_id, lambda before, now: now.key(instance_id) != before, options, name=name)

    async def delete(self, instance_id: str) -> None:
        await self._call("delete", instance_id, lambda _, now: instance_id not in now.instances)

    async def read(self, instance_id: str) -> str:
        """The status, noted as something that a user has seen."""
        try:
            shown = await (await self.flow.get(instance_id)).status()
        except apsw.Error:
            return "unknown"
        self._note("read", id=instance_id, status=shown["status"], output=shown["output"])
        self._read.add((instance_id, shown["status"]))
        return str(shown["status"])

    def has_read(self, instance_id: str, *statuses: str) -> bool:
        return any((instance_id, status) in self._read for status in statuses)

    # What it waits for, unless an earlier life has come further

    async def after(self, seconds: float) -> None:
        await self._wait(lambda: True, seconds * 1000)

    async def at(self, seconds: float) -> None:
        """That long after the first life began."""
        await self._session.clock.sleep_until(START_MS + seconds * 1000)

    async def noted(self, what: str, instance_id: str, name: str | None = None) -> None:
        """Until the Worker has noted this, in this life or an earlier one."""
        wanted = {"is": what, "id": instance_id} | ({} if name is None else {"name": name})
        await self._wait(lambda: any(wanted.items() <= note.items() for note in notes.read(self._notebook.path)))

    async def until(self, instance_id: str, *statuses: str) -> None:
        await self._wait(lambda: journal.read(self._state).instances[instance_id].status in statuses)

    async def _wait(self, is_over: Callable[[], bool], first_ms: float = 0) -> None:
        if any(note.get("number", 0) > self._number for note in self._past):
            return
        await self._session.clock.sleep(first_ms)
        while not is_over():
            await self._session.clock.sleep(_POLLED_MS)

    # How it asks

    async def _call(
        self, method: str, instance_id: str, is_done: Callable[[Any, Snapshot], bool], *arguments: Any, **said: Any
    ) -> None:
        async def call() -> None:
            await getattr(await self.flow.get(instance_id), method)(*arguments)

        await self._ask(method, instance_id, call, is_done, **said)

    async def _ask(
        self,
        what: str,
        instance_id: str,
        call: Callable[[], Coroutine[Any, Any, Any]],
        is_done: Callable[[Any, Snapshot], bool],
        **said: Any,
    ) -> None:
        """`is_done(key before, journal now)` tells a later life whether it happened."""
        self._number += 1
        mine = [note for note in self._past if note.get("number") == self._number]
        if any(note["is"] == "acked" for note in mine):
            return
        asked = {"action": what, "id": instance_id, "number": self._number, **said}
        now = journal.read(self._state)
        if not (mine and is_done(mine[0]["key"], now)):
            self._note("asks", key=mine[0]["key"] if mine else now.key(instance_id), **asked)
            try:
                await self._granted(call)
            except JsError as error:
                self._note("refused", text=error.message, **asked)
        self._note("acked", **asked)

    async def _granted(self, call: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """What could not be written has not happened, and is asked again."""
        while True:
            try:
                return await call()
            except apsw.Error:
                await self._session.clock.sleep(_POLLED_MS)

    def _note(self, what: str, **fields: Any) -> None:
        self._notebook.note(what, self._session.clock.now_ms(), **fields)


def _again(before: Any, now: Snapshot) -> bool:
    """To ask twice does no harm."""
    return False
