"""WebAssembly: texts as V8 gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import wasmtime

from flarebed.emulator.runtime.python import binding, data, pyproxy  # noqa: F401  # they register their proxies
from flarebed.emulator.runtime.python.bigint import JsBigInt
from flarebed.emulator.runtime.python.js import wasm
from flarebed.emulator.runtime.python.proxy import JsException
from flarebed.emulator.runtime.python.pyproxy import ToJs, dict_to_object

SOURCE = """
(module
  (import "env" "log" (func $log (param i32)))
  (memory (export "mem") 1 2)
  (global (export "g") (mut i64) (i64.const 7))
  (func (export "add") (param i32 i32) (result i32) local.get 0 call $log local.get 0 local.get 1 i32.add)
  (func (export "div") (param i32 i32) (result i32) local.get 0 local.get 1 i32.div_s)
  (func (export "half") (param f64) (result f64) local.get 0 f64.const 2 f64.div)
  (func (export "poke") i32.const 3 i32.const 65 i32.store8))
"""


@pytest.fixture
def module(tmp_path: Path) -> wasm.Module:
    path = tmp_path / "m.wasm"
    path.write_bytes(wasmtime.wat2wasm(SOURCE))
    return wasm.Module.from_file(path)


@pytest.fixture
def exports(module: wasm.Module) -> Any:
    return wasm.Instance(module, {"env": {"log": lambda _number: None}}).exports


def test_numbers_cross_as_javascripts_do(exports: Any) -> None:
    assert exports.add(2, 3) == 5
    assert exports.add(2**31, 1) == -(2**31) + 1
    assert exports.add(float("nan"), "3") == 0
    assert exports.half(3) == 1.5
    assert (exports.g.value, type(exports.g.value)) == (7, JsBigInt)


def test_imported_functions_are_called(module: wasm.Module) -> None:
    seen: list[Any] = []
    imports = ToJs(dict_to_object, None, True).convert({"env": {"log": seen.append}}, -1)
    wasm.Instance(module, data.JsObject(imports)).exports.add(9, 1)
    assert seen == [9]


def test_memory_shows_its_bytes_as_they_are_now(exports: Any) -> None:
    exports.poke()
    assert exports.mem.buffer.to_bytes()[:5] == b"\0\0\0A\0"
    assert exports.mem.grow(1) == 1
    assert exports.mem.buffer.byteLength == 131072
    with pytest.raises(JsException, match=r"^RangeError: WebAssembly.Memory.grow\(\): Maximum memory size exceeded$"):
        exports.mem.grow(1)


def test_a_trap(exports: Any) -> None:
    with pytest.raises(JsException, match=r"^RuntimeError: divide by zero$"):
        exports.div(1, 0)


@pytest.mark.parametrize(
    ("imports", "text"),
    [
        (None, "TypeError: WebAssembly.Instance(): Imports argument must be present and must be an object"),
        ({}, 'TypeError: WebAssembly.Instance(): Import #0 "env": module is not an object or function'),
        ({"env": {}}, 'LinkError: WebAssembly.Instance(): Import #0 "env" "log": function import requires a callable'),
    ],
)
def test_bad_imports(module: wasm.Module, imports: Any, text: str) -> None:
    with pytest.raises(JsException) as caught:
        wasm.Instance(module, imports)
    assert str(caught.value) == text


def test_bytes_cannot_be_compiled_while_a_worker_runs() -> None:
    with pytest.raises(JsException) as caught:
        wasm.WebAssembly.Module.new(b"\0asm")
    assert str(caught.value) == "CompileError: WebAssembly.Module(): Wasm code generation disallowed by embedder"


def test_a_module_describes_itself(module: wasm.Module) -> None:
    assert wasm.WebAssembly.Module.imports(module).to_py() == [{"module": "env", "name": "log", "kind": "function"}]
    assert {"name": "mem", "kind": "memory"} in wasm.WebAssembly.Module.exports(module).to_py()


def test_a_file_that_is_no_module(tmp_path: Path) -> None:
    (tmp_path / "m.wasm").write_bytes(b"no")
    with pytest.raises(JsException, match=r"^CompileError: WebAssembly.Module\(\): m.wasm: "):
        wasm.Module.from_file(tmp_path / "m.wasm")
