"""A Worker's own modules that have the name of something else.

Production's order is the standard library, the packages that the Worker depends on, then the Worker's files (observed:
`sys.path` on Pyodide 314). The environment here also has what flarebed alone brought along, of which production knows
nothing; so the Worker's files win over packages, and a warning says where production may decide otherwise.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

_RUNTIME = frozenset(
    {
        "__main__", "_cloudflare_compat_flags", "_pyodide_entrypoint_helper", "asgi", "flarebed", "js", "pyodide",
        "pyodide_js", "workers",
    }
)  # fmt: skip
"""What the runtime itself provides comes first in production too."""

_NEEDED = frozenset({"anyio", "cryptography", "h11", "httpcore", "httpx", "wasmtime", "websockets"})
"""Packages that flarebed, or what it uses, imports only when they are first needed: they can't step aside."""


class OwnNames:
    """Makes room for the modules in `folder`. Packages are found in `paths`; texts show paths from `shown_from` on."""

    def __init__(self, folder: Path, paths: Sequence[str], shown_from: Path) -> None:
        self._paths = list(paths)
        self._shown_from = shown_from
        found = dict(_modules_of(folder))
        self._beaten = _RUNTIME & found.keys()
        self._own = {
            name: file
            for name, file in found.items()
            if name not in self._beaten and name not in sys.stdlib_module_names
        }
        self._hidden: dict[str, ModuleType] = {}

    def make_room(self) -> None:
        """Forget loaded modules of these names; to be called before the folder is on `sys.path`."""
        for name in self._beaten:
            importlib.import_module(name)
        for name in self._own:
            if name in _NEEDED and self._is_installed(name):
                importlib.import_module(name)
            elif name in sys.modules and not self._is_own(name):
                for loaded in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
                    self._hidden[loaded] = sys.modules.pop(loaded)

    def restore(self) -> None:
        sys.modules.update(self._hidden)
        self._hidden.clear()

    def warnings(self) -> list[str]:
        """What to tell the user, once the Worker has been imported."""
        return [
            self._warning(name, file)
            for name, file in self._own.items()
            if (name in _NEEDED or self._is_own(name)) and self._is_installed(name)
        ]

    def _warning(self, name: str, file: Path) -> str:
        shown = file.relative_to(self._shown_from) if file.is_relative_to(self._shown_from) else file
        if name in _NEEDED:
            return (
                f"{shown} has the name of a package that flarebed needs, so `import {name}` gives the package. "
                "Rename the file."
            )
        return (
            f"{shown} has the name of an installed package and is imported instead of it. In production a package that "
            f'the Worker depends on comes first: if "{name}" is one, rename the file.'
        )

    def _is_own(self, name: str) -> bool:
        return getattr(sys.modules.get(name), "__file__", None) == str(self._own[name])

    def _is_installed(self, name: str) -> bool:
        spec = PathFinder.find_spec(name, self._paths)
        return spec is not None and spec.origin is not None and spec.origin != str(self._own[name])


def _modules_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """The names that can be imported from `folder`, with their files."""
    for entry in sorted(folder.iterdir()):
        if entry.suffix == ".py":
            yield entry.stem, entry
        elif (entry / "__init__.py").is_file():
            yield entry.name, entry / "__init__.py"
