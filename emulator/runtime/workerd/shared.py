"""The one workerd of a process: all its JavaScript Workers `join` it, then it is started.

Service bindings between them are workerd's own. What else they are bound to is answered here, through `host.py`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.clock import Clock
from flarebed.bindings.errors import UserError
from flarebed.bindings.owner import Claims
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.http import WorkerError
from flarebed.emulator.runtime.registry import Registry
from flarebed.emulator.runtime.workerd import assets, native, objects, startup
from flarebed.emulator.runtime.workerd.bundled import Bundled
from flarebed.emulator.runtime.workerd.configuration import CONTROL_SOCKET, Member, written
from flarebed.emulator.runtime.workerd.host import Host
from flarebed.emulator.runtime.workerd.http_client import HttpClient
from flarebed.emulator.runtime.workerd.output import Log, Output
from flarebed.emulator.runtime.workerd.peering import Peering
from flarebed.emulator.runtime.workerd.process import StartFailed, Workerd
from flarebed.emulator.runtime.workerd.source_map import StackMapper
from flarebed.emulator.runtime.workerd.tools import find_workerd
from flarebed.emulator.runtime.workerd.voices import told_apart
from flarebed.emulator.runtime.workerd.wiring import Struct, Wiring

_LAST_ANSWERS_S: Final = 0.25
"""A reload does not wait longer than 0.5 s for the old process (supervisor/line.py)."""
_PATIENCE_S: Final = 3.0


class SharedWorkerd:
    """`configs` are those of the Workers that will join, `logs` theirs by name. The first one's folder has workerd.

    `state` is the folder of what is on disk. In the `registry` are the Workers that run elsewhere.
    """

    def __init__(
        self, configs: Sequence[Config], logs: Mapping[str, Log], clock: Clock, state: Path, registry: Registry
    ) -> None:
        self._fronts = {config.name: assets.front(config) for config in configs}
        self._state = state
        self._clock = clock
        self._loop = clock.loop
        self._logs = logs
        self._log = log = logs[configs[0].name]
        self._numbers = itertools.count(1)
        self._members: list[Member] = []
        self.output = Output(clock.loop, log, logs if len(logs) > 1 else {})
        binary = find_workerd(configs[0].root, os.environ.get("PATH", ""))
        self._process = Workerd(binary, clock.loop, self.output.line, self._exited)
        self.host = Host(str(self._process.folder / "host.sock"), clock, log)
        self._peering = Peering(registry, self.host, self._process.folder)
        self._objects = Claims(state, clock.loop, ())
        self._opening: asyncio.Task[None] | None = None
        self._clients: list[HttpClient] = []
        self.control = self._client(CONTROL_SOCKET)
        """For conversations with our own Worker."""

    def join(
        self,
        config: Config,
        bundled: Bundled,
        env: Mapping[str, Any],
        workflows: Collection[str],
        more: Callable[[Wiring], Struct],
    ) -> HttpClient:
        """Have workerd run this Worker too, once it starts; returns the way of its requests. `more` is what else its
        part of the config says.
        """
        if len(self._fronts) > 1:
            bundled = told_apart(bundled, config.name)
        self.output.mappers.add(StackMapper(bundled))
        wiring = Wiring(self.host, self._process.folder, config.name, self._fronts, self._numbers, self._peering)
        wiring.worker = more(wiring)
        bindings = [wiring.binding(name, value) for name, value in env.items()]
        bindings += native.bindings(config, wiring, self._clock)
        fields = native.fields(config, wiring, self._clock)
        socket = f"main-{len(self._members)}.sock"
        self._members.append(Member(config, bundled, bindings, fields, workflows, wiring, socket))
        return self._client(socket)

    async def start(self) -> None:
        """Raises WorkerError or UserError for what is wrong with a Worker.

        If another process has the Workers' Durable Objects open, the start is only a trial: requests wait until that
        one lets go.
        """
        await self.host.listen()
        names = sorted(member.config.name for member in self._members if member.config.native.own_classes())
        self._objects = Claims(self._state, self._loop, [("objects", name) for name in names])
        if self._objects.acquire():
            await self._run(self._state)
            self._peering.publish()
            return
        await self._run(self._process.folder)
        self._process.stop()
        self.own()

    def own(self) -> None:
        """Have the Workers' Durable Objects, as soon as no other process has them."""
        if not self._objects.owns and self._opening is None:
            self._opening = self._loop.create_task(self._open())

    async def disown(self) -> None:
        """Let go of the objects. What is under way gets a moment."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
        if self._objects.files:
            quiet = [self._loop.create_task(client.quiet()) for client in self._clients]
            with self._clock.operation_outside():  # a moment of the machine's time
                _, waiting = await asyncio.wait(quiet, timeout=_LAST_ANSWERS_S)
            for task in waiting:
                task.cancel()
            self._process.stop()
            self._objects.release()

    async def _open(self) -> None:
        waits = self._loop.call_later(_PATIENCE_S, self._log, "warn", objects.IN_USE)
        try:
            await self._objects.wait()
            waits.cancel()
            await self._run(self._state)
            self._peering.publish()
        except (UserError, WorkerError) as error:  # the trial went well
            self._log("error", str(error))
        finally:
            waits.cancel()
            self._opening = None

    async def _run(self, state: Path) -> None:
        config = written(self._members, self._process.folder, self._peering, state)
        sockets = {CONTROL_SOCKET, *(member.socket for member in self._members), *self._peering.names()}
        try:
            with self._clock.operation_outside():
                await self._process.start(config, sockets, self._objects.files)
        except StartFailed as failed:
            raise startup.failure(failed.lines, self.output.mappers) from None

    async def drained(self) -> None:
        """Take no more requests; returns when the last one is answered. workerd has ended then."""
        await self._process.drained()

    def close(self) -> None:
        self._peering.withdraw()
        if self._opening is not None:
            self._opening.cancel()
        for client in self._clients:
            client.close()
        self._process.close()
        self._objects.release()
        self.host.close()

    def _client(self, socket: str) -> HttpClient:
        client = HttpClient(str(self._process.folder / socket), self._loop, self._process.listening)
        self._clients.append(client)
        return client

    def _exited(self, how: str) -> None:
        for client in self._clients:
            client.drop_idle()
        self._log("error", f"workerd, which runs the Worker, {how} and is being restarted.")
