"""Which config file counts: the named one, or what wrangler finds from the current folder upwards, or where a build
tool redirected it to (`.wrangler/deploy/config.json`); and how a file is read.

https://developers.cloudflare.com/workers/wrangler/configuration/#generated-wrangler-configuration
"""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flarebed.emulator.config import jsonc, toml
from flarebed.emulator.config.diagnostics import ConfigErrors
from flarebed.emulator.config.document import Document, SyntaxProblem, excerpt, position

NAMES = ("wrangler.json", "wrangler.jsonc", "wrangler.toml")
"""In wrangler's order: a parent's wrangler.json comes before a wrangler.toml of the folder itself."""
DEPLOY_CONFIG = Path(".wrangler", "deploy", "config.json")
_BOMS = {
    codecs.BOM_UTF32_LE: "UTF-32 LE",
    codecs.BOM_UTF32_BE: "UTF-32 BE",
    codecs.BOM_UTF16_LE: "UTF-16 LE",
    codecs.BOM_UTF16_BE: "UTF-16 BE",
}


@dataclass(frozen=True)
class Found:
    """`path` is the config to use, `user_path` the one that the user wrote; the file `redirect` may lead elsewhere."""

    path: Path
    user_path: Path | None
    redirect: Path | None = None


def find(path: Path | None, cwd: Path) -> Found:
    """The config file; raises ConfigErrors if there is none, or a redirect that leads nowhere."""
    if path is not None:
        named = (cwd / path).absolute()
        if not named.is_file():
            raise _error(f"Could not read file: {path}")
        return Found(named, named)
    user_path = next((found for name in NAMES if (found := _upwards(cwd, Path(name)))), None)
    redirect = _upwards(cwd, DEPLOY_CONFIG)
    if redirect is not None:
        return Found(_target(redirect, user_path, cwd), user_path, redirect)
    if user_path is None:
        raise _error(
            f"No wrangler config was found: neither {cwd} nor a folder above it has one of {', '.join(NAMES)}."
        )
    return Found(user_path, user_path)


def read(path: Path, cwd: Path) -> Document:
    """The file's data; raises ConfigErrors with the place if it is not JSON or TOML."""
    shown = relative(path, cwd)
    text = _decoded(path, shown)
    try:
        data, offsets = toml.parse(text) if path.suffix == ".toml" else jsonc.parse(text)
    except SyntaxProblem as problem:
        place = ":".join([shown, *map(str, position(text, problem.offset))])
        raise ConfigErrors(
            f"{problem.problem}\n\n{excerpt(shown, text, problem)}", (problem.problem,), place
        ) from problem
    if not isinstance(data, dict):
        raise _error(f"Expected {shown} to hold an object.")
    return Document(path, shown, text, data, offsets)


def relative(path: Path, cwd: Path) -> str:
    return Path(os.path.relpath(path, cwd)).as_posix()


def _upwards(start: Path, name: Path) -> Path | None:
    folder = start.absolute()
    return next((parent / name for parent in (folder, *folder.parents) if (parent / name).is_file()), None)


def _decoded(path: Path, shown: str) -> str:
    try:
        content = path.read_bytes()
        for bom, encoding in _BOMS.items():
            if content.startswith(bom):
                raise _error(
                    f"Configuration file contains {encoding} byte order marker\n"
                    f'The file "{shown}" appears to be encoded as {encoding}. '
                    "Please save the file as UTF-8 without BOM."
                )
        return content.decode("utf-8-sig", "replace")
    except OSError as error:
        raise _error(f"Could not read file: {shown}\n{error.strerror}") from error


def _target(redirect: Path, user_path: Path | None, cwd: Path) -> Path:
    shown = relative(redirect, cwd)
    content = _decoded(redirect, shown)
    try:
        data, _ = jsonc.parse(content)
    except SyntaxProblem as problem:
        raise _error(f"Failed to parse the deploy configuration file at {shown}") from problem
    name: Any = data.get("configPath") if isinstance(data, dict) else None
    if not isinstance(name, str) or not name:
        raise _error(
            f'A deploy configuration file was found at "{shown}".\n'
            'But this is not valid - the required "configPath" property was not found.\n'
            f"Instead this file contains:\n```\n{content}\n```"
        )
    target = Path(os.path.normpath(redirect.parent / name))
    if not target.is_file():
        raise _error(
            f'There is a deploy configuration at "{shown}".\n'
            f'But the redirected configuration path it points to, "{relative(target, cwd)}", does not exist.'
        )
    if user_path is not None and user_path.parent / DEPLOY_CONFIG != redirect:
        raise _error(
            f'Found both a user configuration file at "{relative(user_path, cwd)}"\n'
            f'and a deploy configuration file at "{shown}".\n'
            "But these do not share the same base path so it is not clear which should be used."
        )
    return target


def _error(text: str) -> ConfigErrors:
    return ConfigErrors(text, (text,))
