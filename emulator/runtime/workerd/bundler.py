"""From a Worker's TypeScript or JavaScript to the modules that workerd runs, by esbuild and as wrangler does it.

wrangler's deployment-bundle/bundle.ts, entry.ts and no-bundle-worker.ts. What esbuild asks on the way is answered by
the hooks of `bundling/`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.module_rules import Rules, sorted_out
from flarebed.emulator.runtime.workerd.bundled import Bundled, Format, Module, SourceMapFile
from flarebed.emulator.runtime.workerd.bundling.attached_maps import attached_maps
from flarebed.emulator.runtime.workerd.bundling.failures import as_user_error, unexpected_externals
from flarebed.emulator.runtime.workerd.bundling.modules import ModuleImports, found_beside
from flarebed.emulator.runtime.workerd.bundling.node_imports import NodeImports
from flarebed.emulator.runtime.workerd.bundling.node_modules import Substitutes, mode_of
from flarebed.emulator.runtime.workerd.bundling.options import (
    bundle_flags,
    guess_flags,
    listens_for_events,
    syntax_flags,
)
from flarebed.emulator.runtime.workerd.bundling.read_files import files_of
from flarebed.emulator.runtime.workerd.bundling.service import (
    Answer,
    BuildFailed,
    Built,
    Hook,
    Import,
    OnResolve,
    Resolve,
    Service,
    running,
)
from flarebed.emulator.runtime.workerd.tools import find_package, version_of

__all__ = ["Bundled", "Module", "bundle"]


async def bundle(config: Config, esbuild: Path, environ: Mapping[str, str] = os.environ) -> Bundled:
    """The config's Worker, ready for workerd. Raises UserError with esbuild's own words for what it refuses."""
    entry = config.entry_point()
    version = version_of(esbuild)
    syntax = syntax_flags(version)
    async with running(esbuild, version) as service:
        rules = sorted_out(config.rules)
        bundler = _Bundler(config, entry, rules, service, syntax, environ, list(rules.warnings))
        try:
            return await bundler.bundle()
        except BuildFailed as failed:
            raise await as_user_error(failed, service, mode_of(config.flags), bundler.warnings) from None


@dataclass(frozen=True)
class _Guess:
    """What the entry point alone tells: wrangler's guess-worker-format.ts."""

    format: Format
    exports: tuple[str, ...]


@dataclass(frozen=True)
class _Bundler:
    config: Config
    entry: Path
    rules: Rules
    service: Service
    syntax: list[str]
    environ: Mapping[str, str]
    warnings: list[str]

    async def bundle(self) -> Bundled:
        guess = await self._guess()
        if self.config.bundling.no_bundle:
            return self._unbundled(guess)
        return await self._bundled(guess)

    async def _guess(self) -> _Guess:
        flags = [*self.syntax, *guess_flags(self.config)]
        built = await self.service.build(self.entry, flags, self.config.root)
        exports = _exports(built)
        if "default" in exports:
            return _Guess("modules", exports)
        if not exports:
            return _Guess("service-worker", exports)
        if not any(map(listens_for_events, built.outputs.values())):
            return _Guess("modules", exports)
        self.warnings.append(_listens_though_it_exports(self.entry))
        return _Guess("service-worker", exports)

    async def _bundled(self, guess: _Guess) -> Bundled:
        config = self.config
        if config.bundling.find_additional_modules and guess.format != "modules":
            raise UserError(
                "`find_additional_modules` can only be used with an ES module entrypoint.\n"
                "Remove `find_additional_modules = true` from your configuration, or migrate to the ES module Worker "
                "format: https://developers.cloudflare.com/workers/learning/migrate-to-module-workers/"
            )
        modules = ModuleImports(config, self.entry, self.rules, guess.format)
        unenv, preset = (find_package(name, config.root) for name in ("unenv", "@cloudflare/unenv-preset"))
        node = NodeImports(mode_of(config.flags), Substitutes(config.flags, unenv, preset), config.root)
        cloudflare = _CloudflareImports()
        hooks = (*self._alias(), *modules.hooks, *node.hooks, cloudflare.hook)
        flags = [*self.syntax, *bundle_flags(config, guess.format, node.inject, self.environ)]
        try:
            built = await self.service.build(self.entry, flags, config.root, hooks)
        finally:
            self.warnings.extend((*modules.warnings, *node.warnings()))
        for external in (cloudflare.external, node.external):
            if external and guess.format == "service-worker":
                raise BuildFailed([unexpected_externals(external)], built.warnings)
        self.warnings.extend(map(str.rstrip, await self.service.formatted(built.warnings, warnings=True)))
        main, source_map = _outputs(built, guess.format)
        beside = tuple(modules.modules.values())
        return Bundled(
            format=guess.format,
            modules=(main, *beside) if guess.format == "modules" else (main,),
            exports=_exports(built),
            files=files_of(built.metafile, config.root, modules.files, config.bundling.tsconfig),
            source_maps={main.name: SourceMapFile(source_map, config.root)},
            globals=() if guess.format == "modules" else beside,
            warnings=tuple(self.warnings),
        )

    def _unbundled(self, guess: _Guess) -> Bundled:
        """The entry point as it is, and the files that the rules make modules."""
        wanted = self.config.bundling.find_additional_modules is not False
        found = found_beside(self.config, self.entry, self.rules) if wanted else {}
        modules = (Module(self.entry.name, "esModule", self.entry.read_bytes(), self.entry), *found.values())
        return Bundled(
            format=guess.format,
            modules=modules,
            exports=guess.exports,
            files=(self.entry, *found),
            source_maps=attached_maps(modules),
            warnings=tuple(self.warnings),
        )

    def _alias(self) -> list[Hook]:
        alias = self.config.bundling.alias

        async def answer(wanted: Import, resolve: Resolve) -> Answer | None:
            target = alias.get(wanted.path)
            if not target:
                return None
            found = await resolve(Import(target, "", "import-statement", str(self.config.root)))
            return {key: found[key] for key in ("path", "namespace", "external", "errors")}

        return [OnResolve(f"^{re.escape(name)}$", answer) for name in alias]


def _listens_though_it_exports(entry: Path) -> str:
    shown = os.path.relpath(entry, Path.cwd())
    return (
        f"The entrypoint {shown} has exports like an ES Module, but hasn't defined a default export like a module "
        'worker normally would. Building the worker using "service-worker" format...'
    )


class _CloudflareImports:
    """workerd's own modules stay imports."""

    def __init__(self) -> None:
        self.external: set[str] = set()
        self.hook = OnResolve("^cloudflare:.*", self._leave)

    async def _leave(self, wanted: Import, resolve: Resolve) -> Answer:
        self.external.add(wanted.path)
        return {"external": True}


def _outputs(built: Built, script_format: Format) -> tuple[Module, bytes]:
    """The bundle, named as in a deployment, and its source map. A script has to name itself, for stacks."""
    by_name = {Path(path).name: content for path, content in built.outputs.items()}
    name = next(name for name in by_name if name.endswith(".js"))
    said = b"" if script_format == "modules" else f"//# sourceURL={name}\n".encode()
    return Module(name, "esModule", by_name[name] + said), by_name[f"{name}.map"]


def _exports(built: Built) -> tuple[str, ...]:
    output: Any = next(output for output in built.metafile["outputs"].values() if "entryPoint" in output)
    return tuple(output["exports"])
