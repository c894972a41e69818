"""Room 3's door: find the config file, read it, check it, settle the environment, and hand out a `Config`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flarebed.bindings.entry import fields_of
from flarebed.bindings.errors import UserError
from flarebed.bindings.kind import Complaints, Section, Spec
from flarebed.bindings.registry import KINDS
from flarebed.emulator.config import discover, elsewhere, environments, flags, lifecycle, native, routes
from flarebed.emulator.config.checks import is_date, is_string_array
from flarebed.emulator.config.compatibility import DEFAULT_DATE
from flarebed.emulator.config.diagnostics import ConfigErrors, Diagnostics
from flarebed.emulator.config.document import Document
from flarebed.emulator.config.keys import KEYS, Effect
from flarebed.emulator.config.model import BuildCommand, Bundling, Config, DevSettings, Rule
from flarebed.emulator.config.names import LABELS, binding_names, complain_of_duplicates
from flarebed.emulator.config.native import Native
from flarebed.emulator.config.variables import Sources, Variables, collect

_NO_VAR: Mapping[str, str] = {}


@dataclass(frozen=True)
class _Settled:
    """What the steps of `load` hand on."""

    found: discover.Found
    document: Document
    cwd: Path
    env: str | None
    settings: Mapping[str, Any]
    diagnostics: Diagnostics


def load(
    path: Path | None,
    *,
    cwd: Path,
    env: str | None,
    environ: Mapping[str, str],
    var: Mapping[str, str] = _NO_VAR,
    env_files: Sequence[str] = (),
) -> Config:
    """The config of environment `env` ("" is the top level; None asks CLOUDFLARE_ENV of `environ`).

    `path` is what the user named, or None to search from `cwd` upwards; `var` has the `--var` values, `env_files` the
    `--env-file` ones. Raises ConfigErrors with everything that is wrong.
    """
    found = discover.find(path, cwd)
    document = discover.read(found.path, cwd)
    redirected = found.path != found.user_path
    chosen = env if env is not None else environ.get("CLOUDFLARE_ENV")
    diagnostics = Diagnostics(f"Processing {document.shown} configuration:", document)
    if redirected and chosen:
        _check_target(document, chosen, env)
    settings = environments.settle(diagnostics, chosen, redirected=redirected)
    complain_of_duplicates(settings, diagnostics)
    if native.runs_on_workerd(settings):
        lifecycle.check_together(settings, diagnostics)
    settled = _Settled(found, document, cwd, chosen or None, settings, diagnostics)
    on = _flags(settled)
    diagnostics.raise_if_errors()
    sources = Sources(_root(found), cwd, env or None, var, environ, env_files)
    return _config(settled, on, collect(settings, sources), _native(settled, environ))


def _flags(settled: _Settled) -> frozenset[str]:
    settings, diagnostics = settled.settings, settled.diagnostics
    date, listed = settings.get("compatibility_date", DEFAULT_DATE), settings.get("compatibility_flags", [])
    main = settings.get("main")
    if not (is_date(date) and is_string_array(listed)):
        return frozenset()  # complained about already
    on = flags.resolve(date, listed, diagnostics)
    if isinstance(main, str) and main.endswith(".py") and "python_workers" not in listed:
        diagnostics.error("The `python_workers` compatibility flag is required to use Python.", "compatibility_flags")
    return on


def _native(settled: _Settled, environ: Mapping[str, str]) -> Native:
    if not native.runs_on_workerd(settled.settings):
        return native.of_others(settled.settings)
    try:
        return native.parse(settled.settings, _root(settled.found), environ)
    except UserError as error:
        raise ConfigErrors(error.message, (error.message,)) from error


def _config(settled: _Settled, on: frozenset[str], variables: Variables, own: Native) -> Config:
    settings, root = settled.settings, _root(settled.found)
    dev = _dev(settings)
    return Config(
        path=settled.found.path,
        root=root,
        env_name=settled.env,
        name=settings.get("name") or "worker",
        main=_path(root, settings.get("main")),
        base_dir=_path(root, settings.get("base_dir")),
        compatibility_date=settings.get("compatibility_date", DEFAULT_DATE),
        compatibility_flags=tuple(settings.get("compatibility_flags", ())),
        flags=on,
        pyodide_version=flags.pyodide_version(on),
        vars=variables.vars,
        secrets=variables.secrets,
        specs=_specs(settings),
        native=own,
        unemulated=_unemulated(settings),
        crons=tuple(settings.get("triggers", {}).get("crons", ())),
        rules=tuple(_rule(rule) for rule in settings.get("rules") or ()),
        bundling=_bundling(settings, root, settled.cwd),
        wasm_modules=_paths(root, settings.get("wasm_modules")),
        text_blobs=_paths(root, settings.get("text_blobs")),
        data_blobs=_paths(root, settings.get("data_blobs")),
        python_modules_exclude=tuple(settings.get("python_modules", {}).get("exclude", ("**/*.pyc",))),
        dev=dev,
        routes=tuple(routes.pattern(route) for route in routes.listed(settings)),
        host=dev.host or routes.host(settings),
        notices=(*_redirect_notice(settled), *variables.notices),
        warnings=(*_warnings(settled, variables), *own.warnings()),
        watched=_watched(settled.found, variables),
    )


def _root(found: discover.Found) -> Path:
    return found.path.parent


def _path(root: Path, name: str | None) -> Path | None:
    return None if name is None else Path(os.path.normpath(root / name))


def _paths(root: Path, names: Mapping[str, str] | None) -> dict[str, Path]:
    return {name: Path(os.path.normpath(root / path)) for name, path in (names or {}).items()}


def _specs(settings: Mapping[str, Any]) -> dict[str, tuple[Spec, ...]]:
    """All kinds by name. What they complain about has been said when the keys were checked."""
    return {
        kind.name: kind.parse(Section(kind.key, settings[kind.key], Complaints())) if kind.key in settings else ()
        for kind in KINDS
    }


def _unemulated(settings: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    keys = [key for key in _missing(settings) if key in LABELS]
    return tuple(row for key in keys for row in elsewhere.rows(key, settings[key]))


def _missing(settings: Mapping[str, Any]) -> list[str]:
    """The keys that ask for what this Worker does not get."""
    served = native.served(settings)
    return [key for key in settings if KEYS[key].effect in (Effect.BINDING, Effect.MISSING) and key not in served]


def _rule(rule: Mapping[str, Any]) -> Rule:
    return Rule(rule["type"], tuple(rule["globs"]), rule.get("fallthrough"))


def _bundling(settings: Mapping[str, Any], root: Path, cwd: Path) -> Bundling:
    same = ("no_bundle", "find_additional_modules", "preserve_file_names", "minify", "keep_names", "jsx_factory")
    as_they_are = {key: settings[key] for key in (*same, "jsx_fragment", "define", "alias") if key in settings}
    return Bundling(build=_build(settings, root, cwd), tsconfig=_path(root, settings.get("tsconfig")), **as_they_are)


def _build(settings: Mapping[str, Any], root: Path, cwd: Path) -> BuildCommand:
    """As in wrangler, `cwd` is relative to the folder that flarebed is run in, what is watched to the config's."""
    section = fields_of(settings.get("build")) or {}
    watched = section.get("watch_dir", "./src")
    folders = watched if isinstance(watched, list) else [watched]
    return BuildCommand(
        command=section.get("command", ""),
        cwd=Path(os.path.normpath(cwd / section.get("cwd", "."))),
        watched=tuple(Path(os.path.normpath(root / folder)) for folder in folders),
    )


def _dev(settings: Mapping[str, Any]) -> DevSettings:
    section: Mapping[str, Any] = settings.get("dev", {})
    protocol = section.get("local_protocol", DevSettings.local_protocol)
    return DevSettings(
        ip=section.get("ip", DevSettings.ip),
        port=section.get("port"),
        local_protocol=protocol,
        upstream_protocol=section.get("upstream_protocol", protocol),
        host=section.get("host"),
        inspector_ip=section.get("inspector_ip", DevSettings.inspector_ip),
        inspector_port=section.get("inspector_port"),
    )


def _warnings(settled: _Settled, variables: Variables) -> tuple[str, ...]:
    diagnostics = settled.diagnostics
    _warn_of_missing(settled.settings, diagnostics)
    warnings = [diagnostics.render("warnings")] if diagnostics.all("warnings") else []
    if "compatibility_date" not in settled.settings:
        snippet = f'"compatibility_date": "{DEFAULT_DATE}"'
        if settled.found.path.suffix == ".toml":
            snippet = f'compatibility_date = "{DEFAULT_DATE}"'
        warnings.append(
            f"No compatibility_date was specified. Using the default compatibility date: {DEFAULT_DATE}.\n"
            f"❯❯ Add one to your {settled.found.path.name} file: {snippet}\n\n"
            "See https://developers.cloudflare.com/workers/platform/compatibility-dates/ for more information."
        )
    return (*warnings, *variables.warnings)


def _warn_of_missing(settings: Mapping[str, Any], diagnostics: Diagnostics) -> None:
    """Name what the config asks for and does not get."""
    for key in _missing(settings):
        effect, names = KEYS[key].effect, binding_names(key, settings[key])
        if effect is Effect.MISSING and settings[key]:
            diagnostics.warn(f'"{key}" has no effect here: flarebed does not support it yet.', key)
        elif names:
            listed = ", ".join(f"env.{name}" for name in names)
            diagnostics.warn(f'"{key}" is not supported by flarebed yet; the Worker goes without {listed}.', key)


def _watched(found: discover.Found, variables: Variables) -> tuple[Path, ...]:
    configs = (found.path, found.user_path, found.redirect)
    return (*dict.fromkeys(path for path in configs if path is not None), *variables.files)


def _redirect_notice(settled: _Settled) -> tuple[str, ...]:
    found, cwd = settled.found, settled.cwd
    if found.redirect is None:
        return ()
    user = "<no user config found>" if found.user_path is None else discover.relative(found.user_path, cwd)
    return (
        "Using redirected Wrangler configuration.\n"
        f' - Configuration being used: "{discover.relative(found.path, cwd)}"\n'
        f' - Original user\'s configuration: "{user}"\n'
        f' - Deploy configuration file: "{discover.relative(found.redirect, cwd)}"',
    )


def _check_target(document: Document, chosen: str, env: str | None) -> None:
    """A redirected config was built for one environment and can't be run as another."""
    target = document.data.get("targetEnvironment")
    if not target or target == chosen:
        return
    via = "the CLOUDFLARE_ENV environment variable" if env is None else "the `--env/-e` CLI argument"
    text = (
        f'You have specified the environment "{chosen}" via {via}.\n'
        f'This does not match the target environment "{target}" that was used when building the application.\n'
        f'Perhaps you need to re-run the custom build of the project with "{chosen}" as the selected environment?'
    )
    raise ConfigErrors(text, (text,))
