"""What a Worker's main module exports, and how its handlers are called.

Source: workerd src/pyodide/python-entrypoint-helper.ts and internal/introspection.py, and observed calls: `fetch` drops
surplus arguments, `scheduled` and `queue` take exactly (self, x, env, ctx) with env and ctx None.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from flarebed.bindings.errors import JsError, type_error
from flarebed.emulator.runtime.python.code import relaxed_call
from flarebed.emulator.runtime.python.proxy import JsProxy

NO_HANDLER = "Handler does not export a {}() function."
_RESERVED = ("constructor", "dup")
"""https://developers.cloudflare.com/workers/runtime-apis/rpc/reserved-methods/"""
_LEGACY_HANDLERS = ("fetch", "scheduled", "queue", "alarm", "trace", "pubsub")


@dataclass
class Entrypoints:
    """The exports of a main module: `default` is the class named Default, the others go by their names."""

    module: ModuleType
    sdk: ModuleType
    default: type | None = None
    workers: dict[str, type] = field(default_factory=dict)
    workflows: dict[str, type] = field(default_factory=dict)
    durable_objects: dict[str, type] = field(default_factory=dict)
    legacy: bool = False

    @classmethod
    def of(cls, module: ModuleType, sdk: ModuleType, *, legacy: bool) -> Entrypoints:
        """`legacy`: module functions `on_fetch` and so on count (before 2025-08-14, or by flag)."""
        found = cls(module, sdk, legacy=legacy)
        names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
        for exported in (getattr(module, name) for name in names):
            for base, into in (
                (sdk.WorkerEntrypoint, found.workers),
                (sdk.WorkflowEntrypoint, found.workflows),
                (sdk.DurableObject, found.durable_objects),
            ):
                if inspect.isclass(exported) and issubclass(exported, base) and exported is not base:
                    into[exported.__name__] = exported
        found.default = found.workers.pop("Default", None)
        if found.default is not None and legacy and found.legacy_handlers():
            raise type_error("Cannot define multiple default entrypoints")
        return found

    def legacy_handlers(self) -> list[str]:
        return [name for name in _LEGACY_HANDLERS if callable(getattr(self.module, f"on_{name}", None))]

    async def fetch(self, request: JsProxy, env: Any, ctx: Any, entrypoint: str | None = None) -> Any:
        """The JavaScript Response of an export's fetch handler; None is the default one."""
        export = self._export(entrypoint)
        if export is not None:
            result = await self._call(True, export, "fetch", [self.sdk.Request(request), None, None], env, ctx)
        else:
            result = await self._call_legacy("fetch", [request, env, ctx])
        response = getattr(result, "js_object", None) or getattr(result, "js_response", None) or result
        if not isinstance(response, JsProxy) or type(response).js_name != "Response":
            raise type_error("Incorrect type for Promise: the Promise did not resolve to 'Response'.")
        return response

    async def call(self, entrypoint: str | None, path: Sequence[str], arguments: list[Any], env: Any, ctx: Any) -> Any:
        """What a method gives, as the SDK gives it to JavaScript; arguments come as JavaScript has them."""
        export = self._export(entrypoint)
        if export is None or len(path) != 1 or path[0] in _RESERVED:
            raise type_error(f'The RPC receiver does not implement the method "{path[-1]}".')
        rpc = sys.modules["workers.rpc"]
        values = [rpc.python_from_rpc(argument) for argument in arguments]
        return rpc.python_to_rpc(await self._call(path[0] == "fetch", export, path[0], values, env, ctx))

    def _export(self, entrypoint: str | None) -> type | None:
        if entrypoint is None or entrypoint == "default":
            return self.default
        if entrypoint not in self.workers:
            raise JsError(f'Worker does not export an entrypoint named "{entrypoint}"')
        return self.workers[entrypoint]

    async def event(self, handler: str, argument: JsProxy, env: Any, ctx: Any) -> Any:
        """Run `scheduled` or `queue` with its controller or batch."""
        if self.default is not None:
            return await self._call(False, self.default, handler, [argument, None, None], env, ctx)
        return await self._call_legacy(handler, [argument, env, ctx])

    def hint(self, handler: str) -> str | None:
        """What to do if a `scheduled` or `queue` of the default class can't be called, as in production."""
        method = getattr(self.default, handler, None)
        if method is None:
            return None
        try:
            inspect.signature(method).bind(None, None, None, None)
        except TypeError:
            written = f"def {handler}(self, {'batch' if handler == 'queue' else 'controller'}, env, ctx)"
            return f"`{handler}` is called with three arguments, here as in production: {written}"
        except ValueError:  # of a function in C, which has none
            return None
        return None

    async def run_workflow(self, class_name: str, event: JsProxy, step: JsProxy, env: Any, ctx: Any) -> Any:
        workflow = self.workflows.get(class_name)
        if workflow is None:
            raise type_error(f"There is no '{class_name}' class defined in the Python Worker's main module")
        run = getattr(workflow(ctx, env), "run", None)
        if run is None:
            raise type_error("Method run does not exist")
        result = relaxed_call(run, event, step)
        return await result if inspect.isawaitable(result) else result

    async def _call(self, relaxed: bool, cls: type, prop: str, arguments: list[Any], env: Any, ctx: Any) -> Any:
        instance = cls(ctx, env)
        if not callable(getattr(instance, prop, None)):
            raise type_error(f"Method {prop} does not exist")
        return await wrapper_func(relaxed, instance, prop, *arguments)

    async def _call_legacy(self, handler: str, arguments: list[Any]) -> Any:
        function = getattr(self.module, f"on_{handler}", None) if self.legacy else None
        if function is None:
            raise JsError(self._missing_handler(handler))
        result = relaxed_call(function, *arguments)
        return await result if inspect.isawaitable(result) else result

    def _missing_handler(self, handler: str) -> str:
        if self.legacy:
            name = f"{self.module.__name__}.py"
            return f'Python entrypoint "{name}" does not export a handler named "on_{handler}"'
        return NO_HANDLER.format(handler)


async def wrapper_func(relaxed: bool, inst: Any, prop: str, *args: Any) -> Any:
    """The frame that production's tracebacks begin with, so it has the same name and lines."""
    method = getattr(inst, prop)
    result = relaxed_call(method, *args) if relaxed else method(*args)

    if inspect.isawaitable(result):
        return python_to_rpc(await result)
    return python_to_rpc(result)


def python_to_rpc(result: Any) -> Any:
    """Results of handlers stay as they are: what leaves is converted where it leaves."""
    return result
