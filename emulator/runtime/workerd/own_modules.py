"""The modules of our own Workers in workerd, those of `js/`.

They stand in a folder of theirs, so that in a stack none of a user's modules is taken for ours, whatever its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

FOLDER: Final = "_flarebed"
_SOURCE: Final = Path(__file__).parent / "js"


def own_modules(names: Sequence[str]) -> list[dict[str, Any]]:
    """workerd's `Worker.Module`s for the files of these names."""
    return [own_module(name, (_SOURCE / name).read_text("utf-8")) for name in names]


def own_module(name: str, text: str) -> dict[str, Any]:
    return {"name": f"{FOLDER}/{name}", "esModule": text}
