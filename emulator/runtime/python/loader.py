"""Importing a Worker: where its modules and packages are found, and what is said when one is missing.

The folder of `main` is the import root. As in production the standard library comes first; packages come from the
environment that flarebed runs in, or from the `.venv` beside the project; `python_modules/` serves pure-Python packages
that the environment lacks.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import site
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.python import entropy
from flarebed.emulator.runtime.python.names import OwnNames
from flarebed.emulator.runtime.python.source import FreshSources

_DISTRIBUTIONS = {
    "PIL": "pillow", "bs4": "beautifulsoup4", "dateutil": "python-dateutil", "dotenv": "python-dotenv", "jwt": "pyjwt",
    "multipart": "python-multipart", "sklearn": "scikit-learn", "yaml": "pyyaml",
}  # fmt: skip
"""Packages that are installed under another name than they are imported."""

_STANDARD: Final = frozenset((sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")))


class Loader:
    """Imports the main module, and forgets the Worker's modules again."""

    def __init__(self, main: Path, root: Path) -> None:
        self.main = main
        self.source_root = main.parent
        self._project = root
        self._prefix = f"{main.parent}{os.sep}"
        self._path_before: list[str] = []
        self._sources = FreshSources(main.parent)
        self._names: OwnNames | None = None

    def load(self) -> ModuleType:
        """Import the main module; the Worker's own exceptions come out as they are."""
        if not self.main.is_file():
            raise UserError(
                f'The entry-point file at "{self.main}" was not found.',
                hint="Check the `main` field of the config.",
            )
        self._path_before = list(sys.path)
        packages = [*_parted(sys.path)[1], *self._project_site_packages()]
        self._names = OwnNames(self.source_root, packages, self._project)
        self._names.make_room()
        self._extend_path()
        self._sources.install()
        importlib.invalidate_caches()
        try:
            with entropy.refused_to(self.source_root):
                return __import__(self.main.stem)  # unlike importlib's, it leaves no frames of its own in tracebacks
        except ModuleNotFoundError as error:
            self._explain(error)
            raise

    def unload(self) -> None:
        for name in [name for name, module in sys.modules.items() if self._own_file(module)]:
            del sys.modules[name]
        if self._path_before:
            sys.path[:], self._path_before = self._path_before, []
            self._sources.remove()
            if self._names is not None:
                self._names.restore()

    def warnings(self) -> list[str]:
        """What the user should know about the names of the Worker's modules."""
        return [] if self._names is None else self._names.warnings()

    def files(self) -> list[Path]:
        """The files of the Worker's loaded modules."""
        return [Path(file) for module in list(sys.modules.values()) if (file := self._own_file(module))]

    def _own_file(self, module: ModuleType | None) -> str | None:
        """The module's file if it lies in the Worker's folder (asked of every loaded module, hence plain strings)."""
        file = getattr(module, "__file__", None)
        own = isinstance(file, str) and file.startswith(self._prefix) and "site-packages" not in file
        return file if own else None

    def _extend_path(self) -> None:
        """The Worker's folder goes after the standard library and before all else: packages, and the folders of the
        script and of tests, which stand first. `python_modules` goes to the end."""
        before = list(sys.path)
        first, packages = _parted(before)
        standard = [entry for entry in first if _is_standard(entry)]
        others = [entry for entry in first if not _is_standard(entry)]
        for folder in self._project_site_packages():
            site.addsitedir(folder)
        added = [entry for entry in sys.path if entry not in before]
        sys.path[:] = [*standard, str(self.source_root), *added, *others, *packages]
        vendored = self._project / "python_modules"
        if vendored.is_dir():
            sys.path.append(str(vendored))

    def _project_site_packages(self) -> list[str]:
        """The environment beside the project, if flarebed runs in another one of the same Python version."""
        if Path(sys.prefix).is_relative_to(self._project):
            return []
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        folder = self._project / ".venv" / "lib" / version / "site-packages"
        return [str(folder)] if folder.is_dir() else []

    def _other_python(self) -> str:
        """The version ("3.12") of an environment beside the project that is of no use here."""
        if self._project_site_packages() or Path(sys.prefix).is_relative_to(self._project):
            return ""
        found = sorted((self._project / ".venv" / "lib").glob("python3.*"))
        return found[0].name.removeprefix("python") if found else ""

    def _explain(self, error: ModuleNotFoundError) -> None:
        """Notes on the user's own exception: how to get what is missing."""
        name = (error.name or "").split(".")[0]
        if name == "src":
            error.add_note(
                "If your main module is inside the 'src' directory then your import statement shouldn't include a "
                "'src.' prefix"
            )
        elif name and importlib.util.find_spec(name) is None:
            package = _DISTRIBUTIONS.get(name, name)
            error.add_note(
                f"If {name} is a package, it is not installed in this environment; add it with: uv add {package}  (or: "
                f"pip install {package}). If it is a module of yours, {self.source_root.name}/{name}.py is missing."
            )
            if other := self._other_python():
                error.add_note(
                    f"The project's .venv is one of Python {other}, while flarebed runs on Python "
                    f"{sys.version_info[0]}.{sys.version_info[1]} and can't use it. Run flarebed from it: "
                    "uv add --dev flarebed, then uv run flarebed dev"
                )


def _parted(path: list[str]) -> tuple[list[str], list[str]]:
    """What stands up to the standard library, and the folders of packages after it."""
    position = 1 + max((index for index, entry in enumerate(path) if _is_standard(entry)), default=-1)
    return path[:position], path[position:]


def _is_standard(entry: str) -> bool:
    return entry in _STANDARD or entry.endswith("lib-dynload")
