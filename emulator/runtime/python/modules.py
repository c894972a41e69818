"""The host modules that the SDK and Worker code import: `js`, `pyodide` and its parts, the entrypoint helper.

They are installed into `sys.modules` once per process; what differs from Worker to Worker (env, flags) is set by
`HostModules.use`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

from flarebed.bindings.errors import JsError
from flarebed.emulator.runtime.python import binding, code, futures, pyodide_http, sdk_conversions, webloop
from flarebed.emulator.runtime.python.bundle import Bundle
from flarebed.emulator.runtime.python.context import current
from flarebed.emulator.runtime.python.data import JsObject
from flarebed.emulator.runtime.python.ffi import ffi_names
from flarebed.emulator.runtime.python.js import fetcher as _fetcher  # noqa: F401  # `to_python` knows it from now on
from flarebed.emulator.runtime.python.js import globals as js_globals
from flarebed.emulator.runtime.python.js.process import Process
from flarebed.emulator.runtime.python.js.protocols import JsFunction
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import Constructor, JsException, JsProxy, from_js_error, from_python
from flarebed.emulator.runtime.python.workflow_step import SdkWorkflows

if TYPE_CHECKING:
    from flarebed.emulator.runtime.python.virtual_time import VirtualTime

_HELPER = "_pyodide_entrypoint_helper"


class JsModule(JsObject, js="Module"):
    """A JavaScript object that Python imports as a module."""

    __slots__ = ("__dict__",)

    def __init__(self, name: str, value: dict[str, Any], lazy: Mapping[str, Callable[[], Any]] | None = None) -> None:
        super().__init__(value)
        object.__setattr__(self, "__name__", name)
        object.__setattr__(self, "__spec__", None)
        object.__setattr__(self, "_lazy", lazy or {})

    def __getattr__(self, name: str) -> Any:
        if name in self._lazy and name not in self._members:
            self._members[name] = from_python(self._lazy[name]())
        value = super().__getattr__(name)
        if isinstance(value, JsProxy):
            self.__dict__[name] = value  # the next time it is found without a call: the SDK asks for each request
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__.pop(name, None)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__.pop(name, None)
        super().__delattr__(name)

    @property
    def constructor(self) -> Any:
        raise AttributeError("constructor")  # a module namespace has no prototype

    def __repr__(self) -> str:
        return "[object Module]"

    __str__ = __repr__


class HostModules:
    """The installed modules of this process."""

    def __init__(self) -> None:
        binding.register()
        self.env = JsObject({})
        self._bundle: Bundle | None = None
        self._own_modules: dict[str, JsModule] = {}
        self.flags = JsModule("_cloudflare_compat_flags", {})
        self.workers_module = JsModule(
            "cloudflare:workers", {"env": self.env.js_value(), "waitUntil": JsFunction(_wait_until, "waitUntil")}
        )
        self._js_modules: dict[str, Any] = {
            "cloudflare:workers": self.workers_module,
            "cloudflare:sockets": JsModule("cloudflare:sockets", {}),
            "python_modules/workers/workflows.js": SdkWorkflows(),
        }
        names = {name: from_python(value) for name, value in js_globals.exports().items()}
        scope = JsModule("js", names, {"WebAssembly": _web_assembly, "URLPattern": _url_pattern})
        names |= dict.fromkeys(("globalThis", "self"), names)
        self.modules: dict[str, Any] = {
            "js": scope,
            "_cloudflare_compat_flags": self.flags,
            _HELPER: self._entrypoint_helper(),
            "pyodide_js": JsModule("pyodide_js", {}),
            **_pyodide_modules(),
        }

    @cached_property
    def virtual_time(self) -> VirtualTime:
        """Is loaded for a Worker on a virtual clock only."""
        made: VirtualTime = importlib.import_module("flarebed.emulator.runtime.python.virtual_time").VirtualTime()
        return made

    @classmethod
    def installed(cls) -> HostModules:
        """The modules of this process; the SDK, which holds on to them, is loaded with them."""
        known = getattr(sys.modules.get(_HELPER), "host_modules", None)
        if isinstance(known, cls):
            return known
        made = cls()
        sys.modules.update(made.modules)
        importlib.import_module("workers")
        sdk_conversions.shorten(sys.modules["workers.rpc"])
        return made

    def use(self, env: dict[str, Any], flags: dict[str, bool], pyodide_version: str, bundle: Bundle) -> None:
        """Make the modules those of one Worker."""
        self._bundle = bundle
        self._own_modules.clear()
        _replace(self.env, env)
        _replace(self.flags, flags)
        scope = self.modules["js"].js_value()
        scope.pop("process", None)
        if flags.get("nodejs_compat_v2"):
            scope["process"] = Process(env)
        self.modules["pyodide"].__version__ = pyodide_version

    def release(self, bundle: Bundle) -> None:
        """Let go of what a Worker has brought, unless the modules are another's by now."""
        if self._bundle is bundle:
            self._bundle = None
            self._own_modules.clear()
            _replace(self.env, {})

    def _entrypoint_helper(self) -> ModuleType:
        return _module(
            _HELPER,
            host_modules=self,
            cloudflareWorkersModule=self.workers_module,
            cloudflareSocketsModule=self._js_modules["cloudflare:sockets"],
            doAnImport=self._import,
            patch_env_helper=self._patch_env,
            patchWaitUntil=lambda _ctx: None,
        )

    def _import(self, name: str) -> Promise:
        """`import(name)` of an ES module: those that workerd has and we know, and the Worker's own files."""
        try:
            return Promise.fulfilled(self._js_modules[name] if name in self._js_modules else self._own_module(name))
        except JsError as error:
            return Promise.rejected(from_js_error(error))
        except JsException as error:
            return Promise.rejected(error)

    def _own_module(self, specifier: str) -> JsModule:
        assert self._bundle is not None, "use() comes first"
        name = self._bundle.resolve(specifier)
        if name not in self._own_modules:
            self._own_modules[name] = JsModule(name, {"default": self._bundle.default_export(name)})
        return self._own_modules[name]

    def _patch_env(self, changes: JsObject) -> Iterator[None]:
        """`workers.patch_env`: other values in `env` while the caller's block runs."""
        before = dict(self.env.js_value())
        self.env.js_value().update(changes.to_py())
        try:
            yield
        finally:
            _replace(self.env, before)


def _replace(target: JsObject, members: Mapping[str, Any]) -> None:
    """Give an object that others hold these members and no others."""
    target.js_value().clear()
    target.js_value().update(members)


def _url_pattern() -> Any:
    return Constructor.of(importlib.import_module("flarebed.emulator.runtime.python.js.url_pattern").URLPattern)


def _web_assembly() -> Any:
    """wasmtime takes 40 ms to import, and few Workers need it."""
    return importlib.import_module("flarebed.emulator.runtime.python.js.wasm").WebAssembly()


def _wait_until(awaitable: Any) -> None:
    """`workers.waitUntil`, for the event that is being handled."""
    current().wait_until(awaitable)


def _pyodide_modules() -> dict[str, ModuleType]:
    ffi = _module("pyodide.ffi", **ffi_names())
    http = pyodide_http.modules()
    names: dict[str, Any] = {
        each.__name__: each
        for each in (
            code.CodeRunner,
            code.eval_code,
            code.eval_code_async,
            code.find_imports,
            code.should_quiet,
            code.relaxed_call,
            code.relaxed_wrap,
        )
    }
    parts = {
        "ffi": ffi,
        "code": _module("pyodide.code", **names, run_js=_run_js),
        "webloop": _module(
            "pyodide.webloop",
            WebLoop=webloop.WebLoop,
            PyodideFuture=futures.PyodideFuture,
            PyodideTask=futures.PyodideTask,
        ),
        "http": http["pyodide.http"],
    }
    version = "314.0.6"  # until a Worker says which; the SDK asks when it is loaded
    members = {**parts, **names, "to_js": ffi.to_js, "create_proxy": ffi.create_proxy, "__path__": []}
    package = _module("pyodide", __version__=version, **members)
    return {"pyodide": package, **{f"pyodide.{name}": part for name, part in parts.items()}, **http}


def _run_js(_code: str) -> Any:
    raise from_js_error(JsError("Code generation from strings disallowed for this context", "EvalError"))


def _module(name: str, **members: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update(members)
    return module
