"""The bundles that this process has made: a test suite starts the same Worker again and again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.workerd.bundled import Bundled
from flarebed.emulator.runtime.workerd.bundler import bundle

Signature = tuple[tuple[Path, int, int], ...]


@dataclass(frozen=True)
class _Made:
    config: Config
    environ: Mapping[str, str]
    signature: Signature
    bundled: Bundled


class Bundles:
    """The last one of each config, good for as long as no file that was read for it has changed."""

    def __init__(self) -> None:
        self._made: dict[Path, _Made] = {}

    async def of(self, config: Config, esbuild: Path, environ: Mapping[str, str]) -> Bundled:
        asked = replace(config, vars={}, secrets={})  # these are not in the bundle
        made = self._made.get(config.path)
        if made is None or (made.config, made.environ) != (asked, environ) or _changed(made):
            bundled = await bundle(config, esbuild, environ)
            made = self._made[config.path] = _Made(asked, dict(environ), _signature(bundled.files), bundled)
        return made.bundled


def _changed(made: _Made) -> bool:
    return _signature(made.bundled.files) != made.signature


def _signature(files: Iterable[Path]) -> Signature:
    return tuple((file, *_stamp(file)) for file in files)


def _stamp(file: Path) -> tuple[int, int]:
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@cache
def bundles() -> Bundles:
    """Those of this process."""
    return Bundles()
