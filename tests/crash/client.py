"""The client of workflows: what can be asked of instances, and what tells whether that happened."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

import apsw

from flarebed.bindings.values import UNDEFINED
from flarebed.emulator.testing.session import Session
from tests.crash import journal
from tests.crash.asking import POLLED_MS, Asking
from tests.crash.journal import Snapshot
from tests.crash.notes import Notebook

CREATE_EFFECTS: Final = "CREATE TABLE IF NOT EXISTS effects (nonce TEXT PRIMARY KEY)"


class Client(Asking):
    config = "wrangler.jsonc"

    @staticmethod
    async def prepare(session: Session) -> None:
        await session.app.resources["d1"].bindings()["DB"].exec(CREATE_EFFECTS)

    def __init__(self, session: Session, notebook: Notebook) -> None:
        super().__init__(session, notebook)
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

        await self._do("create", instance_id, lambda: self.flow.create(options), is_done, kept_ms=kept_ms)

    async def create_batch(self, shape: str, *instance_ids: str) -> None:
        batch = [{"id": instance_id, "params": {"shape": shape}} for instance_id in instance_ids]
        last = instance_ids[-1]  # they stand or fall together
        await self._do(
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
                await self._session.clock.sleep(POLLED_MS)

        await self._do(
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

    async def noted(self, what: str, instance_id: str, name: str | None = None) -> None:
        await self.heard(what, id=instance_id, **({} if name is None else {"name": name}))

    async def until(self, instance_id: str, *statuses: str) -> None:
        await self._wait(lambda: journal.read(self._state).instances[instance_id].status in statuses)

    # How it asks

    async def _call(
        self, method: str, instance_id: str, is_done: Callable[[Any, Snapshot], bool], *arguments: Any, **said: Any
    ) -> None:
        async def call() -> None:
            await getattr(await self.flow.get(instance_id), method)(*arguments)

        await self._do(method, instance_id, call, is_done, **said)

    async def _do(
        self,
        what: str,
        instance_id: str,
        call: Callable[[], Coroutine[Any, Any, Any]],
        is_done: Callable[[Any, Snapshot], bool],
        **said: Any,
    ) -> None:
        """`is_done(key before, journal now)` tells a later life whether it happened."""
        await self._ask(
            {"action": what, "id": instance_id, **said},
            call,
            lambda note: is_done(note["key"], journal.read(self._state)),
            lambda: journal.read(self._state).key(instance_id),
        )


def _again(before: Any, now: Snapshot) -> bool:
    """To ask twice does no harm."""
    return False
