"""What the user is told when esbuild refuses the source, in wrangler's words.

wrangler's deployment-bundle/build-failures.ts and logger.ts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from flarebed.bindings.errors import UserError
from flarebed.emulator.runtime.workerd.bundling.node_modules import WITHOUT_PREFIX, Mode
from flarebed.emulator.runtime.workerd.bundling.service import BuildFailed, Message, Service, message

_UNRESOLVED: Final = re.compile(r'Could not resolve "(.+?)"')
_ASKS_FOR_EXTERNAL: Final = "as external to exclude it from the bundle"
_ALIAS: Final = (
    'To fix this, you can add an entry to "alias" in your Wrangler configuration.\n'
    "For more guidance see: https://developers.cloudflare.com/workers/wrangler/configuration/#bundling-issues\n"
)


async def as_user_error(failed: BuildFailed, service: Service, mode: Mode, warnings: Iterable[str]) -> UserError:
    """The failure as wrangler shows it: each error with its place and its line of source."""
    errors = [_explained(error, mode) for error in failed.errors]
    texts = "\n".join(await service.formatted(errors)).rstrip()
    said = (*warnings, *(text.rstrip() for text in await service.formatted(failed.warnings, warnings=True)))
    counted = f"{len(errors)} error{'s' * (len(errors) > 1)}"
    return UserError(f"Build failed with {counted}:\n{texts}", warnings="\n".join(said))


def unexpected_externals(names: Iterable[str]) -> Message:
    """A script of the service-worker format cannot import anything when it runs."""
    listed = _listed(sorted(f'"{name}"' for name in names))
    return message(
        f"Unexpected external import of {listed}.\n"
        "Your worker has no default export, which means it is assumed to be a Service Worker format Worker.\n"
        "Did you mean to create a ES Module format Worker?\n"
        "If so, try adding `export default { ... }` in your entry-point.\n"
        "See https://developers.cloudflare.com/workers/reference/migrate-to-module-workers/"
    )


def _explained(error: Message, mode: Mode) -> Message:
    """With wrangler's advice in the place of esbuild's, and without the name of what asked."""
    error = {**error, "pluginName": ""}
    match = _UNRESOLVED.fullmatch(error["text"])
    if match is None:
        return error
    name, notes = match[1], error["notes"]
    if name.startswith("node:") or name in WITHOUT_PREFIX:
        return {**error, "notes": [_note(_not_in_workers(name, mode))]}
    if any(_ASKS_FOR_EXTERNAL in note["text"] for note in notes):
        kept = [note for note in notes if _ASKS_FOR_EXTERNAL not in note["text"]]
        return {**error, "notes": [*kept, _note(_ALIAS)]}
    return error


def _not_in_workers(name: str, mode: Mode) -> str:
    text = f'The package "{name}" wasn\'t found on the file system but is built into node.\n'
    if mode in (None, "als"):
        return f'{text}- Add the "nodejs_compat" compatibility flag to your project.\n'
    if mode == "v1" and not name.startswith("node:"):
        return (
            f'{text}- Make sure to prefix the module name with "node:" or update your compatibility_date to 2024-09-23 '
            "or later.\n"
        )
    return text


def _note(text: str) -> dict[str, Any]:
    return {"text": text, "location": None}


def _listed(names: list[str]) -> str:
    """As in an English sentence."""
    if len(names) > 2:
        return f"{', '.join(names[:-1])}, and {names[-1]}"
    return " and ".join(names)
