"""A Python Worker in this process: loaded once, then handed one event after another.

Each event gets an IoContext and a task on the Worker's loop; the host awaits its outcome. Implements `Dispatch`, by
which engines reach the Worker.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from flarebed.bindings.clock import VirtualClock
from flarebed.bindings.errors import JsError, type_error
from flarebed.emulator.runtime.http import IncomingRequest, OutgoingResponse, ScheduledOutcome, Target, WorkerError
from flarebed.emulator.runtime.python import patches
from flarebed.emulator.runtime.python.bundle import Bundle, web_assembly_module
from flarebed.emulator.runtime.python.context import IoContext
from flarebed.emulator.runtime.python.crossing import Crossing
from flarebed.emulator.runtime.python.entrypoints import Entrypoints
from flarebed.emulator.runtime.python.execution_context import ExecutionContext, ScheduledController
from flarebed.emulator.runtime.python.js.request import Request
from flarebed.emulator.runtime.python.loader import Loader
from flarebed.emulator.runtime.python.modules import HostModules
from flarebed.emulator.runtime.python.promise import thrown_by
from flarebed.emulator.runtime.python.proxy import from_python, to_python
from flarebed.emulator.runtime.python.tracebacks import worker_frames
from flarebed.emulator.runtime.python.webloop import WebLoop
from flarebed.emulator.runtime.services import Services

NO_UPGRADE = (
    "Worker tried to return a WebSocket in a response to a request which did not contain the header "
    '"Upgrade: websocket".'
)
"""workerd src/workerd/api/http.c++"""
NO_WAIT = "queue_consumer_no_wait_for_wait_until"
"""The compatibility flag with which a batch is over when the handler has returned, whatever it gave to waitUntil."""
HUNG = (
    "The Workers runtime canceled this request because it detected that your Worker's code had hung and would never "
    "generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/"
)


class PythonWorker:
    """One Worker. Make it, `bind` its env, `load` it, then send events."""

    def __init__(self, main: Path, root: Path, bundle: Bundle, services: Services) -> None:
        self.services = services
        self._host = services.clock.loop
        self.loop = WebLoop(self._host, services.clock)  # type: ignore[abstract]  # no files, no signals
        self._loader = Loader(main, root)
        self._bundle = bundle
        self._modules = HostModules.installed()
        self._entrypoints: Entrypoints | None = None
        self._on_virtual_time = False
        self._env: Any = None  # raw: the SDK wraps it for each new instance

    # Life.

    async def load(self, env: Mapping[str, Any], flags: dict[str, bool]) -> None:
        """Import the main module. Raises what the Worker's top level raised, or UserError."""
        patches.install()
        if isinstance(self.services.clock, VirtualClock):
            self._modules.virtual_time.install()
            self._on_virtual_time = True
        self._modules.use(dict(env), flags, self.services.pyodide_version, self._bundle)
        sdk = importlib.import_module("workers")
        start_up = IoContext(self.loop, self.services, allows_io=False)
        module = await self._run(start_up, _call(self._loader.load))
        for warning in self._loader.warnings():
            self.services.log("warn", warning)
        self._env = self._modules.env
        legacy = not flags.get("python_no_global_handlers", False)
        self._entrypoints = Entrypoints.of(module, sdk, legacy=legacy)

    async def close(self) -> None:
        self._loader.unload()
        self._modules.release(self._bundle)
        if self._on_virtual_time:
            self._modules.virtual_time.remove()
            self._on_virtual_time = False
        await self.services.close()

    def web_assembly_module(self, path: Path) -> Any:
        return web_assembly_module(path)

    def files(self) -> list[Path]:
        return [*self._loader.files(), *self._bundle.files()]

    # Events from outside.

    async def fetch(self, incoming: IncomingRequest) -> OutgoingResponse:
        io = IoContext(self.loop, self.services)
        try:
            outgoing: OutgoingResponse = await self._run(io, self._answer(incoming, io))
        except BaseException as error:
            io.answer()
            if isinstance(error, Exception):
                raise self._uncaught(error) from error
            raise
        return outgoing

    async def _answer(self, incoming: IncomingRequest, io: IoContext) -> OutgoingResponse:
        target = incoming.target
        ctx = ExecutionContext(io, target.props)
        response = await self._exports.fetch(Request.incoming(incoming), self._env, ctx, _entrypoint(target))
        outgoing: OutgoingResponse = response.outgoing(io)
        if outgoing.websocket is not None and not _asks_for_websocket(incoming):
            raise type_error(NO_UPGRADE)
        return outgoing

    async def call(
        self, target: Target, path: Sequence[str], arguments: Sequence[Any], over: asyncio.Future[None]
    ) -> Any:
        """Another Worker calls a method: values in, a value out; raises JsError with what was thrown.

        What the method gave of its own (functions, streams) is there until the caller is `over`.
        """
        io = IoContext(self.loop, self.services)
        crossing = Crossing()
        try:
            value = await self._run(io, self._called(io, target, path, arguments, crossing))
            if crossing.shares:
                io.hold_until(over)
            return value
        except Exception as error:
            raise self._thrown(error) from error
        finally:
            io.answer()

    async def _called(
        self, io: IoContext, target: Target, path: Sequence[str], arguments: Sequence[Any], crossing: Crossing
    ) -> Any:
        given = [to_python(argument) for argument in arguments]
        ctx = ExecutionContext(io, target.props)
        return crossing.checked(from_python(await self._exports.call(_entrypoint(target), path, given, self._env, ctx)))

    async def scheduled(self, cron: str, scheduled_time_ms: float) -> ScheduledOutcome:
        controller = ScheduledController(cron, scheduled_time_ms)
        try:
            await self._event("scheduled", controller)
        except JsError:
            return ScheduledOutcome("exception", controller.no_retry)
        return ScheduledOutcome("ok", controller.no_retry)

    # Dispatch.

    async def queue(self, batch: Any) -> None:
        await self._event("queue", to_python(batch), waits=NO_WAIT not in self.services.flags)

    async def run_workflow(self, class_name: str, event: Any, step: Any) -> Any:
        io = IoContext(self.loop, self.services)
        if hasattr(type(step), "outstanding"):
            step.outstanding = lambda: io.ready + io.outside
        work = self._exports.run_workflow(
            class_name, to_python(event), to_python(step), self._env, ExecutionContext(io)
        )
        try:
            return from_python(await self._run(io, work))
        except asyncio.CancelledError:
            io.drop(work)
            raise
        except Exception as error:
            raise self._thrown(error) from error
        finally:
            io.answer()

    def workflow_classes(self) -> frozenset[str]:
        return frozenset(self._exports.workflows)

    # One event.

    @property
    def _exports(self) -> Entrypoints:
        assert self._entrypoints is not None, "load() comes first"
        return self._entrypoints

    async def _event(self, handler: str, argument: Any, *, waits: bool = True) -> None:
        """A handler without an answer; if it `waits`, it is over when its waitUntil work is, whose failure fails it.

        Cancelled, neither goes on.
        """
        io = IoContext(self.loop, self.services)
        over = self._host.create_future()
        io.on_closed = lambda: None if over.done() else over.set_result(None)
        try:
            await self._run(io, self._exports.event(handler, argument, self._env, ExecutionContext(io)))
            io.answer()
            if waits:
                await over
        except asyncio.CancelledError:
            for task in list(io.waiting):
                task.cancel()
            raise
        except Exception as error:
            io.answer()
            thrown = self._thrown(error, report=True)
            if isinstance(error, TypeError) and (hint := self._exports.hint(handler)) is not None:
                self.services.log("warn", hint)
            raise thrown from error
        if waits and io.failures:
            raise self._thrown(io.failures[0])

    async def _run(self, io: IoContext, work: Coroutine[Any, Any, Any]) -> Any:
        """Run Worker code to its end; cancelled or stuck, it ends at its next await."""
        done = self._host.create_future()
        io.on_stuck = lambda: None if done.done() else done.set_exception(JsError(HUNG))
        task = io.create_task(_report(work, done))
        try:
            return await done
        except asyncio.CancelledError as error:
            if not done.cancelled():  # the Worker's own, of something that it has cancelled itself
                raise thrown_by(error) from error
            task.cancel()
            raise

    def _thrown(self, error: BaseException, *, report: bool = False) -> JsError:
        if report:
            self.services.uncaught(error)
        return error if isinstance(error, JsError) else thrown_by(error)

    def _uncaught(self, error: Exception) -> WorkerError:
        self.services.uncaught(error)
        thrown = self._thrown(error)
        return WorkerError(f"{thrown}\n", error, worker_frames(error))


def _entrypoint(target: Target) -> str | None:
    if target.object_id is not None:  # workerd's words (server.c++, getActor)
        raise JsError(f'Worker does not export a Durable Object class named "{target.entrypoint}"')
    return target.entrypoint


def _asks_for_websocket(incoming: IncomingRequest) -> bool:
    return any(name == "upgrade" and value.lower() == "websocket" for name, value in incoming.headers)


async def _report(work: Coroutine[Any, Any, Any], done: asyncio.Future[Any]) -> None:
    """Tell the host how Worker code ended; this takes one hop less than a callback of the task."""
    try:
        result = await work
    except BaseException as error:
        if not done.done():
            done.set_exception(error)
    else:
        if not done.done():
            done.set_result(result)


async def _call(function: Callable[[], Any]) -> Any:
    return function()
