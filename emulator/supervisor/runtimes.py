"""The supervisor's side of a Worker's process: its channel, what is known of it, and how it is made and ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from typing import Any

from flarebed.emulator.supervisor.debugger import GO_AHEAD, LEAVE
from flarebed.emulator.supervisor.files import Signature
from flarebed.emulator.supervisor.forkserver import ForkServer
from flarebed.emulator.supervisor.launch import Launch
from flarebed.emulator.supervisor.messages import Channel, Message


class Runtime:
    """One Worker's process. `known` are the signatures of the files that it was made from."""

    def __init__(self, number: int, known: dict[str, Signature], born_ns: int) -> None:
        self.number = number
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


class Launcher:
    """Makes Worker's processes through the fork server and learns of their end.

    `on_message(runtime, message)`, `on_exit(runtime, code)` (negative: the signal that ended it),
    `on_debugger(runtime)` after `runtime.debugging` has changed, `on_lost()` when the fork server is gone.
    """

    def __init__(
        self,
        server: ForkServer,
        loop: asyncio.AbstractEventLoop,
        on_message: Callable[[Runtime, Message], None],
        on_exit: Callable[[Runtime, int], None],
        on_debugger: Callable[[Runtime], None],
        on_lost: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._on_message = on_message
        self._on_exit = on_exit
        self._on_debugger = on_debugger
        self._runtimes: dict[int, Runtime] = {}
        self._count = 0
        self._server = Channel(server.sock, loop, self._told, on_lost)

    def spawn(
        self,
        launch: Launch,
        listener: socket.socket,
        known: dict[str, Signature],
        born_ns: int,
        *,
        replaces: bool = False,
        failure: str = "",
    ) -> Runtime:
        """`replaces`: if the Worker can't run, another process serves on. `failure`: serve this error instead of it."""
        self._count += 1
        runtime = self._runtimes[self._count] = Runtime(self._count, known, born_ns)
        ours, theirs = socket.socketpair()
        prompt, their_prompt = socket.socketpair()
        runtime.channel = Channel(ours, self._loop, lambda message: self._on_message(runtime, message), lambda: None)
        runtime.prompt = prompt
        prompt.setblocking(False)
        self._loop.add_reader(prompt.fileno(), self._debugger, runtime, prompt)
        runtime.stands_in = bool(failure)
        files = {"known": known, "born_ns": born_ns}
        fields = {"id": runtime.number, "launch": launch.to_json(), "replaces": replaces, "failure": failure}
        fds = (theirs.detach(), os.dup(listener.fileno()), their_prompt.detach())
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
        self._on_exit(runtime, fields["code"])

    def _debugger(self, runtime: Runtime, prompt: socket.socket) -> None:
        try:
            said = prompt.recv(64)
        except BlockingIOError:
            return
        if not said:
            self._loop.remove_reader(prompt.fileno())
        else:
            runtime.debugging = not said.endswith(LEAVE)
        self._on_debugger(runtime)
        if said and runtime.debugging:
            prompt.send(GO_AHEAD)
