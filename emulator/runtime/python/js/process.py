"""`js.process`, which a Worker has by default since 2026-08-04: what tells where code runs, and `nextTick`.

Source: workerd src/node/internal/process.ts; values observed on workerd 1.20261117.1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from flarebed.bindings import ecma
from flarebed.emulator.runtime.python.data import JsObject
from flarebed.emulator.runtime.python.js.protocols import JsFunction
from flarebed.emulator.runtime.python.proxy import from_python

_NODE = "22.23.4"
_TEXTS = (str, int, float, bool, dict, list, type(None))


class Process(JsObject, js="EventEmitter"):
    """The object; its `env` has the variables and secrets of the Worker, as text."""

    __slots__ = ()

    def __init__(self, env: Mapping[str, Any]) -> None:
        texts = {name: _text(value) for name, value in env.items() if isinstance(value, _TEXTS)}
        functions: dict[str, Callable[..., Any]] = {
            "cwd": lambda: "/bundle",
            "nextTick": _next_tick,
            "uptime": lambda: 0,
        }
        super().__init__(
            {
                "version": f"v{_NODE}",
                "versions": {"node": _NODE},
                "title": "workerd",
                "argv": ["workerd"],
                "argv0": "workerd",
                "execArgv": [],
                "arch": "x64",
                "platform": "linux",
                "pid": 1,
                "ppid": 0,
                "env": texts,
                **{name: from_python(JsFunction(function, name)) for name, function in functions.items()},
            }
        )

    def __repr__(self) -> str:
        return "[object process]"

    __str__ = __repr__


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(ecma.json_stringify(value))


def _next_tick(callback: Any, *arguments: Any) -> None:
    asyncio.get_running_loop().call_soon(callback, *arguments)
