"""Functions of the standard library that behave otherwise in a Worker: waiting does not block, threads do not exist.

Each patched function looks at who calls: only code that runs on a WebLoop is treated as production treats it. Observed
on Pyodide 314: `time.sleep` holds up its own request only, `asyncio.run` works inside a handler, threads and processes
fail. The SDK makes anyio's threads inline in the same way.
"""

from __future__ import annotations

import asyncio
import builtins
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from asyncio import events
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from flarebed.emulator.runtime.python import http_clients
from flarebed.emulator.runtime.python.late_patches import LatePatches
from flarebed.emulator.runtime.python.promise import io_context
from flarebed.emulator.runtime.python.proxy import jsnull
from flarebed.emulator.runtime.python.webloop import WebLoop

_STANDARD_LIBRARY = os.path.dirname(os.__file__)
_MISSING = {
    os: ("forkpty", "posix_spawn", "posix_spawnp"),
    signal: ("alarm", "setitimer", "pthread_kill"),
}
"""What Pyodide's modules lack, of that which would start a process or interrupt this one."""
_NO_SEMAPHORES = (
    "This Python build lacks multiprocessing.synchronize, usually due to named semaphores being unavailable on this "
    "platform."
)


def worker_loop() -> WebLoop | None:
    """The Worker's loop, if Worker code is calling."""
    loop = events._get_running_loop()
    return loop if isinstance(loop, WebLoop) else None


def install() -> None:
    """Patch this process, once."""
    if hasattr(threading.Thread.start, "__wrapped__"):
        return
    _patch(time, "sleep", _sleep)
    _patch(asyncio, "run", _run)
    _patch(asyncio.runners, "run", _run)
    _patch(threading.Thread, "start", _fails(lambda: RuntimeError("can't start new thread")))
    _patch(subprocess.Popen, "__init__", _fails(lambda: OSError(138, "emscripten does not support processes.")))
    _patch(os, "system", lambda *_arguments: -1)
    _patch(os, "fork", _fails(lambda: OSError(52, "Function not implemented")))
    for name in ("execv", "execve"):
        _patch(os, name, _fails(lambda: OSError(45, "Exec format error")))
    for name in ("connect", "connect_ex"):
        _patch_connect(name)
    _patch(socket.socket, "listen", _fails(lambda: OSError(138, "Not supported")))
    for module, names in _MISSING.items():
        for name in names:
            _patch(module, name, _fails(functools.partial(_no_attribute, module, name)))
    _patch_signals()
    _patch_input()
    _patch_json()
    late: dict[str, Callable[[Any], None]] = {
        "anyio.to_thread": lambda module: _patch(module, "run_sync", _inline),
        "multiprocessing.process": lambda module: _patch(module.BaseProcess, "start", _fails(_no_multiprocessing)),
        "multiprocessing.synchronize": lambda module: _patch(module.SemLock, "__init__", _fails(_no_multiprocessing)),
        "concurrent.futures.process": lambda module: _patch(
            module, "_check_system_limits", _fails(lambda: NotImplementedError(_NO_SEMAPHORES))
        ),
    }
    late["httpx._transports.default"] = _patch_httpx
    LatePatches(late).install()


def _patch_httpx(module: Any) -> None:
    _patch(module.AsyncHTTPTransport, "handle_async_request", http_clients.send)
    _patch(module.HTTPTransport, "handle_request", http_clients.send_now)


def _patch(owner: Any, name: str, in_worker: Callable[..., Any]) -> None:
    original = getattr(owner, name, None)
    if original is None:
        return  # not on this platform

    @functools.wraps(original)
    def patched(*arguments: Any, **options: Any) -> Any:
        if worker_loop() is None:
            return original(*arguments, **options)
        return in_worker(*arguments, **options)

    setattr(owner, name, patched)


def _patch_connect(name: str) -> None:
    """Sockets of the machine, for libraries that bring their own protocols; none while the Worker starts."""
    original = getattr(socket.socket, name)

    def connect(*arguments: Any) -> Any:
        io_context()
        return original(*arguments)

    _patch(socket.socket, name, connect)


def _fails(error: Callable[[], Exception]) -> Callable[..., NoReturn]:
    def fail(*_arguments: Any, **_options: Any) -> NoReturn:
        raise error()

    return fail


def _no_attribute(module: ModuleType, name: str) -> Exception:
    return AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module)


def _sleep(seconds: float) -> None:
    loop = worker_loop()
    assert loop is not None
    loop.run_sync(asyncio.sleep(seconds))  # noqa: TID251  # on the Worker's loop, so on the clock


def _run(main: Any, **_options: Any) -> Any:
    loop = worker_loop()
    assert loop is not None
    return loop.run_sync(main)


def _patch_signals() -> None:
    """A Worker's handlers are remembered and never called; those of the process are flarebed's."""
    handlers: dict[int, Any] = {signal.SIGINT: signal.default_int_handler}

    def handler_of(number: int) -> Any:
        return handlers.get(number, signal.SIG_DFL)

    def handle(number: int, handler: Any) -> Any:
        before = handler_of(number)
        handlers[number] = handler
        return before

    _patch(signal, "signal", handle)
    _patch(signal, "getsignal", handler_of)


def _patch_input() -> None:
    """There is nobody to ask; but debuggers (pdb, and those that are installed) talk to the developer."""
    original = builtins.input

    @functools.wraps(original)
    def patched(*arguments: Any) -> str:
        caller = sys._getframe(1).f_code.co_filename
        if worker_loop() is None or caller.startswith(_STANDARD_LIBRARY) or "site-packages" in caller:
            return original(*arguments)
        raise EOFError

    builtins.input = patched


def _patch_json() -> None:
    """`json.dumps(jsnull)` is "null" in Pyodide, also for an encoder with a default of its own."""
    default, set_up = json.JSONEncoder.default, json.JSONEncoder.__init__

    def with_default(self: json.JSONEncoder, *, default: Any = None, **options: Any) -> None:
        set_up(self, default=default and (lambda o: None if o is jsnull else default(o)), **options)

    def with_null(self: json.JSONEncoder, o: Any) -> Any:
        return None if o is jsnull else default(self, o)

    json.JSONEncoder.default = with_null  # type: ignore[method-assign]
    json.JSONEncoder.__init__ = with_default  # type: ignore[method-assign]


async def _inline(function: Callable[..., Any], *arguments: Any, **_options: Any) -> Any:
    return function(*arguments)


def _no_multiprocessing() -> Exception:
    return ModuleNotFoundError("No module named '_multiprocessing'", name="_multiprocessing")
