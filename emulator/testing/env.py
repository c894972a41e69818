"""`worker.env`: the Worker's bindings in the test's hands, as the SDK gives them to a Python Worker.

Also those of a JavaScript Worker, so that a test reads the same for both. Calls run on a loop as Worker code has it, in
an I/O context of the test's own; arguments and results are what Worker code would pass and get. What is a promise there
is an operation here.
"""

from __future__ import annotations

import importlib
import inspect
from asyncio import events
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context
from typing import Any, Protocol, TypeVar

from flarebed.emulator.app import App
from flarebed.emulator.runtime.python.binding import BindingProxy
from flarebed.emulator.runtime.python.context import CURRENT, IoContext
from flarebed.emulator.runtime.python.data import JsObject
from flarebed.emulator.runtime.python.js.fetcher import Fetcher, RpcStub
from flarebed.emulator.runtime.python.modules import HostModules
from flarebed.emulator.runtime.python.webloop import WebLoop
from flarebed.emulator.runtime.python.worker import PythonWorker
from flarebed.emulator.testing.goal import Awaiting, Blocking, Goal, running
from flarebed.emulator.testing.session import Session, beside_the_running_loop

T = TypeVar("T")


class Place(Protocol):
    """Which Worker's they are."""

    @property
    def session(self) -> Session: ...

    @property
    def app(self) -> App: ...


class Env:
    """`env.NAME` is a variable's value, or a binding."""

    def __init__(self, place: Place, face: Awaiting | Blocking) -> None:
        self._place = place
        self._face = face
        self._opened: tuple[Session, Scope] | None = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        scope = self._scope()
        return scope.shown(name, scope.call(getattr, scope.env, name))

    def _scope(self) -> Scope:
        session = self._place.session
        if self._opened is None or self._opened[0] is not session:
            self._opened = session, Scope(self._place, self._face)
        return self._opened[1]


class Scope:
    """Where the test's calls run."""

    def __init__(self, place: Place, face: Awaiting | Blocking) -> None:
        modules = HostModules.installed()
        rpc = importlib.import_module("workers.rpc")
        session, app = place.session, place.app
        env = modules.env if isinstance(app.worker, PythonWorker) else JsObject(app.env())
        self.env: Any = rpc._EnvWrapper(env)
        self._wrapper: type = rpc._BindingWrapper
        self._session = session
        self._face = face
        self._io = IoContext(WebLoop(session.loop, session.clock), app.worker.services)  # type: ignore[abstract]
        self._context = Context()
        self._context.run(CURRENT.set, self._io)

    def call(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call it as Worker code would."""
        with beside_the_running_loop(self._session.loop):
            events._set_running_loop(self._io.loop)
            try:
                return self._context.run(function, *arguments, **options)
            finally:
                events._set_running_loop(self._session.loop)

    def shown(self, name: str, value: Any) -> Any:
        """A binding, or what a binding made, goes on running here; other values are the Worker's."""
        if isinstance(value, list):
            return [self.shown(name, item) for item in value]
        return Bound(self, name, value) if self._is_binding(value) else value

    def performed(self, name: str, result: Awaitable[Any]) -> Any:
        return self._face.perform(lambda _: self._goal(name, result))

    def _goal(self, name: str, result: Awaitable[Any]) -> Goal[Any]:
        async def wait() -> Any:
            return self.shown(name, await result)

        return self.running(f"{name}()", wait())

    def running(self, what: str, work: Coroutine[Any, Any, T]) -> Goal[T]:
        """Work of the test's that runs as Worker code does."""

        async def on_the_workers_loop() -> T:
            ended = self._session.loop.create_future()
            task = self._io.create_task(work)
            task.add_done_callback(lambda _: None if ended.done() else ended.set_result(None))
            await ended
            result: T = task.result()
            return result

        return running(self._session, what, on_the_workers_loop())

    def _is_binding(self, value: Any) -> bool:
        inner = vars(value).get("_binding") if isinstance(value, self._wrapper) else value
        return isinstance(inner, BindingProxy | Fetcher | RpcStub)


class Bound:
    """A binding, a statement, an instance: its methods run as the Worker's calls do."""

    def __init__(self, scope: Scope, name: str, inner: Any) -> None:
        self._scope = scope
        self._name = name
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        scope, place = self._scope, f"{self._name}.{name}"
        member = scope.call(getattr, self._inner, name)
        if not callable(member):
            return scope.shown(place, member)

        def call(*arguments: Any, **options: Any) -> Any:
            given = {key: _inner(value) for key, value in options.items()}
            result = scope.call(member, *map(_inner, arguments), **given)
            return scope.performed(place, result) if inspect.isawaitable(result) else scope.shown(place, result)

        return call

    def __repr__(self) -> str:
        return f"<{self._name}>"


def _inner(value: Any) -> Any:
    """An argument as Worker code holds it."""
    if isinstance(value, Bound):
        return value._inner
    return [_inner(item) for item in value] if isinstance(value, list | tuple) else value
