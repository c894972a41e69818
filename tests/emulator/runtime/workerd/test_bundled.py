"""The modules of several Workers in one workerd have names of their own."""

from __future__ import annotations

from pathlib import Path

from flarebed.emulator.runtime.workerd.bundled import Bundled, Module
from flarebed.emulator.runtime.workerd.output import Mappers
from flarebed.emulator.runtime.workerd.source_map import StackMapper


def bundled(file: str) -> Bundled:
    modules = (Module("index.js", "esModule", b"", Path(file)), Module("./data.txt", "text", b"x"))
    return Bundled("modules", modules, ("default",), ())


def test_below_a_folder() -> None:
    moved = bundled("/one/index.js").below("one")
    assert [module.name for module in moved.modules] == ["one/index.js", "one/data.txt"]
    assert moved.exports == ("default",)


def test_a_stack_of_one_of_them() -> None:
    mappers = Mappers()
    for name in ("one", "two"):
        mappers.add(StackMapper(bundled(f"/{name}/index.js").below(name)))
    stack = "Error: x\n    at f (two/index.js:3:4)\n    at g (one/index.js:1:2)"
    assert mappers.mapped(stack) == "Error: x\n    at f (file:///two/index.js:3:4)\n    at g (file:///one/index.js:1:2)"
    assert [frame.file for frame in mappers.frames("Error: x\n    at f (two/index.js:3:4)")] == ["/two/index.js"]
