"""The Worker's process: opens the project, serves it, and gives its place to a successor.

Forked by `forkserver.py`, told what to do by `main.py`. It shows the user what went wrong with the Worker itself; the
supervisor only learns that something did.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import os
import signal
import socket
import sys
import threading
from functools import partial
from typing import Any, Final

import uvloop

from flarebed.bindings.clock import RealClock
from flarebed.bindings.ecma_date import date_to_iso
from flarebed.bindings.errors import UserError
from flarebed.emulator.server.asgi import Application
from flarebed.emulator.server.control import Control
from flarebed.emulator.server.http import HttpServer
from flarebed.emulator.server.log import Log, write_to
from flarebed.emulator.supervisor.broken import BrokenWorker, describe
from flarebed.emulator.supervisor.debugger import claim_terminal_while_prompting
from flarebed.emulator.supervisor.files import Files, Signature, from_json
from flarebed.emulator.supervisor.launch import STACK_SIGNAL, Launch, Project, opener
from flarebed.emulator.supervisor.messages import Channel, Message
from flarebed.emulator.supervisor.named_output import name_output, named

_STOP_GRACE_S: Final = 2.0
_EXIT_DELAY_S: Final = 0.05
_YOUNG_OBJECTS: Final = 10_000
"""How many container objects are made before they are searched for cycles. A request makes hundreds, a workflow step
many more, and nearly all go without that search; Python's 700 took a fifth of the time of a workflow."""


def run(fields: dict[str, Any], fds: tuple[int, ...], lifeline: int) -> int:
    """Be the Worker's process; returns its exit code. `fds`: the channel, the debugger's socket, the listener."""
    channel, debugger, *listeners = (socket.socket(fileno=fd) for fd in fds)
    threading.Thread(target=_end_with_supervisor, args=(lifeline,), name="lifeline", daemon=True).start()
    faulthandler.enable(all_threads=False)
    faulthandler.register(STACK_SIGNAL, all_threads=False)
    claim_terminal_while_prompting(debugger)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # the terminal sends them to all of us; the supervisor acts
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    # The loop is not closed: that would cancel what is under way, and the engines would take it for failed attempts.
    return _new_loop(fields).run_until_complete(_serve(fields, channel, *listeners))


def _new_loop(fields: dict[str, Any]) -> asyncio.AbstractEventLoop:
    """uvloop, which is faster; on virtual time asyncio's, which can be asked whether anything is left to do."""
    virtual = fields["launch"]["virtual_start_ms"] is not None
    return asyncio.SelectorEventLoop() if virtual else uvloop.new_event_loop()


def _end_with_supervisor(lifeline: int) -> None:
    os.read(lifeline, 1)
    os._exit(1)


async def _serve(fields: dict[str, Any], channel: socket.socket, listener: socket.socket | None = None) -> int:
    launch = Launch(**fields["launch"])
    runtime = Runtime(asyncio.get_running_loop(), launch, channel, listener)
    known, born_ns = from_json(fields["known"]), fields["born_ns"]
    if fields["failure"]:
        runtime.stand_in(fields["failure"], known, born_ns)
    else:
        await runtime.open(known, born_ns, may_fail=fields["replaces"])
    return await runtime.ended


class Runtime:
    """Is also the gate that connections ask whether they may begin a request."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, launch: Launch, channel: socket.socket, listener: socket.socket | None
    ) -> None:
        self.ended: asyncio.Future[int] = loop.create_future()
        self._loop = loop
        self._launch = launch
        self._listener = listener
        self._log = Log(loop, launch.log_level, partial(write_to, name_output(launch.names)))
        self._channel = Channel(channel, loop, self._told, lambda: self._end(1))
        self._retired = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, known: dict[str, Signature], born_ns: int, *, may_fail: bool) -> None:
        """Import the Worker. If that fails and an older version serves on, end, else serve the error."""
        try:
            project = await opener(self._launch)(self._launch, self._loop, self._log)
        except Exception as error:
            self._say("error", describe(error))
            self._log.flush()
            if may_fail:
                self._channel.send({"is": "failed"})
                self._loop.call_later(_EXIT_DELAY_S, self._end, 0)
                return
            project = BrokenWorker(error, self._launch.folders()).project()
        self._use(project, known, born_ns)
        gc.freeze()  # what is loaded stays
        gc.set_threshold(_YOUNG_OBJECTS, 20, 20)

    def stand_in(self, failure: str, known: dict[str, Signature], born_ns: int) -> None:
        """Serve what became of a process that opened the Worker."""
        self._use(BrokenWorker(UserError(failure), self._launch.folders()).project(), known, born_ns)

    def _use(self, project: Project, known: dict[str, Signature], born_ns: int) -> None:
        self._app = project.app
        self._clock = project.clock
        clock = project.clock or RealClock(self._loop)
        self._routes = Control(project.app, clock, [project.host] if project.host else [])
        application = Application(project.app, self._log, self._routes, host=project.host, on_exit=self._on_exit)
        self._server = HttpServer(application, self._loop, self)
        self._files = Files(project.app.watched, known, born_ns, self._on_more_files)
        self._roots = project.roots
        broken = isinstance(project.app, BrokenWorker)
        if broken:
            self._files.search(self._roots)
        self._channel.send(
            {
                "is": "ready",
                "known": self._files.signatures,
                "roots": [str(root) for root in project.roots],
                "broken": broken,
                "bindings": project.app.bindings_tables(),
                "notices": project.notices,
                "warnings": project.warnings,
                "crons": project.crons,
                "time": None if project.clock is None else date_to_iso(project.clock.now_ms()),
            }
        )

    # The gate

    def closed(self) -> bool:
        return self._retired or self._files.changed()

    def retired(self) -> bool:
        return self._retired

    def give(self, fd: int, data: bytes) -> None:
        self._channel.send({"is": "connection"}, data, (fd,))

    # What the supervisor says

    def _told(self, message: Message) -> None:
        match message.fields["do"]:
            case "serve":
                self._run(self._begin())
            case "connection":
                self._run(self._server.adopt(message.fds[0], message.payload))
            case "accept":
                self._files.accept(from_json(message.fields["known"]))
                self._files.search(self._roots)
            case "beside":
                self._files.beside = from_json(message.fields["known"])
            case "ping":
                self._channel.send({"is": "pong"})
            case "retire":
                self._run(self._retire())
            case "stop":
                self._run(self._stop())

    async def _begin(self) -> None:
        if self._clock is not None:
            self._clock.move_to(0)  # to where the process before has been meanwhile
        if self._listener is not None:
            await self._server.listen(self._listener)
        await self._app.own()

    async def _retire(self) -> None:
        self._retired = True
        self._routes.stand_still()
        self._server.retire()
        await self._app.disown()
        self._channel.send({"is": "disowned"})
        await self._server.drained()
        await self._app.drained()
        await self._close()

    async def _stop(self) -> None:
        self._retired = False
        self._routes.stand_still()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_GRACE_S):
                self._server.close_listener()
                await self._app.disown()
                await self._server.stop()
        await self._close()

    async def _close(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_GRACE_S):
                await self._app.close()
        self._log.flush()
        self._end(0)

    # What it tells

    def _say(self, level: str, text: str) -> None:
        self._log(level, named(self._launch.names, text))

    def _on_more_files(self, found: dict[str, Signature]) -> None:
        self._channel.send({"is": "files", "known": found})

    def _on_exit(self, code: object) -> None:
        """SystemExit in Worker code ends the process, as it ends production's; the answer goes out first."""
        self._say("error", f"The Worker raised SystemExit({code!r}), which ends its process.")
        self._loop.call_later(_EXIT_DELAY_S, self._end, code if isinstance(code, int) and 0 < code < 256 else 1)

    def _run(self, work: Any) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._say("error", describe(error))
            self._end(1)

    def _end(self, code: int) -> None:
        if not self.ended.done():
            self.ended.set_result(code)
