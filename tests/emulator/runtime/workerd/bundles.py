"""A project that is bundled by the esbuild that `make test` has installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.emulator.config.project import Project
from tests.support import run

from flarebed.emulator.runtime.workerd.bundled import Bundled
from flarebed.emulator.runtime.workerd.bundler import bundle
from flarebed.emulator.runtime.workerd.tools import find_esbuild

NODE = Path(__file__).parents[4] / "build/workerd"


class JavaScriptProject(Project):
    def bundled(self, main: str = "src/index.ts", environ: dict[str, str] | None = None, **config: Any) -> Bundled:
        """The bundle of `main` under a config with these keys."""
        loaded = self.with_config({"name": "worker", "main": main, **config})
        return run(bundle(loaded, find_esbuild(NODE, ""), environ or {}))

    def shown(self, bundled: Bundled) -> list[str]:
        """The bundle's files, relative to the project."""
        return [self.shown_path(path) for path in bundled.files if path.is_relative_to(self.root)]

    def shown_path(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()
