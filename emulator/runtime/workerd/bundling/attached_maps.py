"""The source maps of scripts that another tool has built: found by the comment at their end, as wrangler finds them.

wrangler's deployment-bundle/source-maps.ts.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from flarebed.emulator.runtime.workerd.bundled import Module, SourceMapFile

_COMMENT: Final = re.compile(r"//[#@] sourceMappingURL=(\S+)")
_INLINE: Final = re.compile(r"data:application/json;(?:charset=[\w-]+;)?base64,(.*)")


def attached_maps(modules: Iterable[Module]) -> dict[str, SourceMapFile]:
    """By module name."""
    return {
        module.name: found
        for module in modules
        if module.kind in ("esModule", "commonJsModule") and module.file is not None
        if (found := _attached(module.content, module.file.parent)) is not None
    }


def _attached(content: bytes, folder: Path) -> SourceMapFile | None:
    url = _url(content.decode(errors="replace"))
    if url is None:
        return None
    if inline := _INLINE.fullmatch(url):
        try:
            return SourceMapFile(base64.b64decode(inline[1], validate=True), folder)
        except binascii.Error:
            return None
    path = folder / url
    return SourceMapFile(path.read_bytes(), path.parent) if path.is_file() else None


def _url(text: str) -> str | None:
    """Of the comments behind the code: other tools add theirs too."""
    for line in reversed(text.rstrip().split("\n")):
        if found := _COMMENT.fullmatch(line.strip()):
            return found[1]
        if line.strip() and not line.lstrip().startswith(("//#", "//@")):
            return None
    return None
