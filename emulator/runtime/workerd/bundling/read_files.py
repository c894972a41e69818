"""The files that a bundle was made from: sources, and the settings that esbuild looks for beside and above them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flarebed.emulator.config.document import SyntaxProblem
from flarebed.emulator.config.jsonc import parse


def files_of(metafile: Mapping[str, Any], root: Path, more: Iterable[Path], tsconfig: Path | None) -> tuple[Path, ...]:
    """`metafile` is esbuild's account of a build in `root`; `more` is what else went into the bundle."""
    # What is no file was made up: by a hook ("namespace:name"), or by a package.json that maps it to nothing.
    names = [path for name in metafile["inputs"] if os.path.isfile(path := os.path.normpath(root / name))]
    folders = _with_those_above(os.path.dirname(name) for name in names)
    packages = [path for folder in folders if os.path.isfile(path := f"{folder}/package.json")]
    if tsconfig is None:
        tsconfigs = [Path(path) for folder in folders if os.path.isfile(path := f"{folder}/tsconfig.json")]
    else:
        tsconfigs = [tsconfig]
    extended = [base for path in tsconfigs for base in _with_bases(path)]
    return tuple(dict.fromkeys([*map(Path, names), *more, *map(Path, packages), *extended]))


def _with_those_above(folders: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for folder in folders:
        above = folder
        while above not in found:
            found[above] = None
            above = os.path.dirname(above)
    return list(found)


def _with_bases(tsconfig: Path) -> Iterator[Path]:
    """The file and those that it extends."""
    waiting, seen = [tsconfig], set[Path]()
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        yield path
        bases = _extends(path)
        waiting += [place for base in (bases if isinstance(bases, list) else [bases]) for place in _places(path, base)]


def _extends(tsconfig: Path) -> Any:
    try:
        settings, _ = parse(tsconfig.read_text(encoding="utf-8", errors="replace"))
    except SyntaxProblem:
        return []
    return settings.get("extends", []) if isinstance(settings, dict) else []


def _places(tsconfig: Path, base: object) -> Iterator[Path]:
    """Where `base` may be: a path, or a file of a package."""
    if not isinstance(base, str):
        return
    folders = [tsconfig.parent] if base.startswith((".", "/")) else [f / "node_modules" for f in tsconfig.parents]
    for folder in folders:
        for name in (base, f"{base}.json", f"{base}/tsconfig.json"):
            yield Path(os.path.normpath(folder / name))
