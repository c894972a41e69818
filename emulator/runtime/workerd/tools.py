"""Where the two programs are that JavaScript Workers need: `workerd` runs them, `esbuild` bundles them.

Both come from npm, as packages of a platform (`@esbuild/linux-x64`) that hold the program, and one in front
(`esbuild`) whose `bin/` has either the same program or, if npm ran no install scripts, a Node.js script that starts it.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flarebed.bindings.errors import UserError

_CARRIERS: Final = ("wrangler", "miniflare")
"""Packages that bring the tools along, perhaps in versions of their own."""


@dataclass(frozen=True)
class _Tool:
    name: str
    scope: str
    platforms: dict[tuple[str, str], str]
    purpose: str


_WORKERD = _Tool(
    "workerd",
    "@cloudflare",
    {
        ("linux", "x64"): "workerd-linux-64",
        ("linux", "arm64"): "workerd-linux-arm64",
        ("darwin", "x64"): "workerd-darwin-64",
        ("darwin", "arm64"): "workerd-darwin-arm64",
    },
    "runs JavaScript Workers",
)
_ESBUILD = _Tool(
    "esbuild",
    "@esbuild",
    {(system, cpu): f"{system}-{cpu}" for system in ("linux", "darwin") for cpu in ("x64", "arm64")},
    "bundles JavaScript Workers",
)


def find_workerd(folder: Path, search_path: str) -> Path:
    """The `workerd` of the project in `folder`, else that of `search_path` (the PATH). Raises UserError."""
    return _find(_WORKERD, folder, search_path)


def find_esbuild(folder: Path, search_path: str) -> Path:
    """The `esbuild` of the project in `folder`, else that of `search_path` (the PATH). Raises UserError."""
    return _find(_ESBUILD, folder, search_path)


def find_package(name: str, folder: Path) -> Path | None:
    """The folder of an npm package that wrangler would find for the project in `folder`; None if there is none."""
    candidates = (modules / name for modules in _package_folders(_CARRIERS, folder))
    return next((package for package in candidates if package.is_dir()), None)


def version_of(program: Path) -> str:
    """The version of a program that was found here, such as "0.28.2" or "1.20261117.1"."""
    file = program.resolve().parent.parent / "package.json"
    package = json.loads(file.read_bytes()) if file.is_file() else {}
    if program.name in package.get("name", ""):
        return str(package["version"])
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    # "0.28.2" of the one, "workerd 2026-11-17" of the other
    word = told.stdout.split()[-1]
    return word if "." in word else f"1.{word.replace('-', '')}.0"


def _find(tool: _Tool, folder: Path, search_path: str) -> Path:
    for candidate in _candidates(tool, folder):
        if _is_program(candidate):
            return candidate
    found = shutil.which(tool.name, path=search_path)
    if found is not None and _is_program(Path(found)):
        return Path(found)
    raise UserError(
        f'The program "{tool.name}", which {tool.purpose}, was not found in node_modules of {folder} and the folders '
        "above it, nor on the PATH.",
        hint="Install it with `npm install --save-dev workerd esbuild`; `wrangler` brings both along too.",
    )


def _candidates(tool: _Tool, folder: Path) -> Iterator[Path]:
    """Best first: what wrangler itself would run here, the program before the script in front of it."""
    platform_package = tool.platforms.get(_platform())
    for modules in _package_folders((*_CARRIERS, tool.name), folder):
        if platform_package is not None:
            yield modules / tool.scope / platform_package / "bin" / tool.name
        yield modules / tool.name / "bin" / tool.name


def _package_folders(carriers: Sequence[str], folder: Path) -> Iterator[Path]:
    """The folders that may have packages: those that the packages `carriers` would look in, then the project's.

    npm nests what conflicts with a version further out. pnpm has links to packages, whose own packages are beside
    their real place, and all of them once more in a folder of its own.
    """
    for above in (folder, *folder.parents):
        modules = above / "node_modules"
        for carrier in carriers:
            if (modules / carrier).is_dir():
                package = (modules / carrier).resolve()
                yield package / "node_modules"
                yield package.parent
        yield modules
        yield modules / ".pnpm" / "node_modules"


def _platform() -> tuple[str, str]:
    cpu = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower(), "")
    return sys.platform, cpu


def _is_program(path: Path) -> bool:
    """Whether it is one for this machine to run: not a script that needs Node.js."""
    if not (path.is_file() and os.access(path, os.X_OK)):
        return False
    with path.open("rb") as file:
        return file.read(2) != b"#!"
