"""The files beside a Worker that JavaScript's `import` takes for modules: WebAssembly, text, data.

The config's `rules` say which files are modules, as in wrangler (deployment-bundle/find-additional-modules.ts). A
specifier is resolved as workerd does it (jsg/modules.h), from the folder of the main module. The default export of a
module is a WebAssembly.Module, a string or an ArrayBuffer.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import JsError
from flarebed.bindings.values import ArrayBuffer
from flarebed.emulator.config.model import Rule
from flarebed.emulator.runtime.module_rules import file_pattern, sorted_out

_NEVER = frozenset(("node_modules", "__pycache__", "python_modules", "site-packages"))


class Bundle:
    """`main` is the main module, `root` what the names of modules are relative to."""

    def __init__(self, main: Path, root: Path, rules: Iterable[Rule]) -> None:
        self._main = main
        self._root = root
        self._rules = [(rule.type, [file_pattern(glob) for glob in rule.globs]) for rule in sorted_out(rules).in_force]

    def resolve(self, specifier: str) -> str:
        """The name of the module that `import(specifier)` means. Raises JsError if there is none."""
        from_root = specifier.startswith("/") or not self._main.is_relative_to(self._root)
        parts = [] if from_root else list(self._main.parent.relative_to(self._root).parts)
        for part in specifier.split("/"):
            if part == "..":
                if not parts:
                    raise JsError(f'No such module "{specifier}"')
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        name = "/".join(parts)
        if name not in self._files:
            raise JsError(f'No such module "{name}".')
        return name

    def default_export(self, name: str) -> Any:
        """What the module of this name exports."""
        path = self._root / name
        match self._files[name]:
            case "CompiledWasm":
                return web_assembly_module(path)
            case "Text":
                return path.read_text("utf-8", errors="replace")
            case "Data":
                return ArrayBuffer(path.read_bytes())
        raise JsError(f'"{name}" is JavaScript, which flarebed does not run in a Python Worker.')

    def files(self) -> list[Path]:
        """All the files that are modules."""
        return [self._root / name for name in self._files]

    @cached_property
    def _files(self) -> dict[str, str]:
        """Names and types, as the disk has them when they are first asked for."""
        found = {name: self._type(name) for name in self._names()}
        return {name: kind for name, kind in found.items() if kind is not None}

    def _names(self) -> Iterator[str]:
        for folder, below, files in os.walk(self._root):
            if "pyvenv.cfg" in files:
                below.clear()
                continue
            below[:] = sorted(name for name in below if name not in _NEVER and not name.startswith("."))
            for file in sorted(files):
                path = Path(folder, file)
                if path != self._main:
                    yield path.relative_to(self._root).as_posix()

    def _type(self, name: str) -> str | None:
        return next((kind for kind, globs in self._rules if any(glob.fullmatch(name) for glob in globs)), None)


def web_assembly_module(path: Path) -> Any:
    """The WebAssembly.Module of a `.wasm` file. wasmtime takes 40 ms to import, and few Workers need it."""
    return importlib.import_module("flarebed.emulator.runtime.python.js.wasm").Module.from_file(path)
