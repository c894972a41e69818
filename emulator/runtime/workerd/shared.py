"""The one workerd of a process: all its JavaScript Workers `join` it, then it is started.

Service bindings between them are workerd's own. What else they are bound to is answered here, through `host.py`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from flarebed.bindings.clock import Clock
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.registry import Registry
from flarebed.emulator.runtime.workerd import startup
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
from flarebed.emulator.runtime.workerd.wiring import Wiring


class SharedWorkerd:
    """`logs` are those of the Workers that will join, by name; `root` is the folder of the first, from which workerd is
    looked for. In the `registry` are the Workers that run elsewhere.
    """

    def __init__(self, logs: Mapping[str, Log], root: Path, clock: Clock, registry: Registry) -> None:
        self._names = list(logs)
        self._loop = clock.loop
        self._log = log = logs[self._names[0]]
        self._numbers = itertools.count(1)
        self._members: list[Member] = []
        self.output = Output(clock.loop, log, logs if len(logs) > 1 else {})
        binary = find_workerd(root, os.environ.get("PATH", ""))
        self._process = Workerd(binary, clock.loop, self.output.line, self._exited)
        self._host = Host(str(self._process.folder / "host.sock"), clock, log)
        self._peering = Peering(registry, self._host, self._process.folder)
        self._clients: list[HttpClient] = []
        self.control = self._client(CONTROL_SOCKET)
        """For conversations with our own Worker."""

    def join(self, config: Config, bundled: Bundled, env: Mapping[str, Any], workflows: Collection[str]) -> HttpClient:
        """Have workerd run this Worker too, once it starts; returns the way of its requests."""
        if len(self._names) > 1:
            bundled = told_apart(bundled, config.name)
        self.output.mappers.add(StackMapper(bundled))
        wiring = Wiring(self._host, self._process.folder, config.name, self._names, self._numbers, self._peering)
        bindings = [wiring.binding(name, value) for name, value in env.items()]
        socket = f"main-{len(self._members)}.sock"
        self._members.append(Member(config, bundled, bindings, workflows, wiring, socket))
        return self._client(socket)

    async def start(self) -> None:
        """Raises WorkerError or UserError for what is wrong with a Worker."""
        await self._host.listen()
        config = written(self._members, self._process.folder, self._peering)
        sockets = {CONTROL_SOCKET, *(member.socket for member in self._members), *self._peering.names()}
        try:
            await self._process.start(config, sockets)
        except StartFailed as failed:
            raise startup.failure(failed.lines, self.output.mappers) from None
        self._peering.publish()

    def close(self) -> None:
        self._peering.withdraw()
        for client in self._clients:
            client.close()
        self._process.close()
        self._host.close()

    def _client(self, socket: str) -> HttpClient:
        client = HttpClient(str(self._process.folder / socket), self._loop, self._process.listening)
        self._clients.append(client)
        return client

    def _exited(self, how: str) -> None:
        self._log("error", f"workerd, which runs the Worker, {how} and is being restarted.")
