"""The hooks for imports of Node.js's modules: left to workerd, or filled in, as wrangler does it.

wrangler's deployment-bundle/esbuild-plugins: nodejs-compat.ts and als-external.ts for the modes without substitutes,
hybrid-nodejs-compat.ts for "v2".
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from flarebed.emulator.runtime.workerd.bundling.node_modules import KNOWN, SHIMMED, WITHOUT_PREFIX, Mode, Substitutes
from flarebed.emulator.runtime.workerd.bundling.service import Answer, Hook, Import, OnLoad, OnResolve, Resolve

_REQUIRED: Final = "node-built-in-modules"
_REQUIRED_SHIM: Final = "required-unenv-alias"
_GLOBAL: Final = "unenv-globals"


class NodeImports:
    """The hooks of one bundle, and what they saw: `external` are the modules of Node.js that stay imports.

    `inject` are modules to run before the Worker. `folder` is what the paths in texts are relative to.
    """

    def __init__(self, mode: Mode, substitutes: Substitutes, folder: Path) -> None:
        self.external: set[str] = set()
        self.hooks: Sequence[Hook] = self._v2() if mode == "v2" else self._plain(mode)
        self.inject: list[str] = []
        self._folder = folder
        self._mode = mode
        self._substitutes = substitutes
        self._unknown: dict[str, list[str]] = {}
        if mode == "v2":
            self.inject += [f"{_GLOBAL}:{name}" for name, _ in substitutes.global_values()]
            self.inject += map(str, substitutes.polyfills())

    def warnings(self) -> list[str]:
        """About what may not be there when the Worker runs."""
        return [self._warning(name, importers) for name, importers in self._unknown.items()]

    def _warning(self, name: str, importers: Sequence[str]) -> str:
        files = "\n".join(f" - {os.path.relpath(importer, self._folder)}" for importer in importers)
        if self._mode == "v2":
            return (
                f'The package "{name}" is built into node, but not into workerd at this compatibility date. wrangler '
                'brings along what stands in for it, the package "unenv", which was not found. Imported from:\n' + files
            )
        return (
            f'The package "{name}" wasn\'t found on the file system but is built into node.\n'
            'Your Worker may throw errors at runtime unless you enable the "nodejs_compat" compatibility flag. Refer '
            "to https://developers.cloudflare.com/workers/runtime-apis/nodejs/ for more details. Imported from:\n"
            + files
        )

    def _plain(self, mode: Mode) -> list[Hook]:
        hooks: list[Hook] = [OnResolve("node:.*", self._unless_found)]
        return [OnResolve("^node:async_hooks(/|$)", self._leave), *hooks] if mode == "als" else hooks

    def _v2(self) -> list[Hook]:
        names = "|".join(map(re.escape, sorted(WITHOUT_PREFIX)))
        shims = "|".join(map(re.escape, SHIMMED))
        return [
            OnResolve(f"^({names}|node:.+)$", self._built_in),
            OnLoad(_REQUIRED, _as_common_js),
            OnResolve(f"^({shims})$", self._npm_shim),
            OnLoad(_REQUIRED_SHIM, _shim_as_common_js),
            OnResolve(f"^{_GLOBAL}:", self._global),
            OnLoad(_GLOBAL, self._set_global),
        ]

    async def _leave(self, wanted: Import, resolve: Resolve) -> Answer:
        return {"external": True}

    async def _unless_found(self, wanted: Import, resolve: Resolve) -> Answer:
        found = await resolve(wanted)
        if not found["errors"]:
            return {"path": found["path"], "namespace": found["namespace"], "external": found["external"]}
        self.external.add(wanted.path)
        if self._mode != "v1":
            self._unknown.setdefault(wanted.path, []).append(wanted.importer)
        return {"external": True}

    async def _built_in(self, wanted: Import, resolve: Resolve) -> Answer | None:
        self.external.add(wanted.path)
        if wanted.kind == "require-call":
            return {"path": wanted.path, "namespace": _REQUIRED}
        name = wanted.path.removeprefix("node:")
        if name not in KNOWN:
            return None
        if self._substitutes.is_native(name):
            return {"path": wanted.path, "external": True}
        if file := self._substitutes.of(name):
            return {"path": str(file)}
        self._unknown.setdefault(wanted.path, []).append(wanted.importer)
        return {"path": wanted.path, "external": True}

    async def _npm_shim(self, wanted: Import, resolve: Resolve) -> Answer | None:
        file = self._substitutes.of(wanted.path)
        if file is None:
            return None
        if wanted.kind == "require-call":
            return {"path": wanted.path, "namespace": _REQUIRED_SHIM}
        return {"path": str(file)}

    async def _global(self, wanted: Import, resolve: Resolve) -> Answer:
        return {"path": wanted.path.removeprefix(f"{_GLOBAL}:"), "namespace": _GLOBAL}

    def _set_global(self, name: str) -> Answer:
        file = dict(self._substitutes.global_values())[name]
        return _javascript(f'import {{ default as value }} from "{file}";\nglobalThis.{name} = value;')


def _as_common_js(path: str) -> Answer:
    return _javascript(f"import libDefault from '{path}';\nmodule.exports = libDefault;")


def _shim_as_common_js(path: str) -> Answer:
    return _javascript(
        f"import * as esm from '{path}';\n"
        "module.exports = Object.entries(esm)\n"
        "  .filter(([name]) => name !== 'default')\n"
        "  .reduce(\n"
        "    (cjs, [name, value]) => Object.defineProperty(cjs, name, { value, enumerable: true }),\n"
        "    'default' in esm ? esm.default : {},\n"
        "  );"
    )


def _javascript(contents: str) -> Answer:
    return {"contents": contents.encode(), "loader": "js", "resolveDir": "/"}
