"""The short way of the SDK's conversions gives what the SDK's own way gives."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from flarebed.bindings.values import UNDEFINED, ArrayBuffer, BigInt, Date, Error, Map, Set, View
from flarebed.emulator.runtime.python.modules import HostModules
from flarebed.emulator.runtime.python.proxy import JsProxy, from_python, to_python
from flarebed.emulator.runtime.python.sdk_conversions import shorten

HostModules.installed()
RPC = importlib.import_module("workers.rpc")

SAFE = 2**53 - 1
SCALARS = ("", "text", "\ud800", True, False, 0, -1, SAFE - 1, SAFE, -SAFE, 2**64, 0.5, 2.0, -0.0, float("inf"), None)
VALUES = (*SCALARS, UNDEFINED, BigInt(5), 1e300, float(2**53))
NO_ADDRESS = re.compile("at 0x[0-9a-f]+")
PARTS = (
    lambda value: [value],
    lambda value: {"a": value},
    lambda value: [{"a": value, "b": "x"}, {"a": 1, "b": value}],
    lambda value: [{"a": 1}, value, {"a": [value, {"c": value}]}],
    lambda value: {"results": [{"id": 1, "b": value}], "meta": {"deep": {"er": [[], {}, value]}}},
)


class Text(str):
    """A text that is not exactly one."""


def exact(value: Any) -> Any:
    """The value with the types of its parts, so that 1, 1.0 and True differ; a JavaScript object by its value."""
    if isinstance(value, dict):
        return type(value), [(key, exact(item)) for key, item in value.items()]
    if isinstance(value, list):
        return type(value), [exact(item) for item in value]
    if isinstance(value, JsProxy):
        return type(value), exact(value.js_value())
    return type(value), repr(value)


def test_the_installed_sdk_is_known() -> None:
    assert RPC.python_to_rpc.__wrapped__.__module__ == "workers.rpc"
    assert RPC.python_from_rpc.__wrapped__.__module__ == "workers.rpc"


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_comes_in_is_what_the_sdk_makes_of_it(value: Any) -> None:
    for whole in (value, *(part(value) for part in PARTS)):
        obj = to_python(whole)
        assert exact(RPC.python_from_rpc(obj)) == exact(RPC.python_from_rpc.__wrapped__(obj))


@pytest.mark.parametrize("value", [*SCALARS, Text("sub")], ids=repr)
def test_what_goes_out_is_what_the_sdk_makes_of_it(value: Any) -> None:
    for whole in (value, *(part(value) for part in PARTS), {1: value}, {"10": value, "b": 1, "9": value}):
        assert exact(from_python(RPC.python_to_rpc(whole))) == exact(from_python(RPC.python_to_rpc.__wrapped__(whole)))


def test_rows_come_in_as_the_sdks_dicts() -> None:
    (row, _) = RPC.python_from_rpc(to_python([{"id": 1, "name": None}, {"id": 2, "name": "b"}]))
    assert type(row) is RPC.JsDict
    assert row == {"id": 1, "name": None}
    assert row.id == 1


def test_what_comes_in_is_a_copy() -> None:
    inner = {"a": 1}
    rows = RPC.python_from_rpc(to_python([inner, inner]))
    rows[0]["a"] = 2
    assert (inner, rows) == ({"a": 1}, [{"a": 2}, {"a": 1}])


@pytest.mark.parametrize(
    "value",
    [Date(5.0), Error("no"), Map([("a", 1)]), Set([1]), View(ArrayBuffer(b"x"))],
    ids=lambda of: type(of).__name__,
)
def test_other_parts_go_the_sdks_way(value: Any) -> None:
    for whole in (value, *(part(value) for part in PARTS)):
        obj = to_python(whole)
        short, long = RPC.python_from_rpc(obj), RPC.python_from_rpc.__wrapped__(obj)
        assert NO_ADDRESS.sub("", str(exact(short))) == NO_ADDRESS.sub("", str(exact(long)))


@pytest.mark.parametrize("value", [(1, 2), {"a": (1,)}, [bytearray(b"x")]], ids=repr)
def test_what_the_sdk_refuses_is_refused(value: Any) -> None:
    with pytest.raises(TypeError) as refused:
        RPC.python_to_rpc.__wrapped__(value)
    with pytest.raises(TypeError) as ours:
        RPC.python_to_rpc(value)
    assert str(ours.value) == str(refused.value)


def test_a_list_in_itself_is_too_deep_for_both() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for way in (RPC.python_to_rpc, RPC.python_to_rpc.__wrapped__):
        with pytest.raises(RecursionError):
            way(endless)


class Box:
    """What a binding class looks like to the runtime."""


class Stub(Box):
    """One that may be called."""


class Other(RPC._BindingWrapper):
    """The wrapper of another binding."""


def test_what_a_binding_gives_is_wrapped_as_the_sdk_wraps_it_also_the_second_time() -> None:
    to_python(Stub()).__class__.__call__ = lambda self: None
    for wrapper in (RPC._BindingWrapper, Other, RPC._RpcStubWrapper, RPC._BindingWrapper):
        for result in (to_python(Box()), to_python(Stub()), to_python([1, {"a": None}]), to_python(Date(5.0)), "text"):
            for _ in range(2):
                short = wrapper(None)._convert_result(result)
                long = wrapper._convert_result.__wrapped__(wrapper(None), result)
                assert type(short) is type(long)
                assert getattr(short, "_binding", short) == getattr(long, "_binding", long)


SDK = """
class JsDict(dict): ...
class _BindingWrapper:
    def _convert_result(self, result): ...
def python_to_rpc(value): ...
def python_from_rpc(value): ...
"""


def test_an_sdk_that_is_not_known_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rpc_of_tomorrow.py").write_text(SDK)
    monkeypatch.syspath_prepend(tmp_path)
    rpc = importlib.import_module("rpc_of_tomorrow")
    before = {**vars(rpc)}, {**vars(rpc._BindingWrapper)}
    shorten(rpc)
    assert ({**vars(rpc)}, {**vars(rpc._BindingWrapper)}) == before
    del sys.modules["rpc_of_tomorrow"]


@pytest.mark.parametrize("part", [lambda value: value, *PARTS])
def test_bindings_go_both_ways_as_the_sdk_takes_them(part: Any) -> None:
    box = Box()
    wrapped = RPC._BindingWrapper(to_python(box))
    assert exact(from_python(RPC.python_to_rpc(part(wrapped)))) == exact(part(box))
    assert exact(from_python(RPC.python_to_rpc.__wrapped__(part(wrapped)))) == exact(part(box))
    short, long = RPC.python_from_rpc(to_python(part(box))), RPC.python_from_rpc.__wrapped__(to_python(part(box)))
    assert exact(short) == exact(long)
