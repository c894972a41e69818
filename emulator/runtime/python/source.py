"""The Worker's own modules are compiled from their source at each start, never taken from a `.pyc` file.

Python takes a `.pyc` for fresh if the source has the same size and the same time of change in whole seconds, so a
second edit within a second would run the code of the first.
"""

from __future__ import annotations

import ast
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from flarebed.emulator.runtime.python import absent

_INSTALLED = ("site-packages", "python_modules")


class _FreshLoader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source: Any = self.get_data(path)
        if absent.is_named_in(source.decode("latin-1")):
            own = {entry.stem for entry in Path(path).parent.iterdir()}
            source = absent.refused(ast.parse(source, path), own)
        code: CodeType = self.source_to_code(source, path)
        return code


class FreshSources:
    """Stands in Python's list of path hooks for the folders from `root` down, installed packages apart."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)

    def __call__(self, folder: str) -> FileFinder:
        if not self._has(folder):
            raise ImportError(f"{folder} is not the Worker's")
        return FileFinder(folder, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_FreshLoader, SOURCE_SUFFIXES))

    def install(self) -> None:
        sys.path_hooks.insert(0, self)
        self._forget_finders()

    def remove(self) -> None:
        sys.path_hooks.remove(self)
        self._forget_finders()

    def _has(self, folder: str) -> bool:
        below = folder == self._root or folder.startswith(f"{self._root}{os.sep}")
        return below and not any(name in folder for name in _INSTALLED)

    def _forget_finders(self) -> None:
        for folder in [folder for folder in sys.path_importer_cache if self._has(folder)]:
            del sys.path_importer_cache[folder]
