"""What the bundler gives to the runtime: the modules of a Worker and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

ModuleKind = Literal["esModule", "commonJsModule", "wasm", "text", "data", "json"]
"""The names of workerd's schema (workerd.capnp, `Worker.Module`)."""

Format = Literal["modules", "service-worker"]


@dataclass(frozen=True)
class Module:
    """A module by the name that `import` finds it under; `file` is where it was read from, if it is as it was there."""

    name: str
    kind: ModuleKind
    content: bytes = field(repr=False)
    file: Path | None = None


@dataclass(frozen=True)
class SourceMapFile:
    """`folder` is what the map's sources are relative to."""

    content: bytes = field(repr=False)
    folder: Path


@dataclass(frozen=True)
class Bundled:
    """A Worker that is ready for workerd.

    The first of `modules` is the main one; its `exports` are sorted by name. A Worker of the format "service-worker"
    has one module, its script, and `globals`: what its imports of WebAssembly, text and data became. `files` is all
    that was read, so a change of one means a new bundle. `source_maps` has the maps by the name of the module
    that they belong to. `warnings` are for the user.
    """

    format: Format
    modules: tuple[Module, ...]
    exports: tuple[str, ...]
    files: tuple[Path, ...]
    source_maps: Mapping[str, SourceMapFile] = field(default_factory=dict)
    globals: tuple[Module, ...] = ()
    warnings: tuple[str, ...] = ()

    def below(self, folder: str) -> Bundled:
        """The same with modules of other names, for a workerd whose Workers have to be told apart by them."""
        names = {module.name: f"{folder}/{module.name.removeprefix('./')}" for module in self.modules}
        return replace(
            self,
            modules=tuple(replace(module, name=names[module.name]) for module in self.modules),
            source_maps={names[name]: file for name, file in self.source_maps.items()},
        )
