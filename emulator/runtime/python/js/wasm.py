"""`js.WebAssembly` over wasmtime.

Modules come from the config (`wasm_modules`, `CompiledWasm` rules): as in production, bytes can't be compiled while a
Worker runs. Numbers cross as JavaScript's do: i64 is a bigint.
Source: the WebAssembly JavaScript Interface; https://developers.cloudflare.com/workers/runtime-apis/webassembly/
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import wasmtime

from flarebed.bindings.values import ArrayBuffer, BigInt
from flarebed.emulator.runtime.python.promise import Promise
from flarebed.emulator.runtime.python.proxy import Constructor, JsException, JsProxy, from_python, throw, to_python

_INSTANCE = "WebAssembly.Instance():"
_DISALLOWED = "WebAssembly.{}(): Wasm code generation disallowed by embedder"


class Module(JsProxy, js="Module"):
    """A compiled module."""

    js_tag = "WebAssembly.Module"

    def __init__(self, compiled: Any, engine: wasmtime.Engine | None = None) -> None:
        if engine is None:
            raise throw(_DISALLOWED.format("Module"), "CompileError")
        self.compiled = compiled
        self.engine = engine

    @classmethod
    def from_file(cls, path: Path) -> Module:
        """Compile a `.wasm` file of the project. Raises a CompileError if it is none."""
        engine = wasmtime.Engine()
        try:
            return cls(wasmtime.Module.from_file(engine, str(path)), engine)
        except wasmtime.WasmtimeError as error:
            first = str(error).partition("\n")[0]
            raise throw(f"WebAssembly.Module(): {path.name}: {first}", "CompileError") from None

    class Static(Constructor, js="Function"):
        """WebAssembly.Module.exports and .imports."""

        __slots__ = ()

        def exports(self, module: Module) -> Any:
            return to_python([{"name": e.name, "kind": _kind(e.type)} for e in module.compiled.exports])

        def imports(self, module: Module) -> Any:
            return to_python(
                [{"module": i.module, "name": i.name, "kind": _kind(i.type)} for i in module.compiled.imports]
            )


class Instance(JsProxy, js="Instance"):
    """An instance of a module; `exports` is an object of functions, memories, globals and tables."""

    js_tag = "WebAssembly.Instance"

    def __init__(self, module: Any, imports: Any = None) -> None:
        if not isinstance(module, Module):
            raise throw(f"{_INSTANCE} Argument 0 must be a WebAssembly.Module", "TypeError")
        store = wasmtime.Store(module.engine)
        given = [_import(store, *numbered, imports) for numbered in enumerate(module.compiled.imports)]
        try:
            self._instance = wasmtime.Instance(store, module.compiled, given)
        except (wasmtime.WasmtimeError, wasmtime.Trap) as error:
            raise throw(f"{_INSTANCE} {error}", "LinkError") from None
        names = [export.name for export in module.compiled.exports]
        externs = self._instance.exports(store)
        self.exports = to_python({name: _export(store, externs[name]) for name in names})


class Memory(JsProxy, js="Memory"):
    """A linear memory; `buffer` shows its bytes as they are now."""

    js_tag = "WebAssembly.Memory"

    def __init__(self, store: wasmtime.Store, memory: wasmtime.Memory) -> None:
        self._store = store
        self.memory = memory

    @property
    def buffer(self) -> Any:
        size = self.memory.data_len(self._store)
        pointer = self.memory.data_ptr(self._store)
        live: Any = memoryview((type(pointer.contents) * size).from_address(_address(pointer))).cast("B")
        return to_python(ArrayBuffer(live))

    def grow(self, pages: int) -> int:
        try:
            return self.memory.grow(self._store, pages)
        except wasmtime.WasmtimeError:
            raise throw("WebAssembly.Memory.grow(): Maximum memory size exceeded", "RangeError") from None


class Global(JsProxy, js="Global"):
    """A global; `value` is read and, if it is mutable, written."""

    js_tag = "WebAssembly.Global"

    def __init__(self, store: wasmtime.Store, wrapped: wasmtime.Global) -> None:
        self._store = store
        self._global = wrapped

    @property
    def value(self) -> Any:
        return _to_js(self._global.value(self._store), str(self._global.type(self._store).content))

    @value.setter
    def value(self, value: Any) -> None:
        self._global.set_value(self._store, value)


class Table(JsProxy, js="Table"):
    """A table of functions."""

    js_tag = "WebAssembly.Table"

    def __init__(self, store: wasmtime.Store, table: wasmtime.Table) -> None:
        self._store = store
        self._table = table

    @property
    def length(self) -> int:
        return self._table.size(self._store)

    def get(self, index: int) -> Any:
        entry = self._table.get(self._store, index)
        return Exported(self._store, entry) if isinstance(entry, wasmtime.Func) else to_python(None)


class Exported(JsProxy, js="Function"):
    """An exported function; `name` as V8 gives it is its index, which nobody relies on."""

    def __init__(self, store: wasmtime.Store, function: wasmtime.Func) -> None:
        self._store = store
        self.function = function
        self._type = function.type(store)

    @property
    def length(self) -> int:
        return len(self._type.params)

    def __call__(self, *arguments: Any, **_options: Any) -> Any:
        wanted = [str(kind) for kind in self._type.params]
        given = [*arguments, *[0] * len(wanted)][: len(wanted)]
        try:
            result = self.function(self._store, *map(_to_wasm, given, wanted))
        except wasmtime.Trap as trap:
            raise throw(_trap_text(trap), "RuntimeError") from None
        kinds = [str(kind) for kind in self._type.results]
        if len(kinds) > 1:
            return to_python([from_python(_to_js(value, kind)) for value, kind in zip(result, kinds, strict=True)])
        return _to_js(result, kinds[0]) if kinds else None


class WebAssembly(JsProxy, js="WebAssembly"):
    """The namespace object."""

    Module = Constructor.of(Module)
    Instance = Constructor.of(Instance)

    def instantiate(self, source: Any, imports: Any = None) -> Promise:
        """A promise of the instance of a Module."""
        if not isinstance(source, Module):
            return Promise.rejected(throw(_DISALLOWED.format("instantiate"), "CompileError"))
        try:
            return Promise.fulfilled(Instance(source, imports))
        except JsException as error:
            return Promise.rejected(error)

    def compile(self, _source: Any) -> Promise:
        return Promise.rejected(throw(_DISALLOWED.format("compile"), "CompileError"))

    def validate(self, source: Any) -> bool:
        try:
            wasmtime.Module.validate(wasmtime.Engine(), bytes(from_python(source)))
        except wasmtime.WasmtimeError:
            return False
        return True


def _kind(described: Any) -> str:
    return {
        wasmtime.FuncType: "function",
        wasmtime.MemoryType: "memory",
        wasmtime.GlobalType: "global",
        wasmtime.TableType: "table",
    }[type(described)]


def _export(store: wasmtime.Store, extern: Any) -> JsProxy:
    made: Callable[..., JsProxy] = {
        wasmtime.Func: Exported,
        wasmtime.Memory: Memory,
        wasmtime.Global: Global,
        wasmtime.Table: Table,
    }[type(extern)]
    return made(store, extern)


def _import(store: wasmtime.Store, index: int, wanted: Any, imports: Any) -> wasmtime.Func:
    """The host function for one import of the module; V8's texts."""
    if imports is None:
        raise throw(f"{_INSTANCE} Imports argument must be present and must be an object", "TypeError")
    group = _property(imports, wanted.module)
    if group is None:
        raise throw(f'{_INSTANCE} Import #{index} "{wanted.module}": module is not an object or function', "TypeError")
    found = _property(group, wanted.name)
    if not isinstance(wanted.type, wasmtime.FuncType):
        raise throw(f"{_INSTANCE} Import #{index}: flarebed can import functions only", "LinkError")
    if not callable(found):
        where = f'Import #{index} "{wanted.module}" "{wanted.name}"'
        raise throw(f"{_INSTANCE} {where}: function import requires a callable", "LinkError")
    results = [str(kind) for kind in wanted.type.results]
    parameters = [str(kind) for kind in wanted.type.params]

    def call(*arguments: Any) -> Any:
        result = found(*map(_to_js, arguments, parameters))
        return _to_wasm(result, results[0]) if results else None

    return wasmtime.Func(store, wanted.type, call)


def _property(of: Any, name: str) -> Any:
    return of.get(name) if isinstance(of, dict) else getattr(of, name, None)


def _to_js(value: Any, kind: str) -> Any:
    return to_python(BigInt(value) if kind == "i64" else value)


def _to_wasm(value: Any, kind: str) -> Any:
    """ToWebAssemblyValue: what is no number becomes 0 or NaN, integers wrap."""
    if kind in ("f32", "f64"):
        return float(value) if isinstance(value, int | float) else float("nan")
    bits = 64 if kind == "i64" else 32
    number = int(value) if isinstance(value, int | float) and value == value else 0
    wrapped = number & ((1 << bits) - 1)
    return wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped


def _trap_text(trap: wasmtime.Trap) -> str:
    """V8's words for the traps that have some."""
    text = str(trap)
    for part, words in {
        "integer divide by zero": "divide by zero",
        "unreachable": "unreachable",
        "out of bounds memory access": "memory access out of bounds",
        "call stack exhausted": "Maximum call stack size exceeded",
        "integer overflow": "divide result unrepresentable",
    }.items():
        if part in text:
            return words
    return text.splitlines()[0]


def _address(pointer: Any) -> int:
    return int(ctypes.cast(pointer, ctypes.c_void_p).value or 0)
