"""esbuild's flags for a Worker: those of wrangler 4.164 (deployment-bundle/bundle.ts), and what the config adds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.config.model import Config
from flarebed.emulator.runtime.workerd.bundled import Format

_EVENT_LISTENER: Final = "__WRANGLER_SERVICE_WORKER_EVENT_LISTENER__"
_OLDEST: Final = (0, 22, 0)
"""It knows ES2024, and later ones are spoken to in the same way, up to 0.28.2."""
_SYNTAX: Final = {"using": (0, 18, 7), "import-source": (0, 25, 7)}
"""What workerd understands beyond ES2024, and the esbuild that knows its name."""


def syntax_flags(version: str) -> list[str]:
    """How source is read and written by an esbuild of this version. Raises UserError if it is too old."""
    numbers = tuple(int(part) for part in version.split("-")[0].split("."))
    if numbers < _OLDEST:
        raise UserError(
            f"The esbuild of this project, version {version}, is too old to bundle for workerd.",
            hint="Install a newer one with `npm install --save-dev esbuild@latest`.",
        )
    return [
        "--target=es2024",
        *(f"--supported:{name}=true" for name, since in _SYNTAX.items() if numbers >= since),
        *(f"--loader:{extension}=jsx" for extension in (".js", ".mjs", ".cjs")),
    ]


def guess_flags(config: Config) -> list[str]:
    """For a first look at the entry point alone: what it exports, and whether it listens for events."""
    names = ("addEventListener", "globalThis.addEventListener", "self.addEventListener")
    return [*_tsconfig(config), *_defines(dict.fromkeys(names, _EVENT_LISTENER))]


def listens_for_events(output: bytes) -> bool:
    """Whether the script that `guess_flags` gave calls `addEventListener`."""
    return _EVENT_LISTENER.encode() in output


def bundle_flags(config: Config, script_format: Format, inject: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    bundling = config.bundling
    node_env = json.dumps(environ.get("NODE_ENV") or "development")
    defines = {"navigator.userAgent": '"Cloudflare-Workers"'} if "global_navigator" in config.flags else {}
    environment = ("process.env.NODE_ENV", "global.process.env.NODE_ENV", "globalThis.process.env.NODE_ENV")
    defines |= dict.fromkeys(environment, node_env) | dict(bundling.define)
    return [
        "--bundle",
        f"--format={'esm' if script_format == 'modules' else 'iife'}",
        f"--outdir={config.root}",
        f"--entry-names={config.entry_point().stem}",
        "--allow-overwrite",  # nothing is written
        "--sourcemap=external",
        "--sources-content=false",  # the sources are on the disk
        "--external:__STATIC_CONTENT_MANIFEST",
        f"--conditions={environ.get('WRANGLER_BUILD_CONDITIONS', 'workerd,worker,browser')}",
        *([f"--platform={environ['WRANGLER_BUILD_PLATFORM']}"] if environ.get("WRANGLER_BUILD_PLATFORM") else []),
        f"--jsx-factory={bundling.jsx_factory}",
        f"--jsx-fragment={bundling.jsx_fragment}",
        *_tsconfig(config),
        *(["--minify"] if bundling.minify else []),
        *(["--keep-names"] if bundling.keep_names else []),
        *_defines(defines),
        *(f"--inject:{name}" for name in inject),
    ]


def _defines(defines: Mapping[str, str]) -> list[str]:
    return [f"--define:{name}={value}" for name, value in defines.items()]


def _tsconfig(config: Config) -> list[str]:
    return [] if config.bundling.tsconfig is None else [f"--tsconfig={config.bundling.tsconfig}"]
