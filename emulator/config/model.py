"""A wrangler config that has been read, checked and settled for one environment. Everything above asks only this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Spec
from flarebed.emulator.config.entry_point import existing
from flarebed.emulator.config.native import Native


@dataclass(frozen=True)
class DevSettings:
    """The `dev` section. `port` is None unless the config names one (8787 then, or the next that is free).

    https://developers.cloudflare.com/workers/wrangler/configuration/#local-development-settings
    """

    ip: str = "localhost"
    port: int | None = None
    local_protocol: str = "http"
    upstream_protocol: str = "http"
    host: str | None = None
    inspector_ip: str = "127.0.0.1"
    inspector_port: int | None = None


@dataclass(frozen=True)
class Rule:
    """Which files of the Worker are modules, and of which type: ESModule, CommonJS, CompiledWasm, Text, Data.

    `fallthrough` is whether later rules of the same type count too; None if the config does not say, which means no.
    """

    type: str
    globs: tuple[str, ...]
    fallthrough: bool | None = None


@dataclass(frozen=True)
class BuildCommand:
    """The `build` section: a command that makes the entry point, run before each bundle; "" if there is none.

    `watched` are the folders whose changes ask for another run.
    """

    command: str = ""
    cwd: Path = Path()
    watched: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Bundling:
    """How a JavaScript Worker is bundled: the keys that wrangler hands to esbuild, and those for modules beside it.

    `find_additional_modules` is None if the config does not say: yes then for a Worker that is not bundled, else no.
    """

    build: BuildCommand = BuildCommand()
    no_bundle: bool = False
    find_additional_modules: bool | None = None
    preserve_file_names: bool = False
    minify: bool = False
    keep_names: bool = True
    tsconfig: Path | None = None
    jsx_factory: str = "React.createElement"
    jsx_fragment: str = "React.Fragment"
    define: Mapping[str, str] = field(default_factory=dict)
    alias: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Config:
    """`root` is the config's folder; paths are absolute. `env_name` is None at the top level.

    `flags` are all compatibility flags that are on, `compatibility_flags` the ones that the config lists. `env` of the
    Worker is `vars`, then `secrets` (strings, not to be shown), then the bindings of `specs` (by kind) and `native`.
    `host` is what request URLs name, from `dev.host` or the first route. `unemulated` are (binding, resource) that
    `env` lacks. `watched` are the files that made this config, and those that would if they existed.
    """

    path: Path
    root: Path
    env_name: str | None
    name: str
    main: Path | None
    base_dir: Path | None
    compatibility_date: str
    compatibility_flags: tuple[str, ...]
    flags: frozenset[str]
    pyodide_version: str | None
    vars: Mapping[str, Any]
    secrets: Mapping[str, str]
    specs: Mapping[str, tuple[Spec, ...]]
    native: Native
    unemulated: tuple[tuple[str, str], ...]
    crons: tuple[str, ...]
    rules: tuple[Rule, ...]
    bundling: Bundling
    wasm_modules: Mapping[str, Path]
    text_blobs: Mapping[str, Path]
    data_blobs: Mapping[str, Path]
    python_modules_exclude: tuple[str, ...]
    dev: DevSettings
    routes: tuple[str, ...]
    host: str | None
    notices: tuple[str, ...]
    warnings: tuple[str, ...]
    watched: tuple[Path, ...]

    def is_python(self) -> bool:
        return self.main is not None and self.main.suffix == ".py"

    def code_folder(self) -> Path:
        """Where its code is; a Worker that is nothing but assets has none."""
        return self.root if self.main is None and self.native.assets is not None else self.entry_point().parent

    def entry_point(self) -> Path:
        """The file of the Worker; raises UserError if the config names none, or one that is not there."""
        if self.main is None:
            raise UserError(
                "Missing entry-point to Worker script or to assets directory",
                hint=f'Add "main", for example "src/entry.py", to {self.path.name}.',
            )
        return existing(self.main, self.root, self.path.name, self.bundling.build.command)
