"""Patches of modules that may be imported at any time, or never: each is made right after its module is loaded."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

Patch = Callable[[ModuleType], None]


class LatePatches(importlib.abc.MetaPathFinder):
    """`patches` are by the name of their module."""

    def __init__(self, patches: dict[str, Patch]) -> None:
        self._patches = patches

    def install(self) -> None:
        """Patch what is loaded already, and watch for the rest."""
        for name in [name for name in self._patches if name in sys.modules]:
            self._patches.pop(name)(sys.modules[name])
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patch = self._patches.pop(name, None)
        if patch is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _PatchingLoader(spec.loader.name, spec.loader.path, patch)
        return spec


class _PatchingLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, patch: Patch) -> None:
        super().__init__(name, path)
        self._patch = patch

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self._patch(module)
