"""From the file's data to the settings of one environment: every key checked, what is inherited filled in.

Wrangler checks the top level and the chosen environment, and no other.
https://developers.cloudflare.com/workers/wrangler/environments/
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from flarebed.bindings.entry import as_json, complain_of_unknown, fields_of
from flarebed.emulator.config.diagnostics import Diagnostics
from flarebed.emulator.config.keys import COMPUTED, KEYS, Scope
from flarebed.emulator.config.names import binding_names

_IGNORED_IF_EMPTY = ("account_id", "route")
_LEGACY_ENV = (
    'The "legacy_env" field is no longer supported, so please remove it from your configuration file.\n'
    "Service environments have been removed, and each environment is now deployed as its own Worker named "
    '"<name>-<environment>". This matches the behaviour of "legacy_env = true", which was the default, so removing the '
    "field will not change how your Worker is deployed.\n"
    "Refer to https://developers.cloudflare.com/workers/wrangler/environments/ for more information."
)
_NODE_COMPAT = (
    'Removed: "node_compat":\nThe "node_compat" field is no longer supported as of Wrangler v4. Instead, use the '
    "`nodejs_compat` compatibility flag. This includes the functionality from legacy `node_compat` polyfills and "
    "natively implemented Node.js APIs. See https://developers.cloudflare.com/workers/runtime-apis/nodejs for more "
    "information."
)


def settle(diagnostics: Diagnostics, env: str | None, *, redirected: bool) -> dict[str, Any]:
    """The settings of environment `env` (None or "": of the top level), with all complaints about them."""
    raw = diagnostics.document.data
    if redirected and raw.get("env"):
        diagnostics.error(_redirected_environments(raw["env"]), "env")
    if "legacy_env" in raw and not redirected:
        diagnostics.error(_LEGACY_ENV, "legacy_env")
    top = _checked(diagnostics, raw)
    _warn_of_unsafe(diagnostics, raw)
    if not env or redirected:
        settings, child = top, None
    else:
        settings, child = _environment(diagnostics, env, raw, top)
    computed = COMPUTED if redirected else ()
    complain_of_unknown(diagnostics, "top-level", raw, (*KEYS, "legacy_env", "node_compat", *computed))
    if child is not None:
        diagnostics.children.append(child)
    return settings


def _environment(
    diagnostics: Diagnostics, env: str, raw: Mapping[str, Any], top: Mapping[str, Any]
) -> tuple[dict[str, Any], Diagnostics | None]:
    environments = raw.get("env")
    chosen = environments.get(env) if isinstance(environments, dict) else None
    if chosen is None:
        _complain_of_unknown_environment(diagnostics, env, environments)
        return {**top, **_named(top, env)}, None
    child = Diagnostics(f'"env.{env}" environment configuration', diagnostics.document, env)
    if not isinstance(chosen, dict):
        child.error(f'The field "env.{env}" should be an object but got {as_json(chosen)}.')
        return dict(top), child
    own = _checked(child, chosen)
    if "unsafe" not in raw:
        _warn_of_unsafe(child, chosen)
    for key, about in KEYS.items():
        if about.scope is Scope.OWN and key in raw:
            _complain_of_missing(child, key, raw[key], chosen)
    known = [key for key, about in KEYS.items() if about.scope is not Scope.TOP]
    complain_of_unknown(child, f"env.{env}", chosen, (*known, "node_compat"))
    inherited = {key: value for key, value in top.items() if KEYS[key].scope is not Scope.OWN}
    return {**inherited, **_named(top, env), **own}, child


def _checked(diagnostics: Diagnostics, raw: Mapping[str, Any]) -> dict[str, Any]:
    """The known keys of one level, after their checks; null stands for "not set" once it has been complained about."""
    if "node_compat" in raw:
        diagnostics.error(_NODE_COMPAT, "node_compat")
    settings: dict[str, Any] = {}
    for key, about in KEYS.items():
        if key not in raw or (diagnostics.env and about.scope is Scope.TOP):
            continue
        if key in _IGNORED_IF_EMPTY and raw[key] == "":
            diagnostics.warn(
                f'The "{key}" field in your configuration is an empty string and will be ignored.\n'
                f'Please remove the "{key}" field from your configuration.'
            )
            continue
        about.check(diagnostics, key, raw[key])
        if raw[key] is not None:
            settings[key] = raw[key]
    if "route" in settings and "routes" in settings:
        diagnostics.error('Expected exactly one of the following fields ["routes","route"].', "routes")
    return settings


def _warn_of_unsafe(diagnostics: Diagnostics, raw: Mapping[str, Any]) -> None:
    if "unsafe" in raw:
        diagnostics.warn('"unsafe" fields are experimental and may change or break at any time.')


def _named(top: Mapping[str, Any], env: str) -> dict[str, Any]:
    return {"name": f"{top['name']}-{env}"} if top.get("name") else {}


def _complain_of_missing(diagnostics: Diagnostics, key: str, above: Any, chosen: Mapping[str, Any]) -> None:
    """Warn about what the top level has and the environment does not inherit."""
    path = f"env.{diagnostics.env}"
    if key not in chosen:
        diagnostics.warn(
            f'"{key}" exists at the top level, but not on "{path}".\n'
            f'This is not what you probably want, since "{key}" is not inherited by environments.\n'
            f'Please add "{key}" to "{path}".',
            path,
        )
    elif key in ("vars", "define"):
        _complain_of_missing_entries(diagnostics, key, above, chosen[key])
    elif KEYS[key].is_list and isinstance(chosen[key], list):
        for name in _missing(binding_names(key, above), binding_names(key, chosen[key])):
            diagnostics.warn(
                f'There is a {key} binding with name "{name}" at the top level, but not on "{path}".\n'
                f'This is not what you probably want, since "{key}" configuration is not inherited by environments.\n'
                f'Please add a binding for "{name}" to "{path}.{key}.bindings".',
                f"{path}.{key}",
            )


def _complain_of_missing_entries(diagnostics: Diagnostics, key: str, above: Any, own: Any) -> None:
    here = fields_of(own)
    missing = [] if here is None else _missing(fields_of(above) or {}, here)
    if missing:
        what, these = ("vars", "these vars") if key == "vars" else ("define entries", "these entries")
        path, listed = f"env.{diagnostics.env}.{key}", "\n".join(f"- {name}" for name in missing)
        diagnostics.warn(
            f'The following {what} exist at the top level, but not on "{path}".\n'
            f'This is probably not what you want, since "{key}" configuration is not inherited by environments.\n'
            f'Please add {these} to "{path}":\n{listed}',
            path,
        )


def _missing(above: Iterable[str], own: Collection[str]) -> list[str]:
    return [name for name in above if name not in own]


def _complain_of_unknown_environment(diagnostics: Diagnostics, env: str, environments: Any) -> None:
    known = list(environments) if isinstance(environments, dict) else None
    available = f"The available configured environment names are: {as_json(known)}\n" if known is not None else ""
    text = (
        f'No environment found in configuration with name "{env}".\n'
        f"Before using `--env={env}` there should be an equivalent environment section in the configuration.\n"
        f"{available}\n"
        f"Consider adding an environment configuration section to the {diagnostics.document.path.name} file:\n"
        f"```\n[env.{env}]\n```\n"
    )
    if available:
        diagnostics.error(text, "env")
    else:
        diagnostics.warn(text)


def _redirected_environments(environments: Any) -> str:
    listed = "\n".join(f"\t- {name}" for name in fields_of(environments) or {})
    return (
        "Redirected configurations cannot include environments but the following have been found:\n"
        f"{listed}\n\n\n"
        "Such configurations are generated by tools, meaning that one of the tools\n"
        "your application is using is generating the incorrect configuration.\n"
        "Report this issue to the tool's author so that this can be fixed there."
    )
