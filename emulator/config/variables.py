"""What a Worker finds in `env` beside its bindings: `vars` of the config, and the local secrets that come before them.

https://developers.cloudflare.com/workers/configuration/secrets/#local-development-with-secrets
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flarebed.bindings.entry import fields_of
from flarebed.emulator.config import dotenv
from flarebed.emulator.config.diagnostics import ConfigErrors
from flarebed.emulator.config.discover import relative


@dataclass(frozen=True)
class Variables:
    """`vars` are JSON values of the config, `secrets` strings that override them; `files` were read or would be."""

    vars: Mapping[str, Any]
    secrets: Mapping[str, str]
    files: tuple[Path, ...]
    notices: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """Where secrets may come from: files in `folder` (or `env_files`, if given), `--var`, the process environment.

    `env` is the environment of `--env` alone: wrangler does not choose files by CLOUDFLARE_ENV.
    """

    folder: Path
    cwd: Path
    env: str | None
    var: Mapping[str, str]
    environ: Mapping[str, str]
    env_files: Sequence[str] = ()


def collect(settings: Mapping[str, Any], sources: Sources) -> Variables:
    """Read the files and settle who wins: `--var`, then the files, then the config's `vars`."""
    configured = fields_of(settings.get("vars")) or {}
    declared = settings.get("secrets")
    required: list[str] = [] if declared is None else declared.get("required", [])
    loaded, notices = _load(sources, include_process=declared is not None)
    warnings: list[str] = []
    if declared is not None:
        missing = [name for name in required if name not in loaded]
        loaded = {name: value for name, value in loaded.items() if name in configured or name in required}
        if missing:
            warnings.append(
                f"Missing required secrets: {', '.join(missing)}. "
                "Add them to .dev.vars, .env, or set as environment variables."
            )
    secrets = {**loaded, **sources.var}
    plain = {name: value for name, value in configured.items() if name not in secrets}
    return Variables(plain, secrets, _candidates(sources), tuple(notices), tuple(warnings))


def _load(sources: Sources, *, include_process: bool) -> tuple[dict[str, str], list[str]]:
    dev_vars = _dev_vars(sources)
    found = next((path for path in dev_vars if path.is_file()), None)
    if found is not None:
        return dotenv.parse(_text(found, sources)), [f"Using secrets defined in {relative(found, sources.cwd)}"]
    if not _switch(sources.environ, "CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV", default=True):
        return {}, []
    parsed: dict[str, str] = {}
    notices = []
    for path in _env_files(sources):
        if path.is_file():
            parsed |= dotenv.parse(_text(path, sources))
            notices.append(f"Using secrets defined in {relative(path, sources.cwd)}")
    surrounding: Mapping[str, str] = {}
    if include_process or _switch(sources.environ, "CLOUDFLARE_INCLUDE_PROCESS_ENV", default=False):
        surrounding = sources.environ
        notices.append("Using secrets defined in process.env")
    return dotenv.expand(parsed, surrounding), notices


def _dev_vars(sources: Sources) -> list[Path]:
    """The first that exists is read, and no other."""
    if sources.env_files:
        return []
    names = [f".dev.vars.{sources.env}"] if sources.env else []
    return [sources.folder / name for name in (*names, ".dev.vars")]


def _env_files(sources: Sources) -> list[Path]:
    """All that exist are read; a later one wins."""
    by_env = [f".env.{sources.env}", f".env.{sources.env}.local"] if sources.env else []
    return [sources.folder / name for name in sources.env_files or (".env", ".env.local", *by_env)]


def _candidates(sources: Sources) -> tuple[Path, ...]:
    return (*_dev_vars(sources), *_env_files(sources))


def _text(path: Path, sources: Sources) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError as error:
        text = f'Failed to load local dev variables file "{relative(path, sources.cwd)}": {error.strerror}'
        raise ConfigErrors(text, (text,)) from error


def _switch(environ: Mapping[str, str], name: str, *, default: bool) -> bool:
    value = environ.get(name)
    if value is None:
        return default
    if value.lower() not in ("true", "false"):
        text = f'Expected {name} to be "true" or "false", but got "{value}"'
        raise ConfigErrors(text, (text,))
    return value.lower() == "true"
