"""Functions of the standard library that behave otherwise in a Worker: waiting does not block, threads do not exist.

Each patched function looks at who calls: only code that runs on a WebLoop is treated as production treats it. Observed
on Pyodide 314: `time.sleep` holds up its own request only, `asyncio.run` works inside a handler, threads and processes
fail. The SDK makes anyio's threads inline in the same way.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.abc
import importlib.machinery
import json
import os
import subprocess
import sys
import threading
import time
from asyncio import events
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from flarebed.emulator.runtime.python.context import CURRENT
from flarebed.emulator.runtime.python.promise import GLOBAL_SCOPE
from flarebed.emulator.runtime.python.proxy import jsnull, throw
from flarebed.emulator.runtime.python.webloop import WebLoop


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
    _patch(threading.Thread, "start", _no_thread)
    _patch(subprocess.Popen, "__init__", _no_process)
    _patch(os, "system", lambda *_arguments: -1)
    _patch_json()
    if hasattr(os, "fork"):
        _patch(os, "fork", _no_fork)
    sys.meta_path.insert(0, AnyioFinder())
    if "anyio.to_thread" in sys.modules:
        _patch_anyio(sys.modules["anyio.to_thread"])


def _patch_json() -> None:
    """`json.dumps(jsnull)` is "null" in Pyodide."""
    default = json.JSONEncoder.default

    def with_null(self: json.JSONEncoder, o: Any) -> Any:
        return None if o is jsnull else default(self, o)

    json.JSONEncoder.default = with_null  # type: ignore[method-assign]


def _patch(owner: Any, name: str, in_worker: Callable[..., Any]) -> None:
    original = getattr(owner, name)

    @functools.wraps(original)
    def patched(*arguments: Any, **options: Any) -> Any:
        if worker_loop() is None:
            return original(*arguments, **options)
        return in_worker(*arguments, **options)

    setattr(owner, name, patched)


def _sleep(seconds: float) -> None:
    loop = worker_loop()
    assert loop is not None
    io = CURRENT.get(None)
    if io is None or not io.allows_io:
        raise throw(GLOBAL_SCOPE)
    loop.run_sync(asyncio.sleep(seconds))  # noqa: TID251  # on the Worker's loop, so on the clock


def _run(main: Any, **_options: Any) -> Any:
    loop = worker_loop()
    assert loop is not None
    return loop.run_sync(main)


def _no_thread(*_arguments: Any, **_options: Any) -> None:
    raise RuntimeError("can't start new thread")


def _no_process(*_arguments: Any, **_options: Any) -> None:
    raise OSError(138, "emscripten does not support processes.")


def _no_fork() -> int:
    raise OSError(52, "Function not implemented")


class AnyioFinder(importlib.abc.MetaPathFinder):
    """Patches `anyio.to_thread` when it is imported, which may be at any time."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "anyio.to_thread":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = PatchingLoader(spec.loader.name, spec.loader.path)
        return spec


class PatchingLoader(importlib.machinery.SourceFileLoader):
    """Loads the module and patches it."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        _patch_anyio(module)


def _patch_anyio(module: ModuleType) -> None:
    async def inline(function: Callable[..., Any], *arguments: Any, **_options: Any) -> Any:
        return function(*arguments)

    _patch(module, "run_sync", inline)
