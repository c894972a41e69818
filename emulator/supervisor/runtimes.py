"""The supervisor's side of a Worker's process: its channel, what is known of it, and how it is made and ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from typing import Any, Protocol

from flarebed.emulator.supervisor.debugger import GO_AHEAD, LEAVE
from flarebed.emulator.supervisor.files import Signature
from flarebed.emulator.supervisor.forkserver import ForkServer
from flarebed.emulator.supervisor.launch import Launch
from flarebed.emulator.supervisor.messages import Channel, Message


class Runtime:
    """One Worker's process. `known` are the signatures of the files that it was made from."""

    def __init__(self, number: int, maker: Maker, known: dict[str, Signature], born_ns: int) -> None:
        self.number = number
        self.maker = maker
        self.known = known
        self.born_ns = born_ns
        self.pid = 0
        self.channel: Channel | None = None
        self.prompt: socket.socket | None = None
        self.ready = False
        self.broken = False
        self.stands_in = False
        self.debugging = False
        self.answered_s = 0.0
        self.hung = False

    def tell(self, fields: dict[str, Any], payload: bytes = b"", fds: tuple[int, ...] = ()) -> None:
        if self.channel is not None:
            self.channel.send(fields, payload, fds)
        else:
            for fd in fds:
                os.close(fd)

    def signal(self, number: signal.Signals) -> None:
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """At once; one that has not even begun ends when it finds its channel closed."""
        if self.pid:
            self.signal(signal.SIGKILL)
        elif self.channel is not None:
            self.channel.close()

    def close(self, loop: asyncio.AbstractEventLoop) -> None:
        if self.channel is not None:
            self.channel.close()
        if self.prompt is not None:
            loop.remove_reader(self.prompt.fileno())
            self.prompt.close()
        self.channel = self.prompt = None


class Maker(Protocol):
    """Who has a process made, and hears of it."""

    def told(self, runtime: Runtime, message: Message) -> None: ...

    def exited(self, runtime: Runtime, code: int) -> None:
        """`code` is negative for the signal that ended it."""
        ...

    def prompted(self, runtime: Runtime) -> None:
        """`runtime.debugging` has changed."""
        ...


class Launcher:
    """Makes Worker's processes through the fork server and learns of their end; `on_lost()` if that server is gone."""

    def __init__(self, server: ForkServer, loop: asyncio.AbstractEventLoop, on_lost: Callable[[], None]) -> None:
        self._loop = loop
        self._runtimes: dict[int, Runtime] = {}
        self._count = 0
        self._server = Channel(server.sock, loop, self._told, on_lost)

    def spawn(
        self,
        maker: Maker,
        launch: Launch,
        listener: socket.socket | None,
        known: dict[str, Signature],
        born_ns: int,
        *,
        replaces: bool = False,
        failure: str = "",
    ) -> Runtime:
        """`listener` is where its requests come in. `replaces`: if the Worker can't run, another process serves on.
        `failure`: serve this error instead of it.
        """
        self._count += 1
        runtime = self._runtimes[self._count] = Runtime(self._count, maker, known, born_ns)
        ours, theirs = socket.socketpair()
        prompt, their_prompt = socket.socketpair()
        runtime.channel = Channel(ours, self._loop, lambda message: maker.told(runtime, message), lambda: None)
        runtime.prompt = prompt
        prompt.setblocking(False)
        self._loop.add_reader(prompt.fileno(), self._debugger, runtime, prompt)
        runtime.stands_in = bool(failure)
        files = {"known": known, "born_ns": born_ns}
        fields = {"id": runtime.number, "launch": launch.to_json(), "replaces": replaces, "failure": failure}
        fds = (theirs.detach(), their_prompt.detach(), *(() if listener is None else (os.dup(listener.fileno()),)))
        self._server.send({"do": "spawn"} | fields | files, b"", fds)
        return runtime

    def _told(self, message: Message) -> None:
        fields = message.fields
        if fields["is"] == "spawned":
            self._runtimes[fields["id"]].pid = fields["pid"]
            return
        runtime = self._runtimes.pop(fields["id"])
        if runtime.channel is not None:
            runtime.channel.drain()
        runtime.close(self._loop)
        runtime.pid = 0
        runtime.maker.exited(runtime, fields["code"])

    def _debugger(self, runtime: Runtime, prompt: socket.socket) -> None:
        try:
            said = prompt.recv(64)
        except BlockingIOError:
            return
        if not said:
            self._loop.remove_reader(prompt.fileno())
        else:
            runtime.debugging = not said.endswith(LEAVE)
        runtime.maker.prompted(runtime)
        if said and runtime.debugging:
            prompt.send(GO_AHEAD)
