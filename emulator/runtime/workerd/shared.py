"""The one workerd of a process: all its JavaScript Workers `join` it, then it is started.

Service bindings between them are workerd's own. What else they are bound to is answered here, through `host.py`.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final

from flarebed.bindings.clock import Clock
from flarebed.bindings.errors import InternalError, UserError
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.registry import Registry
from flarebed.emulator.runtime.workerd.bundled import Bundled
from flarebed.emulator.runtime.workerd.configuration import CONTROL_SOCKET, Member, written
from flarebed.emulator.runtime.workerd.host import Host
from flarebed.emulator.runtime.workerd.http_client import HttpClient
from flarebed.emulator.runtime.workerd.peering import Peering
from flarebed.emulator.runtime.workerd.process import Workerd
from flarebed.emulator.runtime.workerd.tools import find_workerd
from flarebed.emulator.runtime.workerd.wiring import Wiring

_REFUSED: Final = re.compile(r'"worker:([^"]*)"')
"""How workerd names a Worker when it can't be bound to what its config says."""


class SharedWorkerd:
    """`names` are the Workers that will join; `root` is the folder of the first, from which workerd is looked for.

    In the `registry` are the Workers that run elsewhere.
    """

    def __init__(
        self, names: Collection[str], root: Path, clock: Clock, log: Callable[[str, str], None], registry: Registry
    ) -> None:
        self._names = names
        self._loop = clock.loop
        self._log = log
        self._numbers = itertools.count(1)
        self._members: list[Member] = []
        self._listeners: list[Callable[[str], None]] = []
        self._process = Workerd(find_workerd(root, os.environ.get("PATH", "")), clock.loop, self._heard, self._exited)
        self._host = Host(str(self._process.folder / "host.sock"), clock, log)
        self._peering = Peering(registry, self._host, self._process.folder)
        self._clients: list[HttpClient] = []
        self.control = self._client(CONTROL_SOCKET)
        """For conversations with our own Worker."""

    def join(
        self,
        config: Config,
        bundled: Bundled,
        env: Mapping[str, Any],
        workflows: Collection[str],
        heard: Callable[[str], None],
    ) -> HttpClient:
        """Have workerd run this Worker too, once it starts; returns the way of its requests. `heard` gets what workerd
        writes about it.
        """
        wiring = Wiring(self._host, self._process.folder, config.name, self._names, self._numbers, self._peering)
        bindings = [wiring.binding(name, value) for name, value in env.items()]
        socket = f"main-{len(self._members)}.sock"
        self._members.append(Member(config, bundled, bindings, workflows, wiring, socket))
        self._listeners.append(heard)
        return self._client(socket)

    async def start(self) -> None:
        """Raises UserError for a Worker that can't be bound to what its config says."""
        await self._host.listen()
        sockets = {CONTROL_SOCKET, *(member.socket for member in self._members)}
        try:
            await self._process.start(written(self._members, self._process.folder, self._peering), sockets)
        except InternalError as error:
            raise _refusal(str(error)) or error from None
        self._peering.publish()

    def close(self) -> None:
        self._peering.withdraw()
        for client in self._clients:
            client.close()
        self._process.close()
        self._host.close()

    def _client(self, socket: str) -> HttpClient:
        client = HttpClient(str(self._process.folder / socket), self._loop)
        self._clients.append(client)
        return client

    def _heard(self, text: str) -> None:
        self._listeners[0](text)

    def _exited(self) -> None:
        self._log("error", "workerd, which runs the Worker, has ended.")


def _refusal(said: str) -> UserError | None:
    """What workerd says, where it is about the bindings of a config."""
    for line in said.splitlines():
        try:
            message = json.loads(line)["message"]
        except (ValueError, KeyError, TypeError):
            continue
        if _REFUSED.search(message):
            return UserError(_REFUSED.sub(r'"\1"', message))
    return None
